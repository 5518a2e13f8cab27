/* Points of a mixed LCP that the cascade keeps and compares. */
#ifndef ODE_MLCP_SOLVER_SOLVER_POINTS_H
#define ODE_MLCP_SOLVER_SOLVER_POINTS_H

#include "common/arena.h"
#include "mlcp/mlcp.h"

typedef struct solver_point {
  mlcp_solution at;
  double residual; /* by mlcp_residual on the original problem */
} solver_point;

/** Take arrays of `problem`'s sizes; the content is undefined.
 *  @return false when memory runs out. */
bool solver_point_take(solver_point *point, arena *arena,
                       const mlcp_problem *problem);

void solver_copy_solution(const mlcp_problem *problem,
                          const mlcp_solution *from, const mlcp_solution *to);

/**
 * Make a feasible point of impulses: moves p into its bounds and friction
 * polygons (NAN counts as 0), then gives v by eq. (1), beta and lambda.
 *
 * @param scratch  [n_rows] overwritten.
 * @return mlcp_residual of the point.
 */
double solver_complete_point(const mlcp_problem *problem,
                             const mlcp_solution *point, double scratch[]);

#endif
