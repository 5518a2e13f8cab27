#include "gap/gap_patch.h"

#include <string.h>

#include "common/vec3.h"
#include "gap/gap_outline.h"

/* A corner this far outside, relative to the coordinates, still counts as
 * inside, so that stacked boxes of one size keep the same corners. */
static const double outside_tolerance = 1e-9;
/* Points nearer to each other than this are one. */
static const double same_point = 1e-7;
/* Edges at a smaller angle than this (sine) touch along a line: a pile of logs that are laid
 * a milliradian aslant rolls apart without ("logs share a stretch" of test_gap_pair). */
static const double parallel_sine = 0.02;

/* The patch as it is collected. */
typedef struct collection {
  const gap_patch_request *request;
  gap_contact *contacts;
  int count;
} collection;

/* One point of each core, over one another as seen along n. */
static void write_contact(const gap_patch_request *request,
                          const double on_a[3], const double on_b[3],
                          gap_contact *contact) {
  const gap_core *a = request->a, *b = request->b;
  double apart[3];
  vec3_subtract(apart, on_a, on_b);
  // no point is deeper than s(n): less is rounding, or a face not quite flat ("parallel")
  contact->gap =
      fmax(vec3_dot(request->phi.best.n, apart), request->phi.best.separation) -
      a->radius - b->radius;
  vec3_copy(contact->normal, request->phi.best.n);
  for (int k = 0; k < 3; k++) contact->point[k] = (on_a[k] + on_b[k]) / 2;
  vec3_add_scaled(contact->point, (b->radius - a->radius) / 2,
                  request->phi.best.n);
  contact->certificate = request->phi.upper - request->phi.best.separation;
  contact->triangle[0] = contact->triangle[1] = -1;
}

static void add_contact(collection *into, const double on_a[3],
                        const double on_b[3], const gap_feature id[2]) {
  const gap_patch_request *request = into->request;
  if (into->count == GAP_PAIR_ROOM) return;
  gap_contact *contact = &into->contacts[into->count];
  write_contact(request, on_a, on_b, contact);
  memcpy(contact->feature, id, sizeof contact->feature);
  bool known = contact->gap > request->margin;
  for (int i = 0; i < into->count && !known; i++) {
    double apart[3];
    vec3_subtract(apart, into->contacts[i].point, contact->point);
    vec3_add_scaled(apart, -vec3_dot(apart, request->phi.best.n),
                    request->phi.best.n);
    known = vec3_length(apart) < same_point * request->scale;
  }
  into->count += !known;
}

/* An outline as seen along n, and of each edge the unit direction across n that goes
 * inward, 0 of one seen from its end; between two lines the direction along the line. */
typedef struct seen_outline {
  const gap_outline *outline;
  double inward[OUTLINE_ROOM][3];
} seen_outline;

static const double *next_point(const gap_outline *outline, int i) {
  return outline->points[(i + 1) % outline->count];
}

static void see(const gap_outline *outline, const double n[3], bool lines,
                double tolerance, seen_outline *seen) {
  double up[3], run[3];
  vec3_copy(up, n);
  if (vec3_dot(outline->normal, n) < 0) vec3_negate(up, n);
  seen->outline = outline;
  for (int i = 0; i < outline->count; i++) {
    double *inward = seen->inward[i], beside[3];
    vec3_subtract(run, next_point(outline, i), outline->points[i]);
    vec3_cross(beside, up, run);
    vec3_cross(inward, beside, up);
    if (!lines) vec3_copy(inward, beside);
    if (!(vec3_normalise(inward) > tolerance))
      for (int k = 0; k < 3; k++) inward[k] = 0;
  }
}

/* How far inside edge i a point is, m. */
static double inside(const seen_outline *seen, int i, const double point[3]) {
  double arm[3];
  vec3_subtract(arm, point, seen->outline->points[i]);
  return vec3_dot(seen->inward[i], arm);
}

static bool covers(const seen_outline *seen, const double point[3],
                   double tolerance) {
  for (int i = 0; i < seen->outline->count; i++)
    if (!(inside(seen, i, point) >= -tolerance)) return false;
  return true;
}

/* The point of an outline over or under another, along n; of a line the nearest as seen
 * so. */
