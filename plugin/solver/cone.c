/* The continuation (continuation.c) with Coulomb's law: where a set's ellipse is a circle
 * in the units of its two rows these share one limit L = coefficient p_n + limit, and the
 * impulses that follow from their slips sigma = J v + C p_a + b - s p_a are the circle's,
 *
 *   p_t = P_L(-sigma / s),   s = C + prox A,
 *
 * with one C and one A for both rows. Along a step of velocities dv a set that slides
 * changes by
 *
 *   dp_t = coefficient u dp_n - L / |sigma| (I - u u') J_t dv,   u = -sigma / |sigma|:
 *
 * along u it follows its normal as a square's row at its limit does, across u it answers
 * as an active row of softness |sigma| / L would. Without that second term edges swing
 * about the slip for ever.
 *
 * Such a step is not the last one as a polygon's is, so that a stage ends at a small
 * step, and prox goes down gently: by more at a time the next stage starts out of
 * Newton's reach. Slips of a small prox have lost the digits of impulses; the last ones
 * come by Newton's method on these, linear about y = p - w / A, which is as exact for a
 * guided body that hardly slides as for a heap.
 */
#include "solver/cone.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "common/vec3.h"
#include "solver/active_set.h"
#include "solver/newton.h"

/* A set whose ellipse is a circle, as long as it is. */
typedef struct cone {
  int row, normal; /* the first of its two; whose impulse L follows, or -1 */
  double coefficient, limit;
  double slip[2], weight; /* of length 1, and L / |sigma|: those factored */
} cone;

typedef struct cone_newton {
  solve_work *work;
  const box_problem *box;
  box_problem coupled; /* the same: clusters with a circle have full weights */
  box_weights weights;
  cone *cones;
  int n_cones;
  cone **cone_of; /* [n_rows] at the first of its two, else NULL */
  /* [n_rows]: A and C, of a circle the larger ones; the proximal point; sigma and its
   * change along a step; impulses without limits, and within */
  double *diagonal, *compliance, *anchor, *slip, *slip_step, *open, *trial_p;
  double *v, *dv, *balance, *momentum; /* [6 n_bodies] */
  double *p; /* the iterate, of which work has v and w */
  double residual;
  double *best_p;
  double best_residual;
  int *factored_state;
  double prox, factored_prox; /* below 0: nothing is factored */
} cone_newton;

/* ---- the circles ------------------------------------------------------------- */

/* Whether `row` is the first of a set's two, in whose coordinates (box_build.c) the
 * ellipse is a circle. */
static bool is_circle(const box_problem *box, int row) {
  if (box->type[row] != BOX_FRICTION) return false;
  const mlcp_friction *set =
      &box->problem->frictions[box->origin[row].friction];
  return set->n_pairs == 2 && set->ellipse[0] > 0 && row + 1 < box->n_rows &&
         box->origin[row + 1].friction == box->origin[row].friction;
}

/* Find the circles, and where the full weights of their clusters are. */
static void find_circles(cone_newton *k) {
  const box_problem *box = k->box;
  k->n_cones = 0;
  memcpy(k->diagonal, box->diagonal, sizeof *k->diagonal * (size_t)box->n_rows);
  memcpy(k->compliance, box->compliance,
         sizeof *k->compliance * (size_t)box->n_rows);
  for (int r = 0; r < box->n_rows; r++) {
    k->cone_of[r] = NULL;
    if (!is_circle(box, r)) continue;
    cone *q = &k->cones[k->n_cones++];
    *q = (cone){
        .row = r,
        .normal = box->normal_of[r] == r ? -1 : box->normal_of[r],
        // half edges of a square along its rows
        .coefficient = hypot(box->coefficient[r], box->coefficient[r + 1]),
        .limit = hypot(box->high[r], box->high[r + 1])};
    k->cone_of[r] = q;
    k->diagonal[r] = larger_of(box->diagonal[r], box->diagonal[r + 1]);
    k->diagonal[r + 1] = k->diagonal[r];
    k->compliance[r] = larger_of(box->compliance[r], box->compliance[r + 1]);
    k->compliance[r + 1] = k->compliance[r];
    k->cone_of[++r] = NULL;
  }

  k->coupled.n_compliances = 0;
  memcpy(k->coupled.clusters, box->clusters,
         sizeof *box->clusters * (size_t)box->n_clusters);
  for (int c = 0; c < box->n_clusters; c++) {
    box_cluster *cluster = &k->coupled.clusters[c];
    int m = cluster->n_rows;
    cluster->first_compliance = -1;
    for (int r = cluster->first_row; r < cluster->first_row + m; r++)
      if (k->cone_of[r] != NULL)
        cluster->first_compliance = k->coupled.n_compliances;
    if (cluster->first_compliance >= 0) k->coupled.n_compliances += m * m;
  }
}

