/* Boxes that slide apart, each in its own direction and at its own speed, until
 * friction stops them: v^2 / (2 mu g) further on, all at other times. */
#include <math.h>
#include <stdio.h>

#include "own_scenes.h"
#include "scenes/scene_build.h"

enum { BOXES = 24 };

static const double FRICTION = 0.4, CIRCLE = 8;
static const double SIDES[3] = {0.6, 0.1, 0.6}; /* too flat to tip */

static double direction_of(int i) { return 2 * M_PI * i / BOXES; }
static double speed_of(int i) { return 0.5 + 0.13 * ((7 * i) % BOXES); }

/* How far a box has come, and how fast it is. */
static double exact_sliding_crowd(const scene_settings *settings, int i,
                                  double time, double *speed) {
  double slows = FRICTION * settings->gravity, v = speed_of(i);
  if (slows > 0) time = fmin(time, v / slows);
  *speed = v - slows * time;
  return v * time - 0.5 * slows * time * time;
}

static void judge_sliding_crowd(scene_run_state *run) {
  scene_result *result = run->result;
  const double *q = result->positions + result->n_steps * result->n_positions;
  const double *v = result->velocities + result->n_steps * result->n_velocities;
  double time = result->times[result->n_steps];
  int at_rest = 0;
  result->errors[0] = result->errors[1] = 0;
  for (int i = 0; i < BOXES; i++, q += 6, v += 6) {
    double speed, c = cos(direction_of(i)), s = sin(direction_of(i));
    double way = CIRCLE + exact_sliding_crowd(run->settings, i, time, &speed);
    result->errors[0] =
        fmax(result->errors[0], hypot(q[0] - way * c, q[2] - way * s));
    result->errors[1] =
        fmax(result->errors[1], hypot(v[0] - speed * c, v[2] - speed * s));
    at_rest += hypot(v[0], v[2]) < 1e-9;
  }
  result->counted = at_rest;
  snprintf(result->note, sizeof result->note, "%d of %d boxes are at rest",
           at_rest, BOXES);
}

static bool build_sliding_crowd(scene_run_state *run) {
  run->frame = SCENE_FRAME_SPATIAL;
  run->surface.parameters.mu = FRICTION;
  run->judge = judge_sliding_crowd;
  double inertia[3];
  for (int i = 0; i < 3; i++) {
    double a = SIDES[(i + 1) % 3], b = SIDES[(i + 2) % 3];
    inertia[i] = (a * a + b * b) / 12;
  }
  for (int i = 0; i < BOXES; i++) {
    double c = cos(direction_of(i)), s = sin(direction_of(i));
    dBodyID body = scene_add_spatial(run, CIRCLE * c, 0.5 * SIDES[1],
                                     CIRCLE * s, 1, inertia);
    if (body == NULL ||
        !scene_add_centred(
            run, dCreateBox(run->space, SIDES[0], SIDES[1], SIDES[2]), body))
      return false;
    dBodySetLinearVel(body, speed_of(i) * c, 0, speed_of(i) * s);
  }
  return scene_add_fixed(run, dCreatePlane(run->space, 0, 1, 0, 0));
}

const scene scene_sliding_crowd = {
    .name = "sliding-crowd",
    .summary = "boxes slide to a stop, each for itself, at other times",
    .source = "analytic",
    .h = 0.01,
    .time = 0.6,
    .gravity = 9.81,
    .knows = SCENE_GRAVITY,
    .options = "scheme=trapezoid erp=0",
    .step_sizes = {0.04, 0.02, 0.01, 0.005, 0.0025},
    .error_kinds = {{"position", "m"}, {"velocity", "m/s"}},
    .infeasibility_unit = "m",
    .build = build_sliding_crowd};
