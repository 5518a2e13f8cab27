/* All points in which two cores touch or may touch. */
#ifndef ODE_MLCP_GAP_GAP_PATCH_H
#define ODE_MLCP_GAP_GAP_PATCH_H

#include "gap/gap_gjk.h"

typedef struct gap_patch_request {
  const gap_core *a, *b;
  gap_phi phi;       /* and n, unit, into A */
  double margin;     /* [m] on gaps, radii counted */
  double scale;      /* [m] size of the coordinates */
  bool covered_only; /* leave the deepest point out where A and B are not over
                        one another: B is a piece of a surface that goes on */
} gap_patch_request;

/**
 * The patch across `n`: the outlines that face each other, cut with each
 * other as seen along n, each point with the gap that is there. The first
 * contact is the deepest, its gap the pair's.
 *
 * @param contacts [GAP_PAIR_ROOM] out, in coordinates of the cores.
 * @return their number, at least 1 unless `covered_only`.
 */
int gap_patch(const gap_patch_request *request, gap_contact contacts[]);

#endif
