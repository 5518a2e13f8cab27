/* The problem with a proximal term,
 *
 *   w = J v + C p + b + prox A (p - p_a)
 *
 * has impulses that follow from the slips sigma = J v + b - prox A p_a alone,
 *
 *   p = mid(low, -sigma / s, high),   s = C + prox A,
 *
 * normals first and then the friction that they limit, so that what is left is
 * the balance of velocities  F(v) = M (v - v_free) - J' p(v) = 0, a system whose
 * size does not depend on how many rows there are. Newton's method on it factors
 * H = M + J' W J; a line search along its step keeps impulses from running far,
 * where the active set changed all at once would go round in circles.
 *
 * The answer is the next proximal point. prox is relative to a row's diagonal, so
 * that nothing depends on units or on how light a body is. A stage leaves a residual
 * of prox A |p - p_a|: where redundant contacts are all that is open, hardly any
 * impulse has to change for one that will do, and a prox of a hundred times
 * that finds it in a step or two, however rigid the contacts are. So prox goes down
 * with the residual to there, and further only where stages gain nothing: to where
 * the rows' own compliance settles by more than half in a stage. Stages whose
 * active set does not change reuse the factors, so that the last digits cost a
 * solve each; where they cost more, prox is all that is left, and goes to its end at
 * once. Where Newton's method stalls, prox goes up again: bins of capsules need that,
 * and that it then comes down more slowly.
 *
 * The same solves Coulomb's law itself: where a set's ellipse is a circle in the units
 * of its two rows these share one limit L = coefficient p_n + limit, one C and one A,
 * and their impulses are the projection on it, P_L(-sigma / s). Along a step dv a set
 * that slides changes by
 *
 *   dp_t = coefficient u dp_n - L / |sigma| (I - u u') J_t dv,   u = -sigma / |sigma|:
 *
 * along u it follows its normal as a square's row at its limit does, across u it answers
 * as an active row of softness |sigma| / L would. Without that second term edges swing
 * about the slip for ever. No step is the last one for its active set alone, so that
 * small steps end a stage; Newton's method on impulses gives the last digits.
 *
 * From where an interior point got stuck nothing but a handful of rows is wrong, and
 * these are stubborn: all stages but the first go by pivots (pivots.c), which follow the
 * path past the turning points that a proximal term leaves, the last without that term.
 */
#include "solver/continuation.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "common/six.h"
#include "common/vec3.h"
#include "solver/active_set.h"
#include "solver/pivots.h"

/* A set whose ellipse is a circle, as long as it is. */
typedef struct circle {
  int row, normal; /* the first of its two; whose impulse L follows, or -1 */
  double coefficient, limit;
  double u[2], weight; /* where it slides: of length 1, and L / |sigma| */
  double factored_u[2], factored_weight;
} circle;

typedef struct continuation {
  solve_work *work;
  box_problem *box;
  circle *circles;
  int n_circles;
  circle **circle_of; /* [n_rows] at the first of its two, else NULL */
  /* [n_rows] sigma and its change along a step; impulses without limits, and on trial;
     the proximal point; the problem's own bias; states on trial, and those factored */
  double *slip, *slip_step, *open, *trial_p, *anchor, *own_bias;
  int *trial_state, *factored_state;
  /* [6 n_bodies] velocities, a step of them, what is missing in their balance */
  double *v, *dv, *balance, *momentum;
  double prox, factored_prox; /* below 0: nothing is factored */
  double noise;               /* m/s: rows that miss less stay as they are */
  int most_changes;           /* that a step of the guess may ask for */
  bool gives_up;              /* it asked for more */
  bool stood;                 /* the last stage changed no state */
} continuation;

static double length_of(const double x[2]) {
  return sqrt(x[0] * x[0] + x[1] * x[1]);
}

/* ---- circles ------------------------------------------------------------------ */

/* True if `row` is the first of a set's two, in whose coordinates (box_build.c) the
 * ellipse is a circle. */
static bool is_circle(const box_problem *box, int row) {
  if (box->type[row] != BOX_FRICTION) return false;
  const mlcp_friction *set =
      &box->problem->frictions[box->origin[row].friction];
  return set->n_pairs == 2 && set->ellipse[0] > 0 && row + 1 < box->n_rows &&
         box->origin[row + 1].friction == box->origin[row].friction;
}