static void foot_on(const gap_outline *outline, const double n[3],
                    const double point[3], double foot[3]) {
  double arm[3], run[3], across[3];
  vec3_subtract(arm, outline->points[0], point);
  if (outline->count != 2) {
    vec3_copy(foot, point);
    vec3_add_scaled(
        foot, vec3_dot(outline->normal, arm) / vec3_dot(outline->normal, n), n);
    return;
  }
  vec3_subtract(run, outline->points[1], outline->points[0]);
  vec3_copy(across, run);
  vec3_add_scaled(across, -vec3_dot(run, n), n);
  vec3_copy(foot, outline->points[0]);
  vec3_add_scaled(foot, -vec3_dot(arm, across) / vec3_dot(run, across), run);
}

/* The corners of one outline that the other covers; `side` is that of the one. */
static void add_corners(collection *into, const seen_outline *of,
                        const seen_outline *over, int side) {
  const gap_outline *one = of->outline, *other = over->outline;
  const double tolerance = outside_tolerance * into->request->scale;
  for (int i = 0; i < one->count; i++) {
    const double *point[2] = {one->points[i], one->points[i]};
    gap_feature id[2] = {one->corners[i], one->corners[i]};
    double foot[3];
    if (!covers(over, one->points[i], tolerance)) continue;
    foot_on(other, into->request->phi.best.n, one->points[i], foot);
    point[!side] = foot;
    id[!side] = other->count == 2 ? other->edges[0] : other->face;
    add_contact(into, point[0], point[1], id);
  }
}

/* The point in which an edge meets another one's line; false: it does not, or lies
 * along it. */
static bool meets(const seen_outline *line, int j, const gap_outline *edges,
                  int i, double tolerance, double point[3]) {
  const double *from = edges->points[i], *to = next_point(edges, i);
  double start = inside(line, j, from), end = inside(line, j, to);
  if (fmin(start, end) > tolerance || fmax(start, end) < -tolerance ||
      !(fabs(start - end) > 2 * tolerance))
    return false;
  double share = fmin(fmax(start / (start - end), 0), 1);
  for (int k = 0; k < 3; k++) point[k] = from[k] + share * (to[k] - from[k]);
  return true;
}

static void add_crossings(collection *into, const seen_outline *a,
                          const seen_outline *b) {
  const gap_outline *on_a = a->outline, *on_b = b->outline;
  const double tolerance = outside_tolerance * into->request->scale;
  // a line has one edge
  int n_a = on_a->count == 2 ? 1 : on_a->count;
  int n_b = on_b->count == 2 ? 1 : on_b->count;
  for (int i = 0; i < n_a; i++)
    for (int j = 0; j < n_b; j++) {
      const gap_feature id[2] = {on_a->edges[i], on_b->edges[j]};
      double at[2][3];
      if (meets(b, j, on_a, i, tolerance, at[0]) &&
          meets(a, i, on_b, j, tolerance, at[1]))
        add_contact(into, at[0], at[1], id);
    }
}

static bool are_parallel(const gap_outline *on_a, const gap_outline *on_b) {
  double run[2][3], cross[3];
  vec3_subtract(run[0], on_a->points[1], on_a->points[0]);
  vec3_subtract(run[1], on_b->points[1], on_b->points[0]);
  vec3_cross(cross, run[0], run[1]);
  return vec3_length(cross) <=
         parallel_sine * vec3_length(run[0]) * vec3_length(run[1]);
}

/* A corner alone, and lines that cross, touch in the deepest point. */
static void meet(collection *into, const gap_outline *on_a,
                 const gap_outline *on_b) {
  const double *n = into->request->phi.best.n;
  const double tolerance = outside_tolerance * into->request->scale;
  bool lines = on_a->count == 2 && on_b->count == 2;
  seen_outline a, b;
  if (on_a->count == 1 || on_b->count == 1 ||
      (lines && !are_parallel(on_a, on_b)))
    return;
  see(on_a, n, lines, tolerance, &a);
  see(on_b, n, lines, tolerance, &b);
  if (on_b->count != 2 || lines) add_corners(into, &a, &b, 0);
  if (on_a->count != 2 || lines) add_corners(into, &b, &a, 1);
  if (!lines) add_crossings(into, &a, &b);
}

