/* Shapes as the distance kernels see them: a core with a ball rolled around
 * it, in coordinates about a common centre so that worlds far from their
 * origin lose nothing. */
#ifndef ODE_MLCP_GAP_GAP_CORE_H
#define ODE_MLCP_GAP_GAP_CORE_H

#include <stdbool.h>

#include "gap/gap.h"

typedef enum core_kind {
  CORE_POLYTOPE, /* point, segment, triangle, box, convex */
  CORE_CYLINDER,
  CORE_ELLIPSOID
} core_kind;

typedef struct gap_core {
  core_kind kind;
  double radius; /* of the ball rolled around the core */
  double centre[3];
  double reach; /* no point of the core is further from `centre` */
  double inner; /* half of its least thickness */
  double rotation[9];

  /* polytope; corners are `own_corners` or lent scratch memory */
  const gap_topology *topology;
  const double (*corners)[3];
  double own_corners[8][3];
  const double (*body_normals)[3]; /* NULL for a triangle */

  /* of cores that gap_expand() may be asked about; lent, else NULL */
  struct gap_polytope *room;

  bool
      half_space; /* a polytope's: all that is below its one corner, along `axis` */

  /* cylinder: axis, half its length, radius of its discs */
  double axis[3], half_length, disc_radius;

  /* ellipsoid: semi-axes, and R diag(semi_axes^2) R' */
  double semi_axes[3], spread[9];
} gap_core;

/**
 * Put a shape into coordinates about `origin`.
 *
 * @param corners scratch [hull's n_corners], for a convex only; must outlive
 *                the core.
 */
void gap_core_place(gap_core *core, const gap_shape *shape,
                    const double origin[3], double (*corners)[3]);

/** True for a box: corner i has sign bit k of i along its axis k. */
bool gap_core_is_box(const gap_core *core);

/** The point of the core that is furthest along `direction` (any length).
 *  Ties go to the corner with the lowest number. @return the corner's number,
 *  0 for other cores. */
int gap_core_support(const gap_core *core, const double direction[3],
                     double point[3]);

/** s(n) of the cores, radii left out. `n` has unit length. */
double gap_core_separation(const gap_core *a, const gap_core *b,
                           const double n[3]);

/** Outward unit normal of a polytope's face. */
void gap_core_face_normal(const gap_core *core, int face, double normal[3]);

#endif
