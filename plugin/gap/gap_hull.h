/* Convex polyhedra: points, faces and edges, made once and then shared. */
#ifndef ODE_MLCP_GAP_GAP_HULL_H
#define ODE_MLCP_GAP_GAP_HULL_H

#include "common/memory.h"

/** Corners, edges and faces of a polyhedron. */
typedef struct gap_topology {
  int n_corners, n_edges, n_faces;

  const int (*edges)[2];   /* [n_edges] the two ends of each */
  const int *face_start;   /* [n_faces + 1] into the next one */
  const int *face_corners; /* around the face */
} gap_topology;

typedef struct gap_hull {
  gap_topology topology;
  const double (*points)[3];  /* [n_corners] body coordinates */
  const double (*normals)[3]; /* [n_faces] unit, outward */
  double
      thickness; /* least distance of a face and the corner furthest from it */

  char *memory; /* of all arrays: of a pool */
} gap_hull;

/**
 * Make a hull of points and polygons as the host's convex geom has them.
 *
 * @param hull     zeros, or made before of memory of the same pool.
 * @param points   3 x n_points.
 * @param polygons for each face its number of corners, then their numbers.
 * @param fault    out: NULL, or what is wrong with the shape.
 * @return false where the shape is wrong (`*fault` says how) or memory runs
 *         out (`*fault` is NULL). The hull has no points then.
 */
bool gap_hull_make(gap_hull *hull, memory_pool *pool, const double points[],
                   unsigned n_points, const unsigned polygons[],
                   unsigned n_polygons, const char **fault);

#endif
