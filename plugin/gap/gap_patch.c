#include "gap/gap_patch.h"

#include <string.h>

#include "common/vec3.h"
#include "gap/gap_outline.h"

/* A corner this far outside, relative to the coordinates, still counts as
 * inside, so that stacked boxes of one size keep the same corners. */
static const double outside_tolerance = 1e-9;
/* Points nearer to each other than this are one. */
static const double same_point = 1e-7;
/* Edges at a smaller angle than this (sine) touch along a line. */
static const double parallel_sine = 0.02;

/* A corner of the region that two outlines cover, seen along n. The first is the
 * one that is cut, by the second, a face. */
typedef struct cut_point {
  double at[2];        /* across n */
  gap_feature id[2];   /* feature of the first, of the second */
  gap_feature edge[2]; /* edge to the next: of the first ([0]) or of the second
                          ([1]), or 0 */
} cut_point;

typedef struct view {
  double n[3], t[2][3]; /* looking along n; t across it */
} view;

static void make_view(const double n[3], view *seen) {
  vec3_copy(seen->n, n);
  vec3_across(n, seen->t[0]);
  vec3_cross(seen->t[1], n, seen->t[0]);
}

static void project(const view *seen, const double point[3], double at[2]) {
  at[0] = vec3_dot(seen->t[0], point);
  at[1] = vec3_dot(seen->t[1], point);
}

/* Height along n of an outline over a point across n. */
static double height_over(const view *seen, const gap_outline *outline,
                          const double at[2]) {
  const double *base = outline->points[0];
  double foot[2];
  project(seen, base, foot);
  double height = vec3_dot(seen->n, base), u = at[0] - foot[0],
         v = at[1] - foot[1];
  if (outline->count != 2) {
    double slope = vec3_dot(outline->normal, seen->n);
    return height - (u * vec3_dot(outline->normal, seen->t[0]) +
                     v * vec3_dot(outline->normal, seen->t[1])) /
                        slope;
  }
  double along[3], run[2];
  vec3_subtract(along, outline->points[1], base);
  project(seen, along, run);
  double t = (u * run[0] + v * run[1]) / (run[0] * run[0] + run[1] * run[1]);
  return height + t * vec3_dot(seen->n, along);
}

/* The patch as it is collected. */
typedef struct collection {
  const gap_patch_request *request;
  view seen;
  gap_contact *contacts;
  int count;
} collection;

static void write_contact(const gap_patch_request *request, double high,
                          double low, const double across[3],
                          gap_contact *contact) {
  const gap_core *a = request->a, *b = request->b;
  contact->gap = high - low - a->radius - b->radius;
  vec3_copy(contact->normal, request->n);
  vec3_copy(contact->point, across);
  double middle = (high - a->radius + low + b->radius) / 2;
  vec3_add_scaled(contact->point, middle, request->n);
  contact->certificate = request->certificate;
  contact->triangle[0] = contact->triangle[1] = -1;
}

static bool is_crossing(gap_feature on_a) {
  return gap_feature_type(on_a) == GAP_EDGE ||
         gap_feature_type(on_a) == GAP_FACE;
}

static void add_contact(collection *into, const double at[2], double high,
                        double low, const gap_feature id[2]) {
  const gap_patch_request *request = into->request;
  // no point is deeper than s(n): less is rounding, or a face not quite flat ("parallel")
  double apart_by = fmax(high - low, request->separation);
  double gap = apart_by - request->a->radius - request->b->radius;
  if (gap > request->margin || into->count == GAP_PAIR_ROOM) return;

  double across[3] = {0, 0, 0}, apart[3];
  vec3_add_scaled(across, at[0], into->seen.t[0]);
  vec3_add_scaled(across, at[1], into->seen.t[1]);
  gap_contact *contact = &into->contacts[into->count];
  write_contact(request, high, low, across, contact);
  contact->gap = gap;
  memcpy(contact->feature, id, sizeof contact->feature);
  for (int i = 0; i < into->count; i++) {
    vec3_subtract(apart, into->contacts[i].point, contact->point);
    vec3_add_scaled(apart, -vec3_dot(apart, request->n), request->n);
    if (!(vec3_length(apart) < same_point * request->scale)) continue;
    /* an end of A says more than where it leaves B beside that, which may be a
     * cut that only the triangles of a surface made ("ends beside seams") */
    if (is_crossing(into->contacts[i].feature[0]) && !is_crossing(id[0]))
      into->contacts[i] = *contact;
    return;
  }
  into->count++;
}

