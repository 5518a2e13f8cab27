/* The program that `ode-mlcp run` is asked to start: found and looked at. */
#ifndef ODE_MLCP_COMMAND_PROGRAM_H
#define ODE_MLCP_COMMAND_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct program {
  char path[PATH_MAX];   /* with a slash in it */
  char loader[PATH_MAX]; /* of a dynamically linked ELF file; else empty */
} program;

/**
 * Find `name` as execvp does, and look whether anything can be preloaded into
 * it: a dynamically linked ELF file of this machine, or a script.
 *
 * @param message  [message_size] out: one line that says why not.
 * @return whether it can be started.
 */
bool program_find(program *found, const char *name, char *message,
                  size_t message_size);

/** Find it and see whether it can run on the patched host: else says in one line
 *  why not. Where it needs a host of the other precision, the ode-mlcp for that
 *  takes over, if there is one. */
bool program_check(program *found, const char *name);

#endif
