#define _GNU_SOURCE // environ, pipe2
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

static const char PRELOAD[] = "LD_PRELOAD=";

/* The environment with this preloaded alone; from malloc. */
static char **make_environment(char *preload) {
  size_t count = 0, kept = 0;
  while (environ[count] != NULL) count++;
  char **made = malloc((count + 2) * sizeof *made);
  if (made == NULL) return NULL;
  for (size_t k = 0; k < count; k++)
    if (strncmp(environ[k], PRELOAD, sizeof PRELOAD - 1) != 0)
      made[kept++] = environ[k];
  made[kept++] = preload;
  made[kept] = NULL;
  return made;
}

/* Starts `loader --list program`, which writes to `output`. Other threads may be at
 * work, so that nothing is done between fork and exec. */
static bool start(const char *loader, const char *program, char *preload,
                  int output, pid_t *child) {
  char *words[] = {(char *)loader, (char *)"--list", (char *)program, NULL};
  char **environment = make_environment(preload);
  posix_spawn_file_actions_t files;
  if (environment == NULL || posix_spawn_file_actions_init(&files) != 0) {
    free(environment);
    return false;
  }
  bool started =
      posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO) == 0 &&
      posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null",
                                       O_WRONLY, 0) == 0 &&
      posix_spawn(child, loader, &files, NULL, words, environment) == 0;
  posix_spawn_file_actions_destroy(&files);
  free(environment);
  return started;
}

/* A stream of what `loader --list` says about `program`. */
static FILE *start_listing(const char *loader, const char *program,
                           char *preload, pid_t *child) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return NULL;
  bool started = start(loader, program, preload, ends[1], child);
  close(ends[1]);
  FILE *listing = started ? fdopen(ends[0], "r") : NULL;
  if (listing == NULL) close(ends[0]);
  if (listing == NULL && started) waitpid(*child, NULL, 0);
  return listing;
}

/* An ODE library of a line "name => file (address)" or "file (address)", whose name is
 * returned; NULL for others. */
static const char *read_line(char *line, const char **file) {
  char *name = line + strspn(line, " \t"), *arrow = strstr(name, " => ");
  char *address = strstr(name, " (0x");
  if (address != NULL) *address = '\0';
  name[strcspn(name, "\n")] = '\0';
  *file = name;
  if (arrow != NULL) {
    *arrow = '\0';
    *file = arrow + strlen(" => ");
  }
  const char *slash = strrchr(name, '/'),
             *last = slash != NULL ? slash + 1 : name;
  return ode_file_has_name(last) ? last : NULL;
}

/* The first ODE library of a listing, those that are preloaded first; false where there
 * is none. */
static bool find(const char *loader, const char *program, const char *preload,
                 char name[NAME_MAX + 1], char library[PATH_MAX]) {
  char variable[sizeof PRELOAD + NAME_MAX], *line = NULL;
  size_t room = 0;
  bool found = false;
  pid_t child;
  snprintf(variable, sizeof variable, "%s%s", PRELOAD, preload);
  FILE *listing = start_listing(loader, program, variable, &child);
  if (listing == NULL) return false;
  while (getline(&line, &room, listing) > 0) {
    const char *file, *word = found ? NULL : read_line(line, &file);
    if (word == NULL) continue;
    found = true;
    snprintf(name, NAME_MAX + 1, "%s", word);
    snprintf(library, PATH_MAX, "%s", file);
  }
  free(line);
  fclose(listing);
  waitpid(child, NULL, 0);
  return found;
}

bool host_probe_name(const char *loader, const char *program, const char *name,
                     char library[PATH_MAX]) {
  char taken[NAME_MAX + 1];
  return find(loader, program, name, taken, library) &&
         strcmp(taken, name) == 0;
}

host_probe_result host_probe(const char *loader, const char *program,
                             char library[PATH_MAX]) {
  char name[NAME_MAX + 1], soname[NAME_MAX + 1];
  if (!find(loader, program, "", name, library)) return HOST_PROBE_FITS;
  if (strcmp(name, ODE_FILE_SONAME) != 0) {
    snprintf(library, PATH_MAX, "%s", name);
    return HOST_PROBE_OTHER_NAME;
  }
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
