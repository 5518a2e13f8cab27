#include "gap/gap_ellipsoid.h"

#include <math.h>
#include <string.h>

static int ellipsoid_class = -1;

int gap_ellipsoid_class(void) { return ellipsoid_class; }

void gap_ellipsoid_host_closed(void) { ellipsoid_class = -1; }

void gap_ellipsoid_get(dGeomID geom, double semi_axes[3]) {
  memcpy(semi_axes, dGeomGetClassData(geom), 3 * sizeof *semi_axes);
}

static void bounding_box(dGeomID geom, dReal aabb[6]) {
  double semi_axes[3];
  gap_ellipsoid_get(geom, semi_axes);
  const dReal *p = dGeomGetPosition(geom), *R = dGeomGetRotation(geom);
  for (int i = 0; i < 3; i++) {
    double square = 0;
    for (int k = 0; k < 3; k++) {
      double x = R[4 * i + k] * semi_axes[k];
      square += x * x;
    }
    aabb[2 * i] = p[i] - sqrt(square);
    aabb[2 * i + 1] = p[i] + sqrt(square);
  }
}

dGeomID gap_ellipsoid_make(dSpaceID space, const double semi_axes[3],
                           dGetColliderFnFn *collider) {
  for (int k = 0; k < 3; k++)
    if (!isfinite(semi_axes[k]) || !(semi_axes[k] > 0)) return NULL;
  if (ellipsoid_class < 0) {
    dGeomClass description = {.bytes = 3 * sizeof(double),
                              .collider = collider,
                              .aabb = bounding_box};
    ellipsoid_class = dCreateGeomClass(&description);
  }
  dGeomID geom = dCreateGeom(ellipsoid_class);
  if (geom == NULL) return NULL;
  memcpy(dGeomGetClassData(geom), semi_axes, 3 * sizeof *semi_axes);
  dGeomMoved(geom);
  if (space != NULL) dSpaceAdd(space, geom);
  return geom;
}
