/* What the files of this room, tests and benches share of the steppers. */
#ifndef ODE_MLCP_STEPPER_STEPPER_H
#define ODE_MLCP_STEPPER_STEPPER_H

#include "schemes/scheme.h"

/** What every new world's stepper takes its memory from: malloc, or what tests
 *  put in its place. It must be safe to use from several threads. */
const memory_source *stepper_memory(void);
void stepper_set_memory(const memory_source *source);

/** Look at every problem of every step, for dumps, tests and benches. One
 *  observer a process, NULL for none; set between steps. */
void stepper_observe_solves(solve_observer *observer, void *context);

/** The settings, memory and contacts of an attached world, NULL where it is
 *  none. */
const ode_mlcp_options *stepper_options(dWorldID world,
                                        const memory_source **source,
                                        contact_source **contacts);

#endif
