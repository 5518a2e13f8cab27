#include "command/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/arguments.h"
#include "command/preloads.h"
#include "gap/real.h"
#include "preload/host_probe.h"
#include "preload/ode_file.h"

static bool is_executable_file(const char *path) {
  struct stat file;
  return stat(path, &file) == 0 && S_ISREG(file.st_mode) &&
         access(path, X_OK) == 0;
}

/* Looks along PATH; an empty entry is the current folder. */
static bool find_on_path(char path[PATH_MAX], const char *name) {
  const char *folders = getenv("PATH");
  if (folders == NULL) folders = "/bin:/usr/bin";

  for (const char *start = folders;; start++) {
    size_t length = strcspn(start, ":");
    int needed = length == 0 ? snprintf(path, PATH_MAX, "./%s", name)
                             : snprintf(path, PATH_MAX, "%.*s/%s", (int)length,
                                        start, name);
    if (needed < PATH_MAX && is_executable_file(path)) return true;
    start += length;
    if (*start == '\0') return false;
  }
}

static bool find(char path[PATH_MAX], const char *name) {
  if (strchr(name, '/') != NULL)
    return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX ||
           complain("the program's name is too long") == 0;
  return (*name != '\0' && find_on_path(path, name)) ||
         complain("'%s': no such program on PATH", name) == 0;
}

char **program_words;

/* Go on as the command for a host in the other precision: as that is built, or
 * installed. Returns where there is none. */
static void become_other_precision(void) {
  static const char *const for_single[] = {"single",
                                           "../lib/ode-mlcp/single/bin"};
  static const char *const for_double[] = {"..", "../../../../bin"};
  const bool is_double = sizeof(dReal) == sizeof(double);
  char own[PATH_MAX], path[PATH_MAX + 64];
  for (int k = 0; k < 2 && preloads_own_folder(own); k++) {
    snprintf(path, sizeof path, "%s/%s/ode-mlcp", own,
             is_double ? for_single[k] : for_double[k]);
    execv(path, program_words);
  }
  if (is_double)
    execv(INSTALLED_LIBDIR "/ode-mlcp/single/bin/ode-mlcp", program_words);
}

bool program_check(char path[PATH_MAX], const char *name) {
  char message[3 * PATH_MAX];
  if (!find(path, name)) return false;
  host_probe_result result = host_probe(path, NULL, message, sizeof message);
  if (result == HOST_PROBE_FITS) return true;
  if (result == HOST_PROBE_OTHER_PRECISION) become_other_precision();
  if (result == HOST_PROBE_OTHER_PRECISION)
    complain(
        "%s, and that for %s is missing: `./quickstart build --precision "
        "%s' makes it",
        message, ODE_FILE_PRECISION(false), ODE_FILE_PRECISION(false));
  else
    complain("%s", message);
  return false;
}
