#include "world/pose.h"

#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "world/rotation.h"

world_pose world_pose_of(const host_body *body) {
  world_pose pose = {{0}, {0}};
  vec3_copy(pose.position, body->position);
  memcpy(pose.quaternion, body->quaternion, sizeof pose.quaternion);
  return pose;
}

world_pose world_pose_read(dBodyID id) {
  world_pose pose = {{0}, {0}};
  real_read(pose.position, dBodyGetPosition(id), 3);
  real_read(pose.quaternion, dBodyGetQuaternion(id), 4);
  return pose;
}

/* out = q moved by `velocity` over h and turned by d. */
static void move_and_turn(world_pose *out, const world_pose *q,
                          const double velocity[6], double h,
                          const double d[4]) {
  for (int i = 0; i < 3; i++)
    out->position[i] = q->position[i] + h * velocity[i];
  quaternion_multiply(out->quaternion, d, q->quaternion);
  quaternion_normalise(out->quaternion);
}

void world_pose_move(world_pose *out, const world_pose *q,
                     const double velocity[6], double h) {
  double turn[3], d[4];
  for (int i = 0; i < 3; i++) turn[i] = h * velocity[3 + i];
  quaternion_from_turn(d, turn);
  move_and_turn(out, q, velocity, h, d);
}

void world_pose_move_cayley(world_pose *out, const world_pose *q,
                            const double velocity[6], double h) {
  const double d[4] = {1, h / 2 * velocity[3], h / 2 * velocity[4],
                       h / 2 * velocity[5]};
  move_and_turn(out, q, velocity, h, d);
}

/* The axis about which a body's rotation is finite, the rest of it is not: the host
 * then turns by (1 + (h/4) w_rest) (cos(h k/2) + sin(h k/2) axis), k the part of w along
 * the axis; the quarter is the host's. */
static bool has_axis(dBodyID id, double axis[3]) {
  dVector3 of;
  dBodyGetFiniteRotationAxis(id, of);
  real_read(axis, of, 3);
  return vec3_dot(axis, axis) > 0;
}

static void move_about_axis(world_pose *out, const world_pose *q,
                            const double axis[3], const double velocity[6],
                            double h) {
  double along = vec3_dot(axis, velocity + 3), d[4];
  double finite[4] = {cos(h / 2 * along)}, rest[4] = {1};
  for (int i = 0; i < 3; i++) {
    finite[1 + i] = sin(h / 2 * along) * axis[i];
    rest[1 + i] = h / 4 * (velocity[3 + i] - along * axis[i]);
  }
  quaternion_multiply(d, rest, finite);
  move_and_turn(out, q, velocity, h, d);
}

/* The angular velocity that turns by d about an axis as above: of d times the
 * inverse of the finite turn, the vector is across the axis. */
static void turn_about_axis(double w[3], const double d[4],
                            const double axis[3], double h) {
  double along = vec3_dot(axis, d + 1), angle = atan2(along, d[0]);
  double back[4] = {cos(angle)}, rest[4];
  for (int i = 0; i < 3; i++) back[1 + i] = -sin(angle) * axis[i];
  quaternion_multiply(rest, d, back);
  for (int i = 0; i < 3; i++)
    w[i] = 2 / h * angle * axis[i] + 4 / h * rest[1 + i] / rest[0];
}

void world_pose_advance(world_pose *out, dBodyID id, const world_pose *from,
                        const double velocity[6], double h) {
  double v[6], axis[3];
  memcpy(v, velocity, sizeof v);
  double turning = vec3_length(v + 3), most = dBodyGetMaxAngularSpeed(id);
  if (turning > most)
    for (int i = 3; i < 6; i++) v[i] *= most / turning;
  bool finite = dBodyGetFiniteRotationMode(id);
  if (finite && has_axis(id, axis))
    move_about_axis(out, from, axis, v, h);
  else if (finite)
    world_pose_move(out, from, v, h);
  else
    world_pose_move_cayley(out, from, v, h);
}

/* The host turns a body by w h about w where its rotation is finite, else by
 * q + (h/2) w q, normalised; a finite rotation axis mixes the two. */
void world_pose_velocity(double velocity[6], dBodyID id, const world_pose *from,
                         const world_pose *to, double h) {
  double d[4], axis[3];
  for (int i = 0; i < 3; i++)
    velocity[i] = (to->position[i] - from->position[i]) / h;
  quaternion_between(d, from->quaternion, to->quaternion);
  if (dBodyGetFiniteRotationMode(id)) {
    if (has_axis(id, axis)) {
      turn_about_axis(velocity + 3, d, axis, h);
      return;
    }
    turn_between(velocity + 3, from->quaternion, to->quaternion);
    for (int i = 0; i < 3; i++) velocity[3 + i] /= h;
    return;
  }
  for (int i = 0; i < 3; i++) velocity[3 + i] = 2 * d[1 + i] / (d[0] * h);
}

void world_pose_turn_along(const world_pose *from, const world_pose *to,
                           double x[3]) {
  double turn[4], R[9], turned[3];
  quaternion_between(turn, from->quaternion, to->quaternion);
  quaternion_normalise(turn);
  quaternion_to_rotation(R, turn);
  mat3_apply(turned, R, x);
  vec3_copy(x, turned);
}
