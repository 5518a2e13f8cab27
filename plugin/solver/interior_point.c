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
 * cost of one step of the active set.
 *
 * Everything about limits is kept by fours of rows in one place, and an
 * iteration goes over them a few times with the same operations in every lane.
 */
#include "solver/interior_point.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"

/* The proximal term about the present point, of a row's diagonal. It stands in
 * the matrix alone, so that it costs a share of a step and moves no solution.
 * Where steps get short, more of it lets go of what is nearly rigid: below the
 * second figure it makes no odds to what holds a step up. Piles of cards need both, and
 * the third. */
static const double first_prox = 1e-5, felt_prox = 1e-4;
static const double prox_again = 1e-3; // of a run that is not the first
static const double least_prox = 1e-9, most_prox = 0.1;
static const double change_of_prox = 10; // after a short step or a long one

enum { LOW, HIGH };

/* Four rows. A limit that a row has not got has `has` 0, s and unit 1 and
 * everything else 0, so that no pass has to ask. */
typedef struct row_group {
  four s[2], y[2];   /* distances to the limits, their multipliers */
  four ds[2], dy[2]; /* a step of them */
  four t[2];         /* by how much s y is to change */
  four lift[2];      /* t / s */
  four stiffness[2]; /* y / s */
  four has[2];       /* 1 or 0 */
  four unit;         /* scale^2 / A: what s y is measured in */
  four coefficient;  /* of the row that limits follow */
  int normal[4];     /* the row that limits follow */
} row_group;

struct interior_space {
  row_group *groups; /* [n_groups] */
};

/* The path's state beside the point itself. */
typedef struct interior {
  solve_work *work;
  const box_problem *box;
  row_group *groups;
  int n_groups;
  long n_limits;
  double mu, prox;
} interior;

bool interior_point_reserve(solve_work *work) {
  arena *arena = &work->arena;
  size_t n = (size_t)work->box.n_rows;
  return ARENA_TAKE(arena, work->interior, 1) &&
         ARENA_TAKE(arena, work->interior->groups, (n + 3) / 4);
}

static bool has_limit(const box_problem *box, int row, int side) {
  int type = box->type[row];
  return side == LOW ? type != BOX_FREE
                     : type == BOX_BOUNDED || type == BOX_FRICTION;
}

/* ---- where to start ------------------------------------------------------ */

