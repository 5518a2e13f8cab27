/* The signed gap of two polytopes over all directions in which it can be. */
#ifndef ODE_MLCP_GAP_GAP_SAT_H
#define ODE_MLCP_GAP_GAP_SAT_H

#include "gap/gap_core.h"

/** The best of the directions tried so far. */
typedef struct gap_direction {
  double separation; /* [m] s(n) of the cores; -INFINITY: none tried */
  double n[3];       /* unit */

  /* NULL, or which unit directions may be taken */
  bool (*allowed)(const void *context, const double n[3]);
  const void *context;
} gap_direction;

/** Take n (any length > 0) where it is allowed and its s(n) is larger than
 *  the best one's. */
void gap_direction_try(const gap_core *a, const gap_core *b, const double n[3],
                       gap_direction *best);

/**
 * Try every face of both polytopes and every pair of edges, which is where
 * Phi of overlapping polytopes is, and of those apart where a face or two
 * edges are nearest. Cost: product of the numbers of edges.
 *
 * @param scale [m] size of the coordinates.
 */
void gap_sat(const gap_core *a, const gap_core *b, double scale,
             gap_direction *best);

#endif
