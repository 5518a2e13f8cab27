/* The problem with a proximal term,
 *
 *   w = J v + C p + b + prox A (p - p_a)
 *
 * has impulses that follow from the slips alone,
 *
 *   p = mid(low, -(J v + b - prox A p_a) / (C + prox A), high),
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
 * impulse has to change for one that is good enough, and a prox of a hundred times
 * that finds it in a step or two, however rigid the contacts are. So prox goes down
 * with the residual to there, and further only where stages gain nothing: to where
 * the rows' own compliance settles by more than half in a stage. Stages whose
 * active set does not change reuse the factors, so that the last digits cost a
 * solve each. Where Newton's method stalls, prox goes up again.
 *
 * From where an interior point got stuck nothing but a handful of rows is wrong, and
 * these are stubborn: all stages but the first go by pivots (pivots.c), which follow the
 * path past the turning points that a proximal term leaves, the last without that term.
 */
#include "solver/continuation.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "common/vec3.h"
#include "solver/active_set.h"
#include "solver/newton.h"
#include "solver/pivots.h"

struct continuation_space {
  /* [n_rows] a row's slip and the slip's change along a step, impulses on trial,
     the point to go on from, the problem's own bias; states, and those factored */
  double *slip, *slip_step, *trial_p, *anchor, *own_bias;
  int *kept_state, *factored_state;
  /* [6 n_bodies] velocities, a step of them, what is missing in their balance */
  double *newton_v, *newton_dv, *balance, *momentum;
};

typedef struct continuation {
  struct continuation_space space;
  solve_work *work;
  const box_problem *box;
  double prox, factored_prox; /* below 0: nothing is factored */
  int n_steps;                /* of the last stage */
  int most_changes;           /* that a step of the guess may ask for */
  bool gives_up;              /* it asked for more */
} continuation;

bool continuation_reserve(solve_work *work) {
  arena *arena = &work->arena;
  size_t n = by_fours((size_t)work->box.n_rows);
  size_t n_v = 6 * (size_t)work->box.n_bodies;
  if (!ARENA_TAKE(arena, work->continuation, 1)) return false;
  struct continuation_space *s = work->continuation;
  return ARENA_TAKE(arena, s->slip, n) && ARENA_TAKE(arena, s->slip_step, n) &&
         ARENA_TAKE(arena, s->trial_p, n) && ARENA_TAKE(arena, s->anchor, n) &&
         ARENA_TAKE(arena, s->own_bias, n) &&
         ARENA_TAKE(arena, s->kept_state, n) &&
         ARENA_TAKE(arena, s->factored_state, n) &&
         ARENA_TAKE(arena, s->newton_v, n_v) &&
         ARENA_TAKE(arena, s->newton_dv, n_v) &&
         ARENA_TAKE(arena, s->balance, n_v) &&
         ARENA_TAKE(arena, s->momentum, n_v);
}

/* ---- impulses of velocities ------------------------------------------------ */

/* The impulses at slips slip + t slip_step, and their states where `states` is
 * not NULL. @return how many states are others than before. */
static int impulses_at(continuation *c, double t, double p[], int states[]) {
  const solve_work *work = c->work;
  const box_problem *box = c->box;
  int n_changed = 0;
  for (int k = 0; k < box->n_clusters; k++) {
    const box_cluster *cluster = &box->clusters[k];
    int first = cluster->first_row, end = first + cluster->n_rows;
    double low, high, normal = 0;
    for (int r = first; r < end; r++) {
      double slip = c->space.slip[r] + t * c->space.slip_step[r];
      double open = -slip / work->softness[r];
      box_row_limits(box, r, normal, &low, &high);
      int state = open < low    ? ROW_AT_LOW
                  : open > high ? ROW_AT_HIGH
                                : ROW_ACTIVE;
      if (low == high) state = open > low ? ROW_AT_HIGH : ROW_AT_LOW;
      p[r] = state == ROW_AT_LOW ? low : state == ROW_AT_HIGH ? high : open;
      if (states != NULL) {
        n_changed += states[r] != state;
        states[r] = state;
      }
      if (r == first && cluster->has_normal) normal = p[r];
    }
  }
  return n_changed;
}

/* The slips that impulses follow from at velocities newton_v. */
static void find_slips(continuation *c) {
  const box_problem *box = c->box;
  box_relative(box, c->space.newton_v, c->space.slip);
  for (int r = 0; r < box->n_rows; r++)
    c->space.slip[r] +=
        box->bias[r] - c->prox * box->diagonal[r] * c->space.anchor[r];
}

