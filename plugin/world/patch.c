/* Patches: the points of one pair of bodies that lie in a plane.
 *
 * Whatever a point between others may push, in the normal's direction and along the
 * surface, its neighbours can push in its place. The host's polygons have some whose
 * place is up to rounding, and they wander from step to step.
 *
 * What slides over a floor in pieces needs it (tests/test_step_inner.c; "mixed 4 0.02 0" of
 * tests/test_preload_floors.sh): points at seams have the normal of what slides, which
 * leans as deep as its points rest unlike, and bodies change their speed by twice a
 * millionth of it in a second where that is to be none. It saves no work: a wall of 14
 * courses of 8 bricks at rest takes 245 factorisations in 2 s with it and without; hit by a
 * ball, 134 186 and 127 985.
 *
 * Springs push each for itself, and so do limits of friction in N: they stay. */
#include <math.h>

#include "common/vec3.h"
#include "rows/hair.h"
#include "world/world.h"

/* A point this near a line, as a part of the patch's extent, is on it. */
static const double LEVEL = 1e-5;

typedef struct patch_point {
  int number;
  double x, y, gap; /* m, in the patch's plane and across it */
} patch_point;

/* Twice the area to the left of a -> b towards p. */
static double area(const patch_point *a, const patch_point *b,
                   const patch_point *p) {
  return (b->x - a->x) * (p->y - a->y) - (b->y - a->y) * (p->x - a->x);
}

static double length_of(const patch_point *a, const patch_point *b) {
  return hypot(b->x - a->x, b->y - a->y);
}

/* True if others can push for the contact, and it for them. */
static bool is_shared(double world_cfm, const host_contact *point) {
  const host_surface *surface = &point->surface;
  double cfm = isnan(surface->cfm) ? world_cfm : surface->cfm;
  if (point->soft || cfm > HOST_DEFAULT_CFM) return false;
  for (int d = 0; d < 2; d++)
    if (!surface->proportional[d] && isfinite(surface->limit[d])) return false;
  return !surface->rolls || surface->proportional[2];
}

static bool of_one_patch(const host_contact *a, const host_contact *b) {
  return vec3_dot(a->normal, b->normal) > 1 - 1e-10 &&
         a->polygon == b->polygon && host_contact_same_surface(a, b);
}

/* The point that is furthest from p; the first of those equally far. */
static int furthest(const patch_point points[], int n, const patch_point *p) {
  int best = 0;
  for (int i = 1; i < n; i++)
    if (length_of(p, &points[i]) > length_of(p, &points[best])) best = i;
  return best;
}

/* Add the corners to the right of a -> b by more than `level`, from a to b, to
 * `corners` [*count]. */
static void add_corners(const patch_point points[], int n, double level, int a,
                        int b, int corners[], int *count) {
  int best = -1;
  double most = level * length_of(&points[a], &points[b]);
  for (int i = 0; i < n; i++) {
    double right = -area(&points[a], &points[b], &points[i]);
    if (!(right > most)) continue;
    most = right;
    best = i;
  }
  if (best < 0) return;
  add_corners(points, n, level, a, best, corners, count);
  corners[(*count)++] = best;
  add_corners(points, n, level, best, b, corners, count);
}

/* The corners of the points' hull, counter-clockwise: what is on an edge but for
 * `level` is none. @param corners [n] out @return their number, 2 of a line. */
static int find_corners(const patch_point points[], int n, double level,
                        int corners[]) {
  int count = 0;
  int a = furthest(points, n, &points[0]), b = furthest(points, n, &points[a]);
  corners[count++] = a;
  add_corners(points, n, level, a, b, corners, &count);
  corners[count++] = b;
  add_corners(points, n, level, b, a, corners, &count);
  return count;
}

/* The gap that the corners make of a point between them, NAN where it is not. */
static double gap_between(const patch_point points[], const int corners[],
                          int n_corners, const patch_point *p, double level) {
  const patch_point *a = &points[corners[0]];
  if (n_corners == 2) {
    const patch_point *b = &points[corners[1]];
    double share = length_of(a, p) / length_of(a, b);
    return a->gap + share * (b->gap - a->gap);
  }
  for (int i = 1; i + 1 < n_corners; i++) {
    const patch_point *b = &points[corners[i]], *c = &points[corners[i + 1]];
    double all = area(a, b, c), room = level * length_of(b, c);
    double of_a = area(b, c, p), of_b = area(c, a, p), of_c = area(a, b, p);
    if (of_a < -room || of_b < -level * length_of(c, a) ||
        of_c < -level * length_of(a, b))
      continue;
    return (of_a * a->gap + of_b * b->gap + of_c * c->gap) / all;
  }
  return NAN;
}

static void thin_out(double way, const double at[3], const patch_point points[],
                     int n, int corners[], world_contact *const contacts[],
                     int *left_out) {
  double extent = 0;
  for (int i = 0; i < n; i++)
    extent = fmax(extent, length_of(&points[0], &points[i]));
  if (!(extent > 0)) return;
  double level = LEVEL * extent;
  int n_corners = find_corners(points, n, level, corners);
  for (int i = 0, c; i < n; i++) {
    for (c = 0; c < n_corners && corners[c] != i;) c++;
    if (c < n_corners) continue;
    double gap = gap_between(points, corners, n_corners, &points[i], level);
    if (!(fabs(gap - points[i].gap) <= hair_gap(way, extent, at))) continue;
    contacts[points[i].number]->active = false;
    ++*left_out;
  }
}

bool patch_thin_out(double cfm, double way, world_contact *const contacts[],
                    int n, arena *scratch, int *left_out) {
  patch_point *patch;
  int *corners, *left;
  if (n < 3) return true;
  if (!ARENA_TAKE(scratch, patch, n) || !ARENA_TAKE(scratch, corners, n) ||
      !ARENA_TAKE(scratch, left, n))
    return false;
  for (int i = 0; i < n; i++) left[i] = i;
  while (n >= 3) {
    /* the first, and those of its patch; the others wait for the next turn */
    const host_contact *first = &contacts[left[0]]->point;
    double axis[2][3];
    int n_points = 0, n_others = 0;
    host_contact_axes(axis, first);
    for (int i = 0; i < n; i++) {
      const host_contact *point = &contacts[left[i]]->point;
      if (i > 0 && !of_one_patch(first, point)) {
        left[n_others++] = left[i];
        continue;
      }
      double arm[3];
      vec3_subtract(arm, point->position, first->position);
      patch[n_points++] = (patch_point){left[i], vec3_dot(axis[0], arm),
                                        vec3_dot(axis[1], arm), point->gap};
    }
    if (n_points >= 3 && is_shared(cfm, first))
      thin_out(way, first->position, patch, n_points, corners, contacts,
               left_out);
    n = n_others;
  }
  return true;
}
