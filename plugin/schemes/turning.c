#include "schemes/turning.h"

#include <string.h>

#include "common/six.h"
#include "common/vec3.h"
#include "world/rotation.h"

/* The inertia of a body at a pose, world frame, and its rotation. */
static void turn_inertia(const host_body *body, const world_pose *pose,
                         double rotation[9], double inertia[9]) {
  double in_body[9], back[9];
  for (int i = 0; i < 9; i++) back[i] = body->rotation[3 * (i % 3) + i / 3];
  mat3_rotate(in_body, back, body->inertia);
  quaternion_to_rotation(rotation, pose->quaternion);
  mat3_rotate(inertia, rotation, in_body);
}

/* Angular velocity and momentum at the end that go with a mean angular velocity:
 * in the body's frame the mean of both ends is the mean one (40). */
static void end_of_turn(const double R0[9], const double R1[9],
                        const double inertia1[9], const double w0[3],
                        const double u[3], double w1[3], double momentum[3]) {
  double local[3], turned[3];
  for (int i = 0; i < 3; i++) /* R0' w0 */
    local[i] = R0[i] * w0[0] + R0[3 + i] * w0[1] + R0[6 + i] * w0[2];
  mat3_apply(turned, R1, local);
  for (int i = 0; i < 3; i++) w1[i] = 2 * u[i] - turned[i];
  mat3_apply(momentum, inertia1, w1);
}

bool turning_change(double change[6], double mass[36], const host_body *body,
                    const world_pose *from, const world_pose *to,
                    const double v[6], const double u[6], double h) {
  double R0[9], R1[9], I0[9], I1[9], momentum[3], start[3], w1[3];
  turn_inertia(body, from, R0, I0);
  turn_inertia(body, to, R1, I1);
  memset(mass, 0, 36 * sizeof *mass);
  for (int i = 0; i < 3; i++) {
    mass[7 * i] = 2 * body->mass;
    change[i] = 2 * body->mass * (u[i] - v[i]);
  }
  if (!body->gyroscopic) {
    /* as the program wants it: no torque comes of the inertia's turning */
    double sum[9], by[3];
    for (int i = 0; i < 9; i++) sum[i] = I0[i] + I1[i];
    for (int i = 0; i < 9; i++) mass[6 * (3 + i / 3) + 3 + i % 3] = sum[i];
    vec3_subtract(by, u + 3, v + 3);
    mat3_apply(change + 3, sum, by);
    return true;
  }
  end_of_turn(R0, R1, I1, v + 3, u + 3, w1, momentum);
  mat3_apply(start, I0, v + 3);
  vec3_subtract(change + 3, momentum, start);
  /* 2 R1 J R0' - [L1]x T, T the turn that u makes: h (1 + [y]x) / (1 + y'y),
   * y = (h/2) u; R1 J R0' = I1 R1 R0' */
  double y[3], turn[9];
  for (int i = 0; i < 3; i++) y[i] = h / 2 * u[3 + i];
  double scale = h / (1 + vec3_dot(y, y));
  const double T[9] = {scale,         -scale * y[2], scale * y[1],
                       scale * y[2],  scale,         -scale * y[0],
                       -scale * y[1], scale * y[0],  scale};
  const double L[9] = {0, -momentum[2], momentum[1],  momentum[2],
                       0, -momentum[0], -momentum[1], momentum[0],
                       0};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      turn[3 * i + k] = vec3_dot(R1 + 3 * i, R0 + 3 * k);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      double sum = 0;
      for (int l = 0; l < 3; l++)
        sum +=
            2 * I1[3 * i + l] * turn[3 * l + k] - L[3 * i + l] * T[3 * l + k];
      mass[6 * (3 + i) + 3 + k] = sum;
    }
  if (matrix6_is_positive(mass)) return true;
  for (int i = 0; i < 9; i++) mass[6 * (3 + i / 3) + 3 + i % 3] = I0[i] + I1[i];
  return false;
}

void turning_end(double w_plus[3], const host_body *body,
                 const world_pose *from, const world_pose *to,
                 const double w[3], const double u[3]) {
  double R0[9], R1[9], I0[9], I1[9], momentum[3];
  turn_inertia(body, from, R0, I0);
  turn_inertia(body, to, R1, I1);
  end_of_turn(R0, R1, I1, w, u, w_plus, momentum);
}
