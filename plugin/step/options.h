#ifndef ODE_MLCP_STEP_OPTIONS_H
#define ODE_MLCP_STEP_OPTIONS_H

#include <stdbool.h>

#include "ode_mlcp.h"

/** Whether every setting is in its range. */
bool options_valid(const ode_mlcp_options *options);

#endif
