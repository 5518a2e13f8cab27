/* Lines on standard error from inside somebody else's program. */
#ifndef ODE_MLCP_PRELOAD_MESSAGE_H
#define ODE_MLCP_PRELOAD_MESSAGE_H

#include <stdatomic.h>

/** One line, behind "ode-mlcp: ". */
void __attribute__((format(printf, 1, 2))) message_say(const char *format, ...);

/** Where to count that a process has told why it ends. */
void message_count_ends(atomic_int *count);

/** The same, and this process ends, with status 2. */
void __attribute__((noreturn, format(printf, 1, 2)))
message_end(const char *format, ...);

#endif
