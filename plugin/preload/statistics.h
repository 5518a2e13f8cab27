/* The sums over a process's steps that `--stats` writes. */
#ifndef ODE_MLCP_PRELOAD_STATISTICS_H
#define ODE_MLCP_PRELOAD_STATISTICS_H

#include <stdbool.h>

#include "ode_mlcp.h"
#include "common/text.h"

/** Over all worlds of the process; starts as all zero. */
typedef struct statistics {
  long steps;   /* taken */
  long refused; /* not taken: too large to solve */
  long failed;  /* not taken for another reason: memory */
  long worlds;
  int islands_max, contacts_max, rows_max; /* of one step */
  long solves, pivots, factorisations, iterations;
  long degraded, unsolved; /* solves */
  long contacts_merged, contacts_dropped, pushes;
  double residual_worst;   /* relative, on the original problem */
  bool residual_unknown;   /* some step's residual was no number */
  double solver_seconds, step_seconds;
} statistics;

void statistics_add(statistics *sums, const ode_mlcp_report *report);

/** `options` as JSON members, "scheme" and the rest, no braces. */
void statistics_add_settings(text *out, const ode_mlcp_options *options);

/** One JSON object on lines of its own, `settings` its last members.
 *  Async-signal-safe. */
void statistics_add_json(text *out, const statistics *sums,
                         const char *settings);

#endif
