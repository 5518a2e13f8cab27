/* The stages' methods one by one, on problems small enough to be solved by hand:
 * which states a guess stands for, how many pivots and factorisations a path takes, what
 * a factored system solves. */
#include <math.h>
#include <string.h>

#include "problems.h"
#include "solver/active_set.h"
#include "solver/continuation.h"
#include "solver/interior_point.h"
#include "solver/pivots.h"
#include "lcp/lemke_factor.h"
#include "solver/solver.h"
#include "testing.h"

static const double g_h = 9.81 * 0.01; // m/s that a box gains in a step

/* ---- helpers ------------------------------------------------------------- */

/* A problem in the box formulation, with room for every method. */
static void open_work(solve_work *work, const mlcp_problem *problem) {
  memset(work, 0, sizeof *work);
  work->arena.source = &memory_from_malloc;
  body_blocks_init(&work->blocks, &memory_from_malloc);
  arena_start(&work->arena);
  CU_ASSERT_EQUAL_FATAL(box_build(&work->box, &work->arena, problem),
                        BOX_BUILT);
  CU_ASSERT_FATAL(solve_work_reserve(work) &&
                  continuation_reserve(work, false) &&
                  interior_point_reserve(work) && pivots_reserve(work));
  CU_ASSERT_FATAL(body_blocks_order(&work->blocks, work->box.n_bodies,
                                    work->box.body_pairs,
                                    work->box.n_body_pairs));
  solve_work_set_cost(work);
  work->budget = INFINITY;
  work->target = work->digits = 1e-11;
  work->best_residual = INFINITY;
  memset(work->best_p, 0, sizeof(double) * (size_t)work->box.n_rows);
  memset(work->state, ROW_ACTIVE, sizeof(int) * (size_t)work->box.n_rows);
  work->n_known = 0;
  solve_work_evaluate(work);
}

static void close_work(solve_work *work) {
  arena_release(&work->arena);
  body_blocks_release(&work->blocks);
}

static void finish(solve_work *work, test_problem *problem) {
  close_work(work);
  problem_release(problem);
}

/* The box row of a row of the problem. */
static int box_row_of(const solve_work *work, int row) {
  for (int r = 0; r < work->box.n_rows; r++)
    if (work->box.origin[r].rows[0] == row) return r;
  return -1;
}

/* n unit cubes of 1, 2, .. n kg on the ground, each on a point of its own. */
static void make_loose_cubes(test_problem *problem, int n) {
  const double up[3] = {0, 0, 1};
  problem_init(problem);
  for (int i = 0; i < n; i++) {
    double below[3] = {3. * i, 0, 0};
    int body = problem_add_box(problem, 1 + i, 3 * i, 0, 0.5, 0.5, 0.5, 0.5);
    problem_add_contact(problem, body, -1, below, up, 0, 0, 0);
  }
}

/* n unit cubes of 1, 2, .. n kg on each other, the first on the ground, each on a
 * point below its centre. */
static void make_tower(test_problem *problem, int n) {
  const double up[3] = {0, 0, 1};
  problem_init(problem);
  for (int i = 0; i < n; i++) {
    double below[3] = {0, 0, i};
    int body = problem_add_box(problem, 1 + i, 0, 0, i + 0.5, 0.5, 0.5, 0.5);
    problem_add_contact(problem, body, i - 1, below, up, 0, 0, 0);
  }
}

/* Impulses of the towers' contacts: each carries all that is above it. */
static void expect_tower(const solve_work *work, const double p[], int n) {
  double above = 0;
  for (int i = n - 1; i >= 0; i--) {
    above += (1 + i) * g_h;
    CU_ASSERT_DOUBLE_EQUAL(p[box_row_of(work, i)], above, 1e-9 * above);
  }
}

/* ---- states -------------------------------------------------------------- */

/* A row is at a limit within 1e-9 of its interval; a row without a high limit has no
 * interval: it is at the low one only there. A limit that is 0 has the sign of its
 * slip. */
