/* The interior point method on the box formulation: Mehrotra's
 * predictor-corrector. */
#ifndef ODE_MLCP_SOLVER_FAST_INTERIOR_H
#define ODE_MLCP_SOLVER_FAST_INTERIOR_H

#include "solver/fast_work.h"

typedef struct fast_interior_options {
  double start;    /* first complementarity, of scale^2 / A */
  bool warm;       /* start from work->p, else from nothing */
  bool cross_over; /* try the active sets that the path points to on the way */
} fast_interior_options;

/** Take the arrays that it needs. @return false when memory runs out. */
bool fast_interior_reserve(fast_work *work);

/** Follow the central path; work->p ends at the best point found.
 *  @return true when the target is reached. */
bool fast_interior_solve(fast_work *work, const fast_interior_options *options);

#endif
