/* The interior point method on the box formulation: Mehrotra's
 * predictor-corrector. */
#ifndef ODE_MLCP_SOLVER_FAST_INTERIOR_H
#define ODE_MLCP_SOLVER_FAST_INTERIOR_H

#include "solver/fast_work.h"

/** Take the arrays that it needs. @return false when memory runs out. */
bool fast_interior_reserve(fast_work *work);

/**
 * Follow the central path from nothing; work->p ends at the best point found.
 *
 * @param cross_over  try the active sets that the path points to on the way, else
 *                    go to its own end, the centre of the solutions
 * @return true when the target is reached.
 */
bool fast_interior_solve(fast_work *work, bool cross_over);

#endif
