#include "gap/gap_ode_mesh.h"

#include <string.h>

#include "common/vec3.h"
#include "gap/gap_pair.h"

/* More cells of a height field than this in one query are a mistake of the
 * caller: an infinite margin, or a wrapped field. */
enum { MOST_CELLS = 4000000 };

/* The triangles within a ball; coordinates are about `origin` in the world. */
typedef struct region {
  const gap_geom *mesh;
  const double *origin;
  double centre[3], radius;
  memory_block *block; /* of gap_triangle */
  int count;
} region;

static int add_triangle(gap_context *context, region *in, double corners[3][3],
                        int32_t number) {
  gap_triangle *all = memory_block_grow(in->block, context->source,
                                        (size_t)in->count + 1, sizeof *all);
  if (all == NULL)
    return gap_context_fail(context, in->mesh->named, GAP_NO_MEMORY, NULL);
  if (!all_finite(&corners[0][0], 9))
    return gap_context_fail(context, in->mesh->named, GAP_BAD_MESH,
                            "has a corner that is not finite");

  gap_triangle *added = &all[in->count];
  double u[3], v[3];
  memcpy(added->corners, corners, sizeof added->corners);
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

/* Corners as the host gives them: for the geom's own place, without the geom
 * transforms around it. */
static void read_corners(dGeomID geom, int number, double corners[3][3]) {
  dVector3 v[3];
  dGeomTriMeshGetTriangle(geom, number, &v[0], &v[1], &v[2]);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) corners[i][k] = v[i][k];
}

static void to_body(const double position[3], const double rotation[9],
                    const double point[3], double body[3]) {
  double arm[3];
  vec3_subtract(arm, point, position);
  for (int k = 0; k < 3; k++)
    body[k] = rotation[k] * arm[0] + rotation[3 + k] * arm[1] +
              rotation[6 + k] * arm[2];
}

static void own_place(dGeomID geom, double position[3], double rotation[9]) {
  const dReal *p = dGeomGetPosition(geom), *R = dGeomGetRotation(geom);
  for (int i = 0; i < 3; i++) {
    position[i] = p[i];
    for (int j = 0; j < 3; j++) rotation[3 * i + j] = R[4 * i + j];
  }
}

static void body_box(dGeomID geom, const double position[3],
                     const double rotation[9], int number, double box[6]) {
  double corners[3][3], body[3];
  read_corners(geom, number, corners);
  for (int i = 0; i < 3; i++) {
    to_body(position, rotation, corners[i], body);
    for (int k = 0; k < 3; k++) {
      box[k] = i == 0 ? body[k] : fmin(box[k], body[k]);
      box[k + 3] = i == 0 ? body[k] : fmax(box[k + 3], body[k]);
    }
  }
  if (!all_finite(&corners[0][0], 9)) box[0] = NAN; // fmin() would hide it
}

/* Are some triangles where the tree has them? */
static bool tree_is_current(const gap_tree_slot *slot, dTriMeshDataID data,
                            dGeomID geom, const double position[3],
                            const double rotation[9], int count) {
  enum { PROBES = 8 };
  if (slot->data != data || slot->tree.n_triangles != count) return false;
  for (int i = 0; i < PROBES && count > 0; i++) {
    int number = (int)((long long)i * (count - 1) / (PROBES - 1));
    double box[6];
    const double *known = gap_tree_box(&slot->tree, number);
    body_box(geom, position, rotation, number, box);
    double size = 0, off = 0;
    for (int k = 0; k < 6; k++) {
      size = fmax(size, fabs(known[k]));
      off = fmax(off, fabs(known[k] - box[k]));
    }
    if (!(off <= 1e-9 * (size + vec3_length(position)))) return false;
  }
  return true;
}

