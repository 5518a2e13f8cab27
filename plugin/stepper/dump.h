/* Problems of steps written to folders, see ode_mlcp_dump. */
#ifndef ODE_MLCP_STEPPER_DUMP_H
#define ODE_MLCP_STEPPER_DUMP_H

#include "ode_mlcp.h"

/** At the end of a step of `world`, after its observers: write what was kept of
 *  its problems. `number` tells worlds apart, from 1. */
void dump_end_step(dWorldID world, long number, const ode_mlcp_report *report);

#endif
