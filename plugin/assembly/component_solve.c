/* The solution of one component's problem, verified and counted. Where the problem
 * has none, or none to be had, one that asks for less is solved instead: without
 * position errors, and at last without bounces. */
#include <math.h>
#include <string.h>

#include "assembly/workspace.h"
#include "assembly/position_projection.h"
#include "common/clock.h"
#include "common/minmax.h"
#include "common/vec3.h"
#include "mlcp/mlcp.h"

/* True if there is an answer, which may miss its tolerance. */
static bool has_velocities(const solver_report *solve) {
  return solver_succeeded(solve->status) || solve->status == SOLVER_DEGRADED;
}

/* Solve the component's own problem, or a projection's (`moves_only`), which is not
 * counted. */
static solver_report solve_problem(assembly *a, component_problem *c,
                                   const mlcp_problem *problem, bool moves_only,
                                   const mlcp_solution *solution) {
  const ode_mlcp_options *given = a->request.options;
  const double *guess = moves_only ? NULL : c->guess;
  solver_options options;
  solver_default_options(&options);
  options.kind =
      given->solver == ODE_MLCP_SOLVER_LEMKE ? SOLVER_LEMKE : SOLVER_FAST;
  options.tolerance = given->tolerance;
  options.acceptable = larger_of(options.acceptable, given->tolerance);
  options.budget = c->budget - c->work;
  options.precise = a->request.second_order;
  options.all_or_nothing = a->request.replaced;

  double start = seconds_now();
  solver_report report =
      solver_solve(a->solver, problem, &options, guess, solution);
  if (!moves_only && has_velocities(&report) &&
      !component_edges_follow(a, c, &options, &report))
    report.status = SOLVER_NO_MEMORY;
  double seconds = seconds_now() - start;
  c->out->report.solver_seconds += seconds;
  c->work += report.work;
  c->out->report.pivots += report.pivots;
  c->out->report.factorisations += report.factorisations;
  c->out->report.iterations += report.iterations;
  const assembly_request *request = &a->request;
  if (request->observer != NULL)
    request->observer(
        request->observer_context,
        &(solved_component){.world = request->world->settings.world,
                            .host_island = request->host_island,
                            .island = request->host_island != NULL
                                          ? request->host_island->index
                                          : 0,
                            .component = c->out->report.solves,
                            .solve = c->out->n_observed++,
                            .moves_only = moves_only,
                            .problem = problem,
                            .joint_of_row = moves_only ? NULL : c->joint_of_row,
                            .guess = guess,
                            .solution = solution,
                            .report = &report,
                            .seconds = seconds,
                            .tolerance = options.tolerance});
  return report;
}

static void count_solve(ode_mlcp_report *report, const solver_report *solve) {
  int *const ended[SOLVER_N_STAGES] = {
      [SOLVER_STAGE_WARM] = &report->ended_warm,
      [SOLVER_STAGE_CONTINUATION] = &report->ended_continuation,
      [SOLVER_STAGE_PIVOTS] = &report->ended_pivots,
      [SOLVER_STAGE_INTERIOR] = &report->ended_interior,
      [SOLVER_STAGE_HOMOTOPY] = &report->ended_homotopy,
      [SOLVER_STAGE_LEMKE] = &report->ended_lemke};
  if (ended[solve->stage] != NULL) ++*ended[solve->stage];
  const double UNSOLVED = 1e-6;
  report->accepted += solve->status == SOLVER_ACCEPTED;
  report->degraded += solve->status == SOLVER_DEGRADED;
  report->unsolved +=
      solve->status == SOLVER_DEGRADED && !(solve->residual <= UNSOLVED);
  report->residual = fmax(report->residual, solve->residual);
}

/* Leave all position errors, or all bounces, out of the targets: the projection
 * has what the errors ask for. @return whether that changed anything. */
static bool leave_out(component_problem *c, bool bounces) {
  bool changed = false;
  for (int r = 0; r < c->set.n_rows; r++) {
    mlcp_row *row = &c->set.rows[r];
    row_correction *correction = &c->set.corrections[r];
    double *left_out = bounces ? &correction->bounce : &correction->velocity;
    if (row->kind == MLCP_ROW_FRICTION || *left_out == 0) continue;
    row->bias += *left_out;
    correction->excess += *left_out;
    *left_out = 0;
    changed = true;
  }
  return changed;
}

/* True if the corrections gave the component more kinetic energy than
 * max_correction for all its bodies is: rows that nearly lock turn small
 * corrections into high velocities. A drawn ragdoll (never_worse_play step 1 8) gains
 * six times its energy without this look, and its joints open to twice stock's. */