static int find_tree(gap_context *context, const gap_geom *mesh,
                     const double position[3], const double rotation[9],
                     const gap_tree **tree) {
  dTriMeshDataID data = dGeomTriMeshGetData(mesh->geom);
  int count = dGeomTriMeshGetTriangleCount(mesh->geom);
  uint64_t key = (uintptr_t)data >> 4;
  gap_tree_slot *slot = &context->trees[key * 0x9E3779B97F4A7C15u >> 60];
  *tree = &slot->tree;
  if (tree_is_current(slot, data, mesh->geom, position, rotation, count))
    return GAP_OK;

  double(*boxes)[6] = memory_block_reserve(&context->found, context->source,
                                           (size_t)count, sizeof *boxes);
  slot->data = NULL;
  if (boxes == NULL)
    return gap_context_fail(context, mesh->named, GAP_NO_MEMORY, NULL);
  for (int i = 0; i < count; i++) {
    body_box(mesh->geom, position, rotation, i, boxes[i]);
    if (!all_finite(boxes[i], 6))
      return gap_context_fail(context, mesh->named, GAP_BAD_MESH,
                              "has a corner that is not finite");
  }
  if (gap_tree_build(&slot->tree, context->source, (const double(*)[6])boxes,
                     count) != 0)
    return gap_context_fail(context, mesh->named, GAP_NO_MEMORY, NULL);
  slot->data = data;
  return GAP_OK;
}

/* Those of a tree whose boxes meet another, in memory of the context.
 * @return their count, or a gap_status, which is below 0. */
static int near_numbers(gap_context *context, const gap_geom *mesh,
                        const gap_tree *tree, const double box[6],
                        int32_t **numbers) {
  int room = 256, count;
  for (;;) {
    *numbers = memory_block_reserve(&context->found, context->source,
                                    (size_t)room, sizeof **numbers);
    if (*numbers == NULL)
      return gap_context_fail(context, mesh->named, GAP_NO_MEMORY, NULL);
    count = gap_tree_find(tree, box, *numbers, room);
    if (count <= room) return count;
    room = count;
  }
}

/* The host's corner for the geom's own place, in the region's coordinates. */
static void move_corner(const region *in, const double position[3],
                        const double rotation[9], double corner[3]) {
  const gap_geom *mesh = in->mesh;
  if (mesh->geom != mesh->named || mesh->moved) {
    double body[3], turned[3];
    to_body(position, rotation, corner, body);
    mat3_apply(turned, mesh->rotation, body);
    for (int k = 0; k < 3; k++) corner[k] = mesh->position[k] + turned[k];
  }
  for (int k = 0; k < 3; k++) corner[k] -= in->origin[k];
}

static int collect_trimesh(gap_context *context, region *in) {
  const gap_geom *mesh = in->mesh;
  if (dGeomTriMeshGetData(mesh->geom) == NULL)
    return gap_context_fail(context, mesh->named, GAP_BAD_MESH, "has no data");

  double position[3], rotation[9], centre[3], body[3], box[6];
  const gap_tree *tree;
  own_place(mesh->geom, position, rotation);
  int status = find_tree(context, mesh, position, rotation, &tree);
  if (status != GAP_OK) return status;
  for (int k = 0; k < 3; k++) centre[k] = in->centre[k] + in->origin[k];
  to_body(mesh->position, mesh->rotation, centre, body);
  // the tree's boxes are off by rounding of the place they were read at
  double radius = in->radius * (1 + 1e-9) + 1e-9 * vec3_length(position);
  for (int k = 0; k < 3; k++) {
    box[k] = body[k] - radius;
    box[k + 3] = body[k] + radius;
  }
  int32_t *numbers;
  int count = near_numbers(context, mesh, tree, box, &numbers);
  for (int i = 0; i < count; i++) {
    double corners[3][3];
    read_corners(mesh->geom, numbers[i], corners);
    for (int k = 0; k < 3; k++) move_corner(in, position, rotation, corners[k]);
    status = add_triangle(context, in, corners, numbers[i]);
    if (status != GAP_OK) return status;
  }
  return count < 0 ? count : GAP_OK;
}

/* ---- height fields ---- */

typedef struct field {
  dHeightfieldDataID data;
  int width_samples, depth_samples, wraps;
  dReal width, depth;
} field;

static void field_corner(const region *in, const field *at, int x, int z,
                         double corner[3]) {
  double body[3], turned[3];
  body[0] = x * (at->width / (at->width_samples - 1)) - at->width / 2;
  body[1] = dGeomHeightfieldDataGetHeight(at->data, x, z);
  body[2] = z * (at->depth / (at->depth_samples - 1)) - at->depth / 2;
  mat3_apply(turned, in->mesh->rotation, body);
  for (int k = 0; k < 3; k++)
    corner[k] = (in->mesh->position[k] - in->origin[k]) + turned[k];
}

