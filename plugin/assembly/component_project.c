#include "assembly/component_project.h"

#include <math.h>
#include <string.h>

#include "assembly/component_solve.h"
#include "assembly/position_projection.h"
#include "common/vec3.h"

/* The position errors of a component, with its projection u or, NULL, without:
 * joints' as the host's own rows say where the bodies would be. */
static bool measure_errors(assembly *a, component_problem *c,
                           const position_projection *projection,
                           const double u[], double *errors) {
  const assembly_request *request = &a->request;
  *errors = 0;
  for (int i = 0; i < c->of->n_bodies; i++)
    for (int k = 0; k < 6; k++)
      a->moved[6 * component_body(a, c, i) + k] =
          c->solution.v[6 * i + k] + (u != NULL ? u[6 * i + k] : 0);
  if (request->measure != NULL &&
      !request->measure(request->measure_context, a->moved,
                        a->components.component_of, c->index, errors, c->out))
    return false;
  *errors += position_projection_errors(projection, u, request->step_size);
  return true;
}

/* The work that a move does against the forces of flight on a component. */
static double work_of_move(const assembly *a, const component_problem *c,
                           const double u[]) {
  double work = 0;
  for (int i = 0; i < c->of->n_bodies; i++) {
    int b = component_body(a, c, i);
    for (int k = 0; k < 3; k++)
      work -= a->bodies[b].mass * u[6 * i + k] *
              (a->request.x_free[6 * b + k] - a->request.v[6 * b + k]);
  }
  return work;
}

/* The work of the rows' corrections: what they ask for times their impulse. */
static void count_work(component_problem *c) {
  for (int r = 0; r < c->set.n_rows; r++)
    if (c->set.rows[r].kind != MLCP_ROW_FRICTION)
      c->out->report.correction_work +=
          c->set.corrections[r].velocity * c->solution.p[r];
}

/* Move the component's bodies by what their velocities do not correct, where that
 * makes the errors smaller: rows hold for small turns only. Joints give way until it
 * does without a large turn. Errors that nothing makes smaller stay and are counted. */
bool component_project(assembly *a, component_problem *c) {
  static const double SHARES[] = {0, 1e-3, 0.1, 1, 10, 100};
  const int N_SHARES = sizeof SHARES / sizeof SHARES[0];
  position_projection projection;
  double before, after;
  count_work(c);
  switch (position_projection_build(&projection, &a->arena, &c->problem,
                                    &c->solution, c->set.corrections)) {
    case PROJECTION_NONE: return true;
    case PROJECTION_NO_MEMORY: return outcome_no_memory(c->out);
    case PROJECTION_BUILT: break;
  }
  if (!measure_errors(a, c, &projection, NULL, &before)) return false;
  for (int k = 1;; k++) {
    c->budget = component_solve_budget(a);
    solver_report solve = component_solve_once(a, c, &projection.problem, true,
                                               &projection.solution);
    if (solve.status == SOLVER_NO_MEMORY) return outcome_no_memory(c->out);
    /* one that is left out leaves all that it was to undo */
    if (!isfinite(solve.residual)) solve.residual = 1;
    component_solve_count(&c->out->report, &solve);
    c->out->report.pushes++;
    const double *u = projection.solution.v;
    if (!solver_succeeded(solve.status) ||
        !all_finite(u, 6 * c->problem.n_bodies))
      break;
    bool torn = position_projection_limit(&projection, a->request.step_size);
    if (!measure_errors(a, c, &projection, u, &after)) return false;
    if ((torn || !(after < before)) && k < N_SHARES &&
        position_projection_soften(&projection, SHARES[k]))
      continue;
    if (!(after < before)) break;
    for (int i = 0; i < c->of->n_bodies; i++)
      memcpy(a->projected + 6 * component_body(a, c, i), u + 6 * i,
             6 * sizeof *a->projected);
    c->out->report.correction_work += work_of_move(a, c, u);
    return true;
  }
  c->out->report.corrections_left++;
  return true;
}
