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
  const fast_form *form = &work->form;
  const double least = still * form->scale;
  int n_moving = 0;
  if (work->residual <= still) return true;
  for (int c = 0; c < form->n_clusters; c++) {
    const fast_cluster *cluster = &form->clusters[c];
    for (int i = 0; i < cluster->n_rows; i++) {
      int r = cluster->first_row + i;
      double low, high, A = form->diagonal[r], p = work->p[r];
      fast_form_limits(form, cluster, r, work->p, &low, &high);
      double error = -work->w[r];
      error = smaller_of(larger_of(error, (low - p) * A), (high - p) * A);
      n_moving += fabs(error) > least;
    }
  }
  return n_moving <= most * form->n_rows;
}

/* The modes that stand in work->mode, corrected; the last few by pivots. */
static bool correct(fast_work *work) {
  const fast_modes_options patient = {1e-6, 16, 16, 0.25, 4};
  const fast_modes_options polish = {1e-6, 4, 4, 1, 8};
  const double near = 0.2; // the rest is a few rows
  const long max_pivots = 100;
  work->best_residual = INFINITY;
  if (fast_modes_correct(work, &patient)) return true;
  fast_work_restore_best(work);
  if (!(work->residual < near) || !fast_pivots_solve(work, max_pivots))
    return false;
  fast_work_evaluate(work);
  return work->residual <= work->target || fast_modes_correct(work, &polish);
}

bool fast_rest_correct(fast_work *work) {
  fast_spread(work, true);
  fast_modes_of_guess(work);
  return correct(work);
}

/* One step of modes from p on the problem with this relaxation.
 * @return how many modes changed, -1 after a failure. */
static int soften(fast_work *work, double relaxation, double p[]) {
  fast_form *form = &work->form;
  int count = -1;
  form->relaxation = relaxation;
  if (fast_modes_factor(work, 1e-9)) {
    fast_modes_step(work, p);
    fast_form_velocities(form, p, work->v);
    fast_form_slips(form, work->v, p, work->w);
    fast_mode_changes changes = fast_modes_compare(work, p, 0, true);
    if (changes.count == 0 || isfinite(changes.miss)) count = changes.count;
  }
  form->relaxation = 0;
  return count;
}

bool fast_rest_approach(fast_work *work) {
  static const double relaxations[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5};
  const fast_form *form = &work->form;
  double *p = work->kept_p;
  size_t bytes = sizeof *p * (size_t)form->n_rows;
  const int many = form->n_rows / 5; // what moves, and is not at rest
  memset(p, 0, bytes);
  fast_modes_all_active(work);
  for (size_t i = 0; i < sizeof relaxations / sizeof *relaxations; i++) {
    int n_changed = soften(work, relaxations[i], p);
    if (n_changed < 0 || n_changed > many) return false;
  }
  memcpy(work->p, p, bytes);
  return correct(work);
}
