/* Solving one island's mixed LCP: a status, a residual, never a surprise.
 *
 * `solver_solve` climbs a ladder of methods and stops at the first answer whose
 * residual, recomputed on the original problem, is small enough:
 *
 *   warm      the guess as it is
 *   (methods that make the usual step cheap)
 *   Lemke     near basis, crash basis, cold, other ties
 *   relaxed   regularised, then re-verified on the original problem
 *   convex    lambda taken as 0 where it couples c_n (Anitescu & Hart)
 *
 * Where none of them is, the best iterate seen is returned.
 *
 * Answers from `relaxed` on that miss the tolerance on the original problem are
 * reported as degraded. Whatever the stage, every number returned is finite and
 * every impulse is within its bounds and its friction polygon.
 */
#ifndef ODE_MLCP_SOLVER_SOLVER_H
#define ODE_MLCP_SOLVER_SOLVER_H

#include "mlcp/mlcp.h"

typedef enum solver_kind {
  SOLVER_FAST, /* the whole ladder */
  SOLVER_LEMKE /* Lemke first, then the ladder's last stages */
} solver_kind;

typedef enum solver_stage {
  SOLVER_STAGE_NONE, /* nothing to solve: no rows */
  SOLVER_STAGE_WARM,
  SOLVER_STAGE_FAST,
  SOLVER_STAGE_LEMKE,
  SOLVER_STAGE_RELAXED,
  SOLVER_STAGE_CONVEX
} solver_stage;

typedef enum solver_status {
  SOLVER_SOLVED,    /* residual <= tolerance on the original problem */
  SOLVER_DEGRADED,  /* finite and within bounds, residual above tolerance */
  SOLVER_NO_MEMORY, /* the solution is not to be used */
  SOLVER_TOO_LARGE  /* more rows than options allow; solution not written */
} solver_status;

typedef struct solver_options {
  solver_kind kind;
  double tolerance;    /* relative residual asked for (1e-10) */
  double acceptable;   /* a residual up to this still counts as solved when no
                          stage gets lower (1e-8) */
  int max_rows;        /* an island with more is refused (300000) */
  int max_lemke_size;  /* of SOLVER_FAST: a problem with more variables does not
                          end with Lemke on the edge formulation, whose pivots take a
                          millisecond in a large heap, up to three a variable;
                          0: no Lemke of SOLVER_LEMKE's either */
  bool smooth;         /* of SOLVER_FAST: impulses that redundant contacts leave
                          open change smoothly with the problem; dearer */
} solver_options;

typedef struct solver_report {
  solver_status status;
  solver_stage stage;
  double residual;    /* of what is returned, on the original problem */
  long pivots;        /* Lemke's and the fast path's */
  long factorisations;
  long iterations;    /* of everything else */
} solver_report;

/** Memory kept between solves; used by one thread at a time. Results do not
 *  depend on which workspace is used or what it solved before. */
typedef struct solver_workspace solver_workspace;

/** @return NULL when memory runs out. */
solver_workspace *solver_workspace_create(const memory_source *source);
void solver_workspace_destroy(solver_workspace *workspace);

void solver_default_options(solver_options *options);

/**
 * Solve `problem` (which passes mlcp_check).
 *
 * @param guess     [n_rows] last step's impulses of the same rows, NAN where a
 *                  row is new; or NULL. Only a starting point.
 * @param solution  out; see solver_status for when it is written.
 */
solver_report solver_solve(solver_workspace *workspace,
                           const mlcp_problem *problem,
                           const solver_options *options, const double guess[],
                           const mlcp_solution *solution);

#endif
