#include "solver/fast.h"

#include <math.h>
#include <string.h>

#include "solver/fast_work.h"

struct fast_workspace {
  memory_source source;
  fast_work work;
};

fast_workspace *fast_workspace_create(const memory_source *source) {
  fast_workspace *workspace = memory_allocate_zero(source, sizeof *workspace);
  if (workspace == NULL) return NULL;
  workspace->source = *source;
  body_blocks_init(&workspace->work.blocks);
  return workspace;
}

void fast_workspace_destroy(fast_workspace *workspace) {
  if (workspace == NULL) return;
  memory_source source = workspace->source;
  box_release(&workspace->work.box, &source);
  body_blocks_release(&workspace->work.blocks, &source);
  memory_block_release(&workspace->work.numbers, &source);
  memory_block_release(&workspace->work.modes, &source);
  source.release(source.context, workspace, sizeof *workspace);
}

/* ---- iterates ------------------------------------------------------------ */

void fast_work_evaluate(fast_work *work) {
  box_velocities(&work->box, work->p, work->v);
  box_slips(&work->box, work->v, work->p, work->w);
  work->residual = box_residual(&work->box, work->p, work->w);
  if (!(work->residual < work->best_residual)) return;
  work->best_residual = work->residual;
  memcpy(work->best_p, work->p,
         sizeof(double) * (size_t)work->box.n_rows);
}

void fast_work_restore_best(fast_work *work) {
  memcpy(work->p, work->best_p,
         sizeof(double) * (size_t)work->box.n_rows);
  fast_work_evaluate(work);
}

void fast_work_take(fast_work *work, const double p[]) {
  memcpy(work->p, p, sizeof *p * (size_t)work->box.n_rows);
  box_project(&work->box, work->p);
  fast_work_evaluate(work);
}

static bool reserve_iterates(fast_work *work, const memory_source *source) {
  size_t n = (size_t)work->box.n_rows, b = 6 * (size_t)work->box.n_bodies;
  size_t n_clusters = (size_t)work->box.n_clusters;
  size_t count =
      32 * n + (2 + fast_max_updates) * b + (size_t)work->box.n_weights;
  double *at =
      memory_block_reserve(&work->numbers, source, count, sizeof *at);
  fast_update *updates = memory_block_reserve(
      &work->modes, source,
      fast_max_updates * sizeof *updates + 2 * n * sizeof(fast_limit)
          + (3 * n + n_clusters) * sizeof(int),
      1);
  if (at == NULL || updates == NULL) return false;
  work->updates = updates;
  work->limits = (fast_limit *)(updates + fast_max_updates);
  work->state = (int *)(work->limits + 2 * n);
  work->read_state = work->state + n;
  work->cluster_of = work->read_state + n;
  work->edge_of = work->cluster_of + n;
  work->v = at;
  work->dv = at + b;
  work->columns = at + 2 * b;
  at += (2 + fast_max_updates) * b;
  double **rows[] = {&work->p,     &work->w,       &work->best_p, &work->r,
                     &work->dp,    &work->scratch, &work->kept_p, &work->s_low,
                     &work->s_high, &work->y_low,  &work->y_high,
                     &work->dy_low, &work->dy_high, &work->t_low,
                     &work->t_high, &work->kept_coefficient, &work->d,
                     &work->own_bias, &work->anchor, &work->stage_p};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++, at += n)
    *rows[i] = at;
  work->inverse_J = at;
  work->weights = at + 12 * n;
  return true;
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
    if (row->kind != MLCP_ROW_FRICTION)
      p = fmin(fmax(0, row->low), row->high);
    solution->p[r] = p;
  }
  return mlcp_complete(problem, mlcp_velocity_scale(problem), solution,
                       scratch);
}

/* ---- the climb ----------------------------------------------------------- */

/* How much of a guess is known. */
typedef enum knowledge { KNOW_NOTHING, KNOW_LITTLE, KNOW_HALF } knowledge;

