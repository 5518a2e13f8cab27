/* Solving one component's mixed LCP: a status, a residual, never a surprise.
 *
 * `solver_solve` goes through a list of stages (solver.c), in order of cost, and ends
 * at the first answer whose residual, recomputed on the original problem, is small
 * enough; where none is, or the budget is spent, the best iterate seen is returned.
 *
 * They work on the box formulation (box.h). A problem that has none (friction that
 * follows another body's normal), and every one of SOLVER_LEMKE, is solved in the edge
 * formulation by Lemke's method (lemke_mlcp.h), the reference.
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
 *                  row is new; or NULL. Only a starting point; may be
 *                  the solution's p.
 * @param solution  out; see solver_status for when it is written.
 */
solver_report solver_solve(solver_workspace *workspace,
                           const mlcp_problem *problem,
                           const solver_options *options, const double guess[],
                           const mlcp_solution *solution);

/**
 * Turn friction polygons of four edges towards Coulomb's law, from an answer of
 * `problem`: to where impulses that obey that law (continuation.h) are the polygons' answer.
 *
 * @param solution  in: p, the answer's; out: those impulses, or as near as Newton's
 *                  method gets, and what belongs to them
 * @param pairs     [n_pairs] the problem's own, which are turned
 * @param turned    out: false where nothing came of it; solution and pairs are as they
 *                  were
 * @return as solver_solve, with the residual of the turned problem.
 */
solver_report solver_turn_edges(solver_workspace *workspace,
                                const mlcp_problem *problem,
                                const solver_options *options,
                                const mlcp_solution *solution,
                                mlcp_pair pairs[], bool *turned);

#endif
