#define _GNU_SOURCE // dl_iterate_phdr, pipe2
#include "preload/host_probe.h"

#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/ode_file.h"

/* That of this very process, which comes first. */
static int find_loader(struct dl_phdr_info *object, size_t size, void *loader) {
  (void)size;
  for (int k = 0; k < object->dlpi_phnum; k++)
    if (object->dlpi_phdr[k].p_type == PT_INTERP)
      *(const void **)loader =
          (const void *)(object->dlpi_addr + object->dlpi_phdr[k].p_vaddr);
  return 1;
}

/* A stream of what `loader --list program` says with one library preloaded, or none.
 * Other threads may be at work, so that nothing is done between fork and exec. */
static FILE *start_listing(const char *program, const char *preloaded,
                           pid_t *child) {
  static const char PATHS[] = "LD_LIBRARY_PATH";
  char preload[NAME_MAX + 16], *paths = getenv(PATHS);
  char *words[] = {NULL, (char *)"--list", (char *)program, NULL};
  // the variable's name and its = stand before its value
  char *environment[] = {preload, paths != NULL ? paths - sizeof PATHS : NULL,
                         NULL};
  int ends[2];
  posix_spawn_file_actions_t files;
  snprintf(preload, sizeof preload, "LD_PRELOAD=%s", preloaded);
  dl_iterate_phdr(find_loader, &words[0]);
  if (words[0] == NULL || pipe2(ends, O_CLOEXEC) != 0) return NULL;
  posix_spawn_file_actions_init(&files);
  bool started =
      posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO) == 0 &&
      posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null",
                                       O_WRONLY, 0) == 0 &&
      posix_spawn(child, words[0], &files, NULL, words, environment) == 0;
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  FILE *listing = started ? fdopen(ends[0], "r") : NULL;
  if (listing == NULL) close(ends[0]);
  if (listing == NULL && started) waitpid(*child, NULL, 0);
  return listing;
}

/* The first ODE library of a listing, those that are preloaded first: its name and its
 * file, of a line "name => file (address)" or "file (address)". */
static bool read_listing(FILE *listing, char name[PATH_MAX],
                         char file[PATH_MAX]) {
  char *line = NULL;
  size_t room = 0;
  bool found = false;
  while (getline(&line, &room, listing) > 0) {
    char *word = line + strspn(line, " \t"), *arrow = strstr(word, " => ");
    char *address = strstr(word, " (0x");
    if (address != NULL) *address = '\0';
    if (arrow != NULL) *arrow = '\0';
    if (found || !ode_file_has_name(word)) continue;
    found = true;
    snprintf(name, PATH_MAX, "%s",
             strrchr(word, '/') != NULL ? strrchr(word, '/') + 1 : word);
    snprintf(file, PATH_MAX, "%s", arrow != NULL ? arrow + 4 : word);
  }
  free(line);
  return found;
}

host_probe_result host_probe(const char *program, const char *opened,
                             char *message, size_t message_size) {
  char name[PATH_MAX], file[PATH_MAX];
  pid_t child;
  FILE *listing = start_listing(program, opened != NULL ? opened : "", &child);
  if (listing == NULL) return HOST_PROBE_FITS;
  bool found = read_listing(listing, name, file);
  fclose(listing);
  waitpid(child, NULL, 0);
  if (!found) return HOST_PROBE_FITS;
  // one that is opened may have the name that links are made with, libode.so
  if (opened == NULL && strcmp(name, ODE_FILE_SONAME) != 0) {
    snprintf(message, message_size,
             "%s: needs %s; only " ODE_FILE_SONAME " can be stood in for",
             program, name);
    return HOST_PROBE_OTHER_NAME;
  }
  if (ode_file_read(file) != ODE_FILE_OTHER_PRECISION) return HOST_PROBE_FITS;
  snprintf(message, message_size,
           "%s: its ODE library, %s, is in %s precision; this ode-mlcp is for "
           "%s",
           program, file, ODE_FILE_PRECISION(false), ODE_FILE_PRECISION(true));
  return HOST_PROBE_OTHER_PRECISION;
}
