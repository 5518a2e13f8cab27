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
#include "solver/fast_pivots.h"

#include <math.h>
#include <stdint.h>
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
typedef struct fast_update {
  int a, b; /* v is zero but for these bodies; b may be -1 */
  double v_a[6], v_b[6];
  double factor; /* 1 / (1 + v' H^-1 u) */
} fast_update;

/* A limit that the path runs against. */
typedef struct fast_limit {
  double room, speed; /* m/s and its rate, >= 0 and > 0 */
  int row, state;     /* that the row takes there */
} fast_limit;

typedef struct path {
  fast_work *work;
  const box_problem *box;
  double *p, *w, *d;    /* the point at t; w is with t d */
  double *dp, *dw, *dv; /* its change with t, times dt */
  double t, dt;         /* dt is 1 or -1 */
  double noise;         /* m/s */
  int n_updates;
} path;

bool fast_pivots_reserve(fast_work *work) {
  const box_problem *box = &work->box;
  arena *arena = &work->arena;
  size_t n = (size_t)box->n_rows, n_v = 6 * (size_t)box->n_bodies;
  if (!ARENA_TAKE(arena, work->d, n) || !ARENA_TAKE(arena, work->path_w, n) ||
      !ARENA_TAKE(arena, work->path_dw, n) ||
      !ARENA_TAKE(arena, work->updates, MAX_UPDATES) ||
      !ARENA_TAKE(arena, work->columns, MAX_UPDATES * n_v) ||
      !ARENA_TAKE(arena, work->limits, 2 * n) ||
      !ARENA_TAKE(arena, work->graph_edge_of, box->n_clusters))
    return false;
  for (int e = 0; e < box->n_graph_edges; e++)
    for (int c = box->graph_edges[e].first_cluster;
         c < box->graph_edges[e].end_cluster; c++)
      work->graph_edge_of[c] = e;
  return true;
}

/* In (0.5, 1.5), spread evenly, the same on every run. */
static double spread(int i) {
  return 0.5 + (double)((uint32_t)i * 2654435761u >> 8) / 16777216.0;
}

/* ---- H with the changes since its factorisation -------------------------- */

static double sparse_dot(const fast_update *update, const double x[]) {
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
    const double *y = c->work->columns + (size_t)n * (size_t)k;
    double share =
        sparse_dot(&c->work->updates[k], x) * c->work->updates[k].factor;
    if (share == 0) continue;
    for (int i = 0; i < n; i++) x[i] -= share * y[i];
  }
}

/* dp and dw that belong to dv and the slips r; dw without compliance. */
static void complete_direction(path *c) {
  fast_work *work = c->work;
  box_relative(c->box, c->dv, c->dw);
  for (int i = 0; i < c->box->n_rows; i++)
    work->scratch[i] = work->r[i] - c->dw[i];
  box_system_weigh(c->box, work->weights, work->scratch, c->dp);
}

static void solve_slips(path *c) {
  fast_work *work = c->work;
  box_system_weigh(c->box, work->weights, work->r, c->dp);
  box_impulses(c->box, c->dp, c->dv);
  solve_updated(c, c->dv);
  complete_direction(c);
}

/* ---- the point ----------------------------------------------------------- */

static void find_slips(path *c) {
  box_velocities(c->box, c->p, c->work->v);
  box_slips(c->box, c->work->v, c->p, c->w);
  for (int i = 0; i < c->box->n_rows; i++) c->w[i] += c->t * c->d[i];
}

