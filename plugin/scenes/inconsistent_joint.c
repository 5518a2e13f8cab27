/* A joint whose velocity is wrong at the start: GAP sec. 9.1. The joint keeps a
 * body in the plane z = 0; it starts with a small speed out of it. */
#include <math.h>

#include "scenes/scene_build.h"

static const double SPEED = 1e-3;

static double joint_error(scene_run_state *run) {
  return fabs(dBodyGetPosition(run->bodies[0])[2]);
}

/* The total variation of the velocity on the way; from rest to rest with a
 * jump at the start, it is the speed that was wrong. */
static void judge_inconsistent_joint(scene_run_state *run) {
  scene_result *result = run->result;
  double sum = 0;
  for (long i = 1; i <= result->n_steps; i++)
    sum += fabs(result->velocities[i] - result->velocities[i - 1]);
  result->errors[0] = result->infeasibility_max;
  result->errors[1] = sum;
}

static bool build_inconsistent_joint(scene_run_state *run) {
  dBodyID body = scene_add_planar(run, 0, 0, 0, 1, 1);
  if (body == NULL) return false;
  dBodySetLinearVel(body, 0, 0, SPEED);
  run->frame = SCENE_FRAME_HEIGHT;
  run->infeasibility = joint_error;
  run->judge = judge_inconsistent_joint;
  return true;
}

const scene scene_inconsistent_joint = {
    .name = "inconsistent-joint",
    .summary = "a joint whose velocity is wrong at the start",
    .source = "Gavrea, Anitescu & Potra 2008, sec. 9.1",
    .h = 0.1,
    .time = 1,
    .options = "scheme=gap",
    .step_sizes = {0.1, 0.05, 0.025, 0.0125},
    .error_kinds = {{"position", "m"}, {"variation", "m/s"}},
    .infeasibility_unit = "m",
    .build = build_inconsistent_joint};
