/* The host's geoms, where they are, as shapes. */
#ifndef ODE_MLCP_GAP_GAP_GEOM_H
#define ODE_MLCP_GAP_GAP_GEOM_H

#include "gap/gap_context.h"

/** A geom and where it is, geom transforms taken off. */
typedef struct gap_geom {
  dGeomID geom;  /* 0: an empty geom transform */
  dGeomID named; /* the geom that was asked about */
  int type;
  double position[3], rotation[9];
  bool moved; /* it is not there: it is asked about as if it were */
} gap_geom;

/** A geom's pose; geom transforms are taken off. */
void gap_geom_place(dGeomID geom, gap_geom *placed);

bool gap_geom_is_mesh(const gap_geom *placed);

/** The shape of a geom that is no mesh. `side` 0 or 1. @return gap_status. */
int gap_geom_shape(gap_context *context, const gap_geom *placed, int side,
                   gap_shape *shape);

#endif
