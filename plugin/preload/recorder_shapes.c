#include "preload/recorder_shapes.h"

#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "preload/recorder_traffic.h"

/* A larger mesh is left out of the recording. */
enum { MOST_TRIANGLES = 200000, MOST_SAMPLES = 400 };

/* ---- worlds ---- */

typedef struct known_world {
  dWorldID world;       /* NULL: gone */
  unsigned char *geoms; /* of body by its number: how many are recorded, + 1 */
  size_t n_geoms;
} known_world;

static known_world *worlds;
static uint32_t n_worlds;

uint32_t recorder_world_number(dWorldID world) {
  for (uint32_t i = n_worlds; i > 0; i--)
    if (worlds[i - 1].world == world) return i;
  known_world *more = realloc(worlds, (n_worlds + 1) * sizeof *worlds);
  if (more == NULL) return 0;
  worlds = more;
  worlds[n_worlds] = (known_world){world, NULL, 0};
  return ++n_worlds;
}

void recorder_world_gone(dWorldID world) {
  for (uint32_t i = 0; i < n_worlds; i++)
    if (worlds[i].world == world) {
      worlds[i].world = NULL;
      free(worlds[i].geoms);
      worlds[i].geoms = NULL;
      worlds[i].n_geoms = 0;
    }
}

/* ---- one shape ---- */

typedef struct mesh {
  float (*vertices)[3];
  uint32_t (*triangles)[3];
  uint32_t n_vertices, n_triangles;
} mesh;

static bool make_mesh(mesh *mesh, size_t n_vertices, size_t n_triangles) {
  mesh->vertices = calloc(n_vertices, sizeof *mesh->vertices);
  mesh->triangles = calloc(n_triangles, sizeof *mesh->triangles);
  mesh->n_vertices = (uint32_t)n_vertices;
  mesh->n_triangles = (uint32_t)n_triangles;
  return mesh->vertices != NULL && mesh->triangles != NULL;
}

/* The host gives triangles in the world's frame; they belong on the geom. */
static void read_triangles(mesh *mesh, dGeomID geom) {
  const dReal *at = dGeomGetPosition(geom), *R = dGeomGetRotation(geom);
  int count = dGeomTriMeshGetTriangleCount(geom);
  if (count <= 0 || count > MOST_TRIANGLES ||
      !make_mesh(mesh, 3 * (size_t)count, (size_t)count))
    return;
  for (int i = 0; i < count; i++) {
    dVector3 corners[3];
    dGeomTriMeshGetTriangle(geom, i, &corners[0], &corners[1], &corners[2]);
    for (int c = 0; c < 3; c++) {
      for (int j = 0; j < 3; j++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
          sum += R[4 * k + j] * (corners[c][k] - at[k]);
        mesh->vertices[3 * i + c][j] = (float)sum;
      }
      mesh->triangles[i][c] = (uint32_t)(3 * i + c);
    }
  }
}

/* A height field lies in x and z with y up, its middle at the origin. */
static void read_heights(mesh *mesh, dGeomID geom) {
  int nx, nz, wraps;
  dReal width, depth;
  dHeightfieldDataID data = dGeomHeightfieldGetHeightfieldData(geom);
  if (data == NULL) return;
  dGeomHeightfieldDataGetSize(data, &nx, &nz, &width, &depth, &wraps);
  if (nx < 2 || nz < 2 || nx > MOST_SAMPLES || nz > MOST_SAMPLES ||
      !make_mesh(mesh, (size_t)nx * (size_t)nz,
                 2 * (size_t)(nx - 1) * (size_t)(nz - 1)))
    return;
  uint32_t n = 0;
  for (int z = 0; z < nz; z++)
    for (int x = 0; x < nx; x++) {
      float *vertex = mesh->vertices[z * nx + x];
      vertex[0] = (float)(width * (x / (nx - 1.0) - 0.5));
      vertex[1] = (float)dGeomHeightfieldDataGetHeight(data, x, z);
      vertex[2] = (float)(depth * (z / (nz - 1.0) - 0.5));
      if (x == nx - 1 || z == nz - 1) continue;
      uint32_t a = (uint32_t)(z * nx + x), b = a + (uint32_t)nx;
      memcpy(mesh->triangles[n++], (uint32_t[]){a, b, a + 1}, 12);
      memcpy(mesh->triangles[n++], (uint32_t[]){a + 1, b, b + 1}, 12);
    }
}

