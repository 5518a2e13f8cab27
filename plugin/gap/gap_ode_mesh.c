#include "gap/gap_ode_mesh.h"

#include <stdlib.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/gap_pair.h"
#include "gap/real.h"

/* More cells of a height field than this in one query are a mistake of the
 * caller: an infinite margin, or a wrapped field. */
enum { MOST_CELLS = 4000000 };

/* The triangles within a ball about `origin` in the world, as their coordinates are. */
typedef struct region {
  const gap_geom *mesh;
  const double *origin;
  double radius;
  gap_triangle **triangles; /* of the context */
  int count;
} region;

static void to_body(const gap_geom *place, const double point[3],
                    double body[3]) {
  const double *R = place->rotation;
  double arm[3];
  vec3_subtract(arm, point, place->position);
  for (int k = 0; k < 3; k++)
    body[k] = R[k] * arm[0] + R[3 + k] * arm[1] + R[6 + k] * arm[2];
}

/* A corner of the mesh in the region's coordinates. */
static void place_corner(const region *in, const double body[3],
                         double corner[3]) {
  double turned[3];
  mat3_apply(turned, in->mesh->rotation, body);
  for (int k = 0; k < 3; k++)
    corner[k] = (in->mesh->position[k] - in->origin[k]) + turned[k];
}

static void triangle_box(const double corners[3][3], double box[6]) {
  for (int k = 0; k < 3; k++) {
    double a = corners[0][k], b = corners[1][k], c = corners[2][k];
    box[k] = fmin(a, fmin(b, c));
    box[k + 3] = fmax(a, fmax(b, c));
  }
}

/* `body`: its corners in the mesh's own coordinates. */
static int add_triangle(gap_context *context, region *in, double body[3][3],
                        int32_t number) {
  if (!POOL_GROW(&context->pool, *in->triangles, in->count + 1))
    return gap_context_fail(context, in->mesh->named, GAP_NO_MEMORY, NULL);
  gap_triangle *added = &(*in->triangles)[in->count];
  double(*corners)[3] = added->corners, u[3], v[3];
  for (int i = 0; i < 3; i++) place_corner(in, body[i], corners[i]);
  if (!all_finite(corners[0], 9))
    return gap_context_fail(context, in->mesh->named, GAP_BAD_MESH,
                            "has a corner that is not finite");
  vec3_subtract(u, corners[1], corners[0]);
  vec3_subtract(v, corners[2], corners[0]);
  vec3_cross(added->normal, u, v);
  // a triangle without area is the edge that others have, too
  if (!(vec3_normalise(added->normal) >
        1e-12 * vec3_length(u) * vec3_length(v)))
    return GAP_OK;
  added->number = number;
  in->count++;
  return GAP_OK;
}

/* ---- trimeshes ---- */

/* The host's corners, which are those at the geom's own place, in its body's. */
static void body_corners(const gap_geom *own, int number,
                         double corners[3][3]) {
  dVector3 v[3];
  dGeomTriMeshGetTriangle(own->geom, number, &v[0], &v[1], &v[2]);
  for (int i = 0; i < 3; i++) to_body(own, real3(v[i]).at, corners[i]);
}

/* Are some triangles where the tree has them? */
static bool tree_is_current(const gap_tree_slot *slot, dTriMeshDataID data,
                            const gap_geom *own, int count) {
  enum { PROBES = 8 };
  if (slot->data != data || slot->tree.n_triangles != count) return false;
  for (int i = 0; i < PROBES && count > 0; i++) {
    int number = (int)((long long)i * (count - 1) / (PROBES - 1));
    double corners[3][3], box[6];
    const double *known = slot->tree.boxes[number];
    body_corners(own, number, corners);
    triangle_box(corners, box);
    double size = 0, off = 0;
    for (int k = 0; k < 6; k++) {
      size = fmax(size, fabs(known[k]));
      off = fmax(off, fabs(known[k] - box[k]));
    }
    if (!(off <= 1e-9 * (size + vec3_length(own->position)))) return false;
  }
  return true;
}

static int find_tree(gap_context *context, const gap_geom *own,
                     const gap_tree **tree) {
  dTriMeshDataID data = dGeomTriMeshGetData(own->geom);
  int count = dGeomTriMeshGetTriangleCount(own->geom);
  uint64_t key = (uintptr_t)data >> 4;
  gap_tree_slot *slot = &context->trees[key * 0x9E3779B97F4A7C15u >> 60];
  *tree = &slot->tree;
  if (tree_is_current(slot, data, own, count)) return GAP_OK;

  slot->data = NULL;
  if (!gap_tree_reserve(&slot->tree, &context->pool, count))
    return gap_context_fail(context, own->geom, GAP_NO_MEMORY, NULL);
  for (int i = 0; i < count; i++) {
    double corners[3][3];
    body_corners(own, i, corners);
    if (!all_finite(&corners[0][0], 9))
      return gap_context_fail(context, own->geom, GAP_BAD_MESH,
                              "has a corner that is not finite");
    triangle_box(corners, slot->tree.boxes[i]);
  }
  gap_tree_build(&slot->tree, count);
  slot->data = data;
  return GAP_OK;
}

