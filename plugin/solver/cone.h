/* Whether the friction cone of a problem is pointed: Lemke's method is sure of
 * an answer where it is, and no contacts are locked.
 *
 * The cone is { J'p : c_n >= 0, friction within its polygon, joint rows free };
 * it is pointed unless impulses with some c_n > 0 add up to nothing: then these
 * contacts and joints can hold each other with any force. Of the linear program
 *
 *   max sum s_k,   s_k <= 1, s_k <= c_n,k,   J'p = 0,   p in the cone   (30)
 *
 * (s_k is 1 for every contact that can be locked, 0 for the others: impulses
 * that add up to nothing can be added and scaled) the bounded quadratic program
 *
 *   min 1/2 p'J M^-1 J'p - eps sum A_kk p_k,   0 <= p_k <= 1 per edge   (31)
 *
 * is the penalty form: friction edges that can be locked end at 1, others at a
 * few eps.
 */
#ifndef ODE_MLCP_SOLVER_CONE_H
#define ODE_MLCP_SOLVER_CONE_H

#include "solver/solver_convex.h"

typedef struct cone_check {
  solver_convex convex;
  bool pointed;
  bool *locked; /* [n_rows] of the problem: normal and joint rows that hold each
                   other with any force; until the next check */
  int n_contacts, n_joint_rows; /* locked */
  double residual;              /* of (31), relative */
} cone_check;

/** Check the cone of `problem`. Friction with a constant limit is left out: it
 *  is bounded, and no cone. What is taken of `source`, a pool, stays taken.
 * @return false when memory ran out. */
bool cone_check_run(cone_check *check, solver_workspace *workspace,
                    const memory_source *source, const mlcp_problem *problem);

#endif
