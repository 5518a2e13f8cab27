/* Structures at rest: walls and stacks, thousands of contacts that nearly all
 * hold.
 *
 * With the modes of last step, or with all rows active, Newton's method on the
 * modes ends in a few factorisations: where it has the wrench that every pair
 * passes on about right. From nothing it finds that by softer contacts, whose
 * impulses cannot run far from row to row: one step of modes at each of a few
 * softnesses is enough. What then goes round in circles is a handful of rows,
 * which pivots change one by one.
 */
#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "solver/fast_work.h"

bool fast_rest_may(const fast_work *work) {
  const double still = 1e-3, most = 0.02; // of the scale, of the rows
  const box_problem *box = &work->box;
  const double least = still * box->scale;
  int n_moving = 0;
  if (work->residual <= still) return true;
  for (int c = 0; c < box->n_clusters; c++) {
    const box_cluster *cluster = &box->clusters[c];
    for (int i = 0; i < cluster->n_rows; i++) {
      int r = cluster->first_row + i;
      double low, high, A = box->diagonal[r], p = work->p[r];
      box_limits(box, cluster, r, work->p, &low, &high);
      double error = -work->w[r];
      error = smaller_of(larger_of(error, (low - p) * A), (high - p) * A);
      n_moving += fabs(error) > least;
    }
  }
  return n_moving <= most * box->n_rows;
}

/* The modes that stand in work->mode, corrected; the last few by pivots. */
static bool correct(fast_work *work) {
  const active_set_options patient = {1e-6, 16, 16, 0.25, 4};
  const active_set_options polish = {1e-6, 4, 4, 1, 8};
  const double near = 0.2; // the rest is a few rows
  const long max_pivots = 100;
  work->best_residual = INFINITY;
  if (active_set_correct(work, &patient)) return true;
  fast_work_restore_best(work);
  if (!(work->residual < near) || !fast_pivots_solve(work, max_pivots))
    return false;
  fast_work_evaluate(work);
  return work->residual <= work->target || active_set_correct(work, &polish);
}

bool fast_rest_correct(fast_work *work) {
  fast_spread(work, true);
  active_set_of_guess(work);
  return correct(work);
}

/* One step of modes from p on the problem with this relaxation.
 * @return how many modes changed, -1 after a failure. */
static int soften(fast_work *work, double relaxation, double p[]) {
  box_problem *box = &work->box;
  int count = -1;
  box->relaxation = relaxation;
  if (active_set_factor(work, 1e-9)) {
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
  static const double relaxations[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5};
  const box_problem *box = &work->box;
  double *p = work->kept_p;
  size_t bytes = sizeof *p * (size_t)box->n_rows;
  const int many = box->n_rows / 5; // what moves, and is not at rest
  memset(p, 0, bytes);
  active_set_all_active(work);
  for (size_t i = 0; i < sizeof relaxations / sizeof *relaxations; i++) {
    int n_changed = soften(work, relaxations[i], p);
    if (n_changed < 0 || n_changed > many) return false;
  }
  memcpy(work->p, p, bytes);
  return correct(work);
}