/* ---- the linear system ------------------------------------------------------ */

/* The factors of the present states, anew only where something changed. */
static bool factor(continuation *c) {
  solve_work *work = c->work;
  const box_problem *box = c->box;
  size_t bytes = sizeof *work->state * (size_t)box->n_rows;
  if (c->factored_prox == c->prox &&
      memcmp(c->space.factored_state, work->state, bytes) == 0)
    return true;
  if (!solve_work_spend(work, work->cost.factorisation)) return false;
  bool symmetric = active_set_weigh(work, 0, box->n_rows);
  work->factorisations++;
  c->factored_prox = -1;
  if (!box_system_factor(&work->blocks, box, &work->weights, symmetric))
    return false;
  c->factored_prox = c->prox;
  memcpy(c->space.factored_state, work->state, bytes);
  return true;
}

/* ---- a stage ----------------------------------------------------------------- */

/* How many rows ask for another state than theirs at impulses p, of which w are
 * the slips with compliance and the proximal term. Impulses that follow from
 * slips have lost digits where prox is small; p itself has not. */
static int count_misses(const continuation *c, const double p[],
                        const double w[]) {
  const solve_work *work = c->work;
  const box_problem *box = c->box;
  const double noise = 0.1 * work->target * box->scale;
  int count = 0;
  for (int r = 0; r < box->n_rows; r++) {
    double low, high, A = box->diagonal[r];
    int state = work->state[r];
    box_limits(box, r, p, &low, &high);
    if (state == ROW_ACTIVE)
      count += (low - p[r]) * A > noise || (p[r] - high) * A > noise;
    else // a limit that pulls
      count += low < high && state * w[r] > noise;
  }
  return count;
}

/* One step of the states that stand, from the proximal point. p is where it leads
 * to, newton_v its velocities.
 * @return how many rows ask for other states, -1 without factors. */
static int predict(continuation *c, double p[]) {
  solve_work *work = c->work;
  const box_problem *box = c->box;
  int n = box->n_rows;
  memcpy(p, c->space.anchor, sizeof *p * (size_t)n);
  active_set_put_at_limits(work, p);
  box_velocities(box, p, c->space.newton_v);
  if (!factor(c)) return -1;
  box_relative(box, c->space.newton_v, c->space.slip);
  for (int r = 0; r < n; r++) {
    double from_anchor = p[r] - c->space.anchor[r];
    work->r[r] =
        work->state[r] != ROW_ACTIVE
            ? 0
            : -(c->space.slip[r] + box->bias[r] + box->compliance[r] * p[r] +
                c->prox * box->diagonal[r] * from_anchor);
  }
  box_system_solve(&work->blocks, box, &work->weights, work->r, work->dv,
                   work->dp, work->scratch);
  work->spent += work->cost.solve;
  for (int i = 0; i < 6 * box->n_bodies; i++)
    c->space.newton_v[i] += work->dv[i];
  for (int r = 0; r < n; r++) p[r] += work->dp[r];
  active_set_put_at_limits(work, p);
  find_slips(c);
  for (int r = 0; r < n; r++)
    work->r[r] = c->space.slip[r] + work->softness[r] * p[r];
  return count_misses(c, p, work->r);
}

/* p . J dv at t along the step newton_dv. */
static double work_at(void *of, double t) {
  continuation *c = of;
  impulses_at(c, t, c->space.trial_p, NULL);
  return dot_of(c->box->n_rows, c->space.trial_p, c->space.slip_step);
}

/* Newton's method from the states and velocities that stand; p out.
 * @return true when its states do not change any more. */
static bool run_newton(continuation *c, double p[], double most_spent) {
  enum { MAX_STEPS = 20, MAX_SHORT = 3 };
  const double short_step = 0.1;
  solve_work *work = c->work;
  const box_problem *box = c->box;
  int n_v = 6 * box->n_bodies, n_short = 0;
  for (c->n_steps = 0; c->n_steps < MAX_STEPS; c->n_steps++) {
    if (work->spent > most_spent || !factor(c)) return false;
    double *dv = c->space.newton_dv;
    newton_balance(box, c->space.newton_v, p, c->space.momentum,
                   c->space.balance);
    for (int i = 0; i < n_v; i++) dv[i] = -c->space.balance[i];
    body_blocks_solve(&work->blocks, dv);
    work->spent += work->cost.solve;
    work->iterations++;
    double at_0 = dot_of(n_v, dv, c->space.balance);
    if (!isfinite(at_0)) return false;
    box_relative(box, dv, c->space.slip_step);
    memcpy(c->space.kept_state, work->state,
           sizeof *work->state * (size_t)box->n_rows);
    int n_changed = impulses_at(c, 1, c->space.trial_p, c->space.kept_state);
    double t = 1;
    if (n_changed > 0) {
      if (at_0 > 0) return false;
      if (at_0 < 0)
        t = newton_line(box, c->space.newton_v, dv, c->space.momentum, at_0,
                        work_at, c);
    }
    n_short = t < short_step ? n_short + 1 : 0;
    if (n_short > MAX_SHORT) return false;
    for (int i = 0; i < n_v; i++) c->space.newton_v[i] += t * dv[i];
    find_slips(c);
    memset(c->space.slip_step, 0,
           sizeof *c->space.slip_step * (size_t)box->n_rows);
    n_changed = impulses_at(c, 0, p, work->state);
    if (n_changed == 0) return true;
  }
  return false;
}

