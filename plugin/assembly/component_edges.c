#include "assembly/component_edges.h"

#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "mlcp/mlcp_rows.h"

/* Slips of less than this part of g h have no direction. */
static const double SLOW = 1e-3;
/* rad: a vertex this near the slip opposes it. */
static const double OPPOSES = 1e-4;

/* The answer of a friction set, in coordinates in which its ellipse is a circle. */
typedef struct edge_look {
  double force[2]; /* N s */
  double slip[2];  /* m/s */
  double limit;    /* N s, mu p_n */
  double mobility; /* 1/kg: mean diagonal of its two rows */
  double defect;   /* J: limit |slip| + force.slip, 0 by Coulomb's law */
  double off;      /* m/s: |f - P(f - w / a)| a, the residual on the cone */
  bool slides, wrong;
} edge_look;

static edge_look look_at(const mlcp_problem *problem,
                         const mlcp_solution *solution, int i) {
  const mlcp_friction *set = &problem->frictions[i];
  const double slow = SLOW * problem->velocity_floor;
  edge_look of = {.limit = 0};
  if (!(set->ellipse[0] > 0)) return of;
  of.limit = set->limit;
  if (set->normal >= 0) of.limit += set->coefficient * solution->p[set->normal];
  if (!(of.limit > 0)) return of;
  double diagonal = 0;
  for (int d = 0; d < 2; d++) {
    int row = set->first_row + d;
    of.force[d] = solution->p[row] / set->ellipse[d];
    of.slip[d] = mlcp_row_slip(problem, solution, row) * set->ellipse[d];
  }
  double speed = hypot(of.slip[0], of.slip[1]);
  of.slides = speed > slow;
  if (!of.slides) return of;
  for (int d = 0; d < 2; d++)
    diagonal += 0.5 * mlcp_row_diagonal(problem, set->first_row + d) *
                set->ellipse[d] * set->ellipse[d];
  of.mobility = mlcp_scale_of(diagonal);
  of.defect =
      of.limit * speed + of.force[0] * of.slip[0] + of.force[1] * of.slip[1];
  double to[2], left[2];
  for (int d = 0; d < 2; d++) to[d] = of.force[d] - of.slip[d] / of.mobility;
  double length = hypot(to[0], to[1]);
  double share = length > of.limit ? of.limit / length : 1;
  for (int d = 0; d < 2; d++) left[d] = of.force[d] - share * to[d];
  of.off = hypot(left[0], left[1]) * of.mobility;
  /* 1 - cos of the angle, or what the force falls short by */
  of.wrong = of.defect > 0.5 * OPPOSES * OPPOSES * of.limit * speed &&
             of.off > OPPOSES * slow;
  return of;
}

/* The share of Coulomb's power that friction lacks; *n_wrong sets lack it. */
static double lacking(const mlcp_problem *problem,
                      const mlcp_solution *solution, int *n_wrong) {
  double power = 0, defect = 0;
  *n_wrong = 0;
  for (int i = 0; i < problem->n_frictions; i++) {
    const edge_look of = look_at(problem, solution, i);
    if (!of.slides) continue;
    power += of.limit * hypot(of.slip[0], of.slip[1]);
    defect += of.defect;
    *n_wrong += of.wrong;
  }
  return power > 0 ? defect / power : 0;
}

/* --- turns ------------------------------------------------------------------ */

/* What is known of a set from its turns. */
typedef struct edge_turn {
  int times;
  double aim;  /* rad: of the last look, how far the target was off, */
  double made; /* and the turn that was made then */
} edge_turn;

static double angle_of(const component_problem *c, int i) {
  const mlcp_friction *set = &c->problem.frictions[i];
  const double *u = c->set.pairs[set->first_pair].u;
  return atan2(u[1] / set->ellipse[1], u[0] / set->ellipse[0]);
}

static void turn_to(component_problem *c, int i, double angle) {
  const mlcp_friction *set = &c->problem.frictions[i];
  for (int k = 0; k < set->n_pairs; k++) {
    double at = angle + M_PI * k / set->n_pairs;
    double *u = c->set.pairs[set->first_pair + k].u;
    u[0] = set->ellipse[0] * cos(at);
    u[1] = set->ellipse[1] * sin(at);
  }
}

