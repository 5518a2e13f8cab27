/* Contacts of two geoms for programs that make their own contact joints. */
#define _GNU_SOURCE // fegetexcept
#include "common/traps.h"
#include "gap/gap_ode.h"
#include "host/patched_host.h"
#include "ode_mlcp.h"

int ode_mlcp_find_contacts(dGeomID geom1, dGeomID geom2, double margin,
                           dContactGeom contacts[], int room, size_t stride) {
  const char *why;
  if (geom1 == NULL || geom2 == NULL || contacts == NULL || room <= 0 ||
      stride < sizeof *contacts || !(margin >= 0) ||
      patched_host_fault() != NULL)
    return -1;
  if (geom1 == geom2 || (dGeomGetBody(geom1) != NULL &&
                         dGeomGetBody(geom1) == dGeomGetBody(geom2)))
    return 0;
  HOLD_TRAPS;
  int count = gap_collide(geom1, geom2, margin, contacts, room, stride, &why);
  return count < 0 ? -1 : count;
}

dGeomID ode_mlcp_create_ellipsoid(dSpaceID space, const double semi_axes[3]) {
  return gap_ellipsoid_create(space, semi_axes);
}
