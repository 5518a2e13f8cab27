#include "solver/solver.h"

#include <math.h>
#include <string.h>

#include "solver/fast.h"
#include "solver/lemke_mlcp.h"
#include "solver/solver_certificate.h"
#include "solver/solver_points.h"
#include "solver/solver_variants.h"

/* A best iterate above this is not worth keeping when an easier problem can be
 * solved instead. */
static const double usable_residual = 1e-3;

struct solver_workspace {
  const memory_source *source;
  memory_source source_copy;
  fast_workspace *fast;
  lemke_mlcp_workspace *lemke;
  solver_point best, trial;
  solver_variant variant;
  solver_point other;
  arena arena, variant_arena; /* of the points above, of the last variant */
};

/* One way down the cascade. */
typedef struct cascade {
  solver_workspace *workspace;
  const mlcp_problem *problem;
  const solver_options *options;
  const double *guess;
  solver_report *report;
  double *scratch;
  double given;  /* the budget of this way of solving */
  double budget; /* the same, but while a part of it is set aside */
  bool searched; /* for a contradiction */
} cascade;

/* ---- workspace --------------------------------------------------------- */

solver_workspace *solver_workspace_create(const memory_source *source) {
  solver_workspace *workspace = memory_allocate_zero(source, sizeof *workspace);
  if (workspace == NULL) return NULL;
  workspace->source_copy = *source;
  workspace->source = &workspace->source_copy;
  workspace->arena.source = workspace->variant_arena.source = workspace->source;
  workspace->fast = fast_workspace_create(workspace->source);
  workspace->lemke = lemke_mlcp_workspace_create(workspace->source);
  if (workspace->fast == NULL || workspace->lemke == NULL) {
    solver_workspace_destroy(workspace);
    return NULL;
  }
  return workspace;
}

void solver_workspace_destroy(solver_workspace *workspace) {
  if (workspace == NULL) return;
  fast_workspace_destroy(workspace->fast);
  lemke_mlcp_workspace_destroy(workspace->lemke);
  arena_release(&workspace->arena);
  arena_release(&workspace->variant_arena);
  memory_source source = workspace->source_copy;
  source.release(source.context, workspace, sizeof *workspace);
}

void solver_default_options(solver_options *options) {
  *options = (solver_options){.kind = SOLVER_FAST,
                              .tolerance = 1e-10,
                              .acceptable = 1e-7,
                              .budget = INFINITY,
                              .max_rows = 300000,
                              .max_lemke_size = 20000};
}

const char *solver_stage_name(solver_stage stage) {
  static const char *const names[SOLVER_N_STAGES] = {
      [SOLVER_STAGE_NONE] = "none",
      [SOLVER_STAGE_WARM] = "warm",
      [SOLVER_STAGE_CONTINUATION] = "continuation",
      [SOLVER_STAGE_INTERIOR] = "interior",
      [SOLVER_STAGE_LEMKE] = "lemke",
      [SOLVER_STAGE_RELAXED] = "relaxed"};
  return names[stage];
}

/* ---- the best iterate -------------------------------------------------- */

/* Keeps the trial if it is better, and says which stage it came from. */
static void keep_better(cascade *c, solver_stage stage) {
  solver_workspace *w = c->workspace;
  if (!(w->trial.residual < w->best.residual)) return;
  solver_point kept = w->best;
  w->best = w->trial;
  w->trial = kept;
  c->report->stage = stage;
}

static bool good_enough(const cascade *c) {
  return c->workspace->best.residual <= c->options->tolerance;
}

typedef enum outcome { GO_ON, DONE, NO_MEMORY } outcome;

/* The guess as the first iterate; no impulses at all where there is none, or none whose
 * residual is a number. It is the best so far however far off it is. */
static void start_from_guess(cascade *c) {
  solver_point *best = &c->workspace->best;
  double residual = INFINITY;
  if (c->guess != NULL) {
    memcpy(best->at.p, c->guess, sizeof *c->guess * c->problem->n_rows);
    residual = solver_complete_point(c->problem, &best->at, c->scratch);
  }
  if (!isfinite(residual)) {
    memset(best->at.p, 0, sizeof *best->at.p * c->problem->n_rows);
    residual = solver_complete_point(c->problem, &best->at, c->scratch);
  }
  best->residual = isfinite(residual) ? residual : INFINITY;
  c->report->stage = SOLVER_STAGE_WARM;
}

