/* Proximal continuation by Newton's method in velocities, with a line search. */
#ifndef ODE_MLCP_SOLVER_CONTINUATION_H
#define ODE_MLCP_SOLVER_CONTINUATION_H

#include "solver/solve_work.h"

/** Take the arrays that it needs; `circles` for continuation_turn().
 *  @return false when memory runs out. */
bool continuation_reserve(solve_work *work, bool circles);

/**
 * Solve from work->p and its active set, as far as it gets. work->box has no compliance
 * that couples rows.
 *
 * @return true when the target is reached; else work->p is the best iterate.
 */
bool continuation_solve(solve_work *work);

/**
 * The same by pivots, but for its beginning where prox is large, and a last stage without
 * proximal term, whatever couples rows.
 *
 * @param prox        of a row's diagonal, at the beginning.
 * @param first_path  the most pivots of the first stage, without whose end nothing comes
 *                    of it; 0: as of any stage, which may fail.
 */
bool continuation_by_pivots(solve_work *work, double prox, long first_path);

/**
 * Solve Coulomb's law itself, with circles in place of the squares that stand for them,
 * from work->p, as far as it gets.
 *
 * @param p      [problem->n_rows] out: the best impulses.
 * @param pairs  the problem's, [n_pairs]: edges of the circles' sets are turned to where
 *               these impulses are the squares' answer as well.
 * @return false where nothing came of it: p and pairs are as they were.
 */
bool continuation_turn(solve_work *work, double p[], mlcp_pair pairs[]);

#endif
