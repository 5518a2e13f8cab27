/* Gauss-Seidel sweeps over the rows. */
#ifndef ODE_MLCP_SOLVER_FAST_SWEEPS_H
#define ODE_MLCP_SOLVER_FAST_SWEEPS_H

#include "solver/fast_work.h"

/** Take the arrays that they need. @return false when memory runs out. */
bool fast_sweeps_reserve(fast_work *work);

/**
 * From work->p: Gauss-Seidel sweeps over the rows and the active sets found by
 * them, in turn.
 *
 * @param warm  work->p is near: a few sweeps first.
 * @return true when the target is reached.
 */
bool fast_sweeps_solve(fast_work *work, bool warm);

#endif
