#include "gap/gap_gjk.h"

#include <string.h>

#include "common/vec3.h"

/* Polytopes end within their number of corners; curved cores come closer by a
 * share in every round. What is left then is the search over all sides. */
enum { ROUNDS = 30 };

/* Bounds this close, relative to the coordinates, differ by rounding only. */
static const double rounding = 4e-16;

/* The nearest point of a hull of up to four points, and where it is. */
typedef struct nearest {
  double v[3], length2, weight[4];
  bool inside; /* the tetrahedron holds the origin */
} nearest;

static void nearest_keep(nearest *best, const nearest *candidate) {
  if (candidate->length2 < best->length2) *best = *candidate;
}

static void nearest_from_weights(nearest *at, const gap_simplex *simplex) {
  for (int k = 0; k < 3; k++) at->v[k] = 0;
  for (int i = 0; i < simplex->count; i++)
    if (at->weight[i] != 0)
      vec3_add_scaled(at->v, at->weight[i], simplex->corner[i].w);
  at->length2 = vec3_dot(at->v, at->v);
}

/* The foot of the origin on a line or plane gives the better direction, where
 * it is the point that the weights stand for; of slivers it is not. The length
 * stays that of a point that is surely in the hull ("corner on edge"). */
static void prefer_foot(nearest *at, const double foot[3], double size) {
  double apart[3];
  vec3_subtract(apart, foot, at->v);
  if (vec3_length(apart) <= 1e-13 * size) vec3_copy(at->v, foot);
}

static void try_corner(const gap_simplex *simplex, int i, nearest *best) {
  nearest at = {.inside = false};
  at.weight[i] = 1;
  nearest_from_weights(&at, simplex);
  nearest_keep(best, &at);
}

static void try_edge(const gap_simplex *simplex, int i, int j, nearest *best) {
  const double *p = simplex->corner[i].w, *q = simplex->corner[j].w;
  double along[3];
  vec3_subtract(along, q, p);
  double t = -vec3_dot(p, along), length2 = vec3_dot(along, along);
  if (!(t > 0 && t < length2)) return;

  nearest at = {.inside = false};
  at.weight[j] = t / length2;
  at.weight[i] = 1 - at.weight[j];
  nearest_from_weights(&at, simplex);

  // the foot on the line, without the rounding of the weighted sum
  double foot[3], off = vec3_dot(at.v, along) / length2;
  vec3_copy(foot, at.v);
  vec3_add_scaled(foot, -off, along);
  prefer_foot(&at, foot, vec3_length(p));
  nearest_keep(best, &at);
}

static void try_triangle(const gap_simplex *simplex, int i, int j, int k,
                         nearest *best) {
  const double *p = simplex->corner[i].w;
  double u[3], v[3], normal[3], c[3][3];
  vec3_subtract(u, simplex->corner[j].w, p);
  vec3_subtract(v, simplex->corner[k].w, p);
  vec3_cross(normal, u, v);
  double area2 = vec3_dot(normal, normal);
  if (!(area2 > 0)) return;

  vec3_cross(c[0], simplex->corner[j].w, simplex->corner[k].w);
  vec3_cross(c[1], simplex->corner[k].w, p);
  vec3_cross(c[2], p, simplex->corner[j].w);
  double share[3], sum = 0;
  for (int m = 0; m < 3; m++) {
    share[m] = vec3_dot(c[m], normal);
    if (!(share[m] > 0)) return;
    sum += share[m];
  }

  nearest at = {.inside = false};
  at.weight[i] = share[0] / sum;
  at.weight[j] = share[1] / sum;
  at.weight[k] = share[2] / sum;
  nearest_from_weights(&at, simplex);
  double foot[3], height = vec3_dot(p, normal) / area2;
  for (int m = 0; m < 3; m++) foot[m] = height * normal[m];
  prefer_foot(&at, foot, vec3_length(p));
  nearest_keep(best, &at);
}

static double volume(const double a[3], const double b[3], const double c[3]) {
  double cross[3];
  vec3_cross(cross, b, c);
  return vec3_dot(a, cross);
}

/* Does the tetrahedron hold the origin? Then with which weights. */
static bool holds_origin(const gap_simplex *simplex, double weight[4]) {
  const gap_difference *c = simplex->corner;
  weight[0] = volume(c[1].w, c[2].w, c[3].w);
  weight[1] = -volume(c[0].w, c[2].w, c[3].w);
  weight[2] = volume(c[0].w, c[1].w, c[3].w);
  weight[3] = -volume(c[0].w, c[1].w, c[2].w);
  double sum = weight[0] + weight[1] + weight[2] + weight[3];
  if (sum == 0) return false;
  for (int i = 0; i < 4; i++) {
    weight[i] /= sum;
    if (!(weight[i] >= 0)) return false;
  }
  return true;
}

static void search_simplex(const gap_simplex *simplex, nearest *best) {
  int count = simplex->count;
  *best = (nearest){.length2 = INFINITY};
  for (int i = 0; i < count; i++) try_corner(simplex, i, best);
  for (int i = 0; i < count; i++)
    for (int j = i + 1; j < count; j++) try_edge(simplex, i, j, best);
  for (int i = 0; i < count; i++)
    for (int j = i + 1; j < count; j++)
      for (int k = j + 1; k < count; k++) try_triangle(simplex, i, j, k, best);

  nearest at = {.inside = true};
  if (count < 4 || !holds_origin(simplex, at.weight)) return;
  nearest_from_weights(&at, simplex); // of a flat one rounding
  nearest_keep(best, &at);
}

