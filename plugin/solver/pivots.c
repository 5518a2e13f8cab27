/* Whatever p is, a slip d added to w makes it a solution; with t d in place of
 * d, and t going from 1 to 0, the solution moves along a piecewise linear path
 * whose corners are changes of one row's state. At a turning point t goes back
 * and the path goes on, which neither Newton's method nor an interior point can
 * do. From a point near a solution it takes about as many pivots as rows are in
 * a wrong state.
 *
 * A change of one row's state changes H by one rank. H keeps its factors; what
 * changed since is kept as a column y = H^-1 u and a sparse v for every pivot
 * (Sherman and Morrison), and all is factored anew after a number of them.
 *
 * Of the rows whose limits block within the noise the one that moves fastest
 * against its limit changes (Harris); of equally fast ones the first.
 */
#include "solver/pivots.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "solver/active_set.h"

/* The systems here have compliance enough of their own; this is what keeps
 * those of rigid rows regular. */
static const double prox = 1e-9;

/* Factored anew after so many, before they cost more than the factors and
 * rounding adds up. */
enum { MAX_UPDATES = 32 };

/* A change of one row's state as H + u v': what undoes it in a solve. */
typedef struct rank_one_change {
  int a, b; /* v is zero but for these bodies; b may be -1 */
  double v_a[6], v_b[6];
  double factor; /* 1 / (1 + v' H^-1 u) */
} rank_one_change;

struct pivot_space {
  double *d, *w,
      *dw;      /* [n_rows] the path's perturbation, slips, their change */
  double *side; /* [n_rows] the states once more, for passes by fours */
  rank_one_change *updates;
  double *columns;      /* [6 n_bodies] each, of the updates */
  four *rooms, *speeds; /* of rows by fours, low and high limits in turn */
  int *graph_edge_of;   /* [n_clusters] */
};

typedef struct path {
  solve_work *work;
  const box_problem *box;
  struct pivot_space space;
  double *p, *w, *d;    /* the point at t; w is with t d */
  double *dp, *dw, *dv; /* its change with t, times dt */
  double t, dt;         /* dt is 1 or -1 */
  double noise;         /* m/s */
  int n_updates;
} path;

bool pivots_reserve(solve_work *work) {
  const box_problem *box = &work->box;
  arena *arena = &work->arena;
  size_t n = by_fours((size_t)box->n_rows), n_v = 6 * (size_t)box->n_bodies;
  if (!ARENA_TAKE(arena, work->pivot_space, 1)) return false;
  struct pivot_space *s = work->pivot_space;
  if (!ARENA_TAKE(arena, s->d, n) || !ARENA_TAKE(arena, s->w, n) ||
      !ARENA_TAKE(arena, s->dw, n) || !ARENA_TAKE(arena, s->side, n) ||
      !ARENA_TAKE(arena, s->updates, MAX_UPDATES) ||
      !ARENA_TAKE(arena, s->columns, MAX_UPDATES * n_v) ||
      !ARENA_TAKE(arena, s->rooms, n / 2) ||
      !ARENA_TAKE(arena, s->speeds, n / 2) ||
      !ARENA_TAKE(arena, s->graph_edge_of, box->n_clusters))
    return false;
  memset(s->d, 0, sizeof *s->d * n);
  memset(s->side, 0, sizeof *s->side * n);
  for (int e = 0; e < box->n_graph_edges; e++)
    for (int c = box->graph_edges[e].first_cluster;
         c < box->graph_edges[e].end_cluster; c++)
      s->graph_edge_of[c] = e;
  return true;
}

/* ---- H with the changes since its factorisation -------------------------- */

static double sparse_dot(const rank_one_change *update, const double x[]) {
  double sum = 0;
  for (int i = 0; i < 6; i++) sum += update->v_a[i] * x[6 * update->a + i];
  for (int i = 0; i < 6 && update->b >= 0; i++)
    sum += update->v_b[i] * x[6 * update->b + i];
  return sum;
}

static void solve_updated(const path *c, double x[]) {
  int n = 6 * c->box->n_bodies;
  body_blocks_solve(&c->work->blocks, x);
  for (int k = 0; k < c->n_updates; k++) {
    const double *y = c->space.columns + (size_t)n * (size_t)k;
    double share =
        sparse_dot(&c->space.updates[k], x) * c->space.updates[k].factor;
    if (share == 0) continue;
    for (int i = 0; i < n; i++) x[i] -= share * y[i];
  }
}

