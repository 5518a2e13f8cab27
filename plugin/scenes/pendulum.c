/* A point mass on a massless rod, let go at the horizontal: AH sec. 5, fig. 2.
 * How far does the joint drift? */
#include <math.h>

#include "scenes/scene_build.h"
#include "scenes/scene_reference.h"

static const double LENGTH = 1;

/* Theta of the paper: |q|^2 - L^2, in m^2. */
static double joint_error(scene_run_state *run) {
  const dReal *q = dBodyGetPosition(run->bodies[0]);
  return fabs(q[0] * q[0] + q[1] * q[1] - LENGTH * LENGTH);
}

/* The angle from straight down, and its speed. */
static void slope(const void *context, double t, const double y[],
                  double slope[]) {
  (void)t;
  slope[0] = y[1];
  slope[1] = -*(const double *)context / LENGTH * sin(y[0]);
}

static void judge_pendulum(scene_run_state *run) {
  scene_result *result = run->result;
  double y[2] = {M_PI / 2, 0}, end = result->times[result->n_steps];
  reference_integrate(slope, &run->settings->gravity, 2, y, 0, end,
                      1000 + lround(2000 * end));
  const double *q = result->positions + result->n_steps * result->n_positions;
  result->errors[0] =
      hypot(q[0] - LENGTH * sin(y[0]), q[1] + LENGTH * cos(y[0]));
  result->errors[1] = result->infeasibility_max;
}

static bool build_pendulum(scene_run_state *run) {
  const double pivot[3] = {0, 0, 0};
  dBodyID bob = scene_add_planar(run, LENGTH, 0, 0, 1, 1);
  if (bob == NULL) return false;
  run->frame = SCENE_FRAME_POINTS;
  run->infeasibility = joint_error;
  run->judge = judge_pendulum;
  return scene_add_rod(run, bob, NULL, pivot) != NULL;
}

const scene scene_pendulum = {
    .name = "pendulum",
    .summary = "joint drift of a pendulum, stabilised or not",
    .source = "Anitescu & Hart 2004, fig. 2",
    .h = 0.1,
    .time = 100,
    .gravity = 9.81,
    .knows = SCENE_GRAVITY,
    .options = "scheme=ah erp=1",
    .step_sizes = {0.1, 0.05, 0.025, 0.0125, 0.00625},
    .sweep_time = 0.5,
    .error_kinds = {{"position", "m"}, {"infeasibility_max", "m^2"}},
    .infeasibility_unit = "m^2",
    .build = build_pendulum};