/* Keep the corners that carry the nearest point. */
static void reduce_simplex(gap_simplex *simplex, const nearest *at) {
  int kept = 0;
  for (int i = 0; i < simplex->count; i++) {
    if (!(at->weight[i] > 0)) continue;
    simplex->corner[kept] = simplex->corner[i];
    simplex->weight[kept++] = at->weight[i];
  }
  simplex->count = kept;
}

static bool is_corner(const gap_simplex *simplex, const double w[3]) {
  for (int i = 0; i < simplex->count; i++) {
    const double *c = simplex->corner[i].w;
    if (c[0] == w[0] && c[1] == w[1] && c[2] == w[2]) return true;
  }
  return false;
}

/* Two cores. While `still` a curved one is no more than its point that is furthest
 * towards the other along the guess, on both ends of a cylinder: where s(n) is largest
 * there, these are the nearest, and the bounds meet (certificates of test_gap_pair). */
typedef struct search {
  const gap_core *core[2];
  const double *shift; /* of A, or NULL */
  double ends[2][2][3];
  double scale;
  bool still;
} search;

static void hold_still(search *over, const double guess[3]) {
  for (int side = 0; side < 2; side++) {
    const gap_core *core = over->core[side];
    double *own = over->ends[side][0], *other = over->ends[side][1], arm[3];
    if (core->kind == CORE_POLYTOPE) continue;
    over->still = true;
    for (int k = 0; k < 3; k++) arm[k] = side == 0 ? -guess[k] : guess[k];
    gap_core_support(core, arm, own);
    vec3_copy(other, own);
    if (core->kind != CORE_CYLINDER) continue;
    vec3_subtract(arm, core->centre, own);
    vec3_add_scaled(other, 2 * vec3_dot(arm, core->axis), core->axis);
  }
}

static int support(const search *over, int side, const double n[3],
                   double point[3]) {
  if (!over->still || over->core[side]->kind == CORE_POLYTOPE)
    return gap_core_support(over->core[side], n, point);
  const double(*ends)[3] = over->ends[side];
  vec3_copy(point, ends[vec3_dot(n, ends[1]) > vec3_dot(n, ends[0])]);
  return 0;
}

static void lowest_difference(const search *over, const double n[3],
                              gap_difference *lowest) {
  double back[3];
  vec3_negate(back, n);
  lowest->corner[0] = support(over, 0, back, lowest->on_a);
  lowest->corner[1] = support(over, 1, n, lowest->on_b);
  vec3_subtract(lowest->w, lowest->on_a, lowest->on_b);
  if (over->shift != NULL) vec3_add_scaled(lowest->w, 1, over->shift);
}

/* One more difference in the simplex; false when nothing is left to gain. */
static bool advance(const search *over, double v[3], gap_phi *result) {
  double n[3], length = vec3_length(v), scale = over->scale;
  if (length <= rounding * scale) return result->upper = length, false;
  vec3_copy(n, v);
  vec3_normalise(n);

  gap_difference lowest;
  lowest_difference(over, n, &lowest);
  double separation = vec3_dot(n, lowest.w);
  if (separation > result->best.separation && !over->still) {
    result->best.separation = separation;
    vec3_copy(result->best.n, n);
  }
  if (result->upper - separation <= rounding * scale) return false;
  if (is_corner(&result->nearest, lowest.w)) return false;

  gap_simplex larger = result->nearest;
  larger.corner[larger.count++] = lowest;
  nearest best;
  search_simplex(&larger, &best);
  if (best.inside) {
    result->upper = 0;
    reduce_simplex(&larger, &best);
    result->nearest = larger;
    return false;
  }
  double closer = sqrt(best.length2);
  if (!(closer < result->upper)) return false;
  reduce_simplex(&larger, &best);
  result->nearest = larger;
  result->upper = closer;
  vec3_copy(v, best.v);
  return true;
}

void gap_gjk(const gap_core *a, const gap_core *b, const double *shift,
             const double guess[3], double scale, double enough,
             gap_phi *result) {
  search over = {.core = {a, b}, .shift = shift, .scale = scale};
  memset(result, 0, sizeof *result);
  result->best.separation = -INFINITY;
  hold_still(&over, guess);

  gap_simplex *simplex = &result->nearest;
  double n[3], v[3];
  vec3_copy(n, guess);
  vec3_normalise(n);
  lowest_difference(&over, n, &simplex->corner[0]);
  simplex->count = 1;
  simplex->weight[0] = 1;
  vec3_copy(v, simplex->corner[0].w);
  result->upper = vec3_length(v);
  result->best.separation = vec3_dot(n, v);
  vec3_copy(result->best.n, n);

  for (int round = 0; round < ROUNDS && result->best.separation <= enough;
       round++) {
    if (advance(&over, v, result)) continue;
    if (!over.still || !(result->upper > 0)) break;
    over.still = false;
  }
}

void gap_simplex_points(const gap_simplex *simplex, double on_a[3],
                        double on_b[3]) {
  for (int k = 0; k < 3; k++) on_a[k] = on_b[k] = 0;
  for (int i = 0; i < simplex->count; i++) {
    vec3_add_scaled(on_a, simplex->weight[i], simplex->corner[i].on_a);
    vec3_add_scaled(on_b, simplex->weight[i], simplex->corner[i].on_b);
  }
}
