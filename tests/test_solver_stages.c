/* The stages: residuals of every kind of row and scene, the same bits
 * whatever the workspace did before, failing allocations, and problems that
 * must be reported as unsolved. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/matrix6.h"
#include "common/six.h"
#include "failing_memory.h"
#include "problems.h"
#include "solver/solver.h"
#include "testing.h"

static const solver_options options = {.kind = SOLVER_FAST,
                                       .tolerance = 1e-10,
                                       .acceptable = 1e-8,
                                       .budget = INFINITY,
                                       .max_rows = 300000};

/* ---- helpers ------------------------------------------------------------- */

static double residual_of(const mlcp_problem *problem,
                          const mlcp_solution *solution) {
  double *scratch = calloc(6 * (size_t)problem->n_bodies + 1, sizeof *scratch);
  double residual = mlcp_residual(problem, solution, scratch);
  free(scratch);
  return residual;
}

static bool is_well_formed(const mlcp_problem *problem) {
  char message[200];
  bool good = mlcp_check(problem, message, sizeof message);
  if (!good) printf("  %s\n", message);
  return good;
}

/* Impulses within their limits and edges within their cone. */
static bool is_within_bounds(const mlcp_problem *problem,
                             const mlcp_solution *solution) {
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    double p = solution->p[r];
    if (!isfinite(p)) return false;
    if (row->kind == MLCP_ROW_FRICTION) continue;
    if (p < row->low || p > row->high) return false;
  }
  for (int i = 0; i < problem->n_frictions; i++) {
    const mlcp_friction *set = &problem->frictions[i];
    double limit = set->limit, sum = 0;
    if (set->normal >= 0) limit += set->coefficient * solution->p[set->normal];
    for (int k = 2 * set->first_pair; k < 2 * (set->first_pair + set->n_pairs);
         k++) {
      if (!(solution->beta[k] >= 0)) return false;
      sum += solution->beta[k];
    }
    if (!(sum <= limit * (1 + 1e-9) + 1e-300)) return false;
  }
  return true;
}

/* Solve and check everything that must hold, solved or not. */
static solver_report solve_checked(solver_workspace *workspace,
                                   const mlcp_problem *problem,
                                   const double guess[],
                                   const mlcp_solution *solution) {
  CU_ASSERT_FATAL(is_well_formed(problem));
  solver_report report =
      solver_solve(workspace, problem, &options, guess, solution);
  double residual = residual_of(problem, solution);
  CU_ASSERT_EQUAL(residual, report.residual);
  bool solved = residual <= options.tolerance;
  bool accepted = residual <= options.acceptable;
  CU_ASSERT_EQUAL(report.status, solved     ? SOLVER_SOLVED
                                 : accepted ? SOLVER_ACCEPTED
                                            : SOLVER_DEGRADED);
  CU_ASSERT(is_within_bounds(problem, solution));
  return report;
}

/* The status alone; the problem is released. */
static solver_status solve_and_release(solver_workspace *workspace,
                                       test_problem *problem) {
  test_solution solution;
  solution_init(&solution, &problem->mlcp);
  solver_status status =
      solve_checked(workspace, &problem->mlcp, NULL, &solution.mlcp).status;
  solution_release(&solution);
  problem_release(problem);
  return status;
}

static void set_compliance(test_problem *problem, double compliance) {
  for (int r = 0; r < problem->mlcp.n_rows; r++)
    problem->rows[r].compliance = compliance;
}