static void test_states_of_a_guess(void) {
  const double along[6] = {1}, up[3] = {0, 0, 1}, below[3] = {0, 0, 0};
  test_problem problem;
  solve_work work;
  problem_init(&problem);
  problem_add_box(&problem, 1, 0, 0, 0.5, 0.5, 0.5, 0.5);
  int motor = problem_add_row(&problem, 0, -1, along, NULL, 0, -2, 4);
  problem_add_contact(&problem, 0, -1, below, up, 0, 0.5, 4);
  open_work(&work, &problem.mlcp);
  int m = box_row_of(&work, motor), normal = box_row_of(&work, motor + 1);
  int rub = normal + 1; // generators come after their normal
  CU_ASSERT_EQUAL_FATAL(work.box.type[rub], BOX_FRICTION);

  const struct {
    double p;
    int state;
  } motors[] = {{-2, ROW_AT_LOW},        {-2 + 5e-9, ROW_AT_LOW},
                {-2 + 7e-9, ROW_ACTIVE}, {4 - 7e-9, ROW_ACTIVE},
                {4 - 5e-9, ROW_AT_HIGH}, {4, ROW_AT_HIGH}};
  for (size_t i = 0; i < sizeof motors / sizeof *motors; i++) {
    memset(work.p, 0, sizeof *work.p * (size_t)work.box.n_rows);
    work.p[m] = motors[i].p;
    work.p[normal] = 1e-12;
    solve_work_evaluate(&work);
    active_set_of_guess(&work);
    CU_ASSERT_EQUAL(work.state[m], motors[i].state);
    CU_ASSERT_EQUAL(work.state[normal], ROW_ACTIVE);
  }

  // a normal of 2 gives each generator of a square |g| 0.5 2 to either side
  double limit = work.box.coefficient[rub] * 2;
  CU_ASSERT_DOUBLE_EQUAL(limit, sqrt(0.5), 1e-12);
  const struct {
    double p;
    int state;
  } rubs[] = {{-limit, ROW_AT_LOW},
              {-limit * (1 - 1e-9), ROW_AT_LOW},
              {-limit * (1 - 4e-9), ROW_ACTIVE},
              {limit * (1 - 4e-9), ROW_ACTIVE},
              {limit, ROW_AT_HIGH}};
  work.p[normal] = 2;
  for (size_t i = 0; i < sizeof rubs / sizeof *rubs; i++) {
    work.p[rub] = rubs[i].p;
    active_set_of_guess(&work);
    CU_ASSERT_EQUAL(work.state[rub], rubs[i].state);
  }

  work.p[normal] = work.p[rub] = 0;
  for (int sign = -1; sign <= 1; sign += 2) {
    work.w[rub] = sign * 0.3;
    active_set_of_guess(&work);
    CU_ASSERT_EQUAL(work.state[rub], sign > 0 ? ROW_AT_LOW : ROW_AT_HIGH);
    CU_ASSERT_EQUAL(work.state[normal], ROW_AT_LOW);
  }
  finish(&work, &problem);
}

/* ---- the linear system --------------------------------------------------- */

/* The largest |M dv - J' W (r - J dv)| beside the largest |J' W r|, for slips and
 * weights at random; `follows` gives friction rows weights on their normal. */
static double system_error(solve_work *work, bool follows, uint64_t seed) {
  const box_problem *box = &work->box;
  const box_weights *weights = &work->weights;
  test_random random = {seed};
  int n_v = 6 * box->n_bodies;
  double dp[256], left[256], momentum[384], worst = 0, size = 0;
  CU_ASSERT_FATAL(box->n_rows <= 250 && n_v <= 384);
  for (int r = 0; r < box->n_rows; r++) {
    weights->own[r] = test_uniform(&random, 0.5, 2);
    weights->follow[r] = follows && box->normal_of[r] != r
                             ? test_uniform(&random, -0.4, 0.4)
                             : 0;
    work->r[r] = test_uniform(&random, -1, 1);
  }
  bool anew;
  CU_ASSERT_FATAL(
      box_system_factor(&work->blocks, box, weights, !follows, &anew));
  box_system_solve(&work->blocks, box, weights, work->r, work->dv, dp, left);
  double Jdv[256], answer[256];
  box_relative(box, work->dv, Jdv);
  for (int r = 0; r < box->n_rows; r++) left[r] = work->r[r] - Jdv[r];
  for (int r = 0; r < box->n_rows; r++)
    answer[r] = weights->own[r] * left[r] +
                weights->follow[r] * left[box->normal_of[r]];
  box_impulses(box, answer, momentum);
  for (int b = 0; b < box->n_bodies; b++)
    for (int i = 0; i < 6; i++) {
      double sum = 0;
      for (int j = 0; j < 6; j++)
        sum += box->problem->bodies[b].mass[6 * i + j] * work->dv[6 * b + j];
      worst = fmax(worst, fabs(sum - momentum[6 * b + i]));
      size = fmax(size, fabs(momentum[6 * b + i]));
    }
  for (int r = 0; r < box->n_rows; r++)
    worst = fmax(worst, fabs(dp[r] - answer[r]));
  return worst / size;
}

