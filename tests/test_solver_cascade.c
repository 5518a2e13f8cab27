/* Lemke on mixed problems, and the cascade: what is returned is what its
 * residual says, finite and within bounds, whichever stage it comes from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "failing_memory.h"
#include "problems.h"
#include "solver/lemke_mlcp.h"
#include "solver/solver.h"
#include "testing.h"

static solver_workspace *workspace;
static solver_options options;

/* Whatever the status: finite, in bounds, inside the polygons, v by eq. (1),
 * and the residual reported is that of the solution. */
static void expect_sane(const mlcp_problem *problem,
                        const mlcp_solution *solution, double reported) {
  double *scratch = malloc(sizeof(double) * (6 * problem->n_bodies + 1));
  double residual = mlcp_residual(problem, solution, scratch);
  CU_ASSERT(isfinite(residual));
  CU_ASSERT_DOUBLE_EQUAL(residual, reported, 1e-12 * (1 + residual));

  mlcp_velocities(problem, solution->p, scratch);
  for (int i = 0; i < 6 * problem->n_bodies; i++)
    CU_ASSERT_DOUBLE_EQUAL(solution->v[i], scratch[i],
                           1e-12 * (1 + fabs(scratch[i])));
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    if (row->kind == MLCP_ROW_FRICTION) continue;
    CU_ASSERT(solution->p[r] >= row->low && solution->p[r] <= row->high);
  }
  for (int i = 0; i < problem->n_frictions; i++) {
    const mlcp_friction *set = &problem->frictions[i];
    double limit = set->limit, sum = 0, p_t[2] = {0, 0};
    if (set->normal >= 0) limit += set->coefficient * solution->p[set->normal];
    for (int e = 0; e < 2 * set->n_pairs; e++) {
      double beta = solution->beta[2 * set->first_pair + e];
      const double *u = problem->pairs[set->first_pair + e / 2].u;
      CU_ASSERT(beta >= 0);
      sum += beta;
      for (int t = 0; t < 2; t++) p_t[t] += (e % 2 ? -1 : 1) * u[t] * beta;
    }
    CU_ASSERT(sum <= limit * (1 + 1e-12));
    for (int t = 0; t < set->n_base; t++)
      CU_ASSERT_DOUBLE_EQUAL(solution->p[set->first_row + t], p_t[t],
                             1e-12 * (1 + limit));
  }
  free(scratch);
}

static solver_report solve(const mlcp_problem *problem,
                           const mlcp_solution *solution) {
  char message[100];
  CU_ASSERT(mlcp_check(problem, message, sizeof message));
  solver_report report =
      solver_solve(workspace, problem, &options, NULL, solution);
  if (solver_succeeded(report.status) || report.status == SOLVER_DEGRADED)
    expect_sane(problem, solution, report.residual);
  return report;
}

/* Both kinds of solver at the promised residual; releases the problem. */
static void expect_solved(test_problem *problem, double promised) {
  test_solution solution;
  solution_init(&solution, &problem->mlcp);
  for (int kind = SOLVER_FAST; kind <= SOLVER_LEMKE; kind++) {
    options.kind = (solver_kind)kind;
    solver_report report = solve(&problem->mlcp, &solution.mlcp);
    CU_ASSERT_EQUAL(report.status, report.residual <= options.tolerance
                                       ? SOLVER_SOLVED
                                       : SOLVER_ACCEPTED);
    CU_ASSERT(report.residual <= promised);
    if (kind == SOLVER_LEMKE && problem->mlcp.n_rows > 0 &&
        report.stage != SOLVER_STAGE_WARM)
      CU_ASSERT_EQUAL(report.stage, SOLVER_STAGE_LEMKE);
  }
  solver_default_options(&options);
  solution_release(&solution);
  problem_release(problem);
}

static void test_resting_structures(void) {
  static const int edges[] = {0, 2, 4, 6, 8, 16};
  test_problem problem;
  for (int i = 0; i < 6; i++) {
    problem_make_wall(&problem, 4, 0.5, edges[i]);
    expect_solved(&problem, 1e-10);
    problem_make_stack(&problem, 10, 1, 0.5, edges[i]);
    expect_solved(&problem, 1e-10);
  }
  problem_make_wall(&problem, 10, 0.5, 4);
  expect_solved(&problem, 1e-10);
  problem_make_stack(&problem, 20, 1000, 0.5, 4);
  expect_solved(&problem, 1e-9);
  problem_make_stack(&problem, 4, 1e6, 0.5, 4);
  expect_solved(&problem, 1e-8);
}

