/* Position errors that velocity does not correct, corrected by moving.
 *
 * What a row's target velocity leaves of its position error (its `excess`) is
 * made up by a push-out u, m/s and rad/s, that moves the bodies over the step
 * together with their velocity but is not kept (docs/formulation.md, eq. 10):
 *
 *   min 1/2 u'M u + 1/2 p'd p   so that   J u + d p >= excess - w
 *
 * on normal rows and one-sided joint rows, = on two-sided ones, where w is what
 * the velocities have left there. There is no friction in it: what friction
 * jams comes apart, and a push-out always exists.
 */
#ifndef ODE_MLCP_STEP_PUSH_OUT_H
#define ODE_MLCP_STEP_PUSH_OUT_H

#include "rows/row_set.h"

/** The problem of a push-out; arrays grow as needed. */
typedef struct push_out {
  mlcp_problem problem;   /* its solution's v is u */
  mlcp_solution solution; /* room for it */
  memory_block bodies, rows, v, p, none;
} push_out;

typedef enum push_out_status {
  PUSH_OUT_NONE,  /* no row asks for one */
  PUSH_OUT_BUILT, /* to be solved */
  PUSH_OUT_NO_MEMORY
} push_out_status;

/**
 * Build the push-out that belongs to a step's velocities.
 *
 * @param solution     of `problem`: v and p are read
 * @param corrections  [n_rows]; those of friction rows are not read
 */
push_out_status push_out_build(push_out *push, const memory_source *source,
                               const mlcp_problem *problem,
                               const mlcp_solution *solution,
                               const row_correction corrections[]);

/** Shorten a solved push-out so that no body turns by more than half a radian
 *  in a step: rows hold for small turns only. What is left is left to the next
 *  steps. */
void push_out_limit(push_out *push, double step_size);

void push_out_release(push_out *push, const memory_source *source);

#endif
