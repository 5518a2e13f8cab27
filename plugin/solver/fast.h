/* The fast path: what makes the usual step cheap.
 *
 * Works on the box formulation (box.h) with 6 x 6 blocks (box_system.h): the
 * warm guess if it is good enough; proximal continuation from its active set; else
 * interior points and their active sets; else Lemke's method. Impulses stay near the
 * guess, or the centre of the solution set when there is none, so that a resting
 * structure keeps its active set from step to step.
 */
#ifndef ODE_MLCP_SOLVER_FAST_H
#define ODE_MLCP_SOLVER_FAST_H

#include "mlcp/mlcp.h"
#include "solver/solver_options.h"

/** Memory kept between solves, for one thread at a time; results do not depend
 *  on which workspace is used or what it solved before. */
typedef struct fast_workspace fast_workspace;

/** @return NULL when memory runs out. */
fast_workspace *fast_workspace_create(const memory_source *source);
void fast_workspace_destroy(fast_workspace *workspace);

typedef enum fast_method {
  FAST_EVERYTHING, /* whatever is cheapest, then what is surest */
  FAST_LEMKE,      /* Lemke's method in the box formulation, without the
                      guess: from a crash basis, then from none */
  FAST_LEMKE_COLD  /* from none alone */
} fast_method;

/**
 * Solve `problem` (which passes mlcp_check) as far as this path can.
 *
 * @param guess     [n_rows] last step's impulses of the same rows, NAN where a
 *                  row is new; or NULL. Only a starting point.
 * @param solution  out: the best iterate, finite and within its bounds; not
 *                  written when memory runs out.
 * @param report    out: the residual of `solution` by mlcp_residual, and the
 *                  work done. The status is SOLVER_SOLVED, SOLVER_DEGRADED
 *                  (also for problems outside this path, see
 *                  box_status) or SOLVER_NO_MEMORY.
 * @return true when the residual is at most options->tolerance.
 */
bool solver_fast(fast_workspace *workspace, const mlcp_problem *problem,
                 const solver_options *options, fast_method method,
                 const double guess[], const mlcp_solution *solution,
                 solver_report *report);

#endif
