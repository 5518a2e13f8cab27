/* Points of a mixed LCP that the ladder keeps and compares. */
#ifndef ODE_MLCP_SOLVER_SOLVER_POINTS_H
#define ODE_MLCP_SOLVER_SOLVER_POINTS_H

#include "mlcp/mlcp.h"

/** A solution's arrays in one block. */
typedef struct solver_point {
  mlcp_solution at;
  double residual; /* by mlcp_residual on the original problem */
  memory_block block;
} solver_point;

/** Make room for `problem`'s sizes; the content is undefined.
 *  @return false when memory runs out. */
bool solver_point_reserve(solver_point *point, const memory_source *source,
                          const mlcp_problem *problem);
void solver_point_release(solver_point *point, const memory_source *source);

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
