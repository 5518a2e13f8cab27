#include "world/pose.h"

#include <string.h>

#include "common/vec3.h"
#include "world/rotation.h"

world_pose world_pose_of(const host_body *body) {
  world_pose pose;
  vec3_copy(pose.position, body->position);
  memcpy(pose.quaternion, body->quaternion, sizeof pose.quaternion);
  return pose;
}

void world_pose_move(world_pose *out, const world_pose *q,
                     const double velocity[6], double h) {
  double turn[3], d[4];
  for (int i = 0; i < 3; i++) {
    out->position[i] = q->position[i] + h * velocity[i];
    turn[i] = h * velocity[3 + i];
  }
  quaternion_from_turn(d, turn);
  quaternion_multiply(out->quaternion, d, q->quaternion);
  quaternion_normalise(out->quaternion);
}

void world_pose_move_cayley(world_pose *out, const world_pose *q,
                            const double velocity[6], double h) {
  const double d[4] = {1, h / 2 * velocity[3], h / 2 * velocity[4],
                       h / 2 * velocity[5]};
  for (int i = 0; i < 3; i++)
    out->position[i] = q->position[i] + h * velocity[i];
  quaternion_multiply(out->quaternion, d, q->quaternion);
  quaternion_normalise(out->quaternion);
}

void world_pose_advance(world_pose *out, const host_body *body,
                        const double velocity[6], double h) {
  double v[6];
  memcpy(v, velocity, sizeof v);
  double turning = vec3_length(v + 3), most = dBodyGetMaxAngularSpeed(body->id);
  if (turning > most)
    for (int i = 3; i < 6; i++) v[i] *= most / turning;
  world_pose from = world_pose_of(body);
  if (dBodyGetFiniteRotationMode(body->id))
    world_pose_move(out, &from, v, h);
  else
    world_pose_move_cayley(out, &from, v, h);
}

/* The host turns a body by w h about w where its rotation is finite, else by
 * q + (h/2) w q, normalised; a finite rotation axis mixes the two and is met to
 * third order in the turn. */
void world_pose_velocity(double velocity[6], const host_body *body,
                         const world_pose *to, double h) {
  double d[4];
  for (int i = 0; i < 3; i++)
    velocity[i] = (to->position[i] - body->position[i]) / h;
  if (dBodyGetFiniteRotationMode(body->id)) {
    turn_between(velocity + 3, body->quaternion, to->quaternion);
    for (int i = 0; i < 3; i++) velocity[3 + i] /= h;
    return;
  }
  quaternion_between(d, body->quaternion, to->quaternion);
  for (int i = 0; i < 3; i++) velocity[3 + i] = 2 * d[1 + i] / (d[0] * h);
}
