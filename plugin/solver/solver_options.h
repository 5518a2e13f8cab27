/* What is asked of a solve, and how it ended. */
#ifndef ODE_MLCP_SOLVER_SOLVER_OPTIONS_H
#define ODE_MLCP_SOLVER_SOLVER_OPTIONS_H

#include <stdbool.h>

typedef enum solver_kind {
  SOLVER_FAST, /* the stages */
  SOLVER_LEMKE /* Lemke's method in the edge formulation alone, from nothing */
} solver_kind;

typedef enum solver_stage {
  SOLVER_STAGE_NONE,         /* nothing to solve: no rows */
  SOLVER_STAGE_WARM,         /* last step's impulses, or none */
  SOLVER_STAGE_CONTINUATION, /* proximal continuation from their active set */
  SOLVER_STAGE_PIVOTS,       /* pivots from there */
  SOLVER_STAGE_INTERIOR,     /* interior points, active sets, pivots */
  SOLVER_STAGE_HOMOTOPY,     /* a proximal term that goes to 0, by pivots */
  SOLVER_STAGE_LEMKE,        /* in the edge formulation */
  SOLVER_N_STAGES
} solver_stage;

/** "interior". */
const char *solver_stage_name(solver_stage stage);

typedef enum solver_status {
  SOLVER_SOLVED,    /* residual <= tolerance on the original problem */
  SOLVER_ACCEPTED,  /* above it, residual <= acceptable */
  SOLVER_DEGRADED,  /* finite and within bounds, residual above both */
  SOLVER_NO_MEMORY, /* the solution is not to be used */
  SOLVER_TOO_LARGE  /* more rows than options allow; solution not written */
} solver_status;

typedef struct solver_options {
  solver_kind kind;
  double tolerance;    /* relative residual asked for (1e-10) */
  double acceptable;   /* where velocities are right and redundant contacts
                          only share their load otherwise: what ends a solve
                          that has come to no lower residual cheaply (1e-7) */
  double budget;       /* work in factorisations of the problem: at its end the
                        best iterate is returned (INFINITY) */
  int max_rows;        /* a problem with more is refused (300000) */
  bool all_or_nothing; /* of SOLVER_FAST: what misses acceptable is of no use */
  bool precise; /* of SOLVER_FAST: a thousandth of the tolerance where a few
                        linear steps from the guess get there */
} solver_options;

typedef struct solver_report {
  solver_status status;
  solver_stage stage;
  double residual; /* of what is returned, on the original problem */
  long pivots;     /* of all stages, and Lemke's */
  long factorisations;
  long iterations; /* of everything else */
  double work;     /* in factorisations, what options.budget bounds */
  bool stopped;    /* the budget ended before the cascade did */
} solver_report;

/** The answer is one to rely on. */
static inline bool solver_succeeded(solver_status status) {
  return status == SOLVER_SOLVED || status == SOLVER_ACCEPTED;
}

#endif
