#include "assembly/position_projection.h"

#include <math.h>
#include <string.h>

#include "common/six.h"
#include "common/vec3.h"

/* Compliance of every row, as a part of its diagonal: bodies that are wedged in
 * more than they can leave share what cannot be had. */
static const double SHARED = 1e-6;

/* A row that misses less than this of the velocities at hand is no reason for a
 * projection. */
static const double NEGLIGIBLE = 1e-3;

static bool takes_part(const mlcp_row *row, const row_correction *correction) {
  return row->kind != MLCP_ROW_FRICTION && !isnan(correction->excess);
}

/* excess - w: what J u + d p has to be, or to reach. */
static double need_of_row(const mlcp_row *row, const mlcp_solution *solution,
                          int index, double excess) {
  double w = row->bias + row->compliance * solution->p[index];
  for (int side = 0; side < 2; side++)
    if (row->body[side] >= 0)
      w += dot6(row->J[side], solution->v + 6 * row->body[side]);
  return excess - w;
}

static bool asks_for_motion(const mlcp_problem *problem,
                            const mlcp_solution *solution,
                            const row_correction corrections[]) {
  double least = NEGLIGIBLE * problem->velocity_floor;
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    const row_correction *correction = &corrections[r];
    if (!takes_part(row, correction) ||
        (correction->velocity == 0 && correction->excess == 0))
      continue;
    double need = need_of_row(row, solution, r, correction->excess);
    if ((need > least && row->high > 0) || (need < -least && row->low < 0))
      return true;
  }
  return false;
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

static bool reserve(position_projection *projection, arena *arena, int n_bodies,
                    int n_rows, mlcp_body **bodies, mlcp_row **rows) {
  *projection = (position_projection){.problem.n_bodies = n_bodies};
  mlcp_solution *solution = &projection->solution;
  bool taken = ARENA_TAKE(arena, *bodies, n_bodies) &&
               ARENA_TAKE(arena, *rows, n_rows) &&
               ARENA_TAKE(arena, solution->v, 6 * n_bodies) &&
               ARENA_TAKE(arena, solution->p, n_rows);
  if (!taken) return false;
  static const mlcp_friction no_frictions[1];
  static const mlcp_pair no_pairs[1];
  projection->problem.bodies = *bodies;
  projection->problem.rows = *rows;
  projection->problem.frictions = no_frictions;
  projection->problem.pairs = no_pairs;
  solution->beta = solution->lambda = solution->p; /* [0] */
  return true;
}

projection_status position_projection_build(
    position_projection *projection, arena *arena, const mlcp_problem *problem,
    const mlcp_solution *solution, const row_correction corrections[]) {
  mlcp_body *bodies;
  mlcp_row *rows;
  if (!asks_for_motion(problem, solution, corrections)) return PROJECTION_NONE;
  if (!reserve(projection, arena, problem->n_bodies, problem->n_rows, &bodies,
               &rows))
    return PROJECTION_NO_MEMORY;

  memcpy(bodies, problem->bodies, sizeof *bodies * (size_t)problem->n_bodies);
  for (int b = 0; b < problem->n_bodies; b++)
    memset(bodies[b].v_free, 0, sizeof bodies[b].v_free);

  int n_rows = 0;
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    if (!takes_part(row, &corrections[r])) continue;
    rows[n_rows] =
        moved_row(row, solution->p[r],
                  need_of_row(row, solution, r, corrections[r].excess));
    rows[n_rows++].compliance =
        fmax(row->compliance, SHARED * mlcp_row_diagonal(problem, r));
  }
  projection->problem.n_rows = n_rows;
  projection->problem.velocity_floor = problem->velocity_floor;
  return PROJECTION_BUILT;
}

void position_projection_limit(position_projection *projection,
                               double step_size) {
  const double MOST_TURN = 0.5; /* rad: rows hold for small turns */
  double *u = projection->solution.v, turn = 0;
  for (int i = 0; i < 6 * projection->problem.n_bodies; i += 6)
    turn = fmax(turn, vec3_length(u + i + 3) * step_size);
  for (int i = 0; i < 6 * projection->problem.n_bodies && turn > MOST_TURN; i++)
    u[i] *= MOST_TURN / turn;
}
