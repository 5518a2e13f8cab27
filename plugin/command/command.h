/* The subcommands of `ode-mlcp`. Each gets its own name as argv[0] and returns
 * the exit status: 0 done, 1 ran and fell short, 2 wrong use or bad input. */
#ifndef ODE_MLCP_COMMAND_COMMAND_H
#define ODE_MLCP_COMMAND_COMMAND_H

enum command_status {
  COMMAND_DONE = 0,
  COMMAND_FELL_SHORT = 1,
  COMMAND_WRONG_USE = 2
};

/** Run a program's worlds on ode-mlcp; returns only when it cannot start. */
int command_run(int argc, char **argv);

/** Solve an LCP or a problem's folder and verify the answer. */
int command_solve(int argc, char **argv);

#endif
