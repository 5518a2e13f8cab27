/* Shared by the files of this room: the steppers. */
#ifndef ODE_MLCP_STEPPER_STEPPER_H
#define ODE_MLCP_STEPPER_STEPPER_H

#include "schemes/scheme.h"

/** The settings, memory and contacts of an attached world, NULL where it is
 *  none. */
const ode_mlcp_options *stepper_options(dWorldID world,
                                        const memory_source **source,
                                        contact_source **contacts);

#endif
