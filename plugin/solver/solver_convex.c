#include "solver/solver_convex.h"

#include <math.h>

static bool reserve(solver_convex *convex, const memory_source *source,
                    mlcp_solution *relaxed) {
  const mlcp_problem *problem = &convex->variant.mlcp;
#define RESERVE(field, count)                                             \
  ((relaxed->field = memory_block_reserve(&convex->field, source,         \
                                          (size_t)(count),                \
                                          sizeof *relaxed->field)) != NULL)
  return RESERVE(v, 6 * problem->n_bodies) && RESERVE(p, problem->n_rows) &&
         RESERVE(beta, 2 * problem->n_pairs) &&
         RESERVE(lambda, problem->n_frictions);
#undef RESERVE
}

solver_report solver_solve_convex(solver_workspace *workspace,
                                  solver_convex *convex,
                                  const memory_source *source,
                                  const mlcp_problem *problem,
                                  const solver_options *options,
                                  const mlcp_solution *solution) {
  const solver_report no_memory = {.status = SOLVER_NO_MEMORY,
                                   .residual = INFINITY};
  mlcp_solution relaxed;
  if (!solver_variant_make_convex(&convex->variant, source, problem) ||
      !reserve(convex, source, &relaxed))
    return no_memory;

  solver_report report = solver_solve(workspace, &convex->variant.mlcp,
                                      options, NULL, &relaxed);
  if (report.status == SOLVER_NO_MEMORY || report.status == SOLVER_TOO_LARGE)
    return report;
  solver_variant_convex_impulses(&convex->variant, problem, relaxed.p,
                                 solution->p);
  mlcp_velocities(problem, solution->p, solution->v);
  return report;
}

void solver_convex_release(solver_convex *convex, const memory_source *source) {
  solver_variant_release(&convex->variant, source);
  memory_block *blocks[] = {&convex->v, &convex->p, &convex->beta,
                            &convex->lambda};
  memory_blocks_release(blocks, sizeof blocks / sizeof blocks[0], source);
}
