#define _GNU_SOURCE // pipe2
#include "preload/host_probe.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/ode_file.h"

/* The environment without what is preloaded; from malloc. */
static char **bare_environment(void) {
  static const char preload[] = "LD_PRELOAD=";
  size_t count = 0, kept = 0;
  while (environ[count] != NULL) count++;
  char **bare = malloc((count + 1) * sizeof *bare);
  for (size_t k = 0; bare != NULL && k < count; k++)
    if (strncmp(environ[k], preload, sizeof preload - 1) != 0)
      bare[kept++] = environ[k];
  if (bare != NULL) bare[kept] = NULL;
  return bare;
}

/* Starts `loader --list program`, which writes to `output`. Other threads may be at
 * work, so that nothing is done between fork and exec. */
static bool start(const char *loader, const char *program, int output,
                  pid_t *child) {
  char *words[] = {(char *)loader, (char *)"--list", (char *)program, NULL};
  char **bare = bare_environment();
  posix_spawn_file_actions_t files;
  if (bare == NULL || posix_spawn_file_actions_init(&files) != 0) {
    free(bare);
    return false;
  }
  bool started =
      posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO) == 0 &&
      posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null",
                                       O_WRONLY, 0) == 0 &&
      posix_spawn(child, loader, &files, NULL, words, bare) == 0;
  posix_spawn_file_actions_destroy(&files);
  free(bare);
  return started;
}

/* A stream of what `loader --list` says about `program`. */
static FILE *start_listing(const char *loader, const char *program,
                           pid_t *child) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return NULL;
  bool started = start(loader, program, ends[1], child);
  close(ends[1]);
  FILE *listing = started ? fdopen(ends[0], "r") : NULL;
  if (listing == NULL) close(ends[0]);
  if (listing == NULL && started) waitpid(*child, NULL, 0);
  return listing;
}

/* Reads a line "name => file (address)" or "file (address)". */
static bool read_line(const char *line, char name[PATH_MAX],
                      char file[PATH_MAX]) {
  char rest[PATH_MAX] = "";

  if (sscanf(line, " %4095s => %4095[^\n]", name, rest) < 1) return false;
  snprintf(file, PATH_MAX, "%s", rest[0] != '\0' ? rest : name);
  char *address = strstr(file, " (0x");
  if (address != NULL) *address = '\0';

  const char *slash = strrchr(name, '/');
  if (slash != NULL) memmove(name, slash + 1, strlen(slash));
  return ode_file_has_name(name);
}

host_probe_result host_probe(const char *loader, const char *program,
                             char library[PATH_MAX]) {
  static char line[2 * PATH_MAX], name[PATH_MAX];
  bool found = false;
  pid_t child;

  FILE *listing = start_listing(loader, program, &child);
  if (listing == NULL) return HOST_PROBE_FITS;
  while (fgets(line, sizeof line, listing) != NULL)
    if (!found) found = read_line(line, name, library);
  fclose(listing);
  waitpid(child, NULL, 0);

  if (!found) return HOST_PROBE_FITS;
  if (strcmp(name, ODE_FILE_SONAME) != 0) {
    snprintf(library, PATH_MAX, "%s", name);
    return HOST_PROBE_OTHER_NAME;
  }
  char soname[NAME_MAX + 1];
  return library[0] == '/' &&
                 ode_file_read(library, soname) == ODE_FILE_OTHER_PRECISION
             ? HOST_PROBE_OTHER_PRECISION
             : HOST_PROBE_FITS;
}

void host_probe_explain(host_probe_result result, const char *program,
                        const char *library, char *message,
                        size_t message_size) {
  if (result == HOST_PROBE_OTHER_PRECISION)
    snprintf(message, message_size,
             "%s: its ODE library, %s, is in %s precision; this ode-mlcp is "
             "for %s",
             program, library, ODE_FILE_PRECISION(false),
             ODE_FILE_PRECISION(true));
  else
    snprintf(message, message_size,
             "%s: needs %s; only " ODE_FILE_SONAME " can be stood in for",
             program, library);
}
