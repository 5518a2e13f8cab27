/* A ball dropped onto a table: every bounce keeps a part of the speed. */
#include <math.h>

#include "own_scenes.h"
#include "scenes/scene_build.h"

static const double RADIUS = 0.1, DROP = 1;

/* Height of the lowest point after `time`; analytic. */
static double exact_height(double time, double gravity, double restitution) {
  double fall = sqrt(2 * DROP / gravity);
  if (!(gravity > 0) || time <= fall) return DROP - 0.5 * gravity * time * time;
  double speed = gravity * fall, since = time - fall;
  // flights grow shorter by the same factor; beyond all of them it rests
  if (restitution < 1 && since >= 2 * fall * restitution / (1 - restitution))
    return 0;
  for (;;) {
    speed *= restitution;
    double flight = 2 * speed / gravity;
    if (since < flight) return since * (speed - 0.5 * gravity * since);
    since -= flight;
  }
}

/* The worst relative error of the heights that the ball rises to, of those
 * flights that a step lies in. */
static double apex_error(const scene_result *result) {
  double g = result->settings.gravity, e = result->settings.restitution;
  double worst = 0, expected = DROP;
  double falling_since = 0;
  for (long i = 1; i <= result->n_steps; i++) {
    double v = result->velocities[2 * i + 1];
    double before = result->velocities[2 * (i - 1) + 1];
    // a bounce: upwards faster than gravity lets it
    if (v > before) {
      expected *= e * e;
      falling_since = result->times[i];
      continue;
    }
    double h = result->positions[2 * i + 1] - RADIUS;
    double apex = h + v * v / (2 * g);
    if (result->times[i] > falling_since && expected > 1e-3)
      worst = fmax(worst, fabs(apex / expected - 1));
  }
  return worst;
}

static void judge_bouncing_ball(scene_run_state *run) {
  scene_result *result = run->result;
  double end = result->times[result->n_steps];
  double height = result->positions[2 * result->n_steps + 1] - RADIUS;
  result->errors[0] = fabs(height - exact_height(end, run->settings->gravity,
                                                 run->settings->restitution));
  if (run->settings->gravity > 0) result->errors[1] = apex_error(result);
}

static bool build_bouncing_ball(scene_run_state *run) {
  run->frame = SCENE_FRAME_POINTS;
  run->judge = judge_bouncing_ball;
  scene_set_bounce(run, run->settings->restitution);
  dBodyID ball =
      scene_add_planar(run, 0, DROP + RADIUS, 0, 1, 0.4 * RADIUS * RADIUS);
  if (ball == NULL) return false;
  return scene_add_centred(run, dCreateSphere(run->space, RADIUS), ball) &&
         scene_add_fixed(run, dCreatePlane(run->space, 0, 1, 0, 0));
}

const scene scene_bouncing_ball = {
    .name = "bouncing-ball",
    .summary = "a ball bounces, each time to a part of its height",
    .source = "analytic",
    .h = 0.01,
    .time = 3,
    .gravity = 9.81,
    .restitution = 0.8,
    .knows = SCENE_GRAVITY | SCENE_RESTITUTION,
    .options = "scheme=trapezoid",
    .step_sizes = {0.02, 0.01, 0.005, 0.0025, 0.00125},
    .error_kinds = {{"position", "m"}, {"apex", "relative"}},
    .infeasibility_unit = "m",
    .build = build_bouncing_ball};