static double radius_of(const cone *q, const double p[]) {
  double radius = q->limit;
  if (q->normal >= 0) radius += q->coefficient * p[q->normal];
  return larger_of(radius, 0);
}

/* u = y / |y|, 0 where y is. @return |y| */
static double direction_of(const double y[2], double u[2]) {
  double length = hypot(y[0], y[1]);
  for (int d = 0; d < 2; d++) u[d] = length > 0 ? y[d] / length : 0;
  return length;
}

/* The impulses `open` brought into limits at impulses `follows`, and their states where
 * `states` is not NULL. p may be each of the two; a normal is before what follows it.
 * @return how many states are others than before. */
static int bring_in(const cone_newton *k, const double open[],
                    const double follows[], double p[], int states[]) {
  int n_changed = 0;
  for (int r = 0, n; r < k->box->n_rows; r += n) {
    int state;
    n = 1;
    if (k->cone_of[r] != NULL) {
      double radius = radius_of(k->cone_of[r], follows);
      double length = hypot(open[r], open[r + 1]);
      double share = length > radius ? radius / length : 1;
      state = share < 1 || radius == 0 ? ROW_AT_HIGH : ROW_ACTIVE;
      p[r] = share * open[r];
      p[r + 1] = share * open[r + 1];
      n = 2;
    } else {
      double low, high;
      box_limits(k->box, r, follows, &low, &high);
      state = open[r] < low    ? ROW_AT_LOW
              : open[r] > high ? ROW_AT_HIGH
                               : ROW_ACTIVE;
      if (low == high) state = open[r] > low ? ROW_AT_HIGH : ROW_AT_LOW;
      p[r] = middle_of(low, open[r], high);
    }
    for (int i = r; i < r + n && states != NULL; i++) {
      n_changed += states[i] != state;
      states[i] = state;
    }
  }
  return n_changed;
}

/* k->p and its residual, which is box_residual's but for the circles. */
static void evaluate(cone_newton *k) {
  const box_problem *box = k->box;
  solve_work *work = k->work;
  double worst = 0, lost = 0;
  bring_in(k, k->p, k->p, k->p, NULL);
  box_velocities(box, k->p, work->v);
  box_slips(box, work->v, k->p, work->w);
  for (int r = 0; r < box->n_rows; r++)
    k->open[r] = k->p[r] - work->w[r] / k->diagonal[r];
  bring_in(k, k->open, k->p, k->trial_p, NULL);
  for (int r = 0, n; r < box->n_rows; r += n) {
    double error = k->p[r] - k->trial_p[r];
    n = k->cone_of[r] != NULL ? 2 : 1;
    if (n == 2) error = hypot(error, k->p[r + 1] - k->trial_p[r + 1]);
    worst = larger_of(worst, fabs(error) * k->diagonal[r]);
    lost += 0 * error;
  }
  k->residual = lost == 0 ? worst / box->scale : INFINITY;
  if (!(k->residual < k->best_residual)) return;
  k->best_residual = k->residual;
  memcpy(k->best_p, k->p, sizeof *k->p * (size_t)box->n_rows);
}

