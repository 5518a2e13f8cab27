/* Shapes at random, and what is true of a gap, found without the kernels:
 * supports and memberships written down anew. */
#ifndef TEST_GAP_ORACLE_H
#define TEST_GAP_ORACLE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/gap.h"

/* ---- numbers at random, the same every time ---- */

static uint64_t oracle_state = 1;

static inline void oracle_seed(uint64_t seed) {
  oracle_state = seed * 2862933555777941757u + 3037000493u;
}

static inline double oracle_uniform(double low, double high) {
  oracle_state ^= oracle_state << 13;
  oracle_state ^= oracle_state >> 7;
  oracle_state ^= oracle_state << 17;
  return low + (high - low) * (double)(oracle_state >> 11) / 9007199254740992.0;
}

static inline void oracle_unit(double n[3]) {
  double length;
  do {
    for (int k = 0; k < 3; k++) n[k] = oracle_uniform(-1, 1);
    length = vec3_length(n);
  } while (length > 1 || length < 0.1);
  for (int k = 0; k < 3; k++) n[k] /= length;
}

static inline void oracle_rotation_about(const double axis[3], double angle,
                                         double R[9]) {
  double c = cos(angle), s = sin(angle);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      R[3 * i + j] = (i == j) * c + (1 - c) * axis[i] * axis[j];
  R[1] -= s * axis[2], R[2] += s * axis[1];
  R[3] += s * axis[2], R[5] -= s * axis[0];
  R[6] -= s * axis[1], R[7] += s * axis[0];
}

static inline void oracle_rotation(double R[9]) {
  double axis[3];
  oracle_unit(axis);
  oracle_rotation_about(axis, oracle_uniform(-3.1, 3.1), R);
}

/* ---- shapes ---- */

/* an octahedron of no regularity */
static inline void oracle_make_hull(gap_hull *hull, memory_pool *pool) {
  static const double points[] = {0.9, 0,   0.1,  -0.8, 0.1, 0,
                                  0,   1.1, 0,    0.1,  -1,  0.05,
                                  0,   0,   -0.7, 0.1,  0,   0.8};
  static const unsigned polygons[] = {3, 0, 2, 5, 3, 2, 1, 5, 3, 1, 3,
                                      5, 3, 3, 0, 5, 3, 2, 0, 4, 3, 1,
                                      2, 4, 3, 3, 1, 4, 3, 0, 3, 4};
  const char *fault = NULL;
  gap_hull_make(hull, pool, points, 6, polygons, 8, &fault);
}

static inline void oracle_shape(gap_kind kind, double size,
                                const gap_hull *hull, gap_shape *shape) {
  memset(shape, 0, sizeof *shape);
  shape->kind = kind;
  shape->hull = kind == GAP_CONVEX ? hull : NULL;
  oracle_rotation(shape->rotation);
  oracle_unit(shape->normal);
  for (int k = 0; k < 3; k++) {
    shape->size[k] = size * oracle_uniform(0.3, 1);
    for (int i = 0; i < 3; i++)
      shape->corners[i][k] = size * oracle_uniform(-1, 1);
  }
}

/* ---- the truth ---- */

/* max over the shape of n.x, about `origin`, in long double */
static inline long double
oracle_support(const gap_shape *s, const double origin[3], const double n[3]) {
  long double body[3] = {0, 0, 0}, base = 0, h = 0;
  for (int i = 0; i < 3; i++) {
    base += (long double)n[i] * (s->position[i] - origin[i]);
    for (int k = 0; k < 3; k++)
      body[k] += (long double)s->rotation[3 * i + k] * n[i];
  }
  int count = s->kind == GAP_TRIANGLE ? 3
              : s->kind == GAP_CONVEX ? s->hull->topology.n_corners
                                      : 0;
  long double length =
      sqrtl(body[0] * body[0] + body[1] * body[1] + body[2] * body[2]);
  switch (s->kind) {
    case GAP_SPHERE: h = s->size[0] * length; break;
    case GAP_BOX:
      for (int k = 0; k < 3; k++) h += fabsl(body[k]) * s->size[k] / 2;
      break;
    case GAP_CAPSULE:
      h = s->size[0] * length + fabsl(body[2]) * s->size[1] / 2;
      break;
    case GAP_CYLINDER:
      h = s->size[0] * hypotl(body[0], body[1]) +
          fabsl(body[2]) * s->size[1] / 2;
      break;
    case GAP_ELLIPSOID:
      for (int k = 0; k < 3; k++)
        h += body[k] * body[k] * s->size[k] * s->size[k];
      h = sqrtl(h);
      break;
    default:
      h = -INFINITY;
      for (int i = 0; i < count; i++) {
        const double *p =
            s->kind == GAP_TRIANGLE ? s->corners[i] : s->hull->points[i];
        long double at = body[0] * p[0] + body[1] * p[1] + body[2] * p[2];
        if (at > h) h = at;
      }
  }
  return base + h;
}

