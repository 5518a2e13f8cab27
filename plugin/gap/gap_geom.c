#include "gap/gap_geom.h"

#include <string.h>

#include "common/vec3.h"
#include "gap/gap_ellipsoid.h"
#include "gap/real.h"

/* ---- places ---- */

/* In single precision the host's rotations are off by some of its roundings, by which
 * shapes would be skew: each step doubles how many digits are right. What is no
 * rotation stays none. */
static void mend_rotation(double R[9]) {
  const double OFF = 64 * REAL_EPSILON;
  for (int step = 0; step < 2; step++) {
    double product[9], mended[9];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        product[3 * i + j] = vec3_dot(R + 3 * i, R + 3 * j);
        if (!(fabs(product[3 * i + j] - (i == j)) < OFF)) return;
      }
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        mended[3 * i + j] = 1.5 * R[3 * i + j];
        for (int k = 0; k < 3; k++)
          mended[3 * i + j] -= 0.5 * product[3 * i + k] * R[3 * k + j];
      }
    memcpy(R, mended, sizeof mended);
  }
}

static void read_place(dGeomID geom, double position[3], double rotation[9]) {
  for (int i = 0; i < 9; i++) rotation[i] = i % 4 == 0;
  for (int k = 0; k < 3; k++) position[k] = 0;
  if (!dGeomIsPlaceable(geom)) return;

  const dReal *p = dGeomGetPosition(geom), *R = dGeomGetRotation(geom);
  for (int i = 0; i < 3; i++) {
    position[i] = p[i];
    for (int j = 0; j < 3; j++) rotation[3 * i + j] = R[4 * i + j];
  }
  if (sizeof(dReal) != sizeof(double)) mend_rotation(rotation);
}

/* The host has marked geom transforms as old; programs still have them. */
static dGeomID transformed_geom(dGeomID transform) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return dGeomTransformGetGeom(transform);
#pragma GCC diagnostic pop
}

void gap_geom_place(dGeomID geom, gap_geom *placed) {
  placed->named = placed->geom = geom;
  placed->moved = false;
  read_place(geom, placed->position, placed->rotation);
  while (placed->geom != NULL &&
         dGeomGetClass(placed->geom) == dGeomTransformClass) {
    dGeomID inner = transformed_geom(placed->geom);
    placed->geom = inner;
    if (inner == NULL) return;
    double position[3], rotation[9], turned[3], outer[9];
    read_place(inner, position, rotation);
    mat3_apply(turned, placed->rotation, position);
    vec3_add_scaled(placed->position, 1, turned);
    memcpy(outer, placed->rotation, sizeof outer);
    mat3_multiply(placed->rotation, outer, rotation);
  }
  placed->type = dGeomGetClass(placed->geom);
}

/* ---- shapes ---- */

/* True if a hull was made of these; polygons are read as far as they are its faces. */
static bool is_made_of(const gap_hull *hull, const dReal points[],
                       unsigned n_points, const unsigned polygons[],
                       unsigned n_polygons) {
  const gap_topology *of = &hull->topology;
  if (hull->points == NULL || points == NULL || polygons == NULL ||
      n_points != (unsigned)of->n_corners ||
      n_polygons != (unsigned)of->n_faces)
    return false;
  for (unsigned i = 0; i < 3 * n_points; i++)
    if (hull->points[i / 3][i % 3] != points[i]) return false;
  for (unsigned f = 0; f < n_polygons; f++) {
    const int start = of->face_start[f], end = of->face_start[f + 1];
    if (*polygons++ != (unsigned)(end - start)) return false;
    for (int i = start; i < end; i++)
      if (*polygons++ != (unsigned)of->face_corners[i]) return false;
  }
  return true;
}

static int find_hull(gap_context *context, const gap_geom *placed, int side,
                     const gap_hull **found) {
  const dReal *planes, *points;
  const unsigned *polygons;
  unsigned n_planes, n_points;
  const char *fault = NULL;
  dGeomGetConvex(placed->geom, &planes, &n_planes, &points, &n_points,
                 &polygons);
  uint64_t key = (uintptr_t)points >> 4;
  gap_hull *hull = &context->hulls[side][key * 0x9E3779B97F4A7C15u >> 58];
  *found = hull;
  if (is_made_of(hull, points, n_points, polygons, n_planes)) return GAP_OK;
  hull->points = NULL;
  if (POOL_RESERVE(&context->pool, context->points, 3 * (size_t)n_points)) {
    real_read(context->points, points, 3 * (int)n_points);
    if (gap_hull_make(hull, &context->pool, context->points, n_points, polygons,
                      n_planes, &fault))
      return GAP_OK;
  }
  return gap_context_fail(context, placed->named,
                          fault == NULL ? GAP_NO_MEMORY : GAP_BAD_HULL, fault);
}

static void read_plane(const gap_geom *placed, gap_shape *shape) {
  dVector4 plane;
  dGeomPlaneGetParams(placed->geom, plane);
  double normal[3] = {plane[0], plane[1], plane[2]};
  // within a geom transform a plane has a place
  mat3_apply(shape->normal, placed->rotation, normal);
  shape->offset = plane[3] + vec3_dot(shape->normal, placed->position);
}

int gap_geom_shape(gap_context *context, const gap_geom *placed, int side,
                   gap_shape *shape) {
  dVector3 lengths;
  dReal radius, length;
  memset(shape, 0, sizeof *shape);
  vec3_copy(shape->position, placed->position);
  memcpy(shape->rotation, placed->rotation, sizeof shape->rotation);

  switch (placed->type) {
    case dSphereClass:
      shape->kind = GAP_SPHERE;
      shape->size[0] = dGeomSphereGetRadius(placed->geom);
      break;
    case dBoxClass:
      shape->kind = GAP_BOX;
      dGeomBoxGetLengths(placed->geom, lengths);
      for (int k = 0; k < 3; k++) shape->size[k] = lengths[k];
      break;
    case dCapsuleClass:
    case dCylinderClass:
      shape->kind = placed->type == dCapsuleClass ? GAP_CAPSULE : GAP_CYLINDER;
      if (placed->type == dCapsuleClass)
        dGeomCapsuleGetParams(placed->geom, &radius, &length);
      else
        dGeomCylinderGetParams(placed->geom, &radius, &length);
      shape->size[0] = radius;
      shape->size[1] = length;
      break;
    case dPlaneClass:
      shape->kind = GAP_PLANE;
      read_plane(placed, shape);
      break;
    case dConvexClass: {
      shape->kind = GAP_CONVEX;
      int status = find_hull(context, placed, side, &shape->hull);
      if (status != GAP_OK) return status;
      break;
    }
    default:
      if (placed->type != gap_ellipsoid_class())
        return gap_context_fail(context, placed->named, GAP_BAD_CLASS,
                                "has no signed gap");
      shape->kind = GAP_ELLIPSOID;
      gap_ellipsoid_get(placed->geom, shape->size);
  }
  gap_status status;
  const char *fault = gap_shape_fault(shape, &status);
  if (fault == NULL) return GAP_OK;
  return gap_context_fail(context, placed->named, status, fault);
}

bool gap_geom_is_mesh(const gap_geom *placed) {
  return placed->type == dTriMeshClass || placed->type == dHeightfieldClass;
}
