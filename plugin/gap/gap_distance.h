/* Phi of two cores: how far apart, or how deep in one another. */
#ifndef ODE_MLCP_GAP_GAP_DISTANCE_H
#define ODE_MLCP_GAP_GAP_DISTANCE_H

#include "gap/gap_gjk.h"

/**
 * Find Phi of two cores. B alone may be a half-space.
 *
 * @param scale  [m] size of the coordinates.
 * @param enough [m] stop when the cores are known to be further apart.
 * @return false when they are further apart than `enough`.
 */
bool gap_distance_find(const gap_core *a, const gap_core *b, double scale,
                       double enough, gap_phi *phi);

/** The same from what gap_gjk() found of them, none of which is a half-space.
 *  @param phi  in: that; out */
bool gap_distance_settle(const gap_core *a, const gap_core *b, double scale,
                         double enough, gap_phi *phi);

#endif