/* Faces as fans of triangles. */
static void read_convex(mesh *mesh, dGeomID geom) {
  const dReal *planes, *points;
  const unsigned *faces;
  unsigned n_planes, n_points;
  dGeomGetConvex(geom, &planes, &n_planes, &points, &n_points, &faces);
  size_t n_triangles = 0;
  const unsigned *face = faces;
  for (unsigned i = 0; i < n_planes; i++, face += 1 + *face)
    n_triangles += *face >= 3 ? *face - 2 : 0;
  if (n_points == 0 || n_triangles == 0 || n_triangles > MOST_TRIANGLES ||
      !make_mesh(mesh, n_points, n_triangles))
    return;
  for (unsigned i = 0; i < n_points; i++)
    for (int k = 0; k < 3; k++)
      mesh->vertices[i][k] = (float)points[3 * i + (unsigned)k];
  size_t n = 0;
  face = faces;
  for (unsigned i = 0; i < n_planes; i++, face += 1 + *face)
    for (unsigned k = 2; k < *face; k++)
      memcpy(mesh->triangles[n++], (uint32_t[]){face[1], face[k], face[k + 1]},
             12);
}

/* @return a recording_shape_kind, 0 for what is not drawn */
static uint32_t read_shape(dGeomID geom, float sizes[4], mesh *mesh) {
  dReal values[4] = {0};
  uint32_t kind = 0;
  switch (dGeomGetClass(geom)) {
    case dSphereClass:
      values[0] = dGeomSphereGetRadius(geom);
      kind = RECORDING_SPHERE;
      break;
    case dBoxClass:
      dGeomBoxGetLengths(geom, values);
      kind = RECORDING_BOX;
      break;
    case dCapsuleClass:
      dGeomCapsuleGetParams(geom, &values[0], &values[1]);
      kind = RECORDING_CAPSULE;
      break;
    case dCylinderClass:
      dGeomCylinderGetParams(geom, &values[0], &values[1]);
      kind = RECORDING_CYLINDER;
      break;
    case dPlaneClass:
      dGeomPlaneGetParams(geom, values);
      kind = RECORDING_PLANE;
      break;
    case dTriMeshClass: read_triangles(mesh, geom); break;
    case dHeightfieldClass: read_heights(mesh, geom); break;
    case dConvexClass: read_convex(mesh, geom); break;
    default: break;
  }
  for (int i = 0; i < 4; i++) sizes[i] = (float)values[i];
  return mesh->triangles != NULL ? (uint32_t)RECORDING_MESH : kind;
}

/* Sets a pose relative to the body: the geom's own, or the world's. */
static void read_pose(dGeomID geom, bool on_body, recording_shape *shape) {
  const dReal *position = NULL, *rotation = NULL;
  dQuaternion q = {1, 0, 0, 0};
  if (!on_body && dGeomIsPlaceable(geom)) {
    position = dGeomGetPosition(geom);
    rotation = dGeomGetRotation(geom);
  } else if (on_body && dGeomIsOffset(geom)) {
    position = dGeomGetOffsetPosition(geom);
    rotation = dGeomGetOffsetRotation(geom);
  }
  if (rotation != NULL) dQfromR(q, rotation);
  for (int i = 0; i < 3; i++)
    shape->position[i] = position != NULL ? (float)position[i] : 0;
  for (int i = 0; i < 4; i++) shape->quaternion[i] = (float)q[i];
}

static void write_shape(recording_shape *shape, const mesh *mesh) {
  size_t vertices = mesh->n_vertices * sizeof *mesh->vertices;
  size_t triangles = mesh->n_triangles * sizeof *mesh->triangles;
  recording_shape *out =
      traffic_begin(RECORDING_SHAPE, sizeof *shape + vertices + triangles);
  if (out == NULL) return;
  shape->record = out->record;
  shape->n_vertices = mesh->n_vertices;
  shape->n_triangles = mesh->n_triangles;
  *out = *shape;
  if (vertices > 0) {
    memcpy(out + 1, mesh->vertices, vertices);
    memcpy((char *)(out + 1) + vertices, mesh->triangles, triangles);
  }
  traffic_end();
}

/* The geom that a geom transform holds; of any other geom, itself. */
static dGeomID inner_geom(dGeomID geom) {
  if (dGeomGetClass(geom) != dGeomTransformClass) return geom;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return dGeomTransformGetGeom(geom); // old programs have them still
#pragma GCC diagnostic pop
}

/* @return whether there is anything to draw */
static bool record_shape(recording_shape *shape, dGeomID geom) {
  mesh mesh = {0};
  dGeomID inner = inner_geom(geom);
  if (inner == NULL) return false;
  shape->kind = read_shape(inner, shape->sizes, &mesh);
  // a transform's geom has its place on the body as its own pose
  read_pose(inner, inner == geom && shape->body != 0, shape);
  if (shape->kind != 0) write_shape(shape, &mesh);
  free(mesh.vertices);
  free(mesh.triangles);
  return shape->kind != 0;
}

/* ---- bodies ---- */

static unsigned count_geoms(dBodyID body) {
  unsigned count = 0;
  for (dGeomID geom = dBodyGetFirstGeom(body); geom != NULL && count < 250;
       geom = dBodyGetNextGeom(geom))
    count++;
  return count;
}

