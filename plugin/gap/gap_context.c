#include "gap/gap_context.h"

#include <stdio.h>

#include "gap/gap_ellipsoid.h"

gap_context *gap_context_create(const memory_source *source) {
  gap_context *context = memory_allocate_zero(source, sizeof *context);
  if (context == NULL) return NULL;
  memory_pool_open(&context->pool, source);
  context->scratch.pool = &context->pool;
  return context;
}

void gap_context_destroy(gap_context *context) {
  if (context == NULL) return;
  const memory_source *source = context->pool.from;
  memory_pool_release(&context->pool);
  source->release(source->context, context, sizeof *context);
}

const char *gap_context_error(const gap_context *context) {
  return context->error;
}

static const char *class_name(int type) {
  switch (type) {
    case dSphereClass: return "sphere";
    case dBoxClass: return "box";
    case dCapsuleClass: return "capsule";
    case dCylinderClass: return "cylinder";
    case dPlaneClass: return "plane";
    case dRayClass: return "ray";
    case dConvexClass: return "convex";
    case dGeomTransformClass: return "geom transform";
    case dTriMeshClass: return "trimesh";
    case dHeightfieldClass: return "heightfield";
  }
  if (type >= dFirstSpaceClass && type <= dLastSpaceClass) return "space";
  return type == gap_ellipsoid_class() ? "ellipsoid" : "geom of user class";
}

int gap_context_fail(gap_context *context, dGeomID geom, gap_status status,
                     const char *fault) {
  if (status == GAP_NO_MEMORY) fault = "could not be handled: no memory";
  snprintf(context->error, sizeof context->error, "%s %p %s",
           class_name(dGeomGetClass(geom)), (void *)geom, fault);
  return status;
}
