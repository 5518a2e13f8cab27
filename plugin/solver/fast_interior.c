/* Mehrotra's predictor-corrector on the box formulation.
 *
 * Impulses stay strictly within their limits; the distances s to the limits
 * and the multipliers y >= 0 that make up the slip, w = y_low - y_high, obey
 * s y = mu, which goes to 0. A friction row's distance depends on its normal's
 * impulse, which is the only place where this differs from a monotone problem:
 * ds = coefficient dp_normal -+ dp. Per cluster
 *
 *   J dv + (C + R) dp = t_low / s_low - t_high / s_high - (w - y_low + y_high)
 *
 * with R lower triangular, so that every iteration has the pattern and the
 * cost of one step of the active set. Which limits the path makes for is seen
 * before it gets there: once that hardly changes, that active set is tried.
 */
#include "solver/fast_interior.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "solver/active_set.h"
#include "solver/fast_pivots.h"

/* The proximal term about the present point, of a row's diagonal. It stands in
 * the matrix alone, so that it costs a share of a step and moves no solution.
 * Where steps get short, more of it lets go of what is nearly rigid: below the
 * second figure it makes no odds to what holds a step up. */
static const double first_prox = 1e-5, felt_prox = 1e-4;
static const double prox_again = 1e-3; // of a run that is not the first
static const double least_prox = 1e-9, most_prox = 0.1;
static const double change_of_prox = 10; // after a short step or a long one

bool fast_interior_reserve(fast_work *work) {
  arena *arena = &work->arena;
  size_t n = (size_t)work->box.n_rows;
  return ARENA_TAKE(arena, work->s_low, n) &&
         ARENA_TAKE(arena, work->s_high, n) &&
         ARENA_TAKE(arena, work->y_low, n) &&
         ARENA_TAKE(arena, work->y_high, n) &&
         ARENA_TAKE(arena, work->dy_low, n) &&
         ARENA_TAKE(arena, work->dy_high, n) &&
         ARENA_TAKE(arena, work->t_low, n) &&
         ARENA_TAKE(arena, work->t_high, n) &&
         ARENA_TAKE(arena, work->kept_t_low, n) &&
         ARENA_TAKE(arena, work->kept_t_high, n) &&
         ARENA_TAKE(arena, work->read_state, n) &&
         ARENA_TAKE(arena, work->path_p, n);
}

/* What a row has of both its limits. */
typedef struct distances {
  double low, high;
} distances;

/* Change of the distances to the limits along dp. */
static distances distance_step(const fast_work *work, int row,
                               const double dp[]) {
  const box_problem *box = &work->box;
  const box_cluster *cluster = box_cluster_of(box, row);
  double limit = 0;
  if (box->type[row] == BOX_FRICTION && cluster->has_normal)
    limit = box->coefficient[row] * dp[cluster->first_row];
  return (distances){dp[row] + limit, limit - dp[row]};
}

static bool has_low(const box_problem *box, int row) {
  return box->type[row] != BOX_FREE;
}

static bool has_high(const box_problem *box, int row) {
  return box->type[row] == BOX_BOUNDED || box->type[row] == BOX_FRICTION;
}

/* s y of a row is measured in units of scale^2 / A. */
static double unit(const box_problem *box, int row) {
  return box->scale * box->scale / box->diagonal[row];
}

/* ---- where to start ------------------------------------------------------ */

/* p strictly inside its limits, by `margin` of the scale where there is room. */
static void move_inside(fast_work *work, double margin) {
  const box_problem *box = &work->box;
  for (int row = 0; row < box->n_rows; row++) {
    double low, high, *p = &work->p[row];
    if (box->type[row] == BOX_FREE) continue;
    box_limits(box, row, work->p, &low, &high);
    double room = smaller_of(margin * box->scale / box->diagonal[row],
                             0.25 * (high - low));
    *p = smaller_of(larger_of(*p, low + room), high - room);
  }
}

/* Distances, and multipliers that match the slip, no less than the central
 * path's. */
