/* Two point masses on massless rods beside a wall: PAGT sec. 10.1, table 10.1.
 * Frictionless; what strikes the wall bounces a little. */
#include <math.h>
#include <string.h>

#include "scenes/scene_build.h"
#include "scenes/scene_reference.h"

static const double RADIUS = 0.1; /* of the bobs; the wall stands as far back */

/* The exact final position at the scene's own time, gravity and restitution,
 * by an independent program in generalized coordinates. */
static const double EXACT[4] = {0.02196211769, -0.99975880361, 0.02376948677,
                                -1.99975717031};

/* |.|^2 - 1 of the first and the second rod. */
static void joint_errors(const double q[4], double theta[2]) {
  theta[0] = q[0] * q[0] + q[1] * q[1] - 1;
  theta[1] = (q[2] - q[0]) * (q[2] - q[0]) + (q[3] - q[1]) * (q[3] - q[1]) - 1;
}

static double infeasibility(scene_run_state *run) {
  const dReal *a = dBodyGetPosition(run->bodies[0]);
  const dReal *b = dBodyGetPosition(run->bodies[1]);
  double theta[2];
  joint_errors((double[]){a[0], a[1], b[0], b[1]}, theta);
  double worst = fmax(fabs(theta[0]), fabs(theta[1]));
  return fmax(worst, scene_overlap(run));
}

static void judge_double_pendulum(scene_run_state *run) {
  const scene_settings *s = run->settings;
  scene_result *result = run->result;
  const double *q = result->positions + 4 * result->n_steps;
  double theta[2], sum = 0;
  joint_errors(q, theta);
  result->errors[1] = fabs(theta[0]);
  result->errors[2] = fabs(theta[1]);
  if (s->time != run->scene->time || s->gravity != run->scene->gravity ||
      s->restitution != run->scene->restitution)
    return;
  for (int i = 0; i < 4; i++) sum += (q[i] - EXACT[i]) * (q[i] - EXACT[i]);
  result->errors[0] = sqrt(sum);
}

/* ---- the reference: angles from straight down, and impacts as events ---- */

/* y: both angles, both rates. */
static void slope(const void *gravity, double t, const double y[],
                  double slope[]) {
  double g = *(const double *)gravity, c = cos(y[0] - y[1]);
  double s = sin(y[0] - y[1]);
  double first = -s * y[3] * y[3] - 2 * g * sin(y[0]);
  double second = s * y[2] * y[2] - g * sin(y[1]);
  double determinant = 2 - c * c;
  (void)t;
  slope[0] = y[2];
  slope[1] = y[3];
  slope[2] = (first - c * second) / determinant;
  slope[3] = (2 * second - c * first) / determinant;
}

/* How far a bob is from the wall, and what changes it. */
static double gap_of(const double y[4], int bob, double gradient[2]) {
  gradient[0] = cos(y[0]);
  gradient[1] = bob == 1 ? cos(y[1]) : 0;
  return sin(y[0]) + (bob == 1 ? sin(y[1]) : 0);
}

static double approach(const double y[4], int bob) {
  double gradient[2];
  gap_of(y, bob, gradient);
  return gradient[0] * y[2] + gradient[1] * y[3];
}

static void strike(double y[4], int bob, double restitution) {
  double n[2], c = cos(y[0] - y[1]), determinant = 2 - c * c;
  gap_of(y, bob, n);
  const double change[2] = {(n[0] - c * n[1]) / determinant,
                            (2 * n[1] - c * n[0]) / determinant};
  double impulse = -(1 + restitution) * approach(y, bob) /
                   (n[0] * change[0] + n[1] * change[1]);
  for (int i = 0; i < 2; i++) y[2 + i] += impulse * change[i];
}

/* The bob that is in the wall and goes on into it, or -1. */
static int striking(const double y[4]) {
  double gradient[2];
  for (int bob = 0; bob < 2; bob++)
    if (gap_of(y, bob, gradient) < 0 && approach(y, bob) < 0) return bob;
  return -1;
}

/* On by at most `step`, up to an impact, which is resolved. @return how far. */
static double advance(const scene_settings *settings, double y[4],
                      double step) {
  enum { HALVINGS = 40 };
  double from[4], low = 0, high = step;
  memcpy(from, y, sizeof from);
  reference_integrate(slope, &settings->gravity, 4, y, 0, step, 1);
  if (striking(y) < 0) return step;
  for (int k = 0; k < HALVINGS; k++) {
    double middle = (low + high) / 2;
    memcpy(y, from, sizeof from);
    reference_integrate(slope, &settings->gravity, 4, y, 0, middle, 1);
    if (striking(y) < 0)
      low = middle;
    else
      high = middle;
  }
  memcpy(y, from, sizeof from);
  reference_integrate(slope, &settings->gravity, 4, y, 0, high, 1);
  strike(y, striking(y), settings->restitution);
  return high;
}