/* The feature that the nearest point of one core lies on. */
static gap_feature nearest_feature(const gap_core *core,
                                   const gap_simplex *nearest, int side) {
  if (core->half_space) return gap_feature_make(GAP_FACE, 0);
  if (core->kind != CORE_POLYTOPE) return gap_feature_make(GAP_SURFACE, 0);
  int corners[4], count = 0;
  for (int i = 0; i < nearest->count; i++) {
    int number = nearest->corner[i].corner[side];
    bool known = false;
    for (int k = 0; k < count; k++) known = known || corners[k] == number;
    if (!known) corners[count++] = number;
  }
  return gap_outline_feature(core, corners, count > 3 ? 3 : count);
}

/* The deepest point: the nearest points of the cores, or of the cores drawn
 * apart along n when they overlap. False where only a point that is covered
 * was asked for and there is none: the cores drawn apart are then nearest in
 * another direction. */
static bool write_witness(const gap_patch_request *request,
                          gap_contact *contact) {
  const gap_simplex *nearest = &request->phi.nearest;
  gap_phi apart;
  if (!request->phi.apart) {
    double shift[3] = {0, 0, 0};
    vec3_add_scaled(shift, 0.01 * request->scale - request->phi.best.separation,
                    request->phi.best.n);
    gap_gjk(request->a, request->b, shift, request->phi.best.n, request->scale,
            INFINITY, &apart);
    nearest = &apart.nearest;
  }
  double on_a[3], on_b[3], across[3];
  gap_simplex_points(nearest, on_a, on_b);
  if (request->covered_only) { /* over B, not beside it */
    vec3_subtract(across, on_a, on_b);
    vec3_add_scaled(across, -vec3_dot(across, request->phi.best.n),
                    request->phi.best.n);
    if (vec3_length(across) > outside_tolerance * request->scale) return false;
  }
  // heights by the supports: nearest points are less exact
  double support[3];
  for (int k = 0; k < 3; k++) on_b[k] = (on_a[k] + on_b[k]) / 2;
  gap_core_support(request->b, request->phi.best.n, support);
  vec3_subtract(support, support, on_b);
  vec3_add_scaled(on_b, vec3_dot(support, request->phi.best.n),
                  request->phi.best.n);
  vec3_copy(on_a, on_b);
  vec3_add_scaled(on_a, request->phi.best.separation, request->phi.best.n);
  write_contact(request, on_a, on_b, contact);
  contact->feature[0] = nearest_feature(request->a, nearest, 0);
  contact->feature[1] = nearest_feature(request->b, nearest, 1);
  return true;
}

/* The deepest contact comes first; where none is the pair's deepest point,
 * that point is put in. */
static void lead_with_deepest(collection *into) {
  const gap_patch_request *request = into->request;
  double gap =
      request->phi.best.separation - request->a->radius - request->b->radius;
  double near = gap + outside_tolerance * request->scale;
  int deepest = 0;
  for (int i = 1; i < into->count; i++)
    if (into->contacts[i].gap < into->contacts[deepest].gap) deepest = i;
  if (into->count == 0 || into->contacts[deepest].gap > near) {
    gap_contact witness;
    if (write_witness(request, &witness)) {
      if (into->count < GAP_PAIR_ROOM) into->count++;
      deepest = into->count - 1;
      into->contacts[deepest] = witness;
    }
  }
  if (into->count == 0) return;
  if (into->contacts[deepest].gap <= near) into->contacts[deepest].gap = gap;
  const gap_contact first = into->contacts[0];
  into->contacts[0] = into->contacts[deepest];
  into->contacts[deepest] = first;
}

int gap_patch(const gap_patch_request *request, gap_contact contacts[]) {
  collection into = {.request = request, .contacts = contacts};
  gap_outline on_a, on_b;
  double back[3];
  vec3_negate(back, request->phi.best.n);
  gap_outline_facing(request->a, back, request->scale, &on_a);
  gap_outline_facing(request->b, request->phi.best.n, request->scale, &on_b);
  meet(&into, &on_a, &on_b);
  lead_with_deepest(&into);
  return into.count;
}