/* One stage from the states that stand; kept_p is its end. */
static bool run_stage(continuation *c, double most_spent) {
  solve_work *work = c->work;
  const box_problem *box = c->box;
  for (int r = 0; r < box->n_rows; r++)
    work->softness[r] = box->compliance[r] + c->prox * box->diagonal[r];
  double *p = work->kept_p;
  c->n_steps = 0;
  int n_changed = predict(c, p);
  if (n_changed == 0) return true;
  if (n_changed < 0) return false; // no factors: no slips to go on from
  if (n_changed > c->most_changes) {
    c->gives_up = true;
    return false;
  }
  memset(c->space.slip_step, 0,
         sizeof *c->space.slip_step * (size_t)box->n_rows);
  impulses_at(c, 0, p, work->state);
  if (!run_newton(c, p, most_spent)) return false;
  predict(c, p); // with the digits that slips do not give
  return true;
}

/* The same by pivots. */
static bool pivot_stage(continuation *c) {
  solve_work *work = c->work;
  box_problem *box = &work->box;
  const double *anchor = c->space.anchor;
  size_t bytes = sizeof(double) * (size_t)box->n_rows;
  memcpy(c->space.own_bias, box->bias, bytes);
  memcpy(work->p, anchor, bytes);
  box->relaxation = c->prox;
  for (int r = 0; r < box->n_rows; r++)
    box->bias[r] -= c->prox * box->diagonal[r] * anchor[r];
  bool solved = pivots_solve(work, 150 + box->n_rows / 8);
  box->relaxation = 0;
  memcpy(box->bias, c->space.own_bias, bytes);
  memcpy(work->kept_p, work->p, bytes);
  c->factored_prox = -1; // work->blocks are the pivots'
  return solved;
}

/* With the factors of the last stage a digit costs a solve: go on from its end to
 * well below the target while the active set stands. */
static void refine(continuation *c) {
  enum { MAX_SOLVES = 3 };
  const double share = 1e-3; // of the target
  solve_work *work = c->work;
  for (int i = 0; i < MAX_SOLVES; i++) {
    double before = work->residual;
    if (before <= share * work->target || predict(c, work->kept_p) != 0) break;
    solve_work_take(work, work->kept_p);
    if (!(work->residual < 0.5 * before)) break;
    memcpy(c->space.anchor, work->kept_p,
           sizeof *c->space.anchor * (size_t)c->box->n_rows);
  }
}

/* ---- the continuation --------------------------------------------------------- */

/* What prox goes down to at last: a tenth of the least compliance that a limited row has
 * of its own, so that a stage takes nine tenths of an error away. */
static double last_prox_of(const box_problem *box) {
  const double share = 0.1, most = 1e-6, least = 1e-10;
  double own = INFINITY;
  for (int r = 0; r < box->n_rows; r++)
    if (box->type[r] != BOX_FREE && box->compliance[r] > 0)
      own = smaller_of(own, box->compliance[r] / box->diagonal[r]);
  return smaller_of(larger_of(share * own, least), most);
}

/* Where prox may go down to that at last, the active set is looked for there at once:
 * contacts are so soft themselves that few rows change. */
static const double soft_enough = 1e-9;

