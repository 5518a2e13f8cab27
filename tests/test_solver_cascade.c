/* Lemke on mixed problems, and the cascade: what is returned is what its
 * residual says, finite and within bounds, whichever stage it comes from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "failing_memory.h"
#include "problems.h"
#include "solver/lemke_mlcp.h"
#include "solver/solver.h"
#include "solver/solver_points.h"
#include "solver/solver_variants.h"
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
      lemke_report result = lemke_mlcp_solve(
          lemke, &problem.mlcp, &lemke_choice, NULL, &solution.mlcp);
      CU_ASSERT_EQUAL(result.status, LEMKE_SOLVED);
      expect_sane(&problem.mlcp, &solution.mlcp, result.residual);
    }
    solution_release(&solution);
    problem_release(&problem);
  }
  CU_ASSERT(n_jammed > 0 && n_jammed < (int)n_seeds * 3 / 4);
  lemke_mlcp_workspace_destroy(lemke);
}

/* Where nothing slides the relaxation is exact; a slide it lifts off the ground
 * at mu times its speed. */
static void test_convex_variant(void) {
  static const double pushes[] = {0, 1};
  for (int i = 0; i < 2; i++) {
    test_problem problem;
    problem_make_wall(&problem, 1, 0.5, 4);
    problem.bodies[0].v_free[0] = pushes[i];

    // a friction edge's row (n + mu d, b, C) over its length, C over its square
    for (int r = 0; r < problem.mlcp.n_rows; r++)
      problem.rows[r].compliance = 1e-3;
    solver_variant soft = {.first_cone = NULL};
    arena soft_arena = {.source = &memory_from_malloc};
    CU_ASSERT_FATAL(
        solver_variant_make_convex(&soft, &soft_arena, &problem.mlcp));
    for (int edge = 0; edge < 4; edge++) {
      const mlcp_row *row = &soft.rows[soft.first_cone[0] + edge];
      CU_ASSERT_DOUBLE_EQUAL(row->compliance, 1e-3 / 1.25, 1e-12);
      CU_ASSERT_DOUBLE_EQUAL(row->J[0][2], 1 / sqrt(1.25), 1e-12);
    }
    arena_release(&soft_arena);
    for (int r = 0; r < problem.mlcp.n_rows; r++)
      problem.rows[r].compliance = 0;

    solver_variant variant = {.first_cone = NULL};
    arena arena = {.source = &memory_from_malloc};
    CU_ASSERT_FATAL(
        solver_variant_make_convex(&variant, &arena, &problem.mlcp));
    char message[100];
    CU_ASSERT(mlcp_check(&variant.mlcp, message, sizeof message));
    test_solution relaxed, solution;
    solution_init(&relaxed, &variant.mlcp);
    solution_init(&solution, &problem.mlcp);
    CU_ASSERT_EQUAL(solve(&variant.mlcp, &relaxed.mlcp).status, SOLVER_SOLVED);

    solver_variant_convex_impulses(&variant, &problem.mlcp, relaxed.mlcp.p,
                                   solution.mlcp.p);
    double scratch[100];
    double residual =
        solver_complete_point(&problem.mlcp, &solution.mlcp, scratch);
    CU_ASSERT((residual < 1e-9) == (i == 0));
    CU_ASSERT_DOUBLE_EQUAL(solution.mlcp.v[2], 0.5 * solution.mlcp.v[0], 1e-9);
    CU_ASSERT(i == 0 || solution.mlcp.v[0] > 0.5);
    solution_release(&relaxed);
    solution_release(&solution);
    arena_release(&arena);
    problem_release(&problem);
  }
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

static solver_report solve_heap(solver_kind kind, const test_problem *problem,
                                int max_lemke_size) {
  test_solution solution;
  options.kind = kind;
  options.max_lemke_size = max_lemke_size;
  solution_init(&solution, &problem->mlcp);
  solver_report report = solve(&problem->mlcp, &solution.mlcp);
  CU_ASSERT_EQUAL(solver_succeeded(report.status),
                  report.residual <= options.acceptable);
  solution_release(&solution);
  return report;
}

/* The fast path ends with Lemke in the edge formulation where the problem has no
 * more variables than it may have, and some of these need it. The other kind is
 * Lemke whatever the size, but for none at all. */
static void test_cascade_without_lemke(void) {
  const int n_seeds = test_is_short() ? 32 : 60;
  test_problem problem;
  int n_degraded = 0, n_edge = 0, n_lemke = 0, n_in_vain = 0;
  for (int seed = 0; seed < n_seeds; seed++) {
    /* One in five of the rough ones is bettered by edges, so that a machine that
     * draws them with other last digits has one, too. */
    bool rough = seed % 4 != 0;
    problem_make_heap(&problem, rough ? 6 : 30, seed, rough ? 300 : 0.9, 4);
    int size = lemke_mlcp_size(&problem.mlcp);
    solver_report none = solve_heap(SOLVER_FAST, &problem, 0);
    solver_report enough = solve_heap(SOLVER_FAST, &problem, size);
    CU_ASSERT(enough.status <= none.status); // solved, accepted, degraded
    n_edge += enough.residual != none.residual;
    n_degraded += none.status == SOLVER_DEGRADED;
    /* what came to nothing is paid for all the same: of up to four tries, each pivot
     * and the beginning are worth five factorisations */
    long pivots = enough.pivots - none.pivots;
    if (pivots > 0 && enough.residual == none.residual) {
      double n_tries = (enough.work - none.work) / 5 - (double)pivots;
      CU_ASSERT(n_tries > 0.999 && n_tries < 4.001);
      n_in_vain++;
    }

    none = solve_heap(SOLVER_LEMKE, &problem, 0);
    CU_ASSERT(none.stage != SOLVER_STAGE_LEMKE);
    n_lemke +=
        solve_heap(SOLVER_LEMKE, &problem, 1).stage == SOLVER_STAGE_LEMKE;
    problem_release(&problem);
  }
  // the hard ones are among them
  CU_ASSERT(n_degraded > 0 && n_degraded < n_seeds);
  CU_ASSERT(n_edge > 0 && n_edge < n_seeds);
  CU_ASSERT(n_in_vain > 0);
  CU_ASSERT(n_lemke > n_seeds / 2);
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

/* Lemke's method off: what is left goes on from the guess, and from no impulses where
 * that overflows, not from what the workspace held. */
static void test_bad_guess_is_no_start(void) {
  test_problem problem, other;
  test_solution solution[2], foreign;
  problem_make_wall(&problem, 3, 0.5, 4);
  problem_make_wall(&other, 4, 0.5, 8);
  solution_init(&foreign, &other.mlcp);
  double *guess = malloc(sizeof *guess * problem.mlcp.n_rows);
  for (int r = 0; r < problem.mlcp.n_rows; r++) guess[r] = 1e308;
  for (int i = 0; i < 2; i++) {
    solution_init(&solution[i], &problem.mlcp);
    options.kind = SOLVER_LEMKE;
    if (i > 0) solve(&other.mlcp, &foreign.mlcp);
    options.max_lemke_size = 0;
    options.budget = 20;
    solver_workspace *fresh = solver_workspace_create(&memory_from_malloc);
    solver_report report =
        solver_solve(i > 0 ? workspace : fresh, &problem.mlcp, &options,
                     i > 0 ? guess : NULL, &solution[i].mlcp);
    expect_sane(&problem.mlcp, &solution[i].mlcp, report.residual);
    solver_workspace_destroy(fresh);
    solver_default_options(&options);
  }
  CU_ASSERT(memcmp(solution[0].mlcp.p, solution[1].mlcp.p,
                   sizeof(double) * problem.mlcp.n_rows) == 0);
  free(guess);
  for (int i = 0; i < 2; i++) solution_release(&solution[i]);
  solution_release(&foreign);
  problem_release(&problem);
  problem_release(&other);
}

/* ---- memory that runs out ---------------------------------------------- */

/* @return how many allocations had to fail before one solve went through */
static int fail_every_allocation(const test_problem *problem,
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
      return k;
    }
    CU_ASSERT(an_allocation_failed(&memory));
  }
}