/* Solve a scene with the host's softness, then rigid; both must succeed. */
static void expect_solved(test_problem *problem, const char *name) {
  static const double compliances[] = {1e-8, 0, 1e-3};
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  for (int i = 0; i < 3; i++) {
    test_solution solution;
    set_compliance(problem, compliances[i]);
    solution_init(&solution, &problem->mlcp);
    solver_report report =
        solve_checked(workspace, &problem->mlcp, NULL, &solution.mlcp);
    if (report.status != SOLVER_SOLVED)
      printf("  %s, compliance %g: residual %g\n", name, compliances[i],
             report.residual);
    CU_ASSERT_EQUAL(report.status, SOLVER_SOLVED);

    // its own answer is accepted without a factorisation
    double *guess = malloc(sizeof *guess * (size_t)problem->mlcp.n_rows);
    memcpy(guess, solution.mlcp.p,
           sizeof *guess * (size_t)problem->mlcp.n_rows);
    report = solve_checked(workspace, &problem->mlcp, guess, &solution.mlcp);
    CU_ASSERT_EQUAL(report.status, SOLVER_SOLVED);
    CU_ASSERT(report.factorisations <= 1);
    free(guess);
    solution_release(&solution);
  }
  solver_workspace_destroy(workspace);
}

/* ---- scenes -------------------------------------------------------------- */

static void test_walls(void) {
  static const int edges[] = {0, 2, 4, 8};
  for (int i = 0; i < 4; i++) {
    test_problem problem;
    problem_init(&problem);
    problem_make_wall(&problem, 5, 0.5, edges[i]);
    expect_solved(&problem, "wall");
    problem_release(&problem);
  }
}

static void test_stacks(void) {
  static const double ratios[] = {1, 1000};
  for (int i = 0; i < 2; i++) {
    test_problem problem;
    problem_init(&problem);
    problem_make_stack(&problem, 10, ratios[i], 0.5, 4);
    expect_solved(&problem, "stack");
    problem_release(&problem);
  }
}

static void test_chain_on_the_ground(void) {
  test_problem problem;
  problem_init(&problem);
  problem_make_chain(&problem, 12, 0.5, 4);
  expect_solved(&problem, "chain");
  problem_release(&problem);
}

static void test_grasp(void) {
  test_problem problem;
  problem_init(&problem);
  problem_make_grasp(&problem, 0.5, 4);
  expect_solved(&problem, "grasp");
  problem_release(&problem);
}

static void test_coincident_contacts(void) {
  static const int counts[] = {1, 2, 8, 20};
  for (int i = 0; i < 4; i++) {
    test_problem problem;
    problem_init(&problem);
    problem_make_coincident(&problem, counts[i], 0.5, 4);
    expect_solved(&problem, "coincident contacts");
    problem_release(&problem);
  }
}

static void test_extreme_friction(void) {
  static const double coefficients[] = {0, 1e-9, 10, 1e5};
  for (int i = 0; i < 4; i++) {
    test_problem problem;
    problem_init(&problem);
    problem_make_wall(&problem, 3, coefficients[i], 4);
    expect_solved(&problem, "wall with extreme friction");
    problem_release(&problem);
  }
}

/* ---- single rows with known answers -------------------------------------- */

/* One box of 2 kg; a row along x. */
static void make_row_problem(test_problem *problem, double bias, double low,
                             double high) {
  static const double along_x[6] = {1, 0, 0, 0, 0, 0}, none[6] = {0};
  problem_init(problem);
  int box = problem_add_box(problem, 2, 0, 0, 0, 0.5, 0.5, 0.5);
  problem_add_row(problem, box, -1, along_x, none, bias, low, high);
}

static void test_joint_rows_keep_to_their_bounds(void) {
  static const struct {
    double bias, low, high, p;
  } cases[] = {
      {-3, -INFINITY, INFINITY, 6}, // free: reaches 3 m/s
      {-3, -1, 1, 1},               // a motor at its limit
      {3, -1, 1, -1},
      {-0.25, -1, 1, 0.5},
      {-3, 0, INFINITY, 6}, // one-sided: pushes
      {3, 0, INFINITY, 0},  // and does not pull
      {3, -INFINITY, 0, -6},
      {-3, -INFINITY, 0, 0},
      {-3, -INFINITY, 4, 4},
      {-3, 0.75, 0.75, 0.75}, // fixed
      {3, -2, -2, -2},
  };
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_problem problem;
    test_solution solution;
    make_row_problem(&problem, cases[i].bias, cases[i].low, cases[i].high);
    solution_init(&solution, &problem.mlcp);
    solver_report report =
        solve_checked(workspace, &problem.mlcp, NULL, &solution.mlcp);
    CU_ASSERT_EQUAL(report.status, SOLVER_SOLVED);
    CU_ASSERT_DOUBLE_EQUAL(solution.mlcp.p[0], cases[i].p, 1e-9);
    solution_release(&solution);
    problem_release(&problem);
  }
  solver_workspace_destroy(workspace);
}