static void start_multipliers(fast_work *work, double mu) {
  const box_problem *box = &work->box;
  for (int row = 0; row < box->n_rows; row++) {
    double w = work->w[row], u = mu * unit(box, row), low, high;
    box_limits(box, row, work->p, &low, &high);
    work->s_low[row] = work->p[row] - low;
    work->s_high[row] = high - work->p[row];
    work->y_low[row] = work->y_high[row] = 0;
    if (has_low(box, row))
      work->y_low[row] = u / work->s_low[row] + larger_of(w, 0);
    if (has_high(box, row))
      work->y_high[row] = u / work->s_high[row] + larger_of(-w, 0);
  }
}

static void cold_point(fast_work *work, double margin) {
  memset(work->p, 0, sizeof(double) * (size_t)work->box.n_rows);
  move_inside(work, margin);
}

/* ---- weights ------------------------------------------------------------- */

/* y / s, what a limit adds to R; 0 where there is none. */
static double stiffness_low(const fast_work *work, int row) {
  if (!has_low(&work->box, row)) return 0;
  return work->y_low[row] / work->s_low[row];
}

static double stiffness_high(const fast_work *work, int row) {
  if (!has_high(&work->box, row)) return 0;
  return work->y_high[row] / work->s_high[row];
}

static void simple_weights(const fast_work *work, const box_cluster *cluster,
                           double prox, double W[]) {
  const box_problem *box = &work->box;
  int m = cluster->n_rows;
  memset(W, 0, sizeof(double) * (size_t)(m * m));
  for (int i = 0; i < m; i++) {
    int row = cluster->first_row + i;
    double low = stiffness_low(work, row);
    double high = stiffness_high(work, row);
    double soft =
        box->compliance[row] + (prox + box->relaxation) * box->diagonal[row];
    double own = 1 / (soft + low + high);
    W[(m + 1) * i] = own;
    if (i > 0 && cluster->has_normal)
      W[m * i] = -own * box->coefficient[row] * (low - high) * W[0];
  }
}

static void coupled_weights(const fast_work *work, const box_cluster *cluster,
                            double prox, double W[]) {
  const box_problem *box = &work->box;
  int m = cluster->n_rows;
  double A[BOX_MAX_CLUSTER * BOX_MAX_CLUSTER];
  memcpy(A, box->full_compliance + cluster->first_compliance,
         sizeof(double) * (size_t)(m * m));
  for (int i = 0; i < m; i++) {
    int row = cluster->first_row + i;
    double low = stiffness_low(work, row);
    double high = stiffness_high(work, row);
    A[(m + 1) * i] += low + high;
    A[(m + 1) * i] += (prox + box->relaxation) * box->diagonal[row];
    if (i > 0 && cluster->has_normal)
      A[m * i] += box->coefficient[row] * (low - high);
  }
  box_system_invert(m, A, W);
}

static bool factor_point(fast_work *work, double prox) {
  const box_problem *box = &work->box;
  if (!fast_work_spend(work, 1)) return false;
  for (int c = 0; c < box->n_clusters; c++) {
    const box_cluster *cluster = &box->clusters[c];
    double *W = work->weights + cluster->first_weight;
    if (cluster->first_compliance < 0)
      simple_weights(work, cluster, prox, W);
    else
      coupled_weights(work, cluster, prox, W);
  }
  work->factorisations++;
  bool alone = box->n_weights == box->n_rows; // every row is a cluster
  return box_system_factor(&work->blocks, box, work->weights, alone);
}

/* ---- directions ---------------------------------------------------------- */

/* dy_low and dy_high that belong to dp, t_low and t_high. */
static void step_multipliers(fast_work *work) {
  const box_problem *box = &work->box;
  for (int row = 0; row < box->n_rows; row++) {
    distances ds = distance_step(work, row, work->dp);
    work->dy_low[row] = work->dy_high[row] = 0;
    if (has_low(box, row))
      work->dy_low[row] = work->t_low[row] / work->s_low[row] -
                          stiffness_low(work, row) * ds.low;
    if (has_high(box, row))
      work->dy_high[row] = work->t_high[row] / work->s_high[row] -
                           stiffness_high(work, row) * ds.high;
  }
}

/* Solve for dp, dy_low, dy_high given t_low and t_high. */
static void direction(fast_work *work) {
  const box_problem *box = &work->box;
  for (int row = 0; row < box->n_rows; row++) {
    double r = -work->w[row];
    if (has_low(box, row))
      r += work->y_low[row] + work->t_low[row] / work->s_low[row];
    if (has_high(box, row))
      r -= work->y_high[row] + work->t_high[row] / work->s_high[row];
    work->r[row] = r;
  }
  box_system_solve(&work->blocks, box, work->weights, work->r, work->dv,
                   work->dp, work->scratch);
  work->spent += fast_cost_of_solve;
  step_multipliers(work);
}

