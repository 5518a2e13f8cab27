/* Proximal continuation by Newton's method in velocities, with a line search. */
#ifndef ODE_MLCP_SOLVER_FAST_CONTINUATION_H
#define ODE_MLCP_SOLVER_FAST_CONTINUATION_H

#include "solver/fast_work.h"

/** Take the arrays that it needs. @return false when memory runs out. */
bool fast_continuation_reserve(fast_work *work);

/**
 * Solve from work->p and its active set, as far as it gets within `most_work`
 * factorisations. Problems whose compliance couples rows are left alone.
 *
 * @param most_share  it stops at once where more than this share of the rows
 *                    asks for another state than the guess has.
 * @return true when the target is reached; else work->p is the best iterate.
 */
bool fast_continuation_solve(fast_work *work, double most_work,
                             double most_share);

#endif
