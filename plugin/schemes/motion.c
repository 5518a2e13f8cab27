#include "schemes/motion.h"

#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "world/rotation.h"

bool motion_take(motion *m, arena *arena, int n_bodies) {
  return ARENA_TAKE(arena, m->poses, n_bodies) &&
         ARENA_TAKE(arena, m->v, 6 * n_bodies);
}

void motion_copy(motion *to, const motion *from, int n_bodies) {
  to->time = from->time;
  memcpy(to->poses, from->poses, (size_t)n_bodies * sizeof *to->poses);
  memcpy(to->v, from->v, 6 * (size_t)n_bodies * sizeof *to->v);
}

void motion_lead(const motion *from, motion *to, int n_bodies, double h) {
  to->time = from->time + h;
  for (int b = 0; b < n_bodies; b++) {
    double way[6];
    vec3_subtract(way, to->poses[b].position, from->poses[b].position);
    turn_between(way + 3, from->poses[b].quaternion, to->poses[b].quaternion);
    for (int i = 0; i < 6; i++)
      to->v[6 * b + i] = 2 / h * way[i] - from->v[6 * b + i];
  }
}

/* Without it a strong motor's jaw does not stop at what it closes on, and houses of cards
 * stay unsolved (tests/test_schemes_world.c). */
double motion_radius(const world_snapshot *world, const double v[], double h) {
  double fastest = world->gravity * h;
  for (int b = 0; b < world->n_bodies; b++)
    fastest = fmax(fastest, vec3_length(v + 6 * b));
  return 1e-3 + 4 * h * fastest;
}

/* --- the interpolant ------------------------------------------------------ */

/* Values and slopes (per unit of s) at both ends. */
static double cubic_value(double g0, double s0, double g1, double s1,
                          double s) {
  double r = 1 - s;
  return r * r * ((1 + 2 * s) * g0 + s * s0) +
         s * s * ((1 + 2 * r) * g1 - r * s1);
}

static double cubic_slope(double g0, double s0, double g1, double s1,
                          double s) {
  return 6 * s * (1 - s) * (g1 - g0) + (1 - s) * (1 - 3 * s) * s0 +
         s * (3 * s - 2) * s1;
}

void motion_body_between(world_pose *pose, double v[6], const motion *from,
                         const motion *to, int b, double share) {
  const world_pose *q0 = &from->poses[b], *q1 = &to->poses[b];
  const double *v0 = from->v + 6 * b, *v1 = to->v + 6 * b;
  const double h = to->time - from->time;
  double turn[3], end_rate[3], at[3], rate[3], d[4];
  for (int i = 0; i < 3; i++) {
    const double *x0 = q0->position, *x1 = q1->position;
    pose->position[i] = cubic_value(x0[i], h * v0[i], x1[i], h * v1[i], share);
    if (v != NULL)
      v[i] = cubic_slope(x0[i], h * v0[i], x1[i], h * v1[i], share) / h;
  }
  turn_between(turn, q0->quaternion, q1->quaternion);
  angular_to_turn_rate(end_rate, turn, v1 + 3);
  for (int i = 0; i < 3; i++) {
    at[i] = cubic_value(0, h * v0[3 + i], turn[i], h * end_rate[i], share);
    rate[i] =
        cubic_slope(0, h * v0[3 + i], turn[i], h * end_rate[i], share) / h;
  }
  if (v != NULL) turn_rate_to_angular(v + 3, at, rate);
  quaternion_from_turn(d, at);
  quaternion_multiply(pose->quaternion, d, q0->quaternion);
  quaternion_normalise(pose->quaternion);
}

/* The slope of a cubic is a parabola, within the hull of its control points; the
 * exponential map makes no turn faster. */