static void take(cone_newton *k, const double p[]) {
  memcpy(k->p, p, sizeof *p * (size_t)k->box->n_rows);
  evaluate(k);
}

/* ---- the linear system --------------------------------------------------------- */

static void soften(cone_newton *k, double prox) {
  for (int r = 0; r < k->box->n_rows; r++)
    k->work->softness[r] = k->compliance[r] + prox * k->diagonal[r];
  k->prox = prox;
}

/* True if what is factored serves: the same states, and slips that have hardly
 * turned. */
static bool is_factored(const cone_newton *k, const double slip[],
                        const double p[]) {
  const double turned = 0.01, heavier = 0.1; // rad; of a weight
  if (k->factored_prox != k->prox ||
      memcmp(k->factored_state, k->work->state,
             sizeof *k->factored_state * (size_t)k->box->n_rows) != 0)
    return false;
  for (int i = 0; i < k->n_cones; i++) {
    const cone *q = &k->cones[i];
    const double *at = slip + q->row;
    if (k->work->state[q->row] == ROW_ACTIVE) continue;
    double length = hypot(at[0], at[1]);
    double weight = length > 0 ? radius_of(q, p) / length : 0;
    if (fabs(q->slip[0] * at[1] - q->slip[1] * at[0]) > turned * length ||
        q->slip[0] * at[0] + q->slip[1] * at[1] < 0 ||
        fabs(weight - q->weight) > heavier * q->weight)
      return false;
  }
  return true;
}

/* The weights of a circle's rows `at` and at + 1 of a cluster of m. */
static void weigh_circle(cone_newton *k, cone *q, const double slip[],
                         const double p[], int m, int at, double W[]) {
  const solve_work *work = k->work;
  double *one = W + m * at + at, *other = one + m;
  if (work->state[q->row] == ROW_ACTIVE) {
    one[0] = other[1] = 1 / work->softness[q->row];
    return;
  }
  double length = direction_of(slip + q->row, q->slip);
  double x = q->slip[0], y = q->slip[1];
  q->weight = length > 0 ? radius_of(q, p) / length : 0;
  one[0] = q->weight * y * y;
  one[1] = other[0] = -q->weight * x * y;
  other[1] = q->weight * x * x;
  if (q->normal < 0 || work->state[q->normal] != ROW_ACTIVE ||
      !(radius_of(q, p) > 0))
    return;
  double own = 1 / work->softness[q->normal]; // the cluster's first
  W[m * at] = -q->coefficient * x * own;
  W[m * (at + 1)] = -q->coefficient * y * own;
}

/* The factors of the present states at sigma = slip and impulses p. */
static bool factor(cone_newton *k, const double slip[], const double p[]) {
  solve_work *work = k->work;
  const box_problem *box = &k->coupled;
  if (is_factored(k, slip, p)) return true;
  if (!solve_work_spend(work, work->cost.factorisation)) return false;
  active_set_weigh(work, 0, box->n_rows);
  for (int c = 0; c < box->n_clusters; c++) {
    const box_cluster *cluster = &box->clusters[c];
    int m = cluster->n_rows, first = cluster->first_row;
    if (cluster->first_compliance < 0) continue;
    double *W = k->weights.full + cluster->first_compliance;
    memset(W, 0, sizeof *W * (size_t)(m * m));
    for (int r = first, n; r < first + m; r += n) {
      n = k->cone_of[r] != NULL ? 2 : 1;
      if (n == 2) {
        weigh_circle(k, k->cone_of[r], slip, p, m, r - first, W);
        continue;
      }
      W[m * (r - first)] = work->weights.follow[r];
      W[(m + 1) * (r - first)] += work->weights.own[r];
    }
    for (int r = first; r < first + m; r++)
      work->weights.own[r] = work->weights.follow[r] = 0;
  }
  work->factorisations++;
  k->factored_prox = -1;
  if (!box_system_factor(&work->blocks, box, &k->weights, false)) return false;
  k->factored_prox = k->prox;
  memcpy(k->factored_state, work->state,
         sizeof *k->factored_state * (size_t)box->n_rows);
  return true;
}

