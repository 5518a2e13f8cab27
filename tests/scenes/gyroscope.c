/* A free body that spins near its middle axis: it turns over, again and again.
 * No force acts; all there is to integrate is the rotation. */
#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "own_scenes.h"
#include "scenes/scene_build.h"
#include "scenes/scene_reference.h"
#include "world/rotation.h"

static const double INERTIA[3] = {1, 2, 3};
static const double SPIN[3] = {0.3, 2, 0.2};

/* y: quaternion, then the angular velocity in the body's frame (Euler). */
static void slope(const void *context, double t, const double y[],
                  double slope[]) {
  (void)context;
  (void)t;
  const double *w = y + 4;
  slope[0] = -0.5 * vec3_dot(y + 1, w);
  vec3_cross(slope + 1, y + 1, w);
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    slope[1 + i] = 0.5 * (slope[1 + i] + y[0] * w[i]);
    slope[4 + i] = (INERTIA[j] - INERTIA[k]) * w[j] * w[k] / INERTIA[i];
  }
}

/* The state at a time: orientation, normalised, and the angular velocity. */
static void integrate_euler(double time, long steps, double y[7]) {
  const double start[7] = {1, 0, 0, 0, SPIN[0], SPIN[1], SPIN[2]};
  memcpy(y, start, sizeof start);
  reference_integrate(slope, NULL, 7, y, 0, time, steps);
  double length = sqrt(vec3_dot(y + 1, y + 1) + y[0] * y[0]);
  for (int i = 0; i < 4; i++) y[i] /= length;
}

static void judge_gyroscope(scene_run_state *run) {
  scene_result *result = run->result;
  double y[7], end = result->times[result->n_steps];
  integrate_euler(end, 1000 + lround(2000 * end), y);

  // the angle between the two orientations
  const dReal *q = dBodyGetQuaternion(run->bodies[0]);
  const double back[4] = {q[0], -q[1], -q[2], -q[3]};
  double between[4];
  quaternion_multiply(between, y, back);
  result->errors[0] =
      2 * atan2(sqrt(vec3_dot(between + 1, between + 1)), fabs(between[0]));
  dVector3 spin;
  double difference[3];
  const dReal *w = dBodyGetAngularVel(run->bodies[0]);
  dBodyVectorFromWorld(run->bodies[0], w[0], w[1], w[2], spin);
  vec3_subtract(difference, real3(spin).at, y + 4);
  result->errors[1] = sqrt(vec3_dot(difference, difference));
  result->errors[2] =
      fabs(result->energies[result->n_steps] / result->energies[0] - 1);
}

static double no_constraint(scene_run_state *run) {
  (void)run;
  return 0;
}

static bool build_gyroscope(scene_run_state *run) {
  dBodyID body = scene_add_spatial(run, 0, 0, 0, 1, INERTIA);
  if (body == NULL) return false;
  dBodySetAngularVel(body, SPIN[0], SPIN[1], SPIN[2]);
  run->frame = SCENE_FRAME_SPATIAL;
  run->infeasibility = no_constraint;
  run->judge = judge_gyroscope;
  return true;
}

const scene scene_gyroscope = {
    .name = "gyroscope",
    .summary = "a free body turns over about its middle axis",
    .source = "Euler's equations",
    .h = 0.01,
    .time = 5,
    .options = "scheme=trapezoid",
    .step_sizes = {0.04, 0.02, 0.01, 0.005, 0.0025},
    .error_kinds = {{"orientation", "rad"},
                    {"angular_velocity", "rad/s"},
                    {"energy", "relative"}},
    .infeasibility_unit = "m",
    .build = build_gyroscope};
