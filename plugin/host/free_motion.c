/* The free motion of a body that was read: no call of the host, so that a
 * process without one can ask. */
#include <string.h>

#include "common/vec3.h"
#include "host/bodies.h"

/* The host's implicit gyroscopic torque (Lacoursiere 2006): the torque that,
 * applied explicitly, takes L = I w to I (I + h [-L]x)^-1 L. */
void host_body_add_gyroscopic_torque(host_body *body, double h) {
  double momentum[3], matrix[9], inverse[9], turned[3], new_momentum[3];
  mat3_apply(momentum, body->inertia, body->v + 3);

  const double *L = momentum;
  const double minus_cross[9] = {0,    L[2], -L[1], -L[2], 0,
                                 L[0], L[1], -L[0], 0};
  for (int i = 0; i < 9; i++) matrix[i] = body->inertia[i] + h * minus_cross[i];
  if (!mat3_invert(inverse, matrix)) return;

  mat3_apply(turned, inverse, momentum);
  mat3_apply(new_momentum, body->inertia, turned);
  for (int i = 0; i < 3; i++)
    body->force[3 + i] += (new_momentum[i] - momentum[i]) / h;
}

void host_body_mass(const host_body *body, double M[36]) {
  memset(M, 0, 36 * sizeof *M);
  for (int i = 0; i < 3; i++) {
    M[7 * i] = body->mass;
    for (int j = 0; j < 3; j++)
      M[6 * (3 + i) + 3 + j] = body->inertia[3 * i + j];
  }
}

void host_body_free_velocity(const host_body *body, double step_size,
                             double v_free[6]) {
  memcpy(v_free, body->v, sizeof body->v);
  if (body->kinematic) return;

  double turn[3];
  mat3_apply(turn, body->inverse_inertia, body->force + 3);
  vec3_add_scaled(v_free, step_size / body->mass, body->force);
  vec3_add_scaled(v_free + 3, step_size, turn);
}

double host_row_mobility(const host_body bodies[], const int body[2],
                         const double J[2][6]) {
  double sum = 0, turned[3];
  for (int side = 0; side < 2; side++) {
    if (body[side] < 0 || bodies[body[side]].kinematic) continue;
    const host_body *of = &bodies[body[side]];
    mat3_apply(turned, of->inverse_inertia, J[side] + 3);
    sum +=
        vec3_dot(J[side], J[side]) / of->mass + vec3_dot(J[side] + 3, turned);
  }
  return sum;
}

bool host_row_gives_way(const host_body bodies[], const int body[2],
                        const double J[2][6], double cfm, double step_size) {
  return cfm / step_size > host_row_mobility(bodies, body, J);
}
