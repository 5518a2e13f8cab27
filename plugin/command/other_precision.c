#include "command/other_precision.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/preloads.h"
#include "gap/real.h"

static char **arguments;

void other_precision_begin(int argc, char **argv) {
  size_t size = ((size_t)argc + 1) * sizeof *argv;
  arguments = malloc(size);
  if (arguments != NULL) memcpy(arguments, argv, size);
}

void other_precision_become(void) {
  static const char *const for_single[] = {"single",
                                           "../lib/ode-mlcp/single/bin"};
  static const char *const for_double[] = {"..", "../../../../bin"};
  const bool is_double = sizeof(dReal) == sizeof(double);
  char own[PATH_MAX], path[PATH_MAX + 64];
  if (arguments == NULL) return; /* there was no memory for them */
  for (int k = 0; k < 2 && preloads_own_folder(own); k++) {
    snprintf(path, sizeof path, "%s/%s/ode-mlcp", own,
             is_double ? for_single[k] : for_double[k]);
    execv(path, arguments);
  }
  if (is_double)
    execv(INSTALLED_LIBDIR "/ode-mlcp/single/bin/ode-mlcp", arguments);
}
