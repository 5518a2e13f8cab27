/* Mixed problems by the thousand and by their oddities, by the stages and by
 * Lemke's method: solved and verified, or ended with a status. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mlcp/mlcp.h"
#include "problems.h"
#include "solver/solver.h"
#include "testing.h"

static const solver_kind kinds[] = {SOLVER_FAST, SOLVER_LEMKE};
static solver_workspace *workspace;

static solver_report solve(const mlcp_problem *problem, solver_kind kind,
                           double *residual) {
  solver_options options;
  solver_default_options(&options);
  options.kind = kind;
  test_solution answer;
  solution_init(&answer, problem);
  solver_report report =
      solver_solve(workspace, problem, &options, NULL, &answer.mlcp);
  double *scratch = calloc(6 * (size_t)problem->n_bodies + 1, sizeof *scratch);
  *residual = mlcp_residual(problem, &answer.mlcp, scratch);
  free(scratch);
  solution_release(&answer);
  return report;
}

static void expect_solved(test_problem *problem, const char *what, int trial) {
  for (int k = 0; k < 2; k++) {
    char message[200];
    double residual;
    CU_ASSERT(mlcp_check(&problem->mlcp, message, sizeof message));
    solver_report report = solve(&problem->mlcp, kinds[k], &residual);
    bool kept = report.status == SOLVER_SOLVED && residual <= 1e-10;
    if (!kept)
      printf("\n  %s %d, %s: residual %g\n", what, trial,
             k == 0 ? "fast" : "lemke", residual);
    CU_ASSERT(kept);
    CU_ASSERT_EQUAL(report.residual, residual);
  }
}

static void random_normal(test_random *random, double normal[3]) {
  double length = 0;
  for (int i = 0; i < 2; i++) normal[i] = test_uniform(random, -0.3, 0.3);
  normal[2] = 1;
  for (int i = 0; i < 3; i++) length += normal[i] * normal[i];
  for (int i = 0; i < 3; i++) normal[i] /= sqrt(length);
}

/* One to three boxes, each on up to four contacts with the ground or the box
 * before; sometimes a joint, sometimes a motor with limits. All forces within
 * the friction cones (23 + 39 degrees) go upwards, so that the cone is pointed
 * and there is a solution; with a joint nothing has to come apart. */
static void make_small(test_problem *problem, test_random *random) {
  problem_init(problem);
  int n = 1 + (int)test_uniform(random, 0, 3);
  for (int b = 0; b < n; b++) {
    double mass = pow(10, test_uniform(random, -1, 2));
    int box = problem_add_box(problem, mass, 0, 0, 0.5 + b, 0.5, 0.5, 0.5);
    for (int k = 0; k < 6; k++)
      problem->bodies[box].v_free[k] += test_uniform(random, -1, 1);
    int n_contacts = (int)test_uniform(random, 0, 5);
    bool joined = b > 0 && test_uniform(random, 0, 1) < 0.2;
    for (int c = 0; c < n_contacts; c++) {
      double normal[3], point[3] = {test_uniform(random, -0.5, 0.5),
                                    test_uniform(random, -0.5, 0.5), b};
      random_normal(random, normal);
      problem_add_turned_contact(problem, box, box - 1, point, normal,
                                 test_uniform(random, joined ? 0 : -1e-3, 1e-2),
                                 test_uniform(random, 0, 0.8),
                                 2 + 2 * (int)test_uniform(random, 0, 4),
                                 test_uniform(random, 0, 6));
    }
    if (joined) {
      const double joint[3] = {0.5, 0, b};
      problem_add_ball(problem, box, box - 1, joint, 0);
    }
    if (test_uniform(random, 0, 1) < 0.3) {
      const double along[6] = {1, 0, 0, 0, 0, 0}, none[6] = {0};
      double force = test_uniform(random, 0, 2 * mass);
      problem_add_row(problem, box, -1, along, none,
                      test_uniform(random, -1, 1), -force, force);
    }
  }
}

static void test_small_ones_by_the_thousand(void) {
  test_random random = {20};
  for (int trial = 0; trial < 2000; trial++) {
    test_problem problem;
    make_small(&problem, &random);
    expect_solved(&problem, "small", trial);
    problem_release(&problem);
  }
}

/* `box` stands on `below` with corners, edge middles and, where `twice`, every
 * point given again. */
static void add_wide_face(test_problem *problem, int box, int below, double z,
                          double mu, bool twice) {
  static const double up[3] = {0, 0, 1};
  for (int copy = 0; copy <= twice; copy++)
    for (int x = -1; x <= 1; x++)
      for (int y = -1; y <= 1; y++) {
        const double point[3] = {0.5 * x, 0.5 * y, z};
        if (x != 0 || y != 0)
          problem_add_contact(problem, box, below, point, up, 0, mu, 4);
      }
}

static void test_eight_points_a_face(void) {
  static const double coefficients[] = {0, 0.5, 1e3};
  for (size_t m = 0; m < 3; m++)
    for (int twice = 0; twice < 2; twice++)
      for (int n = 1; n <= 6; n++) {
        test_problem problem;
        problem_init(&problem);
        for (int b = 0; b < n; b++) {
          problem_add_box(&problem, 1 + b % 2, 0, 0, b + 0.5, 0.5, 0.5, 0.5);
          add_wide_face(&problem, b, b - 1, b, coefficients[m], twice);
        }
        problem.bodies[n - 1].v_free[0] = 0.3; // pushed
        expect_solved(&problem, "eight points", n);
        problem_release(&problem);
      }
}

