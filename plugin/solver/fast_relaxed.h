/* Easier problems on the way to the one that is asked. */
#ifndef ODE_MLCP_SOLVER_FAST_RELAXED_H
#define ODE_MLCP_SOLVER_FAST_RELAXED_H

#include "solver/fast_work.h"

/** Take the arrays that they need. @return false when memory runs out. */
bool fast_relaxed_reserve(fast_work *work);

/** Bring work->p near a solution by way of softer problems, whose path has fewer
 *  turning points: compliances of a hundredth of the diagonal, then less and
 *  less. Only a starting point; the best p is left alone. */
void fast_relaxed_approach(fast_work *work);

/** The same from nothing by way of less friction: every coefficient at most
 *  0.3, then more and more. */
void fast_friction_approach(fast_work *work);

#endif