static void test_heaps_in_motion(void) {
  static const int edges[] = {0, 2, 4, 8};
  static const double coefficients[] = {0, 0.3, 0.8};
  test_problem problem;
  for (int seed = 0; seed < test_rounds(60); seed++) {
    problem_make_heap(&problem, 1 + seed % 12, seed, coefficients[seed % 3],
                      edges[seed % 4]);
    expect_solved(&problem, 1e-10);
  }
  problem_make_heap(&problem, 40, 1, 0.5, 4);
  expect_solved(&problem, 1e-10);
}

/* The stages against Lemke's method on drawn heaps: without friction there is one
 * answer in velocities. */
static void test_stages_against_the_reference(void) {
  const int n_seeds = test_rounds(40);
  for (int seed = 0; seed < n_seeds; seed++) {
    test_problem problem;
    test_solution stages, reference;
    problem_make_heap(&problem, 2 + seed % 14, 500 + (unsigned)seed, 0, 4);
    solution_init(&stages, &problem.mlcp);
    solution_init(&reference, &problem.mlcp);
    CU_ASSERT(solver_succeeded(solve(&problem.mlcp, &stages.mlcp).status));
    options.kind = SOLVER_LEMKE;
    CU_ASSERT(solver_succeeded(solve(&problem.mlcp, &reference.mlcp).status));
    solver_default_options(&options);
    for (int i = 0; i < 6 * problem.mlcp.n_bodies; i++)
      CU_ASSERT_DOUBLE_EQUAL(stages.mlcp.v[i], reference.mlcp.v[i], 1e-6);
    solution_release(&stages);
    solution_release(&reference);
    problem_release(&problem);
  }
}

static void test_joints_and_motors(void) {
  test_problem problem;
  problem_make_chain(&problem, 10, 0.5, 4);
  expect_solved(&problem, 1e-8);
  problem_make_grasp(&problem, 0.5, 4);
  expect_solved(&problem, 1e-10);
  problem_make_grasp(&problem, 0.01, 8);
  expect_solved(&problem, 1e-10);

  // rows of every bound type on one body, more of them than it has velocities
  test_random random = {5};
  for (int trial = 0; trial < test_rounds(300); trial++) {
    problem_init(&problem);
    for (int i = 0; i < 2; i++)
      problem_add_box(&problem, 1 + 9 * i, i, 0, 0, 0.3, 0.2, 0.1);
    for (int r = 0; r < 9; r++) {
      double J[2][6], span = test_uniform(&random, 0, 0.1);
      for (int k = 0; k < 12; k++)
        J[k / 6][k % 6] = test_uniform(&random, -1, 1);
      double low[] = {-INFINITY, -span, -INFINITY, 0, -span / 2, 0.01};
      double high[] = {INFINITY, INFINITY, span, INFINITY, span, 0.01};
      int type = r == 0 ? 0 : 1 + (trial + r) % 5;
      int row =
          problem_add_row(&problem, r % 2, r % 3 ? 1 - r % 2 : -1, J[0], J[1],
                          test_uniform(&random, -1, 1), low[type], high[type]);
      problem.rows[row].compliance = r % 4 == 1 ? 0.01 : 0;
    }
    expect_solved(&problem, 1e-10);
  }
}

static void test_motor_friction_and_rolling(void) {
  static const double up[3] = {0, 0, 1}, point[3] = {0, 0, 0};
  static const double spin[6] = {0, 0, 0, 1};
  test_problem problem;
  problem_init(&problem);
  problem_add_box(&problem, 2, 0, 0, 0.5, 0.5, 0.5, 0.5);
  problem.bodies[0].v_free[0] = 1;
  problem.bodies[0].v_free[3] = 3;
  problem_add_contact(&problem, 0, -1, point, up, 0, 0.5, 4);

  // rolling friction: a second set on the same normal, on a spin
  int row = problem_add_row(&problem, 0, -1, spin, spin, 0, 0, 0);
  problem.rows[row].kind = MLCP_ROW_FRICTION;
  problem.frictions = realloc(problem.frictions, 2 * sizeof *problem.frictions);
  problem.frictions[1] = (mlcp_friction){0, row, 1, 2, 1, 0.1, 0};
  problem.pairs = realloc(problem.pairs, 3 * sizeof *problem.pairs);
  problem.pairs[2] = (mlcp_pair){{1, 0}};
  problem.mlcp.frictions = problem.frictions;
  problem.mlcp.pairs = problem.pairs;
  problem.mlcp.n_frictions = 2;
  problem.mlcp.n_pairs = 3;

  // and a constant limit on the slide
  problem.frictions[0].limit = 0.05;
  expect_solved(&problem, 1e-10);
}

