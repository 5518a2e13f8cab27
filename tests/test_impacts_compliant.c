/* The rocking block with compliant corners (Halm & Posa 2023, sec. 5.4.1, eq.
 * 88-90): stiff spring-dampers under the corners, one much stiffer than the
 * other, or one touching a little earlier, give velocities after the impact
 * that fill the set of the rigid model.
 *
 * Integrated by CVODE of SUNDIALS (BDF, Newton, the Jacobian written out). With
 * an argument the results are written to that CSV file. */
#include "testing.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "impact_example.h"
#include "ode_mlcp_impacts.h"

/* The state, SI units. The horizontal position acts on nothing. SLIP is the
 * horizontal velocity of the bottom's middle: friction acts within a
 * micrometre a second of it, which a difference of larger speeds would lose. */
enum { Y, THETA, SLIP, VY, RATE, N_STATE };

typedef struct compliant_block {
  double stiffness[2]; /* of the corners A (left) and B (right), N/m */
} compliant_block;

static const double g = 9.81, mass = 1, width = 1, height = 2, mu = 1;
static const double drop = 0.01;        /* m */
static const double damping_ratio = 5;  // zeta, eq. 88
static const double inertia = 5.0 / 12; /* kg m^2 */
static const double slip_width = 1e-10; /* m/s, the paper's */

/* One corner: where it is, how it moves, what acts on it. */
typedef struct corner {
  double gap, vn, vt;    /* m, m/s */
  double arm_n, arm_t;   /* lever arms of the normal and the friction, m */
  double arm_slip;       /* vt = SLIP + arm_slip rate */
  double lambda_n, unit; /* N; eq. 90's Unit(vt) */
  double damping;        /* N s/m */
  bool pushes;
} corner;

static corner look_at(const compliant_block *block, const double q[], int i) {
  double rx = i == 0 ? -width / 2 : width / 2, ry = -height / 2;
  double c = cos(q[THETA]), s = sin(q[THETA]);
  corner it;
  it.gap = q[Y] + s * rx + c * ry;
  it.arm_n = c * rx - s * ry;
  it.arm_t = -s * rx - c * ry;
  it.arm_slip = -s * rx;
  it.vn = q[VY] + q[RATE] * it.arm_n;
  it.vt = q[SLIP] + q[RATE] * it.arm_slip;
  it.damping = 2 * damping_ratio * sqrt(block->stiffness[i] / mass);
  double push = -block->stiffness[i] * it.gap - it.damping * it.vn; // eq. 88
  it.pushes = it.gap <= 0 && push > 0;
  it.lambda_n = it.pushes ? push : 0;
  it.unit = it.vt / fmax(fabs(it.vt), slip_width);
  return it;
}

/* d = dq/dt (eq. 88-90) and J, its derivative by q but for the turning of the arms,
 * which is not stiff. */
static void block_rates(const compliant_block *block, const double q[N_STATE],
                        double d[N_STATE], double J[N_STATE][N_STATE]) {
  double c = cos(q[THETA]), s = sin(q[THETA]), force_x = 0;
  memset(J, 0, N_STATE * sizeof *J);
  J[Y][VY] = J[THETA][RATE] = 1;
  d[Y] = q[VY];
  d[THETA] = q[RATE];
  d[RATE] = 0;
  d[VY] = -g;
  for (int i = 0; i < 2; i++) {
    corner at = look_at(block, q, i);
    if (!at.pushes) continue;
    double lambda_t = -mu * at.lambda_n * at.unit; // eq. 89
    force_x += lambda_t;
    d[VY] += at.lambda_n / mass;
    d[RATE] += (at.arm_n * at.lambda_n + at.arm_t * lambda_t) / inertia;
    double k = block->stiffness[i], dt[N_STATE];
    const double dn[N_STATE] = {-k, -k * at.arm_n, 0, -at.damping,
                                -at.damping * at.arm_n};
    double slip = fabs(at.vt) < slip_width ? -mu * at.lambda_n / slip_width : 0;
    for (int j = 0; j < N_STATE; j++) dt[j] = -mu * at.unit * dn[j];
    dt[SLIP] += slip;
    dt[RATE] += slip * at.arm_slip;
    for (int j = 0; j < N_STATE; j++) {
      double turn = (at.arm_n * dn[j] + at.arm_t * dt[j]) / inertia;
      J[RATE][j] += turn;
      J[VY][j] += dn[j] / mass;
      J[SLIP][j] += dt[j] / mass + turn * c * height / 2;
    }
  }
  d[SLIP] = force_x / mass + (d[RATE] * c - q[RATE] * q[RATE] * s) * height / 2;
}

