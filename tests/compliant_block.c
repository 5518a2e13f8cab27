/* Integrated by the linearly implicit Euler method, extrapolated to fourth
 * order: the springs' rates go up to 1e7 1/s, those of friction to
 * 1e9. */
#include "compliant_block.h"

#include <math.h>
#include <string.h>

enum {
  Y = COMPLIANT_Y,
  THETA = COMPLIANT_THETA,
  SLIP = COMPLIANT_SLIP,
  VY = COMPLIANT_VY,
  RATE = COMPLIANT_RATE,
  N_STATE = COMPLIANT_STATE,
  ORDER = 4
};

static const double g = 9.81, mass = 1, width = 1, height = 2, mu = 1;
static const double drop = 0.01;       /* m */
static const double damping_ratio = 5; // zeta, eq. 88
/* With the paper's 1e-10 speeds after the impact are the same to 2e-4 m/s, but
 * corners chatter between sticking and slipping. */
static const double steady_slip_width = 1e-6;
static const double inertia = 5.0 / 12; /* kg m^2 */
static const double relative = 1e-8,
                    absolute[N_STATE] = {1e-14, 1e-14, 1e-10, 1e-12, 1e-12};
static const double longest = 0.1; /* s: much more than an impact lasts */

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
  it.unit = it.vt / fmax(fabs(it.vt), block->slip_width);
  return it;
}

void compliant_block_rates(const compliant_block *block,
                           const double q[N_STATE], double d[N_STATE],
                           double J[N_STATE][N_STATE]) {
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
    double slip = fabs(at.vt) < block->slip_width
                      ? -mu * at.lambda_n / block->slip_width
                      : 0;
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

/* (1 - h J) x = b by elimination with row pivots, in place. */
static bool solve(double h, double J[N_STATE][N_STATE], double b[]) {
  for (int i = 0; i < N_STATE; i++)
    for (int j = 0; j < N_STATE; j++) J[i][j] = (i == j) - h * J[i][j];
  for (int k = 0; k < N_STATE; k++) {
    int pivot = k;
    for (int i = k + 1; i < N_STATE; i++)
      if (fabs(J[i][k]) > fabs(J[pivot][k])) pivot = i;
    if (J[pivot][k] == 0) return false;
    for (int j = 0; j < N_STATE && pivot != k; j++) {
      double other = J[k][j];
      J[k][j] = J[pivot][j];
      J[pivot][j] = other;
    }
    double other = b[k];
    b[k] = b[pivot];
    b[pivot] = other;
    for (int i = k + 1; i < N_STATE; i++) {
      double part = J[i][k] / J[k][k];
      if (part == 0) continue;
      for (int j = k; j < N_STATE; j++) J[i][j] -= part * J[k][j];
      b[i] -= part * b[k];
    }
  }
  for (int k = N_STATE - 1; k >= 0; k--) {
    for (int j = k + 1; j < N_STATE; j++) b[k] -= J[k][j] * b[j];
    b[k] /= J[k][k];
  }
  return true;
}

/* A step by h. @return its error, by the tolerances: below 1 it may be taken */
static double step(const compliant_block *block, const double q[], double h,
                   double end[]) {
  double table[ORDER][N_STATE]; // the last line of Neville's scheme
  double error = 0;
  for (int j = 0; j < ORDER; j++) {
    double x[N_STATE], d[N_STATE], J[N_STATE][N_STATE];
    int n = j + 1;
    memcpy(x, q, sizeof x);
    for (int k = 0; k < n; k++) {
      compliant_block_rates(block, x, d, J);
      for (int i = 0; i < N_STATE; i++) d[i] *= h / n;
      if (!solve(h / n, J, d)) return INFINITY;
      for (int i = 0; i < N_STATE; i++) x[i] += d[i];
    }
    for (int k = 0; k < j; k++)
      for (int i = 0; i < N_STATE; i++) {
        double finer = x[i] + (x[i] - table[k][i]) * (j - k) / (k + 1.0);
        table[k][i] = x[i];
        x[i] = finer;
      }
    memcpy(table[j], x, sizeof x);
  }
  for (int i = 0; i < N_STATE; i++) {
    end[i] = table[ORDER - 1][i];
    double size = absolute[i] + relative * fmax(fabs(q[i]), fabs(end[i]));
    error = fmax(error, fabs(end[i] - table[ORDER - 2][i]) / size);
  }
  return isfinite(error) ? error : INFINITY;
}

bool compliant_block_is_over(const compliant_block *block,
                             const double q[N_STATE], bool touched[2]) {
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

void compliant_block_speeds(const compliant_block *block,
                            const double q[N_STATE], double speeds[2]) {
  for (int i = 0; i < 2; i++) speeds[i] = look_at(block, q, i).vn;
}

void compliant_block_start(double angle, double q[N_STATE]) {
  memset(q, 0, N_STATE * sizeof *q);
  // the lower corner touches; the height costs speed
  q[THETA] = angle;
  q[Y] = cos(angle) * height / 2 + fabs(sin(angle)) * width / 2;
  q[VY] = -sqrt(2 * g * (drop + height / 2 - q[Y]));
  q[Y] -= 1e-12; // surely touching: the force jumps at the surface
}

bool compliant_block_collide(const double stiffness[2], double angle,
                             double speeds[2]) {
  enum { MOST_STEPS = 200000, HALVINGS = 50 };
  const compliant_block block = {{stiffness[0], stiffness[1]},
                                 steady_slip_width};
  double q[N_STATE], end[N_STATE];
  compliant_block_start(angle, q);
  bool touched[2] = {false, false};
  double t = 0, h = 1e-12;
  for (int k = 0; k < MOST_STEPS && t < longest && h > 1e-20; k++) {
    double error = step(&block, q, h, end);
    double next = h * fmin(fmax(0.9 * pow(error + 1e-9, -1.0 / ORDER), 0.2), 4);
    if (error > 1) {
      h = next;
      continue;
    }
    if (compliant_block_is_over(&block, end, touched)) {
      // the moment within the step
      double over = h, not_yet = 0;
      for (int i = 0; i < HALVINGS; i++) {
        double middle = (over + not_yet) / 2;
        bool reached[2] = {true, true};
        step(&block, q, middle, end);
        if (compliant_block_is_over(&block, end, reached))
          over = middle;
        else
          not_yet = middle;
      }
      step(&block, q, over, end);
      compliant_block_speeds(&block, end, speeds);
      return true;
    }
    memcpy(q, end, sizeof q);
    t += h;
    h = next;
  }
  return false;
}
