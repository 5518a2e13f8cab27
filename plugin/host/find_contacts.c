/* Contacts of two geoms for programs that make their own contact joints. */
#include <pthread.h>
#include <stdbool.h>

#include "common/memory.h"
#include "gap/gap_ode.h"
#include "host/patched_host.h"
#include "ode_mlcp.h"

/* State that queries keep between them, one a thread. */
static pthread_key_t context_key;
static pthread_once_t context_once = PTHREAD_ONCE_INIT;
static bool context_usable;

static void forget_context(void *context) { gap_context_destroy(context); }

static void make_key(void) {
  context_usable = pthread_key_create(&context_key, forget_context) == 0;
}

static gap_context *own_context(void) {
  pthread_once(&context_once, make_key);
  if (!context_usable) return NULL;
  gap_context *context = pthread_getspecific(context_key);
  if (context != NULL) return context;
  context = gap_context_create(&memory_from_malloc);
  if (context != NULL && pthread_setspecific(context_key, context) != 0) {
    gap_context_destroy(context);
    context = NULL;
  }
  return context;
}

static dContactGeom to_contact(dGeomID geom1, dGeomID geom2,
                               const gap_contact *found) {
  dContactGeom contact = {.depth = -found->gap,
                          .g1 = geom1,
                          .g2 = geom2,
                          .side1 = found->triangle[0],
                          .side2 = found->triangle[1]};
  for (int i = 0; i < 3; i++) {
    contact.pos[i] = found->point[i];
    contact.normal[i] = found->normal[i];
  }
  return contact;
}

int ode_mlcp_find_contacts(dGeomID geom1, dGeomID geom2, double margin,
                           dContactGeom contacts[], int room, size_t stride) {
  enum { MOST = 1024 };
  if (geom1 == NULL || geom2 == NULL || contacts == NULL || room <= 0 ||
      stride < sizeof *contacts || !(margin >= 0) ||
      patched_host_fault() != NULL)
    return -1;
  if (geom1 == geom2 || (dGeomGetBody(geom1) != NULL &&
                         dGeomGetBody(geom1) == dGeomGetBody(geom2)))
    return 0;
  gap_context *context = own_context();
  if (context == NULL) return -1;

  gap_contact found[MOST];
  int count = gap_query(context, geom1, geom2, margin, 0, found,
                        room < MOST ? room : MOST);
  if (count < 0) return -1;
  for (int i = 0; i < count; i++)
    *(dContactGeom *)((char *)contacts + (size_t)i * stride) =
        to_contact(geom1, geom2, &found[i]);
  return count;
}

dGeomID ode_mlcp_create_ellipsoid(dSpaceID space, const double semi_axes[3]) {
  return gap_ellipsoid_create(space, semi_axes);
}