/* ---- the budget -------------------------------------------------------- */

/* Lemke's method may take far more than what is fast, but not for ever: where rows
 * are many and rigid it has pivots by the ten thousand that lead nowhere. */
static double given_budget(const solver_options *options) {
  const double lemkes = 100;
  return options->budget * (options->kind == SOLVER_LEMKE ? lemkes : 1);
}

static double left_of_budget(const cascade *c) {
  return c->budget - c->report->work;
}

static bool is_spent(const cascade *c) { return left_of_budget(c) < 1; }

/* A pivot of the edge formulation, and what it takes to begin, in
 * factorisations of the box formulation: its systems are six times as large. */
static const double cost_of_edge_pivot = 5;

/** @param max_pivots  that are wanted, 0: as many as it takes.
 *  @return how many there is budget for, -1 for none, 0 for any number. */
static long affordable_pivots(const cascade *c, long max_pivots) {
  double affordable = left_of_budget(c) / cost_of_edge_pivot - 1;
  if (!(affordable >= 1)) return -1;
  if (!isfinite(affordable)) return max_pivots;
  bool enough = max_pivots > 0 && (double)max_pivots <= affordable;
  return enough ? max_pivots : (long)affordable;
}

static void count_lemke(cascade *c, const lemke_report *lemke) {
  c->report->pivots += lemke->pivots;
  c->report->factorisations += lemke->factorisations;
  c->report->work += cost_of_edge_pivot * (double)(lemke->pivots + 1);
}

/* ---- stages ------------------------------------------------------------ */

static bool run_fast(cascade *c, const mlcp_problem *problem,
                     fast_method method, const double guess[],
                     const mlcp_solution *solution, solver_report *fast) {
  solver_options options = *c->options;
  options.budget = left_of_budget(c);
  solver_fast(c->workspace->fast, problem, &options, method, guess, solution,
              fast);
  c->report->work += fast->work;
  c->report->factorisations += fast->factorisations;
  c->report->iterations += fast->iterations;
  c->report->pivots += fast->pivots;
  return fast->status != SOLVER_NO_MEMORY;
}

static outcome try_lemke(cascade *c, lemke_ties ties, bool warm,
                         long max_pivots) {
  solver_workspace *w = c->workspace;
  max_pivots = affordable_pivots(c, max_pivots);
  if (max_pivots < 0) return GO_ON;
  lemke_options options = {.tolerance = c->options->tolerance,
                           .max_pivots = max_pivots,
                           .ties = ties};
  lemke_report lemke = lemke_mlcp_solve(
      w->lemke, c->problem, &options, warm ? &w->best.at : NULL, &w->trial.at);
  count_lemke(c, &lemke);
  if (lemke.status == LEMKE_NO_MEMORY) return NO_MEMORY;
  w->trial.residual = lemke.residual;
  keep_better(c, SOLVER_STAGE_LEMKE);
  return good_enough(c) ? DONE : GO_ON;
}

/* In the box formulation a pivot costs less and fewer are needed. */
static outcome try_box_lemke(cascade *c) {
  solver_workspace *w = c->workspace;
  solver_report box;
  if (!run_fast(c, c->problem, FAST_LEMKE, NULL, &w->trial.at, &box))
    return NO_MEMORY;
  w->trial.residual = box.residual;
  keep_better(c, SOLVER_STAGE_LEMKE);
  return good_enough(c) ? DONE : GO_ON;
}

/* The box formulation where the fast path has not been there; the edge
 * formulation from the best iterate's basis with few pivots, cold, and by the
 * other tie rule. An iterate that is far off has no basis worth starting from,
 * and one that is acceptable already is worth no more than a few pivots. */
