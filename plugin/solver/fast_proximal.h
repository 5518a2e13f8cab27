/* Continuation past turning points, by a proximal term that goes to 0. */
#ifndef ODE_MLCP_SOLVER_FAST_PROXIMAL_H
#define ODE_MLCP_SOLVER_FAST_PROXIMAL_H

#include "solver/fast_work.h"

/** Take the arrays that it needs. @return false when memory runs out. */
bool fast_proximal_reserve(fast_work *work);

/**
 * From nothing: solve with impulses held to the last ones by a compliance as stiff
 * as the rows themselves, then ever less, by Newton steps or pivots, with ever
 * shorter steps where one does not end: tens of steps, if it must be.
 *
 * @return true when the target is reached.
 */
bool fast_proximal_crash(fast_work *work);

#endif