/* s y should become mu units; the corrector takes off the predictor's ds dy. */
static void set_targets(fast_work *work, double mu, bool correct) {
  const box_problem *box = &work->box;
  for (int row = 0; row < box->n_rows; row++) {
    double goal = mu * unit(box, row);
    double low = goal, high = goal;
    if (correct) {
      distances ds = distance_step(work, row, work->dp);
      low -= ds.low * work->dy_low[row];
      high -= ds.high * work->dy_high[row];
    }
    work->t_low[row] = low - work->s_low[row] * work->y_low[row];
    work->t_high[row] = high - work->s_high[row] * work->y_high[row];
  }
}

static void limit_step(double x, double dx, double *longest) {
  if (dx < 0 && -x > *longest * dx) *longest = -x / dx;
}

/* The longest step, at most 1, that keeps every s and y from going negative. */
static double longest_step(const fast_work *work) {
  const box_problem *box = &work->box;
  double longest = 1;
  for (int row = 0; row < box->n_rows; row++) {
    distances ds = distance_step(work, row, work->dp);
    if (has_low(box, row)) {
      limit_step(work->s_low[row], ds.low, &longest);
      limit_step(work->y_low[row], work->dy_low[row], &longest);
    }
    if (has_high(box, row)) {
      limit_step(work->s_high[row], ds.high, &longest);
      limit_step(work->y_high[row], work->dy_high[row], &longest);
    }
  }
  return longest;
}

/* The worst slip that no multiplier makes up, of the scale: what the proximal
 * term and steps shorter than the whole left. */
static double unbalance(const fast_work *work) {
  double worst = 0;
  for (int row = 0; row < work->box.n_rows; row++)
    worst = larger_of(
        worst, fabs(work->w[row] - work->y_low[row] + work->y_high[row]));
  return worst / work->box.scale;
}

/* Mean s y in units after a step; 0 when no row has a limit. */
static double complementarity(const fast_work *work, double length) {
  const box_problem *box = &work->box;
  double sum = 0;
  long count = 0;
  for (int row = 0; row < box->n_rows; row++) {
    distances ds = distance_step(work, row, work->dp);
    double u = unit(box, row);
    if (has_low(box, row)) {
      sum += (work->s_low[row] + length * ds.low) *
             (work->y_low[row] + length * work->dy_low[row]) / u;
      count++;
    }
    if (has_high(box, row)) {
      sum += (work->s_high[row] + length * ds.high) *
             (work->y_high[row] + length * work->dy_high[row]) / u;
      count++;
    }
  }
  return count > 0 ? sum / (double)count : 0;
}

/* ---- crossing over to an active set -------------------------------------- */

/* The limits that the step in dp makes for: those whose distance shrinks by a
 * larger share than their multiplier does.
 * @return how many rows' are others than the last time. */
static int read_states(fast_work *work) {
  const box_problem *box = &work->box;
  int n_changed = 0;
  for (int row = 0; row < box->n_rows; row++) {
    int state = ROW_ACTIVE;
    distances ds = distance_step(work, row, work->dp);
    if (has_low(box, row) &&
        ds.low * work->y_low[row] < work->dy_low[row] * work->s_low[row])
      state = ROW_AT_LOW;
    if (has_high(box, row) &&
        ds.high * work->y_high[row] < work->dy_high[row] * work->s_high[row])
      state = ROW_AT_HIGH;
    n_changed += state != work->read_state[row];
    work->read_state[row] = state;
  }
  return n_changed;
}

/* The active set read last, corrected all at once, else row by row; unless it
 * reaches the target, the point on the path is as it was. */
