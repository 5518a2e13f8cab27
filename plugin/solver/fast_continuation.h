/* Proximal continuation by Newton's method in velocities, with a line search. */
#ifndef ODE_MLCP_SOLVER_FAST_CONTINUATION_H
#define ODE_MLCP_SOLVER_FAST_CONTINUATION_H

#include "solver/fast_work.h"

/** Take the arrays that it needs. @return false when memory runs out. */
bool fast_continuation_reserve(fast_work *work);

typedef struct fast_continuation_options {
  double most_work;  /* in factorisations */
  double most_share; /* it stops at once where more than this share of the rows
                        asks for another state than the first */
  double first_prox; /* of a row's diagonal; 0: by the residual, as from a point
                        that is near */
  long max_pivots;   /* of a stage that Newton's method does not end */
  bool all_active;   /* the first states; else those that work->p is in */
} fast_continuation_options;

/**
 * Solve from work->p, as far as it gets. Problems whose compliance couples rows
 * are left alone.
 *
 * @return true when the target is reached; else work->p is the best iterate.
 */
bool fast_continuation_solve(fast_work *work,
                             const fast_continuation_options *options);

#endif