static void test_compliant_row_gives_way(void) {
  test_problem problem;
  test_solution solution;
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  make_row_problem(&problem, -3, -INFINITY, INFINITY);
  problem.rows[0].compliance = 1; // (1/2 + 1) p = 3
  solution_init(&solution, &problem.mlcp);
  solve_checked(workspace, &problem.mlcp, NULL, &solution.mlcp);
  CU_ASSERT_DOUBLE_EQUAL(solution.mlcp.p[0], 2, 1e-12);
  solution_release(&solution);
  problem_release(&problem);
  solver_workspace_destroy(workspace);
}

/* A box of 2 kg that slides at `speed` along x over the ground. */
static void make_slider(test_problem *problem, double speed, double mu,
                        double limit, int n_edges) {
  problem_init(problem);
  int box = problem_add_box(problem, 2, 0, 0, 0.5, 0.5, 0.5, 0.5);
  problem_add_face(problem, box, -1, mu, n_edges);
  problem->bodies[box].v_free[0] = speed;
  for (int i = 0; i < problem->mlcp.n_frictions && limit > 0; i++) {
    problem->frictions[i].coefficient = 0;
    problem->frictions[i].limit = limit;
  }
}

static void test_sliding_box_loses_mu_g_h(void) {
  static const int edges[] = {2, 4, 6, 8};
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  for (int i = 0; i < 4; i++) {
    test_problem problem;
    test_solution solution;
    make_slider(&problem, 3, 0.5, 0, edges[i]);
    solution_init(&solution, &problem.mlcp);
    solve_checked(workspace, &problem.mlcp, NULL, &solution.mlcp);
    CU_ASSERT_DOUBLE_EQUAL(solution.mlcp.v[0], 3 - 0.5 * 9.81 * 0.01, 1e-9);
    solution_release(&solution);
    problem_release(&problem);
  }
  solver_workspace_destroy(workspace);
}

static void test_force_limited_friction(void) {
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  for (int n_edges = 2; n_edges <= 8; n_edges += 2) {
    test_problem problem;
    test_solution solution;
    make_slider(&problem, 3, 0.5, 0.25, n_edges);
    solution_init(&solution, &problem.mlcp);
    solve_checked(workspace, &problem.mlcp, NULL, &solution.mlcp);
    // four contacts of 0.25 N s on 2 kg
    CU_ASSERT_DOUBLE_EQUAL(solution.mlcp.v[0], 3 - 4 * 0.25 / 2, 1e-9);
    solution_release(&solution);
    problem_release(&problem);
  }
  solver_workspace_destroy(workspace);
}

/* Friction with a constant limit and no normal at all: a brake. */
static void test_friction_without_a_normal(void) {
  test_problem problem;
  test_solution solution;
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  make_slider(&problem, 3, 0.5, 0.25, 4);
  for (int i = 0; i < problem.mlcp.n_frictions; i++)
    problem.frictions[i].normal = -1;
  solution_init(&solution, &problem.mlcp);
  solver_report report =
      solve_checked(workspace, &problem.mlcp, NULL, &solution.mlcp);
  CU_ASSERT_EQUAL(report.status, SOLVER_SOLVED);
  CU_ASSERT_DOUBLE_EQUAL(solution.mlcp.v[0], 2.5, 1e-9);
  solution_release(&solution);
  problem_release(&problem);
  solver_workspace_destroy(workspace);
}

