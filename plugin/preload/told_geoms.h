/* Geoms that dCollide told contacts of and that have not been destroyed since. A
 * contact joint names its geoms by pointers that may be stale. */
#ifndef ODE_MLCP_PRELOAD_TOLD_GEOMS_H
#define ODE_MLCP_PRELOAD_TOLD_GEOMS_H

#include <ode/ode.h>

/** From any thread. Without memory a geom is not known. */
void told_geoms_add(dGeomID geom);

/** 1 where the geom was told of and is still there; for ode_mlcp_watch_geoms. */
int told_geoms_has(void *context, dGeomID geom);

#endif