static outcome run_lemke(cascade *c) {
  const solver_workspace *w = c->workspace;
  int size = lemke_mlcp_size(c->problem);
  bool whatever_size =
      c->options->kind == SOLVER_LEMKE && c->options->max_lemke_size > 0;
  if (size > c->options->max_lemke_size && !whatever_size) return GO_ON;
  long few_pivots = 50 + size / 8;
  double enough =
      whatever_size ? c->options->tolerance : c->options->acceptable;

  outcome end = GO_ON;
  if (c->options->kind == SOLVER_LEMKE) end = try_box_lemke(c);
  if (end != GO_ON || w->best.residual <= enough) return end;
  if (w->best.residual <= usable_residual)
    end = try_lemke(c, LEMKE_TIES_FIRST, true, few_pivots);
  if (end != GO_ON || w->best.residual <= enough) return end;
  end = try_lemke(c, LEMKE_TIES_FIRST, false, 0);
  if (end != GO_ON || w->best.residual <= enough) return end;
  return try_lemke(c, LEMKE_TIES_LAST, false, 0);
}

/* A variant by the fast path, else by Lemke if it may, into the point `other`;
 * its residual there is that of the variant. */
static bool solve_variant(cascade *c, const double guess[], bool with_lemke) {
  solver_workspace *w = c->workspace;
  const mlcp_problem *variant = &w->variant.mlcp;
  if (!solver_point_take(&w->other, &w->variant_arena, variant)) return false;

  solver_report fast;
  if (!run_fast(c, variant, FAST_EVERYTHING, guess, &w->other.at, &fast))
    return false;
  w->other.residual = fast.residual;
  long max_pivots = affordable_pivots(c, 0);
  if (!with_lemke || fast.residual <= c->options->tolerance || max_pivots < 0 ||
      lemke_mlcp_size(variant) > c->options->max_lemke_size)
    return true;

  lemke_options options = {.tolerance = c->options->tolerance,
                           .max_pivots = max_pivots};
  lemke_report lemke =
      lemke_mlcp_solve(w->lemke, variant, &options, NULL, &w->other.at);
  count_lemke(c, &lemke);
  w->other.residual = lemke.residual;
  return lemke.status != LEMKE_NO_MEMORY;
}

/* The impulses of `other` as a point of the original problem. */
static void measure_other(cascade *c) {
  solver_workspace *w = c->workspace;
  memcpy(w->trial.at.p, w->other.at.p,
         sizeof *w->other.at.p * c->problem->n_rows);
  w->trial.residual =
      solver_complete_point(c->problem, &w->trial.at, c->scratch);
}

/* Proximal steps: compliance that counts from the last impulses and shrinks,
 * while that brings the original problem's residual down. Lemke helps with the
 * first step only, after which the fast path has a near guess. */
static outcome run_relaxed(cascade *c) {
  static const double shares[] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-6, 1e-6}; // of A
  const size_t patience = 2; // steps that need not help
  const double enough = 0.5; // share of the residual that a step has to leave
  solver_workspace *w = c->workspace;
  for (size_t i = 0; i < sizeof shares / sizeof *shares && !is_spent(c); i++) {
    double before = w->best.residual;
    arena_start(&w->variant_arena);
    if (!solver_variant_make_proximal(&w->variant, &w->variant_arena,
                                      c->problem, shares[i], w->best.at.p) ||
        !solve_variant(c, w->best.at.p, i == 0))
      return NO_MEMORY;
    measure_other(c);
    keep_better(c, SOLVER_STAGE_RELAXED);
    if (good_enough(c)) return DONE;
    if (i > patience && !(w->best.residual < enough * before)) break;
  }
  return GO_ON;
}

/* What looking for a proof may take, of the budget: four problems of a few dozen
 * factorisations. As much is left for it where there may be one. */
static double certificate_work(const cascade *c) {
  return fmin(200, 0.5 * c->given);
}

/* Whether there is no solution, once. */
static outcome run_certificate(cascade *c) {
  enum { steps = 4 };
  solver_workspace *w = c->workspace;
  size_t n = (size_t)c->problem->n_rows;
  double *last, *y;
  if (c->searched || !solver_certificate_is_possible(c->problem)) return GO_ON;
  if (!ARENA_TAKE(&w->arena, last, n) || !ARENA_TAKE(&w->arena, y, n))
    return NO_MEMORY;
  memset(last, 0, sizeof *last * n);
  c->searched = true;
  c->budget = fmin(c->given, c->report->work + certificate_work(c));
  for (int step = 0; step < steps && !is_spent(c); step++) {
    double speed;
    bool proof;
    arena_start(&w->variant_arena);
    if (!solver_certificate_relax(&w->variant, &w->variant_arena, c->problem,
                                  last) ||
        !solve_variant(c, last, step == 0))
      return NO_MEMORY;
    for (size_t r = 0; r < n; r++) {
      y[r] = w->other.at.p[r] - last[r];
      last[r] = w->other.at.p[r];
    }
    if (!solver_certificate_check(c->problem, y, &w->variant_arena, &speed,
                                  &proof))
      return NO_MEMORY;
    if (!proof) continue;
    c->report->infeasible = true;
    c->report->contradiction = y;
    c->report->contradiction_speed = speed;
    break;
  }
  c->budget = c->given;
  return GO_ON;
}

