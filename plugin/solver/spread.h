/* Impulses of one pair of bodies spread over its rows as stiffness has it. */
#ifndef ODE_MLCP_SOLVER_SPREAD_H
#define ODE_MLCP_SOLVER_SPREAD_H

#include "solver/solve_work.h"

/** Impulses of pairs of bodies in work->p, which may be out of their limits,
 *  spread by stiffness within them. */
void spread_impulses(solve_work *work);

#endif