KERNEL void add_compliance(path *c) {
  const box_problem *box = c->box;
  for (int r = 0; r < box->n_rows; r += 4) {
    four soft = *(const four *)(box->compliance + r) +
                box->relaxation * *(const four *)(box->diagonal + r);
    *(four *)(c->dw + r) +=
        soft * *(const four *)(c->dp + r) +
        *(const four *)(box->cross + r) * four_at(c->dp, box->other_of + r) +
        c->dt * *(const four *)(c->d + r);
  }
}

/* dp and dw that belong to dv and the slips r. */
static void complete_direction(path *c) {
  solve_work *work = c->work;
  box_system_answer(c->box, &work->weights, work->r, c->dv, c->dp,
                    work->scratch, c->dw);
}

static void solve_slips(path *c) {
  solve_work *work = c->work;
  box_system_weigh(c->box, &work->weights, work->r, c->dp);
  box_impulses(c->box, c->dp, c->dv);
  solve_updated(c, c->dv);
  complete_direction(c);
}

/* ---- passes over the rows -------------------------------------------------- */

KERNEL void reverse(path *c) {
  for (int r = 0; r < c->box->n_rows; r += 4) {
    *(four *)(c->dp + r) = -*(const four *)(c->dp + r);
    *(four *)(c->dw + r) = -*(const four *)(c->dw + r);
    *(four *)(c->work->r + r) = -*(const four *)(c->work->r + r);
  }
}

KERNEL void step(path *c, double length) {
  for (int r = 0; r < c->box->n_rows; r += 4) {
    *(four *)(c->p + r) += length * *(const four *)(c->dp + r);
    *(four *)(c->w + r) += length * *(const four *)(c->dw + r);
  }
}

/* Rooms and speeds of all limits; the speed is 0 where there is no limit. @return how far it is to the first, with the noise. */
KERNEL double find_limits(path *c) {
  const box_problem *box = c->box;
  four longest = four_of(INFINITY), none = four_of(0);
  for (int i = 0; 4 * i < box->n_rows; i++) {
    four p = *(const four *)(c->p + 4 * i), dp = *(const four *)(c->dp + 4 * i);
    four w = *(const four *)(c->w + 4 * i), dw = *(const four *)(c->dw + 4 * i);
    four side = *(const four *)(c->space.side + 4 * i), low, high;
    four A = *(const four *)(box->diagonal + 4 * i);
    four normal = four_at(c->p, box->normal_of + 4 * i);
    four rate = *(const four *)(box->coefficient + 4 * i) *
                four_at(c->dp, box->normal_of + 4 * i);
    four_mask active = side == none;
    four_mask friction = *(const four_mask *)(box->is_friction + 4 * i);
    four_mask has_low =
        friction | (*(const four *)(box->low + 4 * i) > -INFINITY);
    four_mask has_high =
        friction | (*(const four *)(box->high + 4 * i) < INFINITY);
    box_limits_of_four(box, i, &normal, &low, &high);
    four room[2] = {four_where(active, larger_four(p - low, none) * A,
                               larger_four(-side * w, none)),
                    larger_four(high - p, none) * A};
    four speed[2] = {
        four_where(active, four_where(has_low, -(dp + rate) * A, none),
                   side * dw),
        four_where(active & has_high, (dp - rate) * A, none)};
    for (int k = 0; k < 2; k++) {
      four time =
          four_where(speed[k] > none, (room[k] + c->noise) / speed[k], longest);
      longest = smaller_four(time, longest);
      c->space.rooms[2 * i + k] = room[k];
      c->space.speeds[2 * i + k] = speed[k];
    }
  }
  return -largest_of_four(-longest);
}

/* Of the limits within `longest` the fastest, of equally fast ones the first;
 * -1 where there is none. */