/* The two triangles of a cell, cut as the host cuts it, fronts up. */
static int add_cell(gap_context *context, region *in, const field *at, int x,
                    int z) {
  double corner[4][3], halves[2][3][3];
  static const int order[2][3] = {{0, 2, 1}, {3, 1, 2}};
  for (int i = 0; i < 4; i++)
    field_corner(in, at, x + (i & 1), z + (i >> 1), corner[i]);
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
  if (at.data == NULL)
    return gap_context_fail(context, in->mesh->named, GAP_BAD_MESH,
                            "has no data");
  dGeomHeightfieldDataGetSize(at.data, &at.width_samples, &at.depth_samples,
                              &at.width, &at.depth, &at.wraps);
  double centre[3], body[3], x[2], z[2];
  for (int k = 0; k < 3; k++) centre[k] = in->centre[k] + in->origin[k];
  to_body(in->mesh->position, in->mesh->rotation, centre, body);
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

static int collect(gap_context *context, region *in) {
  const gap_geom *mesh = in->mesh;
  double square = 0;
  for (int i = 0; i < 9; i++) square += mesh->rotation[i] * mesh->rotation[i];
  if (!all_finite(mesh->position, 3) || !(fabs(square - 3) < 1e-5))
    return gap_context_fail(context, mesh->named, GAP_BAD_POSE,
                            "has a pose that is not finite or no rotation");
  in->count = 0;
  return mesh->type == dTriMeshClass ? collect_trimesh(context, in)
                                     : collect_field(context, in);
}

static int finish(gap_contact_list *list, const double origin[3], double scale,
                  int flags, gap_contact contacts[], int room) {
  int count = gap_mesh_finish(list, scale, flags, contacts, room);
  for (int i = 0; i < count; i++) vec3_add_scaled(contacts[i].point, 1, origin);
  gap_contacts_turn(contacts, count); // the mesh is the first shape
  return count;
}

static int mesh_with_shape(gap_context *context, const gap_geom *mesh,
                           const gap_shape *shape, double margin, int flags,
                           gap_contact contacts[], int room) {
  gap_core core;
  const double *origin = shape->position;
  if (gap_pair_place(&context->scratch, shape, 1, origin, &core) != GAP_OK)
    return gap_context_fail(context, mesh->named, GAP_NO_MEMORY, NULL);
  region in = {.mesh = mesh,
               .origin = origin,
               .radius = core.reach + core.radius + margin,
               .block = &context->triangles[0]};
  int status = collect(context, &in);
  if (status != GAP_OK) return status;

  gap_contact_list list = {context->source, &context->contacts, 0, room == 1};
  if (gap_mesh_meet(&core, in.block->data, in.count, NULL, 0, margin, &list) !=
      0)
    return gap_context_fail(context, mesh->named, GAP_NO_MEMORY, NULL);
  return finish(&list, origin, core.reach + core.radius, flags, contacts, room);
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
  to_body(start.position, start.rotation, centre, body);
  mat3_apply(turned, mesh->rotation, body);
  for (int k = 0; k < 3; k++) centre[k] = mesh->position[k] + turned[k];
}

/* The box of a triangle, and what is within `margin` of it. */
static void triangle_box(const gap_triangle *triangle, double margin,
                         double box[6]) {
  for (int k = 0; k < 3; k++) {
    double a = triangle->corners[0][k], b = triangle->corners[1][k],
           c = triangle->corners[2][k];
    box[k] = fmin(a, fmin(b, c)) - margin;
    box[k + 3] = fmax(a, fmax(b, c)) + margin;
  }
}

/* Put the triangles of a region into the context's tree. */
static int plant_region(gap_context *context, const region *in) {
  const gap_triangle *all = in->block->data;
  double(*boxes)[6] = memory_block_reserve(&context->found, context->source,
                                           (size_t)in->count, sizeof *boxes);
  if (boxes == NULL)
    return gap_context_fail(context, in->mesh->named, GAP_NO_MEMORY, NULL);
  for (int i = 0; i < in->count; i++) triangle_box(&all[i], 0, boxes[i]);
  if (gap_tree_build(&context->region, context->source,
                     (const double(*)[6])boxes, in->count) != 0)
    return gap_context_fail(context, in->mesh->named, GAP_NO_MEMORY, NULL);
  return GAP_OK;
}

/* The contacts of one triangle of another mesh on the region in the tree. */
static int meet_region(gap_context *context, const region *in,
                       const gap_triangle *triangle, double margin,
                       gap_contact_list *list) {
  gap_core core;
  double box[6];
  int32_t *near;
  triangle_box(triangle, fmax(margin, 0) + 1e-12 * in->radius, box);
  int n_near = near_numbers(context, in->mesh, &context->region, box, &near);
  if (n_near < 0) return n_near;
  if (n_near == 0) return GAP_OK;
  gap_triangle_place(&core, triangle);
  int before = list->count;
  if (gap_mesh_meet(&core, in->block->data, in->count, near, n_near, margin,
                    list) != 0)
    return gap_context_fail(context, in->mesh->named, GAP_NO_MEMORY, NULL);
  gap_contact *added = list->block->data;
  for (int k = before; k < list->count; k++)
    added[k].triangle[0] = triangle->number;
  return GAP_OK;
}

static int mesh_with_mesh(gap_context *context, const gap_geom *a,
                          const gap_geom *b, double margin, int flags,
                          gap_contact contacts[], int room) {
  double centre[2][3], radius[2];
  const gap_geom *meshes[2] = {a, b};
  for (int side = 0; side < 2; side++)
    ball_around(meshes[side], centre[side], &radius[side]);
  // either may be without end: the smaller ball is enough for both
  int small = radius[0] <= radius[1] ? 0 : 1;
  double origin[3];
  vec3_copy(origin, centre[small]);
  region in[2];
  for (int side = 0; side < 2; side++) {
    in[side] = (region){.mesh = meshes[side],
                        .origin = origin,
                        .radius = radius[small] + margin,
                        .block = &context->triangles[side]};
    int status = collect(context, &in[side]);
    if (status != GAP_OK) return status;
  }
  int status = plant_region(context, &in[0]);
  if (status != GAP_OK) return status;
  gap_contact_list list = {context->source, &context->contacts, 0, room == 1};
  const gap_triangle *all = in[1].block->data;
  for (int i = 0; i < in[1].count; i++) {
    int before = list.count;
    status = meet_region(context, &in[0], &all[i], margin, &list);
    if (status != GAP_OK) return status;
    margin = gap_mesh_margin(&list, before, margin);
  }
  return finish(&list, origin, radius[small], flags, contacts, room);
}

static int mesh_on_plane(gap_context *context, const gap_geom *mesh,
                         const gap_shape *plane, double margin, int flags,
                         gap_contact contacts[], int room) {
  double origin[3], radius;
  ball_around(mesh, origin, &radius);
  region in = {.mesh = mesh,
               .origin = origin,
               .radius = radius,
               .block = &context->triangles[0]};
  int status = collect(context, &in);
  if (status != GAP_OK) return status;

  gap_core ground, core;
  gap_contact_list list = {context->source, &context->contacts, 0, false};
  const gap_triangle *all = in.block->data;
  gap_core_place(&ground, plane, origin, NULL);
  for (int i = 0; i < in.count; i++) {
    gap_contact *added =
        memory_block_grow(list.block, list.source,
                          (size_t)list.count + GAP_PAIR_ROOM, sizeof *added);
    if (added == NULL)
      return gap_context_fail(context, mesh->named, GAP_NO_MEMORY, NULL);
    added += list.count;
    gap_triangle_place(&core, &all[i]);
    int count = gap_pair_meet(&core, &ground, margin, added);
    gap_contacts_turn(added, count); // it is turned again in the end
    for (int k = 0; k < count; k++) added[k].triangle[1] = all[i].number;
    list.count += count;
  }
  return finish(&list, origin, radius, flags, contacts, room);
}

int gap_ode_mesh_pair(gap_context *context, const gap_geom *a,
                      const gap_geom *b, double margin, int flags,
                      gap_contact contacts[], int room) {
  if (!isfinite(margin))
    return gap_context_fail(context, a->named, GAP_BAD_MESH,
                            "needs a margin that is finite");
  if (gap_geom_is_mesh(b))
    return mesh_with_mesh(context, a, b, margin, flags, contacts, room);
  gap_shape shape;
  int status = gap_geom_shape(context, b, 1, &shape);
  if (status != GAP_OK) return status;
  if (shape.kind == GAP_PLANE)
    return mesh_on_plane(context, a, &shape, margin, flags, contacts, room);
  return mesh_with_shape(context, a, &shape, margin, flags, contacts, room);
}
