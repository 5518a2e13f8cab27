/* A reference: every step of the program taken as several shorter ones.
 *
 * Between two substeps the contacts of the pairs of geoms that the program's
 * own contact joints were made of are found again, with its surfaces; its own
 * joints rest meanwhile. Its collision callback, which may be part of its game,
 * is not called again. Forces that the program added act in every substep, and
 * damping, which the host takes once a step, is as much less in each. */
#ifndef ODE_MLCP_PRELOAD_RECORDER_SUBSTEPS_H
#define ODE_MLCP_PRELOAD_RECORDER_SUBSTEPS_H

#include <ode/ode.h>

typedef int step_function(dWorldID, dReal);

/** Contacts that the program's own collision calls found; to be told of each. */
void substeps_pair(dGeomID one, dGeomID other, int flags);

/** @return what the first substep that failed returned, or 1. */
int substeps_take(step_function *step, dWorldID world, dReal step_size,
                  unsigned count);

#endif