/* A bob that comes to rest at the wall strikes it ever more often: its last
 * bounces are taken a step apart. */
static void exact_double_pendulum(const scene_run_state *run, double time,
                                  double positions[SCENE_EXACT]) {
  const double STEP = 2e-3; /* s */
  double y[4] = {M_PI / 3, M_PI / 5, 0, 0}, now = 0;
  int bounces = 0;
  while (now < time) {
    double step = fmin(STEP, time - now), taken = step;
    if (bounces < 1000) {
      taken = advance(run->settings, y, step);
      bounces += taken < step;
    } else {
      reference_integrate(slope, &run->settings->gravity, 4, y, 0, step, 1);
      for (int k = 0, bob; k < 4 && (bob = striking(y)) >= 0; k++)
        strike(y, bob, 0);
    }
    now += taken > 0 ? taken : step;
  }
  positions[0] = sin(y[0]);
  positions[1] = -cos(y[0]);
  positions[2] = sin(y[0]) + sin(y[1]); // of the second, which is drawn, too
}

static bool build_double_pendulum(scene_run_state *run) {
  const double pivot[3] = {0, 0, 0};
  double x1 = sin(M_PI / 3), y1 = -cos(M_PI / 3);
  double x2 = x1 + sin(M_PI / 5), y2 = y1 - cos(M_PI / 5);
  run->frame = SCENE_FRAME_POINTS;
  run->infeasibility = infeasibility;
  run->judge = judge_double_pendulum;
  run->exact = exact_double_pendulum;
  scene_set_bounce(run, run->settings->restitution);
  dBodyID a = scene_add_planar(run, x1, y1, 0, 1, 1);
  dBodyID b = scene_add_planar(run, x2, y2, 0, 1, 1);
  if (a == NULL || b == NULL || scene_add_rod(run, a, NULL, pivot) == NULL ||
      scene_add_rod(run, b, a, NULL) == NULL)
    return false;
  scene_add_line(run, -RADIUS, -2.2, -RADIUS, 0.2);
  dSpaceID s = run->space;
  return scene_add_centred(run, dCreateSphere(s, RADIUS), a) &&
         scene_add_centred(run, dCreateSphere(s, RADIUS), b) &&
         scene_add_fixed(run, dCreatePlane(s, 1, 0, 0, -RADIUS));
}

/* Table 10.1 */
static const scene_reference REFERENCES[] = {
    {"trapezoid", 0x1p-5, {2.38e-3, 1.27e-3, 3.18e-3}},
    {"trapezoid", 0x1p-6, {6.14e-4, 3.14e-4, 8.29e-4}},
    {"trapezoid", 0x1p-7, {1.54e-4, 7.82e-5, 2.14e-4}},
    {"trapezoid", 0x1p-8, {3.95e-5, 1.95e-5, 5.48e-5}},
    {"trapezoid", 0x1p-9, {1.01e-5, 4.88e-6, 1.37e-5}},
    {"trapezoid", 0x1p-10, {2.42e-6, 1.22e-6, 3.44e-6}},
    {"trapezoid", 0x1p-11, {6.15e-7, 3.05e-7, 8.60e-7}},
    {NULL, 0, {0}}};

const scene scene_double_pendulum = {
    .name = "double-pendulum",
    .summary = "a double pendulum strikes a wall",
    .source = "Potra, Anitescu, Gavrea & Trinkle 2006, sec. 10.1",
    .h = 0x1p-7,
    .time = 2.5,
    .gravity = 9.8,
    .restitution = 0.1,
    .knows = SCENE_GRAVITY | SCENE_RESTITUTION,
    .options = "scheme=trapezoid erp=0",
    .step_sizes = {0x1p-5, 0x1p-6, 0x1p-7, 0x1p-8, 0x1p-9, 0x1p-10, 0x1p-11},
    .error_kinds = {{"position", "m"}, {"Theta_1", "m^2"}, {"Theta_2", "m^2"}},
    .references = REFERENCES,
    .infeasibility_unit = "m, m^2",
    .beside = {"trapezoid", "ah"},
    .pictures = 10,
    .last_picture = 1.4,
    .build = build_double_pendulum};
