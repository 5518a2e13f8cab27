/* Settings as environment variables. */
#ifndef ODE_MLCP_PRELOAD_SETTINGS_H
#define ODE_MLCP_PRELOAD_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "ode_mlcp.h"

#define SETTINGS_STATS_VARIABLE "ODE_MLCP_STATS"
#define SETTINGS_TRACE_VARIABLE "ODE_MLCP_TRACE"
#define SETTINGS_DUMP_VARIABLE "ODE_MLCP_DUMP"
#define SETTINGS_DUMP_WHEN_VARIABLE "ODE_MLCP_DUMP_WHEN"

/** A setting by the name it has in ode_mlcp_set_option. */
typedef struct settings_name {
  const char *option;   /* "max-correction" */
  const char *variable; /* "ODE_MLCP_MAX_CORRECTION" */
} settings_name;

/** All that ode_mlcp_set_option knows; ends with {NULL, NULL}. */
extern const settings_name settings_names[];

/** ode_mlcp_set_option, with a message that does not begin with the name of
 *  the option. @return false for a bad value. */
bool settings_set(ode_mlcp_options *options, const char *option,
                  const char *value, char *message, size_t message_size);

/** Read "degraded", "slow" or "all". @return false for anything else. */
bool settings_dump_when(ode_mlcp_dump_when *when, const char *value);

/**
 * Read every variable that is set and not empty into `options`.
 *
 * @param message  [message_size] out: on failure one line that names the
 *                 variable, its value and what is allowed.
 * @return false at the first bad value.
 */
bool settings_from_environment(ode_mlcp_options *options, char *message,
                               size_t message_size);

#endif
