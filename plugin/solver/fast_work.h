/* What the methods of the fast path share: the problem and the iterates. */
#ifndef ODE_MLCP_SOLVER_FAST_WORK_H
#define ODE_MLCP_SOLVER_FAST_WORK_H

#include "solver/box.h"
#include "solver/box_system.h"

/** Of a row: w = 0, or p at a limit. */
enum { ROW_ACTIVE = 0, ROW_AT_LOW = -1, ROW_AT_HIGH = 1 };

typedef struct fast_work {
  box_problem box;
  body_blocks blocks;

  /* the iterate: p within its limits, v and w belong to it */
  double *p, *v, *w;
  double residual;
  double *best_p;
  double best_residual;

  /* fast_modes: [n_rows], dv [6 n_bodies], weights [n_weights] */
  double *weights, *r, *dp, *dv, *scratch, *kept_p;
  int *state;

  /* fast_interior: distances to the limits, their multipliers, and what the
     multipliers' steps are made of; [n_rows] each */
  double *s_low, *s_high, *y_low, *y_high, *dy_low, *dy_high, *t_low, *t_high;

  int *read_state; /* [n_rows] that the last step of the path makes for */

  double *inverse_J; /* fast_sweeps: [n_rows][2][6] M^-1 J' of both bodies */

  double *kept_coefficient; /* [n_rows] for fast_friction_approach */

  /* fast_pivots: the path's perturbation d, [n_rows]; low-rank updates of H
     and the columns they need, [fast_max_updates][6 n_bodies] */
  double *d, *columns;
  struct fast_update *updates;
  struct fast_limit *limits; /* [2 n_rows] */
  int *cluster_of, *edge_of; /* of a row [n_rows], of a cluster */

  /* fast_proximal: [n_rows] the problem's own bias, what impulses are held to,
     and the end of the last stage */
  double *own_bias, *anchor, *stage_p;

  double target; /* residual to be reached */
  long factorisations, iterations, pivots;

  memory_block numbers, modes;
} fast_work;

/** v, w and the residual of p; the best p is kept. */
void fast_work_evaluate(fast_work *work);

/** The best p again, evaluated. */
void fast_work_restore_best(fast_work *work);

/** p, brought into its limits, as the iterate, evaluated. */
void fast_work_take(fast_work *work, const double p[]);

/* ---- modes: active_set.c ------------------------------------------------- */

/** From work->p and work->w: the mode that p - w / A asks for in every row. */
void active_set_first(fast_work *work);

/** Every row active: where a structure rests nearly all are, and a linear solve
 *  tells which are not. */
void active_set_all_active(fast_work *work);

/** From work->p and nothing else: rows at a limit are in that mode, whatever
 *  their slip, all others active. A slip tells less than last step's mode where
 *  rounding and small changes make its sign. */
void active_set_of_guess(fast_work *work);

/** Weights of a cluster without coupled compliance in its modes, as in
 *  box_system_factor. @return true when they are symmetric. */
bool active_set_weights(const fast_work *work, const box_cluster *cluster,
                        double prox, double W[]);

/** Factor the system of the present modes into work->blocks.
 *  @param prox  relative to a row's diagonal. */
bool active_set_factor(fast_work *work, double prox);

/** Rows at a limit go exactly there. */
void active_set_put_at_limits(fast_work *work, double p[]);

/** One linear step from p (its active part may be out of its limits). */
void active_set_step(fast_work *work, double p[]);

/** Judge the present p, brought into its limits, as an iterate; leaves in
 *  work->w the slips of p itself. */
bool active_set_reach_target(fast_work *work, const double p[]);

typedef struct active_set_changes {
  int count;
  int worst;      /* row, -1 for none */
  int worst_state; /* that it wants */
  double miss;
} active_set_changes;

/** Modes that p asks for by more than `noise` m/s; taken over when `take` is
 *  set. work->w must belong to p. */
active_set_changes active_set_compare(fast_work *work, const double p[],
                                     double noise, bool take);

/** How far a step of modes may go. */
typedef struct active_set_options {
  double prox;         /* relative to a row's diagonal */
  int max_factorisations;
  int max_all_changes; /* after so many, only the worst row changes */
  double max_share;    /* give up when more than this share of rows changes */
  int patience;        /* and after more turns than so many in which the number
                          of changes was not halved */
} active_set_options;

