/* The records that one process keeps of its steps, and how that reaches the files. */
#ifndef ODE_MLCP_PRELOAD_RECORD_H
#define ODE_MLCP_PRELOAD_RECORD_H

#include <stdbool.h>

#include "ode_mlcp.h"
#include "preload/run_mark.h"

typedef struct record_request {
  const char *statistics; /* a path as from output_file_check, or NULL */
  const char *trace;      /* another */
  run_mark *mark;         /* may be NULL */
} record_request;

/** Say what to record, before the first step; keeps copies. */
void record_set_up(const record_request *request,
                   const ode_mlcp_options *options);

/** Note a step. From any thread. */
void record_step(dWorldID world, const ode_mlcp_report *report);

/** True if this process tried a step. Async-signal-safe. */
bool record_has_steps(void);

/**
 * Write the files, once a process; later steps are not recorded. Failures are
 * said on standard error. Async-signal-safe. When another thread is writing,
 * waits until it is done (a second at most).
 */
void record_finish(void);

/** In a forked child: start afresh, nothing stepped. */
void record_start_child(void);

#endif
