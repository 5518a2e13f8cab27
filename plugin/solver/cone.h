/* Newton's method on Coulomb's law itself, from the answer of a problem whose friction
 * sets are polygons. */
#ifndef ODE_MLCP_SOLVER_CONE_H
#define ODE_MLCP_SOLVER_CONE_H

#include "solver/solve_work.h"

/** Take the arrays that it needs. @return false when memory runs out. */
bool cone_reserve(solve_work *work);

/**
 * Solve with circles in place of the squares that stand for them, from work->p, as far
 * as it gets.
 *
 * @param p      [problem->n_rows] out: the best impulses.
 * @param pairs  the problem's, [n_pairs]: edges of the circles' sets are turned to where
 *               these impulses are the squares' answer as well.
 * @return false where nothing came of it: p and pairs are as they were.
 */
bool cone_solve(solve_work *work, double p[], mlcp_pair pairs[]);

#endif
