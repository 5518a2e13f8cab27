#include "solver/fast.h"

#include <math.h>
#include <string.h>

#include "solver/active_set.h"
#include "solver/fast_continuation.h"
#include "solver/fast_interior.h"
#include "solver/fast_pivots.h"
#include "solver/fast_proximal.h"
#include "solver/fast_spread.h"

struct fast_workspace {
  memory_source source;
  fast_work work;
};

fast_workspace *fast_workspace_create(const memory_source *source) {
  fast_workspace *workspace = memory_allocate_zero(source, sizeof *workspace);
  if (workspace == NULL) return NULL;
  workspace->source = *source;
  workspace->work.arena.source = &workspace->source;
  body_blocks_init(&workspace->work.blocks, &workspace->source);
  return workspace;
}

void fast_workspace_destroy(fast_workspace *workspace) {
  if (workspace == NULL) return;
  arena_release(&workspace->work.arena);
  body_blocks_release(&workspace->work.blocks);
  memory_source source = workspace->source;
  source.release(source.context, workspace, sizeof *workspace);
}

static bool reserve(fast_work *work) {
  return fast_work_reserve(work) && fast_continuation_reserve(work) &&
         fast_interior_reserve(work) && fast_pivots_reserve(work) &&
         fast_proximal_reserve(work);
}

/* ---- the result ---------------------------------------------------------- */

/* The problem's unknowns from the best impulses, and their residual. */
static double give_solution(fast_work *work, const mlcp_solution *solution,
                            double scratch[]) {
  const mlcp_problem *problem = work->box.problem;
  box_project(&work->box, work->best_p);
  box_give_impulses(&work->box, work->best_p, solution->p);
  return mlcp_complete(problem, work->box.scale, solution, scratch);
}

/* No impulses but the fixed ones: the answer where this path does not go. */
static double give_nothing(const mlcp_problem *problem,
                           const mlcp_solution *solution, double scratch[]) {
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    double p = 0;
    if (row->kind != MLCP_ROW_FRICTION) p = fmin(fmax(0, row->low), row->high);
    solution->p[r] = p;
  }
  return mlcp_complete(problem, mlcp_velocity_scale(problem), solution,
                       scratch);
}

/* ---- the cascade --------------------------------------------------------- */

/* Rows whose last digits cost a factorisation or two: continuation is not content with
 * less than the target there. */
enum { FEW_ROWS = 150 };

/* p = the guess within its limits, evaluated; 0 where there is none.
 * @return how many of its rows are known. */
static int take_guess(fast_work *work, const double guess[]) {
  const box_problem *box = &work->box;
  int n_known = 0;
  if (guess != NULL)
    n_known = box_take_guess(box, guess, work->p);
  else
    memset(work->p, 0, sizeof(double) * (size_t)box->n_rows);
  // what a pair passes on is known better than how its rows share it
  if (n_known > 0) fast_spread(work, false);
  box_project(box, work->p);
  fast_work_evaluate(work);
  return n_known;
}

/* The budget ends, or what there is will do. */
static bool is_over(const fast_work *work) {
  return fast_work_is_spent(work) || work->best_residual <= work->enough;
}

/* An interior point run and its active set; from where it got stuck,
 * continuation by pivots, where few rows are left to change. */
static bool run_interior(fast_work *work,
                         const fast_interior_options *options) {
  const double near_enough = 1e-6; // residual: all but a few rows are told
  const double prox = 1e-2;        // leaves the point where it got stuck
  const double much_nearer = 0.1;  // times the residual, worth another try
  const active_set_options polish = {.max_factorisations = 8,
                                     .max_all_changes = 5,
                                     .max_share = 0.2,
                                     .patience = 1};
  if (fast_interior_solve(work, options)) return true;
  // where the path's own end is asked for, it is not the first answer that will do
  if (options->cross_over && is_over(work)) return false;
  if (work->residual < near_enough && active_set_solve(work, &polish))
    return true;
  fast_work_restore_best(work);
  double from = work->residual;
  if (from > work->few_left) return false;
  if (fast_proximal_solve(work, prox)) return true;
  work->few_left = much_nearer * from;
  return false;
}

/* How long a run may be; one that ends at all ends within 20 iterations. */
enum { MAX_ITERATIONS = 50 };

/* An interior point from nothing, `margin` inside its limits. Where it gets stuck
 * its best point is one to begin at again, with products that belong to the
 * residual there; the path from it is another one. Where that leads to no better
 * point, larger products do, up to those of a point of which nothing is known. */
static bool run_interiors(fast_work *work, double margin) {
  const double power = 1.5, growth = 3; // of products; of them after a failure
  const double worth_it = 0.9;          // of the residual
  fast_interior_options options = {.start = 1,
                                   .margin = margin,
                                   .max_iterations = MAX_ITERATIONS,
                                   .cross_over = true};
  double share = 1, before = INFINITY;
  while (options.start <= 1) {
    if (run_interior(work, &options)) return true;
    if (is_over(work)) return false;
    share = work->residual < worth_it * before ? 1 : growth * share;
    before = work->residual;
    options.start = share * pow(before, power);
    options.warm = true;
  }
  return false;
}

