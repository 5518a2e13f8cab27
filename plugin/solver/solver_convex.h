/* The convex relaxation of a problem as a way of its own to see friction. */
#ifndef ODE_MLCP_SOLVER_SOLVER_CONVEX_H
#define ODE_MLCP_SOLVER_SOLVER_CONVEX_H

#include "solver/solver.h"
#include "solver/solver_points.h"
#include "solver/solver_variants.h"

/** The relaxed problem and its solution; starts as {0}. */
typedef struct solver_convex {
  solver_variant variant;
  solver_point point;
  arena arena; /* of both */
} solver_convex;

/** Make the relaxed problem of `problem`, in memory of `source`, a pool, with
 *  room for a solution.
 *  @return false when memory runs out. */
bool solver_convex_make(solver_convex *convex, const memory_source *source,
                        const mlcp_problem *problem);

/**
 * Solve `problem` with mu lambda taken as 0 in the rows of the normal impulses
 * (Anitescu & Hart, after 4.48): a strictly convex quadratic program.
 *
 * @param solution  out: v and p; beta and lambda are not written
 * @return as solver_solve; the residual is that of the relaxed problem.
 */
solver_report solver_solve_convex(solver_workspace *workspace,
                                  solver_convex *convex,
                                  const memory_source *source,
                                  const mlcp_problem *problem,
                                  const solver_options *options,
                                  const mlcp_solution *solution);

#endif
