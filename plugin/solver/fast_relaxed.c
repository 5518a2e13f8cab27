/* Softer problems on the way to the one that is asked. */
#include <math.h>
#include <string.h>

#include "solver/fast_work.h"

void fast_relaxed_approach(fast_work *work, bool warm) {
  static const double relaxations[] = {1e-2, 1e-4, 1e-6};
  const double near_enough = 1e-6;
  size_t bytes = sizeof(double) * (size_t)work->form.n_rows;

  // residuals of other problems must not count as the best
  double best = work->best_residual, target = work->target;
  memcpy(work->kept_p, work->best_p, bytes);
  work->target = fmax(target, near_enough);
  for (int i = 0; i < 3; i++) {
    fast_interior_options options = {1e-9, 1e-4, true, 0, 40};
    if (i == 0) options.start = warm ? 1e-2 : 1;
    if (i == 0 && !warm) options.warm = false, options.margin = 1;
    work->form.relaxation = relaxations[i];
    work->best_residual = INFINITY;
    fast_work_evaluate(work);
    fast_interior_solve(work, &options);
  }
  work->form.relaxation = 0;
  work->target = target;
  work->best_residual = best;
  memcpy(work->best_p, work->kept_p, bytes);
  fast_work_evaluate(work);
}