static _Atomic bool bodies_changed =
    true; /* may have other geoms than they had */

void recorder_shapes_body_changed(void) { bodies_changed = true; }

bool recorder_shapes_any_changed(void) { return bodies_changed; }

void recorder_shapes_known(void) { bodies_changed = false; }

void recorder_shapes_of_body(uint32_t world, dBodyID body) {
  if (world == 0) return;
  known_world *known = &worlds[world - 1];
  size_t number = dBodyGetSerial(body);
  if (number >= known->n_geoms) {
    size_t size = number + 256;
    unsigned char *more = realloc(known->geoms, size);
    if (more == NULL) return;
    memset(more + known->n_geoms, 0, size - known->n_geoms);
    known->geoms = more;
    known->n_geoms = size;
  }
  unsigned now = count_geoms(body), before = known->geoms[number];
  if (before == now + 1) return;
  known->geoms[number] = (unsigned char)(now + 1);

  dMass mass;
  dBodyGetMass(body, &mass);
  recording_body *out = traffic_begin(RECORDING_BODY, sizeof *out);
  if (out == NULL) return;
  out->world = world;
  out->body = (uint32_t)number;
  out->mass = dBodyIsKinematic(body) ? 0 : mass.mass;
  traffic_end();
  // with another number of geoms they are all written again: the body's record
  // says that those before it are gone
  uint32_t n = 0;
  for (dGeomID geom = dBodyGetFirstGeom(body); geom != NULL && n < 250;
       geom = dBodyGetNextGeom(geom)) {
    recording_shape shape = {
        .world = world, .body = (uint32_t)number, .number = ++n};
    record_shape(&shape, geom);
  }
}

/* ---- geoms without a body ---- */

typedef struct lone_geom {
  dGeomID geom; /* NULL: it is gone */
  struct lone_geom *next;
  recording_shape shape;
  bool written, moved, drawn;
} lone_geom;

static lone_geom *lone, **lone_end = &lone; /* in the order they were seen */
static void *lone_tree;                     /* those that are there */
static uint32_t n_numbers;
static bool lone_changed; /* one is new, or may have moved */

static int by_geom(const void *a, const void *b) {
  const lone_geom *one = a, *other = b;
  return (one->geom > other->geom) - (one->geom < other->geom);
}

void recorder_shapes_see(dGeomID geom) {
  if (dGeomGetBody(geom) != NULL || dGeomIsSpace(geom) ||
      dGeomGetClass(geom) == dRayClass)
    return;
  const lone_geom wanted = {.geom = geom};
  lone_geom **found = tfind(&wanted, &lone_tree, by_geom);
  lone_changed = true;
  if (found != NULL) {
    (*found)->moved = true; /* perhaps: looked at when it is written */
    return;
  }
  lone_geom *added = malloc(sizeof *added);
  if (added == NULL) return;
  *added = wanted;
  if (tsearch(added, &lone_tree, by_geom) == NULL) {
    free(added);
    return;
  }
  *lone_end = added;
  lone_end = &added->next;
}

void recorder_shapes_forget(dGeomID geom) {
  bodies_changed = true; // it may be a body's
  const lone_geom wanted = {.geom = geom};
  lone_geom **found = tfind(&wanted, &lone_tree, by_geom), *gone;
  if (found == NULL) return;
  gone = *found;
  tdelete(gone, &lone_tree, by_geom);
  gone->geom = NULL;
}

void recorder_shapes_see_space(dSpaceID space) {
  int count = dSpaceGetNumGeoms(space);
  for (int i = 0; i < count; i++) {
    dGeomID geom = dSpaceGetGeom(space, i);
    if (dGeomIsSpace(geom))
      recorder_shapes_see_space((dSpaceID)geom);
    else
      recorder_shapes_see(geom);
  }
}

static bool same_pose(const recording_shape *a, const recording_shape *b) {
  return memcmp(a->position, b->position, sizeof a->position) == 0 &&
         memcmp(a->quaternion, b->quaternion, sizeof a->quaternion) == 0;
}

void recorder_shapes_of_none(int64_t step) {
  if (!lone_changed) return;
  lone_changed = false;
  for (lone_geom *known = lone; known != NULL; known = known->next) {
    if (known->geom == NULL) continue;
    if (!known->written) {
      known->shape = (recording_shape){.number = ++n_numbers};
      known->drawn = record_shape(&known->shape, known->geom);
      known->written = true;
    } else if (known->moved && known->drawn) {
      // the same shape elsewhere: its sizes need not be told again
      recording_shape now = known->shape;
      read_pose(known->geom, false, &now);
      if (same_pose(&now, &known->shape)) continue;
      mesh none = {0};
      now.last = (uint32_t)step;
      known->shape = now;
      write_shape(&now, &none);
    }
    known->moved = false;
  }
}
