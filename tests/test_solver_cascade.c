/* Mixed problems by the stages and by Lemke's method: what is returned is what its
 * residual says, finite and within bounds, whichever stage it comes from; the same bits
 * whatever came before; and what cannot be solved is said. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/six.h"
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
  double residual = solution_residual(problem, solution);
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

static bool has_box_form(const mlcp_problem *problem) {
  for (int i = 0; i < problem->n_frictions; i++)
    if (problem->frictions[i].n_pairs > 2 &&
        problem->frictions[i].coefficient + problem->frictions[i].limit > 0)
      return false;
  return true;
}

/* Both kinds of solver at the promised residual, whose own answer is then accepted
 * without a factorisation where there is a box formulation. */
static void expect_solution(const test_problem *problem, double promised) {
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
  const size_t size = sizeof(double) * (size_t)problem->mlcp.n_rows;
  double *guess = malloc(size + 1);
  memcpy(guess, solution.mlcp.p, size);
  solver_report again =
      solver_solve(workspace, &problem->mlcp, &options, guess, &solution.mlcp);
  CU_ASSERT(solver_succeeded(again.status));
  CU_ASSERT(has_box_form(&problem->mlcp) ? again.factorisations <= 1
                                         : again.stage == SOLVER_STAGE_LEMKE);
  free(guess);
  solution_release(&solution);
}

/* The same; releases the problem. */
static void expect_solved(test_problem *problem, double promised) {
  expect_solution(problem, promised);
  problem_release(problem);
}

static void set_compliance(test_problem *problem, double compliance) {
  for (int r = 0; r < problem->mlcp.n_rows; r++)
    problem->rows[r].compliance = compliance;
}

/* The status alone; the problem is released. */
static solver_status status_of(test_problem *problem) {
  test_solution solution;
  solution_init(&solution, &problem->mlcp);
  solver_status status = solve(&problem->mlcp, &solution.mlcp).status;
  solution_release(&solution);
  problem_release(problem);
  return status;
}

static void test_resting_structures(void) {
  static const int edges[] = {0, 2, 4, 6, 8, 16};
  test_problem problem;
  for (int i = 0; i < 6; i++) {
    problem_make_wall(&problem, 4, 0.5, edges[i]);
    for (int k = 0; k < 3; k++) {
      set_compliance(&problem, (double[]){1e-8, 0, 1e-3}[k]);
      expect_solution(&problem, 1e-10);
    }
    problem_release(&problem);
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
    set_compliance(&problem, seed % 5 ? 0 : 1e-8);
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
  problem.frictions[1] = (mlcp_friction){.first_row = row,
                                         .n_base = 1,
                                         .first_pair = 2,
                                         .n_pairs = 1,
                                         .coefficient = 0.1};
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

/* ---- small ones, and oddities ----------------------------------------- */

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
    expect_solved(&problem, 1e-10);
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
        expect_solved(&problem, 1e-10);
      }
}

static void test_friction_of_any_size(void) {
  static const double coefficients[] = {0, 1e-12, 1e-3, 1, 1e3, 1e6};
  for (size_t m = 0; m < sizeof coefficients / sizeof *coefficients; m++) {
    test_problem problem;
    problem_make_stack(&problem, 5, 1, coefficients[m], 4);
    problem.bodies[2].v_free[0] = 0.5;
    expect_solved(&problem, 1e-10);
    problem_make_wall(&problem, 3, coefficients[m], 4);
    problem.bodies[5].v_free[1] = 0.5;
    expect_solved(&problem, 1e-10);
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
  expect_solved(&problem, 1e-10);
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
      expect_solved(&problem, 1e-10);
    }
}

/* What cannot be: two rows that ask for different velocities, a row of zeros
 * that asks for one, a weight that is held by too little (which can). */
