/* The program that the command is asked to start. */
#ifndef ODE_MLCP_COMMAND_PROGRAM_H
#define ODE_MLCP_COMMAND_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

typedef struct program {
  char path[PATH_MAX]; /* with a slash in it */
} program;

/** Find it as execvp does, and ask whether it can run on the patched host: else says in
 *  one line why not. Where it needs a host of the other precision, the ode-mlcp for
 *  that takes over, if there is one. */
bool program_check(program *found, const char *name);

#endif
