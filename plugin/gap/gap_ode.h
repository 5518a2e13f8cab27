/* Signed gaps between the host's geoms. Needs the host's patches 0003 and
 * 0004. */
#ifndef ODE_MLCP_GAP_GAP_ODE_H
#define ODE_MLCP_GAP_GAP_ODE_H

#include "gap/gap_context.h"
#include "gap/gap_ellipsoid.h"
#include "gap/gap_geom.h"

/**
 * The contacts of two geoms that touch or may touch.
 *
 * All classes but rays and spaces, with offsets and geom transforms taken into
 * account; ellipsoids of gap_ellipsoid_create() too. Neither geom is changed,
 * nor are bodies looked at, nor category bits.
 *
 * @param margin [m] contacts with gap <= margin are given; >= 0 or INFINITY
 *               (finite where a mesh or height field is involved).
 * @param flags  0 or GAP_REDUCE.
 * @param contacts [room] out. The first is the deepest; normals point into
 *               `a`; `triangle` is the number of a mesh's triangle, of a
 *               height field's 2 x cell + half.
 * @return number of contacts, or a negative gap_status: nothing is written
 *         then, and gap_context_error() names the geom.
 */
int gap_query(gap_context *context, dGeomID a, dGeomID b, double margin,
              int flags, gap_contact contacts[], int room);

/** The same of geoms at other places: `placed` [2], from gap_geom_place() and
 *  then moved. */
int gap_query_placed(gap_context *context, const gap_geom placed[2],
                     double margin, int flags, gap_contact contacts[],
                     int room);

/**
 * gap_query() with the context of the calling thread, into contacts as the host has
 * them, `stride` bytes apart. A mesh can have more than 1024: the deepest are given.
 *
 * @param why  out: where the number is negative, the reason
 */
int gap_collide(dGeomID a, dGeomID b, double margin, dContactGeom contacts[],
                int room, size_t stride, const char **why);

/**
 * An ellipsoid: a geom of a class of ours. dCollide() gives its contacts with
 * geoms of all classes but rays, one at least where the shapes overlap.
 *
 * @param space  or 0.
 * @param semi_axes [m] along the geom's own axes, all > 0.
 * @return the geom; 0 where an axis is bad. The first call takes one of the
 *         host's four user classes (the host ends a program that takes a
 *         fifth) and is not for two threads at once.
 */
dGeomID gap_ellipsoid_create(dSpaceID space, const double semi_axes[3]);

#endif
