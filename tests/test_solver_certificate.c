/* Mixed LCPs without a solution are proved to have none; those with one never
 * are, however nearly their rows contradict each other. */
#include <math.h>
#include <string.h>

#include "problems.h"
#include "solver/solver.h"
#include "solver/solver_certificate.h"
#include "testing.h"

enum { most_bodies = 6, most_rows = 40 };

static solver_workspace *workspace;

/* A random problem: rows between random bodies that the velocities v meet. */
typedef struct random_problem {
  mlcp_body bodies[most_bodies];
  mlcp_row rows[most_rows];
  double v[6 * most_bodies];
  mlcp_problem mlcp;
} random_problem;

static test_random numbers;

static double uniform(double low, double high) {
  return test_uniform(&numbers, low, high);
}

static int integer(int count) { return (int)uniform(0, count); }

static void add_body(random_problem *p, double speed) {
  mlcp_body *body = &p->bodies[p->mlcp.n_bodies];
  double mass = pow(10, uniform(-3, 3));
  memset(body, 0, sizeof *body);
  for (int i = 0; i < 6; i++) {
    double inertia = i < 3 ? mass : mass * uniform(0.05, 0.5);
    body->mass[7 * i] = inertia;
    body->inverse_mass[7 * i] = 1 / inertia;
    body->v_free[i] = speed * uniform(-1, 1);
    p->v[6 * p->mlcp.n_bodies + i] = speed * uniform(-1, 1);
  }
  p->mlcp.n_bodies++;
}

static double rate(const random_problem *p, const mlcp_row *row) {
  double sum = 0;
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < 6 && row->body[side] >= 0; i++)
      sum += row->J[side][i] * p->v[6 * row->body[side] + i];
  return sum;
}

typedef enum row_type { FREE, AT_LEAST, AT_MOST, LIMITED, SOFT } row_type;

/* The row that v meets by `slack` (0: exactly). */
static void set_demand(random_problem *p, mlcp_row *row, row_type type,
                       double slack) {
  row->kind = MLCP_ROW_JOINT;
  row->low = type == FREE || type == AT_MOST || type == SOFT ? -INFINITY : 0;
  row->high = type == AT_MOST ? 0 : INFINITY;
  row->compliance = type == SOFT ? uniform(1e-6, 1) : 0;
  if (type == LIMITED) row->high = uniform(0, 1);
  row->bias = -rate(p, row);
  if (type == AT_LEAST) row->bias += slack;
  if (type == AT_MOST) row->bias -= slack;
}

static mlcp_row *add_row(random_problem *p) {
  mlcp_row *row = &p->rows[p->mlcp.n_rows++];
  memset(row, 0, sizeof *row);
  row->body[0] = integer(p->mlcp.n_bodies);
  row->body[1] = integer(p->mlcp.n_bodies + 1) - 1;
  if (row->body[1] == row->body[0]) row->body[1] = -1;
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < 6 && row->body[side] >= 0; i++)
      row->J[side][i] = uniform(-1, 1);
  return row;
}

/* Opposed rows of one gap, and copies of free ones: all that redundant joints and
 * contacts have, and met with nothing to spare. */
static void add_mirror(random_problem *p, const mlcp_row *of) {
  mlcp_row *row = &p->rows[p->mlcp.n_rows++];
  double factor = of->low == 0 ? -uniform(0.5, 2) : uniform(0.5, 2);
  *row = *of;
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < 6; i++) row->J[side][i] *= factor;
  set_demand(p, row, of->low == 0 ? AT_LEAST : FREE, 0);
}

static void fill(random_problem *p) {
  double speed = pow(10, uniform(-4, 4));
  memset(p, 0, sizeof *p);
  int n_bodies = 1 + integer(most_bodies), n_rows = 2 + integer(24);
  for (int b = 0; b < n_bodies; b++) add_body(p, speed);
  for (int r = 0; r < n_rows; r++) {
    row_type type = (row_type)integer(5);
    mlcp_row *row = add_row(p);
    double slack = integer(2) * speed * uniform(0, 1);
    set_demand(p, row, type, slack);
    if (slack == 0 && type < AT_MOST && integer(3) == 0) add_mirror(p, row);
  }
  p->mlcp.bodies = p->bodies;
  p->mlcp.rows = p->rows;
  p->mlcp.velocity_floor = 0.0981;
}

