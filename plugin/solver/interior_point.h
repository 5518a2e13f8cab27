/* Interior points on the box formulation, for few and for many turning points. */
#ifndef ODE_MLCP_SOLVER_INTERIOR_POINT_H
#define ODE_MLCP_SOLVER_INTERIOR_POINT_H

#include "solver/solve_work.h"

/** Take the arrays that they need. @return false when memory runs out. */
bool interior_point_reserve(solve_work *work);

/** Mehrotra's predictor-corrector from work->p, brought inside its limits, straight
 *  towards products of 0; work->p ends at the best point found.
 *  @return true when the target is reached. */
bool interior_point_solve(solve_work *work);

/** From there along a curve and its turning points, by its length. At twice the price,
 *  it ends at nearly all of what the other gets stuck at.
 *  @return true when the target is reached. */
bool interior_point_follow(solve_work *work);

#endif
