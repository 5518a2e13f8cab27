#include "gap/gap_mesh.h"

#include <string.h>

#include "common/vec3.h"
#include "gap/gap_distance.h"
#include "gap/gap_pair.h"
#include "gap/gap_patch.h"
#include "gap/gap_polish.h"

/* Corners this high, relative to a triangle, are level. */
static const double level_tolerance = 1e-7;
/* Repeated points are no further apart than this, relative to coordinates. */
static const double same_point = 1e-7;

/* One triangle among the others, and the core on it. */
typedef struct meeting {
  const gap_core *core;
  const gap_surface *whole;
  const gap_triangle *triangle;
  gap_core surface; /* the triangle's */
  double scale;     /* of coordinates */
} meeting;

void gap_triangle_place(gap_core *core, const gap_triangle *triangle) {
  static const double zero[3] = {0, 0, 0};
  gap_shape shape = {.kind = GAP_TRIANGLE,
                     .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  memcpy(shape.corners, triangle->corners, sizeof shape.corners);
  gap_core_place(core, &shape, zero, NULL);
  core->reach = 0;
  for (int k = 0; k < 3; k++) // the middle, not the origin
    core->centre[k] =
        (shape.corners[0][k] + shape.corners[1][k] + shape.corners[2][k]) / 3;
  for (int i = 0; i < 3; i++) {
    double arm[3];
    vec3_subtract(arm, shape.corners[i], core->centre);
    core->reach = fmax(core->reach, vec3_length(arm));
  }
}

static bool has_corner(const gap_triangle *triangle, const double corner[3]) {
  for (int i = 0; i < 3; i++) {
    const double *own = triangle->corners[i];
    if (own[0] == corner[0] && own[1] == corner[1] && own[2] == corner[2])
      return true;
  }
  return false;
}

/* The corners of the triangle that are furthest along n. */
static int top_corners(const meeting *at, const double n[3], int top[3]) {
  double height[3], highest = -INFINITY;
  int count = 0;
  for (int i = 0; i < 3; i++) {
    height[i] = vec3_dot(n, at->triangle->corners[i]);
    highest = fmax(highest, height[i]);
  }
  for (int i = 0; i < 3; i++)
    if (height[i] >= highest - level_tolerance * at->surface.reach)
      top[count++] = i;
  return count;
}

/* Write those whose boxes hold a corner to the surface's scratch. @return how many. */
static int find_around(const meeting *at, const double corner[3]) {
  double box[6];
  for (int k = 0; k < 6; k++) box[k] = corner[k % 3];
  return gap_tree_find(at->whole->tree, box, at->whole->around);
}

/* May the whole surface be touched along n where this triangle is highest?
 * Not from behind, and not where a neighbour reaches higher. */
static bool is_outermost(const meeting *at, const double n[3]) {
  int top[3], n_top = top_corners(at, n, top);
  if (vec3_dot(n, at->triangle->normal) < -level_tolerance) return false;
  if (n_top == 3) return true;
  const double *p = at->triangle->corners[top[0]];
  const double *q = at->triangle->corners[top[n_top - 1]];
  double height = vec3_dot(n, p) + level_tolerance * at->surface.reach;
  for (int i = find_around(at, p); i-- > 0;) {
    const gap_triangle *other = &at->whole->triangles[at->whole->around[i]];
    if (other == at->triangle || !has_corner(other, p) || !has_corner(other, q))
      continue;
    for (int k = 0; k < 3; k++)
      if (vec3_dot(n, other->corners[k]) > height) return false;
  }
  return true;
}

/* Another triangle in the same plane on the other side of an edge? */
static bool goes_on_flat(const meeting *at, int edge) {
  const gap_triangle *triangle = at->triangle;
  for (int i = find_around(at, triangle->corners[edge]); i-- > 0;) {
    const gap_triangle *other = &at->whole->triangles[at->whole->around[i]];
    if (other != triangle && has_corner(other, triangle->corners[edge]) &&
        has_corner(other, triangle->corners[(edge + 1) % 3]) &&
        vec3_dot(other->normal, triangle->normal) > 1 - 1e-12)
      return true;
  }
  return false;
}

/* Faces and edges of the core cross edges that only the cutting into triangles
 * made: the gap is even there, and greater or less further on ("cube slides over
 * mesh"). */
static bool is_artefact(const meeting *at, const gap_contact *contact) {
  unsigned on_core = gap_feature_type(contact->feature[0]);
  unsigned type = gap_feature_type(contact->feature[1]);
  unsigned number = contact->feature[1] & ((1u << GAP_FEATURE_NUMBER_BITS) - 1);
  if ((on_core != GAP_EDGE && on_core != GAP_FACE) || number > 2) return false;
  // of triangles around a corner, those at an edge that is one know the corner
  if (type == GAP_CORNER)
    return goes_on_flat(at, (int)number) &&
           goes_on_flat(at, (int)(number + 2) % 3);
  return type == GAP_EDGE && goes_on_flat(at, (int)number);
}

/* Look no further than the nearest that are enough. Of what overlaps the others tell
 * which way out is meant. */
static void note_gap(gap_contact_list *list, double gap) {
  double *nearest = list->nearest;
  int at = list->enough;
  if (at == 0 || gap >= nearest[at - 1]) return;
  for (at--; at > 0 && nearest[at - 1] > gap; at--)
    nearest[at] = nearest[at - 1];
  nearest[at] = gap;
  list->margin = fmax(nearest[list->enough - 1], 0);
}

/* The patch that is asked for; of a half-space, where the triangle is on it. */
static void add_patch(const meeting *at, const gap_patch_request *request,
                      gap_contact_list *list) {
  list->failed |=
      !POOL_GROW(list->pool, list->contacts, list->count + GAP_PAIR_ROOM);
  if (list->failed) return;
  gap_contact *all = list->contacts, *contacts = all + list->count;
  int count;
  if (at->core->half_space) {
    count = gap_pair_meet(&at->surface, at->core, list->margin, contacts);
    gap_contacts_turn(contacts, count);
  } else {
    count = gap_patch(request, contacts);
  }
  for (int i = 0; i < count; i++) {
    if (is_artefact(at, &contacts[i])) continue;
    gap_contact *contact = &all[list->count++];
    *contact = contacts[i];
    contact->triangle[0] = -1;
    contact->triangle[1] =
        (int32_t)(at->triangle - at->whole->triangles); // for now
    note_gap(list, contact->gap);
  }
}

/* May the core, which reaches through the triangle, leave along n? */
static bool may_leave(const void *context, const double n[3]) {
  return is_outermost(context, n);
}

/* The shortest way out of the surface that there is at the triangle. */
static bool leave_along(const meeting *at, const gap_core *surface,
                        gap_direction *best) {
  double found[3];
  vec3_copy(found, best->n);
  *best = (gap_direction){
      .separation = -INFINITY, .allowed = may_leave, .context = at};
  if (at->core->kind == CORE_POLYTOPE) {
    gap_sat(at->core, surface, at->scale, best);
    return best->separation > -INFINITY;
  }
  gap_polish(at->core, surface, found, at->scale, best);
  // which has a top that another start comes to ("behind a sheet")
  gap_polish(at->core, surface, at->triangle->normal, at->scale, best);
  return best->separation > -INFINITY;
}

static void meet_triangle(meeting *at, gap_contact_list *list) {
  const gap_core *surface = &at->surface;
  double radius = at->core->radius, between[3];
  gap_triangle_place(&at->surface, at->triangle);
  if (at->core->half_space) {
    add_patch(at, NULL, list);
    return;
  }
  vec3_subtract(between, at->core->centre, surface->centre);
  at->scale = vec3_length(between) + at->core->reach + surface->reach + radius;
  gap_patch_request request = {
      .a = at->core, .b = surface, .margin = list->margin, .scale = at->scale};
  gap_phi *phi = &request.phi;
  double enough = list->margin + radius;
  gap_gjk(at->core, surface, NULL, at->triangle->normal, at->scale, enough,
          phi);
  if (phi->upper > 0 &&
      !gap_distance_settle(at->core, surface, at->scale, enough, phi))
    return;
  if (phi->apart && !is_outermost(at, phi->best.n)) {
    // it is nearest where a neighbour is nearer, and may still be over its middle ("cube
    // slides over mesh")
    if (!(vec3_dot(phi->best.n, at->triangle->normal) > 0)) return;
    vec3_copy(phi->best.n, at->triangle->normal);
    phi->best.separation = gap_core_separation(at->core, surface, phi->best.n);
    phi->apart = false;
    request.covered_only = true;
  } else if (!phi->apart) {
    /* From behind it came through, or is in a hollow whose walls look away. At a ridge
     * it is in front of one of the sides ("behind a sheet"). */
    vec3_subtract(between, at->core->centre, at->triangle->corners[0]);
    if (!(vec3_dot(between, at->triangle->normal) > 0) ||
        !leave_along(at, surface, &phi->best))
      return;
    request.covered_only = true;
    // all ways out of a box or line were tried; of others, it is known that they
    // overlap
    bool all_tried = at->core->room == NULL;
    phi->upper = (all_tried ? phi->best.separation : 0) + 2e-15 * at->scale;
  }
  if (phi->best.separation - radius <= list->margin)
    add_patch(at, &request, list);
}

static double top_height(const gap_triangle *triangle, const double n[3]) {
  double height = -INFINITY;
  for (int i = 0; i < 3; i++)
    height = fmax(height, vec3_dot(n, triangle->corners[i]));
  return height;
}

/* Around a ridge, leaving along the normal of one side leaves the other, too:
 * of two neighbours, a way out that is longer than one that clears both is no
 * contact ("cube of triangles"). */
static bool is_cleared_by(const gap_triangle *deep, const gap_contact *longer,
                          const gap_triangle *other,
                          const gap_contact *shorter) {
  bool neighbours = false;
  for (int k = 0; k < 3; k++)
    neighbours = neighbours || has_corner(other, deep->corners[k]);
  if (!neighbours || !(longer->gap < shorter->gap) ||
      vec3_dot(longer->normal, shorter->normal) > 1 - 1e-9)
    return false;
  double height = top_height(other, shorter->normal);
  double arm[3];
  vec3_subtract(arm, deep->corners[1], deep->corners[0]);
  return top_height(deep, shorter->normal) <=
         height + level_tolerance * vec3_length(arm);
}

/* What was marked by a certificate below 0 goes. */
static void drop_marked(gap_contact_list *list, int first) {
  gap_contact *all = list->contacts;
  int kept = first;
  for (int i = first; i < list->count; i++)
    if (all[i].certificate >= 0) all[kept++] = all[i];
  list->count = kept;
}

static void drop_longer_ways(double radius, const gap_triangle triangles[],
                             int first, gap_contact_list *list) {
  gap_contact *all = list->contacts;
  for (int i = first; i < list->count; i++) {
    const gap_triangle *deep = &triangles[all[i].triangle[1]];
    bool cleared = false;
    for (int k = first; k < list->count && !cleared; k++)
      cleared =
          all[i].gap + radius < 0 && all[k].gap + radius < 0 &&
          is_cleared_by(deep, &all[i], &triangles[all[k].triangle[1]], &all[k]);
    if (cleared) all[i].certificate = -1;
  }
  drop_marked(list, first);
}

void gap_mesh_meet(const gap_core *core, const gap_surface *surface,
                   const gap_near near[], int n_near, gap_contact_list *list) {
  int first = list->count;
  const gap_triangle *triangles = surface->triangles;
  meeting at = {.core = core, .whole = surface};
  for (int k = 0; k < n_near && near[k].apart <= fmax(list->margin, 0); k++) {
    list->compared++;
    at.triangle = &triangles[near[k].index];
    meet_triangle(&at, list);
  }
  drop_longer_ways(core->radius, triangles, first, list);
  gap_contact *all = list->contacts;
  for (int i = first; i < list->count; i++)
    all[i].triangle[1] = triangles[all[i].triangle[1]].number;
}

/* Keep the first of those in one place along one normal. @return false: no memory. */
static bool drop_repeated(gap_contact_list *list, gap_tree *tree,
                          int32_t **found, double scale) {
  gap_contact *all = list->contacts;
  if (!gap_tree_reserve(tree, list->pool, list->count) ||
      !POOL_RESERVE(list->pool, *found, list->count))
    return false;
  int32_t *near = *found;
  for (int i = 0; i < list->count; i++)
    for (int k = 0; k < 6; k++)
      tree->boxes[i][k] =
          all[i].point[k % 3] + (k < 3 ? -same_point : same_point) * scale;
  gap_tree_build(tree, list->count);
  for (int i = 0; i < list->count; i++) {
    double at[6], apart[3];
    for (int k = 0; k < 6; k++) at[k] = all[i].point[k % 3];
    for (int n = gap_tree_find(tree, at, near); n-- > 0;) {
      const gap_contact *other = &all[near[n]];
      vec3_subtract(apart, all[i].point, other->point);
      if (near[n] < i && other->certificate >= 0 &&
          vec3_length(apart) < same_point * scale &&
          vec3_dot(all[i].normal, other->normal) > 1 - 1e-9)
        all[i].certificate = -1;
    }
  }
  drop_marked(list, 0);
  return true;
}

static void deepest_first(gap_contact contacts[], int count) {
  for (int i = 1; i < count; i++) {
    gap_contact moved = contacts[i];
    int at = i;
    for (; at > 0 && contacts[at - 1].gap > moved.gap; at--)
      contacts[at] = contacts[at - 1];
    contacts[at] = moved;
  }
}

/* Thin out the contacts of one normal after another, in place. */
static void reduce_by_normal(gap_contact_list *list) {
  gap_contact *all = list->contacts;
  int start = 0;
  while (start < list->count) {
    int end = start + 1;
    for (int i = end; i < list->count; i++) {
      if (vec3_dot(all[start].normal, all[i].normal) < 0.999) continue;
      gap_contact moved = all[i];
      memmove(&all[end + 1], &all[end], (size_t)(i - end) * sizeof moved);
      all[end++] = moved;
    }
    int kept = gap_reduce(&all[start], end - start, GAP_REDUCED_ROOM);
    memmove(&all[start + kept], &all[end],
            (size_t)(list->count - end) * sizeof *all);
    list->count -= end - start - kept;
    start += kept;
  }
}

int gap_mesh_finish(gap_contact_list *list, gap_tree *tree, int32_t **found,
                    double scale, int flags, gap_contact contacts[], int room) {
  if (list->failed) return -1;
  if (list->count == 0) return 0;
  if (!drop_repeated(list, tree, found, scale)) return -1;
  deepest_first(list->contacts, list->count);
  if ((flags & GAP_REDUCE) || (list->enough == 0 && list->count > room)) {
    reduce_by_normal(list);
    deepest_first(list->contacts, list->count);
  }
  int count = list->count < room ? list->count : room;
  memcpy(contacts, list->contacts, (size_t)count * sizeof contacts[0]);
  if (count < list->count)
    list->margin = fmin(list->margin, contacts[count - 1].gap);
  return count;
}