static int collect_trimesh(gap_context *context, region *in) {
  const gap_geom *mesh = in->mesh;
  gap_geom own;
  double body[3], box[6];
  const gap_tree *tree;
  gap_geom_place(mesh->geom, &own);
  int status = find_tree(context, &own, &tree);
  if (status != GAP_OK) return status;
  to_body(mesh, in->origin, body);
  // the tree's boxes are off by rounding of the place they were read at
  double radius = in->radius * (1 + 1e-9) + 1e-9 * vec3_length(own.position);
  for (int k = 0; k < 3; k++) {
    box[k] = body[k] - radius;
    box[k + 3] = body[k] + radius;
  }
  if (!POOL_RESERVE(&context->pool, context->found, tree->n_triangles))
    return gap_context_fail(context, mesh->named, GAP_NO_MEMORY, NULL);
  int32_t *numbers = context->found;
  int count = gap_tree_find(tree, box, numbers);
  for (int i = 0; i < count; i++) {
    double corners[3][3];
    body_corners(&own, numbers[i], corners);
    status = add_triangle(context, in, corners, numbers[i]);
    if (status != GAP_OK) return status;
  }
  return GAP_OK;
}

/* ---- height fields ---- */

typedef struct field {
  dHeightfieldDataID data;
  int width_samples, depth_samples, wraps;
  dReal width, depth;
} field;

static void field_corner(const field *at, int x, int z, double body[3]) {
  body[0] = x * (at->width / (at->width_samples - 1)) - at->width / 2;
  body[1] = dGeomHeightfieldDataGetHeight(at->data, x, z);
  body[2] = z * (at->depth / (at->depth_samples - 1)) - at->depth / 2;
}

/* The two triangles of a cell, cut as the host cuts it, fronts up. */
static int add_cell(gap_context *context, region *in, const field *at, int x,
                    int z) {
  double corner[4][3], halves[2][3][3];
  static const int order[2][3] = {{0, 2, 1}, {3, 1, 2}};
  for (int i = 0; i < 4; i++)
    field_corner(at, x + (i & 1), z + (i >> 1), corner[i]);
  for (int half = 0; half < 2; half++) {
    for (int i = 0; i < 3; i++)
      vec3_copy(halves[half][i], corner[order[half][i]]);
    int wide = at->width_samples - 1, deep = at->depth_samples - 1;
    int cell = (z % deep + deep) % deep * wide + (x % wide + wide) % wide;
    int status = add_triangle(context, in, halves[half], cell * 2 + half);
    if (status != GAP_OK) return status;
  }
  return GAP_OK;
}

/* Cells from `low` to below `high` that a stretch of the field meets. */
static void cell_range(double middle, double radius, double size, int n_samples,
                       bool wraps, double range[2]) {
  double cell = size / (n_samples - 1);
  range[0] = floor((middle + size / 2 - radius) / cell);
  range[1] = floor((middle + size / 2 + radius) / cell) + 1;
  if (wraps) return;
  range[0] = fmax(range[0], 0);
  range[1] = fmin(range[1], n_samples - 1);
}

static int collect_field(gap_context *context, region *in) {
  field at = {.data = dGeomHeightfieldGetHeightfieldData(in->mesh->geom)};
  dGeomHeightfieldDataGetSize(at.data, &at.width_samples, &at.depth_samples,
                              &at.width, &at.depth, &at.wraps);
  double body[3], x[2], z[2];
  to_body(in->mesh, in->origin, body);
  cell_range(body[0], in->radius, at.width, at.width_samples, at.wraps, x);
  cell_range(body[2], in->radius, at.depth, at.depth_samples, at.wraps, z);
  if (x[1] <= x[0] || z[1] <= z[0]) return GAP_OK;
  double limit = 1 << 30; // host's samples are counted in int
  if (!((x[1] - x[0]) * (z[1] - z[0]) <= MOST_CELLS) || x[0] < -limit ||
      z[0] < -limit || x[1] > limit || z[1] > limit)
    return gap_context_fail(context, in->mesh->named, GAP_BAD_MESH,
                            "has too many cells within the margin");

  for (int j = (int)z[0]; j < (int)z[1]; j++)
    for (int i = (int)x[0]; i < (int)x[1]; i++) {
      int status = add_cell(context, in, &at, i, j);
      if (status != GAP_OK) return status;
    }
  return GAP_OK;
}