static bool cross_over(fast_work *work) {
  // the set read is all but right, or the path has not come far enough
  const active_set_options few = {.max_factorisations = 5,
                                  .max_all_changes = 5,
                                  .max_share = 0.02,
                                  .patience = 0};
  const long max_pivots = 40; // more than a handful of rows is no such set
  size_t n = (size_t)work->box.n_rows, bytes = sizeof(double) * n;
  size_t state_bytes = sizeof *work->state * n;
  memcpy(work->path_p, work->p, bytes);
  memcpy(work->state, work->read_state, state_bytes);
  if (active_set_correct(work, &few)) return true;

  memcpy(work->p, work->path_p, bytes);
  memcpy(work->state, work->read_state, state_bytes);
  active_set_put_at_limits(work, work->p);
  if (fast_pivots_finish(work, max_pivots)) return true;
  memcpy(work->p, work->path_p, bytes);
  memset(work->dp, 0, bytes);
  fast_work_evaluate(work);
  return false;
}

/* When to cross over: the active set read holds still, and more so after every
 * try. */
typedef struct crossing {
  double ripe; /* at a complementarity of at most this */
  int few;     /* with at most so many rows read anew */
  int n_left;  /* tries */
} crossing;

static bool is_ripe(const crossing *crossing, double mu, double length,
                    int n_changed) {
  const double long_enough = 0.7;
  return crossing->n_left > 0 && mu <= crossing->ripe &&
         length >= long_enough && n_changed <= crossing->few;
}

/* ---- the path ------------------------------------------------------------ */

/* Distances step on their own: taken anew as differences they would lose all
 * their digits towards the end. */
static void take_step(fast_work *work, double length) {
  const box_problem *box = &work->box;
  for (int row = 0; row < box->n_rows; row++) {
    distances ds = distance_step(work, row, work->dp);
    work->s_low[row] += length * ds.low;
    work->s_high[row] += length * ds.high;
  }
  for (int i = 0; i < box->n_rows; i++) {
    work->p[i] += length * work->dp[i];
    work->y_low[i] += length * work->dy_low[i];
    work->y_high[i] += length * work->dy_high[i];
  }
}

/* Aim at a share of mu, with or without the second-order correction by the
 * step that stands in dp and dy. @return the longest step along the result. */
static double aim(fast_work *work, double mu, bool correct) {
  set_targets(work, mu, correct);
  direction(work);
  return longest_step(work);
}

/* What brings a product s y that a step would lead to within its bounds; not by
 * more than the upper one, as a product far above it is best left alone. */
static double product_correction(double product, double lowest,
                                 double highest) {
  if (product < lowest) return lowest - product;
  return product > highest ? larger_of(highest - product, -highest) : 0;
}

/* The targets of a step that is to be longer: where products would leave the
 * neighbourhood of mu on it they are aimed back there. */
static void correct_targets(fast_work *work, double mu, double length) {
  const double least = 0.1, most = 10; // of mu
  const box_problem *box = &work->box;
  for (int row = 0; row < box->n_rows; row++) {
    distances ds = distance_step(work, row, work->dp);
    double lowest = least * mu * unit(box, row);
    double highest = most * mu * unit(box, row);
    work->t_low[row] +=
        product_correction((work->s_low[row] + length * ds.low) *
                               (work->y_low[row] + length * work->dy_low[row]),
                           lowest, highest);
    work->t_high[row] += product_correction(
        (work->s_high[row] + length * ds.high) *
            (work->y_high[row] + length * work->dy_high[row]),
        lowest, highest);
  }
}

/* Gondzio's corrections: a step that is cut short by few rows becomes longer at
 * the price of a solve. @return the length of the step that stands in dp. */
static double lengthen(fast_work *work, double mu, double length) {
  enum { MAX_CORRECTIONS = 3 };
  const double long_enough = 0.95, worth_it = 0.01;
  size_t bytes = sizeof(double) * (size_t)work->box.n_rows;
  for (int k = 0; k < MAX_CORRECTIONS && length < long_enough; k++) {
    memcpy(work->kept_t_low, work->t_low, bytes);
    memcpy(work->kept_t_high, work->t_high, bytes);
    memcpy(work->path_p, work->dp, bytes);
    correct_targets(work, mu, smaller_of(1, 1.5 * length + 0.3));
    direction(work);
    double longer = longest_step(work);
    if (!(longer > length + worth_it)) {
      memcpy(work->t_low, work->kept_t_low, bytes);
      memcpy(work->t_high, work->kept_t_high, bytes);
      memcpy(work->dp, work->path_p, bytes);
      step_multipliers(work);
      break;
    }
    length = longer;
  }
  return length;
}