/* The nearest of the angles that differ by whole periods. */
static double wrap(double angle, double period) {
  return angle - period * floor(angle / period + 0.5);
}

/* A secant step towards where the target is the angle itself: at most four times as
 * far as the target is, at least a fifth of it. */
static double secant(const edge_turn *turn, double aim) {
  const double FAR = 4, NEAR = 0.2;
  if (turn->times < 2) return aim;
  double slope = (aim - turn->aim) / turn->made; /* -1: one step would do */
  if (slope > NEAR) return aim;
  return aim * fmax(slope < -1 / FAR ? -1 / slope : FAR, NEAR);
}

/* Turn set i, and start it at the vertex against its slip.
 * @return false where it lies as it should. */
static bool turn_set(component_problem *c, int i, edge_turn *turn) {
  const double NONE = 1e-9; /* rad */
  const mlcp_friction *set = &c->problem.frictions[i];
  const edge_look of = look_at(&c->problem, &c->solution, i);
  if (!of.wrong) return false;
  /* by its slip first: the force across a guide is any. Then by the projection's
   * argument, whose fixed point is the cone's: slips swing about a target that sticks */
  double to[2];
  for (int d = 0; d < 2; d++)
    to[d] =
        turn->times == 0 ? of.slip[d] : of.slip[d] / of.mobility - of.force[d];
  double period = M_PI / set->n_pairs, now = angle_of(c, i);
  double target = atan2(to[1], to[0]), aim = wrap(target - now, period);
  double step = secant(turn, aim);
  step = fmax(fmin(step, period / 2), -period / 2);
  if (fabs(step) < NONE) return false;
  *turn = (edge_turn){turn->times + 1, aim, step};
  turn_to(c, i, now + step);
  double vertex = target - wrap(target - (now + step), period);
  c->solution.p[set->first_row] = -of.limit * set->ellipse[0] * cos(vertex);
  c->solution.p[set->first_row + 1] = -of.limit * set->ellipse[1] * sin(vertex);
  return true;
}

static void copy_solution(const mlcp_problem *problem, const mlcp_solution *to,
                          const mlcp_solution *from) {
  memcpy(to->v, from->v, 6 * (size_t)problem->n_bodies * sizeof *to->v);
  memcpy(to->p, from->p, (size_t)problem->n_rows * sizeof *to->p);
  memcpy(to->beta, from->beta, 2 * (size_t)problem->n_pairs * sizeof *to->beta);
  memcpy(to->lambda, from->lambda,
         (size_t)problem->n_frictions * sizeof *to->lambda);
}

bool component_edges_follow(assembly *a, component_problem *c,
                            const solver_options *options,
                            solver_report *solve) {
  enum { ROUNDS = 8, FEW = 4 };
  const mlcp_problem *problem = &c->problem;
  ode_mlcp_report *report = &c->out->report;
  int wrong;
  double least = lacking(problem, &c->solution, &wrong);
  if (wrong == 0) return true;

  size_t n = (size_t)problem->n_frictions;
  edge_turn *turns;
  mlcp_pair *pairs;
  mlcp_solution best;
  double *guess;
  if (!ARENA_TAKE(&a->arena, turns, n) ||
      !ARENA_TAKE(&a->arena, pairs, problem->n_pairs) ||
      !ARENA_TAKE(&a->arena, guess, problem->n_rows) ||
      !ARENA_TAKE(&a->arena, best.v, 6 * problem->n_bodies) ||
      !ARENA_TAKE(&a->arena, best.p, problem->n_rows) ||
      !ARENA_TAKE(&a->arena, best.beta, 2 * problem->n_pairs) ||
      !ARENA_TAKE(&a->arena, best.lambda, n))
    return false;
  if (c->turned == NULL) {
    if (!ARENA_TAKE(&a->arena, c->turned, n)) return false;
    memset(c->turned, 0, n * sizeof *c->turned);
  }
  memset(turns, 0, n * sizeof *turns);
  memcpy(pairs, c->set.pairs, (size_t)problem->n_pairs * sizeof *pairs);
  copy_solution(problem, &best, &c->solution);

  /* as much work again as the first solve took, or a few factorisations */
  long first = solve->factorisations;
  int left = wrong;
  solver_options again = *options;
  for (int round = 0;
       round < ROUNDS && wrong > 0 && solve->factorisations <= 2 * first + FEW;
       round++) {
    int turned = 0;
    again.budget = options->budget - solve->work;
    if (!(again.budget > 0)) break;
    for (int i = 0; i < problem->n_frictions; i++)
      turned += turn_set(c, i, &turns[i]);
    if (turned == 0) break;
    report->edges_turned += turned;
    memcpy(guess, c->solution.p, (size_t)problem->n_rows * sizeof *guess);
    solver_report next =
        solver_solve(a->solver, problem, &again, guess, &c->solution);
    solve->factorisations += next.factorisations;
    solve->pivots += next.pivots;
    solve->iterations += next.iterations;
    solve->work += next.work;
    if (!solver_succeeded(next.status)) break;
    double now = lacking(problem, &c->solution, &wrong);
    if (wrong > 0 && !(now < least)) continue;
    least = now;
    left = wrong;
    solve->residual = next.residual;
    solve->status = next.status;
    memcpy(pairs, c->set.pairs, (size_t)problem->n_pairs * sizeof *pairs);
    copy_solution(problem, &best, &c->solution);
  }
  report->edges_left += left;
  for (int i = 0; i < problem->n_frictions; i++)
    c->turned[i] |= turns[i].times > 0;
  memcpy(c->set.pairs, pairs, (size_t)problem->n_pairs * sizeof *pairs);
  copy_solution(problem, &c->solution, &best);
  return true;
}

