/* Continuation past turning points, by a proximal term that goes to 0. */
#ifndef ODE_MLCP_SOLVER_HOMOTOPY_H
#define ODE_MLCP_SOLVER_HOMOTOPY_H

#include "solver/solve_work.h"

/** Take the arrays that it needs. @return false when memory runs out. */
bool homotopy_reserve(solve_work *work);

/**
 * From work->p: solve with impulses held to the last ones by a compliance of
 * `prox` of the diagonal, then ever less, by Newton steps or pivots, with shorter
 * steps of prox where one does not end.
 *
 * @return true when the target is reached.
 */
bool homotopy_solve(solve_work *work, double prox);

#endif