/* p = the guess within its limits, evaluated; 0 where there is none. */
static knowledge take_guess(fast_work *work, const double guess[]) {
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
  return 2 * n_known >= box->n_rows ? KNOW_HALF
       : n_known > 0                 ? KNOW_LITTLE
                                     : KNOW_NOTHING;
}

/* An interior point run and its modes; from where it got stuck, pivots. */
static bool run_interior(fast_work *work,
                         const fast_interior_options *options) {
  const double near_enough = 1e-6;
  const active_set_options polish = {1e-6, 8, 5, 0.2, 1};
  if (fast_interior_solve(work, options)) return true;
  if (work->residual < near_enough && active_set_solve(work, &polish))
    return true;
  fast_work_restore_best(work);
  return fast_proximal_solve(work, 1e-2);
}

static void start_at_nothing(fast_work *work) {
  memset(work->p, 0, sizeof(double) * (size_t)work->box.n_rows);
  box_project(&work->box, work->p);
  fast_work_evaluate(work);
}

/* The end of a path; its modes may need to be refined once more. */
static bool arrives(fast_work *work, bool reached) {
  const active_set_options polish = {1e-6, 8, 5, 1, 8};
  fast_work_evaluate(work);
  return work->residual <= work->target
      || (reached && active_set_solve(work, &polish));
}

/* From a crash basis: all rows active, then what the linear solves ask for. A
 * structure at rest is nearly there. From where these exchanges end a path
 * leads on, by pivots; in a heap they lead nowhere, which the first one shows. */
static bool solve_from_crash(fast_work *work) {
  const double near = 1;
  const active_set_options exchanges = {1e-6, 16, 16, 0.2, 8};
  start_at_nothing(work);
  active_set_all_active(work);
  if (active_set_correct(work, &exchanges)) return true;
  fast_work_take(work, work->kept_p);
  return work->residual < near
      && arrives(work, fast_pivots_solve(work, 150 + work->box.n_rows / 4));
}

/* Lemke's method from nothing, by two paths. */
static bool lemke_cold(fast_work *work) {
  static const double unevenness[] = {0.01, 1};
  const long pivots_a_row[] = {8, 15}; // most that end take fewer than 6
  for (int i = 0; i < 2; i++)
    if (arrives(work, fast_pivots_cold(work, unevenness[i],
                                       pivots_a_row[i] * work->box.n_rows
                                           + 500)))
      return true;
  fast_work_restore_best(work);
  return false;
}

/* Lemke's method. A path from a crash basis, or from where the anchors got to,
 * may end in a ray where a cold one cannot, but it is much shorter. */
static bool lemke_from_nothing(fast_work *work) {
  return fast_proximal_crash(work)
      || arrives(work, fast_pivots_solve(work, 4L * work->box.n_rows))
      || lemke_cold(work);
}

/* What rests, or may: from the guess in work->p, or from nothing. After a
 * failure the guess is there again. */
static bool rest(fast_work *work, const double guess[], knowledge known) {
  const int few_rows = 150; // whose modes are found from anywhere
  bool rests = known == KNOW_HALF && fast_rest_may(work);
  bool is_large = work->box.n_rows > few_rows;
  if (!rests && (known > KNOW_NOTHING || !is_large)) return false;
  if (rests && fast_rest_correct(work)) return true;
  if (is_large && fast_rest_approach(work)) return true;
  take_guess(work, guess);
  return false;
}

