/* Settings of all worlds of the process. */
#ifndef ODE_MLCP_STEPPER_PROCESS_H
#define ODE_MLCP_STEPPER_PROCESS_H

#include "assembly/assembly.h"

typedef struct process_settings {
  const memory_source
      *memory; /* what every new world's stepper takes its memory
                                  from; safe to use from several threads */
  ode_mlcp_observer *observe_step; /* NULL: none; so for the next */
  void *step_context;
  solve_observer *observe_solve;
  void *solve_context;
  ode_mlcp_geom_function *is_alive;
  void *geom_context;
} process_settings;

const process_settings *process(void);

/** Count, and say whether it is the first time, the 10th, the 100th, .. */
static inline bool worth_saying(long *count) {
  long power = 1;
  (*count)++;
  while (power < *count) power *= 10;
  return power == *count;
}

/** Put another source in the place of malloc: for tests. */
void process_set_memory(const memory_source *source);

/** Look at every problem of every step, for dumps, tests and benches. One
 *  observer a process, NULL for none; set between steps. */
void process_observe_solves(solve_observer *observer, void *context);

#endif