/* H's blocks: of rows at one point of two bodies, of rows that are not, with bodies
 * in either order of elimination, symmetric and not. */
static void test_system_of_any_order(void) {
  for (int apart = 0; apart < 2; apart++)
    for (int turned = 0; turned < 2; turned++) {
      test_problem problem;
      solve_work work;
      const double points[5][3] = {{0.3, 0.2, 1},
                                   {1, 0.1, 0.4},
                                   {-1, 0.2, 0.3},
                                   {0.1, 1, 0},
                                   {0, -1, 1}};
      problem_init(&problem);
      // a hub last or first: a spoke is eliminated before it
      int hub = turned ? 0 : 5;
      for (int b = 0; b < 6; b++)
        problem_add_box(&problem, 1 + b, 2 * b, b % 2, 0.5 * b, 0.5, 0.4, 0.3);
      for (int k = 0; k < 5; k++) {
        const double tilted[3] = {0.6, 0, 0.8};
        int spoke = turned ? k + 1 : k;
        problem_add_contact(&problem, hub, spoke, points[k], tilted, 0, 0.5, 4);
        problem_add_contact(&problem, spoke, k > 0 ? (turned ? k : k - 1) : -1,
                            points[(k + 2) % 5], tilted, 0, 0.5, 4);
        if (!apart) continue;
        const double J_a[6] = {1, 0, 0, 0.2, 0.3, 0.7};
        const double J_b[6] = {-0.4, 0.1, 0.6, 0, 0.2, -1};
        problem_add_row(&problem, hub, spoke, J_a, J_b, 0, -INFINITY, INFINITY);
      }
      open_work(&work, &problem.mlcp);
      int n_twisted = 0, n_first = 0, n_pairs = 0;
      for (int e = 0; e < work.box.n_graph_edges; e++) {
        const graph_edge *edge = &work.box.graph_edges[e];
        if (edge->b < 0) continue;
        n_pairs++;
        n_twisted += edge->twisted;
        n_first += work.blocks.place[edge->a] < work.blocks.place[edge->b];
      }
      // what the test is for is there
      CU_ASSERT(apart ? n_twisted < n_pairs : n_twisted == n_pairs);
      CU_ASSERT(n_first > 0 && n_first < n_pairs);
      for (int follows = 0; follows < 2; follows++)
        for (uint64_t seed = 0; seed < 3; seed++) // again: fill starts from 0
          CU_ASSERT(system_error(&work, follows, seed) < 1e-12);
      finish(&work, &problem);
    }
}

/* ---- paths --------------------------------------------------------------- */

/* From no impulses every cube's contact is at its limit and asks to leave it: a pivot
 * each. 32 pivots are kept beside the factors: those of the start, those of the 33rd
 * pivot, and those of the end. */
static void test_pivots_of_loose_cubes(void) {
  for (int n = 1; n <= 40; n += 13) {
    test_problem problem;
    solve_work work;
    make_loose_cubes(&problem, n);
    open_work(&work, &problem.mlcp);
    CU_ASSERT(pivots_solve(&work, 1000));
    solve_work_evaluate(&work);
    CU_ASSERT(work.residual <= work.target);
    CU_ASSERT_EQUAL(work.pivots, n);
    CU_ASSERT_EQUAL(work.factorisations, n > 32 ? 3 : 2);
    for (int i = 0; i < n; i++)
      CU_ASSERT_DOUBLE_EQUAL(work.p[box_row_of(&work, i)], (1 + i) * g_h,
                             1e-9 * n);
    finish(&work, &problem);
  }
}

/* With bodies on both sides of a contact; to the active set all is wrong at first. Where all
 * rows push, all being active is the answer: one factorisation, and the next stage reuses
 * it. */
