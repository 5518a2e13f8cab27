#include "solver/solver.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "solver/active_set.h"
#include "solver/continuation.h"
#include "solver/interior_point.h"
#include "solver/pivots.h"
#include "solver/sweeps.h"
#include "solver/lemke_mlcp.h"

struct solver_workspace {
  memory_source source;
  solve_work work;
};

solver_workspace *solver_workspace_create(const memory_source *source) {
  solver_workspace *workspace = memory_allocate_zero(source, sizeof *workspace);
  if (workspace == NULL) return NULL;
  workspace->source = *source;
  workspace->work.arena.source = &workspace->source;
  body_blocks_init(&workspace->work.blocks, &workspace->source);
  return workspace;
}

void solver_workspace_destroy(solver_workspace *workspace) {
  if (workspace == NULL) return;
  arena_release(&workspace->work.arena);
  body_blocks_release(&workspace->work.blocks);
  memory_source source = workspace->source;
  source.release(source.context, workspace, sizeof *workspace);
}

void solver_default_options(solver_options *options) {
  *options = (solver_options){.kind = SOLVER_FAST,
                              .tolerance = 1e-10,
                              .acceptable = 1e-7,
                              .budget = INFINITY,
                              .max_rows = 300000};
}

const char *solver_stage_name(solver_stage stage) {
  static const char *const names[SOLVER_N_STAGES] = {
      [SOLVER_STAGE_NONE] = "none",
      [SOLVER_STAGE_WARM] = "warm",
      [SOLVER_STAGE_CONTINUATION] = "continuation",
      [SOLVER_STAGE_PIVOTS] = "pivots",
      [SOLVER_STAGE_INTERIOR] = "interior",
      [SOLVER_STAGE_HOMOTOPY] = "homotopy",
      [SOLVER_STAGE_LEMKE] = "lemke"};
  return names[stage];
}

/* ---- where stages begin ------------------------------------------------------ */

/* p = the guess within its limits, evaluated, and the states that it stands for; a row
 * without a guess has impulse 0 and is active: what points that have gone carried is
 * theirs that have come (a wall that settles in test_step_guess). */
static void take_guess(solve_work *work, const double guess[]) {
  const box_problem *box = &work->box;
  bool *known = work->known;
  memset(work->p, 0, sizeof *work->p * (size_t)box->n_rows);
  memset(known, 0, sizeof *known * (size_t)box->n_rows);
  if (guess != NULL) box_take_guess(box, guess, work->p, known);
  box_project(box, work->p);
  solve_work_evaluate(work);
  active_set_of_guess(work);
  work->n_known = 0;
  for (int r = 0; r < box->n_rows; r++) {
    work->n_known += known[r];
    if (!known[r]) work->state[r] = ROW_ACTIVE;
  }
}

/* ---- the stages -------------------------------------------------------------- */

/* From last step's impulses: by continuation, or, where the two rows of a set share
 * compliance or no row has a limit, by their active set. From nothing a few states are
 * found, those of a wall at its vertex worse than inside. */
static bool continue_from_guess(solve_work *work) {
  if (work->n_known == 0 && !solve_work_has_few_limits(work)) return false;
  if (!work->box.crossed && work->box.n_limited > 0)
    return continuation_solve(work);
  return active_set_correct(work, 16);
}

/* From nothing: what is hard has limits to change that last step's impulses lie close
 * to, and from nothing the path ends more often, and no later. */
static bool interior_from_nothing(solve_work *work) {
  take_guess(work, NULL);
  return interior_point_solve(work);
}

static bool curve_from_nothing(solve_work *work) {
  take_guess(work, NULL);
  return interior_point_follow(work);
}

/* What is left at the best point are corners close by. */
static bool homotopy_from_best(solve_work *work) {
  const double lets_go = 1e-2; // of the point where a path got stuck
  return continuation_by_pivots(work, lets_go, 0);
}

/* Lemke's path has an end wherever there is a solution, but as many corners as rows, and
 * more: of demo_cards' problems three in four end at three pivots a row, nearly all at
 * thirty. */
static bool pivot_from_nothing(solve_work *work) {
  const double prox = 1e-4; // 1e-3 to 1e-6 keep the digits of redundant rows
  take_guess(work, NULL);
  return continuation_by_pivots(work, prox, 150 + 30L * work->box.n_limited);
}

