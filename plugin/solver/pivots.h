/* Pivots: the path of a perturbed problem, one change of the active set at a
 * time. Lemke's method, and its shorter paths from points near a solution. */
#ifndef ODE_MLCP_SOLVER_PIVOTS_H
#define ODE_MLCP_SOLVER_PIVOTS_H

#include "solver/solve_work.h"

/** Take the arrays that they need. @return false when memory runs out. */
bool pivots_reserve(solve_work *work);

/**
 * Follow the piecewise linear path of  w + t d  from work->p at t = 1, where d
 * makes it a solution, to t = 0: one row a pivot changes its state. Works on
 * the problem with the present relaxation and bias; work->p is the end of the
 * path, its active set stays in work->state. Also after a failure p is within
 * its limits.
 *
 * @return true when t = 0 was reached in `max_pivots`.
 */
bool pivots_solve(solve_work *work, long max_pivots);

#endif
