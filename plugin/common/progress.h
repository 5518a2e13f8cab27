/* Word of work that takes long.
 *
 * Who begins it sets a watch for the thread; what does it calls progress_tick
 * now and then, and knows of no watch. A watch may look at the clock and speak,
 * never change what is computed. */
#ifndef ODE_MLCP_COMMON_PROGRESS_H
#define ODE_MLCP_COMMON_PROGRESS_H

typedef struct progress_watch {
  void (*tick)(void *context);
  void *context;
} progress_watch;

/** Set this thread's watch. @return the one that it had, to be set again */
progress_watch progress_set_watch(progress_watch watch);

/** A piece of work is done: a factorisation, a pivot. */
void progress_tick(void);

#endif
