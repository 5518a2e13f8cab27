/* Friction edges that follow the answer: Coulomb's law where a body is guided.
 *
 * A polygon of friction edges is Coulomb's where a vertex opposes the slip. Its first
 * edge lies along the slip of free flight, which is the answer's for a body that slides
 * alone; a wall, a groove or another body turns the slip. So where an answer is not
 * Coulomb's, Coulomb's law is solved from it, and sets are turned to where that answer is
 * the polygons' as well (docs/formulation.md, eq. 9b).
 */
#include <math.h>
#include <string.h>

#include "assembly/workspace.h"
#include "common/vec3.h"
#include "mlcp/mlcp.h"

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
                         const mlcp_solution *solution,
                         const mlcp_friction *set) {
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

static edges_look look_at_all(const mlcp_problem *problem,
                              const mlcp_solution *solution) {
  edges_look all = {.off = 0};
  for (int i = 0; i < problem->n_frictions; i++) {
    const edge_look of = look_at(problem, solution, &problem->frictions[i]);
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

/* --- turns ------------------------------------------------------------------ */

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

/* The rows of an item of the component, NULL of one without edges that can turn. */
static contact_rows *rows_with_edges(assembly *a, int i) {
  const item *item = &a->components.items[i];
  if (item->kind != ITEM_CONTACT || a->contact_row[item->index] < 0)
    return NULL;
  contact_rows *rows = &a->contact_rows[item->index];
  return rows->polygon != NULL && rows->polygon->ellipse[0] > 0 ? rows : NULL;
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
  c->look = look_at_all(problem, &c->solution);
  if (c->look.n_wrong == 0 || !solver_succeeded(solve->status)) return true;

  double *p = c->solution.p, *best;
  mlcp_pair *first, *pairs;
  size_t p_size = (size_t)problem->n_rows * sizeof *best;
  size_t size = (size_t)problem->n_pairs * sizeof *pairs;
  if (!ARENA_TAKE(&a->arena, first, problem->n_pairs) ||
      !ARENA_TAKE(&a->arena, pairs, problem->n_pairs) ||
      !ARENA_TAKE(&a->arena, best, problem->n_rows))
    return false;
  memcpy(first, c->set.pairs, size);
  memcpy(pairs, c->set.pairs, size);
  memcpy(best, p, p_size);

  double before = INFINITY;
  bool best_stands = true;
  solver_options again = *options;
  while (c->look.n_wrong > 0 && lacking(&c->look) <= worth_it * before) {
    bool turned;
    before = lacking(&c->look);
    again.budget = options->budget - solve->work;
    solver_report next = solver_turn_edges(a->solver, problem, &again,
                                           &c->solution, c->set.pairs, &turned);
    if (next.status == SOLVER_NO_MEMORY) return false;
    add_work(solve, &next);
    if (!turned) break;
    best_stands = false;
    bool ended = solver_succeeded(next.status);
    if (!ended) {
      // an answer is there: a better one may cost as much as all before it
      again.budget = fmin(options->budget - solve->work, solve->work);
      again.all_or_nothing = true;
      next = solver_solve(a->solver, problem, &again, p, &c->solution);
      add_work(solve, &next);
      if (!solver_succeeded(next.status)) break;
    }
    edges_look look = look_at_all(problem, &c->solution);
    if (look.n_wrong > 0 && !(lacking(&look) < before)) break;
    c->look = look;
    solve->residual = next.residual;
    solve->status = next.status;
    memcpy(pairs, c->set.pairs, size);
    memcpy(best, p, p_size);
    best_stands = true;
    if (ended) break;
  }
  if (!best_stands) {
    memcpy(c->set.pairs, pairs, size);
    memcpy(p, best, p_size);
    solve->residual =
        mlcp_complete(problem, mlcp_velocity_scale(problem), &c->solution);
  }
  report->edges_left += c->look.n_wrong;
  for (int i = 0; i < problem->n_frictions; i++)
    report->edges_turned += is_turned(&problem->frictions[i], first, pairs);
  for (int i = c->of->first_item; i >= 0; i = a->components.items[i].next) {
    contact_rows *rows = rows_with_edges(a, i);
    if (rows != NULL) rows->guided |= is_turned(rows->polygon, first, pairs);
  }
  return true;
}

/* --- what the next step starts from ------------------------------------------ */

/* The direction that the first edge of a set had better have had. */
static bool best_direction(const component_problem *c, const mlcp_friction *set,
                           const edge_look *of, double to[2]) {
  const double *u = c->set.pairs[set->first_pair].u;
  for (int d = 0; d < 2; d++)
    to[d] =
        (of->slides ? of->slip[d] : u[d] / set->ellipse[d]) / set->ellipse[d];
  double length = hypot(to[0], to[1]);
  for (int d = 0; d < 2 && length > 0; d++) to[d] /= length;
  return length > 0;
}

void component_edges_end(assembly *a, const component_problem *c) {
  ode_mlcp_report *report = &c->out->report;
  report->friction_defect =
      fmax(report->friction_defect, c->look.off / c->problem.velocity_floor);
  report->coulomb_work += c->look.law;
  report->friction_work += c->look.law - c->look.defect;
  for (int i = c->of->first_item; i >= 0; i = a->components.items[i].next) {
    contact_rows *rows = rows_with_edges(a, i);
    if (rows == NULL || !rows->guided) continue;
    const edge_look of = look_at(&c->problem, &c->solution, rows->polygon);
    double to[2];
    if (!best_direction(c, rows->polygon, &of, to)) continue;
    for (int d = 0; d < 3; d++)
      rows->slip[d] =
          to[0] * rows->sliding_axis[0][d] + to[1] * rows->sliding_axis[1][d];
  }
}