static void test_contradictions_end(void) {
  static const double none[6] = {0}, along[6] = {1, 0, 0, 0, 0, 0};
  for (int k = SOLVER_FAST; k <= SOLVER_LEMKE; k++)
    for (int kind = 0; kind < 3; kind++) {
      test_problem problem;
      test_solution solution;
      problem_make_stack(&problem, 1, 1, 0.5, 4);
      const double *J = kind == 1 ? none : along;
      problem_add_row(&problem, 0, -1, J, none, -1, -INFINITY, INFINITY);
      if (kind == 0)
        problem_add_row(&problem, 0, -1, J, none, 1, -INFINITY, INFINITY);
      if (kind == 2) problem_add_row(&problem, 0, -1, J, none, 1, -0.1, 0.1);
      solution_init(&solution, &problem.mlcp);
      options.kind = (solver_kind)k;
      solver_report report = solve(&problem.mlcp, &solution.mlcp);
      CU_ASSERT_EQUAL(report.status,
                      kind == 2 ? SOLVER_SOLVED : SOLVER_DEGRADED);
      CU_ASSERT(kind == 2 ? report.residual <= 1e-10 : report.residual > 1e-3);
      solution_release(&solution);
      problem_release(&problem);
    }
  solver_default_options(&options);
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
    double bias, low, high, p, compliance;
  } cases[] = {
      {-3, -INFINITY, INFINITY, 6, 0}, // free: reaches 3 m/s
      {-3, -1, 1, 1, 0},               // a motor at its limit
      {3, -1, 1, -1, 0},
      {-0.25, -1, 1, 0.5, 0},
      {-3, 0, INFINITY, 6, 0}, // one-sided: pushes
      {3, 0, INFINITY, 0, 0},  // and does not pull
      {3, -INFINITY, 0, -6, 0},
      {-3, -INFINITY, 0, 0, 0},
      {-3, -INFINITY, 4, 4, 0},
      {-3, 0.75, 0.75, 0.75, 0}, // fixed
      {3, -2, -2, -2, 0},
      {-3, -INFINITY, INFINITY, 2, 1}, // gives way: (1/2 + 1) p = 3
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_problem problem;
    test_solution solution;
    make_row_problem(&problem, cases[i].bias, cases[i].low, cases[i].high);
    problem.rows[0].compliance = cases[i].compliance;
    solution_init(&solution, &problem.mlcp);
    solver_report report = solve(&problem.mlcp, &solution.mlcp);
    CU_ASSERT_EQUAL(report.status, SOLVER_SOLVED);
    CU_ASSERT_DOUBLE_EQUAL(solution.mlcp.p[0], cases[i].p, 1e-9);
    solution_release(&solution);
    problem_release(&problem);
  }
}

/* A box of 2 kg that slides at 3 m/s along x over the ground: four contacts brake it by
 * mu g h together, or by 0.25 N s each, whatever carries them. */
static void test_a_slide_is_braked(void) {
  for (int n_edges = 2; n_edges <= 8; n_edges += 2)
    for (int kind = 0; kind < 3; kind++) {
      test_problem problem;
      test_solution solution;
      problem_init(&problem);
      int box = problem_add_box(&problem, 2, 0, 0, 0.5, 0.5, 0.5, 0.5);
      problem_add_face(&problem, box, -1, 0.5, n_edges);
      problem.bodies[box].v_free[0] = 3;
      for (int i = 0; i < problem.mlcp.n_frictions && kind > 0; i++) {
        problem.frictions[i].coefficient = 0;
        problem.frictions[i].limit = 0.25;
        if (kind == 2) problem.frictions[i].normal = -1; // a brake
      }
      solution_init(&solution, &problem.mlcp);
      CU_ASSERT_EQUAL(solve(&problem.mlcp, &solution.mlcp).status,
                      SOLVER_SOLVED);
      CU_ASSERT_DOUBLE_EQUAL(solution.mlcp.v[0],
                             kind > 0 ? 2.5 : 3 - 0.5 * 9.81 * 0.01, 1e-9);
      solution_release(&solution);
      problem_release(&problem);
    }
}

/* ---- hard ones ---------------------------------------------------------- */

/* Compliance of 1e-11 of the diagonal, as light and thin bodies have it, and
 * slips that contradict each other by ten times the tolerance: to meet it redundant
 * contacts have to push and pull with twenty times what they carry. All velocities are
 * right, and three quarters of these are found. */
static void test_nearly_rigid(void) {
  enum { N_WALLS = 60, MAY_BE_LEFT = N_WALLS / 4 };
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
    solver_status status = status_of(&problem);
    CU_ASSERT(solver_succeeded(status));
    n_left += status != SOLVER_SOLVED;
  }
  printf("  %d of %d walls left\n", n_left, N_WALLS);
  CU_ASSERT(n_left <= MAY_BE_LEFT);
}