/* Signed area of an outline as seen along n. */
static double seen_area(const view *seen, const gap_outline *outline) {
  double area = 0, p[2], q[2];
  for (int i = 0; i < outline->count; i++) {
    project(seen, outline->points[i], p);
    project(seen, outline->points[(i + 1) % outline->count], q);
    area += p[0] * q[1] - p[1] * q[0];
  }
  return area;
}

/* Cut a region by one edge of the second; `inward` is across that edge. */
static int cut(const cut_point region[], int count, const double edge_at[2],
               const double inward[2], gap_feature edge_id, double tolerance,
               const gap_outline *on_a, cut_point out[]) {
  int kept = 0;
  for (int i = 0; i < count && kept + 2 <= 2 * OUTLINE_ROOM; i++) {
    const cut_point *p = &region[i], *q = &region[(i + 1) % count];
    double dp = (p->at[0] - edge_at[0]) * inward[0] +
                (p->at[1] - edge_at[1]) * inward[1];
    double dq = (q->at[0] - edge_at[0]) * inward[0] +
                (q->at[1] - edge_at[1]) * inward[1];
    bool p_in = dp >= -tolerance, q_in = dq >= -tolerance;
    if (p_in) out[kept++] = *p;
    if (p_in == q_in) continue;

    cut_point *x = &out[kept++];
    double t = dp / (dp - dq);
    for (int k = 0; k < 2; k++) x->at[k] = p->at[k] + t * (q->at[k] - p->at[k]);
    // on an edge of the first it is a crossing; on an earlier cut, a corner of the second
    x->id[0] = p->edge[0] != 0 ? p->edge[0] : on_a->face;
    x->id[1] = p->edge[0] != 0 ? edge_id : 0;
    x->edge[0] = p_in ? 0 : p->edge[0];
    x->edge[1] = p_in ? edge_id : p->edge[1];
  }
  return kept;
}

/* The corner of B nearest to a point where two of B's edges meet. */
static gap_feature nearest_corner(const view *seen, const gap_outline *on_b,
                                  const double at[2]) {
  int best = 0;
  double least = INFINITY;
  for (int i = 0; i < on_b->count; i++) {
    double p[2];
    project(seen, on_b->points[i], p);
    double distance = hypot(p[0] - at[0], p[1] - at[1]);
    if (distance < least) least = distance, best = i;
  }
  return on_b->corners[best];
}

/* Region of A's outline that lies over B's face. Apart from the others: all of these
 * arrays in one frame are more than a thread of 64 KB should be asked for. */
__attribute__((noinline)) static int
cut_by_face(const collection *into, const gap_outline *on_a,
            const gap_outline *on_b, cut_point region[2 * OUTLINE_ROOM]) {
  const view *seen = &into->seen;
  cut_point other[2 * OUTLINE_ROOM];
  int count = on_a->count;
  bool line = on_b->count == 2; /* cut across it, at its ends */
  for (int i = 0; i < count; i++) {
    project(seen, on_a->points[i], region[i].at);
    region[i].id[0] = on_a->corners[i];
    region[i].id[1] = line ? on_b->edges[0] : on_b->face;
    region[i].edge[0] = on_a->edges[i];
    region[i].edge[1] = 0;
  }
  double turn = seen_area(seen, on_b) < 0 ? -1 : 1;
  double tolerance = outside_tolerance * into->request->scale;
  for (int i = 0; i < on_b->count && count > 0; i++) {
    double p[2], q[2];
    project(seen, on_b->points[i], p);
    project(seen, on_b->points[(i + 1) % on_b->count], q);
    double length = hypot(q[0] - p[0], q[1] - p[1]);
    if (!(length > tolerance)) continue;
    double along[2] = {(q[0] - p[0]) / length, (q[1] - p[1]) / length};
    double inward[2] = {-turn * along[1], turn * along[0]};
    count =
        cut(region, count, p, line ? along : inward,
            line ? on_b->corners[i] : on_b->edges[i], tolerance, on_a, other);
    memcpy(region, other, (size_t)count * sizeof region[0]);
  }
  return count;
}

/* Height of an outline at a cut point; at its own corner, the corner's
 * ("near touching"). */
static double height_at(const collection *into, const gap_outline *outline,
                        const cut_point *point, int side) {
  if (gap_feature_type(point->id[side]) != GAP_FACE)
    for (int i = 0; i < outline->count; i++)
      if (outline->corners[i] == point->id[side])
        return vec3_dot(into->seen.n, outline->points[i]);
  return height_over(&into->seen, outline, point->at);
}

/* From a point across n to half-way to a line. */
static void move_half_way(const view *seen, const gap_outline *line,
                          double at[2]) {
  double p[2], q[2];
  project(seen, line->points[0], p);
  project(seen, line->points[1], q);
  double run[2] = {q[0] - p[0], q[1] - p[1]};
  double off = (run[0] * (at[1] - p[1]) - run[1] * (at[0] - p[0])) /
               (run[0] * run[0] + run[1] * run[1]);
  at[0] += 0.5 * off * run[1];
  at[1] -= 0.5 * off * run[0];
}