/* ---- a stage ------------------------------------------------------------------- */

/* sigma at velocities v. */
static void find_slips(cone_newton *k) {
  const box_problem *box = k->box;
  box_slips(box, k->v, k->anchor, k->slip);
  for (int r = 0; r < box->n_rows; r++)
    k->slip[r] -= k->work->softness[r] * k->anchor[r];
}

/* The impulses at sigma + t of its step. */
static int impulses_at(cone_newton *k, double t, double p[], int states[]) {
  for (int r = 0; r < k->box->n_rows; r++)
    k->open[r] = -(k->slip[r] + t * k->slip_step[r]) / k->work->softness[r];
  return bring_in(k, k->open, p, p, states);
}

/* The part of J' p along the step, at t. */
static double work_at(void *of, double t) {
  cone_newton *k = of;
  impulses_at(k, t, k->trial_p, NULL);
  return dot_of(k->box->n_rows, k->trial_p, k->slip_step);
}

/* Newton's method from the anchor's velocities; p out.
 * @param small  m/s: a step that changes no slip by more, and no state, is the last
 * @return whether it came to that. */
static bool run_stage(cone_newton *k, double p[], double most_spent,
                      double small) {
  enum { MAX_STEPS = 25, MAX_SHORT = 3 };
  const double short_step = 0.1;
  solve_work *work = k->work;
  const box_problem *box = k->box;
  int n_v = 6 * box->n_bodies, n_short = 0;
  memcpy(k->v, work->v, sizeof *k->v * (size_t)n_v);
  find_slips(k);
  memset(k->slip_step, 0, sizeof *k->slip_step * (size_t)box->n_rows);
  impulses_at(k, 0, p, work->state);
  for (int step = 0; step < MAX_STEPS; step++) {
    if (work->spent > most_spent || !factor(k, k->slip, p)) return false;
    newton_balance(box, k->v, p, k->momentum, k->balance);
    for (int i = 0; i < n_v; i++) k->dv[i] = -k->balance[i];
    body_blocks_solve(&work->blocks, k->dv);
    work->spent += work->cost.solve;
    work->iterations++;
    double at_0 = dot_of(n_v, k->dv, k->balance), most = 0;
    if (!isfinite(at_0)) return false;
    box_relative(box, k->dv, k->slip_step);
    for (int r = 0; r < box->n_rows; r++)
      most = larger_of(most, fabs(k->slip_step[r]));
    double t = 1;
    if (most > small) {
      if (at_0 > 0) return false;
      if (at_0 < 0)
        t = newton_line(box, k->v, k->dv, k->momentum, at_0, work_at, k);
    }
    n_short = t < short_step ? n_short + 1 : 0;
    if (n_short > MAX_SHORT) return false;
    for (int i = 0; i < n_v; i++) k->v[i] += t * k->dv[i];
    find_slips(k);
    memset(k->slip_step, 0, sizeof *k->slip_step * (size_t)box->n_rows);
    int n_changed = impulses_at(k, 0, p, work->state);
    if (n_changed == 0 && t == 1 && most <= small) return true;
  }
  return false;
}

/* ---- the last digits ------------------------------------------------------------ */

/* A circle that slides, linear about y = p - w / A: along u = y / |y| its impulse is at
 * the limit, across it is an active row of compliance A (|y| - L) / L. k->slip is what a
 * stage would have it from. */
static void put_on_circle(cone_newton *k, const cone *q) {
  double *p = k->p + q->row, *slip = k->slip + q->row, u[2];
  double radius = radius_of(q, k->p);
  double length = direction_of(k->open + q->row, u);
  double along = u[0] * p[0] + u[1] * p[1];
  double size = k->diagonal[q->row] * (length - radius) +
                k->work->softness[q->row] * radius;
  for (int d = 0; d < 2; d++) {
    slip[d] = -size * u[d];
    p[d] += (radius - along) * u[d];
  }
}

