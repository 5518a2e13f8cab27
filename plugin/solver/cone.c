#include "solver/cone.h"

#include <math.h>
#include <string.h>

/* eps of (31): edges that cannot jam end near it. */
static const double PENALTY = 1e-6;

/* Rows of the relaxed problem as (31) wants them; v_free becomes 0. */
static bool make_penalty_rows(cone_check *check, const memory_source *source,
                              const mlcp_problem *problem,
                              mlcp_body **bodies) {
  mlcp_problem *relaxed = &check->convex.variant.mlcp;
  *bodies = source->allocate(source->context,
                             sizeof **bodies * (size_t)problem->n_bodies);
  if (*bodies == NULL) return false;
  memcpy(*bodies, problem->bodies, sizeof **bodies * (size_t)problem->n_bodies);
  for (int b = 0; b < problem->n_bodies; b++)
    memset((*bodies)[b].v_free, 0, sizeof (*bodies)[b].v_free);
  relaxed->bodies = *bodies;

  mlcp_row *rows = (mlcp_row *)relaxed->rows;
  for (int r = 0; r < relaxed->n_rows; r++) {
    mlcp_row *row = &rows[r];
    row->compliance = row->bias = 0;
    if (row->low == 0 && row->high == 0) continue; /* stands for its edges */
    bool pushes = row->low == 0 && isinf(row->high);
    bool pulls = row->high == 0 && isinf(row->low);
    if (row->kind == MLCP_ROW_FRICTION || (isfinite(row->low) && !pushes) ||
        (isfinite(row->high) && !pulls)) {
      row->kind = MLCP_ROW_JOINT; /* a limited force, no cone */
      row->low = row->high = 0;
      continue;
    }
    if (!pushes && !pulls) continue; /* free */
    double diagonal = mlcp_row_diagonal(relaxed, r);
    row->kind = MLCP_ROW_JOINT;
    row->low = pushes ? 0 : -1;
    row->high = pushes ? 1 : 0;
    row->bias = (pushes ? -1 : 1) * PENALTY * diagonal;
  }
  relaxed->n_frictions = relaxed->n_pairs = 0;
  relaxed->velocity_floor = 1e-9;
  return true;
}

static void mark(cone_check *check, const mlcp_problem *problem,
                 const double p[]) {
  check->pointed = true;
  check->n_contacts = check->n_joint_rows = 0;
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    bool one_sided = row->kind == MLCP_ROW_NORMAL ||
                     (row->low == 0) != (row->high == 0);
    check->jams[r] = row->kind != MLCP_ROW_FRICTION && one_sided &&
                     fabs(p[r]) > 0.25;
    if (check->jams[r]) check->pointed = false;
    check->n_contacts += check->jams[r] && row->kind == MLCP_ROW_NORMAL;
  }
  for (int r = 0; r < problem->n_rows && !check->pointed; r++) {
    if (problem->rows[r].kind != MLCP_ROW_JOINT) continue;
    check->jams[r] |= fabs(p[r]) > 1e-3;
    check->n_joint_rows += check->jams[r];
  }
}

bool cone_check_run(cone_check *check, solver_workspace *workspace,
                    const memory_source *source, const mlcp_problem *problem) {
  size_t n_rows = (size_t)problem->n_rows, n_v = 6 * (size_t)problem->n_bodies;
  mlcp_body *bodies;
  check->pointed = true;
  check->jams = memory_block_reserve(&check->jams_block, source, n_rows,
                                     sizeof *check->jams);
  if (check->jams == NULL ||
      !solver_variant_make_convex(&check->convex.variant, source, problem) ||
      !make_penalty_rows(check, source, problem, &bodies))
    return false;

  mlcp_problem *relaxed = &check->convex.variant.mlcp;
  mlcp_solution solution = {
      .v = memory_block_reserve(&check->convex.v, source, n_v, sizeof(double)),
      .p = memory_block_reserve(&check->convex.p, source,
                                (size_t)relaxed->n_rows + n_rows,
                                sizeof(double)),
      .beta = memory_block_reserve(&check->convex.beta, source, 1,
                                   sizeof(double)),
      .lambda = memory_block_reserve(&check->convex.lambda, source, 1,
                                     sizeof(double))};
  bool solved = solution.v != NULL && solution.p != NULL &&
                solution.beta != NULL && solution.lambda != NULL;
  if (solved) {
    solver_options options;
    solver_default_options(&options);
    solver_report report = solver_solve(workspace, relaxed, &options, NULL,
                                        &solution);
    solved = report.status != SOLVER_NO_MEMORY;
    check->residual = report.residual;
  }
  if (solved) {
    double *p = solution.p + relaxed->n_rows;
    solver_variant_convex_impulses(&check->convex.variant, problem, solution.p,
                                   p);
    mark(check, problem, p);
  }
  source->release(source->context, bodies,
                  sizeof *bodies * (size_t)problem->n_bodies);
  return solved;
}

void cone_check_release(cone_check *check, const memory_source *source) {
  memory_block_release(&check->jams_block, source);
  solver_convex_release(&check->convex, source);
}
