/* Problems that hold on to what is known, and let go of it in steps.
 *
 * A compliance `prox` of the diagonal, counted from an anchor p_a,
 *
 *   w = J v + C p + b + prox A (p - p_a)
 *
 * takes most folds away: with prox near 1 a few Newton steps find all modes
 * from nothing. The next problem is anchored at the answer and has a smaller
 * prox; towards the end only a handful of modes still change, and those are
 * pivots (fast_pivots.c), which go round the folds that are left. Where a step
 * of prox is too long a shorter one is tried.
 */
#include <math.h>
#include <limits.h>
#include <string.h>

#include "solver/fast_work.h"

/* Newton's method above, pivots below: there modes are few but stubborn. */
static const double few_changes = 2e-3;
static const double shrink_usual = 0.1;
static const double least_prox = 1e-8;

/* work->p, and nothing else, becomes the anchored problem's. */
static void anchor(fast_work *work, double prox) {
  fast_form *form = &work->form;
  size_t bytes = sizeof(double) * (size_t)form->n_rows;
  memcpy(work->p, work->stage_p, bytes);
  memcpy(work->anchor, work->stage_p, bytes);
  form->relaxation = prox;
  for (int i = 0; i < form->n_rows; i++)
    form->bias[i] =
        work->own_bias[i] - prox * form->diagonal[i] * work->anchor[i];
}

static void let_go(fast_work *work) {
  work->form.relaxation = 0;
  memcpy(work->form.bias, work->own_bias,
         sizeof(double) * (size_t)work->form.n_rows);
}

/* Modes of the anchored problem by changing all that want to, until none does.
 * @return true then; work->p is the solution. */
static bool newton(fast_work *work) {
  enum { MAX_STEPS = 10 };
  const fast_form *form = &work->form;
  double noise = 1e-12 * form->scale, *p = work->kept_p;
  size_t bytes = sizeof *p * (size_t)form->n_rows;
  memcpy(p, work->p, bytes);
  fast_form_velocities(form, p, work->v);
  fast_form_slips(form, work->v, p, work->w);
  fast_modes_first(work);

  int least = INT_MAX, n_idle = 0;
  for (int k = 0; k < MAX_STEPS; k++) {
    if (!fast_modes_factor(work, 1e-9)) return false;
    fast_modes_step(work, p);
    fast_form_velocities(form, p, work->v);
    fast_form_slips(form, work->v, p, work->w);
    fast_mode_changes changes = fast_modes_compare(work, p, noise, true);
    if (!isfinite(changes.miss)) return false;
    if (changes.count == 0) {
      memcpy(work->p, p, bytes);
      fast_form_project(form, work->p);
      return true;
    }
    n_idle = changes.count < 0.7 * least ? 0 : n_idle + 1;
    if (changes.count < least) least = changes.count;
    if (n_idle > 2 && least > 3) return false;
  }
  return false;
}

/* The true problem by the modes of the last stage. */
static bool finish(fast_work *work) {
  enum { MAX_STEPS = 6 };
  double *p = work->kept_p, last = 1e-3;
  memcpy(p, work->p, sizeof *p * (size_t)work->form.n_rows);
  if (!fast_modes_factor(work, 1e-6)) return false;
  for (int k = 0; k < MAX_STEPS; k++) {
    fast_modes_step(work, p);
    if (fast_modes_reach_target(work, p)) return true;
    if (!(work->residual < last)) return false;
    last = 0.3 * work->residual;
  }
  return false;
}

/* One stage; a failure leaves work->p without meaning. */
static bool run_stage(fast_work *work, double prox, bool pivot) {
  anchor(work, prox);
  bool solved = prox > few_changes && newton(work);
  if (!solved && pivot) {
    anchor(work, prox);
    solved = fast_pivots_solve(work, 150 + work->form.n_rows / 8);
  }
  let_go(work);
  return solved;
}

bool fast_proximal_solve(fast_work *work, double prox) {
  enum { MAX_STAGES = 25, MAX_FAILURES = 5 };
  size_t bytes = sizeof(double) * (size_t)work->form.n_rows;
  double solved_prox = 0, shrink = shrink_usual;
  int n_failures = 0;
  memcpy(work->own_bias, work->form.bias, bytes);
  memcpy(work->stage_p, work->p, bytes);

  for (int k = 0; k < MAX_STAGES && n_failures < MAX_FAILURES; k++) {
    bool pivot = prox <= few_changes || n_failures >= 2;
    if (run_stage(work, prox, pivot)) {
      n_failures = 0;
      solved_prox = prox;
      memcpy(work->stage_p, work->p, bytes);
      fast_work_evaluate(work);
      if (work->residual <= work->target
          || (prox < few_changes && finish(work)))
        return true;
      shrink = shrink_usual;
      prox = fmax(prox * shrink, least_prox);
    } else if (solved_prox == 0) {
      n_failures++;
      prox *= 10;
    } else {
      // a shorter step; at last a step back, to another anchor
      n_failures++;
      shrink = n_failures < 4 ? sqrt(shrink) : 1 / shrink;
      prox = solved_prox * shrink;
    }
  }
  fast_work_restore_best(work);
  return false;
}
