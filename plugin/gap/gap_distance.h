/* Phi of two cores: how far apart, or how deep in one another. */
#ifndef ODE_MLCP_GAP_GAP_DISTANCE_H
#define ODE_MLCP_GAP_GAP_DISTANCE_H

#include "gap/gap_gjk.h"
#include "gap/gap_sat.h"

typedef struct gap_phi {
  gap_direction best; /* s(n) of the cores and its n: a lower bound of Phi */
  double certificate; /* [m] Phi <= best.separation + certificate */
  bool apart; /* or on a half-space: `nearest` holds the nearest points */
  gap_simplex nearest;
} gap_phi;

/**
 * Find Phi of two cores, their radii left out. B alone may be a half-space.
 *
 * @param scale  [m] size of the coordinates.
 * @param enough [m] stop when the cores are known to be further apart.
 * @return false when they are further apart than `enough`.
 */
bool gap_distance_find(const gap_core *a, const gap_core *b, double scale,
                       double enough, gap_phi *phi);

/** The same from what gap_gjk() found of them, none of which is a half-space. */
bool gap_distance_settle(const gap_core *a, const gap_core *b, double scale,
                         double enough, const gap_distance *found,
                         gap_phi *phi);

#endif