/* Makes it contradict itself: a row that is minus the sum of others on the same
 * bodies, and asks for more than they leave. @return false where no row can. */
static bool contradict(random_problem *p) {
  const mlcp_row *first = NULL;
  mlcp_row sum;
  memset(&sum, 0, sizeof sum);
  double size = 0;
  for (int r = 0; r < p->mlcp.n_rows; r++) {
    const mlcp_row *row = &p->rows[r];
    if (row->compliance > 0 || row->high < INFINITY) continue;
    if (first == NULL) first = row;
    if (row->body[0] != first->body[0] || row->body[1] != first->body[1])
      continue;
    double weight = uniform(0.5, 2);
    for (int side = 0; side < 2; side++)
      for (int i = 0; i < 6; i++) sum.J[side][i] -= weight * row->J[side][i];
    sum.bias -= weight * row->bias;
    size += weight * (fabs(row->bias) + fabs(rate(p, row)));
  }
  if (first == NULL) return false;
  sum.body[0] = first->body[0];
  sum.body[1] = first->body[1];
  sum.kind = MLCP_ROW_JOINT;
  sum.high = INFINITY;
  sum.bias -= size * pow(10, uniform(-2, 0));
  p->rows[p->mlcp.n_rows++] = sum;
  return true;
}

/* By hand: what the weights prove, or 0. */
static double proved_speed(const mlcp_problem *problem, const double y[]) {
  double balance[6 * most_bodies] = {0}, demand = 0, left = 0;
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    if (y[r] == 0) continue;
    if (row->compliance > 0 || row->kind == MLCP_ROW_FRICTION) return 0;
    if (y[r] < 0 && row->low > -INFINITY) return 0;
    if (y[r] > 0 && row->high < INFINITY) return 0;
    demand += y[r] * row->bias;
    for (int side = 0; side < 2; side++)
      for (int i = 0; i < 6 && row->body[side] >= 0; i++)
        balance[6 * row->body[side] + i] += y[r] * row->J[side][i];
  }
  for (int i = 0; i < 6 * problem->n_bodies; i++) left += fabs(balance[i]);
  return demand < 0 ? -demand / fmax(left, 1e-300) : 0;
}

static solver_report solve(const mlcp_problem *problem, solver_kind kind) {
  test_solution answer;
  solver_options options;
  solver_default_options(&options);
  options.kind = kind;
  options.budget = 300;
  solution_init(&answer, problem);
  solver_report report =
      solver_solve(workspace, problem, &options, NULL, &answer.mlcp);
  solution_release(&answer);
  return report;
}

/* The search of the solver, also of what it would not search. */
static bool finds_proof(const mlcp_problem *problem) {
  arena memory = {.source = &memory_from_malloc};
  test_solution answer;
  solver_options options;
  solver_default_options(&options);
  solution_init(&answer, problem);
  double last[most_rows] = {0}, y[most_rows];
  bool found = false;
  for (int step = 0; step < 4 && !found; step++) {
    solver_variant variant;
    double speed;
    arena_start(&memory);
    CU_ASSERT_FATAL(solver_certificate_relax(&variant, &memory, problem, last));
    solver_solve(workspace, &variant.mlcp, &options, last, &answer.mlcp);
    for (int r = 0; r < problem->n_rows; r++) {
      y[r] = answer.mlcp.p[r] - last[r];
      last[r] = answer.mlcp.p[r];
    }
    CU_ASSERT_FATAL(
        solver_certificate_check(problem, y, &memory, &speed, &found));
  }
  solution_release(&answer);
  arena_release(&memory);
  return found;
}

static void test_feasible_is_never_infeasible(void) {
  static random_problem p;
  numbers.state = 1;
  for (int trial = 0; trial < 1000; trial++) {
    fill(&p);
    char message[100];
    CU_ASSERT_FATAL(mlcp_check(&p.mlcp, message, sizeof message));
    CU_ASSERT_FALSE(finds_proof(&p.mlcp));
    if (trial % 5 > 0) continue;
    solver_report report = solve(&p.mlcp, SOLVER_FAST);
    CU_ASSERT_FALSE(report.infeasible);
    CU_ASSERT_PTR_NULL(report.contradiction);
  }
}