/* ---- heaps --------------------------------------------------------------- */

/* Problems in motion: the few that are left are counted. */
static void test_heaps(void) {
  enum { N_HEAPS = 150, MAY_BE_LEFT = 3 };
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  int n_left = 0;
  for (unsigned seed = 1; seed <= N_HEAPS; seed++) {
    test_problem problem;
    problem_init(&problem);
    problem_make_heap(&problem, 2 + (int)(seed % 17), seed,
                      0.1 * (double)(seed % 9), seed % 2 ? 4 : 8);
    set_compliance(&problem, seed % 3 ? 1e-8 : 0);
    n_left += solve_and_release(workspace, &problem) != SOLVER_SOLVED;
  }
  printf("  %d of %d heaps left\n", n_left, N_HEAPS);
  CU_ASSERT(n_left <= MAY_BE_LEFT);
  solver_workspace_destroy(workspace);
}

/* A guess that is partly unknown or nonsense must not do harm. */
/* A heap without position corrections, which has a solution whatever its friction. */
static void make_slow_heap(test_problem *problem, int n, unsigned seed,
                           double mu) {
  problem_make_heap(problem, n, seed, mu, 4);
  for (int r = 0; r < problem->mlcp.n_rows; r++)
    problem->rows[r].bias = fmax(problem->rows[r].bias, 0);
}

/* Compliance of 1e-11 of the diagonal, as light and thin bodies have it, and
 * slips that contradict each other by ten times the tolerance: proximal steps
 * that soften by more than that settle a thousandth a step of what redundant
 * impulses share, and end short of a quarter of these. */
static void test_nearly_rigid(void) {
  enum { N_WALLS = 60, MAY_BE_LEFT = 3 };
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  int n_left = 0;
  for (int k = 0; k < N_WALLS; k++) {
    test_problem problem;
    problem_init(&problem);
    problem_make_wall(&problem, 1 + k % 2, 0.8, 4);
    for (int r = 0; r < problem.mlcp.n_rows; r++) {
      problem.rows[r].compliance =
          (k % 2 ? 5e-12 : 5e-11) * mlcp_row_diagonal(&problem.mlcp, r);
      problem.rows[r].bias += 1e-10 * sin(1.7 * r + k);
    }
    n_left += solve_and_release(workspace, &problem) != SOLVER_SOLVED;
  }
  printf("  %d of %d walls left\n", n_left, N_WALLS);
  CU_ASSERT(n_left <= MAY_BE_LEFT);
  solver_workspace_destroy(workspace);
}

/* At mu = 2 the central path of most heaps has turning points: without
 * continuation past them hardly a third of these is solved here. */
static void test_turning_points(void) {
  enum { HEAPS = 20 };
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  int n_solved = 0;
  for (unsigned seed = 0; seed < HEAPS; seed++) {
    test_problem problem;
    make_slow_heap(&problem, 30, seed, 2);
    set_compliance(&problem, 1e-8);
    n_solved += solve_and_release(workspace, &problem) == SOLVER_SOLVED;
  }
  CU_ASSERT(n_solved >= HEAPS - 1);
  solver_workspace_destroy(workspace);
}

static void test_bad_guesses(void) {
  static const double bad[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e6};
  test_problem problem;
  test_solution solution;
  test_random random = {7};
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  problem_init(&problem);
  problem_make_wall(&problem, 4, 0.5, 4);
  solution_init(&solution, &problem.mlcp);
  double *guess = malloc(sizeof *guess * (size_t)problem.mlcp.n_rows);
  for (int k = 0; k < 6; k++) {
    for (int r = 0; r < problem.mlcp.n_rows; r++)
      guess[r] = test_uniform(&random, 0, 1) < 0.2 ? bad[k] : 10;
    solver_report report =
        solve_checked(workspace, &problem.mlcp, guess, &solution.mlcp);
    CU_ASSERT_EQUAL(report.status, SOLVER_SOLVED);
  }
  free(guess);
  solution_release(&solution);
  problem_release(&problem);
  solver_workspace_destroy(workspace);
}