/* What the usual step does not need: everything after the fast path, whose
 * result is already in `best`. */
static outcome run_rest(cascade *c) {
  const solver_workspace *w = c->workspace;
  if (good_enough(c) || is_spent(c)) return DONE;
  // what has no solution is not worth a path
  outcome end = GO_ON;
  if (c->options->kind == SOLVER_FAST && w->best.residual > usable_residual)
    end = run_certificate(c);
  if (end == GO_ON && !c->report->infeasible) end = run_lemke(c);
  if (end != GO_ON || w->best.residual <= c->options->acceptable) return end;
  return run_relaxed(c);
}

static bool take_points(cascade *c) {
  arena *arena = &c->workspace->arena;
  size_t n_rows = c->problem->n_rows, n_v = 6 * (size_t)c->problem->n_bodies;
  arena_start(arena);
  return ARENA_TAKE(arena, c->scratch, n_rows > n_v ? n_rows : n_v) &&
         solver_point_take(&c->workspace->best, arena, c->problem) &&
         solver_point_take(&c->workspace->trial, arena, c->problem);
}

/* The fast path writes straight to the caller's arrays: where it succeeds
 * nothing else is touched. @return true when the cascade is over. */
static bool solved_fast(cascade *c, const mlcp_solution *solution,
                        solver_report *fast) {
  if (!run_fast(c, c->problem, FAST_EVERYTHING, c->guess, solution, fast)) {
    c->report->status = SOLVER_NO_MEMORY;
    return true;
  }
  c->report->stage = fast->stage;
  c->report->residual = fast->residual;
  c->report->status = SOLVER_SOLVED;
  return fast->residual <= c->options->tolerance;
}

solver_report solver_solve(solver_workspace *workspace,
                           const mlcp_problem *problem,
                           const solver_options *options, const double guess[],
                           const mlcp_solution *solution) {
  solver_report report = {.status = SOLVER_SOLVED, .stage = SOLVER_STAGE_NONE};
  cascade c = {.workspace = workspace,
               .problem = problem,
               .options = options,
               .guess = guess,
               .report = &report,
               .given = given_budget(options)};
  c.budget = c.given;
  if (problem->n_rows > options->max_rows) {
    report.status = SOLVER_TOO_LARGE;
    report.residual = INFINITY;
    return report;
  }
  if (problem->n_rows == 0) {
    mlcp_velocities(problem, NULL, solution->v);
    return report;
  }

  if (solver_certificate_is_possible(problem)) c.budget -= certificate_work(&c);

  solver_report fast;
  bool try_fast = options->kind == SOLVER_FAST;
  if (try_fast && solved_fast(&c, solution, &fast)) return report;

  outcome end = NO_MEMORY;
  if (take_points(&c)) {
    if (try_fast) {
      solver_copy_solution(problem, solution, &workspace->best.at);
      workspace->best.residual = fast.residual;
    } else {
      start_from_guess(&c);
    }
    end = run_rest(&c);
  }
  bool spent = is_spent(&c);
  if (end != NO_MEMORY && workspace->best.residual > options->acceptable &&
      run_certificate(&c) == NO_MEMORY)
    end = NO_MEMORY;
  report.residual = end == NO_MEMORY ? INFINITY : workspace->best.residual;
  report.status = end == NO_MEMORY                         ? SOLVER_NO_MEMORY
                  : report.residual <= options->tolerance  ? SOLVER_SOLVED
                  : report.residual <= options->acceptable ? SOLVER_ACCEPTED
                                                           : SOLVER_DEGRADED;
  report.stopped = report.status == SOLVER_DEGRADED && spent;
  if (end != NO_MEMORY)
    solver_copy_solution(problem, &workspace->best.at, solution);
  return report;
}
