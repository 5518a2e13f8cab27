#include "solver/solver_points.h"

#include <math.h>
#include <string.h>

bool solver_point_take(solver_point *point, arena *arena,
                       const mlcp_problem *problem) {
  point->residual = INFINITY;
  return ARENA_TAKE(arena, point->at.v, 6 * (size_t)problem->n_bodies) &&
         ARENA_TAKE(arena, point->at.p, problem->n_rows) &&
         ARENA_TAKE(arena, point->at.beta, 2 * (size_t)problem->n_pairs) &&
         ARENA_TAKE(arena, point->at.lambda, problem->n_frictions);
}

void solver_copy_solution(const mlcp_problem *problem,
                          const mlcp_solution *from, const mlcp_solution *to) {
  size_t size = sizeof(double);
  memcpy(to->v, from->v, size * 6 * problem->n_bodies);
  memcpy(to->p, from->p, size * problem->n_rows);
  memcpy(to->beta, from->beta, size * 2 * problem->n_pairs);
  memcpy(to->lambda, from->lambda, size * problem->n_frictions);
}

/* Shrinks a set's impulse towards 0 until its edge impulses fit the limit. */
static void shrink_friction(const mlcp_problem *problem, int index,
                            const mlcp_solution *point) {
  const mlcp_friction *set = &problem->frictions[index];
  const double *beta = point->beta + 2 * set->first_pair;
  double limit = set->limit, sum = 0;
  if (set->normal >= 0) limit += set->coefficient * point->p[set->normal];
  for (int e = 0; e < 2 * set->n_pairs; e++) sum += beta[e];
  if (!(sum > limit)) return;
  for (int t = 0; t < set->n_base; t++)
    point->p[set->first_row + t] *= limit / sum;
}

double solver_complete_point(const mlcp_problem *problem,
                             const mlcp_solution *point, double scratch[]) {
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    double p = isfinite(point->p[r]) ? point->p[r] : 0;
    if (row->kind != MLCP_ROW_FRICTION) p = fmin(fmax(p, row->low), row->high);
    point->p[r] = p;
  }

  // how much of its limit an impulse takes does not depend on the slip
  memset(scratch, 0, sizeof *scratch * problem->n_rows);
  for (int i = 0; i < problem->n_frictions; i++) {
    mlcp_split_friction(problem, i, point->p, scratch, point->beta,
                        &point->lambda[i]);
    shrink_friction(problem, i, point);
  }

  return mlcp_complete(problem, mlcp_velocity_scale(problem), point, scratch);
}
