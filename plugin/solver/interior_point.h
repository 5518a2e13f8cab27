/* The interior point method on the box formulation: Mehrotra's
 * predictor-corrector. */
#ifndef ODE_MLCP_SOLVER_INTERIOR_POINT_H
#define ODE_MLCP_SOLVER_INTERIOR_POINT_H

#include "solver/solve_work.h"

/** Take the arrays that it needs. @return false when memory runs out. */
bool interior_point_reserve(solve_work *work);

/** Follow the central path from work->p, brought inside its limits; work->p ends at
 *  the best point found.
 *  @param start  first complementarity, of scale^2 / A
 *  @return true when the target is reached. */
bool interior_point_solve(solve_work *work, double start);

#endif
