#include "solver/solver_convex.h"

#include <math.h>

bool solver_convex_make(solver_convex *convex, const memory_source *source,
                        const mlcp_problem *problem) {
  convex->arena.source = source;
  arena_start(&convex->arena);
  return solver_variant_make_convex(&convex->variant, &convex->arena,
                                    problem) &&
         solver_point_take(&convex->point, &convex->arena,
                           &convex->variant.mlcp);
}

solver_report solver_solve_convex(solver_workspace *workspace,
                                  solver_convex *convex,
                                  const memory_source *source,
                                  const mlcp_problem *problem,
                                  const solver_options *options,
                                  const mlcp_solution *solution) {
  const solver_report no_memory = {.status = SOLVER_NO_MEMORY,
                                   .residual = INFINITY};
  if (!solver_convex_make(convex, source, problem)) return no_memory;
  const mlcp_solution *relaxed = &convex->point.at;
  solver_report report =
      solver_solve(workspace, &convex->variant.mlcp, options, NULL, relaxed);
  if (report.status == SOLVER_NO_MEMORY || report.status == SOLVER_TOO_LARGE)
    return report;
  solver_variant_convex_impulses(&convex->variant, problem, relaxed->p,
                                 solution->p);
  mlcp_velocities(problem, solution->p, solution->v);
  return report;
}
