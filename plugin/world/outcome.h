/* How the work on a step, or on an island of it, came out. */
#ifndef ODE_MLCP_WORLD_OUTCOME_H
#define ODE_MLCP_WORLD_OUTCOME_H

#include <stdbool.h>

#include "ode_mlcp.h"

typedef struct outcome {
  ode_mlcp_report report; /* counts are added to */
  bool no_memory;         /* the message says so, too */
  int n_observed;         /* solves shown to an observer */
  char message[160];      /* why the step cannot be taken, or empty */
  char warning[160];      /* about what was left out, or empty */
} outcome;

/** Add an island's share to a step's report, as the table ode_mlcp_report.h says of each
 *  field; of solves in vain their work alone. */
void report_add(ode_mlcp_report *sum, const ode_mlcp_report *share,
                bool in_vain);

/** Start afresh. */
void outcome_start(outcome *out);

/** Start again: what it came to is void, but for the work, of the same budget, and what
 *  was shown. */
void outcome_start_again(outcome *out);

/** Add what an island came to. Its message and warning are taken over where there
 *  are none yet. */
void outcome_add(outcome *sum, const outcome *share);

/** Say why the step cannot be taken. @return false */
bool outcome_fail(outcome *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The same where there was no memory for something. @return false */
bool outcome_no_memory(outcome *out);

#endif
