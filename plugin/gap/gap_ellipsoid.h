/* Ellipsoids: geoms of a class of ours; a case of the papers needs them
 * (scenes/ellipse.c). */
#ifndef ODE_MLCP_GAP_GAP_ELLIPSOID_H
#define ODE_MLCP_GAP_GAP_ELLIPSOID_H

#include <ode/ode.h>

/** The class of our ellipsoids; -1 before the first is made. */
int gap_ellipsoid_class(void);

/** To be called after dCloseODE(), which forgets all user classes, where
 *  ellipsoids are to be made again after another dInitODE2(). */
void gap_ellipsoid_host_closed(void);

void gap_ellipsoid_get(dGeomID geom, double semi_axes[3]);

/** As gap_ellipsoid_create; the first makes the class, with this collider. */
dGeomID gap_ellipsoid_make(dSpaceID space, const double semi_axes[3],
                           dGetColliderFnFn *collider);

#endif
