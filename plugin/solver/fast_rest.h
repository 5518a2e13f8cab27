/* Structures at rest: walls and stacks, whose rows are nearly all active. */
#ifndef ODE_MLCP_SOLVER_FAST_REST_H
#define ODE_MLCP_SOLVER_FAST_REST_H

#include "solver/fast_work.h"

/** Whether work->p, last step's impulses, are nearly those of a structure that
 *  rests: but for a few rows they are where they should be. */
bool fast_rest_may(const fast_work *work);

/** From work->p, last step's impulses of a structure that rests: their active
 *  set corrected. @return true when the target is reached. */
bool fast_rest_correct(fast_work *work);

/** From nothing, by way of softer contacts: the active set of a structure in
 *  which nearly all rows are active. Soon given up where they are not.
 *  @return true when the target is reached. */
bool fast_rest_approach(fast_work *work);

#endif