/* Both corners have touched, and none that touches still approaches. */
static bool is_over(const compliant_block *block, const double q[N_STATE],
                    bool touched[2]) {
  // the speed of which the paper's termination test speaks
  double nearly = mass / fmin(block->stiffness[0], block->stiffness[1]) * 1e-3;
  bool over = true;
  for (int i = 0; i < 2; i++) {
    corner at = look_at(block, q, i);
    touched[i] |= at.gap <= 0;
    over &= touched[i] && (at.gap > 0 || at.vn >= -nearly);
  }
  return over;
}

static void read_speeds(const compliant_block *block, const double q[N_STATE],
                        double speeds[2]) {
  for (int i = 0; i < 2; i++) speeds[i] = look_at(block, q, i).vn;
}

/* Just before the impact of a block that was dropped by 1 cm and touches at `angle`
 * (rad). */
static void start(double angle, double q[N_STATE]) {
  memset(q, 0, N_STATE * sizeof *q);
  // the lower corner touches; the height costs speed
  q[THETA] = angle;
  q[Y] = cos(angle) * height / 2 + fabs(sin(angle)) * width / 2;
  q[VY] = -sqrt(2 * g * (drop + height / 2 - q[Y]));
  q[Y] -= 1e-12; // surely touching: the force jumps at the surface
}

/* ---- integrated ---- */

static int rates(realtype t, N_Vector state, N_Vector slope, void *block) {
  (void)t;
  double J[N_STATE][N_STATE];
  block_rates(block, N_VGetArrayPointer(state), N_VGetArrayPointer(slope), J);
  return 0;
}

/* Newton's matrix */
static int jacobian(realtype t, N_Vector state, N_Vector slope, SUNMatrix into,
                    void *block, N_Vector a, N_Vector b, N_Vector c) {
  (void)t;
  (void)slope;
  (void)a;
  (void)b;
  (void)c;
  double d[N_STATE], J[N_STATE][N_STATE];
  block_rates(block, N_VGetArrayPointer(state), d, J);
  for (int i = 0; i < N_STATE; i++)
    for (int j = 0; j < N_STATE; j++) SM_ELEMENT_D(into, i, j) = J[i][j];
  return 0;
}

/* The moment within the last step at which the impact was over. */
static void go_back(void *cvode, const compliant_block *block, double t0,
                    double t1, N_Vector state) {
  for (int k = 0; k < 60; k++) {
    double middle = (t0 + t1) / 2;
    bool touched[2] = {true, true};
    CVodeGetDky(cvode, middle, 0, state);
    if (is_over(block, N_VGetArrayPointer(state), touched))
      t1 = middle;
    else
      t0 = middle;
  }
  CVodeGetDky(cvode, t1, 0, state);
}

/* Failures are counted, not printed. */
static void keep_quiet(int code, const char *module, const char *function,
                       char *message, void *context) {
  (void)code;
  (void)module;
  (void)function;
  (void)message;
  (void)context;
}

