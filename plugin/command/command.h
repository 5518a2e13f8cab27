/* The subcommands of `ode-mlcp`. Each gets its own name as argv[0] and returns
 * the exit status: 0 done, 1 ran and fell short, 2 wrong use or bad input. */
#ifndef ODE_MLCP_COMMAND_COMMAND_H
#define ODE_MLCP_COMMAND_COMMAND_H

#include <stdbool.h>

enum command_status {
  COMMAND_DONE = 0,
  COMMAND_FELL_SHORT = 1,
  COMMAND_WRONG_USE = 2
};

/** Run a program's worlds on ode-mlcp; returns only when it cannot start. */
int command_run(int argc, char **argv);

/** Check a setting's value and hand it on to programs, as an environment
 *  variable. As command_line.take_setting; `context` is not used. */
bool command_hand_on(void *context, const char *name, const char *value);

/** Run a program on several steppers and set their results side by side. */
int command_compare(int argc, char **argv);

/** Draw traces. */

/** Solve an LCP or a problem's folder and verify the answer. */
int command_solve(int argc, char **argv);

#endif