/* At mu = 2, without position corrections, there is a solution, and the central path of
 * most heaps has turning points: without
 * continuation past them hardly a third of these is solved here. */
static void test_turning_points(void) {
  enum { HEAPS = 20 };
  int n_solved = 0;
  for (unsigned seed = 0; seed < HEAPS; seed++) {
    test_problem problem;
    problem_make_heap(&problem, 30, seed, 2, 4);
    for (int r = 0; r < problem.mlcp.n_rows; r++)
      problem.rows[r].bias = fmax(problem.rows[r].bias, 0);
    set_compliance(&problem, 1e-8);
    n_solved += status_of(&problem) == SOLVER_SOLVED;
  }
  CU_ASSERT(n_solved >= HEAPS - 1);
}

/* A mass with a skew part, as gyroscopic terms make it. */
static void test_unsymmetric_mass(void) {
  test_problem problem;
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
  CU_ASSERT_EQUAL(status_of(&problem), SOLVER_SOLVED);
}

/* What pushes a body also turns it, and more one way than another: the mass of a step
 * in which forces change with the pose. The velocities are M^-1 of what acts. */
static void test_full_mass(void) {
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
    CU_ASSERT_EQUAL(status_of(&problem), SOLVER_SOLVED);
  }
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
  lemke_options lemke_choice;
  lemke_choice = lemke_default_options;
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
    lemke_report result = lemke_mlcp_solve(&memory_from_malloc, &problem.mlcp,
                                           &lemke_choice, &solution.mlcp);
    CU_ASSERT_EQUAL(result.status, LEMKE_SOLVED);
    expect_sane(&problem.mlcp, &solution.mlcp, result.residual);
    solution_release(&solution);
    problem_release(&problem);
  }
  CU_ASSERT(n_jammed > 0 && n_jammed < (int)n_seeds * 3 / 4);
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
    for (int which = 0; which < 8; which++) {
      static const double bad[] = {NAN,    INFINITY, -INFINITY, 1e300,
                                   -1e300, 1e6,      NAN,       1e12};
      options.kind = (solver_kind)kind;
      for (int r = 0; r < problem.mlcp.n_rows; r++)
        guess[r] = which > 5 || r % 3 == 0 ? bad[which] : r % 3 == 1 ? 10 : -1;
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

static bool same_solution(const mlcp_problem *problem, const mlcp_solution *a,
                          const mlcp_solution *b) {
  size_t d = sizeof(double);
  return memcmp(a->v, b->v, 6 * d * (size_t)problem->n_bodies) == 0 &&
         memcmp(a->p, b->p, d * (size_t)problem->n_rows) == 0 &&
         memcmp(a->beta, b->beta, 2 * d * (size_t)problem->n_pairs) == 0 &&
         memcmp(a->lambda, b->lambda, d * (size_t)problem->n_frictions) == 0;
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
    CU_ASSERT(same_solution(&problem.mlcp, &first.mlcp, &second.mlcp));
  }
  solver_default_options(&options);
  solution_release(&first);
  solution_release(&second);
  solution_release(&third);
  problem_release(&problem);
  problem_release(&other);
}