/* Find the circles. */
static void find_circles(continuation *c) {
  box_problem *box = c->box;
  for (int r = 0; r < box->n_rows; r++) {
    if (!is_circle(box, r)) continue;
    circle *q = &c->circles[c->n_circles++];
    *q = (circle){.row = r,
                  .normal = box->normal_of[r] == r ? -1 : box->normal_of[r],
                  // half edges of a square along its rows
                  .coefficient = length_of(box->coefficient + r),
                  .limit = length_of(box->high + r)};
    c->circle_of[r] = q;
    double A = larger_of(box->diagonal[r], box->diagonal[r + 1]);
    box->diagonal[r] = box->diagonal[r + 1] = A;
    r++;
  }
}

static double radius_of(const circle *q, const double p[]) {
  double radius = q->limit;
  if (q->normal >= 0) radius += q->coefficient * p[q->normal];
  return larger_of(radius, 0);
}

/* Impulses `open` brought into their limits, a normal before what follows it, and the
 * states that they ask for where `states` is not NULL. p may be `open`.
 * @return how many states are others than before. */
static int bring_in(const continuation *c, const double open[], double p[],
                    int states[]) {
  const box_problem *box = c->box;
  int n_changed = 0;
  for (int r = 0, n; r < box->n_rows; r += n) {
    const circle *q = c->circle_of[r];
    int state;
    n = q != NULL ? 2 : 1;
    if (q != NULL) {
      double radius = radius_of(q, p), length = length_of(open + r);
      double share = length > radius ? radius / length : 1;
      state = share < 1 || radius == 0 ? ROW_ON_CIRCLE : ROW_ACTIVE;
      p[r] = share * open[r];
      p[r + 1] = share * open[r + 1];
    } else {
      double low, high;
      box_limits(box, r, p, &low, &high);
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

/* By how much p misses what p - w / A asks for in the row or circle that begins at r,
 * m/s. */
static double miss_of(const continuation *c, int r, const double p[],
                      const double w[]) {
  const circle *q = c->circle_of[r];
  double A = c->box->diagonal[r], low, high;
  if (q == NULL) {
    box_limits(c->box, r, p, &low, &high);
    return fabs(middle_of((low - p[r]) * A, -w[r], (high - p[r]) * A));
  }
  double to[2] = {p[r] - w[r] / A, p[r + 1] - w[r + 1] / A};
  double radius = radius_of(q, p), length = length_of(to);
  double share = length > radius ? radius / length : 1;
  return A *
         length_of((double[]){p[r] - share * to[0], p[r + 1] - share * to[1]});
}

/* p, brought into its limits, as the iterate, evaluated. */
static void take(continuation *c, const double p[]) {
  solve_work *work = c->work;
  const box_problem *box = c->box;
  double worst = 0, lost = 0;
  if (c->n_circles == 0) {
    solve_work_take(work, p);
    return;
  }
  bring_in(c, p, work->p, NULL);
  box_velocities(box, work->p, work->v);
  box_slips(box, work->v, work->p, work->w);
  for (int r = 0; r < box->n_rows; r += c->circle_of[r] != NULL ? 2 : 1) {
    double miss = miss_of(c, r, work->p, work->w);
    worst = larger_of(worst, miss);
    lost += 0 * miss;
  }
  solve_work_judge(work, lost == 0 ? worst / box->scale : INFINITY);
}

/* ---- impulses from slips ------------------------------------------------------ */

/* Of a row's diagonal. Rows without limits change no state, and need no more of it than
 * leaves half of the digits to impulses, which follow from slips: a taut net has a
 * thousandth of the diagonal that its rows have alone, and less; links that are glued
 * together more often than they have freedoms share without end what misfits. */
static double prox_of(const continuation *c, int row) {
  const double half_of_digits = 1e-8;
  return c->box->type[row] == BOX_FREE ? smaller_of(c->prox, half_of_digits)
                                       : c->prox;
}

/* sigma at velocities v. */
static void find_slips(continuation *c) {
  const box_problem *box = c->box;
  box_relative(box, c->v, c->slip);
  for (int r = 0; r < box->n_rows; r++)
    c->slip[r] +=
        box->bias[r] - prox_of(c, r) * box->diagonal[r] * c->anchor[r];
}

/* The impulses at sigma + t of its step. */
static int impulses_at(continuation *c, double t, double p[], int states[]) {
  for (int r = 0; r < c->box->n_rows; r++)
    c->open[r] = -(c->slip[r] + t * c->slip_step[r]) / c->work->softness[r];
  return bring_in(c, c->open, p, states);
}

/* Those at sigma itself, and their states. */
static int impulses_at_start(continuation *c, double p[]) {
  memset(c->slip_step, 0, sizeof *c->slip_step * (size_t)c->box->n_rows);
  return impulses_at(c, 0, p, c->work->state);
}

/* ---- the linear system -------------------------------------------------------- */

/* The directions of circles that slide, at sigma and impulses p.
 * @return whether the factored ones are hardly others. */
static bool aim_circles(continuation *c, const double p[]) {
  const double turned = 0.01, heavier = 0.1; // rad; of a weight
  bool near = true;
  for (int i = 0; i < c->n_circles; i++) {
    circle *q = &c->circles[i];
    const double *at = c->slip + q->row, *u = q->factored_u;
    double length = length_of(at);
    if (c->work->state[q->row] != ROW_ON_CIRCLE) continue;
    for (int d = 0; d < 2; d++) q->u[d] = length > 0 ? -at[d] / length : 0;
    q->weight = length > 0 ? radius_of(q, p) / length : 0;
    near = near && fabs(u[0] * q->u[1] - u[1] * q->u[0]) <= turned &&
           u[0] * q->u[0] + u[1] * q->u[1] >= 0 &&
           fabs(q->weight - q->factored_weight) <= heavier * q->factored_weight;
  }
  return near;
}

/* A circle that slides; one that is active or without a limit is weighed as rows are. */
static void weigh_circle(const continuation *c, circle *q) {
  const box_weights *weights = &c->work->weights;
  double *own = weights->own + q->row, *follow = weights->follow + q->row;
  double *cross = weights->cross + q->row, x = q->u[0], y = q->u[1];
  cross[0] = cross[1] = 0;
  if (c->work->state[q->row] != ROW_ON_CIRCLE) return;
  memcpy(q->factored_u, q->u, sizeof q->u);
  q->factored_weight = q->weight;
  own[0] = q->weight * y * y;
  own[1] = q->weight * x * x;
  cross[0] = cross[1] = -q->weight * x * y;
  bool follows = q->normal >= 0 && q->weight > 0 &&
                 c->work->state[q->normal] == ROW_ACTIVE;
  double of_normal =
      follows ? q->coefficient / c->work->softness[q->normal] : 0;
  follow[0] = x * of_normal;
  follow[1] = y * of_normal;
}

/* The factors of the present states at sigma and impulses p, anew only where something
 * changed. */
static bool factor(continuation *c, const double p[]) {
  solve_work *work = c->work;
  size_t bytes = sizeof *work->state * (size_t)c->box->n_rows;
  if (aim_circles(c, p) && c->factored_prox == c->prox &&
      memcmp(c->factored_state, work->state, bytes) == 0)
    return true;
  bool symmetric = active_set_weigh(work, 0, c->box->n_rows);
  for (int k = 0; k < c->n_circles; k++) weigh_circle(c, &c->circles[k]);
  c->factored_prox = -1;
  if (!solve_work_factor(work, symmetric && c->n_circles == 0)) return false;
  c->factored_prox = c->prox;
  memcpy(c->factored_state, work->state, bytes);
  return true;
}

/* ---- a stage ------------------------------------------------------------------ */

/* How many rows ask for another state than theirs at impulses p, of which w are
 * the slips with compliance and the proximal term. Impulses that follow from
 * slips have lost digits where prox is small; p itself has not. */
static int count_misses(const continuation *c, const double p[],
                        const double w[]) {
  const box_problem *box = c->box;
  int count = 0;
  for (int r = 0; r < box->n_rows; r++) {
    double low, high, A = box->diagonal[r];
    int state = c->work->state[r];
    if (c->circle_of[r] != NULL) {
      count += miss_of(c, r++, p, w) > c->noise;
      continue;
    }
    box_limits(box, r, p, &low, &high);
    if (state == ROW_ACTIVE)
      count += (low - p[r]) * A > c->noise || (p[r] - high) * A > c->noise;
    else // a limit that pulls
      count += low < high && state * w[r] > c->noise;
  }
  return count;
}

/* What a circle that slides lacks of (x, y) being 0: across u alone. */
static void ask_across(const continuation *c, const circle *q, double x,
                       double y) {
  double lack = q->u[0] * y - q->u[1] * x;
  c->work->r[q->row] = lack * q->u[1];
  c->work->r[q->row + 1] = -lack * q->u[0];
}

/* One step of the states that stand, from the proximal point, circles in the directions
 * of sigma. p is where it leads to, v its velocities.
 * @return how many rows ask for other states, -1 without factors. */
static int predict(continuation *c, double p[]) {
  solve_work *work = c->work;
  const box_problem *box = c->box;
  memcpy(p, c->anchor, sizeof *p * (size_t)box->n_rows);
  active_set_put_at_limits(work, p);
  if (!factor(c, p)) return -1;
  for (int k = 0; k < c->n_circles; k++) {
    const circle *q = &c->circles[k];
    if (work->state[q->row] != ROW_ON_CIRCLE) continue;
    double radius = radius_of(q, p);
    for (int d = 0; d < 2; d++) p[q->row + d] = radius * q->u[d];
  }
  box_velocities(box, p, c->v);
  find_slips(c);
  for (int r = 0; r < box->n_rows; r++)
    work->r[r] = work->state[r] == ROW_ACTIVE
                     ? -(c->slip[r] + work->softness[r] * p[r])
                     : 0;
  for (int k = 0; k < c->n_circles; k++) {
    const circle *q = &c->circles[k];
    if (work->state[q->row] != ROW_ON_CIRCLE) continue;
    const double *slip = c->slip + q->row;
    ask_across(c, q, slip[0], slip[1]);
  }
  box_system_solve(&work->blocks, box, &work->weights, work->r, work->dv,
                   work->dp, work->scratch);
  work->spent += work->cost.solve;
  for (int i = 0; i < 6 * box->n_bodies; i++) c->v[i] += work->dv[i];
  for (int r = 0; r < box->n_rows; r++) p[r] += work->dp[r];
  active_set_put_at_limits(work, p);
  find_slips(c);
  for (int r = 0; r < box->n_rows; r++)
    work->r[r] = c->slip[r] + work->softness[r] * p[r];
  return count_misses(c, p, work->r);
}

/* M x, body by body. */
static void times_mass(const box_problem *box, const double x[], double Mx[]) {
  for (int b = 0; b < box->n_bodies; b++)
    matrix6_apply(Mx + 6 * b, box->problem->bodies[b].mass, x + 6 * b);
}

/* balance = M (v - v_base) - J' p. momentum is overwritten. */
static void find_balance(continuation *c, const double p[]) {
  int n_v = 6 * c->box->n_bodies;
  for (int i = 0; i < n_v; i++) c->momentum[i] = c->v[i] - c->box->v_base[i];
  times_mass(c->box, c->momentum, c->balance);
  box_impulses(c->box, p, c->momentum);
  for (int i = 0; i < n_v; i++) c->balance[i] -= c->momentum[i];
}

/* Where on the step the balance's share along it, at_0 < 0 at its beginning, is gone for
 * the most part: t in (0, 1]. */
static double search_line(continuation *c, double at_0) {
  enum { MAX_TRIES = 10 };
  const double enough = 0.1; // of the share at the beginning
  int n_v = 6 * c->box->n_bodies;
  times_mass(c->box, c->dv, c->momentum);
  double mass_dv = dot_of(n_v, c->dv, c->momentum), mass_v = 0;
  for (int i = 0; i < n_v; i++)
    mass_v += c->momentum[i] * (c->v[i] - c->box->v_base[i]);
  double low = 0, high = 1, at_low = at_0, at_high = NAN, t = 1;
  for (int k = 0; k < MAX_TRIES; k++) {
    impulses_at(c, t, c->trial_p, NULL);
    double at =
        mass_v + t * mass_dv - dot_of(c->box->n_rows, c->trial_p, c->slip_step);
    if (fabs(at) <= -enough * at_0 || (k == 0 && at < 0)) return t;
    if (at < 0) {
      low = t;
      at_low = at;
    } else {
      high = t;
      at_high = at;
    }
    // secant and halving in turn
    t = k & 1 ? 0.5 * (low + high)
              : low - at_low * (high - low) / (at_high - at_low);
  }
  return t;
}

/* A step of circles is small where it changes no slip by more than what rows may miss. */
static bool is_small(const continuation *c) {
  double most = 0;
  for (int r = 0; r < c->box->n_rows && c->n_circles > 0; r++)
    most = larger_of(most, fabs(c->slip_step[r]));
  return most <= c->noise;
}

/* Newton's method from the states and velocities that stand; p out.
 * @return true when its states do not change any more. */
static bool newton_settles(continuation *c, double p[], double most_spent) {
  enum { MAX_STEPS = 20, MAX_SHORT = 3 };
  const double short_step = 0.1;
  solve_work *work = c->work;
  const box_problem *box = c->box;
  int n_v = 6 * box->n_bodies, n_short = 0;
  for (int k = 0; k < MAX_STEPS; k++) {
    if (work->spent > most_spent || !factor(c, p)) return false;
    find_balance(c, p);
    for (int i = 0; i < n_v; i++) c->dv[i] = -c->balance[i];
    body_blocks_solve(&work->blocks, c->dv);
    work->spent += work->cost.solve;
    work->iterations++;
    double at_0 = dot_of(n_v, c->dv, c->balance);
    if (!isfinite(at_0)) return false;
    box_relative(box, c->dv, c->slip_step);
    memcpy(c->trial_state, work->state,
           sizeof *work->state * (size_t)box->n_rows);
    bool small = is_small(c);
    double t = 1;
    if (!small || impulses_at(c, 1, c->trial_p, c->trial_state) > 0) {
      if (at_0 > 0) return false;
      if (at_0 < 0) t = search_line(c, at_0);
    }
    n_short = t < short_step ? n_short + 1 : 0;
    if (n_short > MAX_SHORT) return false;
    for (int i = 0; i < n_v; i++) c->v[i] += t * c->dv[i];
    find_slips(c);
    if (impulses_at_start(c, p) == 0 && small) return true;
  }
  return false;
}

/* What impulses follow from slips by, and sigma at the iterate, which circles begin
 * with. */
static void soften(continuation *c) {
  solve_work *work = c->work;
  const box_problem *box = c->box;
  for (int r = 0; r < box->n_rows; r++)
    work->softness[r] = box->compliance[r] + prox_of(c, r) * box->diagonal[r];
  for (int k = 0; k < c->n_circles; k++) {
    double *s = work->softness + c->circles[k].row;
    s[0] = s[1] = larger_of(s[0], s[1]);
  }
  if (c->n_circles == 0) return;
  memcpy(c->v, work->v, sizeof *c->v * 6 * (size_t)box->n_bodies);
  find_slips(c);
}

/* One stage from the states that stand; kept_p is its end. */
static bool newton_stage(continuation *c, double most_spent) {
  double *p = c->work->kept_p;
  soften(c);
  int n_changed = predict(c, p);
  c->stood = n_changed == 0;
  if (n_changed == 0) return true;
  if (n_changed < 0) return false; // no factors: no slips to go on from
  if (n_changed > c->most_changes) {
    c->gives_up = true;
    return false;
  }
  impulses_at_start(c, p);
  if (!newton_settles(c, p, most_spent)) return false;
  if (c->n_circles == 0)
    predict(c, p); // with the digits that slips do not give
  return true;
}

/* The same by pivots. */
static bool pivot_stage(continuation *c, long most_pivots) {
  solve_work *work = c->work;
  box_problem *box = &work->box;
  const double *anchor = c->anchor;
  size_t bytes = sizeof(double) * (size_t)box->n_rows;
  memcpy(c->own_bias, box->bias, bytes);
  memcpy(work->p, anchor, bytes);
  box->relaxation = c->prox;
  for (int r = 0; r < box->n_rows; r++)
    box->bias[r] -= c->prox * box->diagonal[r] * anchor[r];
  bool solved = pivots_solve(work, most_pivots);
  box->relaxation = 0;
  memcpy(box->bias, c->own_bias, bytes);
  memcpy(work->kept_p, work->p, bytes);
  c->factored_prox = -1; // work->blocks are the pivots'
  return solved;
}

/* With the factors of the last stage a digit costs a solve: go on from its end to
 * well below what is asked for while the active set stands. */
static void refine(continuation *c) {
  const double share = 1e-3; // of the digits asked for
  solve_work *work = c->work;
  for (;;) {
    double before = work->residual;
    if (before <= share * work->digits || predict(c, work->kept_p) != 0) break;
    take(c, work->kept_p);
    if (!(work->residual < 0.5 * before)) break;
    memcpy(c->anchor, work->kept_p, sizeof *c->anchor * (size_t)c->box->n_rows);
  }
}

/* ---- the last digits of circles ------------------------------------------------ */

/* prox where nothing is soft. */
static const double rigid_prox = 1e-6;

/* The states of p - w / A, linear about it: along y = p - w / A the impulse of a circle
 * that slides is at the limit, across it is an active row of compliance A (|y| - L) / L.
 * Near a solution that is right for what hardly slides, too, whose sigma has no
 * direction. */
static void look_from_impulses(continuation *c) {
  solve_work *work = c->work;
  double *p = work->p;
  for (int r = 0; r < c->box->n_rows; r++)
    c->open[r] = p[r] - work->w[r] / c->box->diagonal[r];
  bring_in(c, c->open, c->trial_p, work->state);
  active_set_put_at_limits(work, p);
  for (int k = 0; k < c->n_circles; k++) {
    const circle *q = &c->circles[k];
    const double *y = c->open + q->row;
    double *at = p + q->row, *slip = c->slip + q->row;
    if (work->state[q->row] != ROW_ON_CIRCLE) continue;
    double radius = radius_of(q, p), length = length_of(y);
    double size = c->box->diagonal[q->row] * (length - radius) +
                  work->softness[q->row] * radius;
    double share = length > 0 ? 1 / length : 0;
    double off = radius - share * (y[0] * at[0] + y[1] * at[1]);
    for (int d = 0; d < 2; d++) {
      slip[d] = -size * share * y[d];
      at[d] += off * share * y[d];
    }
  }
}

/* What rows lack there: across y alone where a circle slides. */
static void find_lacks(continuation *c) {
  solve_work *work = c->work;
  const double *p = work->p, *w = work->w;
  for (int r = 0; r < c->box->n_rows; r++)
    work->r[r] = work->state[r] == ROW_ACTIVE ? -w[r] : 0;
  for (int k = 0; k < c->n_circles; k++) {
    const circle *q = &c->circles[k];
    int r = q->row;
    if (work->state[r] != ROW_ON_CIRCLE) continue;
    double radius = radius_of(q, p), length = length_of(c->open + r);
    double compliance =
        radius > 0 ? c->box->diagonal[r] * (length - radius) / radius : 0;
    ask_across(c, q, w[r] + compliance * p[r],
               w[r + 1] + compliance * p[r + 1]);
  }
}

/* Newton's method on impulses from the iterate, as long as a step halves the residual;
 * the iterate stays where none does. kept_p is its end. */
static void polish(continuation *c) {
  const double share = 0.1; // of prox
  solve_work *work = c->work;
  const box_problem *box = c->box;
  size_t bytes = sizeof *work->p * (size_t)box->n_rows;
  double first = work->residual, before = INFINITY, prox = c->prox;
  memcpy(c->anchor, work->p, bytes);
  c->prox = larger_of(share * prox, rigid_prox);
  soften(c);
  while (work->residual > work->digits && work->residual <= 0.5 * before) {
    before = work->residual;
    look_from_impulses(c);
    box_velocities(box, work->p, work->v);
    box_slips(box, work->v, work->p, work->w);
    if (!factor(c, work->p) || !solve_work_spend(work, work->cost.solve)) break;
    find_lacks(c);
    box_system_solve(&work->blocks, box, &work->weights, work->r, work->dv,
                     work->dp, work->scratch);
    work->iterations++;
    memcpy(work->kept_p, work->p, bytes);
    for (int r = 0; r < box->n_rows; r++) work->kept_p[r] += work->dp[r];
    take(c, work->kept_p);
  }
  c->prox = prox;
  if (!(work->residual <= first)) take(c, c->anchor);
  memcpy(work->kept_p, work->p, bytes);
}

/* ---- the continuation --------------------------------------------------------- */

/* What prox goes down to at last: a tenth of the least compliance that a limited row has
 * of its own, so that a stage takes nine tenths of an error away. */
static double last_prox_of(const box_problem *box) {
  const double share = 0.1, least = 1e-10;
  double own = INFINITY;
  for (int r = 0; r < box->n_rows; r++)
    if (box->type[r] != BOX_FREE && box->compliance[r] > 0)
      own = smaller_of(own, box->compliance[r] / box->diagonal[r]);
  return smaller_of(larger_of(share * own, least), rigid_prox);
}

/* Where prox may go down to that at last, the active set is looked for there at once:
 * contacts are so soft themselves that few rows change. Slabs of tonnes take four times
 * the work without; walls of light bricks, at 1e-10, five times with it. */
static const double soft_enough = 2e-9;

/* The states of the iterate, from which a stage begins. */
static void begin(continuation *c) {
  if (c->n_circles > 0) {
    soften(c);
    impulses_at_start(c, c->work->kept_p);
  } else {
    active_set_of_guess(c->work);
  }
}

/* How prox goes down; circles, which bend, by smaller steps. */
typedef struct schedule {
  double of_residual; /* prox at first, and at most later */
  double shrink;      /* the least share of prox that a stage leaves of it */
  double missable;    /* of the residual: what rows may miss */
} schedule;
static const schedule of_polygons = {1e-2, 0.1, 0},
                      of_circles = {0.1, 0.3, 1e-2};

typedef struct descent {
  schedule by;
  double least,
      last;      /* what prox goes down to, and where stages are idle there */
  double failed; /* prox of the stage before where that failed, else 0 */
  int n_idle;
} descent;

static descent start_descent(continuation *c) {
  // pyramids and drums at rest take twice the work without
  const double over_target = 100;
  bool curved = c->n_circles > 0;
  descent d = {.by = curved ? of_circles : of_polygons,
               .last = last_prox_of(c->box)};
  bool soft = d.last >= soft_enough && !curved;
  d.least = soft     ? d.last
            : curved ? rigid_prox
                     : larger_of(d.last, over_target * c->work->target);
  c->prox =
      smaller_of(larger_of(d.by.of_residual * c->work->residual, d.least), 1);
  if (soft) c->prox = d.last;
  return d;
}

/* The prox after a stage that brought the residual from `before` to `after`.
 * @return false where stages gain nothing any more. */
static bool lower_prox(continuation *c, descent *d, double before,
                       double after) {
  enum { MAX_IDLE = 1 };
  double next = smaller_of(d->by.shrink * c->prox, d->by.of_residual * after);
  if (d->failed > 0) next = larger_of(next, sqrt(c->prox * d->failed));
  d->failed = 0;
  d->n_idle = c->prox <= d->least && after > 0.5 * before ? d->n_idle + 1 : 0;
  if (d->n_idle > MAX_IDLE) {
    if (c->prox <= d->last) return false;
    d->least = larger_of(0.1 * d->least, d->last);
    d->n_idle = 0;
  }
  if (!c->stood)
    c->prox = larger_of(next, d->least);
  else if (after > 0.1 * before)
    c->prox = d->last;
  return true;
}

/* Stages from work->p, while prox goes down.
 * @return true when the target is reached. */
static bool descend(continuation *c) {
  enum { MAX_STAGES = 40, MAX_FAILURES = 4, FEW = 3 };
  const bool curved = c->n_circles > 0;
  // where more rows than that ask for another state than they had, it was a heap's
  const double most_share = 0.1;
  const double most_work = 40; // factorisations: two interior points
  const double growth = 10;    // of prox
  solve_work *work = c->work;
  const box_problem *box = c->box;
  size_t bytes = sizeof(double) * (size_t)box->n_rows;
  double most_spent = smaller_of(work->spent + most_work, work->budget);
  double residual = work->residual, halved = residual;
  int n_failures = 0;
  descent descent = start_descent(c);
  c->factored_prox = -1;
  c->gives_up = false;
  memcpy(c->anchor, work->p, bytes);
  if (curved) begin(c);
  for (int k = 0; k < MAX_STAGES && work->spent < most_spent; k++) {
    c->most_changes = k == 0 && work->n_known > 0 && !curved
                          ? (int)(most_share * box->n_rows) + FEW
                          : box->n_rows;
    c->noise = box->scale *
               larger_of(0.1 * work->digits, descent.by.missable * residual);
    bool ok = newton_stage(c, most_spent);
    if (c->gives_up) break;
    if (ok) take(c, work->kept_p);
    if (ok && curved) polish(c);
    if (curved && work->best_residual < 0.5 * halved) {
      halved = work->best_residual;
      most_spent = smaller_of(work->spent + most_work, work->budget);
    }
    if (!ok || !isfinite(work->residual)) {
      if (++n_failures >= MAX_FAILURES || c->prox >= 1) break;
      descent.failed = c->prox;
      c->prox = larger_of(growth * c->prox, descent.by.of_residual * residual);
      c->prox = smaller_of(c->prox, 1);
      take(c, c->anchor);
      begin(c);
      continue;
    }
    double before = residual;
    residual = work->residual;
    n_failures = 0;
    memcpy(c->anchor, work->kept_p, bytes);
    if (residual <= work->target) refine(c);
    if (work->residual <= solve_work_goal(work)) break;
    if (!lower_prox(c, &descent, before, residual)) break;
  }
  take(c, work->best_p);
  return work->residual <= work->target;
}

bool continuation_solve(solve_work *work) {
  return descend(work->continuation);
}

bool continuation_by_pivots(solve_work *work, double prox, long first_path) {
  // bins of capsules have four times as many solves degraded with one failure
  enum { MAX_STAGES = 40, MAX_FAILURES = 4 };
  // Newton's method for a prox above it: drawn worlds have 11 degraded without, for 0
  const double many_changes = 2e-3;
  const double shrink = 0.1, growth = 10;
  const double least_prox =
      1e-12; // below it none: rounding of the diagonal's sums
  const box_problem *box = &work->box;
  size_t bytes = sizeof(double) * (size_t)box->n_rows;
  continuation *c = work->continuation;
  c->prox = prox;
  c->factored_prox = -1;
  c->most_changes = box->n_rows;
  c->noise = 0.1 * work->digits * box->scale;
  double failed_prox = 0;
  int n_failures = 0;
  memcpy(c->anchor, work->p, bytes);
  active_set_of_guess(work);
  for (int k = 0; k < MAX_STAGES && n_failures < MAX_FAILURES; k++) {
    bool by_newton = c->prox > many_changes && !box->crossed;
    bool first = first_path > 0 && k == 0;
    if (!(by_newton && newton_stage(c, INFINITY)) &&
        !pivot_stage(c, first ? first_path : 150 + box->n_limited / 8)) {
      if (first) break;
      n_failures++;
      failed_prox = c->prox;
      c->prox = smaller_of(larger_of(growth * c->prox, least_prox), 1);
      continue;
    }
    n_failures = 0;
    solve_work_take(work, work->kept_p);
    memcpy(c->anchor, work->p, bytes);
    if (work->residual <= work->target) return true;
    if (first && active_set_solve(work, 4)) return true;
    if (c->prox == 0) break;
    c->prox = larger_of(shrink * c->prox, sqrt(c->prox * failed_prox));
    failed_prox = 0; // from where that ends what failed may not
    if (c->prox < least_prox) c->prox = 0;
  }
  solve_work_restore_best(work);
  return false;
}

/* ---- edges ---------------------------------------------------------------------- */

/* A square's edges: the first along what the circle's projection takes off, the slip
 * where it slides. */
static void turn_edges(const continuation *c, mlcp_pair pairs[]) {
  const double stuck = 0.7; // of the limit: within the square whatever its turn
  for (int i = 0; i < c->n_circles; i++) {
    const circle *q = &c->circles[i];
    const double *p = c->work->p + q->row, *w = c->work->w + q->row;
    const box_origin *origin = &c->box->origin[q->row];
    const mlcp_friction *set = &c->box->problem->frictions[origin->friction];
    double A = c->box->diagonal[q->row], radius = radius_of(q, c->work->p);
    double to[2] = {w[0] / A - p[0], w[1] / A - p[1]};
    if (!(radius > 0) || length_of(p) <= stuck * radius) continue;
    const double *e = set->ellipse;
    double u[2];
    for (int d = 0; d < 2; d++)
      u[d] = (to[0] * origin[0].g[d] + to[1] * origin[1].g[d]) / e[d];
    double length = length_of(u), x = u[0], y = u[1];
    if (!(length > 0)) continue;
    mlcp_pair *pair = pairs + set->first_pair;
    pair[0] = (mlcp_pair){{e[0] * x / length, e[1] * y / length}};
    pair[1] = (mlcp_pair){{-e[0] * y / length, e[1] * x / length}};
  }
}

/* ---- a solve ---------------------------------------------------------------------- */

bool continuation_reserve(solve_work *work, bool circles) {
  arena *arena = &work->arena;
  size_t n = by_fours((size_t)work->box.n_rows);
  size_t n_v = 6 * (size_t)work->box.n_bodies;
  continuation *c;
  if (!ARENA_TAKE(arena, c, 1)) return false;
  work->continuation = c;
  *c = (continuation){.work = work, .box = &work->box};
  double **const rows[] = {&c->slip,    &c->slip_step, &c->open,
                           &c->trial_p, &c->anchor,    &c->own_bias};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!ARENA_TAKE(arena, *rows[i], n)) return false;
  if (!ARENA_TAKE(arena, c->v, n_v) || !ARENA_TAKE(arena, c->dv, n_v) ||
      !ARENA_TAKE(arena, c->balance, n_v) ||
      !ARENA_TAKE(arena, c->momentum, n_v) ||
      !ARENA_TAKE(arena, c->trial_state, n) ||
      !ARENA_TAKE(arena, c->factored_state, n) ||
      !ARENA_TAKE(arena, c->circle_of, n))
    return false;
  memset(c->circle_of, 0, sizeof *c->circle_of * n);
  if (!circles) return true;
  if (!ARENA_TAKE(arena, c->circles, n)) return false;
  find_circles(c);
  return true;
}

bool continuation_turn(solve_work *work, double p[], mlcp_pair pairs[]) {
  const double better = 0.1; // of the residual at the beginning
  continuation *c = work->continuation;
  if (c->n_circles == 0) return false;
  work->best_residual = INFINITY;
  take(c, work->p);
  double first = work->residual;
  if (descend(c)) take(c, work->best_p);
  if (!(work->residual < better * first)) return false;
  turn_edges(c, pairs);
  box_give_impulses(c->box, work->p, p);
  return true;
}
