#include "step/push_out.h"

#include <math.h>
#include <string.h>

#include "common/six.h"

/* Compliance of every row, as a part of its diagonal: bodies that are wedged in
 * more than they can leave share what cannot be had. */
static const double SHARED = 1e-6;

/* A row that misses less than this of the velocities at hand is no reason for a
 * push-out. */
static const double NEGLIGIBLE = 1e-3;

static bool takes_part(const mlcp_row *row, const row_correction *correction) {
  return row->kind != MLCP_ROW_FRICTION && !isnan(correction->excess);
}

/* excess - w: what J u + d p has to be, or to reach. */
static double need_of_row(const mlcp_row *row, const mlcp_solution *solution,
                          int index, double excess) {
  double w = row->bias + row->compliance * solution->p[index];
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < 6 && row->body[side] >= 0; i++)
      w += row->J[side][i] * solution->v[6 * row->body[side] + i];
  return excess - w;
}

/* Whether a row is far from needing `least` either way: need_of_row but for
 * rounding. */
static bool needs_little(const mlcp_row *row, const mlcp_solution *solution,
                         int index, double excess, double least) {
  double w = row->bias + row->compliance * solution->p[index];
  for (int side = 0; side < 2; side++)
    if (row->body[side] >= 0)
      w += dot6(row->J[side], solution->v + 6 * row->body[side]);
  return fabs(excess - w) < 0.5 * least;
}

static bool asks_for_push(const mlcp_problem *problem,
                          const mlcp_solution *solution,
                          const row_correction corrections[]) {
  double least = NEGLIGIBLE * problem->velocity_floor;
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    const row_correction *correction = &corrections[r];
    if (!takes_part(row, correction) ||
        (correction->velocity == 0 && correction->excess == 0) ||
        needs_little(row, solution, r, correction->excess, least))
      continue;
    double need = need_of_row(row, solution, r, correction->excess);
    if ((need > least && row->high > 0) || (need < -least && row->low < 0))
      return true;
  }
  return false;
}

/* A row of the push-out. One that pushes one way only starts anew; another has
 * what the velocities left of its force limits. */
static mlcp_row push_row(const mlcp_row *row, double p, double need) {
  mlcp_row push = *row;
  push.bias = -need;
  push.low = row->low < 0 ? fmin(row->low - p, 0) : 0;
  push.high = row->high > 0 ? fmax(row->high - p, 0) : 0;
  return push;
}

static bool reserve(push_out *push, const memory_source *source, int n_bodies,
                    int n_rows) {
  size_t bodies = (size_t)n_bodies, rows = (size_t)n_rows;
  mlcp_problem *problem = &push->problem;
  *problem = (mlcp_problem){.n_bodies = n_bodies};
  push->solution = (mlcp_solution){0};
#define RESERVE(field, block, count)                                \
  ((field = memory_block_reserve(&push->block, source, (count),     \
                                 sizeof *(field))) != NULL)
  return RESERVE(problem->bodies, bodies, bodies) &&
         RESERVE(problem->rows, rows, rows) &&
         RESERVE(push->solution.v, v, 6 * bodies) &&
         RESERVE(push->solution.p, p, rows) &&
         RESERVE(problem->frictions, none, 0) &&
         RESERVE(problem->pairs, none, 0) &&
         RESERVE(push->solution.beta, none, 0) &&
         RESERVE(push->solution.lambda, none, 0);
#undef RESERVE
}

push_out_status push_out_build(push_out *push, const memory_source *source,
                               const mlcp_problem *problem,
                               const mlcp_solution *solution,
                               const row_correction corrections[]) {
  if (!asks_for_push(problem, solution, corrections)) return PUSH_OUT_NONE;
  if (!reserve(push, source, problem->n_bodies, problem->n_rows))
    return PUSH_OUT_NO_MEMORY;

  mlcp_body *bodies = (mlcp_body *)push->problem.bodies;
  memcpy(bodies, problem->bodies, sizeof *bodies * (size_t)problem->n_bodies);
  for (int b = 0; b < problem->n_bodies; b++)
    memset(bodies[b].v_free, 0, sizeof bodies[b].v_free);

  mlcp_row *rows = (mlcp_row *)push->problem.rows;
  int n_rows = 0;
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    if (!takes_part(row, &corrections[r])) continue;
    rows[n_rows] = push_row(
        row, solution->p[r],
        need_of_row(row, solution, r, corrections[r].excess));
    rows[n_rows++].compliance =
        fmax(row->compliance, SHARED * mlcp_row_diagonal(problem, r));
  }
  push->problem.n_rows = n_rows;
  push->problem.velocity_floor = problem->velocity_floor;
  return PUSH_OUT_BUILT;
}

void push_out_limit(push_out *push, double step_size) {
  const double MOST = 0.5;
  int n_v = 6 * push->problem.n_bodies;
  double *u = push->solution.v, turn = 0;
  for (int i = 0; i < n_v; i += 6)
    turn = fmax(turn, hypot(hypot(u[i + 3], u[i + 4]), u[i + 5]) * step_size);
  if (turn <= MOST) return;
  for (int i = 0; i < n_v; i++) u[i] *= MOST / turn;
}

void push_out_release(push_out *push, const memory_source *source) {
  memory_block *blocks[] = {&push->bodies, &push->rows, &push->v, &push->p,
                            &push->none};
  memory_blocks_release(blocks, sizeof blocks / sizeof blocks[0], source);
}