static void test_coincident_contacts(void) {
  for (int n = 1; n <= 32; n *= 2)
    for (int mu = 0; mu < 3; mu++) {
      test_problem problem;
      problem_make_coincident(&problem, n, mu, 4);
      problem.bodies[0].v_free[1] = -0.2;
      expect_solved(&problem, "coincident", n);
      problem_release(&problem);
    }
}

static void test_friction_of_any_size(void) {
  static const double coefficients[] = {0, 1e-12, 1e-3, 1, 1e3, 1e6};
  for (size_t m = 0; m < sizeof coefficients / sizeof *coefficients; m++) {
    test_problem problem;
    problem_make_stack(&problem, 5, 1, coefficients[m], 4);
    problem.bodies[2].v_free[0] = 0.5;
    expect_solved(&problem, "stack, friction", (int)m);
    problem_release(&problem);
    problem_make_wall(&problem, 3, coefficients[m], 4);
    problem.bodies[5].v_free[1] = 0.5;
    expect_solved(&problem, "wall, friction", (int)m);
    problem_release(&problem);
  }
}

/* Rows that no velocity moves, rows without bodies, rows given twice. */
static void test_rows_of_zeros(void) {
  static const double none[6] = {0}, up[6] = {0, 0, 1, 0, 0, 0};
  test_problem problem;
  problem_make_stack(&problem, 2, 1, 0.5, 4);
  problem_add_row(&problem, 0, -1, none, none, 0, -INFINITY, INFINITY);
  problem_add_row(&problem, -1, -1, none, none, 0, 0, INFINITY);
  problem_add_row(&problem, 1, 0, none, none, 0.1, 0, INFINITY);
  problem_add_row(&problem, 1, -1, up, none, 0, 0, INFINITY);
  problem_add_row(&problem, 1, -1, up, none, 0, 0, INFINITY);
  problem_add_row(&problem, 1, -1, up, none, 0, 0, 0);
  expect_solved(&problem, "rows of zeros", 0);
  problem_release(&problem);
}

static void test_none_one_and_two_rows(void) {
  static const double none[6] = {0}, up[6] = {0, 0, 1, 0, 0, 0};
  for (int n_rows = 0; n_rows <= 2; n_rows++)
    for (int n_bodies = 0; n_bodies <= 2; n_bodies++) {
      test_problem problem;
      problem_init(&problem);
      for (int b = 0; b < n_bodies; b++)
        problem_add_box(&problem, 1, 0, 0, b, 0.5, 0.5, 0.5);
      for (int r = 0; r < n_rows && n_bodies > 0; r++)
        problem_add_row(&problem, r % n_bodies, -1, up, none, 0, 0, INFINITY);
      problem.mlcp.velocity_floor = 0.0981;
      expect_solved(&problem, "smallest", 10 * n_rows + n_bodies);
      problem_release(&problem);
    }
}

/* What cannot be: two rows that ask for different velocities, a row of zeros
 * that asks for one, a weight that is held by too little (which can). */
static void test_contradictions_end(void) {
  static const double none[6] = {0}, along[6] = {1, 0, 0, 0, 0, 0};
  for (int k = 0; k < 2; k++)
    for (int kind = 0; kind < 3; kind++) {
      test_problem problem;
      double residual;
      problem_make_stack(&problem, 1, 1, 0.5, 4);
      const double *J = kind == 1 ? none : along;
      problem_add_row(&problem, 0, -1, J, none, -1, -INFINITY, INFINITY);
      if (kind == 0)
        problem_add_row(&problem, 0, -1, J, none, 1, -INFINITY, INFINITY);
      if (kind == 2) problem_add_row(&problem, 0, -1, J, none, 1, -0.1, 0.1);
      solver_report report = solve(&problem.mlcp, kinds[k], &residual);
      CU_ASSERT_EQUAL(report.status,
                      kind == 2 ? SOLVER_SOLVED : SOLVER_DEGRADED);
      CU_ASSERT_EQUAL(report.residual, residual);
      CU_ASSERT(isfinite(residual));
      CU_ASSERT(kind == 2 ? residual <= 1e-10 : residual > 1e-3);
      problem_release(&problem);
    }
}

int main(void) {
  workspace = solver_workspace_create(&memory_from_malloc);
  if (workspace == NULL) return 1;
  const CU_TestInfo tests[] = {
      {"small ones by the thousand", test_small_ones_by_the_thousand},
      {"eight points a face", test_eight_points_a_face},
      {"coincident contacts", test_coincident_contacts},
      {"friction of any size", test_friction_of_any_size},
      {"rows of zeros", test_rows_of_zeros},
      {"none, one and two rows", test_none_one_and_two_rows},
      {"contradictions end", test_contradictions_end},
      CU_TEST_INFO_NULL};
  int failed = run_tests("solver: families of mixed problems", tests);
  solver_workspace_destroy(workspace);
  return failed;
}