/* ---- pairs ---- */

static int check_mesh(gap_context *context, const gap_geom *mesh) {
  bool height_field = mesh->type == dHeightfieldClass;
  double square = 0;
  for (int i = 0; i < 9; i++) square += mesh->rotation[i] * mesh->rotation[i];
  if (!all_finite(mesh->position, 3) || !(fabs(square - 3) < 1e-5))
    return gap_context_fail(context, mesh->named, GAP_BAD_POSE,
                            "has a pose that is not finite or no rotation");
  if (height_field ? dGeomHeightfieldGetHeightfieldData(mesh->geom) == NULL
                   : dGeomTriMeshGetData(mesh->geom) == NULL)
    return gap_context_fail(context, mesh->named, GAP_BAD_MESH, "has no data");
  return GAP_OK;
}

/* A ball around all of a geom. */
static void ball_around(const gap_geom *mesh, double centre[3],
                        double *radius) {
  dReal aabb[6];
  double half[3];
  dGeomGetAABB(mesh->named, aabb);
  for (int k = 0; k < 3; k++) {
    centre[k] = (aabb[2 * k] + aabb[2 * k + 1]) / 2;
    half[k] = (aabb[2 * k + 1] - aabb[2 * k]) / 2;
  }
  *radius = vec3_length(half);
  if (!mesh->moved) return;
  gap_geom start;
  double body[3], turned[3];
  gap_geom_place(mesh->named, &start);
  to_body(&start, centre, body);
  mat3_apply(turned, mesh->rotation, body);
  for (int k = 0; k < 3; k++) centre[k] = mesh->position[k] + turned[k];
}

/* The triangles of a region as a surface, whose tree is the context's. */
static int plant_region(gap_context *context, const region *in,
                        gap_surface *surface) {
  const gap_triangle *all = *in->triangles;
  gap_tree *tree = &context->region;
  if (!gap_tree_reserve(tree, &context->pool, in->count) ||
      !POOL_RESERVE(&context->pool, context->around, in->count))
    return gap_context_fail(context, in->mesh->named, GAP_NO_MEMORY, NULL);
  for (int i = 0; i < in->count; i++)
    triangle_box(all[i].corners, tree->boxes[i]);
  gap_tree_build(tree, in->count);
  *surface = (gap_surface){all, tree, context->around};
  return GAP_OK;
}

/* What is within `margin` of a core, as a box. */
static void core_box(const gap_core *core, double margin, double box[6]) {
  for (int k = 0; k < 6; k++) {
    double n[3] = {0, 0, 0}, top[3], sign = k < 3 ? -1 : 1;
    n[k % 3] = sign;
    box[k] = sign * INFINITY;
    if (core->half_space) continue;
    gap_core_support(core, n, top);
    box[k] = top[k % 3] + sign * (core->radius + margin);
  }
}

/* How far two boxes are apart, but for rounding. */
static double boxes_apart(const double a[6], const double b[6],
                          double rounding) {
  double square = 0;
  for (int k = 0; k < 3; k++) {
    double apart = fmax(a[k] - b[k + 3], b[k] - a[k + 3]);
    if (apart > 0) square += apart * apart;
  }
  return fmax(sqrt(square) - rounding, 0);
}

static int nearer_first(const void *one, const void *other) {
  const gap_near *a = one, *b = other;
  if (a->apart != b->apart) return a->apart < b->apart ? -1 : 1;
  return (a->index > b->index) - (a->index < b->index);
}

/* The contacts of a core on a surface; the triangles near it are found first, and where
 * few contacts are enough they are met from the nearest on. */
static void meet_surface(gap_context *context, const gap_core *core,
                         const gap_surface *surface, double rounding,
                         gap_contact_list *list) {
  const int size = surface->tree->n_triangles;
  double box[6];
  list->failed |= !POOL_RESERVE(&context->pool, context->found, size) ||
                  !POOL_RESERVE(&context->pool, context->near[0], size);
  if (list->failed) return;
  const int32_t *found = context->found;
  gap_near *near = context->near[0];
  core_box(core, fmax(list->margin, 0) + rounding, box);
  int n_near = gap_tree_find(surface->tree, box, context->found);
  core_box(core, 0, box);
  for (int i = 0; i < n_near; i++) near[i] = (gap_near){.index = found[i]};
  for (int i = 0; i < n_near && list->from_nearest; i++)
    near[i].apart = boxes_apart(box, surface->tree->boxes[found[i]], rounding);
  if (list->from_nearest)
    qsort(near, (size_t)n_near, sizeof *near, nearer_first);
  gap_mesh_meet(core, surface, near, n_near, list);
}

