#include "schemes/joint_check.h"

#include <math.h>

double joint_check_errors(const world_snapshot *home, const world_snapshot *at,
                          int j) {
  const world_joint *joint = &at->joints[j];
  const double h = home->settings.step_size;
  double sum = 0;
  if (joint->rows < 0) return 0;
  const host_joint_rows *rows = &at->joint_rows[joint->rows];
  for (unsigned i = 0; i < rows->rows.count; i++) {
    double error = h * rows->correction[i];
    double mobility = world_row_mobility(home, joint->body, rows->rows.J[i]);
    if (host_row_holds(rows, i, home->cfm) && mobility > 0)
      sum += error * error / mobility;
  }
  return sum;
}

/* -1 where neither body is moved by the step */
static int component_of_joint(const world_snapshot *home, int j,
                              const int component_of[]) {
  const int *body = home->joints[j].body;
  for (int side = 0; side < 2; side++)
    if (world_is_dynamic(home, body[side])) return component_of[body[side]];
  return -1;
}

bool joint_check_measure(void *context, const double motion[],
                         const int component_of[], int component,
                         double *errors, outcome *out) {
  joint_check *check = context;
  const world_snapshot *home = check->home;
  const double h = home->settings.step_size;
  world_pose *poses;
  outcome own;
  bool any = false;
  *errors = 0;
  for (int j = 0; j < home->n_joints && !any; j++)
    any = home->joints[j].rows >= 0 &&
          component_of_joint(home, j, component_of) == component;
  if (!any) return true;
  check->arena.source = &home->settings.pool->source;
  arena_start(&check->arena);
  if (!ARENA_TAKE(&check->arena, poses, home->n_bodies))
    return outcome_no_memory(out);
  for (int b = 0; b < home->n_bodies; b++) {
    const host_body *body = &home->bodies[b];
    if (component_of[b] == component || body->kinematic)
      world_pose_advance(&poses[b], body,
                         body->kinematic ? body->v : motion + 6 * b, h);
    else
      poses[b] = world_pose_of(body);
  }
  outcome_start(&own);
  if (!world_read_joints_at(&check->at, home, poses, h, &own)) {
    *errors = INFINITY;
    return !own.no_memory || outcome_no_memory(out);
  }
  for (int j = 0; j < home->n_joints; j++)
    if (component_of_joint(home, j, component_of) == component)
      *errors += joint_check_errors(home, &check->at, j);
  return true;
}
