/* Where the central path from nowhere has turning points, that of a softer
 * problem or of one with less friction often has none, and its end is near
 * enough to go on from. */
#include "solver/fast_relaxed.h"

#include <math.h>
#include <string.h>

#include "solver/fast_interior.h"

/* First complementarities, of scale^2 / A: from far off, and from the end of a
 * slightly easier problem. */
static const double far_off = 1, nearer = 1e-4;

bool fast_relaxed_reserve(fast_work *work) {
  return ARENA_TAKE(&work->arena, work->own_coefficient, work->box.n_rows);
}

/* What must come back after other problems were solved in the same place. */
typedef struct asked_problem {
  double best_residual, target;
} asked_problem;

static asked_problem set_aside(fast_work *work) {
  const double near_enough = 1e-6; // residual: only a starting point is wanted
  asked_problem asked = {work->best_residual, work->target};
  memcpy(work->kept_p, work->best_p, sizeof(double) * (size_t)work->box.n_rows);
  work->target = fmax(work->target, near_enough);
  return asked;
}

static void take_up_again(fast_work *work, asked_problem asked) {
  work->target = asked.target;
  work->best_residual = asked.best_residual;
  memcpy(work->best_p, work->kept_p, sizeof(double) * (size_t)work->box.n_rows);
  box_project(&work->box, work->p);
  fast_work_evaluate(work);
}

/* The present, easier problem from work->p, or from nothing. */
static void approach(fast_work *work, double start, bool warm) {
  const fast_interior_options options = {.start = start,
                                         .warm = warm,
                                         .margin = 1,
                                         .max_iterations = 40,
                                         .cross_over = false};
  work->best_residual = INFINITY;
  box_project(&work->box, work->p);
  fast_work_evaluate(work);
  fast_interior_solve(work, &options);
}

void fast_relaxed_approach(fast_work *work) {
  static const double relaxations[] = {1e-2, 1e-4, 1e-6}; // of the diagonal
  asked_problem asked = set_aside(work);
  for (int i = 0; i < 3; i++) {
    work->box.relaxation = relaxations[i];
    approach(work, i > 0 ? nearer : far_off, i > 0);
  }
  work->box.relaxation = 0;
  take_up_again(work, asked);
}

void fast_friction_approach(fast_work *work) {
  const double least = 0.3, moderate = 20; // friction coefficients
  box_problem *box = &work->box;
  size_t bytes = sizeof(double) * (size_t)box->n_rows;
  double largest = 0, *own = work->own_coefficient;
  memcpy(own, box->coefficient, bytes);
  for (int i = 0; i < box->n_rows; i++) largest = fmax(largest, own[i]);

  asked_problem asked = set_aside(work);
  for (double cap = least; cap < largest; cap *= cap < moderate ? 2 : 100) {
    for (int i = 0; i < box->n_rows; i++)
      box->coefficient[i] = fmin(own[i], cap);
    approach(work, cap > least ? nearer : far_off, cap > least);
  }
  memcpy(box->coefficient, own, bytes);
  take_up_again(work, asked);
}
