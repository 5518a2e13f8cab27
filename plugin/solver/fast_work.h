/* What the methods of the fast path share: the problem and the iterates. */
#ifndef ODE_MLCP_SOLVER_FAST_WORK_H
#define ODE_MLCP_SOLVER_FAST_WORK_H

#include "solver/fast_form.h"
#include "solver/fast_system.h"

typedef struct fast_work {
  fast_form form;
  body_blocks blocks;

  /* the iterate: p within its limits, v and w belong to it */
  double *p, *v, *w;
  double residual;
  double *best_p;
  double best_residual;

  /* fast_modes: [n_rows], dv [6 n_bodies], weights [n_weights] */
  double *weights, *r, *dp, *dv, *scratch, *kept_p;
  int *mode;

  /* fast_interior: distances to the limits, their multipliers, and what the
     multipliers' steps are made of; [n_rows] each */
  double *s_low, *s_high, *y_low, *y_high, *dy_low, *dy_high, *t_low, *t_high;

  double *kept_coefficient; /* [n_rows] for fast_friction_approach */

  double target; /* residual to be reached */
  long factorisations, iterations;

  memory_block numbers, modes;
} fast_work;

/** v, w and the residual of p; the best p is kept. */
void fast_work_evaluate(fast_work *work);

/** The best p again, evaluated. */
void fast_work_restore_best(fast_work *work);

/** How far a step of modes may go. */
typedef struct fast_modes_options {
  double prox;         /* relative to a row's diagonal */
  int max_factorisations;
  int max_all_changes; /* after so many, only the worst row changes */
  bool impatient;      /* give up when many rows change, or not ever fewer */
} fast_modes_options;

/** From work->p: guess modes, correct them until the target is reached.
 *  @return true when it is. */
bool fast_modes_solve(fast_work *work, const fast_modes_options *options);

typedef struct fast_interior_options {
  double prox;
  double start;  /* first complementarity, relative */
  bool warm;     /* start from work->p, else from nothing */
  double margin; /* m/s over the scale: first distance from limits, cold */
  int max_iterations;
} fast_interior_options;

/** Follow the central path; work->p ends at the best point found.
 *  @return true when the target is reached. */
bool fast_interior_solve(fast_work *work,
                         const fast_interior_options *options);

/**
 * Bring work->p near a solution by way of softer problems, where the path to
 * follow has fewer folds: compliances of a hundredth of the diagonal, then less
 * and less. Only a starting point; the best p is left alone.
 *
 * @param warm  start from work->p, else from nothing.
 */
void fast_relaxed_approach(fast_work *work, bool warm);

/** The same from nothing by way of less friction: every coefficient at most
 *  0.3, then more and more. */
void fast_friction_approach(fast_work *work);

#endif