/* Those of the triangles of another mesh, from the nearest on, too. */
static void meet_triangles(gap_context *context, const region *in,
                           const gap_surface *surface, double rounding,
                           gap_contact_list *list) {
  const gap_triangle *all = *in->triangles;
  const double *whole = gap_tree_whole(surface->tree);
  list->failed |= !POOL_RESERVE(&context->pool, context->near[1], in->count);
  if (list->failed) return;
  gap_near *near = context->near[1];
  for (int i = 0; i < in->count; i++) {
    double box[6];
    near[i] = (gap_near){.index = i};
    if (!list->from_nearest || whole == NULL) continue;
    triangle_box(all[i].corners, box);
    near[i].apart = boxes_apart(box, whole, rounding);
  }
  if (list->from_nearest)
    qsort(near, (size_t)in->count, sizeof *near, nearer_first);
  for (int i = 0; i < in->count && near[i].apart <= fmax(list->margin, 0);
       i++) {
    const gap_triangle *triangle = &all[near[i].index];
    gap_core core;
    int before = list->count;
    gap_triangle_place(&core, triangle);
    meet_surface(context, &core, surface, rounding, list);
    for (int k = before; k < list->count; k++)
      list->contacts[k].triangle[0] = triangle->number;
  }
}

int gap_ode_mesh_pair(gap_context *context, const gap_geom *a,
                      const gap_geom *b, double margin, int flags,
                      gap_contact contacts[], int room) {
  if (!isfinite(margin))
    return gap_context_fail(context, a->named, GAP_BAD_MESH,
                            "needs a margin that is finite");
  const gap_geom *geoms[2] = {a, b};
  gap_shape shape;
  gap_core core;
  double origin[3], radius, centre[3], around;
  int status = GAP_OK, meshes = gap_geom_is_mesh(b) ? 2 : 1;
  for (int side = 0; side < meshes && status == GAP_OK; side++)
    status = check_mesh(context, geoms[side]);
  if (status != GAP_OK) return status;
  ball_around(a, origin, &radius);
  if (meshes == 2) { // either may be without end: the smaller ball is enough
    ball_around(b, centre, &around);
    if (around < radius) radius = around, vec3_copy(origin, centre);
  } else {
    status = gap_geom_shape(context, b, 1, &shape);
    if (status != GAP_OK) return status;
    if (shape.kind != GAP_PLANE) vec3_copy(origin, shape.position);
    if (gap_pair_place(&context->scratch, &shape, 1, origin, &core) != GAP_OK)
      return gap_context_fail(context, a->named, GAP_NO_MEMORY, NULL);
    if (!core.half_space) radius = core.reach + core.radius;
  }
  region in[2];
  for (int side = 0; side < meshes; side++) {
    in[side] = (region){.mesh = geoms[side],
                        .origin = origin,
                        .radius = radius + margin,
                        .triangles = &context->triangles[side]};
    status = geoms[side]->type == dTriMeshClass
                 ? collect_trimesh(context, &in[side])
                 : collect_field(context, &in[side]);
    if (status != GAP_OK) return status;
  }
  int most = flags & GAP_NEAREST ? GAP_NEAREST_ROOM : 1;
  gap_contact_list list = {
      .pool = &context->pool, .contacts = context->contacts, .margin = margin};
  if (room <= most) list.enough = room;
  list.from_nearest = flags & GAP_NEAREST;
  for (int i = 0; i < list.enough; i++) list.nearest[i] = margin;
  gap_surface surface;
  status = plant_region(context, &in[0], &surface);
  if (status != GAP_OK) return status;
  double rounding = 1e-12 * in[0].radius;
  if (meshes == 1)
    meet_surface(context, &core, &surface, rounding, &list);
  else
    meet_triangles(context, &in[1], &surface, rounding, &list);
  int count = gap_mesh_finish(&list, &context->region, &context->found, radius,
                              flags, contacts, room);
  context->contacts = list.contacts;
  if (count < 0)
    return gap_context_fail(context, a->named, GAP_NO_MEMORY, NULL);
  context->compared += list.compared;
  context->covered = list.margin;
  for (int i = 0; i < count; i++) vec3_add_scaled(contacts[i].point, 1, origin);
  gap_contacts_turn(contacts, count); // the mesh is the first shape
  return count;
}
