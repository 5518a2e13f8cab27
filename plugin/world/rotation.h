/* Rotations as unit quaternions (w, x, y, z) and rotation vectors, both turning
 * from an earlier to a later pose in the world frame. */
#ifndef ODE_MLCP_WORLD_ROTATION_H
#define ODE_MLCP_WORLD_ROTATION_H

#include "common/vec3.h"

static inline void quaternion_multiply(double c[4], const double a[4],
                                       const double b[4]) {
  double cross[3], w = a[0] * b[0] - vec3_dot(a + 1, b + 1);
  vec3_cross(cross, a + 1, b + 1);
  for (int i = 0; i < 3; i++)
    c[1 + i] = a[0] * b[1 + i] + b[0] * a[1 + i] + cross[i];
  c[0] = w;
}

static inline void quaternion_normalise(double q[4]) {
  double length = sqrt(q[0] * q[0] + vec3_dot(q + 1, q + 1));
  for (int i = 0; i < 4; i++) q[i] /= length;
}

/** The quaternion that turns by `turn` (rad, world frame). */
static inline void quaternion_from_turn(double q[4], const double turn[3]) {
  double angle = vec3_length(turn);
  double share =
      angle > 1e-4 ? sin(angle / 2) / angle : 0.5 - angle * angle / 48;
  q[0] = cos(angle / 2);
  for (int i = 0; i < 3; i++) q[1 + i] = share * turn[i];
}

/** The rotation matrix, row-major, of a unit quaternion. */
static inline void quaternion_to_rotation(double R[9], const double q[4]) {
  double w = q[0], x = q[1], y = q[2], z = q[3];
  R[0] = 1 - 2 * (y * y + z * z);
  R[1] = 2 * (x * y - w * z);
  R[2] = 2 * (x * z + w * y);
  R[3] = 2 * (x * y + w * z);
  R[4] = 1 - 2 * (x * x + z * z);
  R[5] = 2 * (y * z - w * x);
  R[6] = 2 * (x * z - w * y);
  R[7] = 2 * (y * z + w * x);
  R[8] = 1 - 2 * (x * x + y * y);
}

/** The quaternion d with to = d from. */
static inline void quaternion_between(double d[4], const double from[4],
                                      const double to[4]) {
  const double back[4] = {from[0], -from[1], -from[2], -from[3]};
  double product[4];
  quaternion_multiply(product, to, back);
  double sign = product[0] < 0 ? -1 : 1; /* the shorter way round */
  for (int i = 0; i < 4; i++) d[i] = sign * product[i];
}

/** The turn of at most half a revolution from one pose to another. */
static inline void turn_between(double turn[3], const double from[4],
                                const double to[4]) {
  double d[4];
  quaternion_between(d, from, to);
  double s = vec3_length(d + 1);
  double scale = s > 1e-8 ? 2 * atan2(s, d[0]) / s : 2 / d[0];
  for (int i = 0; i < 3; i++) turn[i] = scale * d[1 + i];
}

/** y = x + a [turn]x x + b [turn]x [turn]x x */
static inline void turn_polynomial(double y[3], const double turn[3], double a,
                                   double b, const double x[3]) {
  double once[3], twice[3];
  vec3_cross(once, turn, x);
  vec3_cross(twice, turn, once);
  for (int i = 0; i < 3; i++) y[i] = x[i] + a * once[i] + b * twice[i];
}

/** The angular velocity of exp(turn) where `turn` changes at `rate`. */
static inline void turn_rate_to_angular(double w[3], const double turn[3],
                                        const double rate[3]) {
  double t = vec3_length(turn), t2 = t * t;
  double a = t > 1e-2 ? (1 - cos(t)) / t2 : 0.5 - t2 / 24;
  double b = t > 1e-2 ? (t - sin(t)) / (t2 * t) : 1.0 / 6 - t2 / 120;
  turn_polynomial(w, turn, a, b, rate);
}

/** The rate at which `turn` changes where exp(turn) has the angular velocity
 *  w. */
static inline void angular_to_turn_rate(double rate[3], const double turn[3],
                                        const double w[3]) {
  double t = vec3_length(turn), t2 = t * t;
  double b =
      t > 1e-2 ? 1 / t2 - (1 + cos(t)) / (2 * t * sin(t)) : 1.0 / 12 + t2 / 720;
  turn_polynomial(rate, turn, -0.5, b, w);
}

#endif
