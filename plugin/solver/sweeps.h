/* Projected Gauss-Seidel, as QuickStep has it: row after row, each takes the impulse that
 * ends its slip at the others' present ones, within its limits,
 *
 *   p_r <- mid(low, p_r - w_r / A_rr, high),  v <- v + M^-1 J_r' dp_r.
 *
 * It comes near an answer soon and to its last digits hardly ever.
 */
#ifndef ODE_MLCP_SOLVER_SWEEPS_H
#define ODE_MLCP_SOLVER_SWEEPS_H

#include "solver/solve_work.h"

/** Sweep the rows from the best impulses, as often as QuickStep does unless told, and
 *  evaluate what comes of it. @return false when memory runs out. */
bool sweeps_take(solve_work *work);

/** What that costs. */
double sweeps_cost(const solve_work *work);

#endif