KERNEL int choose_limit(const path *c, double longest) {
  double least = 0;
  int best = -1;
  for (int i = 0; 4 * i < c->box->n_rows; i++) {
    four_mask near[2];
    for (int k = 0; k < 2; k++)
      near[k] =
          (c->space.rooms[2 * i + k] <= longest * c->space.speeds[2 * i + k]) &
          (c->space.speeds[2 * i + k] > four_of(least));
    four_mask any = near[0] | near[1];
    if (!(any[0] | any[1] | any[2] | any[3])) continue;
    for (int lane = 0; lane < 4; lane++)
      for (int k = 0; k < 2; k++)
        if (near[k][lane] && c->space.speeds[2 * i + k][lane] > least) {
          least = c->space.speeds[2 * i + k][lane];
          best = 2 * (4 * i + lane) + k;
        }
  }
  return best;
}

typedef enum pass_kind { REVERSE, STEP, ADD_COMPLIANCE } pass_kind;

KERNEL void run_pass(path *c, pass_kind pass, double length) {
  switch (pass) {
    case REVERSE: reverse(c); break;
    case STEP: step(c, length); break;
    case ADD_COMPLIANCE: add_compliance(c); break;
  }
}

IN_BOTH_WIDTHS(static, void, run_pass_any,
               (path * c, pass_kind pass, double length), , run_pass,
               (c, pass, length))

/* A limit is known by twice its row, and one more for the high one. */
KERNEL int find_nearest(path *c) {
  double longest = find_limits(c);
  return longest < INFINITY ? choose_limit(c, longest) : -1;
}

IN_BOTH_WIDTHS(static, int, nearest_limit, (path * c), return, find_nearest,
               (c))

/* ---- the point ----------------------------------------------------------- */

static void find_slips(path *c) {
  box_velocities(c->box, c->p, c->work->v);
  box_slips(c->box, c->work->v, c->p, c->w);
  for (int i = 0; i < c->box->n_rows; i++) c->w[i] += c->t * c->d[i];
}

/* Take off what rounding left in the point. */
static void correct(path *c) {
  solve_work *work = c->work;
  for (int i = 0; i < c->box->n_rows; i++)
    work->r[i] = work->state[i] == ROW_ACTIVE ? -c->w[i] : 0;
  solve_slips(c);
  for (int i = 0; i < c->box->n_rows; i++) c->p[i] += c->dp[i];
  active_set_put_at_limits(work, c->p);
  find_slips(c);
}

static bool refresh(path *c) {
  c->n_updates = 0;
  if (!active_set_factor(c->work, prox)) return false;
  for (int r = 0; r < c->box->n_rows; r++) c->space.side[r] = c->work->state[r];
  active_set_put_at_limits(c->work, c->p);
  find_slips(c);
  correct(c);
  return true;
}

/* The end of the path, as exact as its active set allows. */
static bool arrive(path *c) {
  c->t = 0;
  if (!refresh(c)) return false;
  for (int k = 0; k < 3; k++) correct(c);
  return true;
}

static void find_direction(path *c) {
  solve_work *work = c->work;
  for (int i = 0; i < c->box->n_rows; i++)
    work->r[i] = work->state[i] == ROW_ACTIVE ? -c->d[i] * c->dt : 0;
  solve_slips(c);
  run_pass_any(c, ADD_COMPLIANCE, 0);
}

static void reverse_direction(path *c) {
  c->dt = -c->dt;
  run_pass_any(c, REVERSE, 0);
  for (int i = 0; i < 6 * c->box->n_bodies; i++) c->dv[i] = -c->dv[i];
}

static void step_along(path *c, double length) {
  run_pass_any(c, STEP, length);
  c->t += length * c->dt;
}

/* ---- what blocks --------------------------------------------------------- */

/* By how much a row comes nearer to its low or high limit with t, as find_limits has
 * it. */
static double speed_of(const path *c, int row, bool high) {
  const box_problem *box = c->box;
  int state = c->work->state[row];
  double rate = box->coefficient[row] * c->dp[box->normal_of[row]];
  if (state != ROW_ACTIVE) return state * c->dw[row];
  return (high ? c->dp[row] - rate : -(c->dp[row] + rate)) * box->diagonal[row];
}

/* The state that a row takes at that limit. A friction row whose limit is 0 and stays
 * so changes sides freely. */
static int state_at(const path *c, int row, bool high) {
  const box_problem *box = c->box;
  int state = c->work->state[row], normal = box->normal_of[row];
  if (state == ROW_ACTIVE) return high ? ROW_AT_HIGH : ROW_AT_LOW;
  bool shut = box->high[row] == 0 && normal != row &&
              c->work->state[normal] != ROW_ACTIVE;
  return shut ? -state : ROW_ACTIVE;
}