/* ---- bodies -------------------------------------------------------------- */

/* A mass with a skew part, as gyroscopic terms make it. */
static void test_unsymmetric_mass(void) {
  test_problem problem;
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  problem_init(&problem);
  problem_make_wall(&problem, 3, 0.5, 4);
  for (int b = 0; b < problem.mlcp.n_bodies; b++) {
    double *mass = problem.bodies[b].mass;
    double *inverse = problem.bodies[b].inverse_mass;
    // [i s; -s i] in the plane of two turns, and its inverse
    double i = mass[21], s = 0.3 * i, det = i * i + s * s;
    mass[28] = i;
    mass[22] = s;
    mass[27] = -s;
    inverse[21] = inverse[28] = i / det;
    inverse[22] = -s / det;
    inverse[27] = s / det;
    problem.bodies[b].v_free[3] = 0.1 * b;
  }
  CU_ASSERT_EQUAL(solve_and_release(workspace, &problem), SOLVER_SOLVED);
  solver_workspace_destroy(workspace);
}

/* What pushes a body also turns it, and more one way than another: the mass of a step
 * in which forces change with the pose. The velocities are M^-1 of what acts. */
static void test_full_mass(void) {
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  for (uint64_t seed = 1; seed <= 4; seed++) {
    test_problem problem;
    test_random random = {seed};
    if (seed % 2 == 0)
      problem_make_wall(&problem, 3, 0.5, 4);
    else
      problem_make_heap(&problem, 10, seed, 0.5, 4);
    for (int b = 0; b < problem.mlcp.n_bodies; b++) {
      double *mass = problem.bodies[b].mass, own[6];
      for (int i = 0; i < 6; i++) own[i] = sqrt(mass[7 * i]);
      for (int i = 0; i < 6; i++)
        for (int j = 0; j <= i; j++) {
          double more = 0.15 * own[i] * own[j] * test_uniform(&random, -1, 1);
          mass[6 * i + j] += more;
          if (i != j) mass[6 * j + i] += more;
        }
      CU_ASSERT(matrix6_invert(problem.bodies[b].inverse_mass, mass));
    }
    CU_ASSERT_EQUAL(solve_and_release(workspace, &problem), SOLVER_SOLVED);
  }
  solver_workspace_destroy(workspace);
}

static void test_empty_problems(void) {
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  double v[1], p[1], beta[1], lambda[1];
  const mlcp_problem nothing = {.velocity_floor = 0.1};
  const mlcp_solution no_solution = {v, p, beta, lambda};
  solver_report report = solve_checked(workspace, &nothing, NULL, &no_solution);
  CU_ASSERT_EQUAL(report.status, SOLVER_SOLVED);

  for (int n_bodies = 1; n_bodies < 3; n_bodies++) {
    test_problem problem;
    test_solution solution;
    problem_init(&problem);
    for (int b = 0; b < n_bodies; b++)
      problem_add_box(&problem, 1, b, 0, 0, 0.5, 0.5, 0.5);
    solution_init(&solution, &problem.mlcp);
    report = solve_checked(workspace, &problem.mlcp, NULL, &solution.mlcp);
    CU_ASSERT_EQUAL(report.status, SOLVER_SOLVED);
    for (int b = 0; b < n_bodies; b++)
      CU_ASSERT_EQUAL(solution.mlcp.v[6 * b + 2], problem.bodies[b].v_free[2]);
    solution_release(&solution);
    problem_release(&problem);
  }
  solver_workspace_destroy(workspace);
}

/* ---- problems without an answer ------------------------------------------ */

