/* Phi of overlapping curved cores from all sides: a polytope that grows inside
 * the difference of the cores until no face of it can be nearer. */
#ifndef ODE_MLCP_GAP_GAP_EXPAND_H
#define ODE_MLCP_GAP_GAP_EXPAND_H

#include "gap/gap_sat.h"

/** Room for a search. @return NULL where memory ran out. */
struct gap_polytope *gap_expand_room(gap_scratch *scratch);

/**
 * Search all directions for the largest s(n).
 *
 * @param a, b  one of them has room.
 * @param scale [m] size of the coordinates.
 * @param close_enough where the bounds have met, relative to the coordinates.
 * @param best  in: directions tried so far; out: the best of all.
 * @return upper bound of Phi; +INFINITY where the cores were not seen to
 *         overlap. Work is bounded; what is missing shows in the bound.
 */
double gap_expand(const gap_core *a, const gap_core *b, double scale,
                  double close_enough, gap_direction *best);

#endif
