#include "gap/gap_ode.h"

#include <math.h>
#include <pthread.h>

#include "gap/gap_ode_mesh.h"
#include "gap/gap_pair.h"

int gap_query(gap_context *context, dGeomID a, dGeomID b, double margin,
              int flags, gap_contact contacts[], int room) {
  gap_geom placed[2];
  dGeomID geoms[2] = {a, b};
  for (int side = 0; side < 2; side++) {
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

  context->covered = margin;
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
  context->compared++;
  int count = gap_pair(&context->scratch, &shapes[0], &shapes[1], margin, flags,
                       contacts, room);
  if (count < 0) return gap_context_fail(context, a, GAP_NO_MEMORY, NULL);
  return count;
}

/* ---- into the host's arrays ---- */

/* dCollide() brings no context along: each thread that calls it has one. */
static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;
static bool thread_ready;

static void destroy_context(void *context) { gap_context_destroy(context); }

static void make_key(void) {
  thread_ready = pthread_key_create(&thread_key, destroy_context) == 0;
}

static gap_context *thread_context(void) {
  pthread_once(&thread_once, make_key);
  if (!thread_ready) return NULL;
  gap_context *context = pthread_getspecific(thread_key);
  if (context != NULL) return context;
  context = gap_context_create(&memory_from_malloc);
  if (context != NULL && pthread_setspecific(thread_key, context) != 0) {
    gap_context_destroy(context);
    return NULL;
  }
  return context;
}

int gap_collide(dGeomID a, dGeomID b, double margin, dContactGeom contacts[],
                int room, size_t stride, const char **why) {
  enum { MOST = 1024 };
  gap_context *context = thread_context();
  if (room > MOST) room = MOST;
  *why = "no memory";
  if (context == NULL ||
      !POOL_RESERVE(&context->pool, context->found_here, room))
    return GAP_NO_MEMORY;
  gap_contact *found = context->found_here;
  *why = gap_context_error(context);
  int count = gap_query(context, a, b, margin, 0, found, room);
  for (int i = 0; i < count; i++) {
    dContactGeom *contact =
        (dContactGeom *)((char *)contacts + (size_t)i * stride);
    *contact = (dContactGeom){.depth = -found[i].gap,
                              .g1 = a,
                              .g2 = b,
                              .side1 = found[i].triangle[0],
                              .side2 = found[i].triangle[1]};
    for (int k = 0; k < 3; k++) {
      contact->pos[k] = found[i].point[k];
      contact->normal[k] = found[i].normal[k];
    }
  }
  return count;
}

/* ---- ellipsoids ---- */

/* The host's collider: overlaps only, as dCollide() promises. */
static int collide(dGeomID a, dGeomID b, int flags, dContactGeom *contacts,
                   int skip) {
  const char *why;
  int count =
      gap_collide(a, b, 0, contacts, flags & 0xffff, (size_t)skip, &why);
  if (count < 0) dMessage(0, "ode-mlcp: no contacts: %s", why);
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