bool continuation_solve(solve_work *work, bool from_nothing) {
  enum { MAX_STAGES = 40, MAX_FAILURES = 4, MAX_IDLE = 1, HARD = 8, FEW = 3 };
  // where more rows than that ask for another state than they had, it was a heap's
  const double most_share = 0.1;
  const double most_work = 40;     // factorisations: two interior points
  const double first_share = 1e-2; // of the residual, as prox
  const double usual_shrink = 0.1, hard_shrink = 0.3, growth = 10;
  const double over_enough = 100; // times what is good enough, as prox
  // times the residual before: a stage's answer is no nearer to a solution than its
  // anchor; so much further off, slips had no digits left for its states
  const double far_off = 100;
  const box_problem *box = &work->box;
  size_t bytes = sizeof(double) * (size_t)box->n_rows;
  continuation c = {.space = *work->continuation,
                    .work = work,
                    .box = box,
                    .factored_prox = -1};
  const double last_prox = last_prox_of(box);
  double least_prox = last_prox >= soft_enough
                          ? last_prox
                          : larger_of(last_prox, over_enough * work->soon);
  const double most_spent = work->spent + most_work;
  double residual = work->residual, failed_prox = 0;
  int n_failures = 0, n_idle = 0;
  memcpy(c.space.anchor, work->p, bytes);
  if (from_nothing)
    active_set_all_active(work);
  else
    active_set_of_guess(work);
  c.prox = last_prox >= soft_enough
               ? last_prox
               : smaller_of(larger_of(first_share * residual, least_prox), 1);
  for (int k = 0; k < MAX_STAGES && work->spent < most_spent; k++) {
    c.most_changes = k == 0 && !from_nothing
                         ? (int)(most_share * box->n_rows) + FEW
                         : box->n_rows;
    bool ok = run_stage(&c, most_spent);
    if (c.gives_up) break;
    if (ok) solve_work_take(work, work->kept_p);
    if (ok && work->residual <= far_off * residual) {
      double before = residual;
      memcpy(c.space.anchor, work->kept_p, bytes);
      residual = work->residual;
      if (residual <= work->target) {
        refine(&c);
        return true;
      }
      if (!isfinite(residual) || residual <= work->soon) break;
      n_failures = 0;
      double next = smaller_of(usual_shrink * c.prox, first_share * residual);
      if (c.n_steps > HARD) next = larger_of(next, hard_shrink * c.prox);
      if (failed_prox > 0) next = larger_of(next, sqrt(c.prox * failed_prox));
      n_idle = c.prox <= least_prox && residual > 0.5 * before ? n_idle + 1 : 0;
      if (n_idle > MAX_IDLE && c.prox <= last_prox) break;
      if (n_idle > MAX_IDLE) {
        least_prox = larger_of(usual_shrink * least_prox, last_prox);
        next = least_prox;
        n_idle = 0;
      }
      c.prox = larger_of(next, least_prox);
    } else {
      if (++n_failures >= MAX_FAILURES || c.prox >= 1) break;
      failed_prox = c.prox;
      c.prox = larger_of(growth * c.prox, first_share * residual);
      c.prox = smaller_of(c.prox, 1);
      solve_work_take(work, c.space.anchor);
      active_set_of_guess(work);
    }
  }
  solve_work_restore_best(work);
  return false;
}

bool continuation_by_pivots(solve_work *work) {
  enum { MAX_STAGES = 40, MAX_FAILURES = 4 };
  const double first_prox = 1e-2;   // leaves the point where a path got stuck
  const double many_changes = 2e-3; // Newton's method for a prox above it
  const double shrink = 0.1, growth = 10;
  const double least_prox =
      1e-12; // below it none: rounding of the diagonal's sums
  const box_problem *box = &work->box;
  size_t bytes = sizeof(double) * (size_t)box->n_rows;
  continuation c = {.space = *work->continuation,
                    .work = work,
                    .box = box,
                    .prox = first_prox,
                    .factored_prox = -1,
                    .most_changes = box->n_rows};
  double failed_prox = 0;
  int n_failures = 0;
  memcpy(c.space.anchor, work->p, bytes);
  active_set_of_guess(work);
  for (int k = 0; k < MAX_STAGES && n_failures < MAX_FAILURES; k++) {
    bool by_newton = c.prox > many_changes && box->n_compliances == 0;
    if (!(by_newton && run_stage(&c, INFINITY)) && !pivot_stage(&c)) {
      n_failures++;
      failed_prox = c.prox;
      c.prox = smaller_of(larger_of(growth * c.prox, least_prox), 1);
      continue;
    }
    n_failures = 0;
    solve_work_take(work, work->kept_p);
    if (work->residual <= work->target) return true;
    if (c.prox == 0 || work->best_residual <= work->enough) break;
    memcpy(c.space.anchor, work->kept_p, bytes);
    c.prox = larger_of(shrink * c.prox, sqrt(c.prox * failed_prox));
    if (c.prox < least_prox) c.prox = 0;
  }
  solve_work_restore_best(work);
  return false;
}