static bool corrections_pop(const assembly *a, const component_problem *c) {
  const mlcp_problem *problem = &c->problem;
  double most = a->request.options->max_correction, work = 0, mass = 0;
  for (int r = 0; r < problem->n_rows; r++)
    if (problem->rows[r].kind != MLCP_ROW_FRICTION)
      work += larger_of(c->solution.p[r] * c->set.corrections[r].velocity, 0);
  for (int b = 0; b < problem->n_bodies; b++)
    mass += problem->bodies[b].mass[0];
  if (!(0.5 * work > 0.5 * mass * most * most)) return false;

  double gained = 0; /* p'J (v + v_free) / 2 */
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    gained += 0.5 * c->solution.p[r] *
              (row_rate(row->J, row->body, c->solution.v) +
               mlcp_row_free_rate(problem, row));
  }
  return gained > 0.5 * mass * most * most;
}

/* True if a change of the problem may help: the budget did not just end. */
static bool has_no_answer(const solver_report *solve) {
  return solve->status == SOLVER_DEGRADED && !solve->stopped;
}

bool component_obeys(const assembly *a, const component_problem *c) {
  const mlcp_problem *problem = &c->problem;
  const double allowed = a->request.allowed;
  bool obeys = allowed > 0;
  for (int i = 0; i < problem->n_frictions; i++)
    obeys &= !(problem->frictions[i].limit > 0);
  for (int r = 0; r < problem->n_rows && obeys; r++) {
    const mlcp_row *row = &problem->rows[r];
    if (row->kind == MLCP_ROW_FRICTION) continue;
    double w = mlcp_row_free_rate(problem, row) + row->bias;
    obeys = !(w < -allowed && row->high > 0) && !(w > allowed && row->low < 0);
  }
  return obeys;
}

bool component_solve(assembly *a, component_problem *c) {
  ode_mlcp_report *report = &c->out->report;
  /* a projection is needed anyway, and the velocities always have a solution */
  if (c->overlap) report->fallbacks += leave_out(c, false);
  solver_report solve = solve_problem(a, c, &c->problem, false, &c->solution);
  /* bodies locked by friction may have no velocities that undo their errors, or
   * bounce, but there are always some that do not deepen them */
  while (
      (has_no_answer(&solve) && (leave_out(c, false) || leave_out(c, true))) ||
      (has_velocities(&solve) && corrections_pop(a, c) &&
       leave_out(c, false))) {
    report->fallbacks += solve.status == SOLVER_DEGRADED;
    solve = solve_problem(a, c, &c->problem, false, &c->solution);
  }

  const mlcp_problem *problem = &c->problem;
  /* what cannot be verified is none */
  const char *fault =
      solve.status == SOLVER_NO_MEMORY   ? ": memory ran out"
      : solve.status == SOLVER_TOO_LARGE ? " is too large to solve"
      : !isfinite(solve.residual) ||
              !all_finite(c->solution.v, 6 * problem->n_bodies) ||
              !all_finite(c->solution.p, problem->n_rows)
          ? " has no finite solution"
          : NULL;
  report->refused |= solve.status == SOLVER_TOO_LARGE;
  if (fault != NULL)
    return outcome_fail(c->out, "an island of %d bodies and %d rows%s",
                        problem->n_bodies, problem->n_rows, fault);
  report->solves++;
  component_edges_end(a, c);
  a->n_stopped += solve.stopped;
  if (!(solve.stopped && a->request.replaced)) count_solve(report, &solve);
  double softness = a->request.options->softness;
  if (softness > 0)
    report->given_way =
        fmax(report->given_way,
             a->request.step_size *
                 mlcp_softened_speed(problem, softness, c->solution.p));
  return true;
}

bool component_project(assembly *a, component_problem *c) {
  position_projection projection;
  if (!position_projection_build(&projection, &a->arena, &c->problem,
                                 &c->solution, c->set.corrections))
    return outcome_no_memory(c->out);
  if (projection.problem.n_rows == 0) return true;
  solver_report solve =
      solve_problem(a, c, &projection.problem, true, &projection.solution);
  if (solve.status == SOLVER_NO_MEMORY) return outcome_no_memory(c->out);
  /* one that is left out leaves all that it was to undo */
  if (!isfinite(solve.residual)) solve.residual = 1;
  count_solve(&c->out->report, &solve);
  c->out->report.pushes++;
  const double *u = projection.solution.v;
  if (!solver_succeeded(solve.status) ||
      !all_finite(u, 6 * c->problem.n_bodies))
    return true;
  for (int i = 0; i < c->of->n_bodies; i++)
    memcpy(a->projected + 6 * component_body(a, c, i), u + 6 * i,
           6 * sizeof *a->projected);
  return true;
}