/* p strictly inside its limits, by `margin` of the scale where there is room. */
static void move_inside(solve_work *work, double margin) {
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
static void start_row(interior *in, int row, double mu) {
  const box_problem *box = in->box;
  row_group *g = &in->groups[row / 4];
  int lane = row % 4;
  double A = box->diagonal[row], w = in->work->w[row], limit[2];
  double unit = box->scale * box->scale / A;
  box_limits(box, row, in->work->p, &limit[LOW], &limit[HIGH]);
  g->unit[lane] = unit;
  g->coefficient[lane] = box->coefficient[row];
  g->normal[lane] = box->normal_of[row];
  for (int side = LOW; side <= HIGH; side++) {
    double sign = side == LOW ? 1 : -1;
    if (!has_limit(box, row, side)) continue;
    g->has[side][lane] = 1;
    g->s[side][lane] = sign * (in->work->p[row] - limit[side]);
    g->y[side][lane] = mu * unit / g->s[side][lane] + larger_of(sign * w, 0);
    in->n_limits++;
  }
}

static void start(interior *in, double mu) {
  const four one = {1, 1, 1, 1};
  memset(in->groups, 0, sizeof *in->groups * (size_t)in->n_groups);
  for (int i = 0; i < in->n_groups; i++)
    in->groups[i].s[LOW] = in->groups[i].s[HIGH] = in->groups[i].unit = one;
  for (int row = 0; row < in->box->n_rows; row++) start_row(in, row, mu);
}

/* ---- passes over the rows ------------------------------------------------ */

/* Sums go row by row, the low limit first, so that they have the bits of a loop
 * over rows. */
KERNEL double add_in_order(double sum, four low, four high) {
#pragma GCC unroll 4
  for (int lane = 0; lane < 4; lane++) sum = (sum + low[lane]) + high[lane];
  return sum;
}

KERNEL bool any_of_four(four_mask mask) {
  return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
}

/* What a limit adds to R, and the weights of clusters whose compliance is not
 * coupled. */
KERNEL double weigh_rows(interior *in) {
  const box_problem *box = in->box;
  const box_weights *weights = &in->work->weights;
  four prox = four_of(in->prox);
  for (int i = 0; i < in->n_groups; i++) {
    row_group *g = &in->groups[i];
    for (int side = LOW; side <= HIGH; side++)
      g->stiffness[side] = g->y[side] / g->s[side];
    four soft = *(const four *)(box->compliance + 4 * i) +
                prox * *(const four *)(box->diagonal + 4 * i);
    four own = 1 / (soft + g->stiffness[LOW] + g->stiffness[HIGH]);
    *(four *)(weights->own + 4 * i) = own;
    // a normal comes before the rows that follow it
    four normal = four_at(weights->own, g->normal);
    *(four *)(weights->follow + 4 * i) =
        -own * g->coefficient * (g->stiffness[LOW] - g->stiffness[HIGH]) *
        normal;
  }
  return 0;
}

/* The right side of a step to s y = mu units, less the second order of the step that
 * stands where `curved`. */
KERNEL void take_aim(interior *in, bool curved, double mu) {
  const double *w = in->work->w;
  for (int i = 0; i < in->n_groups; i++) {
    row_group *g = &in->groups[i];
    for (int side = LOW; side <= HIGH; side++) {
      four t = mu * g->unit;
      if (curved) t -= g->ds[side] * g->dy[side];
      g->t[side] = g->has[side] * (t - g->s[side] * g->y[side]);
      g->lift[side] = g->t[side] / g->s[side];
    }
    *(four *)(in->work->r + 4 * i) = -*(const four *)(w + 4 * i) +
                                     (g->y[LOW] + g->lift[LOW]) -
                                     (g->y[HIGH] + g->lift[HIGH]);
  }
}

static void limit_step(double x, double dx, double *longest) {
  if (dx < 0 && -x > *longest * dx) *longest = -x / dx;
}

/* ds and dy that belong to dp and the targets.
 * @return the longest step, at most 1, that keeps every s and y from going
 * negative. */
KERNEL double step_limits(interior *in) {
  const double *dp = in->work->dp;
  double longest = 1;
  for (int i = 0; i < in->n_groups; i++) {
    row_group *g = &in->groups[i];
    four own = *(const four *)(dp + 4 * i);
    four limit = g->coefficient * four_at(dp, g->normal);
    four_mask limits = {0};
    for (int side = LOW; side <= HIGH; side++) {
      four ds = g->has[side] * (side == LOW ? own + limit : limit - own);
      four dy = g->lift[side] - g->stiffness[side] * ds;
      g->ds[side] = ds;
      g->dy[side] = dy;
      limits |= (ds < 0) & (-g->s[side] > longest * ds);
      limits |= (dy < 0) & (-g->y[side] > longest * dy);
    }
    if (!any_of_four(limits)) continue;
    for (int lane = 0; lane < 4; lane++)
      for (int side = LOW; side <= HIGH; side++) {
        limit_step(g->s[side][lane], g->ds[side][lane], &longest);
        limit_step(g->y[side][lane], g->dy[side][lane], &longest);
      }
  }
  return longest;
}

/* The sum of s y in units after `length` of the step. */
KERNEL double sum_products(const interior *in, double length) {
  double sum = 0;
  for (int i = 0; i < in->n_groups; i++) {
    const row_group *g = &in->groups[i];
    four product[2];
    for (int side = LOW; side <= HIGH; side++)
      product[side] = (g->s[side] + length * g->ds[side]) *
                      (g->y[side] + length * g->dy[side]) / g->unit;
    sum = add_in_order(sum, product[LOW], product[HIGH]);
  }
  return sum;
}

/* The step is taken. Distances step on their own: taken anew as differences they
 * would lose all their digits towards the end. @return the sum of s y in units. */
KERNEL double take_step(interior *in, double length) {
  solve_work *work = in->work;
  double sum = 0;
  for (int i = 0; i < in->n_groups; i++) {
    row_group *g = &in->groups[i];
    four product[2];
    for (int side = LOW; side <= HIGH; side++) {
      g->s[side] += length * g->ds[side];
      g->y[side] += length * g->dy[side];
      product[side] = g->s[side] * g->y[side] / g->unit;
    }
    sum = add_in_order(sum, product[LOW], product[HIGH]);
    *(four *)(work->p + 4 * i) += length * *(const four *)(work->dp + 4 * i);
  }
  return sum;
}

typedef enum pass_kind { WEIGH, AIM, AIM_CURVED, STEP, SUM, TAKE } pass_kind;

/* @param x  mu of an aim, else the length of a step */
KERNEL double run_pass(interior *in, pass_kind pass, double x) {
  switch (pass) {
    case WEIGH: return weigh_rows(in);
    case AIM: take_aim(in, false, x); return 0;
    case AIM_CURVED: take_aim(in, true, x); return 0;
    case STEP: return step_limits(in);
    case SUM: return sum_products(in, x);
    case TAKE: break;
  }
  return take_step(in, x);
}

WIDE static double run_pass_wide(interior *in, pass_kind pass, double x) {
  return run_pass(in, pass, x);
}

static double run_pass_any(interior *in, pass_kind pass, double x) {
  return six_is_wide() ? run_pass_wide(in, pass, x) : run_pass(in, pass, x);
}

/* The mean s y in units of a sum of them; 0 when no row has a limit. */
static double mean_product(const interior *in, double sum) {
  return in->n_limits > 0 ? sum / (double)in->n_limits : 0;
}

/* ---- the linear system --------------------------------------------------- */

/* Weights of clusters whose compliance is coupled. */
static void weigh_coupled(interior *in, const box_cluster *cluster) {
  const box_problem *box = in->box;
  const box_weights *weights = &in->work->weights;
  int m = cluster->n_rows;
  double *A = weights->matrix + cluster->first_compliance;
  memcpy(A, box->full_compliance + cluster->first_compliance,
         sizeof(double) * (size_t)(m * m));
  for (int i = 0; i < m; i++) {
    int row = cluster->first_row + i;
    const row_group *g = &in->groups[row / 4];
    double low = g->stiffness[LOW][row % 4], high = g->stiffness[HIGH][row % 4];
    weights->own[row] = weights->follow[row] = 0;
    A[(m + 1) * i] += low + high;
    A[(m + 1) * i] += in->prox * box->diagonal[row];
    if (i > 0) A[m * i] += box->coefficient[row] * (low - high);
  }
  box_system_invert(m, A, weights->full + cluster->first_compliance);
}

static bool factor_point(interior *in) {
  solve_work *work = in->work;
  const box_problem *box = in->box;
  if (!solve_work_spend(work, work->cost.factorisation)) return false;
  run_pass_any(in, WEIGH, 0);
  for (int c = 0; c < box->n_clusters && box->n_compliances > 0; c++)
    if (box->clusters[c].first_compliance >= 0)
      weigh_coupled(in, &box->clusters[c]);
  work->factorisations++;
  bool alone = box->n_clusters == box->n_rows; // every row is a cluster
  return box_system_factor(&work->blocks, box, &work->weights, alone);
}

/* The step towards mu. @return the longest along it. */
static double aim(interior *in, pass_kind how, double mu) {
  solve_work *work = in->work;
  run_pass_any(in, how, mu);
  box_system_solve(&work->blocks, in->box, &work->weights, work->r, work->dv,
                   work->dp, work->scratch);
  work->spent += work->cost.solve;
  return run_pass_any(in, STEP, 0);
}

/* ---- the path ------------------------------------------------------------ */

/* One predictor and corrector; where the second-order correction itself is what
 * keeps the step short (piles of cards), a plain step towards the centre instead.
 * @return the length of the step, 0 when nothing moves any more. */
static double advance(interior *in) {
  // as shares of the whole step and of mu
  const double shortest = 0.1, plain_share = 0.5, least = 1e-10;
  const double into_the_open = 0.9; // of the way to the nearest limit
  const double short_step = 0.3, long_step = 0.7;
  double mu = in->mu;
  if (!factor_point(in)) return 0;
  double predicted = aim(in, AIM, 0);
  double after = mean_product(in, run_pass_any(in, SUM, predicted));
  double ratio = mu > 0 ? after / mu : 0;
  double length = aim(in, AIM_CURVED, mu * ratio * ratio * ratio);
  if (length < shortest) length = aim(in, AIM, plain_share * mu);
  if (!isfinite(length) || length < least) return 0;
  if (length < short_step)
    in->prox = smaller_of(larger_of(in->prox * change_of_prox,
                                    length < shortest ? felt_prox : least_prox),
                          most_prox);
  else if (length > long_step)
    in->prox = larger_of(in->prox / change_of_prox, least_prox);
  if (length < 1) length *= larger_of(into_the_open, 1 - mu);
  in->mu = mean_product(in, run_pass_any(in, TAKE, length));
  in->work->iterations++;
  return isfinite(in->mu) ? length : 0;
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

bool interior_point_solve(solve_work *work, double start_at) {
  enum { MAX_ITERATIONS = 50 }; // one that ends at all ends within 20
  const box_problem *box = &work->box;
  interior in = {.work = work,
                 .box = box,
                 .groups = work->interior->groups,
                 .n_groups = (box->n_rows + 3) / 4,

                 .prox = start_at < 1 ? prox_again : first_prox};
  move_inside(work, sqrt(start_at));
  solve_work_evaluate(work);
  start(&in, start_at);
  memset(work->dp, 0, sizeof(double) * (size_t)box->n_rows);
  in.mu = mean_product(&in, run_pass_any(&in, TAKE, 0));

  patience patience = {.best = INFINITY};
  for (int i = 0; i < MAX_ITERATIONS; i++) {
    double length = advance(&in);
    if (length == 0) break;
    solve_work_evaluate(work);
    if (work->residual <= work->target ||
        is_stuck(&patience, length, work->residual))
      break;
  }
  solve_work_restore_best(work);
  return work->residual <= work->target;
}
