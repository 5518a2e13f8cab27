#include "assembly/component_edges.h"

#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "mlcp/mlcp_rows.h"

/* Slips of less than this part of g h have no direction: blocks of soft contacts settle
 * by up to 2e-4. */
static const double SLOW = 3e-4;
/* A set is wrong that is off by this part of g h: a millionth of a radian where a body
 * slides with mu 1. */
static const double WRONG = 1e-6;

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
  if (speed <= WRONG * problem->velocity_floor) return of; // nor off by more
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
  of.wrong = of.slides && of.off > WRONG * problem->velocity_floor;
  return of;
}

/* What all sets of an answer come to. */
typedef struct edges_look {
  double law, defect; /* J: sums of limit |slip| and of the defects */
  double off;         /* m/s: the largest */
  int n_wrong;
} edges_look;

static edges_look look_at_all(const mlcp_problem *problem,
                              const mlcp_solution *solution) {
  edges_look all = {.off = 0};
  for (int i = 0; i < problem->n_frictions; i++) {
    const edge_look of = look_at(problem, solution, i);
    all.off = fmax(all.off, of.off);
    if (!of.slides) continue;
    all.law += of.limit * hypot(of.slip[0], of.slip[1]);
    all.defect += of.defect;
    all.n_wrong += of.wrong;
  }
  return all;
}

/* The share of Coulomb's power that friction lacks. */
static double lacking(const edges_look *all) {
  return all->law > 0 ? all->defect / all->law : 0;
}

static double angle_of(const component_problem *c, int i) {
  const mlcp_friction *set = &c->problem.frictions[i];
  const double *u = c->set.pairs[set->first_pair].u;
  return atan2(u[1] / set->ellipse[1], u[0] / set->ellipse[0]);
}

/* --- turns ------------------------------------------------------------------ */

static void copy_solution(const mlcp_problem *problem, const mlcp_solution *to,
                          const mlcp_solution *from) {
  memcpy(to->v, from->v, 6 * (size_t)problem->n_bodies * sizeof *to->v);
  memcpy(to->p, from->p, (size_t)problem->n_rows * sizeof *to->p);
  memcpy(to->beta, from->beta, 2 * (size_t)problem->n_pairs * sizeof *to->beta);
  memcpy(to->lambda, from->lambda,
         (size_t)problem->n_frictions * sizeof *to->lambda);
}

/* True if a set of four edges lies differently in two lists of pairs. */
static bool is_turned(const mlcp_friction *set, const mlcp_pair a[],
                      const mlcp_pair b[]) {
  if (!(set->ellipse[0] > 0)) return false;
  const double *u = a[set->first_pair].u, *v = b[set->first_pair].u;
  double x = u[0] / set->ellipse[0], y = u[1] / set->ellipse[1];
  double to_x = v[0] / set->ellipse[0], to_y = v[1] / set->ellipse[1];
  double along = x * to_x + y * to_y, across = x * to_y - y * to_x;
  return fmin(fabs(along), fabs(across)) > WRONG;
}

static void add_work(solver_report *sum, const solver_report *more) {
  sum->factorisations += more->factorisations;
  sum->pivots += more->pivots;
  sum->iterations += more->iterations;
  sum->work += more->work;
}

bool component_edges_follow(assembly *a, component_problem *c,
                            const solver_options *options,
                            solver_report *solve) {
  const double worth_it = 0.5; // of what was lacking before
  const mlcp_problem *problem = &c->problem;
  ode_mlcp_report *report = &c->out->report;
  edges_look look = look_at_all(problem, &c->solution);
  if (look.n_wrong == 0) return true;

  size_t n = (size_t)problem->n_frictions, n_rows = (size_t)problem->n_rows;
  size_t size = (size_t)problem->n_pairs * sizeof(mlcp_pair);
  mlcp_pair *first, *pairs;
  mlcp_solution best;
  double *guess;
  if (!ARENA_TAKE(&a->arena, first, problem->n_pairs) ||
      !ARENA_TAKE(&a->arena, pairs, problem->n_pairs) ||
      !ARENA_TAKE(&a->arena, guess, n_rows) ||
      !ARENA_TAKE(&a->arena, best.v, 6 * problem->n_bodies) ||
      !ARENA_TAKE(&a->arena, best.p, n_rows) ||
      !ARENA_TAKE(&a->arena, best.beta, 2 * problem->n_pairs) ||
      !ARENA_TAKE(&a->arena, best.lambda, n))
    return false;
  if (c->turned == NULL) {
    if (!ARENA_TAKE(&a->arena, c->turned, n)) return false;
    memset(c->turned, 0, n * sizeof *c->turned);
  }
  memcpy(first, c->set.pairs, size);
  memcpy(pairs, c->set.pairs, size);
  copy_solution(problem, &best, &c->solution);

  double least = lacking(&look), before = INFINITY;
  int left = look.n_wrong;
  solver_options again = *options;
  while (left > 0 && least <= worth_it * before) {
    bool turned;
    before = least;
    again.budget = options->budget - solve->work;
    solver_report next = solver_turn_edges(a->solver, problem, &again,
                                           &c->solution, c->set.pairs, &turned);
    if (next.status == SOLVER_NO_MEMORY) return false;
    add_work(solve, &next);
    if (!turned) break;
    bool ended = solver_succeeded(next.status);
    if (!ended) {
      memcpy(guess, c->solution.p, n_rows * sizeof *guess);
      // an answer is there: a better one may cost as much as all before it
      again.budget = fmin(options->budget - solve->work, solve->work);
      again.all_or_nothing = true;
      next = solver_solve(a->solver, problem, &again, guess, &c->solution);
      add_work(solve, &next);
      if (!solver_succeeded(next.status)) break;
    }
    look = look_at_all(problem, &c->solution);
    if (look.n_wrong > 0 && !(lacking(&look) < least)) break;
    least = lacking(&look);
    left = look.n_wrong;
    solve->residual = next.residual;
    solve->status = next.status;
    memcpy(pairs, c->set.pairs, size);
    copy_solution(problem, &best, &c->solution);
    if (ended) break;
  }
  memcpy(c->set.pairs, pairs, size);
  copy_solution(problem, &c->solution, &best);
  report->edges_left += left;
  for (int i = 0; i < problem->n_frictions; i++) {
    bool turned = is_turned(&problem->frictions[i], first, pairs);
    report->edges_turned += turned;
    c->turned[i] |= turned;
  }
  return true;
}

void component_edges_measure(const component_problem *c) {
  ode_mlcp_report *report = &c->out->report;
  edges_look all = look_at_all(&c->problem, &c->solution);
  report->friction_defect =
      fmax(report->friction_defect, all.off / c->problem.velocity_floor);
  report->coulomb_work += all.law;
  report->friction_work += all.law - all.defect;
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
  for (int d = 0; d < 2; d++)
    free[d] =
        mlcp_row_free_slip(&c->problem, &c->problem.rows[set->first_row + d]);
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
