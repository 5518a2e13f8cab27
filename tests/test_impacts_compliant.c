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

#include "compliant_block.h"
#include "impact_example.h"
#include "ode_mlcp_impacts.h"

static const double paper_slip_width = 1e-10; /* m/s */

static int rates(realtype t, N_Vector state, N_Vector slope, void *block) {
  (void)t;
  double J[COMPLIANT_STATE][COMPLIANT_STATE];
  compliant_block_rates(block, N_VGetArrayPointer(state),
                        N_VGetArrayPointer(slope), J);
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
  double d[COMPLIANT_STATE], J[COMPLIANT_STATE][COMPLIANT_STATE];
  compliant_block_rates(block, N_VGetArrayPointer(state), d, J);
  for (int i = 0; i < COMPLIANT_STATE; i++)
    for (int j = 0; j < COMPLIANT_STATE; j++)
      SM_ELEMENT_D(into, i, j) = J[i][j];
  return 0;
}

/* The moment within the last step at which the impact was over. */
static void go_back(void *cvode, const compliant_block *block, double t0,
                    double t1, N_Vector state) {
  for (int k = 0; k < 60; k++) {
    double middle = (t0 + t1) / 2;
    bool touched[2] = {true, true};
    CVodeGetDky(cvode, middle, 0, state);
    if (compliant_block_is_over(block, N_VGetArrayPointer(state), touched))
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
  N_Vector state = N_VNew_Serial(COMPLIANT_STATE, context);
  double *q = N_VGetArrayPointer(state);
  compliant_block_start(angle, q);

  void *cvode = CVodeCreate(CV_BDF, context);
  SUNMatrix matrix = SUNDenseMatrix(COMPLIANT_STATE, COMPLIANT_STATE, context);
  SUNLinearSolver solver = SUNLinSol_Dense(state, matrix, context);
  N_Vector tolerances = N_VNew_Serial(COMPLIANT_STATE, context);
  double *tolerance = N_VGetArrayPointer(tolerances);
  for (int i = 0; i < COMPLIANT_STATE; i++)
    tolerance[i] = i < COMPLIANT_SLIP ? 1e-14 : 1e-12;
  tolerance[COMPLIANT_SLIP] = 1e-4 * paper_slip_width;
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
    over = compliant_block_is_over(block, q, touched);
  }
  if (over) go_back(cvode, block, before, t, state);
  compliant_block_speeds(block, q, speeds);
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
        {ratio > 1 ? 1e6 * ratio : 1e6, ratio > 1 ? 1e6 : 1e6 / ratio},
        paper_slip_width};
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

/* Another integrator, linearly implicit and extrapolated, has the same speeds. */
static void test_without_sundials(void) {
  double far = 0;
  for (int k = 0; k < SWEEP; k++) {
    double part = 2.0 * k / (SWEEP - 1) - 1, ratio = by_stiffness.parameter[k];
    const double stiffness[2] = {fmax(1e6 * ratio, 1e6),
                                 fmax(1e6 / ratio, 1e6)};
    const double equal[2] = {1e6, 1e6};
    double by_ratio[2], turned[2];
    CU_ASSERT(compliant_block_collide(stiffness, 0, by_ratio));
    CU_ASSERT(compliant_block_collide(equal, part * 1e-2 * M_PI / 180, turned));
    for (int i = 0; i < 2; i++) {
      far = fmax(far, fabs(by_ratio[i] - by_stiffness.speeds[k][i]));
      far = fmax(far, fabs(turned[i] - by_angle.speeds[k][i]));
    }
  }
  CU_ASSERT(far < 2e-4);
  printf("  another integrator is within %.1e m/s\n", far);
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
      {"without SUNDIALS", test_without_sundials},
      CU_TEST_INFO_NULL};
  int status = run_tests("impacts: compliant block", tests);
  if (argc > 1 && write_speeds(argv[1]) != 0) status = 1;
  ode_mlcp_impact_set_release(&set);
  return status;
}
