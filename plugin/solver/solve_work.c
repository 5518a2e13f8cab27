#include "solver/solve_work.h"

#include <math.h>
#include <string.h>

static bool take_rows(solve_work *work, double **rows) {
  size_t n = by_fours((size_t)work->box.n_rows);
  if (!ARENA_TAKE(&work->arena, *rows, n)) return false;
  memset(*rows, 0, sizeof **rows * n);
  return true;
}

bool solve_work_reserve(solve_work *work) {
  arena *arena = &work->arena;
  size_t n_v = 6 * (size_t)work->box.n_bodies;
  double **const rows[] = {&work->p,
                           &work->w,
                           &work->best_p,
                           &work->weights.own,
                           &work->weights.follow,
                           &work->weights.cross,
                           &work->softness,
                           &work->r,
                           &work->dp,
                           &work->scratch,
                           &work->kept_p};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!take_rows(work, rows[i])) return false;
  return ARENA_TAKE(arena, work->v, n_v) && ARENA_TAKE(arena, work->dv, n_v) &&
         ARENA_TAKE(arena, work->state, work->box.n_rows) &&
         ARENA_TAKE(arena, work->known, work->box.n_rows);
}

/* In instructions, as counted on heaps of 150 bodies and walls of 210: a block's
 * product in a factorisation, with both triangles; a block of a triangle in a solve;
 * a row's part of the matrix, its passes in a solve and in a pivot; a body's part of
 * the low-rank changes that a pivot solves with. */
static const double per_product = 500, per_block = 64;
static const double per_row_factored = 100, per_row_solved = 65;
static const double per_row_pivoted = 100, per_body_pivoted = 70;
static const double per_row_swept = 100;

void solve_work_set_cost(solve_work *work) {
  const double solves_a_step = 3, units_a_step = 1.3; // of an interior point
  double rows = work->box.n_rows, bodies = work->box.n_bodies;
  double blocks = per_block * body_blocks_fill(&work->blocks);
  double factorisation = per_product * body_blocks_products(&work->blocks) +
                         per_row_factored * rows;
  double solve = blocks + per_row_solved * rows;
  double pivot = blocks + per_body_pivoted * bodies + per_row_pivoted * rows;
  double unit = (factorisation + solves_a_step * solve) / units_a_step;
  work->cost = (work_cost){factorisation / unit, solve / unit, pivot / unit,
                           per_row_swept * rows / unit};
}

bool solve_work_spend(solve_work *work, double cost) {
  if (work->spent + cost > work->budget) return false;
  work->spent += cost;
  return true;
}

bool solve_work_factor(solve_work *work, bool symmetric) {
  bool anew;
  if (!solve_work_spend(work, work->cost.factorisation)) return false;
  bool factored = box_system_factor(&work->blocks, &work->box, &work->weights,
                                    symmetric, &anew);
  work->factorisations += anew;
  return factored;
}

bool solve_work_has_few_limits(const solve_work *work) {
  enum { FEW_ROWS = 150 };
  return work->box.n_limited <= FEW_ROWS;
}

double solve_work_goal(const solve_work *work) {
  return solve_work_has_few_limits(work) ? fmin(work->target, work->digits)
                                         : work->target;
}

bool solve_work_is_spent(const solve_work *work) {
  return work->spent + 1 > work->budget;
}

void solve_work_judge(solve_work *work, double residual) {
  work->residual = residual;
  if (!(work->residual < work->best_residual)) return;
  work->best_residual = work->residual;
  work->best_stage = work->stage;
  memcpy(work->best_p, work->p, sizeof(double) * (size_t)work->box.n_rows);
}

void solve_work_evaluate(solve_work *work) {
  box_velocities(&work->box, work->p, work->v);
  box_slips(&work->box, work->v, work->p, work->w);
  solve_work_judge(work, box_residual(&work->box, work->p, work->w));
}

void solve_work_restore_best(solve_work *work) {
  memcpy(work->p, work->best_p, sizeof(double) * (size_t)work->box.n_rows);
  solve_work_evaluate(work);
}

void solve_work_take(solve_work *work, const double p[]) {
  memcpy(work->p, p, sizeof *p * (size_t)work->box.n_rows);
  box_project(&work->box, work->p);
  solve_work_evaluate(work);
}
