/* The active set: which rows are active (w = 0), and at which limit the others
 * sit.
 *
 * With the active set given the rest is linear; a friction row at its limit
 * moves with its normal. Rows change by the sign of p - w / A against their
 * limits, all at once. A small proximal term makes redundant rows
 * harmless and keeps their impulses near the last ones; repeated steps from
 * the recomputed slips take its error away.
 */
#ifndef ODE_MLCP_SOLVER_ACTIVE_SET_H
#define ODE_MLCP_SOLVER_ACTIVE_SET_H

#include "solver/solve_work.h"

/** A row's state, in work->state. */
enum { ROW_ACTIVE = 0, ROW_AT_LOW = -1, ROW_AT_HIGH = 1, ROW_ON_CIRCLE = 2 };

/** From work->p and nothing else: rows at a limit stay there, whatever their
 *  slip, all others are active. A slip tells less than last step's state where
 *  rounding and small changes make its sign. */
void active_set_of_guess(solve_work *work);

/** Weights by work->softness of the rows first to end - 1, whole clusters, in the
 *  present active set, as if none shared compliance.
 *  @return true when they are symmetric. */
bool active_set_weigh(const solve_work *work, int first, int end);

/** Factor the system of the present active set into work->blocks, with
 *  work->softness by box_softness.
 *  @param prox  relative to a row's diagonal. */
bool active_set_factor(solve_work *work, double prox);

/** Rows at a limit go exactly there. */
void active_set_put_at_limits(solve_work *work, double p[]);

/** From work->p and the active set that stands in work->state: correct it until
 *  the target is reached or no row changes.
 *  @return true when it is; else work->kept_p is the last point, which may be
 *          out of its limits. */
bool active_set_correct(solve_work *work, int max_factorisations);

/** The same from the active set that work->p and work->w ask for. */
bool active_set_solve(solve_work *work, int max_factorisations);

#endif
