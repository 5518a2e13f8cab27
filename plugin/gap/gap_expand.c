#include "gap/gap_expand.h"

#include <string.h>

#include "common/vec3.h"
#include "gap/gap_polish.h"

/* A convex hull of n points has 2 n - 4 facets at most. */
enum { MOST_POINTS = 800, MOST_FACETS = 2 * MOST_POINTS };

typedef struct facet {
  int corner[3];
  double n[3], d; /* outward, n.x = d on it */
} facet;

/* A polytope inside the set of all points of A minus points of B. */
typedef struct gap_polytope {
  const gap_core *a, *b;
  double points[MOST_POINTS][3];
  int n_points;
  facet facets[MOST_FACETS];
  int n_facets;
  int horizon[3 * MOST_FACETS]
             [2]; /* edges around the facets a new point sees */
  int n_horizon;
} polytope;

/* The difference furthest along m; m need not have unit length. */
static void furthest_difference(const gap_core *a, const gap_core *b,
                                const double m[3], double w[3]) {
  double back[3], on_a[3], on_b[3];
  vec3_negate(back, m);
  gap_core_support(a, m, on_a);
  gap_core_support(b, back, on_b);
  vec3_subtract(w, on_a, on_b);
}

/* One more facet; false where its corners lie on a line. */
static bool add_facet(polytope *grown, int i, int j, int k) {
  if (grown->n_facets == MOST_FACETS) return false;
  facet *f = &grown->facets[grown->n_facets++];
  *f = (facet){.corner = {i, j, k}};
  const double *p = grown->points[i];
  double u[3], v[3];
  vec3_subtract(u, grown->points[j], p);
  vec3_subtract(v, grown->points[k], p);
  vec3_cross(f->n, u, v);
  if (!(vec3_normalise(f->n) > 0)) return false;
  f->d = vec3_dot(f->n, p);
  return true;
}

/* Four differences, each the furthest across those before it. */
static bool start(polytope *grown) {
  double m[3] = {1, 1, 1}, arm[3][3];
  furthest_difference(grown->a, grown->b, m, grown->points[0]);
  for (int i = 1; i < 4; i++) {
    double back[3], *w = grown->points[i], other[3], up[3], down[3];
    vec3_negate(back, m);
    furthest_difference(grown->a, grown->b, m, w);
    furthest_difference(grown->a, grown->b, back, other);
    vec3_subtract(up, w, grown->points[0]);
    vec3_subtract(down, grown->points[0], other);
    if (vec3_dot(m, down) > vec3_dot(m, up)) vec3_copy(w, other);
    vec3_subtract(arm[i - 1], w, grown->points[0]);
    if (!(vec3_normalise(arm[i - 1]) > 0)) return false;
    if (i == 1)
      vec3_across(arm[0], m);
    else
      vec3_cross(m, arm[0], arm[1]);
  }
  grown->n_points = 4;
  grown->n_facets = 0;
  if (!add_facet(grown, 0, 1, 2)) return false;
  // facets must look out: swap two corners where they look in
  const facet *first = &grown->facets[0];
  int i = vec3_dot(first->n, grown->points[3]) > first->d;
  grown->n_facets = 0;
  return add_facet(grown, i, 1 - i, 2) && add_facet(grown, i, 3, 1 - i) &&
         add_facet(grown, i, 2, 3) && add_facet(grown, 1 - i, 3, 2);
}

static int find_edge(const polytope *grown, int from, int to) {
  int e = grown->n_horizon - 1;
  while (e >= 0 && (grown->horizon[e][0] != from || grown->horizon[e][1] != to))
    e--;
  return e;
}

/* A facet goes: its edges are of the horizon, but for those that it has in common with
 * one that is gone. */
static void drop_facet(polytope *grown, int number) {
  const int *corner = grown->facets[number].corner;
  for (int k = 0; k < 3; k++) {
    int from = corner[k], to = corner[(k + 1) % 3];
    int e = find_edge(grown, to, from), *edge;
    edge = grown->horizon[e < 0 ? grown->n_horizon++ : e];
    if (e >= 0)
      memcpy(edge, grown->horizon[--grown->n_horizon], sizeof *grown->horizon);
    else
      edge[0] = from, edge[1] = to;
  }
  grown->facets[number] = grown->facets[--grown->n_facets];
}

/* Put the new point on in place of the facets it sees, from one of them on. After false
 * the polytope is broken and must not be grown any more. */
static bool grow(polytope *grown, int from, const double w[3]) {
  int apex = grown->n_points++;
  vec3_copy(grown->points[apex], w);
  grown->n_horizon = 0;
  drop_facet(grown, from);
  for (int i = 0; i < grown->n_facets; i++) {
    const facet *f = &grown->facets[i];
    const int *c = f->corner;
    if (!(vec3_dot(f->n, w) > f->d) ||
        (find_edge(grown, c[1], c[0]) < 0 && find_edge(grown, c[2], c[1]) < 0 &&
         find_edge(grown, c[0], c[2]) < 0))
      continue;
    drop_facet(grown, i);
    i = -1; // others may be beside it
  }
  for (int e = 0; e < grown->n_horizon; e++)
    if (!add_facet(grown, grown->horizon[e][0], grown->horizon[e][1], apex))
      return false;
  return grown->n_horizon >= 3; // else rounding has the point see all facets
}

static int nearest_facet(const polytope *grown) {
  int nearest = 0;
  for (int i = 1; i < grown->n_facets; i++)
    if (grown->facets[i].d < grown->facets[nearest].d) nearest = i;
  return nearest;
}

/* Grow a polytope until the bounds meet, it is full, or rounding breaks it.
 * @return an upper bound of Phi. */
static double expand(polytope *grown, double scale, double close_enough,
                     gap_direction *best) {
  const gap_core *a = grown->a, *b = grown->b;
  double upper = INFINITY;
  while (grown->n_points < MOST_POINTS) {
    int nearest = nearest_facet(grown);
    const facet *f = &grown->facets[nearest];
    if (f->d > 0) upper = fmin(upper, -f->d);

    double n[3], w[3], before = best->separation;
    vec3_negate(n, f->n);
    gap_direction_try(a, b, n, best);
    /* the best so far is the highest point of its surroundings: these are others */
    if (best->separation > before) gap_polish(a, b, n, scale, best);
    furthest_difference(a, b, f->n, w);
    double growth = vec3_dot(f->n, w) - f->d;
    if (upper - best->separation <= close_enough * scale || !(growth > 0) ||
        !grow(grown, nearest, w))
      break;
  }
  return upper;
}

struct gap_polytope *gap_expand_room(gap_scratch *scratch) {
  (void)POOL_RESERVE(scratch->pool, scratch->polytope, 1);
  return scratch->polytope;
}

double gap_expand(const gap_core *a, const gap_core *b, double scale,
                  double close_enough, gap_direction *best) {
  polytope *grown = a->room != NULL ? a->room : b->room;
  grown->a = a;
  grown->b = b;
  return start(grown) ? expand(grown, scale, close_enough, best) : INFINITY;
}