/* Normal velocities of A and B after the impact; false: CVODE gave up. */
static bool collide(const compliant_block *block, double angle,
                    double speeds[2]) {
  SUNContext context;
  if (SUNContext_Create(NULL, &context) != 0) return false;
  N_Vector state = N_VNew_Serial(N_STATE, context);
  double *q = N_VGetArrayPointer(state);
  start(angle, q);

  void *cvode = CVodeCreate(CV_BDF, context);
  SUNMatrix matrix = SUNDenseMatrix(N_STATE, N_STATE, context);
  SUNLinearSolver solver = SUNLinSol_Dense(state, matrix, context);
  N_Vector tolerances = N_VNew_Serial(N_STATE, context);
  double *tolerance = N_VGetArrayPointer(tolerances);
  for (int i = 0; i < N_STATE; i++) tolerance[i] = i < SLIP ? 1e-14 : 1e-12;
  tolerance[SLIP] = 1e-4 * slip_width;
  CVodeInit(cvode, rates, 0, state);
  CVodeSVtolerances(cvode, 1e-7, tolerances);
  CVodeSetLinearSolver(cvode, solver, matrix);
  CVodeSetJacFn(cvode, jacobian);
  CVodeSetUserData(cvode, (void *)block);
  CVodeSetInitStep(cvode, 1e-12);
  CVodeSetErrHandlerFn(cvode, keep_quiet, NULL);
  CVodeSetMaxConvFails(cvode, 50);
  CVodeSetMaxErrTestFails(cvode, 50);
  CVodeSetMaxNonlinIters(cvode, 8);

  bool touched[2] = {false, false}, over = false;
  double t = 0, before = 0;
  for (int step = 0; step < 200000 && !over && t < 0.1; step++) {
    before = t;
    if (CVode(cvode, 0.2, state, &t, CV_ONE_STEP) < 0) break;
    over = is_over(block, q, touched);
  }
  if (over) go_back(cvode, block, before, t, state);
  read_speeds(block, q, speeds);
  CVodeFree(&cvode);
  SUNLinSolFree(solver);
  SUNMatDestroy(matrix);
  N_VDestroy(tolerances);
  N_VDestroy(state);
  SUNContext_Free(&context);
  return over;
}

/* ---- the two sweeps ---------------------------------------------------- */

enum { SWEEP = 51 };

typedef struct sweep {
  double parameter[SWEEP], speeds[SWEEP][2];
  int n_failed;
} sweep;

static sweep by_stiffness, by_angle;

static void run_sweeps(void) {
  for (int k = 0; k < SWEEP; k++) {
    double part = 2.0 * k / (SWEEP - 1) - 1; // -1 .. 1
    double ratio = pow(10, 5 * part);        // k_A/k_B with the softer at 1e6
    compliant_block block = {
        {ratio > 1 ? 1e6 * ratio : 1e6, ratio > 1 ? 1e6 : 1e6 / ratio}};
    by_stiffness.parameter[k] = ratio;
    by_stiffness.n_failed += !collide(&block, 0, by_stiffness.speeds[k]);

    block.stiffness[0] = block.stiffness[1] = 1e6;
    by_angle.parameter[k] = part * 1e-2; // degrees
    by_angle.n_failed +=
        !collide(&block, part * 1e-2 * M_PI / 180, by_angle.speeds[k]);
  }
}

/* The rigid set: for each corner the speeds it may lift off with while the
 * other rests. */
static double reach[2];

static void sample_rigid_set(ode_mlcp_impact_set *set) {
  static impact_example example;
  impact_example_fill(&example, "rocking-block");
  ode_mlcp_impact *impact;
  ode_mlcp_impact_options options;
  ode_mlcp_impact_default_options(&options);
  options.h = example.h;
  options.samples = 1 << 16;
  CU_ASSERT_EQUAL_FATAL(
      ode_mlcp_impact_create(&example.problem, &impact, NULL, 0),
      ODE_MLCP_IMPACT_DONE);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_impact_approximate(impact, &options, set),
                        ODE_MLCP_IMPACT_DONE);
  double extents[8];
  ode_mlcp_impact_extents(set, extents);
  reach[0] = extents[1];
  reach[1] = extents[5];
  ode_mlcp_impact_destroy(impact);
}

static ode_mlcp_impact_set *rigid_set;