/* Not from the guess: what is hard has limits to change that last step's impulses
 * lie close to, and from nothing the path ends more often, and no later. Which of
 * several beginnings leads to the end no sign tells. */
static bool try_interiors(fast_work *work) {
  static const double margins[] = {1,   0.01, 10, 1e-3,
                                   100, 0.1,  3,  30}; // of the scale
  for (size_t i = 0; i < sizeof margins / sizeof *margins; i++) {
    fast_work_set_best_aside(work);
    bool solved = run_interiors(work, margins[i]);
    fast_work_keep_better(work);
    if (solved || is_over(work)) return solved;
  }
  return false;
}

static void start_at_nothing(fast_work *work) {
  memset(work->p, 0, sizeof(double) * (size_t)work->box.n_rows);
  box_project(&work->box, work->p);
  fast_work_evaluate(work);
}

/* The end of a path; its active set may need to be refined once more. */
static bool arrives(fast_work *work, bool reached) {
  const active_set_options polish = {.max_factorisations = 8,
                                     .max_all_changes = 5,
                                     .max_share = 1,
                                     .patience = 8};
  fast_work_evaluate(work);
  return work->residual <= work->target ||
         (reached && active_set_solve(work, &polish));
}

/* From a crash basis: all rows active, then what the linear solves ask for. A
 * structure at rest is nearly there. From where these exchanges end a path
 * leads on, by pivots; in a heap they lead nowhere, as the first one shows. */
static bool solve_from_crash(fast_work *work) {
  const double near = 1; // residual
  // after one solve a third of a heap's rows is wrong, a twentieth of a wall's
  const active_set_options exchanges = {.max_factorisations = 16,
                                        .max_all_changes = 16,
                                        .max_share = 0.2,
                                        .patience = 8};
  start_at_nothing(work);
  active_set_all_active(work);
  if (active_set_correct(work, &exchanges)) return true;
  fast_work_take(work, work->kept_p);
  return work->residual < near &&
         arrives(work, fast_pivots_solve(work, 150 + work->box.n_rows / 4));
}

/* Lemke's method from nothing, by two paths. */
static bool lemke_cold(fast_work *work) {
  // of the cover: the other path differs in as many rows as it can
  static const double unevenness[] = {0.01, 1};
  const long pivots_a_row[] = {8, 15}; // most that end take fewer than 6
  for (int i = 0; i < 2; i++)
    if (arrives(work,
                fast_pivots_cold(work, unevenness[i],
                                 pivots_a_row[i] * work->box.n_rows + 500)))
      return true;
  fast_work_restore_best(work);
  return false;
}

/* Lemke's method. A path from a crash basis, or from where continuation got to,
 * may end in a ray where a cold one cannot, but it is much shorter. */
static bool lemke_from_nothing(fast_work *work) {
  return fast_proximal_crash(work) ||
         arrives(work, fast_pivots_solve(work, 4L * work->box.n_rows)) ||
         lemke_cold(work);
}

/* From last step's impulses, spread anew: by continuation, or, where compliance
 * couples rows (friction polygons of more than four edges), by their active set. */
static bool continue_from_guess(fast_work *work, bool from_nothing) {
  const active_set_options patient = {.max_factorisations = 16,
                                      .max_all_changes = 16,
                                      .max_share = 0.25,
                                      .patience = 4};
  fast_spread(work, true);
  box_project(&work->box, work->p);
  fast_work_evaluate(work);
  if (work->box.n_compliances == 0)
    return fast_continuation_solve(work, from_nothing);
  active_set_of_guess(work);
  return active_set_correct(work, &patient);
}

/* What rests or moves little. Where rows are few they are all looked for from nothing,
 * too, and one by one where all at once does not end. */
static bool solve_near(fast_work *work, const double guess[], int n_known) {
  bool is_small = work->box.n_rows <= FEW_ROWS;
  if (n_known == 0 && !is_small) return false;
  if (continue_from_guess(work, n_known == 0)) return true;
  if (!is_small || is_over(work)) return false;
  take_guess(work, guess);
  return fast_pivots_finish(work, 50 + work->box.n_rows / 8);
}

static bool run_cascade(fast_work *work, const double guess[]) {
  // times the target: last step's impulses are good enough as they are, and what they
  // miss adds up for a step or two before it is looked for
  const double nearly = 10;

  work->best_residual = INFINITY;
  memset(work->best_p, 0, sizeof(double) * (size_t)work->box.n_rows);
  work->stage = SOLVER_STAGE_WARM;
  int n_known = take_guess(work, guess);
  if (work->residual <= work->target) return true;
  if (work->residual <= fmin(work->soon, nearly * work->target)) return false;

  work->stage = SOLVER_STAGE_CONTINUATION;
  if (solve_near(work, guess, n_known)) return true;
  if (is_over(work)) return false;

  work->stage = SOLVER_STAGE_INTERIOR;
  if (try_interiors(work)) return true;
  if (is_over(work)) return false;

  work->stage = SOLVER_STAGE_LEMKE;
  return solve_from_crash(work) || lemke_from_nothing(work);
}