/* In order of cost. A stage begins at what it takes, and leaves the best point. */
static const struct {
  solver_stage name;
  bool (*reaches_target)(solve_work *work);
} stages[] = {{SOLVER_STAGE_CONTINUATION, continue_from_guess},
              {SOLVER_STAGE_INTERIOR, interior_from_nothing},
              {SOLVER_STAGE_HOMOTOPY, homotopy_from_best},
              {SOLVER_STAGE_INTERIOR, curve_from_nothing},
              {SOLVER_STAGE_HOMOTOPY, homotopy_from_best},
              {SOLVER_STAGE_PIVOTS, pivot_from_nothing}};

/* The guess if it has all digits, as what guesses miss adds up; else stage after stage
 * until one reaches the target.
 * @return whether one does. */
static bool try_stages(solve_work *work, const double guess[]) {
  work->best_residual = INFINITY;
  memset(work->best_p, 0, sizeof(double) * (size_t)work->box.n_rows);
  work->stage = SOLVER_STAGE_WARM;
  take_guess(work, guess);
  if (work->residual <= work->digits) return true;
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
    work->stage = stages[i].name;
    if (stages[i].reaches_target(work)) return true;
    if (solve_work_is_spent(work)) break;
  }
  return false;
}

/* To a thousandth of the digits where a few linear steps get there from the guess: what
 * solves miss adds up over a scheme's solves. */
static bool solve_precisely(solve_work *work, const double guess[]) {
  const double share = 0.001;
  const double target = work->target;
  work->best_residual = INFINITY;
  work->stage = SOLVER_STAGE_WARM;
  take_guess(work, guess);
  work->target = share * work->digits;
  bool precise = work->residual <= work->target || active_set_solve(work, 3);
  work->target = target;
  return precise || work->best_residual <= work->digits ||
         try_stages(work, guess);
}

/* ---- a solve ----------------------------------------------------------------- */

static solver_report no_memory(void) {
  return (solver_report){.status = SOLVER_NO_MEMORY, .residual = INFINITY};
}

static const double usual_share = 0.7; // of the tolerances

/* What is acceptable ends a solve, what is tolerated one without a budget.
 * @param share  of them */
static void set_target(solve_work *work, const solver_options *options,
                       double share) {
  work->digits = work->target = share * options->tolerance;
  if (isfinite(options->budget))
    work->target = larger_of(work->digits, share * options->acceptable);
}

/* Room for the iterates of work->box, and nothing spent yet. */
static bool begin(solve_work *work, const solver_options *options) {
  if (!solve_work_reserve(work) ||
      !body_blocks_order(&work->blocks, work->box.n_bodies,
                         work->box.body_pairs, work->box.n_body_pairs))
    return false;
  solve_work_set_cost(work);
  work->factorisations = work->iterations = work->pivots = 0;
  work->spent = 0;
  work->budget =
      options->budget - (options->all_or_nothing ? 0 : sweeps_cost(work));
  return true;
}

/* The part of impulses that are no answer that does no more work than the law has: of
 * an answer that of every row is p w <= 0, and p.w rises along p from where it is
 * least. */
static void bound_work(solve_work *work) {
  const box_problem *box = &work->box;
  double before = 0, after = 0;
  take_guess(work, NULL);
  memcpy(work->kept_p, work->p, sizeof *work->p * (size_t)box->n_rows);
  for (int r = 0; r < box->n_rows; r++)
    before += (work->best_p[r] - work->kept_p[r]) * work->w[r];
  solve_work_restore_best(work);
  for (int r = 0; r < box->n_rows; r++)
    after += (work->p[r] - work->kept_p[r]) * work->w[r];
  if (!(after > 0)) return;
  double share = before < 0 ? before / (before - after) : 0;
  for (int r = 0; r < box->n_rows; r++)
    work->best_p[r] =
        work->kept_p[r] + share * (work->best_p[r] - work->kept_p[r]);
}

/* The problem's unknowns from the best impulses, and their residual. */
static double give_solution(solve_work *work, const mlcp_solution *solution) {
  box_project(&work->box, work->best_p);
  box_give_impulses(&work->box, work->best_p, solution->p);
  return mlcp_complete(work->box.problem, work->box.scale, solution);
}