/* Two rigid rows that ask for different speeds of one body. */
static void test_contradiction_is_reported(void) {
  static const double along_x[6] = {1, 0, 0, 0, 0, 0}, none[6] = {0};
  test_problem problem;
  test_solution solution;
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  make_row_problem(&problem, -3, -INFINITY, INFINITY);
  problem_add_row(&problem, 0, -1, along_x, none, 3, -INFINITY, INFINITY);
  solution_init(&solution, &problem.mlcp);
  solver_report report =
      solve_checked(workspace, &problem.mlcp, NULL, &solution.mlcp);
  CU_ASSERT_EQUAL(report.status, SOLVER_DEGRADED);
  CU_ASSERT(report.factorisations < 600);
  solution_release(&solution);
  problem_release(&problem);
  solver_workspace_destroy(workspace);
}

/* A row of zeros: harmless when satisfied, unsolvable when not. */
static void test_rows_of_zeros(void) {
  static const double none[6] = {0};
  for (int i = 0; i < 2; i++) {
    test_problem problem;
    test_solution solution;
    solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
    make_row_problem(&problem, -3, 0, INFINITY);
    problem_add_row(&problem, 0, -1, none, none, i == 0 ? 0.5 : -0.5, 0,
                    INFINITY);
    solution_init(&solution, &problem.mlcp);
    solver_report report =
        solve_checked(workspace, &problem.mlcp, NULL, &solution.mlcp);
    CU_ASSERT_EQUAL(report.status, i == 0 ? SOLVER_SOLVED : SOLVER_DEGRADED);
    solution_release(&solution);
    problem_release(&problem);
    solver_workspace_destroy(workspace);
  }
}

/* The check itself: an answer that is a little off must not pass. */
static void test_residual_notices_a_wrong_answer(void) {
  test_problem problem;
  test_solution solution;
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  problem_init(&problem);
  problem_make_wall(&problem, 3, 0.5, 4);
  solution_init(&solution, &problem.mlcp);
  solve_checked(workspace, &problem.mlcp, NULL, &solution.mlcp);
  solution.mlcp.p[0] *= 1.01;
  CU_ASSERT(residual_of(&problem.mlcp, &solution.mlcp) > 1e-6);
  solution_release(&solution);
  problem_release(&problem);
  solver_workspace_destroy(workspace);
}

/* ---- the same bits ------------------------------------------------------- */

static bool same_solution(const mlcp_problem *problem, const mlcp_solution *a,
                          const mlcp_solution *b) {
  size_t d = sizeof(double);
  return memcmp(a->v, b->v, 6 * d * (size_t)problem->n_bodies) == 0 &&
         memcmp(a->p, b->p, d * (size_t)problem->n_rows) == 0 &&
         memcmp(a->beta, b->beta, 2 * d * (size_t)problem->n_pairs) == 0 &&
         memcmp(a->lambda, b->lambda, d * (size_t)problem->n_frictions) == 0;
}

static void test_workspace_leaves_no_trace(void) {
  test_problem first, other;
  test_solution a, b, c;
  problem_init(&first);
  problem_init(&other);
  problem_make_heap(&first, 12, 3, 0.4, 4);
  problem_make_wall(&other, 5, 0.7, 8);
  solution_init(&a, &first.mlcp);
  solution_init(&b, &first.mlcp);
  solution_init(&c, &other.mlcp);

  solver_workspace *fresh = solver_workspace_create(&memory_from_malloc);
  solver_workspace *used = solver_workspace_create(&memory_from_malloc);
  solve_checked(fresh, &first.mlcp, NULL, &a.mlcp);
  solve_checked(used, &other.mlcp, NULL, &c.mlcp);
  solve_checked(used, &first.mlcp, NULL, &b.mlcp);
  CU_ASSERT(same_solution(&first.mlcp, &a.mlcp, &b.mlcp));
  solve_checked(used, &first.mlcp, NULL, &b.mlcp);
  CU_ASSERT(same_solution(&first.mlcp, &a.mlcp, &b.mlcp));

  b.mlcp.p[0] = nextafter(b.mlcp.p[0], INFINITY);
  CU_ASSERT(!same_solution(&first.mlcp, &a.mlcp, &b.mlcp));

  solver_workspace_destroy(fresh);
  solver_workspace_destroy(used);
  solution_release(&a);
  solution_release(&b);
  solution_release(&c);
  problem_release(&first);
  problem_release(&other);
}