static void test_extreme_friction(void) {
  test_problem problem;
  problem_make_wall(&problem, 3, 1e5, 4);
  expect_solved(&problem, 1e-10);
  problem_make_wall(&problem, 3, 0, 4);
  expect_solved(&problem, 1e-10);
  problem_make_coincident(&problem, 1000, 0.5, 4);
  expect_solved(&problem, 1e-10);
}

static void test_empty_problems(void) {
  test_problem problem;
  problem_init(&problem);
  expect_solved(&problem, 0);
  problem_init(&problem);
  problem_add_box(&problem, 1, 0, 0, 0, 1, 1, 1);
  expect_solved(&problem, 0);

  // a row of zeros that nothing holds up, and one that nothing can satisfy
  static const double zeros[6] = {0};
  problem_init(&problem);
  problem_add_box(&problem, 1, 0, 0, 0, 1, 1, 1);
  problem_add_row(&problem, 0, -1, zeros, zeros, 0.5, 0, INFINITY);
  expect_solved(&problem, 1e-10);
  problem_init(&problem);
  problem_add_box(&problem, 1, 0, 0, 0, 1, 1, 1);
  problem_add_row(&problem, 0, -1, zeros, zeros, 1, -INFINITY, INFINITY);
  test_solution solution;
  solution_init(&solution, &problem.mlcp);
  CU_ASSERT_EQUAL(solve(&problem.mlcp, &solution.mlcp).status, SOLVER_DEGRADED);
  solution_release(&solution);
  problem_release(&problem);
}

/* ---- problems without a solution --------------------------------------- */

/* A box in a gap too narrow for it: pushed up from below, down from above. */
static void make_wedge(test_problem *problem, double squeeze) {
  static const double up[3] = {0, 0, 1}, down[3] = {0, 0, -1};
  problem_init(problem);
  problem_add_box(problem, 1, 0, 0, 0.5, 0.5, 0.5, 0.5);
  for (int side = 0; side < 4; side++) {
    double x = side % 2 ? 0.5 : -0.5, y = side / 2 ? 0.5 : -0.5;
    double below[3] = {x, y, 0}, above[3] = {x, y, 1};
    problem_add_contact(problem, 0, -1, below, up, -squeeze, 0.5, 4);
    problem_add_contact(problem, 0, -1, above, down, -squeeze, 0.5, 4);
  }
}

static void test_inconsistent_contacts_are_degraded(void) {
  test_problem problem;
  test_solution solution;
  for (int kind = SOLVER_FAST; kind <= SOLVER_LEMKE; kind++) {
    options.kind = (solver_kind)kind;
    make_wedge(&problem, 1e-2);
    solution_init(&solution, &problem.mlcp);
    solver_report report = solve(&problem.mlcp, &solution.mlcp);
    CU_ASSERT_EQUAL(report.status, SOLVER_DEGRADED);
    CU_ASSERT(report.residual > 0.1);

    // the same wedge without the squeeze has a solution: nothing moves
    problem_release(&problem);
    make_wedge(&problem, 0);
    CU_ASSERT_EQUAL(solve(&problem.mlcp, &solution.mlcp).status, SOLVER_SOLVED);
    for (int i = 0; i < 6; i++)
      CU_ASSERT_DOUBLE_EQUAL(solution.mlcp.v[i], 0, 1e-9);
    solution_release(&solution);
    problem_release(&problem);
  }
  solver_default_options(&options);
}

/* Without position corrections (b >= 0) Lemke has to find a solution whatever the friction;
 * with them, high friction locks some heaps. */
