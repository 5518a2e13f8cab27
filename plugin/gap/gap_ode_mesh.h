/* Meshes and height fields of the host as triangles near another geom. */
#ifndef ODE_MLCP_GAP_GAP_ODE_MESH_H
#define ODE_MLCP_GAP_GAP_ODE_MESH_H

#include "gap/gap_geom.h"

/** The contacts of a mesh or height field (`a`) and any other geom. */
int gap_ode_mesh_pair(gap_context *context, const gap_geom *a,
                      const gap_geom *b, double margin, int flags,
                      gap_contact contacts[], int room);

#endif
