/* What the stages of a solve share: the problem in the box formulation,
 * the iterates, and the memory of all of them. */
#ifndef ODE_MLCP_SOLVER_SOLVE_WORK_H
#define ODE_MLCP_SOLVER_SOLVE_WORK_H

#include "common/arena.h"
#include "solver/box_system.h"
#include "solver/solver_options.h"

/** What work on a problem costs. A unit is a thirteenth of ten of its factorisations
 *  with thirty solves, ten steps of an interior point, however its rows and its fill
 *  share it: about a factorisation. */
typedef struct work_cost {
  double factorisation, solve, pivot, sweep;
} work_cost;

typedef struct solve_work {
  arena arena; /* all of the arrays, and the methods' own */
  box_problem box;
  body_blocks blocks;

  /* the iterate: p within its limits, v and w belong to it */
  double *p, *v, *w;
  double residual;
  double *best_p;
  double best_residual;
  solver_stage stage, best_stage; /* that runs; that found best_p */

  /* [n_rows], dv [6 n_bodies]: a linear system and its right-hand side, and the
     point that its steps lead to */
  box_weights weights;
  double *softness, *r, *dp, *dv, *scratch, *kept_p;
  int *state;  /* see active_set.h */
  bool *known; /* [n_rows] those in the guess last taken */
  int n_known;

  /* what the methods take for themselves */
  struct interior_space *interior;
  struct pivot_space *pivot_space;
  struct continuation *continuation;

  double target; /* residual that ends a solve */
  double digits; /* <= target: looked for where it costs a solve */
  long factorisations, iterations, pivots;

  /* counted and never timed, so that a step has the same bits on every machine;
     beyond `budget` nothing is factored and no pivot made */
  double spent, budget;
  work_cost cost;
} solve_work;

/** Find work->cost: after the blocks are ordered. */
void solve_work_set_cost(solve_work *work);

/** Whether `cost` more is within the budget; it is spent then. */
bool solve_work_spend(solve_work *work, double cost);

/** Factor the system of work->weights into work->blocks, where the budget lasts: what has
 *  its factors there is not factored, but spends as much, so that the bits of a solve do
 *  not depend on what was solved before.
 *  @param symmetric  see box_system_factor */
bool solve_work_factor(solve_work *work, bool symmetric);

/** Few rows may change their state: a cold continuation comes to an end there. */
bool solve_work_has_few_limits(const solve_work *work);

/** Where a stage may end: at the target, or at all digits where few rows may change, as
 *  they cost a factorisation or two there, and of what is acceptable a crate on a shaken
 *  deck tips (test_schemes_world). */
double solve_work_goal(const solve_work *work);

/** Not even a factorisation is left. */
bool solve_work_is_spent(const solve_work *work);

/** Make room for the iterates of work->box; the methods take their own arrays
 *  by their *_reserve. @return false when memory runs out. */
bool solve_work_reserve(solve_work *work);

/** The residual of p, to which v and w belong; the best p is kept. */
void solve_work_judge(solve_work *work, double residual);

/** v, w and the residual of p, judged. */
void solve_work_evaluate(solve_work *work);

/** The best p again, evaluated. */
void solve_work_restore_best(solve_work *work);

/** p, brought into its limits, as the iterate, evaluated. */
void solve_work_take(solve_work *work, const double p[]);

#endif
