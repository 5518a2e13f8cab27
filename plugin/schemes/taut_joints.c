#include "schemes/taut_joints.h"

#include <math.h>
#include <string.h>

#include "common/six.h"
#include "common/vec3.h"
#include "gap/real.h"

/* --- 3 x 3 symmetric matrices ----------------------------------------------- */

/* A = V diag(d) V' by Jacobi's rotations; A is overwritten. */
static void find_eigenvectors(double A[9], double V[9], double d[3]) {
  enum { SWEEPS = 12 }; /* rounding is reached after five */
  for (int i = 0; i < 9; i++) V[i] = i % 4 == 0;
  for (int sweep = 0; sweep < SWEEPS; sweep++)
    for (int p = 0; p < 2; p++)
      for (int q = p + 1; q < 3; q++) {
        double across = A[3 * p + q];
        if (across == 0) continue;
        double theta = (A[4 * q] - A[4 * p]) / (2 * across);
        double t = copysign(1, theta) / (fabs(theta) + hypot(theta, 1));
        double c = 1 / hypot(t, 1), s = t * c;
        for (int k = 0; k < 3; k++) {
          double at_p = A[3 * k + p], at_q = A[3 * k + q];
          A[3 * k + p] = c * at_p - s * at_q;
          A[3 * k + q] = s * at_p + c * at_q;
        }
        for (int k = 0; k < 3; k++) {
          double at_p = A[3 * p + k], at_q = A[3 * q + k];
          A[3 * p + k] = c * at_p - s * at_q;
          A[3 * q + k] = s * at_p + c * at_q;
          double v_p = V[3 * k + p], v_q = V[3 * k + q];
          V[3 * k + p] = c * v_p - s * v_q;
          V[3 * k + q] = s * v_p + c * v_q;
        }
      }
  for (int i = 0; i < 3; i++) d[i] = A[4 * i];
}

/* C := L^-1 C L^-T */
static void divide_both(double C[9], const double L[9]) {
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++) {
      for (int k = 0; k < i; k++) C[3 * i + j] -= L[3 * i + k] * C[3 * k + j];
      C[3 * i + j] /= L[4 * i];
    }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      for (int k = 0; k < j; k++) C[3 * i + j] -= C[3 * i + k] * L[3 * j + k];
      C[3 * i + j] /= L[4 * j];
    }
}

/* With L L' = I and L^-1 square K L^-T = V diag(c) V' it is
 * L V diag(max(c - 1, 0)) V' L'. */
bool taut_joints_unresolved(double part[9], const double inertia[9],
                            const double K[9], double square) {
  double L[9], C[9], V[9], c[3];
  bool any = false;
  if (!mat3_cholesky(L, inertia)) return false;
  for (int i = 0; i < 9; i++)
    C[i] = square * (K[i] + K[3 * (i % 3) + i / 3]) / 2;
  divide_both(C, L);
  find_eigenvectors(C, V, c);
  memset(part, 0, 9 * sizeof *part);
  for (int e = 0; e < 3; e++) {
    double way[3] = {0};
    if (!(c[e] > 1)) continue;
    any = true;
    for (int i = 0; i < 3; i++)
      for (int k = 0; k <= i; k++) way[i] += L[3 * i + k] * V[3 * k + e];
    for (int i = 0; i < 9; i++) part[i] += (c[e] - 1) * way[i / 3] * way[i % 3];
  }
  return any;
}

/* --- joints ------------------------------------------------------------------- */

/* The arm to the point that a joint's first three rows hold together. Of three
 * directions e across each other the cross products e x (r x e) sum to 2 r.
 * @return false where they hold no point */
static bool find_arm(const host_joint_rows *joint, int side, double arm[3]) {
  const double ROUNDING = real_rounding(1e-9);
  if (joint->rows.count < 3) return false;
  memset(arm, 0, 3 * sizeof *arm);
  for (int i = 0; i < 3; i++) {
    const double *e = joint->rows.J[i][side];
    double part[3];
    for (int k = 0; k <= i; k++)
      if (!(fabs(vec3_dot(e, joint->rows.J[k][side]) - (k == i)) <= ROUNDING))
        return false;
    vec3_cross(part, e, e + 3);
    vec3_add_scaled(arm, 0.5, part);
  }
  return true;
}