/* The path's state beside the point itself. */
typedef struct interior_path {
  double mu, prox;
  int n_changed; /* rows whose state that the last step made for was new */
} interior_path;

/* One predictor and corrector; where the second-order correction itself is what
 * keeps the step short, a plain step towards the centre instead.
 * @return the length of the step, 0 when nothing moves any more. */
static double advance(fast_work *work, interior_path *path) {
  // as shares of the whole step and of mu
  const double shortest = 0.1, plain_share = 0.5, least = 1e-10;
  const double into_the_open = 0.9; // of the way to the nearest limit
  const double short_step = 0.3, long_step = 0.7;
  if (!factor_point(work, path->prox)) return 0;
  double mu = path->mu;
  double after = complementarity(work, aim(work, 0, false));
  double ratio = mu > 0 ? after / mu : 0;

  // products that are small before slips balance are at the wrong limits
  double left = unbalance(work), least_goal = smaller_of(left * left, mu);
  double goal = larger_of(mu * ratio * ratio * ratio, least_goal);
  double length = aim(work, goal, true);
  if (length < shortest) {
    goal = larger_of(mu * plain_share, least_goal);
    length = aim(work, goal, false);
  }
  length = lengthen(work, goal, length);
  if (!isfinite(length) || length < least) return 0;
  if (length < short_step)
    path->prox =
        smaller_of(larger_of(path->prox * change_of_prox,
                             length < shortest ? felt_prox : least_prox),
                   most_prox);
  else if (length > long_step)
    path->prox = larger_of(path->prox / change_of_prox, least_prox);
  if (length < 1) length *= larger_of(into_the_open, 1 - mu);
  path->n_changed = read_states(work);
  take_step(work, length);
  memset(work->dp, 0, sizeof(double) * (size_t)work->box.n_rows);
  path->mu = complementarity(work, 0);
  work->iterations++;
  return isfinite(path->mu) ? length : 0;
}

/* Turning points of the path, which a problem that is not monotone may have,
 * show as short steps that do not end; the limits of rounding as a residual
 * that does not go down any more. */
typedef struct patience {
  int n_short, n_idle;
  double best;
} patience;

static bool is_stuck(patience *p, double length, double residual) {
  enum { MANY_SHORT = 3, MANY_IDLE = 8 }; // steps one after another
  const double short_step = 0.02;         // of the whole
  p->n_short = length < short_step ? p->n_short + 1 : 0;
  p->n_idle = residual < p->best ? 0 : p->n_idle + 1;
  p->best = smaller_of(p->best, residual);
  return p->n_short >= MANY_SHORT || p->n_idle >= MANY_IDLE;
}

bool fast_interior_solve(fast_work *work,
                         const fast_interior_options *options) {
  const box_problem *box = &work->box;
  size_t bytes = sizeof(double) * (size_t)box->n_rows;
  if (options->warm)
    move_inside(work, sqrt(options->start));
  else
    cold_point(work, options->margin);
  fast_work_evaluate(work);
  start_multipliers(work, options->start);
  memset(work->dp, 0, bytes);
  memset(work->dy_low, 0, bytes);
  memset(work->dy_high, 0, bytes);

  patience patience = {.best = INFINITY};
  // sets read at more than the first figure are wrong in many rows
  crossing crossing = {.ripe = 1e-7,
                       .few = box->n_rows / 50 + 1,
                       .n_left = options->cross_over ? 3 : 0};
  interior_path path = {.mu = complementarity(work, 0),
                        .prox = options->warm ? prox_again : first_prox};
  memset(work->read_state, 0, sizeof *work->read_state * (size_t)box->n_rows);
  for (int i = 0; i < options->max_iterations; i++) {
    double length = advance(work, &path);
    if (length == 0) break;
    fast_work_evaluate(work);
    if (work->residual <= work->target ||
        is_stuck(&patience, length, work->residual))
      break;
    if (!is_ripe(&crossing, path.mu, length, path.n_changed)) continue;
    if (cross_over(work)) return true;
    crossing.ripe = 0.01 * path.mu; // two digits, one or two iterations, on
    crossing.few = path.n_changed / 2;
    crossing.n_left--;
  }
  fast_work_restore_best(work);
  return work->residual <= work->target;
}
