/* A program that this process starts and waits for, in the same process group: to a
 * shell and to the program the two are as one. */
#ifndef ODE_MLCP_COMMAND_CHILD_H
#define ODE_MLCP_COMMAND_CHILD_H

#include <sys/types.h>

/** fork(), for a child that becomes a program at once. It dies with this process. From
 *  here on all signals wait for child_wait. */
pid_t child_fork(void);

/** Wait until it has ended. Signals that this process alone is sent are handed on; when
 *  the child stops, so does this process, until it is told to go on.
 *  @return as of waitpid */
int child_wait(pid_t child);

/** Die of the signal that a child died of. Returns where that ends nothing. */
void child_die_of(int number);

#endif
