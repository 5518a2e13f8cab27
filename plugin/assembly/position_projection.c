#include "assembly/position_projection.h"

#include <math.h>
#include <string.h>

#include "mlcp/mlcp.h"

/* Compliance of every row, as a part of its diagonal: bodies that are wedged in
 * more than they can leave share what cannot be had. */
static const double SHARED = 1e-6;

/* A row that misses less than this of the velocities at hand is no reason for a
 * projection. */
static const double NEGLIGIBLE = 1e-3;

/* excess - w: what J u + d p has to be, or to reach; NAN of a row that takes no part. */
static double need_of_row(const mlcp_problem *problem,
                          const mlcp_solution *solution,
                          const row_correction corrections[], int r) {
  return problem->rows[r].kind == MLCP_ROW_FRICTION
             ? NAN
             : corrections[r].excess - mlcp_row_slip(problem, solution, r);
}

static bool asks_for_motion(const mlcp_problem *problem,
                            const mlcp_solution *solution,
                            const row_correction corrections[]) {
  double least = NEGLIGIBLE * problem->velocity_floor;
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    if (corrections[r].velocity == 0 && corrections[r].excess == 0) continue;
    double need = need_of_row(problem, solution, corrections, r);
    if ((need > least && row->high > 0) || (need < -least && row->low < 0))
      return true;
  }
  return false;
}

double position_compliance(const mlcp_problem *problem, int r) {
  return fmax(problem->rows[r].compliance,
              SHARED * mlcp_row_diagonal(problem, r));
}

/* A row of the projection. One that pushes one way only starts anew; another has
 * what the velocities left of its force limits. */
static mlcp_row moved_row(const mlcp_row *row, double p, double need) {
  mlcp_row moved = *row;
  moved.bias = -need;
  moved.low = row->low < 0 ? fmin(row->low - p, 0) : 0;
  moved.high = row->high > 0 ? fmax(row->high - p, 0) : 0;
  return moved;
}

bool position_projection_build(position_projection *projection, arena *arena,
                               const mlcp_problem *problem,
                               const mlcp_solution *solution,
                               const row_correction corrections[]) {
  static const mlcp_friction no_frictions[1];
  static const mlcp_pair no_pairs[1];
  mlcp_body *bodies;
  mlcp_row *rows;
  mlcp_problem *own = &projection->problem;
  mlcp_solution *motion = &projection->solution;
  *own = (mlcp_problem){.n_bodies = problem->n_bodies,
                        .frictions = no_frictions,
                        .pairs = no_pairs,
                        .velocity_floor = problem->velocity_floor};
  if (!asks_for_motion(problem, solution, corrections)) return true;
  if (!ARENA_TAKE(arena, bodies, problem->n_bodies) ||
      !ARENA_TAKE(arena, rows, problem->n_rows) ||
      !ARENA_TAKE(arena, motion->v, 6 * problem->n_bodies) ||
      !ARENA_TAKE(arena, motion->p, problem->n_rows))
    return false;
  motion->beta = motion->lambda = motion->p; /* [0] */
  own->bodies = bodies;
  own->rows = rows;
  memcpy(bodies, problem->bodies, sizeof *bodies * (size_t)problem->n_bodies);
  for (int b = 0; b < problem->n_bodies; b++)
    memset(bodies[b].v_free, 0, sizeof bodies[b].v_free);
  for (int r = 0; r < problem->n_rows; r++) {
    double need = need_of_row(problem, solution, corrections, r);
    if (isnan(need)) continue;
    mlcp_row *row = &rows[own->n_rows++];
    *row = moved_row(&problem->rows[r], solution->p[r], need);
    row->compliance = position_compliance(problem, r);
  }
  return true;
}