static void test_rigid_set(void) {
  sample_rigid_set(rigid_set);
  CU_ASSERT(reach[0] > 0.09 && reach[0] < 0.093019);
  CU_ASSERT(reach[1] > 0.09 && reach[1] < 0.093019);
}

/* How far from the arms of the L, m/s. */
static double distance_from_arms(const double speeds[2]) {
  return fmin(fabs(speeds[0]), fabs(speeds[1]));
}

static void test_stiffness_fills_the_set(void) {
  CU_ASSERT_EQUAL(by_stiffness.n_failed, 0);
  double far = 0, most[2] = {0, 0}, widest_gap = 0;
  for (int k = 0; k < SWEEP; k++) {
    const double *speeds = by_stiffness.speeds[k];
    far = fmax(far, distance_from_arms(speeds));
    for (int i = 0; i < 2; i++) {
      most[i] = fmax(most[i], speeds[i]);
      CU_ASSERT(speeds[i] > -1e-7 && speeds[i] < 0.093019);
      if (k > 0)
        widest_gap =
            fmax(widest_gap, fabs(speeds[i] - by_stiffness.speeds[k - 1][i]));
    }
    // the stiffer corner stops first, and so lifts off
    if (k < SWEEP / 2) CU_ASSERT(speeds[1] > speeds[0]);
    if (k > SWEEP / 2) CU_ASSERT(speeds[0] > speeds[1]);
  }
  CU_ASSERT(far < 1e-7);      // on the arms
  for (int i = 0; i < 2; i++) // up to their ends, without holes
    CU_ASSERT(most[i] > 0.98 * 0.093018 && most[i] > 0.97 * reach[i]);
  CU_ASSERT(widest_gap < 0.01);

  // equal corners: rest
  CU_ASSERT(fabs(by_stiffness.speeds[SWEEP / 2][0]) < 1e-6);
  CU_ASSERT(fabs(by_stiffness.speeds[SWEEP / 2][1]) < 1e-6);
  // negative control: the speeds before the impact are nowhere near the set
  CU_ASSERT(distance_from_arms((double[2]){-0.443, -0.443}) > 0.4);
}

/* Nearly the same set; the end lies a little beyond, for the block has already
 * turned and fallen when the second corner strikes. */
static void test_angle_fills_the_set(void) {
  CU_ASSERT_EQUAL(by_angle.n_failed, 0);
  double far = 0, most = 0;
  for (int k = 0; k < SWEEP; k++) {
    far = fmax(far, distance_from_arms(by_angle.speeds[k]));
    for (int i = 0; i < 2; i++) most = fmax(most, by_angle.speeds[k][i]);
  }
  CU_ASSERT(far < 1e-7);
  CU_ASSERT(most > 0.093018 && most < 1.03 * 0.093018);
}

/* ---- as a table ---- */

static int write_speeds(const char *path) {
  FILE *csv = fopen(path, "w");
  if (csv == NULL) return 1;
  fputs(
      "stiffness ratio,vnA (m/s),vnB (m/s),angle (degrees),vnA (m/s),"
      "vnB (m/s)\n",
      csv);
  for (int k = 0; k < SWEEP; k++) {
    const double *a = by_stiffness.speeds[k], *b = by_angle.speeds[k];
    fprintf(csv, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n",
            by_stiffness.parameter[k], a[0], a[1], by_angle.parameter[k], b[0],
            b[1]);
  }
  return fclose(csv) != 0;
}

int main(int argc, char **argv) {
  run_sweeps();
  ode_mlcp_impact_set set;
  memset(&set, 0, sizeof set);
  rigid_set = &set;
  CU_TestInfo tests[] = {
      {"rigid set", test_rigid_set},
      {"stiffness fills the set", test_stiffness_fills_the_set},
      {"angle fills the set", test_angle_fills_the_set},
      CU_TEST_INFO_NULL};
  int status = run_tests("impacts: compliant block", tests);
  if (argc > 1 && write_speeds(argv[1]) != 0) status = 1;
  ode_mlcp_impact_set_release(&set);
  return status;
}
