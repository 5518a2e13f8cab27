/* The interior point method on the box formulation: Mehrotra's
 * predictor-corrector. */
#ifndef ODE_MLCP_SOLVER_INTERIOR_POINT_H
#define ODE_MLCP_SOLVER_INTERIOR_POINT_H

#include "solver/solve_work.h"

typedef struct interior_point_options {
  double start;    /* first complementarity, of scale^2 / A */
  bool warm;       /* start from work->p, else from nothing */
  bool cross_over; /* try the active sets that the path points to on the way */
} interior_point_options;

/** Take the arrays that it needs. @return false when memory runs out. */
bool interior_point_reserve(solve_work *work);

/** Follow the central path; work->p ends at the best point found.
 *  @return true when the target is reached. */
bool interior_point_solve(solve_work *work,
                          const interior_point_options *options);

#endif
