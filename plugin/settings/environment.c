#include "settings/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void environment_variable(const char *name, char variable[ENVIRONMENT_NAME]) {
  snprintf(variable, ENVIRONMENT_NAME, "ODE_MLCP_%s", name);
  for (char *c = variable; *c != '\0'; c++) {
    if (*c == '-') *c = '_';
    if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
  }
}

bool environment_read(ode_mlcp_options *options, char *message,
                      size_t message_size) {
  char name[32], variable[ENVIRONMENT_NAME], problem[400];

  for (int i = 0; ode_mlcp_option_name(i, name, sizeof name) == ODE_MLCP_OK;
       i++) {
    environment_variable(name, variable);
    const char *value = getenv(variable);
    if (value == NULL || *value == '\0' ||
        ode_mlcp_set_option(options, name, value, problem, sizeof problem) ==
            ODE_MLCP_OK)
      continue;
    // the message names the option, which nobody has given
    snprintf(message, message_size, "%s%s", variable, problem + strlen(name));
    return false;
  }
  return true;
}