/* Solved with and without wide registers, from nothing and from a guess. */
static void expect_same_without_wide(const mlcp_problem *problem) {
  test_solution solutions[2][2];
  for (int narrow = 0; narrow < 2; narrow++) {
    solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
    test_solution *cold = &solutions[narrow][0], *warm = &solutions[narrow][1];
    solution_init(cold, problem);
    solution_init(warm, problem);
    six_forbid_wide = narrow;
    solve_checked(workspace, problem, NULL, &cold->mlcp);
    for (int r = 0; r < problem->n_rows; r++) cold->mlcp.p[r] *= 1.01;
    solve_checked(workspace, problem, cold->mlcp.p, &warm->mlcp);
    six_forbid_wide = false;
    solver_workspace_destroy(workspace);
  }
  for (int i = 0; i < 2; i++) {
    CU_ASSERT(
        same_solution(problem, &solutions[0][i].mlcp, &solutions[1][i].mlcp));
    solution_release(&solutions[0][i]);
    solution_release(&solutions[1][i]);
  }
}

static void test_same_bits_without_wide_registers(void) {
  static test_problem problem;
  for (unsigned k = 0; k < 24; k++) {
    problem_init(&problem);
    switch (k % 4) {
      case 0: problem_make_heap(&problem, 14, k, 0.6, k % 8 ? 8 : 4); break;
      case 1: problem_make_wall(&problem, 4 + (int)k / 8, 0.5, 4); break;
      case 2: problem_make_chain(&problem, 6 + (int)k / 4, 0.4, 4); break;
      default:
        problem_make_heap(&problem, 10, k, 0.4, 4);
        set_compliance(&problem, 1e-3);
        // inertias that are no longer symmetric, or coupled to the mass
        for (int b = 0; b < problem.mlcp.n_bodies && k > 4; b++) {
          double *mass = problem.bodies[b].mass;
          mass[k % 8 > 4 ? 22 : 3] += 0.05 * mass[21];
          CU_ASSERT(matrix6_invert(problem.bodies[b].inverse_mass,
                                   problem.bodies[b].mass));
        }
    }
    expect_same_without_wide(&problem.mlcp);
    problem_release(&problem);
  }
}

/* ---- memory -------------------------------------------------------------- */

static void test_every_allocation_may_fail(void) {
  test_problem problem;
  test_solution solution;
  problem_init(&problem);
  problem_make_wall(&problem, 4, 0.5, 4);
  solution_init(&solution, &problem.mlcp);

  bool solved = false;
  int n_failures = 0;
  for (int k = 0; !solved && k < 1000; k++) {
    failing_memory memory = {0};
    memory_source source = failing_memory_source(&memory);
    fail_allocations_from(&memory, k);
    solver_workspace *workspace = solver_workspace_create(&source);
    solver_report report = {.status = SOLVER_NO_MEMORY};
    solution.mlcp.p[0] = -1;
    if (workspace != NULL)
      report = solver_solve(workspace, &problem.mlcp, &options, NULL,
                            &solution.mlcp);
    solved = report.status == SOLVER_SOLVED;
    if (!solved) {
      n_failures++;
      CU_ASSERT_EQUAL(report.status, SOLVER_NO_MEMORY);
      CU_ASSERT_EQUAL(solution.mlcp.p[0], -1);
    }
    // the workspace recovers once there is memory again
    fail_no_allocation(&memory);
    if (!solved && workspace != NULL)
      CU_ASSERT_EQUAL(
          solver_solve(workspace, &problem.mlcp, &options, NULL, &solution.mlcp)
              .status,
          SOLVER_SOLVED);
    solver_workspace_destroy(workspace);
    CU_ASSERT_EQUAL(memory.bytes_held, 0);
  }
  CU_ASSERT(solved);
  CU_ASSERT(n_failures >= 8);
  solution_release(&solution);
  problem_release(&problem);
}

