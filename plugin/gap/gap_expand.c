#include "gap/gap_expand.h"

#include "common/vec3.h"
#include "gap/gap_polish.h"

/* A convex hull of n points has 2 n - 4 facets at most. */
enum { MOST_POINTS = 800, MOST_FACETS = 2 * MOST_POINTS };

/* The bounds have met when they are this close, relative to the coordinates. */
static const double close_enough = 1e-11;

typedef struct facet {
  int corner[3];
  int beside[3];  /* facet across the edge corner[i] .. corner[i + 1] */
  double n[3], d; /* outward, n.x = d on it */
  bool alive, visible;
} facet;

/* A polytope inside the set of all points of A minus points of B. */
typedef struct gap_polytope {
  const gap_core *a, *b;
  double points[MOST_POINTS][3];
  int n_points;
  facet facets[MOST_FACETS];
  int n_facets;
  int free_facets[MOST_FACETS];
  int n_free;
  int seen[MOST_FACETS];      /* by a new point */
  int starts_at[MOST_POINTS]; /* the new facet at the edge that starts there */
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

/* The facet's plane; false where its corners lie on a line. */
static bool fill_plane(const polytope *grown, facet *f) {
  const double *p = grown->points[f->corner[0]];
  double u[3], v[3];
  vec3_subtract(u, grown->points[f->corner[1]], p);
  vec3_subtract(v, grown->points[f->corner[2]], p);
  vec3_cross(f->n, u, v);
  if (!(vec3_normalise(f->n) > 0)) return false;
  f->d = vec3_dot(f->n, p);
  f->alive = true;
  f->visible = false;
  return true;
}

/* The further of the two differences along +m and -m from a plane. */
static void further_side(const polytope *grown, const double m[3],
                         const double from[3], double w[3]) {
  double back[3], other[3], to[3];
  vec3_negate(back, m);
  furthest_difference(grown->a, grown->b, m, w);
  furthest_difference(grown->a, grown->b, back, other);
  vec3_subtract(to, w, from);
  double reach = vec3_dot(m, to);
  vec3_subtract(to, other, from);
  if (-vec3_dot(m, to) > reach) vec3_copy(w, other);
}

/* Four differences that span a volume; false where there are none. */
static bool start_points(polytope *grown) {
  double m[3] = {1, 0, 0}, back[3], u[3], v[3];
  vec3_negate(back, m);
  furthest_difference(grown->a, grown->b, m, grown->points[0]);
  furthest_difference(grown->a, grown->b, back, grown->points[1]);
  vec3_subtract(u, grown->points[1], grown->points[0]);
  double length = vec3_length(u);
  if (!(length > 0)) return false;

  int least = fabs(u[2]) < fabs(u[1]) ? 2 : 1;
  for (int k = 0; k < 3; k++) m[k] = k == least;
  vec3_add_scaled(m, -u[least] / (length * length), u);
  further_side(grown, m, grown->points[0], grown->points[2]);
  vec3_subtract(v, grown->points[2], grown->points[0]);
  vec3_cross(m, u, v);
  if (!(vec3_length(m) > 1e-12 * length * length)) return false;
  further_side(grown, m, grown->points[0], grown->points[3]);
  vec3_subtract(v, grown->points[3], grown->points[0]);
  grown->n_points = 4;
  return fabs(vec3_dot(m, v)) > 1e-12 * vec3_length(m) * length;
}

static bool start(polytope *grown) {
  static const int corners[4][3] = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
  static const int beside[4][3] = {{1, 3, 2}, {2, 3, 0}, {0, 3, 1}, {1, 2, 0}};
  grown->n_free = 0;
  grown->n_facets = 4;
  if (!start_points(grown)) return false;

  // facets must look out: swap two corners where they look in
  facet first = {.corner = {0, 1, 2}};
  if (!fill_plane(grown, &first)) return false;
  if (vec3_dot(first.n, grown->points[3]) > first.d) {
    double swapped[3];
    vec3_copy(swapped, grown->points[0]);
    vec3_copy(grown->points[0], grown->points[1]);
    vec3_copy(grown->points[1], swapped);
  }
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 3; k++) {
      grown->facets[i].corner[k] = corners[i][k];
      grown->facets[i].beside[k] = beside[i][k];
    }
    if (!fill_plane(grown, &grown->facets[i])) return false;
  }
  return true;
}