/* The limit that is met first, as nearest_limit has it, and how far it is. */
static int first_limit(path *c, double *length) {
  int which = nearest_limit(c);
  int row = which / 2, at = 2 * (row / 4) + which % 2;
  *length = which < 0
                ? INFINITY
                : c->space.rooms[at][row % 4] / c->space.speeds[at][row % 4];
  return which;
}

/* ---- changes of state ---------------------------------------------------- */

/* u and v of one row's change, from how its weights change: u' x v is what J' W J
 * changes by. A normal takes its friction along, so that its column changes;
 * else it is a row. @param own, follow  of the cluster's rows, before */
static void rank_one(const path *c, const box_cluster *cluster, int row,
                     const double own[], const double follow[], double u_a[6],
                     double u_b[6], rank_one_change *update) {
  const box_weights *now = &c->work->weights;
  int first = cluster->first_row, n = cluster->n_rows;
  bool is_column = row == first && cluster->has_normal;
  memset(update->v_a, 0, sizeof update->v_a);
  memset(update->v_b, 0, sizeof update->v_b);
  for (int j = 0; j < n; j++) {
    double follows = now->follow[first + j] - follow[j], left, right;
    double J_a[6], J_b[6];
    box_jacobian(c->box, first + j, BOX_A, J_a);
    box_jacobian(c->box, first + j, BOX_B, J_b);
    if (is_column) { // its own weight is that of what follows it
      left = j == 0 ? now->own[first] - own[0] : follows;
      right = j == 0;
    } else {
      left = first + j == row;
      right = left * (now->own[row] - own[j]);
      if (j == 0) right += now->follow[row] - follow[row - first];
    }
    for (int i = 0; i < 6; i++) {
      u_a[i] += left * J_a[i];
      u_b[i] += left * J_b[i];
      update->v_a[i] += right * J_a[i];
      update->v_b[i] += right * J_b[i];
    }
  }
}

/* The row takes its new state: H, and with it the direction, by one rank more.
 * @return false when H has to be factored anew instead. */
static bool change_state(path *c, int row, int state) {
  solve_work *work = c->work;
  const box_cluster *cluster = box_cluster_of(c->box, row);
  const graph_edge *edge =
      &c->box->graph_edges[c->space.graph_edge_of[cluster - c->box->clusters]];
  int first = cluster->first_row, m = cluster->n_rows;
  const box_weights *weights = &work->weights;
  double own[BOX_MAX_CLUSTER], follow[BOX_MAX_CLUSTER];
  bool was_active = work->state[row] == ROW_ACTIVE;

  work->state[row] = state;
  c->space.side[row] = state;
  if (cluster->crossed || c->n_updates == MAX_UPDATES) return false;
  memcpy(own, weights->own + first, sizeof *own * (size_t)m);
  memcpy(follow, weights->follow + first, sizeof *follow * (size_t)m);
  active_set_weigh(work, first, first + m);

  rank_one_change *update = &c->space.updates[c->n_updates];
  double u_a[6] = {0}, u_b[6] = {0};
  size_t n = 6 * (size_t)c->box->n_bodies;
  const double least_determinant = 1e-8; // half of the digits are left
  double *y = c->space.columns + n * (size_t)c->n_updates;
  update->a = edge->a;
  update->b = edge->b;
  rank_one(c, cluster, row, own, follow, u_a, u_b, update);
  memset(y, 0, sizeof *y * n);
  memcpy(y + 6 * edge->a, u_a, sizeof u_a);
  if (edge->b >= 0) memcpy(y + 6 * edge->b, u_b, sizeof u_b);
  solve_updated(c, y);
  double determinant = 1 + sparse_dot(update, y);
  if (!(fabs(determinant) > least_determinant) || !isfinite(determinant))
    return false;
  update->factor = 1 / determinant;

  // J'W r changes along u too
  double r = -c->d[row] * c->dt, weight = r;
  if (row != first || !cluster->has_normal) {
    weight = was_active ? -own[row - first] * r : weights->own[row] * r;
    weight += (weights->follow[row] - follow[row - first]) * work->r[first];
  }
  work->r[row] = was_active ? 0 : r;
  double step = (weight - sparse_dot(update, c->dv)) * update->factor;
  for (size_t i = 0; i < n; i++) c->dv[i] += step * y[i];
  c->n_updates++;
  complete_direction(c);
  run_pass_any(c, ADD_COMPLIANCE, 0);
  return true;
}