/* --- what the next step starts from ------------------------------------------ */

/* The direction that the first edge of set i had better have had. */
static bool best_direction(const component_problem *c, int i,
                           const edge_look *of, double to[2]) {
  const double STUCK =
      0.5; /* of the limit: a force that says where it would slip */
  const mlcp_friction *set = &c->problem.frictions[i];
  double force = hypot(of->force[0], of->force[1]), at = angle_of(c, i);
  for (int d = 0; d < 2; d++)
    to[d] = of->slides                  ? of->slip[d]
            : force > STUCK * of->limit ? -of->force[d]
            : d == 0                    ? cos(at)
                                        : sin(at);
  for (int d = 0; d < 2; d++) to[d] /= set->ellipse[d];
  double length = hypot(to[0], to[1]);
  for (int d = 0; d < 2 && length > 0; d++) to[d] /= length;
  return length > 0;
}

/* True if the set slides along what free flight says. */
static bool slides_freely(const component_problem *c, int i,
                          const edge_look *of, const double to[2]) {
  const double ALONG = 2e-4; /* rad */
  const mlcp_friction *set = &c->problem.frictions[i];
  double free[2];
  for (int d = 0; d < 2; d++) {
    const mlcp_row *row = &c->problem.rows[set->first_row + d];
    free[d] = row->bias;
    for (int side = 0; side < 2; side++)
      for (int k = 0; k < 6 && row->body[side] >= 0; k++)
        free[d] +=
            row->J[side][k] * c->problem.bodies[row->body[side]].v_free[k];
  }
  return of->slides && fabs(free[0] * to[1] - free[1] * to[0]) <=
                           ALONG * hypot(free[0], free[1]);
}

void component_edges_remember(assembly *a, const component_problem *c) {
  int i = 0;
  for (int k = c->of->first_item; k >= 0; k = a->components.items[k].next) {
    const item *item = &a->components.items[k];
    if (item->kind != ITEM_CONTACT || a->contact_row[item->index] < 0) continue;
    contact_rows *rows = &a->contact_rows[item->index];
    int sliding = a->contact_row[item->index] - c->first_row + 1;
    if (rows->n_sliding != 2) continue;
    while (i < c->problem.n_frictions &&
           c->problem.frictions[i].first_row < sliding)
      i++;
    if (i == c->problem.n_frictions ||
        c->problem.frictions[i].first_row != sliding ||
        !(c->problem.frictions[i].ellipse[0] > 0))
      continue;
    rows->guided |= c->turned != NULL && c->turned[i];
    if (!rows->guided) continue;
    const edge_look of = look_at(&c->problem, &c->solution, i);
    double to[2];
    if (!best_direction(c, i, &of, to)) continue;
    rows->guided = !slides_freely(c, i, &of, to);
    for (int d = 0; d < 3; d++)
      rows->slip[d] =
          to[0] * rows->sliding_axis[0][d] + to[1] * rows->sliding_axis[1][d];
  }
}