/* Mark the facets that the new point sees, from one of them on. */
static int mark_visible(polytope *grown, int from, const double w[3]) {
  int count = 0, *seen = grown->seen;
  seen[count++] = from;
  grown->facets[from].visible = true;
  for (int at = 0; at < count; at++)
    for (int k = 0; k < 3; k++) {
      int next = grown->facets[seen[at]].beside[k];
      facet *f = &grown->facets[next];
      if (f->visible || !(vec3_dot(f->n, w) > f->d)) continue;
      f->visible = true;
      seen[count++] = next;
    }
  return count;
}

static int take_facet(polytope *grown) {
  if (grown->n_free > 0) return grown->free_facets[--grown->n_free];
  return grown->n_facets < MOST_FACETS ? grown->n_facets++ : -1;
}

/* A facet from a horizon edge to the new point. */
static bool add_facet(polytope *grown, int from, int to, int across, int apex) {
  int index = take_facet(grown);
  if (index < 0 || grown->starts_at[from] >= 0) return false;
  facet *f = &grown->facets[index];
  f->corner[0] = from;
  f->corner[1] = to;
  f->corner[2] = apex;
  f->beside[0] = across;
  grown->starts_at[from] = index;
  if (!fill_plane(grown, f)) return false;
  facet *other = &grown->facets[across];
  for (int k = 0; k < 3; k++)
    if (other->corner[k] == to && other->corner[(k + 1) % 3] == from)
      other->beside[k] = index;
  return true;
}

/* Put the new point on in place of the facets it sees. After false the
 * polytope is broken and must not be grown any more. */
static bool grow(polytope *grown, int from, const double w[3]) {
  int *seen = grown->seen, *starts_at = grown->starts_at;
  int count = mark_visible(grown, from, w), added = 0;
  int apex = grown->n_points++;
  vec3_copy(grown->points[apex], w);
  for (int i = 0; i <= apex; i++) starts_at[i] = -1;

  for (int i = 0; i < count; i++)
    for (int k = 0; k < 3; k++) {
      const facet *f = &grown->facets[seen[i]];
      int across = f->beside[k];
      if (grown->facets[across].visible) continue;
      if (!add_facet(grown, f->corner[k], f->corner[(k + 1) % 3], across, apex))
        return false;
      added++;
    }
  if (added < 3) return false; // rounding has the point see all facets
  for (int i = 0; i < apex; i++) {
    if (starts_at[i] < 0) continue;
    facet *f = &grown->facets[starts_at[i]];
    int next = starts_at[f->corner[1]];
    if (next < 0) return false;
    f->beside[1] = next;
    grown->facets[next].beside[2] = starts_at[i];
  }
  for (int i = 0; i < count; i++) {
    grown->facets[seen[i]].alive = false;
    grown->facets[seen[i]].visible = false;
    grown->free_facets[grown->n_free++] = seen[i];
  }
  return true;
}

static int nearest_facet(const polytope *grown) {
  int nearest = -1;
  for (int i = 0; i < grown->n_facets; i++) {
    const facet *f = &grown->facets[i];
    if (f->alive && (nearest < 0 || f->d < grown->facets[nearest].d))
      nearest = i;
  }
  return nearest;
}

/* Grow a polytope until the bounds meet, it is full, or rounding breaks it.
 * @return an upper bound of Phi. */
static double expand(polytope *grown, double scale, gap_direction *best) {
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
    if (upper - best->separation <= close_enough * scale ||
        !(growth > 1e-15 * scale) || !grow(grown, nearest, w))
      break;
  }
  return upper;
}

struct gap_polytope *gap_expand_room(gap_scratch *scratch) {
  return memory_block_reserve(&scratch->polytope, scratch->source, 1,
                              sizeof(polytope));
}

double gap_expand(const gap_core *a, const gap_core *b, double scale,
                  gap_direction *best) {
  polytope *grown = a->room != NULL ? a->room : b->room;
  grown->a = a;
  grown->b = b;
  return start(grown) ? expand(grown, scale, best) : INFINITY;
}