static void test_towers(void) {
  enum { PIVOTS, CONTINUATION, ACTIVE_SET, WAYS };
  for (int way = 0; way < WAYS; way++) {
    const int n = way == ACTIVE_SET ? 6 : 12;
    test_problem problem;
    solve_work work;
    make_tower(&problem, n);
    open_work(&work, &problem.mlcp);
    CU_ASSERT(way == PIVOTS         ? pivots_solve(&work, 1000)
              : way == CONTINUATION ? continuation_solve(&work)
                                    : active_set_solve(&work, 4));
    solve_work_evaluate(&work);
    CU_ASSERT(work.residual <= work.target);
    expect_tower(&work, work.p, n);
    if (way == PIVOTS) {
      CU_ASSERT(work.pivots >= n);
      CU_ASSERT_EQUAL(work.factorisations, 2); // pivots had good determinants
    } else if (way == CONTINUATION) {
      // the last prox is a thousandth of a residual of 1, then none is smaller than 1e-9
      CU_ASSERT(work.factorisations <= 4);
      CU_ASSERT_EQUAL(work.pivots, 0);
    }
    finish(&work, &problem);
  }
}

/* Bodies that nothing but friction brings to rest have velocities whatever wedges them,
 * and the path from no impulses comes to them: it ends in no ray and in no circle. */
static void test_paths_from_nothing_end(void) {
  for (unsigned seed = 0; seed < 40; seed++) {
    test_problem problem;
    solve_work work;
    problem_make_heap(&problem, 16, seed, 1.5, 4);
    for (int r = 0; r < problem.mlcp.n_rows; r++) problem.rows[r].bias = 0;
    open_work(&work, &problem.mlcp);
    CU_ASSERT(continuation_by_pivots(&work, 1e-6, 1000));
    CU_ASSERT(work.residual <= work.target);
    finish(&work, &problem);
  }
}

/* A box that is pushed along the ground by 3/4 of what friction holds, and by 3/2: the
 * second friction row follows the normal too. Each generator carries an equal share of
 * a push along the diagonal between them, which is an edge of the polygon. */
