#include "gap/gap_ode.h"

#include <math.h>
#include <threads.h>

#include "gap/gap_ode_mesh.h"
#include "gap/gap_pair.h"

int gap_query(gap_context *context, dGeomID a, dGeomID b, double margin,
              int flags, gap_contact contacts[], int room) {
  gap_geom placed[2];
  dGeomID geoms[2] = {a, b};
  for (int side = 0; side < 2; side++) {
    // spaces and rays have no place to look for
    int type = dGeomGetClass(geoms[side]);
    if (dGeomIsSpace(geoms[side]) || type == dRayClass)
      return gap_context_fail(context, geoms[side], GAP_BAD_CLASS,
                              "has no signed gap");
    gap_geom_place(geoms[side], &placed[side]);
    if (placed[side].geom == NULL) return 0;
  }
  return gap_query_placed(context, placed, margin, flags, contacts, room);
}

int gap_query_placed(gap_context *context, const gap_geom placed[2],
                     double margin, int flags, gap_contact contacts[],
                     int room) {
  dGeomID a = placed[0].named;
  if (isnan(margin))
    return gap_context_fail(context, a, GAP_BAD_SIZE,
                            "was given a margin that is not a number");
  if (room <= 0) return 0;

  if (gap_geom_is_mesh(&placed[0]))
    return gap_ode_mesh_pair(context, &placed[0], &placed[1], margin, flags,
                             contacts, room);
  if (gap_geom_is_mesh(&placed[1])) {
    int count = gap_ode_mesh_pair(context, &placed[1], &placed[0], margin,
                                  flags, contacts, room);
    if (count > 0) gap_contacts_turn(contacts, count);
    return count;
  }
  gap_shape shapes[2];
  for (int side = 0; side < 2; side++) {
    int status = gap_geom_shape(context, &placed[side], side, &shapes[side]);
    if (status != GAP_OK) return status;
  }
  int count = gap_pair(&context->scratch, &shapes[0], &shapes[1], margin, flags,
                       contacts, room);
  if (count < 0) return gap_context_fail(context, a, GAP_NO_MEMORY, NULL);
  return count;
}

/* ---- ellipsoids ---- */

static dContactGeom *contact_at(dContactGeom *contacts, int skip, int i) {
  return (dContactGeom *)((char *)contacts + (size_t)i * (size_t)skip);
}

/* dCollide() brings no context along: each thread that calls it has one. */
static tss_t collider_context;
static once_flag collider_once = ONCE_FLAG_INIT;
static bool collider_ready;

static void destroy_context(void *context) { gap_context_destroy(context); }

static void prepare_contexts(void) {
  collider_ready =
      tss_create(&collider_context, destroy_context) == thrd_success;
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
  if (context == NULL) return 0;

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
    contact->side1 = found[i].triangle[0];
    contact->side2 = found[i].triangle[1];
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
  return gap_ellipsoid_make(space, semi_axes, collider_with);
}