static void test_every_allocation_may_fail(void) {
  test_problem problem;
  test_solution solution;
  // an ordinary one, and one that goes to the last stage
  problem_make_heap(&problem, 8, 3, 0.5, 4);
  solution_init(&solution, &problem.mlcp);
  int n_usual = fail_every_allocation(&problem, &solution);
  solution_release(&solution);
  problem_release(&problem);

  make_wedge(&problem, 1e-2);
  solution_init(&solution, &problem.mlcp);
  CU_ASSERT(fail_every_allocation(&problem, &solution) > n_usual);
  solution_release(&solution);
  problem_release(&problem);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"resting structures", test_resting_structures},
      {"heaps in motion", test_heaps_in_motion},
      {"joints and motors", test_joints_and_motors},
      {"several friction sets", test_motor_friction_and_rolling},
      {"extreme friction", test_extreme_friction},
      {"empty problems", test_empty_problems},
      {"inconsistent contacts", test_inconsistent_contacts_are_degraded},
      {"locked contacts", test_locked_contacts},
      {"convex variant", test_convex_variant},
      {"foreign friction", test_foreign_friction},
      {"no Lemke", test_cascade_without_lemke},
      {"too many rows", test_too_many_rows_are_refused},
      {"guesses", test_guess_is_only_a_start},
      {"same bits", test_same_bits_whatever_came_before},
      {"a bad guess is no start", test_bad_guess_is_no_start},
      {"allocations fail", test_every_allocation_may_fail},
      CU_TEST_INFO_NULL};
  workspace = solver_workspace_create(&memory_from_malloc);
  if (workspace == NULL) return 1;
  solver_default_options(&options);
  int status = run_tests("cascade", tests);
  solver_workspace_destroy(workspace);
  return status;
}