static void test_continuation_with_friction(void) {
  const double up[3] = {0, 0, 1}, below[3] = {0, 0, 0};
  for (int i = 0; i < 4; i++) {
    int k = i % 2;
    bool slides = i >= 2;
    test_problem problem;
    solve_work work;
    problem_init(&problem);
    problem_add_box(&problem, 2, 0, 0, 0, 0.5, 0.5, 0.5); // no arm
    problem_add_contact(&problem, 0, -1, below, up, 0, 0.8, 4);
    double most = 0.8 * g_h, push = (slides ? 1.5 : 0.75) * most;
    problem.bodies[0].v_free[k] = push;
    open_work(&work, &problem.mlcp);
    CU_ASSERT(continuation_solve(&work));
    CU_ASSERT(work.residual <= work.target);
    // all rows active holds the box; a slide needs the states once more
    CU_ASSERT(work.factorisations <= 1 + 2 * slides);
    CU_ASSERT_DOUBLE_EQUAL(work.p[0], 2 * g_h, 1e-9);
    double made = 0, size = 0;
    for (int r = 1; r < 3; r++) {
      made += work.box.origin[r].g[k] * work.p[r];
      size = fmax(size, fabs(work.p[r]));
    }
    double held = slides ? most : push;
    CU_ASSERT_DOUBLE_EQUAL(made, -2 * held, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(size, 2 * held * sqrt(0.5), 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(work.v[k], push - held, 1e-9);
    finish(&work, &problem);
  }
}

/* Two boxes pushed by 3/4 of what friction holds in a circle: it holds one, and of the
 * other, whose ellipse is half as wide there, 1/2. */
static void test_polygons_that_begin_alike(void) {
  const double up[3] = {0, 0, 1};
  test_problem problem;
  solve_work work;
  problem_init(&problem);
  for (int i = 0; i < 2; i++) {
    const double below[3] = {2 * i, 0, 0};
    problem_add_box(&problem, 2, 2 * i, 0, 0, 0.5, 0.5, 0.5); // no arm
    problem_add_contact(&problem, i, -1, below, up, 0, 0.8, 4);
    problem.bodies[i].v_free[1] = 0.75 * 0.8 * g_h;
  }
  problem.pairs[problem.frictions[1].first_pair + 1].u[1] *= 0.5;
  open_work(&work, &problem.mlcp);
  CU_ASSERT(continuation_solve(&work));
  CU_ASSERT_DOUBLE_EQUAL(work.v[1], 0, 1e-9);
  CU_ASSERT_DOUBLE_EQUAL(work.v[7], 0.25 * 0.8 * g_h, 1e-9);
  finish(&work, &problem);
}

/* A push that takes the first generator beyond its limit and the second to 0.8 of its
 * own: one slides, the other holds. */
static void test_continuation_with_half_a_slide(void) {
  const double up[3] = {0, 0, 1}, below[3] = {0, 0, 0};
  for (int signs = 0; signs < 4; signs++) {
    test_problem problem;
    solve_work work;
    problem_init(&problem);
    problem_add_box(&problem, 2, 0, 0, 0, 0.5, 0.5, 0.5); // no arm
    problem_add_contact(&problem, 0, -1, below, up, 0, 0.8, 4);
    open_work(&work, &problem.mlcp);
    double limit = work.box.coefficient[1] * 2 * g_h;
    double share[2] = {signs & 1 ? 1.5 : -1.5, signs & 2 ? 0.8 : -0.8};
    double push[2] = {0, 0};
    for (int r = 0; r < 2; r++)
      for (int k = 0; k < 2; k++)
        push[k] -= share[r] * limit / 2 * work.box.origin[1 + r].g[k];
    close_work(&work);
    memcpy(problem.bodies[0].v_free, push, sizeof push);
    open_work(&work, &problem.mlcp);
    CU_ASSERT(continuation_solve(&work));
    CU_ASSERT(work.residual <= work.target);
    CU_ASSERT_DOUBLE_EQUAL(work.p[1], share[0] / 1.5 * limit, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(work.p[2], share[1] * limit, 1e-9);
    finish(&work, &problem);
  }
}

/* Boxes that move, with friction, from nothing: what continuation does not solve it
 * gives up at steps that stay short, so that trying costs little. */
static void test_continuation_of_moving_boxes(void) {
  enum { SEEDS = 12, MOST = 2, DEAREST = 30 };
  int n_solved = 0;
  for (int n = 1; n <= MOST; n++)
    for (unsigned seed = 0; seed < SEEDS; seed++) {
      test_problem problem;
      solve_work work;
      problem_init(&problem);
      problem_make_heap(&problem, n, seed, 0.5, 4);
      for (int r = 0; r < problem.mlcp.n_rows; r++)
        problem.rows[r].bias = fmax(problem.rows[r].bias, 0);
      open_work(&work, &problem.mlcp);
      bool solved = continuation_solve(&work);
      CU_ASSERT_EQUAL(solved, work.residual <= work.target);
      CU_ASSERT(work.factorisations <= DEAREST);
      n_solved += solved;
      finish(&work, &problem);
    }
  CU_ASSERT(n_solved >= MOST * SEEDS * 3 / 4);
}

/* Interior points alone, straight and along the curve, with motors that reach their high limit, their low one, and
 * none: v = 1 + p, so that p = -1 if it may. */
static void test_interior_of_motors(void) {
  const struct {
    double low, high, p;
  } motors[] = {{-3, -2, -2}, {-0.5, 4, -0.5}, {-4, 3, -1}, {2, 3, 2}};
  const double along[6] = {1};
  test_problem problem;
  solve_work work;
  problem_init(&problem);
  for (int i = 0; i < 4; i++) {
    int body = problem_add_box(&problem, 1, 3 * i, 0, 0, 0.5, 0.5, 0.5);
    problem.bodies[body].v_free[0] = 1;
    problem_add_row(&problem, body, -1, along, NULL, 0, motors[i].low,
                    motors[i].high);
  }
  for (int k = 0; k < 2; k++) {
    open_work(&work, &problem.mlcp);
    CU_ASSERT(k == 0 ? interior_point_solve(&work)
                     : interior_point_follow(&work));
    CU_ASSERT(work.residual <= work.target);
    for (int i = 0; i < 4; i++)
      CU_ASSERT_DOUBLE_EQUAL(work.p[box_row_of(&work, i)], motors[i].p, 1e-9);
    close_work(&work);
  }
  problem_release(&problem);
}

/* ---- scales -------------------------------------------------------------- */

/* Columns whose largest entry is not on the diagonal: rows change places. */
static void test_factors_exchange_rows(void) {
  // [[0, 2, 1], [4, 1, 0], [0, 8, 3]], by columns
  const int start[] = {0, 1, 4, 6}, row[] = {1, 0, 1, 2, 0, 2};
  const double value[] = {4, 2, 1, 8, 1, 3};
  lemke_factor *factor = lemke_factor_create(&memory_from_malloc);
  CU_ASSERT_EQUAL_FATAL(lemke_factor_build(factor, 3, start, row, value),
                        LEMKE_FACTOR_OK);
  double x[3] = {2 * 2 + 3, 4 * 1 + 2, 8 * 2 + 3 * 3}; // of (1, 2, 3)
  lemke_factor_solve(factor, x);
  for (int i = 0; i < 3; i++) CU_ASSERT_DOUBLE_EQUAL(x[i], 1 + i, 1e-13);
  lemke_factor_destroy(factor);
}

/* ---- units --------------------------------------------------------------- */

/* The same problem with masses times m and velocities times s, both powers of two:
 * impulses are times m s, bit for bit. */
static void scale_problem(test_problem *problem, double m, double s) {
  for (int b = 0; b < problem->mlcp.n_bodies; b++) {
    mlcp_body *body = &problem->bodies[b];
    for (int i = 0; i < 36; i++) {
      body->mass[i] *= m;
      body->inverse_mass[i] /= m;
    }
    for (int i = 0; i < 6; i++) body->v_free[i] *= s;
  }
  for (int r = 0; r < problem->mlcp.n_rows; r++) {
    mlcp_row *row = &problem->rows[r];
    row->bias *= s;
    row->compliance /= m;
    row->low *= m * s;
    row->high *= m * s;
  }
  for (int i = 0; i < problem->mlcp.n_frictions; i++)
    problem->frictions[i].limit *= m * s;
  problem->mlcp.velocity_floor *= s;
}

/* Kilograms or grams, metres or millimetres: the same path, the same work, the same
 * bits. */
static void test_units_change_no_bit(void) {
  const double units[][2] = {
      {1, 1}, {0x1p-20, 1}, {0x1p20, 1}, {1, 0x1p-10}, {0x1p-7, 0x1p9}};
  solver_options options;
  solver_default_options(&options);
  for (unsigned seed = 0; seed < 16; seed++) {
    static double first[4096];
    solver_report reports[5];
    for (int u = 0; u < 5; u++) {
      solver_workspace *workspace =
          solver_workspace_create(&memory_from_malloc);
      test_problem problem;
      test_solution solution;
      problem_init(&problem);
      if (seed % 4 == 3)
        problem_make_wall(&problem, 3 + (int)seed / 4, 0.5, 4);
      else
        problem_make_heap(&problem, 6 + (int)seed, seed, 0.3 * (1 + seed % 3),
                          seed % 4 == 1 ? 8 : 4);
      for (int r = 0; r < problem.mlcp.n_rows; r++)
        problem.rows[r].compliance = seed % 2 ? 1e-8 : 0;
      scale_problem(&problem, units[u][0], units[u][1]);
      solution_init(&solution, &problem.mlcp);
      reports[u] = solver_solve(workspace, &problem.mlcp, &options, NULL,
                                &solution.mlcp);
      double unit = units[u][0] * units[u][1];
      int n_others = 0;
      for (int r = 0; r < problem.mlcp.n_rows; r++) {
        if (u == 0) first[r] = solution.mlcp.p[r];
        n_others += solution.mlcp.p[r] != first[r] * unit;
      }
      CU_ASSERT_EQUAL(n_others, 0);
      CU_ASSERT_EQUAL(reports[u].stage, reports[0].stage);
      CU_ASSERT_EQUAL(reports[u].factorisations, reports[0].factorisations);
      CU_ASSERT_EQUAL(reports[u].iterations, reports[0].iterations);
      CU_ASSERT_EQUAL(reports[u].pivots, reports[0].pivots);
      CU_ASSERT_EQUAL(reports[u].residual, reports[0].residual);
      solution_release(&solution);
      problem_release(&problem);
      solver_workspace_destroy(workspace);
    }
  }
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"states of a guess", test_states_of_a_guess},
      {"system of any order", test_system_of_any_order},
      {"pivots of loose cubes", test_pivots_of_loose_cubes},
      {"towers", test_towers},
      {"paths from nothing end", test_paths_from_nothing_end},
      {"polygons that begin alike", test_polygons_that_begin_alike},
      {"continuation with friction", test_continuation_with_friction},
      {"continuation with half a slide", test_continuation_with_half_a_slide},
      {"continuation of moving boxes", test_continuation_of_moving_boxes},
      {"interior of motors", test_interior_of_motors},
      {"factors exchange rows", test_factors_exchange_rows},
      {"units change no bit", test_units_change_no_bit},
      {NULL, NULL}};
  return run_tests("methods of the stages", tests);
}