/** From work->p and the modes that stand in work->mode: correct these until the
 *  target is reached. @return true when it is; else work->kept_p is the last
 *  point, which may be out of its limits. */
bool active_set_correct(fast_work *work, const active_set_options *options);

/** The same from the modes that work->p and work->w ask for. */
bool active_set_solve(fast_work *work, const active_set_options *options);

/* ---- the interior point method: fast_interior.c -------------------------- */

typedef struct fast_interior_options {
  double prox;
  double start;  /* first complementarity, relative */
  bool warm;     /* start from work->p, else from nothing */
  double margin; /* m/s over the scale: first distance from limits, cold */
  int max_iterations;
  bool cross_over; /* try the modes that the path points to on the way */
} fast_interior_options;

/** Follow the central path; work->p ends at the best point found.
 *  @return true when the target is reached. */
bool fast_interior_solve(fast_work *work,
                         const fast_interior_options *options);

/* ---- structures at rest: fast_spread.c, fast_rest.c ----------------------- */

/**
 * Impulses of pairs of bodies in work->p, which may be out of their limits,
 * spread by stiffness within them.
 *
 * @param everywhere  else only where some are out of their limits
 */
void fast_spread(fast_work *work, bool everywhere);

/** Whether work->p, last step's impulses, are nearly those of a structure that
 *  rests: but for a few rows they are where they should be. */
bool fast_rest_may(const fast_work *work);

/** From work->p, last step's impulses of a structure that rests: their modes
 *  corrected. @return true when the target is reached. */
bool fast_rest_correct(fast_work *work);

/** From nothing, by way of softer contacts: the modes of a structure in which
 *  nearly all rows are active. Soon given up where they are not.
 *  @return true when the target is reached. */
bool fast_rest_approach(fast_work *work);

/* ---- sweeps: fast_sweeps.c ----------------------------------------------- */

/**
 * From work->p: Gauss-Seidel sweeps over the rows and the modes found by them,
 * in turn.
 *
 * @param warm  work->p is near: a few sweeps first.
 * @return true when the target is reached.
 */
bool fast_sweeps_solve(fast_work *work, bool warm);

/* ---- pivots: fast_pivots.c ----------------------------------------------- */

enum { fast_max_updates = 32 };

/** A change of one row's mode as H + u v': what undoes it in a solve. */
typedef struct fast_update {
  int a, b; /* v is zero but for these bodies; b may be -1 */
  double v_a[6], v_b[6];
  double factor; /* 1 / (1 + v' H^-1 u) */
} fast_update;

/** A limit that the path runs against. */
typedef struct fast_limit {
  double room, speed; /* m/s and its rate, >= 0 and > 0 */
  int row, state;      /* that the row takes there */
} fast_limit;

/** Find every row's cluster and every cluster's edge, which pivots need. */
void fast_pivots_prepare(fast_work *work);

/**
 * Follow the piecewise linear path of  w + t d  from work->p at t = 1, where d
 * makes it a solution, to t = 0: one row a pivot changes its mode. Works on the
 * problem with the present relaxation and bias; work->p is the end of the path,
 * its modes stay in work->mode. Also after a failure p is within its limits.
 *
 * @return true when t = 0 was reached in `max_pivots`.
 */
bool fast_pivots_solve(fast_work *work, long max_pivots);

/** Worth a try where few modes are wrong: work->p's pivots, and what rounding
 *  left by modes. None in structures so large that every pivot is dear.
 *  @return true when the target is reached. */
bool fast_pivots_finish(fast_work *work, long max_pivots);

/** fast_pivots_solve from no impulses, with d > 0 on every bounded row: Lemke's method
 *  in the box formulation.
 *  @param unevenness  0 .. 1: by how much d differs between rows; another one
 *                     is another path. */
bool fast_pivots_cold(fast_work *work, double unevenness, long max_pivots);

/* ---- ways round folds: fast_proximal.c, fast_relaxed.c ------------------- */

/**
 * From work->p: solve with impulses held to the last ones by a compliance of
 * `prox` of the diagonal, then ever less, by Newton steps or pivots.
 *
 * @return true when the target is reached.
 */
bool fast_proximal_solve(fast_work *work, double prox);

/** The same from nothing, from the largest prox on and with ever shorter steps
 *  of it where one does not end: tens of stages, if it must be. */
bool fast_proximal_crash(fast_work *work);

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
