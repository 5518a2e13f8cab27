/* Settings as environment variables: ODE_MLCP_MAX_EVENTS for max-events. */
#ifndef ODE_MLCP_SETTINGS_ENVIRONMENT_H
#define ODE_MLCP_SETTINGS_ENVIRONMENT_H

#include <stdbool.h>

#include "ode_mlcp.h"

/* what else `ode-mlcp run` hands on */
#define ENVIRONMENT_STATS "ODE_MLCP_STATS"
#define ENVIRONMENT_TRACE "ODE_MLCP_TRACE"
#define ENVIRONMENT_DUMP "ODE_MLCP_DUMP"
#define ENVIRONMENT_STRICT "ODE_MLCP_STRICT"

enum { ENVIRONMENT_NAME = 48 }; /* longest name of a variable, with its end */

/** The variable of the option `name`. */
void environment_variable(const char *name, char variable[ENVIRONMENT_NAME]);

/**
 * Read every variable that is set and not empty into `options`.
 *
 * @param message  [message_size] out: on failure one line that names the
 *                 variable, its value and what is allowed.
 * @return false at the first bad value.
 */
bool environment_read(ode_mlcp_options *options, char *message,
                      size_t message_size);

#endif
