/* From a direction that is nearly right to one that is right to rounding. */
#ifndef ODE_MLCP_GAP_GAP_POLISH_H
#define ODE_MLCP_GAP_GAP_POLISH_H

#include "gap/gap_sat.h"

/**
 * Ascend to the maximum of s(n) near n0.
 *
 * s(n) is the least of finitely many smooth pieces: a corner, a rim or an
 * ellipsoid of each core. At its top either one piece is level, or n lies
 * across the edges between the pieces that meet there: every such case near n0
 * is solved by Newton's method on the sphere or in closed form, and measured
 * by s(n) itself, so that `best` can only get better.
 *
 * @param scale [m] size of the coordinates.
 */
void gap_polish(const gap_core *a, const gap_core *b, const double n0[3],
                double scale, gap_direction *best);

#endif
