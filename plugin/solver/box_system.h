/* One linear system of the stages, in body space.
 *
 * Rows answer slips r with impulses dp = W (r - J dv), where W has a few weights a
 * row (box_weights); with M dv = J' dp this gives
 *
 *   H dv = J' W r,   H = M + J' W J
 *
 * whose pattern is the contact graph's whatever the weights are, so that any
 * number of redundant rows is harmless.
 */
#ifndef ODE_MLCP_SOLVER_BOX_SYSTEM_H
#define ODE_MLCP_SOLVER_BOX_SYSTEM_H

#include "solver/box.h"

/**
 * Assemble and factor H.
 *
 * @param symmetric  promises that every W is symmetric.
 * @param anew       out: false where the last factors are H's.
 * @return false when H is singular to working precision or not finite.
 */
bool box_system_factor(body_blocks *blocks, const box_problem *box,
                       const box_weights *weights, bool symmetric, bool *anew);

/**
 * Solve for one right-hand side.
 *
 * @param r     [n_rows] slips to be answered; finite.
 * @param dv    [6 n_bodies] out.
 * @param dp    [n_rows] out.
 * @param work  [n_rows] overwritten.
 */
void box_system_solve(const body_blocks *blocks, const box_problem *box,
                      const box_weights *weights, const double r[], double dv[],
                      double dp[], double work[]);

/** dp = W (r - J dv): what is left of a solve where dv is known; J dv to Jdv. */
void box_system_answer(const box_problem *box, const box_weights *weights,
                       const double r[], const double dv[], double dp[],
                       double work[], double Jdv[]);

/** Weights of rows without shared compliance become those with it:
 *  dp = own (x - cross dp_other) + follow x_normal, solved for both dp of a set. */
void box_system_cross(const box_problem *box, box_weights *weights);

/** y = W x, row by row; [n_rows] each. */
void box_system_weigh(const box_problem *box, const box_weights *weights,
                      const double x[], double y[]);

#endif