/* What its compliance across makes it lack there. */
static void ask_of_circle(const cone_newton *k, const cone *q, const double w[],
                          double r[]) {
  const double *p = k->p + q->row;
  double radius = radius_of(q, k->p), u[2];
  double length = direction_of(k->open + q->row, u);
  double compliance =
      radius > 0 ? k->diagonal[q->row] * (length - radius) / radius : 0;
  double lack = u[0] * (w[q->row + 1] + compliance * p[1]) -
                u[1] * (w[q->row] + compliance * p[0]);
  r[q->row] = lack * u[1];
  r[q->row + 1] = -lack * u[0];
}

/* Newton's method on impulses from k->p, until a step does not halve the residual.
 * @return true when the target is reached. */
static bool polish(cone_newton *k, double prox) {
  solve_work *work = k->work;
  const box_problem *box = k->box;
  double *p = k->p, *w = work->w;
  soften(k, prox);
  while (k->residual > work->target) {
    double before = k->residual;
    for (int r = 0; r < box->n_rows; r++)
      k->open[r] = p[r] - w[r] / k->diagonal[r];
    bring_in(k, k->open, p, k->trial_p, work->state);
    for (int r = 0, n; r < box->n_rows; r += n) {
      const cone *q = k->cone_of[r];
      n = q != NULL ? 2 : 1;
      if (work->state[r] == ROW_ACTIVE) continue;
      if (q == NULL) {
        double low, high;
        box_limits(box, r, p, &low, &high);
        p[r] = work->state[r] == ROW_AT_LOW ? low : high;
        continue;
      }
      put_on_circle(k, q);
    }
    box_velocities(box, p, work->v);
    box_slips(box, work->v, p, w);
    if (!factor(k, k->slip, p)) return false;
    for (int r = 0, n; r < box->n_rows; r += n) {
      n = k->cone_of[r] != NULL ? 2 : 1;
      for (int i = r; i < r + n; i++)
        work->r[i] = work->state[i] == ROW_ACTIVE ? -w[i] : 0;
      if (n == 2 && work->state[r] != ROW_ACTIVE)
        ask_of_circle(k, k->cone_of[r], w, work->r);
    }
    box_system_solve(&work->blocks, &k->coupled, &k->weights, work->r, work->dv,
                     work->dp, work->scratch);
    work->spent += work->cost.solve;
    work->iterations++;
    for (int r = 0; r < box->n_rows; r++) p[r] += work->dp[r];
    evaluate(k);
    if (!(k->residual <= 0.5 * before)) return false;
  }
  return true;
}

/* ---- the continuation ------------------------------------------------------------ */

static void run(cone_newton *k) {
  enum { MAX_FAILURES = 4 };
  const double most_work = 40; // factorisations, while they halve the residual
  const double share = 0.1;    // of the residual, as prox
  const double shrink = 0.2, growth = 10, least_prox = 1e-8;
  const double small = 0.01;     // of the residual: a stage's last step
  const double far_off = 100;    // as in continuation.c
  const double near = 0.1;       // from such a residual last digits are tried,
  const double last_prox = 1e-6; // with at least that
  solve_work *work = k->work;
  double most_spent = work->spent + most_work, halved = k->residual;
  double prox = 0, residual = INFINITY;
  int n_failures = 0;
  while (work->spent < most_spent && n_failures < MAX_FAILURES) {
    if (k->best_residual <= 0.5 * halved) {
      halved = k->best_residual;
      most_spent = work->spent + most_work;
    }
    if (n_failures == 0) {
      residual = k->residual;
      memcpy(k->anchor, k->p, sizeof *k->p * (size_t)k->box->n_rows);
      if ((residual < near && polish(k, larger_of(last_prox, share * prox))) ||
          k->best_residual <= work->enough)
        return;
      prox = prox > 0 ? middle_of(shrink * prox, share * residual, prox)
                      : share * residual;
    } else {
      if (prox >= 1) return;
      prox = larger_of(growth * prox, share * residual);
    }
    prox = middle_of(least_prox, prox, 1);
    take(k, k->anchor);
    soften(k, prox);
    double noise =
        larger_of(small * residual, 0.1 * work->target) * k->box->scale;
    bool ok = run_stage(k, work->kept_p, most_spent, noise);
    if (ok) take(k, work->kept_p);
    n_failures = ok && k->residual <= far_off * residual ? 0 : n_failures + 1;
  }
}

