/* Continuation past turning points, by a proximal term that goes to 0. */
#ifndef ODE_MLCP_SOLVER_FAST_PROXIMAL_H
#define ODE_MLCP_SOLVER_FAST_PROXIMAL_H

#include "solver/fast_work.h"

/** Take the arrays that it needs. @return false when memory runs out. */
bool fast_proximal_reserve(fast_work *work);

/**
 * From work->p: solve with impulses held to the last ones by a compliance of
 * `prox` of the diagonal, then ever less, by Newton steps or pivots, with shorter
 * steps of prox where one does not end.
 *
 * @return true when the target is reached.
 */
bool fast_proximal_solve(fast_work *work, double prox);

#endif