/* A face or line on a face, or on a line beside it; `flipped`: the face is A's. */
__attribute__((noinline)) static void outline_on_face(collection *into,
                                                      const gap_outline *first,
                                                      const gap_outline *face,
                                                      bool flipped) {
  cut_point region[2 * OUTLINE_ROOM];
  int count = cut_by_face(into, first, face, region);
  for (int i = 0; i < count; i++) {
    cut_point *point = &region[i];
    if (point->id[1] == 0)
      point->id[1] = nearest_corner(&into->seen, face, point->at);
    double height[2] = {height_at(into, first, point, 0),
                        height_at(into, face, point, 1)};
    const gap_feature id[2] = {point->id[flipped], point->id[!flipped]};
    if (face->count == 2) move_half_way(&into->seen, face, point->at);
    add_contact(into, point->at, height[flipped], height[!flipped], id);
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

static void meet(collection *into, const gap_outline *on_a,
                 const gap_outline *on_b) {
  if (on_a->count < 2 || on_b->count == 1) return;
  if (on_b->count != 2 || (on_a->count == 2 && are_parallel(on_a, on_b)))
    outline_on_face(into, on_a, on_b, false);
  else if (on_a->count > 2)
    outline_on_face(into, on_b, on_a, true);
}

static int corner_number(const gap_core *core, const double point[3]) {
  for (int i = 0; i < core->topology->n_corners; i++)
    if (memcmp(core->corners[i], point, sizeof core->corners[i]) == 0) return i;
  return 0;
}

/* The feature that the nearest point of one core lies on. */
static gap_feature nearest_feature(const gap_core *core,
                                   const gap_simplex *nearest, int side) {
  if (core->half_space) return gap_feature_make(GAP_FACE, 0);
  if (core->kind != CORE_POLYTOPE) return gap_feature_make(GAP_SURFACE, 0);
  int corners[4], count = 0;
  for (int i = 0; i < nearest->count; i++) {
    const gap_difference *d = &nearest->corner[i];
    int number = corner_number(core, side == 0 ? d->on_a : d->on_b);
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
  const gap_simplex *nearest = request->nearest;
  gap_distance apart;
  if (nearest == NULL) {
    double shift[3] = {0, 0, 0};
    vec3_add_scaled(shift, 0.01 * request->scale - request->separation,
                    request->n);
    gap_gjk(request->a, request->b, shift, request->n, request->scale, INFINITY,
            &apart);
    nearest = &apart.simplex;
  }
  double on_a[3], on_b[3], across[3];
  gap_simplex_points(nearest, on_a, on_b);
  if (request->covered_only) { /* over B, not beside it */
    vec3_subtract(across, on_a, on_b);
    vec3_add_scaled(across, -vec3_dot(across, request->n), request->n);
    if (vec3_length(across) > outside_tolerance * request->scale) return false;
  }
  for (int k = 0; k < 3; k++) across[k] = (on_a[k] + on_b[k]) / 2;
  double middle = vec3_dot(across, request->n), support[3];
  vec3_add_scaled(across, -middle, request->n);

  // heights by the supports: nearest points are less exact
  gap_core_support(request->b, request->n, support);
  double low = vec3_dot(request->n, support);
  write_contact(request, low + request->separation, low, across, contact);
  contact->feature[0] = nearest_feature(request->a, nearest, 0);
  contact->feature[1] = nearest_feature(request->b, nearest, 1);
  return true;
}

static void swap_contacts(gap_contact *p, gap_contact *q) {
  gap_contact kept = *p;
  *p = *q;
  *q = kept;
}

/* The deepest contact comes first; where none is the pair's deepest point,
 * that point is put in. */
static void lead_with_deepest(collection *into) {
  const gap_patch_request *request = into->request;
  double gap = request->separation - request->a->radius - request->b->radius;
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
  swap_contacts(&into->contacts[0], &into->contacts[deepest]);
}

int gap_patch(const gap_patch_request *request, gap_contact contacts[]) {
  collection into = {.request = request, .contacts = contacts};
  gap_outline on_a, on_b;
  double back[3];
  vec3_negate(back, request->n);
  make_view(request->n, &into.seen);
  gap_outline_facing(request->a, back, request->scale, &on_a);
  gap_outline_facing(request->b, request->n, request->scale, &on_b);
  meet(&into, &on_a, &on_b);
  lead_with_deepest(&into);
  return into.count;
}