/* Take off what rounding left in the point. */
static void correct(path *c) {
  fast_work *work = c->work;
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

/* Compliance in dw: what complete_direction leaves out. */
static void add_compliance(path *c) {
  const box_problem *box = c->box;
  for (int i = 0; i < box->n_rows; i++)
    c->dw[i] +=
        (box->compliance[i] + box->relaxation * box->diagonal[i]) * c->dp[i] +
        c->d[i] * c->dt;
  for (int k = 0; k < box->n_clusters && box->n_compliances > 0; k++) {
    const box_cluster *cluster = &box->clusters[k];
    int m = cluster->n_rows, first = cluster->first_row;
    if (cluster->first_compliance < 0) continue;
    const double *C = box->full_compliance + cluster->first_compliance;
    for (int i = 0; i < m; i++)
      for (int j = 0; j < m; j++)
        if (i != j) c->dw[first + i] += C[m * i + j] * c->dp[first + j];
  }
}

static void find_direction(path *c) {
  fast_work *work = c->work;
  for (int i = 0; i < c->box->n_rows; i++)
    work->r[i] = work->state[i] == ROW_ACTIVE ? -c->d[i] * c->dt : 0;
  solve_slips(c);
  add_compliance(c);
}

static void turn_round(path *c) {
  c->dt = -c->dt;
  for (int i = 0; i < c->box->n_rows; i++) {
    c->dp[i] = -c->dp[i];
    c->dw[i] = -c->dw[i];
    c->work->r[i] = -c->work->r[i];
  }
  for (int i = 0; i < 6 * c->box->n_bodies; i++) c->dv[i] = -c->dv[i];
}

static void go_along(path *c, double length) {
  for (int i = 0; i < c->box->n_rows; i++) {
    c->p[i] += length * c->dp[i];
    c->w[i] += length * c->dw[i];
  }
  c->t += length * c->dt;
}

/* ---- what blocks --------------------------------------------------------- */

/* A friction row whose limit is 0 and stays so: it changes sides freely. */
static bool is_shut(const path *c, const box_cluster *cluster, int row) {
  return c->box->type[row] == BOX_FRICTION && c->box->high[row] == 0 &&
         cluster->has_normal &&
         c->work->state[cluster->first_row] != ROW_ACTIVE;
}

/* The limits of a row, one or two; an approach is a positive speed. */
static int limits_of(const path *c, int row, fast_limit limits[2]) {
  const box_problem *box = c->box;
  const box_cluster *cluster = box_cluster_of(box, row);
  double A = box->diagonal[row];
  int state = c->work->state[row], type = box->type[row];
  if (type == BOX_FREE) return 0;
  if (state != ROW_ACTIVE) {
    double sign = state == ROW_AT_LOW ? 1 : -1;
    int next = is_shut(c, cluster, row) ? -state : ROW_ACTIVE;
    limits[0] = (fast_limit){larger_of(sign * c->w[row], 0), -sign * c->dw[row],
                             row, next};
    return 1;
  }

  double low, high, rate = 0;
  box_limits(box, row, c->p, &low, &high);
  if (type == BOX_FRICTION && cluster->has_normal)
    rate = box->coefficient[row] * c->dp[cluster->first_row];
  limits[0] = (fast_limit){larger_of(c->p[row] - low, 0) * A,
                           -(c->dp[row] + rate) * A, row, ROW_AT_LOW};
  if (type == BOX_LOWER) return 1;
  limits[1] = (fast_limit){larger_of(high - c->p[row], 0) * A,
                           (c->dp[row] - rate) * A, row, ROW_AT_HIGH};
  return 2;
}

/* The limit that is met first, and how far it is; row -1 when there is none. */
static fast_limit first_limit(const path *c, double *length) {
  const double least_speed = 1e-11; // of the fastest: below it is rounding
  double longest = INFINITY, fastest = 0;
  int n = 0;
  for (int r = 0; r < c->box->n_rows; r++) {
    fast_limit limits[2];
    int count = limits_of(c, r, limits);
    for (int k = 0; k < count; k++) {
      const fast_limit *limit = &limits[k];
      if (!(limit->speed > 0)) continue;
      if (limit->speed > fastest) fastest = limit->speed;
      if (limit->room > longest * limit->speed) continue;
      longest = smaller_of(longest, (limit->room + c->noise) / limit->speed);
      c->work->limits[n++] = *limit;
    }
  }

  fast_limit best = {0, 0, -1, ROW_ACTIVE};
  for (int i = 0; i < n; i++) {
    const fast_limit *limit = &c->work->limits[i];
    if (limit->room <= longest * limit->speed && limit->speed > best.speed &&
        limit->speed > least_speed * fastest)
      best = *limit;
  }
  *length = best.row >= 0 ? best.room / best.speed : INFINITY;
  return best;
}

/* ---- changes of state ---------------------------------------------------- */

/* u and v of one row's change, with weights W before and after. A normal takes
 * its friction along, so that its column changes; else it is a row. */
static void rank_one(const path *c, const box_cluster *cluster, int at,
                     const double before[], const double after[], double u_a[6],
                     double u_b[6], fast_update *update) {
  int m = cluster->n_rows;
  bool is_column = at == 0 && cluster->has_normal;
  memset(update->v_a, 0, sizeof update->v_a);
  memset(update->v_b, 0, sizeof update->v_b);
  for (int j = 0; j < m; j++) {
    size_t row = 6 * (size_t)(cluster->first_row + j);
    double left = is_column ? after[m * j] - before[m * j] : j == at;
    double right = is_column ? j == 0 : after[m * at + j] - before[m * at + j];
    for (int i = 0; i < 6; i++) {
      u_a[i] += left * c->box->J_a[row + i];
      u_b[i] += left * c->box->J_b[row + i];
      update->v_a[i] += right * c->box->J_a[row + i];
      update->v_b[i] += right * c->box->J_b[row + i];
    }
  }
}

/* The row takes its new state: H, and with it the direction, by one rank more.
 * @return false when H has to be factored anew instead. */
static bool change_state(path *c, const fast_limit *limit) {
  fast_work *work = c->work;
  const box_cluster *cluster = box_cluster_of(c->box, limit->row);
  const graph_edge *edge =
      &c->box->graph_edges[work->graph_edge_of[cluster - c->box->clusters]];
  int m = cluster->n_rows, at = limit->row - cluster->first_row;
  double *W = work->weights + cluster->first_weight;
  double before[BOX_MAX_CLUSTER * BOX_MAX_CLUSTER];
  bool was_active = work->state[limit->row] == ROW_ACTIVE;

  work->state[limit->row] = limit->state;
  if (cluster->first_compliance >= 0 || c->n_updates == MAX_UPDATES)
    return false;
  memcpy(before, W, sizeof *W * (size_t)(m * m));
  active_set_weights(work, cluster, prox, W);

  fast_update *update = &work->updates[c->n_updates];
  double u_a[6] = {0}, u_b[6] = {0};
  size_t n = 6 * (size_t)c->box->n_bodies;
  const double least_determinant = 1e-8; // half of the digits are left
  double *y = work->columns + n * (size_t)c->n_updates;
  update->a = edge->a;
  update->b = edge->b;
  rank_one(c, cluster, at, before, W, u_a, u_b, update);
  memset(y, 0, sizeof *y * n);
  memcpy(y + 6 * edge->a, u_a, sizeof u_a);
  if (edge->b >= 0) memcpy(y + 6 * edge->b, u_b, sizeof u_b);
  solve_updated(c, y);
  double determinant = 1 + sparse_dot(update, y);
  if (!(fabs(determinant) > least_determinant) || !isfinite(determinant))
    return false;
  update->factor = 1 / determinant;

  // J'W r changes along u too
  double r = -c->d[limit->row] * c->dt, weight;
  if (at == 0 && cluster->has_normal)
    weight = r;
  else if (was_active)
    weight =
        (W[m * at] - before[m * at]) * work->r[cluster->first_row] * (at > 0) -
        before[(m + 1) * at] * r;
  else
    weight =
        (W[m * at] - before[m * at]) * work->r[cluster->first_row] * (at > 0) +
        W[(m + 1) * at] * r;
  work->r[limit->row] = was_active ? 0 : r;
  double step = (weight - sparse_dot(update, c->dv)) * update->factor;
  for (size_t i = 0; i < n; i++) c->dv[i] += step * y[i];
  c->n_updates++;
  complete_direction(c);
  add_compliance(c);
  return true;
}

/* After a row's change: the way on is the one that its new state allows. */
static void choose_way(path *c, int row, int state_before) {
  fast_limit limits[2];
  int n = limits_of(c, row, limits);
  int which = state_before == ROW_AT_HIGH && n == 2;
  if (n > 0 && limits[which].speed > 0) turn_round(c);
}

/* ---- the path ------------------------------------------------------------ */

/* d for the present p: rows inside their limits become active; rows at a limit
 * stay there, with a slip that is not 0 so that they do not all leave at
 * once. */
static void start(path *c) {
  const box_problem *box = c->box;
  box_project(box, c->p);
  box_velocities(box, c->p, c->work->v);
  box_slips(box, c->work->v, c->p, c->w);
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
      d = w < least ? least - w : 0;
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

/* Lemke's start: no impulses but those of free rows, all bounded rows held
 * open by d > 0. From there the path has no way but to a solution where the
 * problem has compliance, or is copositive on a pointed cone. */
static bool start_cold(path *c, double unevenness) {
  const box_problem *box = c->box;
  memset(c->p, 0, sizeof *c->p * (size_t)box->n_rows);
  box_project(box, c->p);
  for (int r = 0; r < box->n_rows; r++) {
    bool is_free = box->type[r] == BOX_FREE;
    c->work->state[r] = is_free ? ROW_ACTIVE
                        : c->p[r] == box->high[r] && box->type[r] == BOX_BOUNDED
                            ? ROW_AT_HIGH
                            : ROW_AT_LOW;
    c->d[r] = 0;
  }
  c->t = 0;
  if (!refresh(c)) return false;

  double most = box->scale;
  for (int r = 0; r < box->n_rows; r++) most = larger_of(most, fabs(c->w[r]));
  for (int r = 0; r < box->n_rows; r++) {
    const box_cluster *cluster = box_cluster_of(box, r);
    double cover = 2.1 * most * (1 - unevenness + unevenness * spread(r));
    if (is_shut(c, cluster, r)) {
      // slips of exactly 0 would all change sides at one corner
      double aside = 0.02 * cover / larger_of(1, box->coefficient[r]);
      c->d[r] = c->w[r] > 0 ? aside : -aside;
      c->work->state[r] = c->w[r] > 0 ? ROW_AT_LOW : ROW_AT_HIGH;
    } else if (box->type[r] != BOX_FREE)
      c->d[r] = c->work->state[r] == ROW_AT_HIGH ? -cover : cover;
  }
  c->t = 1;
  c->dt = -1;
  return true;
}

static bool follow(path *c, double farthest, long max_pivots) {
  fast_work *work = c->work;
  if (!refresh(c)) return false;
  find_direction(c);
  for (long k = 0; k < max_pivots && c->t < farthest; k++) {
    double length;
    if (!fast_work_spend(work, fast_cost_of_pivot)) return false;
    fast_limit limit = first_limit(c, &length);
    if (c->dt < 0 && length >= c->t) return arrive(c);
    if (limit.row < 0 && c->n_updates == 0) return false;
    if (limit.row < 0) { // a ray? only if it is one on fresh factors too
      if (!refresh(c)) return false;
      find_direction(c);
      continue;
    }
    go_along(c, length);
    work->pivots++;

    int before = work->state[limit.row];
    if (before != ROW_ACTIVE && limit.state != ROW_ACTIVE) {
      work->state[limit.row] = limit.state; // no impulse changes
      c->w[limit.row] = 0;
      continue;
    }
    if (!change_state(c, &limit)) {
      if (!refresh(c)) return false;
      find_direction(c);
    }
    choose_way(c, limit.row, before);
  }
  return false;
}

/* @param unevenness  of the cover of a cold start; below 0: start at work->p */
static bool run(fast_work *work, double unevenness, long max_pivots) {
  bool cold = unevenness >= 0;
  path c = {.work = work,
            .box = &work->box,
            .p = work->kept_p,
            .w = work->path_w,
            .dw = work->path_dw,
            .d = work->d,
            .dp = work->dp,
            .dv = work->dv,
            .noise = 1e-13 * work->box.scale}; // of rounding in slips
  size_t bytes = sizeof(double) * (size_t)work->box.n_rows;
  memcpy(c.p, work->p, bytes);
  bool reached = true;
  if (cold)
    reached = start_cold(&c, unevenness);
  else
    start(&c);
  const double too_far = 10; // a path from a guess does not return from there
  reached = reached && follow(&c, cold ? INFINITY : too_far, max_pivots);
  memcpy(work->p, c.p, bytes);
  box_project(&work->box, work->p);
  return reached;
}

bool fast_pivots_solve(fast_work *work, long max_pivots) {
  return run(work, -1, max_pivots);
}

bool fast_pivots_cold(fast_work *work, double unevenness, long max_pivots) {
  return run(work, unevenness, max_pivots);
}

bool fast_pivots_finish(fast_work *work, long max_pivots) {
  const int most_rows = 2000; // a pivot is a solve and a pass over all rows
  if (work->box.n_rows > most_rows || !fast_pivots_solve(work, max_pivots))
    return false;
  fast_work_evaluate(work);
  return work->residual <= work->target ||
         active_set_solve(work, &active_set_polish);
}