static bool climb(fast_work *work, const double guess[]) {
  const double useless_guess = 3;
  const fast_interior_options from_guess = {1e-9, 1e-2, true, 0, 50, true};
  const fast_interior_options from_easier = {1e-9, 1e-4, true, 0, 50, true};
  const fast_interior_options cold = {1e-9, 1, false, 1, 50, true};
  const fast_interior_options low = {1e-9, 0.01, false, 0.01, 50, true};

  work->best_residual = INFINITY;
  memset(work->best_p, 0, sizeof(double) * (size_t)work->box.n_rows);
  knowledge known = take_guess(work, guess);
  if (work->residual <= work->target) return true;
  if (rest(work, guess, known)) return true;
  if (known == KNOW_NOTHING && solve_from_crash(work)) return true;

  if (known == KNOW_NOTHING) take_guess(work, guess);
  // a large structure of which nothing is known is none to be swept
  if ((known > KNOW_NOTHING || work->box.n_rows <= 150)
      && fast_sweeps_solve(work, known == KNOW_HALF))
    return true;

  take_guess(work, guess);
  bool warm = known == KNOW_HALF && work->residual < useless_guess;
  if (run_interior(work, warm ? &from_guess : &cold)) return true;

  take_guess(work, guess);
  if (fast_proximal_solve(work, 1)) return true;

  take_guess(work, guess);
  fast_relaxed_approach(work, warm);
  if (run_interior(work, &from_easier) || run_interior(work, &low))
    return true;

  fast_friction_approach(work);
  return run_interior(work, &from_easier)
      || (known > KNOW_NOTHING && solve_from_crash(work))
      || lemke_from_nothing(work);
}

/* What changes smoothly with the problem: the modes of the guess, corrected,
 * else the centre of the solutions. */
static bool climb_smoothly(fast_work *work, const double guess[]) {
  const fast_interior_options cold = {1e-9, 1, false, 1, 50, false};
  work->best_residual = INFINITY;
  double target = work->target;
  work->target = 0.01 * target; // differences of impulses are looked at
  knowledge known = take_guess(work, guess);
  const active_set_options few = {1e-6, known == KNOW_HALF ? 8 : 3, 8, 1, 1};
  bool reached =
      work->residual <= work->target || active_set_solve(work, &few);
  if (!reached) {
    start_at_nothing(work);
    reached = run_interior(work, &cold);
  }
  work->target = target;
  if (reached) return true;
  fast_work_restore_best(work);
  return work->residual <= target || climb(work, guess);
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
    return smooth ? climb_smoothly(work, guess) : climb(work, guess);
  work->best_residual = INFINITY;
  start_at_nothing(work);
  if (work->residual <= work->target) return true;
  return method == FAST_LEMKE
    ? solve_from_crash(work) || lemke_from_nothing(work)
    : lemke_cold(work);
}

bool solver_fast(fast_workspace *workspace, const mlcp_problem *problem,
                 const solver_options *options, fast_method method,
                 const double guess[], const mlcp_solution *solution,
                 solver_report *report) {
  fast_work *work = &workspace->work;
  *report = (solver_report){.status = SOLVER_DEGRADED,
                            .stage = SOLVER_STAGE_FAST};
  box_status built =
      box_build(&work->box, &workspace->source, problem);
  if (built == BOX_NO_MEMORY) return no_memory(report);

  double *scratch =
      memory_block_reserve(&work->box.scratch, &workspace->source,
                           (size_t)problem->n_rows, sizeof *scratch);
  if (scratch == NULL) return no_memory(report);
  if (built == BOX_UNSUITABLE) {
    report->residual = give_nothing(problem, solution, scratch);
  } else {
    if (!reserve_iterates(work, &workspace->source)
        || !body_blocks_order(&work->blocks, &workspace->source,
                              work->box.n_bodies, work->box.body_pairs,
                              work->box.n_body_pairs))
      return no_memory(report);
    work->factorisations = work->iterations = work->pivots = 0;
    fast_pivots_prepare(work);
    // an edge may miss by more than its generators: go on when it does
    work->target = 0.7 * options->tolerance;
    bool reached = run(work, method, options->smooth, guess);
    report->residual = give_solution(work, solution, scratch);
    if (reached && report->residual > options->tolerance) {
      work->target = 0.1 * options->tolerance;
      climb(work, solution->p);
      report->residual = give_solution(work, solution, scratch);
    }
    report->factorisations = work->factorisations;
    report->iterations = work->iterations;
    report->pivots = work->pivots;
    if (work->factorisations == 0) report->stage = SOLVER_STAGE_WARM;
    if (method != FAST_EVERYTHING) report->stage = SOLVER_STAGE_LEMKE;
  }
  bool solved = report->residual <= options->tolerance;
  report->status = solved ? SOLVER_SOLVED : SOLVER_DEGRADED;
  return solved;
}