static void test_contradictions_are_proved(void) {
  static random_problem p;
  numbers.state = 2;
  int n_tried = 0, n_found = 0;
  for (int trial = 0; trial < 150; trial++) {
    fill(&p);
    if (!contradict(&p)) continue;
    solver_report report =
        solve(&p.mlcp, trial % 10 > 0 ? SOLVER_FAST : SOLVER_LEMKE);
    n_tried++;
    n_found += report.infeasible;
    CU_ASSERT_EQUAL(report.status, SOLVER_DEGRADED);
    if (!report.infeasible) continue;
    CU_ASSERT_FATAL(report.contradiction != NULL);
    double scale = mlcp_velocity_scale(&p.mlcp);
    CU_ASSERT(proved_speed(&p.mlcp, report.contradiction) > 1e5 * scale);
    CU_ASSERT(report.contradiction[p.mlcp.n_rows - 1] != 0);
  }
  CU_ASSERT(n_tried > 100);
  CU_ASSERT_EQUAL(n_found, n_tried);
}

/* Rows that give way, or have limits, always have a solution. */
static void test_what_gives_way_is_not_infeasible(void) {
  static random_problem p;
  numbers.state = 3;
  for (int trial = 0; trial < 40; trial++) {
    fill(&p);
    if (!contradict(&p)) continue;
    for (int r = 0; r < p.mlcp.n_rows; r++)
      if (trial % 2)
        p.rows[r].compliance = 1e-3;
      else
        p.rows[r].low = p.rows[r].high = 0;
    CU_ASSERT_FALSE(solver_certificate_is_possible(&p.mlcp));
    CU_ASSERT_FALSE(solve(&p.mlcp, SOLVER_FAST).infeasible);
  }
}

/* The check alone: a wrong proof is none. */
static void test_wrong_proofs(void) {
  static random_problem p;
  memset(&p, 0, sizeof p);
  numbers.state = 4;
  add_body(&p, 1);
  p.mlcp.bodies = p.bodies;
  p.mlcp.rows = p.rows;
  p.mlcp.n_rows = 2;
  p.mlcp.velocity_floor = 0.1;
  for (int r = 0; r < 2; r++)
    p.rows[r] = (mlcp_row){.kind = MLCP_ROW_JOINT,
                           .body = {0, -1},
                           .J = {{r == 0 ? 1 : -1}},
                           .bias = -1,
                           .high = INFINITY};
  arena memory = {.source = &memory_from_malloc};
  struct {
    double y[2];
    bool proof;
  } cases[] = {{{1, 1}, true},  {{1e-9, 1e-9}, true},  {{1, 1.0001}, true},
               {{1, 0}, false}, {{-1, -1}, false},     {{0, 0}, false},
               {{1, 3}, true},  {{1, INFINITY}, false}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    double speed, y[2] = {cases[k].y[0], cases[k].y[1]};
    bool proof;
    arena_start(&memory);
    CU_ASSERT(solver_certificate_check(&p.mlcp, y, &memory, &speed, &proof));
    CU_ASSERT_EQUAL(proof, cases[k].proof);
    // the largest weight is 1 in impulses times A_ii, whatever it was
    double A = mlcp_row_diagonal(&p.mlcp, 0);
    if (proof) CU_ASSERT_DOUBLE_EQUAL(fmax(y[0], y[1]) * A, 1, 1e-3);
  }
  // they part by what they ask for: no contradiction
  p.rows[1].bias = 1;
  double speed, y[2] = {1, 1};
  bool proof;
  arena_start(&memory);
  CU_ASSERT(solver_certificate_check(&p.mlcp, y, &memory, &speed, &proof));
  CU_ASSERT_FALSE(proof);
  arena_release(&memory);
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"feasible is never infeasible", test_feasible_is_never_infeasible},
      {"contradictions are proved", test_contradictions_are_proved},
      {"what gives way is not infeasible",
       test_what_gives_way_is_not_infeasible},
      {"wrong proofs", test_wrong_proofs},
      CU_TEST_INFO_NULL};
  workspace = solver_workspace_create(&memory_from_malloc);
  if (workspace == NULL) return 1;
  int failed = run_tests("solver: certificates", tests);
  solver_workspace_destroy(workspace);
  return failed;
}