static void test_locked_contacts(void) {
  static const double coefficients[] = {0.2, 0.9, 1.5, 3};
  lemke_mlcp_workspace *lemke =
      lemke_mlcp_workspace_create(&memory_from_malloc);
  lemke_options lemke_choice;
  lemke_default_options(&lemke_choice);
  int n_jammed = 0;
  const unsigned n_seeds = test_is_short() ? 12 : 40;
  for (unsigned seed = 0; seed < n_seeds; seed++) {
    test_problem problem;
    test_solution solution;
    problem_make_heap(&problem, 5 + seed % 15, 100 + seed,
                      coefficients[seed % 4], seed % 3 ? 4 : 8);
    solution_init(&solution, &problem.mlcp);
    solver_report report = solve(&problem.mlcp, &solution.mlcp);
    n_jammed += report.status == SOLVER_DEGRADED;

    for (int r = 0; r < problem.mlcp.n_rows; r++)
      problem.rows[r].bias = fmax(problem.rows[r].bias, 0);
    for (int ties = LEMKE_TIES_FIRST; ties <= LEMKE_TIES_LAST; ties++) {
      lemke_choice.ties = (lemke_ties)ties;
      lemke_report result =
          lemke_mlcp_solve(lemke, &problem.mlcp, &lemke_choice, &solution.mlcp);
      CU_ASSERT_EQUAL(result.status, LEMKE_SOLVED);
      expect_sane(&problem.mlcp, &solution.mlcp, result.residual);
    }
    solution_release(&solution);
    problem_release(&problem);
  }
  CU_ASSERT(n_jammed > 0 && n_jammed < (int)n_seeds * 3 / 4);
  lemke_mlcp_workspace_destroy(lemke);
}

/* Friction of one box that follows the normal of another is for Lemke's method in the
 * edge formulation alone: the first is slowed by half of the other's weight. */
static void test_foreign_friction(void) {
  const double up[3] = {0, 0, 1}, below[3] = {0, 0, 0}, along[6] = {1};
  for (int kind = SOLVER_FAST; kind <= SOLVER_LEMKE; kind++) {
    test_problem problem;
    test_solution solution;
    problem_init(&problem);
    problem_add_box(&problem, 3, 0, 0, 0.5, 0.5, 0.5, 0.5);
    problem_add_box(&problem, 2, 5, 0, 0.5, 0.5, 0.5, 0.5);
    problem.bodies[1].v_free[0] = 1;
    problem_add_contact(&problem, 0, -1, below, up, 0, 0.5, 2);
    int friction = problem.frictions[0].first_row;
    problem.rows[friction].body[0] = 1;
    memcpy(problem.rows[friction].J[0], along, sizeof along);
    solution_init(&solution, &problem.mlcp);
    options.kind = (solver_kind)kind;
    solver_report report = solve(&problem.mlcp, &solution.mlcp);
    CU_ASSERT_EQUAL(report.status, SOLVER_SOLVED);
    CU_ASSERT_EQUAL(report.stage, SOLVER_STAGE_LEMKE);
    CU_ASSERT_DOUBLE_EQUAL(solution.mlcp.v[6], 1 - 0.5 * 3 * 9.81 * 0.01 / 2,
                           1e-9);
    solution_release(&solution);
    problem_release(&problem);
  }
  solver_default_options(&options);
}

static void test_too_many_rows_are_refused(void) {
  test_problem problem;
  test_solution solution;
  problem_make_wall(&problem, 3, 0.5, 4);
  solution_init(&solution, &problem.mlcp);
  solution.mlcp.v[0] = 42;
  options.max_rows = problem.mlcp.n_rows - 1;
  CU_ASSERT_EQUAL(solve(&problem.mlcp, &solution.mlcp).status,
                  SOLVER_TOO_LARGE);
  CU_ASSERT_EQUAL(solution.mlcp.v[0], 42);
  options.max_rows++;
  CU_ASSERT_EQUAL(solve(&problem.mlcp, &solution.mlcp).status, SOLVER_SOLVED);
  solver_default_options(&options);
  solution_release(&solution);
  problem_release(&problem);
}

static void test_guess_is_only_a_start(void) {
  test_problem problem;
  test_solution solution, second;
  problem_make_wall(&problem, 4, 0.5, 4);
  solution_init(&solution, &problem.mlcp);
  solution_init(&second, &problem.mlcp);
  CU_ASSERT_EQUAL(solve(&problem.mlcp, &solution.mlcp).status, SOLVER_SOLVED);

  double *guess = malloc(sizeof *guess * problem.mlcp.n_rows);
  memcpy(guess, solution.mlcp.p, sizeof *guess * problem.mlcp.n_rows);
  solver_report report =
      solver_solve(workspace, &problem.mlcp, &options, guess, &second.mlcp);
  CU_ASSERT_EQUAL(report.status, SOLVER_SOLVED);
  CU_ASSERT_EQUAL(report.stage, SOLVER_STAGE_WARM);

  for (int kind = SOLVER_FAST; kind <= SOLVER_LEMKE; kind++)
    for (int which = 0; which < 3; which++) {
      options.kind = (solver_kind)kind;
      for (int r = 0; r < problem.mlcp.n_rows; r++)
        guess[r] = which == 0 ? NAN : which == 1 ? 1e12 : r % 2 ? NAN : -1;
      report =
          solver_solve(workspace, &problem.mlcp, &options, guess, &second.mlcp);
      CU_ASSERT_EQUAL(report.status, SOLVER_SOLVED);
      expect_sane(&problem.mlcp, &second.mlcp, report.residual);
    }
  solver_default_options(&options);
  free(guess);
  solution_release(&solution);
  solution_release(&second);
  problem_release(&problem);
}