/* By the stages, in the box formulation. */
static solver_report solve_by_stages(solve_work *work,
                                     const solver_options *options,
                                     const double guess[],
                                     const mlcp_solution *solution) {
  // a friction edge may miss by more than its generators: go on when it does
  const double second_share = 0.1;
  if (!begin(work, options) || !continuation_reserve(work, false) ||
      !interior_point_reserve(work) || !pivots_reserve(work))
    return no_memory();
  set_target(work, options, usual_share);
  bool reached =
      options->precise ? solve_precisely(work, guess) : try_stages(work, guess);
  if (!reached && !options->all_or_nothing) {
    if (!sweeps_take(work)) return no_memory();
    bound_work(work);
  }
  double residual = give_solution(work, solution);
  if (reached && residual > work->target / usual_share) {
    set_target(work, options, second_share);
    try_stages(work, solution->p);
    residual = give_solution(work, solution);
  }
  return (solver_report){.stage = work->best_stage,
                         .residual = residual,
                         .pivots = work->pivots,
                         .factorisations = work->factorisations,
                         .iterations = work->iterations,
                         .work = work->spent,
                         .stopped = solve_work_is_spent(work)};
}

/* By Lemke's method in the edge formulation, from nothing: the problem as written. A
 * pivot, and what it takes to begin, counts as much as five factorisations of the box
 * formulation: its systems are six times as large. */
static solver_report solve_by_lemke(const memory_source *source,
                                    const mlcp_problem *problem,
                                    const solver_options *options,
                                    const mlcp_solution *solution) {
  const double cost_of_pivot = 5;
  const double rounding =
      1e-12; // ties are told apart by a share of the tolerance
  double affordable = options->budget / cost_of_pivot - 1;
  lemke_options choice = {
      .tolerance = larger_of(options->tolerance, rounding),
      .max_pivots = affordable < 1e9 ? (long)larger_of(affordable, 1) : 0};
  lemke_report lemke = lemke_mlcp_solve(source, problem, &choice, solution);
  if (lemke.status == LEMKE_NO_MEMORY) return no_memory();
  return (solver_report){.stage = SOLVER_STAGE_LEMKE,
                         .residual = lemke.residual,
                         .pivots = lemke.pivots,
                         .factorisations = lemke.factorisations,
                         .work = cost_of_pivot * (double)(lemke.pivots + 1),
                         .stopped = lemke.status == LEMKE_PIVOT_LIMIT};
}

static solver_status status_of(double residual, const solver_options *options) {
  return residual <= options->tolerance    ? SOLVER_SOLVED
         : residual <= options->acceptable ? SOLVER_ACCEPTED
                                           : SOLVER_DEGRADED;
}

solver_report solver_solve(solver_workspace *workspace,
                           const mlcp_problem *problem,
                           const solver_options *options, const double guess[],
                           const mlcp_solution *solution) {
  solve_work *work = &workspace->work;
  if (problem->n_rows > options->max_rows)
    return (solver_report){.status = SOLVER_TOO_LARGE, .residual = INFINITY};
  if (problem->n_rows == 0) {
    mlcp_velocities(problem, NULL, solution->v);
    return (solver_report){.stage = SOLVER_STAGE_NONE};
  }
  box_status built = BOX_UNSUITABLE;
  arena_start(&work->arena);
  if (options->kind == SOLVER_FAST)
    built = box_build(&work->box, &work->arena, problem);
  if (built == BOX_NO_MEMORY) return no_memory();
  solver_report report =
      built == BOX_BUILT
          ? solve_by_stages(work, options, guess, solution)
          : solve_by_lemke(&workspace->source, problem, options, solution);
  if (report.status == SOLVER_NO_MEMORY) return report;
  report.status = status_of(report.residual, options);
  report.stopped = report.stopped && report.status == SOLVER_DEGRADED;
  return report;
}

solver_report solver_turn_edges(solver_workspace *workspace,
                                const mlcp_problem *problem,
                                const solver_options *options,
                                const mlcp_solution *solution,
                                mlcp_pair pairs[], bool *turned) {
  solve_work *work = &workspace->work;
  *turned = false;
  arena_start(&work->arena);
  box_status built = box_build(&work->box, &work->arena, problem);
  if (built == BOX_UNSUITABLE)
    return (solver_report){.status = SOLVER_DEGRADED, .residual = INFINITY};
  if (built == BOX_NO_MEMORY || !begin(work, options) ||
      !continuation_reserve(work, true))
    return no_memory();
  set_target(work, options, usual_share);
  take_guess(work, solution->p);
  *turned = continuation_turn(work, solution->p, pairs);
  double residual = INFINITY;
  // the reference solves what is turned itself
  if (*turned && options->kind == SOLVER_FAST)
    residual = mlcp_complete(problem, work->box.scale, solution);
  return (solver_report){.status = status_of(residual, options),
                         .stage = SOLVER_STAGE_CONTINUATION,
                         .residual = residual,
                         .factorisations = work->factorisations,
                         .iterations = work->iterations,
                         .work = work->spent};
}