/* After a row's change: the way on is the one that its new state allows. */
static void choose_way(path *c, int row, int state_before) {
  if (speed_of(c, row, state_before == ROW_AT_HIGH) > 0) reverse_direction(c);
}

/* ---- the path ------------------------------------------------------------ */

/* d for the present p: rows inside their limits become active; rows at a limit
 * stay there, with a slip that is not 0 so that they do not all leave at
 * once. All normals that carry nothing are driven apart, by as much as the worst comes
 * closer: from no impulses the path then has no ray and no second end (Lemke), where
 * half of demo_cards' problems end in one if only those are that come closer. */
static void start_path(path *c) {
  const box_problem *box = c->box;
  box_project(box, c->p);
  box_velocities(box, c->p, c->work->v);
  box_slips(box, c->work->v, c->p, c->w);
  double worst = 0;
  for (int r = 0; r < box->n_rows; r++)
    if (box->type[r] == BOX_LOWER) worst = larger_of(worst, -c->w[r]);
  for (int r = 0; r < box->n_rows; r++) {
    int type = box->type[r], state = ROW_ACTIVE;
    double low, high, w = c->w[r], d = -w;
    double room = 1e-9 * box->scale / box->diagonal[r];
    double least = 0.1 * spread(r) * (fabs(w) + 1e-3 * box->scale);
    box_limits(box, r, c->p, &low, &high);
    if (low == high) { // friction without a normal impulse
      state = w > 0 ? ROW_AT_LOW : ROW_AT_HIGH;
      d = 0;
    } else if (type != BOX_FREE && c->p[r] <= low + room) {
      state = ROW_AT_LOW;
      d = larger_of(least - w, type == BOX_LOWER ? worst * spread(r) : 0);
    } else if (type != BOX_FREE && c->p[r] >= high - room) {
      state = ROW_AT_HIGH;
      d = w > -least ? -least - w : 0;
    }
    c->work->state[r] = state;
    c->d[r] = d;
    c->w[r] = w + d;
  }
  c->t = 1;
  c->dt = -1;
}

static bool follow(path *c, long max_pivots) {
  solve_work *work = c->work;
  if (!refresh(c)) return false;
  find_direction(c);
  for (long k = 0; k < max_pivots; k++) {
    double length;
    if (!solve_work_spend(work, work->cost.pivot)) return false;
    int which = first_limit(c, &length), row = which / 2;
    if (c->dt < 0 && length >= c->t) return arrive(c);
    if (which < 0 && c->n_updates == 0) return false;
    if (which < 0) { // a ray? only if it is one on fresh factors too
      if (!refresh(c)) return false;
      find_direction(c);
      continue;
    }
    step_along(c, length);
    work->pivots++;

    int before = work->state[row], state = state_at(c, row, which % 2);
    if (before != ROW_ACTIVE && state != ROW_ACTIVE) {
      work->state[row] = state; // no impulse changes
      c->space.side[row] = state;
      c->w[row] = 0;
      continue;
    }
    if (!change_state(c, row, state)) {
      if (!refresh(c)) return false;
      find_direction(c);
    }
    choose_way(c, row, before);
  }
  return false;
}

bool pivots_solve(solve_work *work, long max_pivots) {
  path c = {.work = work,
            .box = &work->box,
            .space = *work->pivot_space,
            .p = work->kept_p,
            .w = work->pivot_space->w,
            .dw = work->pivot_space->dw,
            .d = work->pivot_space->d,
            .dp = work->dp,
            .dv = work->dv,
            .noise = 1e-13 * work->box.scale}; // of rounding in slips
  size_t bytes = sizeof(double) * (size_t)work->box.n_rows;
  memcpy(c.p, work->p, bytes);
  start_path(&c);
  bool reached = follow(&c, max_pivots);
  memcpy(work->p, c.p, bytes);
  box_project(&work->box, work->p);
  return reached;
}
