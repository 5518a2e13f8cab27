#include "preload/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const settings_name settings_names[] = {
    {"scheme", "ODE_MLCP_SCHEME"},
    {"edges", "ODE_MLCP_EDGES"},
    {"friction", "ODE_MLCP_FRICTION"},
    {"alpha", "ODE_MLCP_ALPHA"},
    {"events", "ODE_MLCP_EVENTS"},
    {"approach", "ODE_MLCP_APPROACH"},
    {"check-cone", "ODE_MLCP_CHECK_CONE"},
    {"min-substep", "ODE_MLCP_MIN_SUBSTEP"},
    {"max-events", "ODE_MLCP_MAX_EVENTS"},
    {"impact", "ODE_MLCP_IMPACT"},
    {"impact-seed", "ODE_MLCP_IMPACT_SEED"},
    {"fixed-point", "ODE_MLCP_FIXED_POINT"},
    {"erp", "ODE_MLCP_ERP"},
    {"max-correction", "ODE_MLCP_MAX_CORRECTION"},
    {"solver", "ODE_MLCP_SOLVER"},
    {"tolerance", "ODE_MLCP_TOLERANCE"},
    {"max-contacts", "ODE_MLCP_MAX_CONTACTS"},
    {"margin", "ODE_MLCP_MARGIN"},
    {NULL, NULL}};

bool settings_set(ode_mlcp_options *options, const char *option,
                  const char *value, char *message, size_t message_size) {
  char problem[400];

  if (ode_mlcp_set_option(options, option, value, problem, sizeof problem) ==
      ODE_MLCP_OK)
    return true;
  // the caller names the setting in its own way
  size_t length = strlen(option);
  bool named = strncmp(problem, option, length) == 0 &&
               strncmp(problem + length, ": ", 2) == 0;
  snprintf(message, message_size, "%s", problem + (named ? length + 2 : 0));
  return false;
}

bool settings_dump_when(ode_mlcp_dump_when *when, const char *value) {
  if (strcmp(value, "degraded") == 0) *when = ODE_MLCP_DUMP_DEGRADED;
  else if (strcmp(value, "slow") == 0) *when = ODE_MLCP_DUMP_SLOW;
  else if (strcmp(value, "all") == 0) *when = ODE_MLCP_DUMP_ALL;
  else return false;
  return true;
}

bool settings_from_environment(ode_mlcp_options *options, char *message,
                               size_t message_size) {
  char problem[400];

  for (const settings_name *name = settings_names; name->option; name++) {
    const char *value = getenv(name->variable);
    if (value == NULL || *value == '\0') continue;
    if (settings_set(options, name->option, value, problem, sizeof problem))
      continue;
    snprintf(message, message_size, "%s: %s", name->variable, problem);
    return false;
  }
  return true;
}
