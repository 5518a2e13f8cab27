/* Two point masses on massless rods beside a wall: PAGT sec. 10.1, table 10.1.
 * Frictionless; what strikes the wall bounces a little. */
#include <math.h>

#include "scenes/scene_build.h"

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

static bool build_double_pendulum(scene_run_state *run) {
  const double pivot[3] = {0, 0, 0};
  double x1 = sin(M_PI / 3), y1 = -cos(M_PI / 3);
  double x2 = x1 + sin(M_PI / 5), y2 = y1 - cos(M_PI / 5);
  run->frame = SCENE_FRAME_POINTS;
  run->infeasibility = infeasibility;
  run->judge = judge_double_pendulum;
  scene_set_bounce(run, run->settings->restitution);
  dBodyID a = scene_add_planar(run, x1, y1, 0, 1, 1);
  dBodyID b = scene_add_planar(run, x2, y2, 0, 1, 1);
  if (a == NULL || b == NULL || scene_add_rod(run, a, NULL, pivot) == NULL ||
      scene_add_rod(run, b, a, NULL) == NULL)
    return false;
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
    .build = build_double_pendulum};
