/* A look at every problem of every step, for dumps, tests and benches. */
#ifndef ODE_MLCP_STEP_PART_WATCH_H
#define ODE_MLCP_STEP_PART_WATCH_H

#include <ode/stepper.h>

#include "mlcp/mlcp.h"
#include "solver/solver.h"

/** One part of an island after its solve; valid during the call only. */
typedef struct solved_part {
  dWorldID world;
  size_t island; /* in the step, from 0 */
  int part;      /* in the island, from 0 */
  int solve;     /* in the island, from 0: a part may take several, and one more
                    that only corrects positions */
  const mlcp_problem *problem;
  const dStepperIsland *host_island; /* NULL: of a scheme that solves the world
                                        as a whole */
  const int *first_row; /* [host_island->joints_count] a joint's first row in the
                           problem, -1 where it has none: left out, merged with
                           another contact, or of another part. NULL: rows that
                           only correct positions */
  const double *guess;          /* [n_rows], NAN where a row is new */
  const mlcp_solution *solution; /* not written under SOLVER_NO_MEMORY and
                                    SOLVER_TOO_LARGE */
  const solver_report *report;
  double seconds;   /* wall clock of the solve */
  double tolerance; /* asked of it */
} solved_part;

/** Called from the threads that solve, for several islands at once where the
 *  host has several; may not touch the world. */
typedef void part_watcher(void *context, const solved_part *part);

/** One watcher a process, NULL for none; set between steps. */
extern part_watcher *part_watch;
extern void *part_watch_context;

#endif