/* Solved with and without wide registers, from nothing and from a guess. */
static void expect_same_without_wide(const mlcp_problem *problem) {
  test_solution solutions[2][2];
  for (int narrow = 0; narrow < 2; narrow++) {
    solver_workspace *fresh = solver_workspace_create(&memory_from_malloc);
    test_solution *cold = &solutions[narrow][0], *warm = &solutions[narrow][1];
    solution_init(cold, problem);
    solution_init(warm, problem);
    six_forbid_wide = narrow;
    solver_solve(fresh, problem, &options, NULL, &cold->mlcp);
    for (int r = 0; r < problem->n_rows; r++) cold->mlcp.p[r] *= 1.01;
    solver_solve(fresh, problem, &options, cold->mlcp.p, &warm->mlcp);
    six_forbid_wide = false;
    solver_workspace_destroy(fresh);
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

/* Whatever the budget, the work keeps within it, what is returned is the best
 * that was found, and more work never leaves a worse answer behind than nothing
 * would be; the same budget is the same bits. */
static void test_budget_bounds_the_work(void) {
  static const double budgets[] = {1, 3, 10, 30, 100, INFINITY};
  enum { N_BUDGETS = sizeof budgets / sizeof budgets[0] };
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
      expect_sane(&problem.mlcp, &solution.mlcp, report.residual);
      CU_ASSERT_EQUAL(solver_succeeded(report.status),
                      report.residual <= bounded.acceptable);
      if (report.stopped) CU_ASSERT_EQUAL(report.status, SOLVER_DEGRADED);
      n_stopped += report.stopped;
      if (isinf(budgets[i])) CU_ASSERT_EQUAL(report.status, SOLVER_SOLVED);
      solver_solve(workspace, &problem.mlcp, &bounded, NULL, &again.mlcp);
      CU_ASSERT(same_solution(&problem.mlcp, &again.mlcp, &solution.mlcp));
    }
    CU_ASSERT(n_stopped > 0); // one factorisation is no solution
    solution_release(&solution);
    solution_release(&again);
    problem_release(&problem);
  }
}

/* ---- memory that runs out ---------------------------------------------- */

/* Until one solve goes through. */
static void fail_every_allocation(const test_problem *problem,
                                  const test_solution *solution) {
  for (int k = 0;; k++) {
    failing_memory memory = {0};
    memory_source source = failing_memory_source(&memory);
    fail_allocation(&memory, k);
    solution->mlcp.p[0] = -1;
    solver_workspace *starved = solver_workspace_create(&source);
    solver_report report = {.status = SOLVER_NO_MEMORY};
    if (starved != NULL)
      report = solver_solve(starved, &problem->mlcp, &options, NULL,
                            &solution->mlcp);
    bool failed = report.status == SOLVER_NO_MEMORY;
    if (failed) {
      CU_ASSERT(an_allocation_failed(&memory));
      CU_ASSERT_EQUAL(solution->mlcp.p[0], -1);
      // the workspace recovers once there is memory again
      fail_no_allocation(&memory);
      if (starved != NULL)
        report = solver_solve(starved, &problem->mlcp, &options, NULL,
                              &solution->mlcp);
    }
    if (starved != NULL)
      expect_sane(&problem->mlcp, &solution->mlcp, report.residual);
    solver_workspace_destroy(starved);
    CU_ASSERT_EQUAL(memory.bytes_held, 0);
    if (!failed) {
      CU_ASSERT(k > 3);
      return;
    }
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
      {"joints and motors", test_joints_and_motors},
      {"several friction sets", test_motor_friction_and_rolling},
      {"small ones by the thousand", test_small_ones_by_the_thousand},
      {"eight points a face", test_eight_points_a_face},
      {"friction of any size", test_friction_of_any_size},
      {"rows of zeros", test_rows_of_zeros},
      {"none, one and two rows", test_none_one_and_two_rows},
      {"contradictions end", test_contradictions_end},
      {"joint rows keep to their bounds", test_joint_rows_keep_to_their_bounds},
      {"a slide is braked", test_a_slide_is_braked},
      {"nearly rigid rows", test_nearly_rigid},
      {"turning points", test_turning_points},
      {"unsymmetric mass", test_unsymmetric_mass},
      {"full mass", test_full_mass},
      {"inconsistent contacts", test_inconsistent_contacts_are_degraded},
      {"locked contacts", test_locked_contacts},
      {"foreign friction", test_foreign_friction},
      {"too many rows", test_too_many_rows_are_refused},
      {"guesses", test_guess_is_only_a_start},
      {"same bits", test_same_bits_whatever_came_before},
      {"same bits without wide registers",
       test_same_bits_without_wide_registers},
      {"budget bounds the work", test_budget_bounds_the_work},
      {"allocations fail", test_every_allocation_may_fail},
      CU_TEST_INFO_NULL};
  workspace = solver_workspace_create(&memory_from_malloc);
  if (workspace == NULL) return 1;
  solver_default_options(&options);
  int status = run_tests("cascade", tests);
  solver_workspace_destroy(workspace);
  return status;
}