/* ---- edges ---------------------------------------------------------------------- */

/* A square's edges: the first along what the circle's projection takes off, the slip
 * where it slides. */
static void turn_edges(const cone_newton *k, mlcp_pair pairs[]) {
  const double stuck = 0.7; // of the limit: within the square whatever its turn
  for (int i = 0; i < k->n_cones; i++) {
    const cone *q = &k->cones[i];
    const double *p = k->p + q->row, *w = k->work->w + q->row;
    const box_origin *origin = &k->box->origin[q->row];
    const mlcp_friction *set = &k->box->problem->frictions[origin->friction];
    double A = k->diagonal[q->row], radius = radius_of(q, k->p);
    double to[2] = {w[0] / A - p[0], w[1] / A - p[1]};
    if (!(radius > 0) || hypot(p[0], p[1]) <= stuck * radius) continue;
    const double *e = set->ellipse;
    double x = (to[0] * origin[0].g[0] + to[1] * origin[1].g[0]) / e[0];
    double y = (to[0] * origin[0].g[1] + to[1] * origin[1].g[1]) / e[1];
    double length = hypot(x, y);
    if (!(length > 0)) continue;
    mlcp_pair *pair = pairs + set->first_pair;
    pair[0] = (mlcp_pair){{e[0] * x / length, e[1] * y / length}};
    pair[1] = (mlcp_pair){{-e[0] * y / length, e[1] * x / length}};
  }
}

/* ---- a solve ---------------------------------------------------------------------- */

bool cone_reserve(solve_work *work) {
  arena *arena = &work->arena;
  size_t n = by_fours((size_t)work->box.n_rows);
  size_t n_v = 6 * (size_t)work->box.n_bodies;
  cone_newton *k;
  if (!ARENA_TAKE(arena, k, 1)) return false;
  work->cone = k;
  *k = (cone_newton){.work = work,
                     .box = &work->box,
                     .coupled = work->box,
                     .weights = work->weights,
                     .best_residual = INFINITY,
                     .factored_prox = -1};
  double **const rows[] = {&k->diagonal, &k->compliance, &k->anchor,
                           &k->slip,     &k->slip_step,  &k->open,
                           &k->trial_p,  &k->p,          &k->best_p};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!ARENA_TAKE(arena, *rows[i], n)) return false;
    memset(*rows[i], 0, sizeof **rows[i] * n);
  }
  if (!ARENA_TAKE(arena, k->v, n_v) || !ARENA_TAKE(arena, k->dv, n_v) ||
      !ARENA_TAKE(arena, k->balance, n_v) ||
      !ARENA_TAKE(arena, k->momentum, n_v) ||
      !ARENA_TAKE(arena, k->factored_state, n) ||
      !ARENA_TAKE(arena, k->cones, n) || !ARENA_TAKE(arena, k->cone_of, n) ||
      !ARENA_TAKE(arena, k->coupled.clusters, work->box.n_clusters))
    return false;
  find_circles(k);
  return ARENA_TAKE(arena, k->weights.full, k->coupled.n_compliances);
}

bool cone_solve(solve_work *work, double p[], mlcp_pair pairs[]) {
  const double better = 0.1; // of the residual at the beginning
  cone_newton *k = work->cone;
  if (k->n_cones == 0) return false;
  take(k, work->p);
  double first = k->residual;
  run(k);
  if (!(k->best_residual < better * first)) return false;
  take(k, k->best_p);
  turn_edges(k, pairs);
  box_give_impulses(k->box, k->p, p);
  return true;
}
