/* A file of results, written whole or not at all: under a name of its own in the
 * same folder and then renamed. What is no plain file is written in place. */
#ifndef ODE_MLCP_COMMAND_RESULT_FILE_H
#define ODE_MLCP_COMMAND_RESULT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct result_file {
  FILE *out;
  char name[PATH_MAX];                       /* as it was given */
  char path[PATH_MAX], draft[PATH_MAX + 32]; /* links followed */
} result_file;

/** `path` may be a printf format of what follows `size`. @return false with a line
 *  in `message` [size] where it cannot be written. */
bool result_begin(result_file *file, char *message, size_t size,
                  const char *path, ...) __attribute__((format(printf, 4, 5)));

/** Done with it, after a start that succeeded. @param whole  all that was to be
 *  written could be made. @return false with a line in `message` where it is not
 *  there. */
bool result_end(result_file *file, bool whole, char *message, size_t size);

#endif
