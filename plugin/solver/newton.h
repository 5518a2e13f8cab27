/* Newton's method in velocities on M (v - v_base) - J' p(v) = 0: what continuation.c
 * and cone.c share. */
#ifndef ODE_MLCP_SOLVER_NEWTON_H
#define ODE_MLCP_SOLVER_NEWTON_H

#include "solver/box.h"

/** balance = M (v - v_base) - J' p. momentum is overwritten. */
void newton_balance(const box_problem *box, const double v[], const double p[],
                    double momentum[], double balance[]);

/** p . J dv of the impulses at v + t dv. */
typedef double newton_work_at(void *of, double t);

/**
 * Where on the step dv the balance's share along it is gone for the most part.
 *
 * @param at_0  that share at its beginning, below 0
 * @return t in (0, 1]
 */
double newton_line(const box_problem *box, const double v[], const double dv[],
                   double momentum[], double at_0, newton_work_at *work_at,
                   void *of);

#endif
