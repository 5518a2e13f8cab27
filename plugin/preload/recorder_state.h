/* The state of a world around a step, told as it is: preload/traffic.h. */
#ifndef ODE_MLCP_PRELOAD_RECORDER_STATE_H
#define ODE_MLCP_PRELOAD_RECORDER_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include <ode/ode.h>

#include "preload/traffic.h"

/** Look at the world before a step, and have the forces of its joints noted.
 *  @return the record that is being told; NULL without memory. */
traffic_step *state_begin(dWorldID world, double step_size);

/** And after it: all of the record is filled that is the world's. Where the
 *  step failed, what was lent to the world is taken back all the same. */
void state_end(dWorldID world, double step_size, traffic_step *step);

/** Bodies of the step. */
dBodyID const *state_bodies(size_t *count);

/** The stepper takes the rows of joints halfway through a step, not as it begins:
 *  schemes of second order. */
void state_rows_halfway(void);

#endif