/* s(n) with n made exactly unit */
static inline double oracle_separation(const gap_shape *a, const gap_shape *b,
                                       const double n[3]) {
  double back[3];
  vec3_negate(back, n);
  long double length =
      sqrtl((long double)n[0] * n[0] + (long double)n[1] * n[1] +
            (long double)n[2] * n[2]);
  return (double)((-oracle_support(a, b->position, back) -
                   oracle_support(b, b->position, n)) /
                  length);
}

/* How far a point sticks out of a shape, at least; 0 inside. */
static inline double oracle_outside(const gap_shape *s, const double point[3]) {
  double arm[3], body[3], out = 0;
  vec3_subtract(arm, point, s->position);
  for (int k = 0; k < 3; k++)
    body[k] = arm[0] * s->rotation[k] + arm[1] * s->rotation[3 + k] +
              arm[2] * s->rotation[6 + k];
  double beyond = fmax(fabs(body[2]) - s->size[1] / 2, 0);
  double across = hypot(body[0], body[1]), root = 0, slope = 0;
  switch (s->kind) {
    case GAP_SPHERE: return fmax(vec3_length(body) - s->size[0], 0);
    case GAP_CAPSULE: return fmax(hypot(across, beyond) - s->size[0], 0);
    case GAP_CYLINDER: return fmax(fmax(across - s->size[0], beyond), 0);
    case GAP_BOX:
      for (int k = 0; k < 3; k++)
        out = fmax(out, fabs(body[k]) - s->size[k] / 2);
      return out;
    case GAP_ELLIPSOID: /* to first order, which is what small means */
      for (int k = 0; k < 3; k++) {
        root += body[k] * body[k] / (s->size[k] * s->size[k]);
        slope += body[k] * body[k] / pow(s->size[k], 4);
      }
      return fmax((root - 1) / (2 * sqrt(slope)), 0);
    case GAP_CONVEX:
      for (int f = 0; f < s->hull->topology.n_faces; f++) {
        const double *n = s->hull->normals[f];
        int corner =
            s->hull->topology.face_corners[s->hull->topology.face_start[f]];
        double to[3];
        vec3_subtract(to, body, s->hull->points[corner]);
        out = fmax(out, vec3_dot(n, to));
      }
      return out;
    case GAP_TRIANGLE: {
      double u[3], v[3], n[3], to[3];
      vec3_subtract(u, s->corners[1], s->corners[0]);
      vec3_subtract(v, s->corners[2], s->corners[0]);
      vec3_cross(n, u, v);
      vec3_subtract(to, body, s->corners[0]);
      out = fabs(vec3_dot(n, to)) / vec3_length(n);
      for (int i = 0; i < 3; i++) {
        double edge[3], side[3];
        vec3_subtract(edge, s->corners[(i + 1) % 3], s->corners[i]);
        vec3_cross(side, edge, n);
        vec3_subtract(to, body, s->corners[i]);
        out = fmax(out, vec3_dot(side, to) / vec3_length(side));
      }
      return out;
    }
    default: return INFINITY;
  }
}

/* The largest s(n) that a search over all directions finds: many directions,
 * then ever smaller steps from the best of them. */
static inline double oracle_best_separation(const gap_shape *a,
                                            const gap_shape *b, int samples,
                                            double best_n[3]) {
  enum { STARTS = 4 };
  double value[STARTS], n[STARTS][3], best = -INFINITY;
  for (int i = 0; i < STARTS; i++) value[i] = -INFINITY;
  for (int i = 0; i < samples; i++) {
    double trial[3];
    oracle_unit(trial);
    double s = oracle_separation(a, b, trial);
    int worst = 0;
    for (int k = 1; k < STARTS; k++)
      if (value[k] < value[worst]) worst = k;
    if (s > value[worst]) value[worst] = s, vec3_copy(n[worst], trial);
  }
  for (int i = 0; i < STARTS; i++) {
    for (double step = 0.1; step > 1e-12; step *= 0.6)
      for (int k = 0; k < 12; k++) {
        double trial[3], kick[3];
        oracle_unit(kick);
        vec3_copy(trial, n[i]);
        vec3_add_scaled(trial, step, kick);
        double length = vec3_length(trial);
        for (int m = 0; m < 3; m++) trial[m] /= length;
        double s = oracle_separation(a, b, trial);
        if (s > value[i]) value[i] = s, vec3_copy(n[i], trial);
      }
    if (value[i] > best) best = value[i], vec3_copy(best_n, n[i]);
  }
  return best;
}

#endif
