#include "solver/cone.h"

#include <math.h>
#include <string.h>

/* eps of (31), of a row's diagonal: friction edges that cannot be locked end
 * near it, well below the 1 of those that can. */
static const double penalty = 1e-6;

/* Impulses p of (31) above these are those of locked contacts, and of joint
 * rows that hold them. */
static const double locked_contact = 0.25, locked_joint = 1e-3;

/* Rows of the relaxed problem as (31) wants them; v_free becomes 0. */
static bool make_penalty_rows(cone_check *check, const mlcp_problem *problem) {
  mlcp_problem *relaxed = &check->convex.variant.mlcp;
  mlcp_row *rows = check->convex.variant.rows;
  mlcp_body *bodies;
  if (!ARENA_TAKE(&check->convex.arena, bodies, problem->n_bodies))
    return false;
  memcpy(bodies, problem->bodies, sizeof *bodies * (size_t)problem->n_bodies);
  for (int b = 0; b < problem->n_bodies; b++)
    memset(bodies[b].v_free, 0, sizeof bodies[b].v_free);
  relaxed->bodies = bodies;
  for (int r = 0; r < relaxed->n_rows; r++) {
    mlcp_row *row = &rows[r];
    row->compliance = row->bias = 0;
    if (row->low == 0 && row->high == 0) continue; /* its friction edges act */
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
    row->bias = (pushes ? -1 : 1) * penalty * diagonal;
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
    bool one_sided =
        row->kind == MLCP_ROW_NORMAL || (row->low == 0) != (row->high == 0);
    check->locked[r] = row->kind != MLCP_ROW_FRICTION && one_sided &&
                       fabs(p[r]) > locked_contact;
    if (check->locked[r]) check->pointed = false;
    check->n_contacts += check->locked[r] && row->kind == MLCP_ROW_NORMAL;
  }
  for (int r = 0; r < problem->n_rows && !check->pointed; r++) {
    if (problem->rows[r].kind != MLCP_ROW_JOINT) continue;
    check->locked[r] |= fabs(p[r]) > locked_joint;
    check->n_joint_rows += check->locked[r];
  }
}

bool cone_check_run(cone_check *check, solver_workspace *workspace,
                    const memory_source *source, const mlcp_problem *problem) {
  solver_convex *convex = &check->convex;
  double *p;
  check->pointed = true;
  if (!solver_convex_make(convex, source, problem) ||
      !make_penalty_rows(check, problem) ||
      !ARENA_TAKE(&convex->arena, check->locked, problem->n_rows) ||
      !ARENA_TAKE(&convex->arena, p, problem->n_rows))
    return false;

  solver_options options;
  solver_default_options(&options);
  solver_report report = solver_solve(workspace, &convex->variant.mlcp,
                                      &options, NULL, &convex->point.at);
  check->residual = report.residual;
  if (report.status == SOLVER_NO_MEMORY) return false;
  solver_variant_convex_impulses(&convex->variant, problem, convex->point.at.p,
                                 p);
  mark(check, problem, p);
  return true;
}