void motion_body_bounds(const motion *from, const motion *to, int b,
                        double linear[3][3], double *turning,
                        double change[2]) {
  double h = to->time - from->time, turn[3], rates[3][3];
  const double *x0 = from->poses[b].position, *x1 = to->poses[b].position;
  const double *v0 = from->v + 6 * b, *v1 = to->v + 6 * b;
  turn_between(turn, from->poses[b].quaternion, to->poses[b].quaternion);
  angular_to_turn_rate(rates[2], turn, v1 + 3);
  for (int i = 0; i < 3; i++) {
    linear[0][i] = h * v0[i];
    linear[1][i] = 3 * (x1[i] - x0[i]) - h * (v0[i] + v1[i]);
    linear[2][i] = h * v1[i];
    rates[0][i] = h * v0[3 + i];
    rates[2][i] *= h;
    rates[1][i] = 3 * turn[i] - rates[0][i] - rates[2][i];
  }
  *turning = change[0] = change[1] = 0;
  for (int k = 0; k < 3; k++) *turning = fmax(*turning, vec3_length(rates[k]));
  for (int k = 0; k < 2; k++) {
    double bend[3], twist[3];
    vec3_subtract(bend, linear[k + 1], linear[k]);
    vec3_subtract(twist, rates[k + 1], rates[k]);
    change[0] = fmax(change[0], 2 * vec3_length(bend));
    change[1] = fmax(change[1], 2 * vec3_length(twist));
  }
  /* and what the exponential map adds of the turn that the rates are of */
  change[1] += *turning * *turning;
}

void motion_between(motion *at, const motion *from, const motion *to,
                    double share, int n_bodies) {
  for (int b = 0; b < n_bodies; b++)
    motion_body_between(&at->poses[b], at->v + 6 * b, from, to, b, share);
  at->time = from->time + share * (to->time - from->time);
}

/* --- roots ---------------------------------------------------------------- */

/* A root between a > 0 >= b, by bisection with regula falsi steps. */
static double find_descent(double g0, double s0, double g1, double s1,
                           double low, double high) {
  double at_low = cubic_value(g0, s0, g1, s1, low);
  double at_high = cubic_value(g0, s0, g1, s1, high);
  for (int i = 0; i < 200 && high - low > 1e-16; i++) {
    double middle = 0.5 * (low + high);
    if (i % 2 == 0) {
      double falsi = low + (high - low) * at_low / (at_low - at_high);
      if (falsi > low && falsi < high) middle = falsi;
    }
    double value = cubic_value(g0, s0, g1, s1, middle);
    if (value == 0) return middle;
    if (value > 0) {
      low = middle;
      at_low = value;
    } else {
      high = middle;
      at_high = value;
    }
  }
  return 0.5 * (low + high);
}

double cubic_first_descent(double g0, double s0, double g1, double s1) {
  if (g0 <= 0 && s0 < 0) return 0;
  /* between the extrema the cubic is monotone: slope a s^2 + b s + c */
  double a = 3 * (s0 + s1) - 6 * (g1 - g0);
  double b = 6 * (g1 - g0) - 4 * s0 - 2 * s1, c = s0;
  double ends[4] = {0, 1, 1, 1};
  int n = 1;
  double discriminant = b * b - 4 * a * c;
  if (discriminant > 0) {
    double q = -0.5 * (b + copysign(sqrt(discriminant), b));
    double roots[2] = {a != 0 ? q / a : INFINITY, q != 0 ? c / q : INFINITY};
    if (roots[0] > roots[1]) {
      double first = roots[1];
      roots[1] = roots[0];
      roots[0] = first;
    }
    for (int i = 0; i < 2; i++)
      if (roots[i] > 0 && roots[i] < 1) ends[n++] = roots[i];
  }
  ends[n] = 1;
  for (int i = 0; i < n; i++)
    if (cubic_value(g0, s0, g1, s1, ends[i]) >= 0 &&
        cubic_value(g0, s0, g1, s1, ends[i + 1]) < 0 && ends[i + 1] > ends[i])
      return find_descent(g0, s0, g1, s1, ends[i], ends[i + 1]);
  return INFINITY;
}

double motion_spin_energy(const host_body *home, const world_pose *pose,
                          const double w[3]) {
  const world_pose start = world_pose_of(home);
  double in_home[3], momentum[3];
  vec3_copy(in_home, w);
  world_pose_turn_along(pose, &start, in_home);
  mat3_apply(momentum, home->inertia, in_home);
  return vec3_dot(momentum, in_home) / 2;
}

double motion_energy(const world_snapshot *home, const motion *at,
                     const double v[]) {
  double sum = 0;
  for (int b = 0; b < home->n_bodies; b++) {
    const host_body *body = &home->bodies[b];
    const double *of = v + 6 * b;
    if (world_is_dynamic(home, b))
      sum += body->mass * vec3_dot(of, of) / 2 +
             motion_spin_energy(body, &at->poses[b], of + 3);
  }
  return sum;
}
