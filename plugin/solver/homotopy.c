/* A proximal term: a compliance `prox` of the diagonal, counted from a proximal
 * point p_a,
 *
 *   w = J v + C p + b + prox A (p - p_a)
 *
 * takes most turning points of the path away: with prox near 1 a few Newton
 * steps find the active set from nothing. The answer is the next proximal
 * point, and prox is smaller; towards the end only a handful of rows still
 * change, and those are pivots (pivots.c), which follow the path past the
 * turning points that are left. Where a step of prox is too long a shorter one
 * is tried.
 *
 * From nothing, the first step begins with every row active: where no normal
 * impulse is known, friction would be shut and had to be opened row by row.
 */
#include "solver/homotopy.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "solver/active_set.h"
#include "solver/pivots.h"

/* All of prox. Newton's method above the first, pivots below: there changes are
 * few but stubborn. */
static const double few_changes = 2e-3;
static const double least_prox = 1e-12; // rounding of the diagonal's sums
static const double from_nothing = 1;   // as stiff as the rows themselves

struct homotopy_space {
  /* [n_rows] the problem's own bias, what impulses are held to, and the end of
     the last step of continuation */
  double *own_bias, *proximal_point, *end_p;
};

bool homotopy_reserve(solve_work *work) {
  arena *arena = &work->arena;
  size_t n = (size_t)work->box.n_rows;
  return ARENA_TAKE(arena, work->homotopy, 1) &&
         ARENA_TAKE(arena, work->homotopy->own_bias, n) &&
         ARENA_TAKE(arena, work->homotopy->proximal_point, n) &&
         ARENA_TAKE(arena, work->homotopy->end_p, n);
}

/* The last step's end becomes work->p and the proximal point. */
static void add_proximal_term(solve_work *work, double prox) {
  box_problem *box = &work->box;
  size_t bytes = sizeof(double) * (size_t)box->n_rows;
  memcpy(work->p, work->homotopy->end_p, bytes);
  memcpy(work->homotopy->proximal_point, work->homotopy->end_p, bytes);
  box->relaxation = prox;
  for (int i = 0; i < box->n_rows; i++)
    box->bias[i] = work->homotopy->own_bias[i] -
                   prox * box->diagonal[i] * work->homotopy->proximal_point[i];
}

static void drop_proximal_term(solve_work *work) {
  work->box.relaxation = 0;
  memcpy(work->box.bias, work->homotopy->own_bias,
         sizeof(double) * (size_t)work->box.n_rows);
}

/* The active set of the problem with its proximal term, by changing all rows
 * that want to, until none does.
 * @return true then; work->p is the solution. */
static bool newton(solve_work *work) {
  enum { MAX_STEPS = 10, MAX_IDLE = 2, FEW = 3 };
  const double fewer = 0.7;          // share of the least that counts as less
  const double prox_of_steps = 1e-9; // the problem has a proximal term already
  const box_problem *box = &work->box;
  double noise = 1e-12 * box->scale, *p = work->kept_p;
  size_t bytes = sizeof *p * (size_t)box->n_rows;
  memcpy(p, work->p, bytes);
  box_velocities(box, p, work->v);
  box_slips(box, work->v, p, work->w);
  if (box->relaxation >= from_nothing)
    active_set_all_active(work);
  else
    active_set_first(work);

  int least = INT_MAX, n_idle = 0;
  for (int k = 0; k < MAX_STEPS; k++) {
    if (!active_set_factor(work, prox_of_steps)) return false;
    active_set_step(work, p);
    box_velocities(box, p, work->v);
    box_slips(box, work->v, p, work->w);
    active_set_changes changes = active_set_compare(work, p, noise, true);
    if (!isfinite(changes.miss)) return false;
    if (changes.count == 0) {
      memcpy(work->p, p, bytes);
      box_project(box, work->p);
      return true;
    }
    n_idle = changes.count < fewer * least ? 0 : n_idle + 1;
    if (changes.count < least) least = changes.count;
    if (n_idle > MAX_IDLE && least > FEW) return false;
  }
  return false;
}

