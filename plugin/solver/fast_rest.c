/* Thousands of contacts that nearly all hold. With the active set of last step,
 * or with all rows active, Newton's method on the active set ends in a few
 * factorisations, where it has the wrench that each pair passes on about right.
 * From nothing it finds that by softer contacts, whose impulses cannot run far
 * from row to row: one step at each of a few softnesses is enough for proximal
 * continuation to begin at. */
#include "solver/fast_rest.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "solver/active_set.h"
#include "solver/fast_continuation.h"
#include "solver/fast_pivots.h"
#include "solver/fast_spread.h"

bool fast_rest_may(const fast_work *work) {
  const double still = 1e-3, most = 0.02; // of the scale, of the rows
  const box_problem *box = &work->box;
  const double least = still * box->scale;
  int n_moving = 0;
  if (work->residual <= still) return true;
  for (int r = 0; r < box->n_rows; r++) {
    double low, high, A = box->diagonal[r], p = work->p[r];
    box_limits(box, r, work->p, &low, &high);
    double error = -work->w[r];
    error = smaller_of(larger_of(error, (low - p) * A), (high - p) * A);
    n_moving += fabs(error) > least;
  }
  return n_moving <= most * box->n_rows;
}

bool fast_rest_correct(fast_work *work) {
  // what goes on changing more than a quarter of its rows is not at rest
  const active_set_options patient = {.max_factorisations = 16,
                                      .max_all_changes = 16,
                                      .max_share = 0.25,
                                      .patience = 4};
  const double near = 0.2;     // residual: what is left is a few rows
  const long max_pivots = 100; // a few rows, each of them there and back
  fast_spread(work, true);
  active_set_of_guess(work);
  // where this gets to, whatever came before
  fast_work_set_best_aside(work);
  bool solved = active_set_correct(work, &patient);
  fast_work_restore_best(work);
  fast_work_keep_better(work);
  if (solved) return true;
  if (!(work->residual < near) || !fast_pivots_solve(work, max_pivots))
    return false;
  fast_work_evaluate(work);
  return work->residual <= work->target ||
         active_set_correct(work, &active_set_polish);
}

/* One step of the active set from p on the problem with this relaxation.
 * @return how many rows changed, -1 after a failure. */
static int soften(fast_work *work, double relaxation, double p[]) {
  const double prox = 1e-9; // the relaxation keeps the system regular
  box_problem *box = &work->box;
  int count = -1;
  box->relaxation = relaxation;
  if (active_set_factor(work, prox)) {
    active_set_step(work, p);
    box_velocities(box, p, work->v);
    box_slips(box, work->v, p, work->w);
    active_set_changes changes = active_set_compare(work, p, 0, true);
    if (changes.count == 0 || isfinite(changes.miss)) count = changes.count;
  }
  box->relaxation = 0;
  return count;
}

bool fast_rest_approach(fast_work *work) {
  static const double relaxations[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5}; // of A
  const box_problem *box = &work->box;
  double *p = work->kept_p;
  size_t bytes = sizeof *p * (size_t)box->n_rows;
  const int many = box->n_rows / 5; // what moves, and is not at rest
  const fast_continuation_options to_the_end = {
      .most_work = 60, .most_share = 1, .max_pivots = 0};
  memset(p, 0, bytes);
  active_set_all_active(work);
  for (size_t i = 0; i < sizeof relaxations / sizeof *relaxations; i++) {
    int n_changed = soften(work, relaxations[i], p);
    if (n_changed < 0 || n_changed > many) return false;
  }
  fast_work_take(work, p);
  return fast_continuation_solve(work, &to_the_end);
}
