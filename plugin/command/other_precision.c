#include "command/other_precision.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "command/preloads.h"
#include "gap/real.h"

static char **arguments;

void other_precision_begin(char **argv) { arguments = argv; }

void other_precision_become(void) {
  static const char *const for_single[] = {"single",
                                           "../lib/ode-mlcp/single/bin"};
  static const char *const for_double[] = {"..", "../../../../bin"};
  const bool is_double = sizeof(dReal) == sizeof(double);
  char own[PATH_MAX], path[PATH_MAX + 64];
  for (int k = 0; k < 2 && preloads_own_folder(own); k++) {
    snprintf(path, sizeof path, "%s/%s/ode-mlcp", own,
             is_double ? for_single[k] : for_double[k]);
    execv(path, arguments);
  }
  if (is_double)
    execv(INSTALLED_LIBDIR "/ode-mlcp/single/bin/ode-mlcp", arguments);
}
