/* Solving one component's mixed LCP: a status, a residual, never a surprise.
 *
 * `solver_solve` is a cascade of methods that ends at the first answer whose
 * residual, recomputed on the original problem, is small enough:
 *
 *   warm      the guess as it is
 *   (methods that make the usual step cheap)
 *   Lemke     near basis, crash basis, cold, other ties
 *   relaxed   regularised, then re-verified on the original problem
 *
 * Where none of them is, the best iterate seen is returned.
 *
 * Whatever the stage, every number returned is finite and every impulse is within
 * its bounds and its friction polygon.
 */
#ifndef ODE_MLCP_SOLVER_SOLVER_H
#define ODE_MLCP_SOLVER_SOLVER_H

#include "mlcp/mlcp.h"
#include "solver/solver_options.h"

/** Memory kept between solves; used by one thread at a time. Results do not
 *  depend on which workspace is used or what it solved before. */
typedef struct solver_workspace solver_workspace;

/** @return NULL when memory runs out. */
solver_workspace *solver_workspace_create(const memory_source *source);
void solver_workspace_destroy(solver_workspace *workspace);

void solver_default_options(solver_options *options);

/**
 * Solve `problem` (which passes mlcp_check).
 *
 * @param guess     [n_rows] last step's impulses of the same rows, NAN where a
 *                  row is new; or NULL. Only a starting point.
 * @param solution  out; see solver_status for when it is written.
 */
solver_report solver_solve(solver_workspace *workspace,
                           const mlcp_problem *problem,
                           const solver_options *options, const double guess[],
                           const mlcp_solution *solution);

#endif
