/* The inside of a gap_context, for the files that turn geoms into shapes. */
#ifndef ODE_MLCP_GAP_GAP_CONTEXT_H
#define ODE_MLCP_GAP_GAP_CONTEXT_H

#include <stdbool.h>

#include "gap/gap_mesh.h"
#include "gap/gap_ode.h"

enum { HULL_SLOTS = 64, TREE_SLOTS = 16, ERROR_ROOM = 256 };

/* A hull and the arrays it was made of, to see whether they have changed. */
typedef struct hull_slot {
  const dReal *points;
  const unsigned *polygons;
  unsigned n_points, n_polygons;
  memory_block copy; /* of the polygons */
  size_t copied;     /* numbers in it */
  gap_hull hull;
} hull_slot;

typedef struct tree_slot {
  dTriMeshDataID data;
  gap_tree tree;
} tree_slot;

struct gap_context {
  const memory_source *source;
  gap_scratch scratch;
  hull_slot hulls[2][HULL_SLOTS]; /* by side, so that a pair has both */
  tree_slot trees[TREE_SLOTS];
  memory_block triangles[2], contacts, found;
  char error[ERROR_ROOM];
};

/** A geom and where it is, geom transforms taken off. */
typedef struct placed_geom {
  dGeomID geom;  /* 0: an empty geom transform */
  dGeomID named; /* the geom that was asked about */
  int type;
  double position[3], rotation[9];
} placed_geom;

/** Write the error text: the geom's class, its address and `fault`.
 *  @return status. */
int gap_context_fail(gap_context *context, dGeomID geom, gap_status status,
                     const char *fault);

bool gap_context_is_mesh(const placed_geom *placed);

/** The contacts of a mesh or height field (`a`) and any other geom. */
int gap_context_mesh_pair(gap_context *context, const placed_geom *a,
                          const placed_geom *b, double margin, int flags,
                          gap_contact contacts[], int room);

/** The shape of a geom that is no mesh. `side` 0 or 1. @return gap_status. */
int gap_context_shape(gap_context *context, const placed_geom *placed,
                      int side, gap_shape *shape);

#endif