/* Whatever the budget, the work keeps within it, what is returned is the best
 * that was found, and more work never leaves a worse answer behind than nothing
 * would be; the same budget is the same bits. */
static void test_budget_bounds_the_work(void) {
  static const double budgets[] = {1, 3, 10, 30, 100, INFINITY};
  enum { N_BUDGETS = sizeof budgets / sizeof budgets[0] };
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  for (unsigned seed = 1; seed <= 6; seed++) {
    test_problem problem;
    test_solution solution, again;
    problem_make_heap(&problem, 20, seed, 0.1 * seed, 4);
    solution_init(&solution, &problem.mlcp);
    solution_init(&again, &problem.mlcp);
    int n_stopped = 0;
    for (int i = 0; i < N_BUDGETS; i++) {
      solver_options bounded;
      solver_default_options(&bounded);
      bounded.budget = budgets[i];
      solver_report report = solver_solve(workspace, &problem.mlcp, &bounded,
                                          NULL, &solution.mlcp);
      // a system that is factored is solved a few times, too
      CU_ASSERT(report.work <= budgets[i] + 2);
      CU_ASSERT(is_within_bounds(&problem.mlcp, &solution.mlcp));
      CU_ASSERT_EQUAL(report.residual,
                      residual_of(&problem.mlcp, &solution.mlcp));
      CU_ASSERT_EQUAL(solver_succeeded(report.status),
                      report.residual <= bounded.acceptable);
      if (report.stopped) CU_ASSERT_EQUAL(report.status, SOLVER_DEGRADED);
      n_stopped += report.stopped;
      if (isinf(budgets[i])) CU_ASSERT_EQUAL(report.status, SOLVER_SOLVED);
      solver_solve(workspace, &problem.mlcp, &bounded, NULL, &again.mlcp);
      CU_ASSERT(memcmp(again.mlcp.p, solution.mlcp.p,
                       sizeof(double) * (size_t)problem.mlcp.n_rows) == 0);
    }
    CU_ASSERT(n_stopped > 0); // one factorisation is no solution
    solution_release(&solution);
    solution_release(&again);
    problem_release(&problem);
  }
  solver_workspace_destroy(workspace);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"walls", test_walls},
      {"stacks", test_stacks},
      {"chain on the ground", test_chain_on_the_ground},
      {"grasp", test_grasp},
      {"coincident contacts", test_coincident_contacts},
      {"extreme friction", test_extreme_friction},
      {"joint rows keep to their bounds", test_joint_rows_keep_to_their_bounds},
      {"compliant row gives way", test_compliant_row_gives_way},
      {"sliding box loses mu g h", test_sliding_box_loses_mu_g_h},
      {"force-limited friction", test_force_limited_friction},
      {"friction without a normal", test_friction_without_a_normal},
      {"heaps", test_heaps},
      {"nearly rigid rows", test_nearly_rigid},
      {"turning points", test_turning_points},
      {"bad guesses", test_bad_guesses},
      {"unsymmetric mass", test_unsymmetric_mass},
      {"full mass", test_full_mass},
      {"empty problems", test_empty_problems},
      {"budget bounds the work", test_budget_bounds_the_work},
      {"contradiction is reported", test_contradiction_is_reported},
      {"rows of zeros", test_rows_of_zeros},
      {"residual notices a wrong answer", test_residual_notices_a_wrong_answer},
      {"workspace leaves no trace", test_workspace_leaves_no_trace},
      {"same bits without wide registers",
       test_same_bits_without_wide_registers},
      {"every allocation may fail", test_every_allocation_may_fail},
      {NULL, NULL},
  };
  return run_tests("solver: stages", tests);
}