static void test_same_bits_whatever_came_before(void) {
  test_problem problem, other;
  test_solution first, second, third;
  problem_make_heap(&problem, 25, 3, 0.5, 4);
  problem_make_wall(&other, 4, 0.5, 8);
  solution_init(&first, &problem.mlcp);
  solution_init(&second, &problem.mlcp);
  solution_init(&third, &other.mlcp);
  for (int kind = SOLVER_FAST; kind <= SOLVER_LEMKE; kind++) {
    options.kind = (solver_kind)kind;
    solver_workspace *fresh = solver_workspace_create(&memory_from_malloc);
    solver_solve(fresh, &problem.mlcp, &options, NULL, &first.mlcp);
    solver_workspace_destroy(fresh);
    solve(&other.mlcp, &third.mlcp);
    solve(&problem.mlcp, &second.mlcp);
    CU_ASSERT_EQUAL(memcmp(first.mlcp.v, second.mlcp.v,
                           sizeof(double) * 6 * problem.mlcp.n_bodies),
                    0);
    CU_ASSERT_EQUAL(memcmp(first.mlcp.p, second.mlcp.p,
                           sizeof(double) * problem.mlcp.n_rows),
                    0);
  }
  solver_default_options(&options);
  solution_release(&first);
  solution_release(&second);
  solution_release(&third);
  problem_release(&problem);
  problem_release(&other);
}

/* ---- memory that runs out ---------------------------------------------- */

/* Until one solve goes through. */
static void fail_every_allocation(const test_problem *problem,
                                  const test_solution *solution) {
  for (int k = 0;; k++) {
    failing_memory memory = {0};
    memory_source source = failing_memory_source(&memory);
    fail_allocation(&memory, k);
    solver_workspace *starved = solver_workspace_create(&source);
    solver_report report = {.status = SOLVER_NO_MEMORY};
    if (starved != NULL)
      report = solver_solve(starved, &problem->mlcp, &options, NULL,
                            &solution->mlcp);
    solver_workspace_destroy(starved);
    CU_ASSERT_EQUAL(memory.n_held, 0);
    if (report.status != SOLVER_NO_MEMORY) {
      CU_ASSERT(k > 3);
      expect_sane(&problem->mlcp, &solution->mlcp, report.residual);
      return;
    }
    CU_ASSERT(an_allocation_failed(&memory));
  }
}

static void test_every_allocation_may_fail(void) {
  test_problem problem;
  test_solution solution;
  problem_make_heap(&problem, 8, 3, 0.5, 4);
  solution_init(&solution, &problem.mlcp);
  for (int kind = SOLVER_FAST; kind <= SOLVER_LEMKE; kind++) {
    options.kind = (solver_kind)kind;
    fail_every_allocation(&problem, &solution);
  }
  solver_default_options(&options);
  solution_release(&solution);
  problem_release(&problem);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"resting structures", test_resting_structures},
      {"heaps in motion", test_heaps_in_motion},
      {"stages against the reference", test_stages_against_the_reference},
      {"joints and motors", test_joints_and_motors},
      {"several friction sets", test_motor_friction_and_rolling},
      {"extreme friction", test_extreme_friction},
      {"empty problems", test_empty_problems},
      {"inconsistent contacts", test_inconsistent_contacts_are_degraded},
      {"locked contacts", test_locked_contacts},
      {"foreign friction", test_foreign_friction},
      {"too many rows", test_too_many_rows_are_refused},
      {"guesses", test_guess_is_only_a_start},
      {"same bits", test_same_bits_whatever_came_before},
      {"allocations fail", test_every_allocation_may_fail},
      CU_TEST_INFO_NULL};
  workspace = solver_workspace_create(&memory_from_malloc);
  if (workspace == NULL) return 1;
  solver_default_options(&options);
  int status = run_tests("cascade", tests);
  solver_workspace_destroy(workspace);
  return status;
}
