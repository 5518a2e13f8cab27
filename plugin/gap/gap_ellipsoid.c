#include <string.h>
#include <threads.h>

#include "common/vec3.h"
#include "gap/gap_ode.h"

static int ellipsoid_class = -1;

int gap_ellipsoid_class(void) { return ellipsoid_class; }

void gap_ellipsoid_host_closed(void) { ellipsoid_class = -1; }

void gap_ellipsoid_get(dGeomID geom, double semi_axes[3]) {
  memcpy(semi_axes, dGeomGetClassData(geom), 3 * sizeof *semi_axes);
}

void gap_ellipsoid_set(dGeomID geom, const double semi_axes[3]) {
  memcpy(dGeomGetClassData(geom), semi_axes, 3 * sizeof *semi_axes);
  dGeomMoved(geom);
}

static void bounding_box(dGeomID geom, dReal aabb[6]) {
  double semi_axes[3];
  gap_ellipsoid_get(geom, semi_axes);
  const dReal *p = dGeomGetPosition(geom), *R = dGeomGetRotation(geom);
  for (int i = 0; i < 3; i++) {
    double square = 0;
    for (int k = 0; k < 3; k++) {
      double part = R[4 * i + k] * semi_axes[k];
      square += part * part;
    }
    aabb[2 * i] = p[i] - sqrt(square);
    aabb[2 * i + 1] = p[i] + sqrt(square);
  }
}

static dContactGeom *contact_at(dContactGeom *contacts, int skip, int i) {
  return (dContactGeom *)((char *)contacts + (size_t)i * (size_t)skip);
}

/* dCollide() brings no context along: each thread that calls it has one. */
static tss_t collider_context;
static once_flag collider_once = ONCE_FLAG_INIT;
static bool collider_ready;

static void destroy_context(void *context) { gap_context_destroy(context); }

static void prepare_contexts(void) {
  collider_ready = tss_create(&collider_context, destroy_context) ==
                   thrd_success;
}

static gap_context *thread_context(void) {
  call_once(&collider_once, prepare_contexts);
  if (!collider_ready) return NULL;
  gap_context *context = tss_get(collider_context);
  if (context == NULL) {
    context = gap_context_create(&memory_from_malloc);
    if (tss_set(collider_context, context) != thrd_success) {
      gap_context_destroy(context);
      return NULL;
    }
  }
  return context;
}

/* The host's collider: overlaps only, as dCollide() promises. */
static int collide(dGeomID a, dGeomID b, int flags, dContactGeom *contacts,
                   int skip) {
  int room = flags & 0xffff;
  gap_context *context = thread_context();
  if (context == NULL || room == 0) return 0;

  gap_contact found[GAP_PAIR_ROOM];
  if (room > GAP_PAIR_ROOM) room = GAP_PAIR_ROOM;
  int count = gap_query(context, a, b, 0, 0, found, room);
  if (count < 0)
    dMessage(0, "ode-mlcp: no contacts: %s", gap_context_error(context));
  for (int i = 0; i < count; i++) {
    dContactGeom *contact = contact_at(contacts, skip, i);
    for (int k = 0; k < 3; k++) {
      contact->pos[k] = found[i].point[k];
      contact->normal[k] = found[i].normal[k];
    }
    contact->depth = -found[i].gap;
    contact->g1 = a;
    contact->g2 = b;
    contact->side1 = found[i].part[0];
    contact->side2 = found[i].part[1];
  }
  return count < 0 ? 0 : count;
}

static dColliderFn *collider_with(int other_class) {
  bool without_gap =
      other_class == dRayClass ||
      (other_class >= dFirstSpaceClass && other_class <= dLastSpaceClass);
  return without_gap ? NULL : collide;
}

dGeomID gap_ellipsoid_create(dSpaceID space, const double semi_axes[3]) {
  for (int k = 0; k < 3; k++)
    if (!isfinite(semi_axes[k]) || !(semi_axes[k] > 0)) return NULL;
  if (ellipsoid_class < 0) {
    dGeomClass description = {.bytes = 3 * sizeof(double),
                              .collider = collider_with,
                              .aabb = bounding_box};
    ellipsoid_class = dCreateGeomClass(&description);
  }
  dGeomID geom = dCreateGeom(ellipsoid_class);
  if (geom == NULL) return NULL;
  gap_ellipsoid_set(geom, semi_axes);
  if (space != NULL) dSpaceAdd(space, geom);
  return geom;
}