/* K += -[F]x (1 - Y)^-1 [r]x, (1 - Y)^-1 = (1 + Y + y y') / (1 + y'y), Y = [y]x */
static void add_stiffness(double K[9], const double F[3], const double r[3],
                          const double y[3]) {
  double scale = 1 / (1 + vec3_dot(y, y));
  for (int k = 0; k < 3; k++) {
    double e[3] = {0}, way[3], turn[3], torque[3];
    e[k] = 1;
    vec3_cross(way, e, r);
    vec3_cross(turn, y, way);
    vec3_add_scaled(turn, vec3_dot(y, way), y);
    for (int i = 0; i < 3; i++) turn[i] = scale * (turn[i] + way[i]);
    vec3_cross(torque, F, turn);
    for (int i = 0; i < 3; i++) K[3 * i + k] += torque[i];
  }
}

void taut_joints_add(double K[], const world_snapshot *world, int j,
                     const double force[], double half, const double u[]) {
  const world_joint *joint = &world->joints[j];
  const host_joint_rows *rows = &world->joint_rows[joint->rows];
  for (int side = 0; side < 2; side++) {
    double r[3], F[3] = {0}, y[3];
    int b = joint->body[side];
    if (!world_is_dynamic(world, b) || !find_arm(rows, side, r)) continue;
    for (int i = 0; i < 3; i++) {
      vec3_add_scaled(F, force[i], rows->rows.J[i][side]);
      y[i] = half > 0 ? half * u[6 * b + 3 + i] : 0;
    }
    add_stiffness(K + 9 * b, F, r, y);
  }
}

void taut_joints_add_last(double K[], const world_snapshot *world, int j) {
  const contact_entry *old = world->joints[j].known;
  double force[6];
  if (old == NULL || !(old->seconds > 0) || old->n_rows < 3) return;
  for (int i = 0; i < old->n_rows; i++)
    force[i] = old->impulses[i] / old->seconds;
  taut_joints_add(K, world, j, force, 0, NULL);
}

/* M := M~ = M + `stiff` (NULL: nothing) + `part` of its inertia,
 * x := v + M~^-1 M (x - v). */
static void move_less(double x[6], double M[36], const double v[6],
                      const double stiff[36], const double part[9]) {
  double change[6], impulse[6];
  for (int i = 0; i < 6; i++) change[i] = x[i] - v[i];
  matrix6_apply(impulse, M, change);
  for (int i = 0; i < 36 && stiff != NULL; i++) M[i] += stiff[i];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) M[6 * (3 + i) + 3 + j] += part[3 * i + j];
  matrix6_solve(change, M, impulse);
  for (int i = 0; i < 6; i++) x[i] = v[i] + change[i];
}

bool taut_joints_find(arena *arena, const world_snapshot *world,
                      const host_body bodies[], const double *stiff,
                      double x_free[], const double **mass) {
  const int n = world->n_bodies;
  double *K, *M, part[9];
  const double h = world->settings.step_size;
  bool any = stiff != NULL;
  *mass = NULL;
  if (world->n_joint_rows == 0 && stiff == NULL) return true;
  if (!ARENA_TAKE(arena, K, 9 * n) || !ARENA_TAKE(arena, M, 36 * n))
    return false;
  memset(K, 0, 9 * (size_t)n * sizeof *K);
  for (int j = 0; j < world->n_joints; j++) taut_joints_add_last(K, world, j);
  for (int b = 0; b < n; b++) {
    const host_body *body = &bodies[b];
    host_body_mass(body, M + 36 * b);
    if (!world_is_dynamic(world, b)) continue;
    bool taut = taut_joints_unresolved(part, body->inertia, K + 9 * b, h * h);
    if (taut || stiff != NULL)
      move_less(x_free + 6 * b, M + 36 * b, body->v,
                stiff != NULL ? stiff + 36 * b : NULL, part);
    any |= taut;
  }
  if (any) *mass = M;
  return true;
}