/* What changes smoothly with the problem: the guess's active set, corrected,
 * else the centre of the solutions. */
static bool run_smooth_cascade(fast_work *work, const double guess[]) {
  const double share = 0.01; // of the target: differences of impulses are seen
  // ends at the centre of the solutions, as active sets on the way do not
  const fast_interior_options to_the_centre = {.start = 1,
                                               .margin = 1,
                                               .max_iterations = MAX_ITERATIONS,
                                               .cross_over = false};
  work->best_residual = INFINITY;
  double target = work->target;
  work->target = share * target;
  work->stage = SOLVER_STAGE_CONTINUATION;
  int n_known = take_guess(work, guess);
  const active_set_options few = {
      .max_factorisations = 2 * n_known >= work->box.n_rows ? 8 : 3,
      .max_all_changes = 8,
      .max_share = 1,
      .patience = 1};
  bool reached = work->residual <= work->target || active_set_solve(work, &few);
  if (!reached) {
    work->stage = SOLVER_STAGE_INTERIOR;
    start_at_nothing(work);
    reached = run_interior(work, &to_the_centre);
  }
  work->target = target;
  if (reached) return true;
  fast_work_restore_best(work);
  return work->residual <= target || run_cascade(work, guess);
}

static bool no_memory(solver_report *report) {
  report->status = SOLVER_NO_MEMORY;
  report->residual = INFINITY;
  return false;
}

/* By `method` as far as it gets. */
static bool run(fast_work *work, fast_method method, bool smooth,
                const double guess[]) {
  if (method == FAST_EVERYTHING)
    return smooth ? run_smooth_cascade(work, guess) : run_cascade(work, guess);
  work->best_residual = INFINITY;
  work->stage = SOLVER_STAGE_LEMKE;
  start_at_nothing(work);
  if (work->residual <= work->target) return true;
  return method == FAST_LEMKE
             ? solve_from_crash(work) || lemke_from_nothing(work)
             : lemke_cold(work);
}

/* What residuals end the cascade: a share of the tolerances. */
static void set_limits(fast_work *work, const solver_options *options,
                       double share) {
  bool is_small = work->box.n_rows <= FEW_ROWS;
  work->target = share * options->tolerance;
  work->enough = work->target;
  if (options->kind == SOLVER_FAST && isfinite(options->budget))
    work->enough = fmax(work->target, share * options->acceptable);
  work->soon = is_small ? work->target : work->enough;
}

bool solver_fast(fast_workspace *workspace, const mlcp_problem *problem,
                 const solver_options *options, fast_method method,
                 const double guess[], const mlcp_solution *solution,
                 solver_report *report) {
  fast_work *work = &workspace->work;
  *report =
      (solver_report){.status = SOLVER_DEGRADED, .stage = SOLVER_STAGE_WARM};
  double *scratch;
  arena_start(&work->arena);
  if (!ARENA_TAKE(&work->arena, scratch, problem->n_rows))
    return no_memory(report);
  box_status built = box_build(&work->box, &work->arena, problem);
  if (built == BOX_NO_MEMORY) return no_memory(report);
  if (built == BOX_UNSUITABLE) {
    report->residual = give_nothing(problem, solution, scratch);
  } else {
    if (!reserve(work) ||
        !body_blocks_order(&work->blocks, work->box.n_bodies,
                           work->box.body_pairs, work->box.n_body_pairs))
      return no_memory(report);
    fast_work_set_cost(work);
    work->factorisations = work->iterations = work->pivots = 0;
    work->spent = 0;
    work->budget = options->budget;
    work->few_left = 1e-4;
    // a friction edge may miss by more than its generators: go on when it does
    const double usual_share = 0.7, second_share = 0.1; // of the tolerances
    set_limits(work, options, usual_share);
    bool reached = run(work, method, options->smooth, guess);
    bool enough = reached || work->best_residual <= work->enough;
    report->residual = give_solution(work, solution, scratch);
    if (enough && report->residual >
                      (reached ? options->tolerance : options->acceptable)) {
      set_limits(work, options, second_share);
      run_cascade(work, solution->p);
      report->residual = give_solution(work, solution, scratch);
    }
    report->factorisations = work->factorisations;
    report->iterations = work->iterations;
    report->pivots = work->pivots;
    report->work = work->spent;
    report->stage = work->best_stage;
  }
  bool solved = report->residual <= options->tolerance;
  bool accepted = report->residual <= options->acceptable;
  report->status = solved     ? SOLVER_SOLVED
                   : accepted ? SOLVER_ACCEPTED
                              : SOLVER_DEGRADED;
  return solved;
}
