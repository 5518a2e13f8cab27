/* Workspace that queries on geoms keep from one to the next. */
#ifndef ODE_MLCP_GAP_GAP_CONTEXT_H
#define ODE_MLCP_GAP_GAP_CONTEXT_H

#include <ode/ode.h>
#include <stdbool.h>

#include "gap/gap_mesh.h"

enum { GAP_HULL_SLOTS = 64, GAP_TREE_SLOTS = 16, GAP_ERROR_ROOM = 256 };

typedef struct gap_tree_slot {
  dTriMeshDataID data;
  gap_tree tree;
} gap_tree_slot;

/** Scratch memory, hulls of convexes, trees of meshes, the last error. One a
 *  thread. */
typedef struct gap_context {
  memory_pool pool;
  gap_scratch scratch;
  gap_hull hulls[2][GAP_HULL_SLOTS]; /* by side, so that a pair has both */
  gap_tree_slot trees[GAP_TREE_SLOTS];
  gap_tree region; /* of the triangles of one mesh that are near another */
  gap_triangle *triangles[2];
  gap_contact *contacts;
  gap_near *near[2];
  int32_t *found, *around;
  double *points;          /* of a hull that is being made */
  gap_contact *found_here; /* by gap_collide() and gap_sweep() */
  char error[GAP_ERROR_ROOM];
  double compared; /* pairs of convex pieces, so far */
  double
      covered; /* m: no contact that the last query left out has a lower gap */
} gap_context;

/** @return NULL where memory runs out. `source` must outlive the context. */
gap_context *gap_context_create(const memory_source *source);

void gap_context_destroy(gap_context *context);

/** The reason why the last query of this context failed, with the
 *  geom's class and address; "" before the first. */
const char *gap_context_error(const gap_context *context);

/** Write the error text: the geom's class, its address and `fault`.
 *  @return status. */
int gap_context_fail(gap_context *context, dGeomID geom, gap_status status,
                     const char *fault);

#endif