/* The true problem by the active set of the last step. */
static bool finish(solve_work *work) {
  enum { MAX_STEPS = 6 };
  const double shrink = 0.3; // least of the residual in a step that is worth it
  const double prox = 1e-6;  // as in active_set.c
  double *p = work->kept_p, last = 1e-3;
  memcpy(p, work->p, sizeof *p * (size_t)work->box.n_rows);
  if (!active_set_factor(work, prox)) return false;
  for (int k = 0; k < MAX_STEPS; k++) {
    active_set_step(work, p);
    if (active_set_reach_target(work, p)) return true;
    if (!(work->residual < last)) return false;
    last = shrink * work->residual;
  }
  return false;
}

static long most_pivots(const solve_work *work) {
  return 150 + work->box.n_rows / 8;
}

/* One step of continuation; a failure leaves work->p without meaning. */
static bool run_step(solve_work *work, double prox, bool pivot) {
  add_proximal_term(work, prox);
  bool solved = prox > few_changes && newton(work);
  if (!solved && pivot) {
    add_proximal_term(work, prox);
    solved = pivots_solve(work, most_pivots(work));
  }
  drop_proximal_term(work);
  return solved;
}

/* The end of a step is the next one's proximal point.
 * @return true when the problem itself is solved. */
static bool end_step(solve_work *work, double prox) {
  memcpy(work->homotopy->end_p, work->p,
         sizeof(double) * (size_t)work->box.n_rows);
  solve_work_evaluate(work);
  return work->residual <= work->target || (prox < few_changes && finish(work));
}

/* How far a step of the logarithm of prox goes: less after failures, more after
 * steps that cost little. */
typedef struct stride {
  double log_shrink;
  int n_failures;
} stride;

/* In the logarithm of prox: a tenth, and a hundredth less. */
static const double longest_stride = 2.3, shortest_stride = 0.01;

static void lengthen(stride *stride, bool cheap) {
  stride->n_failures = 0;
  if (cheap)
    stride->log_shrink = fmin(1.6 * stride->log_shrink, longest_stride);
}

/* At the first failure the same prox again: from a nearer proximal point a step
 * is shorter. */
static double shorten(stride *stride, double solved_prox) {
  stride->log_shrink *= 0.5;
  return ++stride->n_failures == 1 ? solved_prox
                                   : solved_prox * exp(-stride->log_shrink);
}

bool homotopy_solve(solve_work *work, double prox) {
  enum { MAX_STEPS = 200, MAX_FAILURES = 5 };
  const double longer = 10; // times prox, where the first step fails
  const double gain = 0.95; // of a step at the least prox that is worth it
  double last = INFINITY;   // residual of a step at the least prox
  size_t bytes = sizeof(double) * (size_t)work->box.n_rows;
  double solved_prox = 0;
  stride stride = {longest_stride, 0};
  memcpy(work->homotopy->own_bias, work->box.bias, bytes);
  memcpy(work->homotopy->end_p, work->p, bytes);

  for (int k = 0; k < MAX_STEPS; k++) {
    long pivots = work->pivots;
    bool pivot = prox <= few_changes || stride.n_failures >= 2;
    if (run_step(work, prox, pivot)) {
      if (end_step(work, prox)) return true;
      if (work->best_residual <= work->enough) break;
      lengthen(&stride, work->pivots - pivots < most_pivots(work) / 4);
      solved_prox = prox;
      if (prox <= least_prox) {
        if (!(work->best_residual < gain * last)) break;
        last = work->best_residual;
      }
      prox = fmax(prox * exp(-stride.log_shrink), least_prox);
    } else if (solved_prox > 0) {
      if (stride.log_shrink < shortest_stride) break;
      prox = shorten(&stride, solved_prox);
    } else {
      if (++stride.n_failures >= MAX_FAILURES) break;
      prox *= longer;
    }
  }
  solve_work_restore_best(work);
  return false;
}
