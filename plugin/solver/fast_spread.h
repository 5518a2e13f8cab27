/* Impulses of one pair of bodies spread over its rows as stiffness has it. */
#ifndef ODE_MLCP_SOLVER_FAST_SPREAD_H
#define ODE_MLCP_SOLVER_FAST_SPREAD_H

#include "solver/fast_work.h"

/**
 * Impulses of pairs of bodies in work->p, which may be out of their limits,
 * spread by stiffness within them.
 *
 * @param everywhere  else only where some are out of their limits
 */
void fast_spread(fast_work *work, bool everywhere);

#endif
