/* The active set: which rows are active (w = 0), and at which limit the others
 * sit.
 *
 * With the active set given the rest is linear; a friction row at its limit
 * moves with its normal. Rows change by the sign of p - w / A against their
 * limits, all at once at first. A small proximal term makes redundant rows
 * harmless and keeps their impulses near the last ones; repeated steps from
 * the recomputed slips take its error away.
 */
#ifndef ODE_MLCP_SOLVER_ACTIVE_SET_H
#define ODE_MLCP_SOLVER_ACTIVE_SET_H

#include "solver/solve_work.h"

/** A row's state, in work->state. */
enum { ROW_ACTIVE = 0, ROW_AT_LOW = -1, ROW_AT_HIGH = 1 };

/** The state that p - w / A asks for in every row, from work->p and work->w. */
void active_set_first(solve_work *work);

/** Every row active: where a structure rests nearly all are, and a linear solve
 *  tells which are not. */
void active_set_all_active(solve_work *work);

/** From work->p and nothing else: rows at a limit stay there, whatever their
 *  slip, all others are active. A slip tells less than last step's state where
 *  rounding and small changes make its sign. */
void active_set_of_guess(solve_work *work);

/** Weights by work->softness of the rows first to end - 1, whole clusters whose
 *  compliance is not coupled, in the present active set.
 *  @return true when they are symmetric. */
bool active_set_weigh(const solve_work *work, int first, int end);

/** Factor the system of the present active set into work->blocks, with
 *  work->softness by box_softness.
 *  @param prox  relative to a row's diagonal. */
bool active_set_factor(solve_work *work, double prox);

/** Rows at a limit go exactly there. */
void active_set_put_at_limits(solve_work *work, double p[]);

/** One linear step from p (its active rows may be out of their limits). */
void active_set_step(solve_work *work, double p[]);

/** Judge the present p, brought into its limits, as an iterate; leaves in
 *  work->w the slips of p itself. */
bool active_set_reach_target(solve_work *work, const double p[]);

typedef struct active_set_changes {
  int count;
  int worst;       /* row, -1 for none */
  int worst_state; /* that it wants */
  double miss;     /* m/s, of the worst */
} active_set_changes;

/** Rows that p asks to change by more than `noise` m/s; changed when `take` is
 *  set. work->w must belong to p. */
active_set_changes active_set_compare(solve_work *work, const double p[],
                                      double noise, bool take);

/** How far corrections of an active set may go. */
typedef struct active_set_options {
  int max_factorisations;
  int max_all_changes; /* after so many only the worst row changes */
  double max_share;    /* give up when more than this share of rows changes */
  int patience;        /* and after more turns than so many in which the number
                          of changes was not halved */
} active_set_options;

/** The last digits of a point whose active set is right but for a few rows that
 *  rounding left: one by one if need be, with all the patience it takes. */
extern const active_set_options active_set_polish;

/** From work->p and the active set that stands in work->state: correct it until
 *  the target is reached.
 *  @return true when it is; else work->kept_p is the last point, which may be
 *          out of its limits. */
bool active_set_correct(solve_work *work, const active_set_options *options);

/** The same from the active set that work->p and work->w ask for. */
bool active_set_solve(solve_work *work, const active_set_options *options);

#endif
