/* The program that the command is asked to start. */
#ifndef ODE_MLCP_COMMAND_PROGRAM_H
#define ODE_MLCP_COMMAND_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

/** All words that the command was started with, as main got them. */
extern char **program_words;

/** Find a program as execvp does, and ask whether it can run on the patched host: else
 *  says in one line why not. Where it needs a host of the other precision, the ode-mlcp
 *  for that takes over, if there is one.
 *
 *  @param path  out, with a slash in it */
bool program_check(char path[PATH_MAX], const char *name);

#endif
