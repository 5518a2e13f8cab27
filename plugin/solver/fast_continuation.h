/* Proximal continuation by Newton's method in velocities, with a line search. */
#ifndef ODE_MLCP_SOLVER_FAST_CONTINUATION_H
#define ODE_MLCP_SOLVER_FAST_CONTINUATION_H

#include "solver/fast_work.h"

/** Take the arrays that it needs. @return false when memory runs out. */
bool fast_continuation_reserve(fast_work *work);

typedef struct fast_continuation_options {
  double most_work; /* factorisations */
  double
      most_share;  /* of the rows: where more of them ask for another state than
                        work->p has, it stops at once */
  long max_pivots; /* of a stage that Newton's method does not end */
} fast_continuation_options;

/**
 * Solve from work->p and its active set, as far as it gets. Problems whose
 * compliance couples rows are left alone.
 *
 * @return true when the target is reached; else work->p is the best iterate, with
 *         which it stopped where that is good enough (work->soon).
 */
bool fast_continuation_solve(fast_work *work,
                             const fast_continuation_options *options);

#endif
