/* Lines on standard error from inside somebody else's program. */
#ifndef ODE_MLCP_PRELOAD_MESSAGE_H
#define ODE_MLCP_PRELOAD_MESSAGE_H

/** Keep a standard error of our own: some programs close theirs before the last
 *  exit handler runs. Until message_let_go. */
void message_keep_stderr(void);

/** Close it again: a forked child must not hold its parent's pipe open. */
void message_let_go(void);

/** The descriptor of it, -1: none was kept. */
int message_kept_stderr(void);

/** One line, "ode-mlcp: " and then `parts` up to the first NULL;
 *  async-signal-safe. */
void message_say(const char *const parts[]);

/** The words for an errno; async-signal-safe, not translated. */
const char *message_reason(int error);

#endif
