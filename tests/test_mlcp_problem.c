/* The mixed LCP: what is refused, what its residual notices, how friction
 * impulses become edge impulses. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems.h"
#include "testing.h"

static const double pi = 3.14159265358979323846;

/* ---- mlcp_check -------------------------------------------------------- */

static test_problem problem;
static char message[200];

static void expect_wrong(const char *words) {
  CU_ASSERT(!mlcp_check(&problem.mlcp, message, sizeof message));
  if (strstr(message, words) == NULL) {
    fprintf(stderr, "\nexpected '%s' in '%s'\n", words, message);
    CU_FAIL("the message names something else");
  }
}

/* Sets `place` to `value`, expects a message, and puts the old value back. */
#define EXPECT_WRONG(place, value, words)                                      \
  do {                                                                         \
    __typeof__(place) kept = place;                                            \
    place = value;                                                             \
    expect_wrong(words);                                                       \
    place = kept;                                                              \
    CU_ASSERT(mlcp_check(&problem.mlcp, message, 1));                          \
  } while (0)

static void test_check_refuses(void) {
  problem_make_wall(&problem, 3, 0.5, 4);
  CU_ASSERT(mlcp_check(&problem.mlcp, message, sizeof message));
  CU_ASSERT_STRING_EQUAL(message, "");

  EXPECT_WRONG(problem.mlcp.velocity_floor, 0.0, "velocity_floor");
  EXPECT_WRONG(problem.mlcp.n_rows, -1, "negative");
  EXPECT_WRONG(problem.bodies[2].mass[7], 0.0, "body 2");
  EXPECT_WRONG(problem.bodies[1].mass[3], NAN, "body 1");
  EXPECT_WRONG(problem.bodies[1].inverse_mass[35], -1.0, "body 1");
  EXPECT_WRONG(problem.bodies[0].v_free[5], INFINITY, "body 0: v_free");
  EXPECT_WRONG(problem.rows[4].bias, NAN, "row 4: bias is nan");
  EXPECT_WRONG(problem.rows[4].J[0][2], NAN, "row 4: J");
  EXPECT_WRONG(problem.rows[4].compliance, -1e-9, "row 4: compliance");
  EXPECT_WRONG(problem.rows[4].body[0], 6, "row 4: body 6");
  EXPECT_WRONG(problem.rows[4].body[1], -2, "row 4: body -2");
  EXPECT_WRONG(problem.rows[3].low, -1.0, "row 3: a normal");
  EXPECT_WRONG(problem.rows[3].high, NAN, "row 3: a bound");
  EXPECT_WRONG(problem.rows[3].kind, (mlcp_row_kind)9, "row 3: unknown");
  EXPECT_WRONG(problem.rows[4].kind, MLCP_ROW_NORMAL, "row 4");
  EXPECT_WRONG(problem.frictions[1].normal, 4, "friction 1");
  EXPECT_WRONG(problem.frictions[1].normal, -1, "friction 1: coefficient");
  EXPECT_WRONG(problem.frictions[1].coefficient, -0.1, "friction 1");
  EXPECT_WRONG(problem.frictions[1].limit, NAN, "friction 1: limit");
  EXPECT_WRONG(problem.frictions[1].n_base, 3, "friction 1: base rows");
  EXPECT_WRONG(problem.frictions[1].first_pair, 0, "friction 1: shares");
  EXPECT_WRONG(problem.frictions[1].first_row, 1, "friction 1: shares");
  EXPECT_WRONG(problem.frictions[1].n_pairs, 100000, "friction 1: pairs");
  EXPECT_WRONG(problem.mlcp.n_frictions, 3, "belong to no friction set");
  EXPECT_WRONG(problem.pairs[2].u[0], 0.0, "friction 1: pair 0");
  EXPECT_WRONG(problem.pairs[3].u[1], -1.0, "counter-clockwise");

  int joint = problem_add_row(&problem, 0, 1, problem.rows[9].J[0],
                              problem.rows[9].J[0], 0, -1, 1);
  CU_ASSERT(mlcp_check(&problem.mlcp, message, sizeof message));
  EXPECT_WRONG(problem.rows[joint].low, 2.0, "out of order");
  EXPECT_WRONG(problem.rows[joint].low, INFINITY, "out of order");
  EXPECT_WRONG(problem.rows[joint].body[1], 0, "both sides");
  problem_release(&problem);
}

/* ---- mlcp_residual ----------------------------------------------------- */

/* A unit cube of mass 2 slides at 1 m/s on one contact under its centre; a
 * friction of mu takes mu g h off its speed. */
static void make_slide(test_solution *solution, double mu) {
  static const double up[3] = {0, 0, 1}, origin[3] = {0, 0, 0.5};
  problem_init(&problem);
  problem_add_box(&problem, 2, 0, 0, 0.5, 0.5, 0.5, 0.5);
  problem_add_contact(&problem, 0, -1, origin, up, 0, mu, 4);
  problem.bodies[0].v_free[0] = 1;
  solution_init(solution, &problem.mlcp);

  mlcp_solution *s = &solution->mlcp;
  double weight = 2 * 9.81 * problem.h;
  s->p[0] = weight;
  s->p[1] = -mu * weight;
  s->beta[1] = mu * weight;
  s->lambda[0] = 1 - mu * 9.81 * problem.h;
  s->v[0] = s->lambda[0];
}

static double residual(const test_solution *solution) {
  double scratch[6];
  return mlcp_residual(&problem.mlcp, &solution->mlcp, scratch);
}

static void test_residual_of_a_slide(void) {
  test_solution solution;
  make_slide(&solution, 0.5);
  mlcp_solution *s = &solution.mlcp;
  CU_ASSERT(residual(&solution) < 1e-15);
  CU_ASSERT_DOUBLE_EQUAL(mlcp_velocity_scale(&problem.mlcp), 1, 1e-15);
  CU_ASSERT_DOUBLE_EQUAL(mlcp_row_diagonal(&problem.mlcp, 0), 0.5, 1e-15);

  // every unknown that is a little off shows, in m/s over the scale of 1 m/s
  double *unknowns[] = {&s->v[0],    &s->v[2],    &s->v[5],    &s->p[0],
                        &s->p[1],    &s->p[2],    &s->beta[1], &s->lambda[0],
                        &s->beta[2], &s->beta[0], &s->beta[3]};
  for (size_t i = 0; i < sizeof unknowns / sizeof *unknowns; i++) {
    for (int sign = -1; sign < 2; sign += 2) {
      double kept = *unknowns[i];
      *unknowns[i] += sign * 1e-3;
      CU_ASSERT(residual(&solution) > 1e-4);
      CU_ASSERT(residual(&solution) < 1e-2);
      *unknowns[i] = kept;
    }
  }

  // so does a wrong active set: no friction at all, and a contact given up
  s->beta[1] = s->p[1] = 0;
  s->v[0] = s->lambda[0] = 1;
  CU_ASSERT_DOUBLE_EQUAL(residual(&solution), 0.5 * 9.81 * problem.h, 1e-12);
  s->p[0] = s->v[2] = 0;
  s->v[2] = -9.81 * problem.h;
  CU_ASSERT_DOUBLE_EQUAL(residual(&solution), 9.81 * problem.h, 1e-12);

  s->lambda[0] = NAN;
  CU_ASSERT(residual(&solution) == INFINITY);
  s->lambda[0] = 1;
  s->p[2] = INFINITY;
  CU_ASSERT(residual(&solution) == INFINITY);
  solution_release(&solution);
  problem_release(&problem);
}

/* What friction lacks of its limit counts by what it moves, however soft the normal is. */
static void test_residual_of_a_slide_on_what_is_soft(void) {
  const double lacks = 1e-6, softness = 1e5;
  test_solution solution;
  make_slide(&solution, 0.5);
  mlcp_solution *s = &solution.mlcp;
  problem.rows[0].compliance = softness;
  problem.rows[0].bias = -softness * s->p[0];
  s->p[1] += lacks;
  s->beta[1] -= lacks;
  s->v[0] += 0.5 * lacks;
  s->lambda[0] += 0.5 * lacks;
  CU_ASSERT_DOUBLE_EQUAL(
      residual(&solution) * mlcp_velocity_scale(&problem.mlcp), 0.5 * lacks,
      1e-3 * lacks);
  solution_release(&solution);
  problem_release(&problem);
}

/* Within its limit friction holds a cube still; of edges that do not add up to the
 * impulse nothing else tells. */
static void test_residual_of_edges_that_do_not_add_up(void) {
  test_solution solution;
  make_slide(&solution, 20 / (9.81 * 0.01));
  mlcp_solution *s = &solution.mlcp;
  s->p[1] = -2;
  s->beta[1] = 2;
  s->v[0] = s->lambda[0] = 0;
  CU_ASSERT(residual(&solution) < 1e-15);
  for (int edge = 0; edge < 4; edge++) {
    double kept = s->beta[edge];
    s->beta[edge] += 1e-3;
    CU_ASSERT_DOUBLE_EQUAL(residual(&solution), 0.5e-3, 1e-12);
    s->beta[edge] = kept;
  }
  solution_release(&solution);
  problem_release(&problem);
}

static void test_residual_of_bounded_rows(void) {
  static const double along_x[6] = {1};
  problem_init(&problem);
  problem_add_box(&problem, 2, 0, 0, 0, 1, 1, 1);
  // a motor that wants 3 m/s and has 4 N s, with its compliance
  problem_add_row(&problem, 0, -1, along_x, along_x, -3, -4, 4);
  problem.bodies[0].v_free[2] = 0;
  test_solution solution;
  solution_init(&solution, &problem.mlcp);
  mlcp_solution *s = &solution.mlcp;

  s->p[0] = 4;
  s->v[0] = 2;
  CU_ASSERT(residual(&solution) < 1e-15);
  problem.rows[0].high = 10;
  CU_ASSERT_DOUBLE_EQUAL(residual(&solution), 1.0 / 3, 1e-12);
  problem.rows[0].compliance = 0.25;
  CU_ASSERT(residual(&solution) < 1e-15);
  problem.rows[0].high = 3.5;
  CU_ASSERT_DOUBLE_EQUAL(residual(&solution), 0.5 * 0.75 / 3, 1e-12);

  // without bounds only w counts, however large the impulse
  problem.rows[0].low = -INFINITY;
  problem.rows[0].high = INFINITY;
  problem.rows[0].compliance = 0;
  problem.rows[0].bias = -5e9;
  s->p[0] = 1e10;
  s->v[0] = 5e9;
  CU_ASSERT(residual(&solution) < 1e-15);
  solution_release(&solution);
  problem_release(&problem);
}

/* ---- every condition written out ---------------------------------------- */

/* J_a M^-1 J_b' */
static double product(const mlcp_row *a, const mlcp_row *b) {
  double sum = 0;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      for (int k = 0; k < 36 && a->body[i] >= 0; k++)
        if (a->body[i] == b->body[j])
          sum += a->J[i][k / 6] * b->J[j][k % 6] *
                 problem.bodies[a->body[i]].inverse_mass[k];
  return sum;
}

static double diagonal_of(const mlcp_row *row) {
  return product(row, row) + row->compliance;
}

static double slip_of(int r, const mlcp_solution *s) {
  const mlcp_row *row = &problem.rows[r];
  double w = row->bias + row->compliance * s->p[r];
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < 6 && row->body[side] >= 0; k++)
      w += row->J[side][k] * s->v[6 * row->body[side] + k];
  return w;
}

static double worst_of_set(const mlcp_friction *set, const mlcp_solution *s,
                           double lambda) {
  const mlcp_row *rows = problem.rows + set->first_row;
  double w[2] = {slip_of(set->first_row, s), 0}, made[2] = {0, 0};
  double sum = 0, worst = 0, limit = set->limit, A = diagonal_of(&rows[0]);
  if (set->n_base == 2) w[1] = slip_of(set->first_row + 1, s);
  for (int e = 0; e < 2 * set->n_pairs; e++) {
    double sign = e % 2 ? -1 : 1, beta = s->beta[2 * set->first_pair + e];
    const double *u = problem.pairs[set->first_pair + e / 2].u;
    double A_e = 0;
    for (int i = 0; i < set->n_base; i++) {
      made[i] += sign * u[i] * beta;
      A_e += u[i] * rows[i].compliance * u[i];
      for (int j = 0; j < set->n_base; j++)
        A_e += u[i] * product(&rows[i], &rows[j]) * u[j];
    }
    double sigma = lambda + sign * (u[0] * w[0] + u[1] * w[1]);
    worst = fmax(worst, fabs(fmin(beta * A_e, sigma)));
    sum += beta;
  }
  for (int i = 0; i < set->n_base; i++)
    worst = fmax(worst, fabs(s->p[set->first_row + i] - made[i]) *
                            diagonal_of(&rows[i]));
  if (set->normal >= 0) limit += set->coefficient * s->p[set->normal];
  return fmax(worst, fabs(fmin(lambda, (limit - sum) * A)));
}

/* The residual as mlcp_residual promises it, without its short cuts. */
static double residual_written_out(const mlcp_solution *s) {
  double worst = 0, scale = problem.mlcp.velocity_floor;
  double *v = calloc(6 * (size_t)problem.mlcp.n_bodies, sizeof *v);
  mlcp_velocities(&problem.mlcp, s->p, v);
  for (int i = 0; i < 6 * problem.mlcp.n_bodies; i++)
    worst = fmax(worst, fabs(v[i] - s->v[i]));
  for (int i = 0; i < 6 * problem.mlcp.n_bodies; i++)
    v[i] = problem.bodies[i / 6].v_free[i % 6];
  for (int r = 0; r < problem.mlcp.n_rows; r++) {
    const mlcp_row *row = &problem.rows[r];
    mlcp_solution free = {.v = v, .p = s->p};
    double A = diagonal_of(row), p = s->p[r];
    scale = fmax(scale, fabs(slip_of(r, &free) - row->compliance * p));
    if (row->kind == MLCP_ROW_FRICTION) continue;
    double moved = fmin(fmax(p - slip_of(r, s) / A, row->low), row->high);
    worst = fmax(worst, fabs(p - moved) * A);
  }
  for (int i = 0; i < problem.mlcp.n_frictions; i++)
    worst = fmax(worst, worst_of_set(&problem.frictions[i], s, s->lambda[i]));
  free(v);
  return worst / scale;
}

/* Impulses of all sizes, some at their limits, some beyond. */
static void draw_impulses(test_random *random, double p[]) {
  for (int r = 0; r < problem.mlcp.n_rows; r++) {
    double x = test_uniform(random, -0.2, 1);
    p[r] = problem.rows[r].kind == MLCP_ROW_NORMAL ? (x > 0 ? 0.1 * x : 0)
                                                   : 0.02 * (x - 0.4);
  }
  for (int i = 0; i < problem.mlcp.n_frictions; i++) {
    const mlcp_friction *set = &problem.frictions[i];
    double which = test_uniform(random, 0, 1);
    double limit = set->limit + set->coefficient * p[set->normal];
    const double *u = problem.pairs[set->first_pair].u;
    for (int t = 0; t < set->n_base && which < 0.7; t++)
      p[set->first_row + t] = which < 0.3 ? 0 : limit * u[t];
  }
}

static void test_residual_against_conditions(void) {
  static const int edges[] = {2, 4, 8};
  test_random random = {5};
  for (int k = 0; k < 60; k++) {
    problem_make_heap(&problem, 12, (unsigned)k, k % 2 ? 0.5 : 0, edges[k % 3]);
    for (int r = 0; r < problem.mlcp.n_rows && k % 4 == 0; r++)
      problem.rows[r].compliance = 0.01;
    test_solution solution;
    solution_init(&solution, &problem.mlcp);
    mlcp_solution *s = &solution.mlcp;
    size_t n = (size_t)problem.mlcp.n_rows;
    double *p = calloc(n, sizeof *p);
    double *v = calloc(6 * (size_t)problem.mlcp.n_bodies, sizeof *v);
    draw_impulses(&random, p);
    memcpy(s->p, p, n * sizeof *p);

    double given =
        mlcp_complete(&problem.mlcp, mlcp_velocity_scale(&problem.mlcp), s);
    double expected = residual_written_out(s);
    CU_ASSERT_DOUBLE_EQUAL(given, expected, 1e-12 * expected);
    CU_ASSERT_EQUAL(given, mlcp_residual(&problem.mlcp, s, v));
    for (size_t r = 0; r < n; r++) {
      CU_ASSERT_DOUBLE_EQUAL(s->p[r], p[r], 1e-14);
      CU_ASSERT_DOUBLE_EQUAL(mlcp_row_slip(&problem.mlcp, s, (int)r),
                             slip_of((int)r, s), 1e-12);
    }

    // a change of anything is judged alike
    for (int i = 0; i < 20; i++) {
      double *all[] = {s->v, s->p, s->beta, s->lambda};
      int counts[] = {6 * problem.mlcp.n_bodies, problem.mlcp.n_rows,
                      2 * problem.mlcp.n_pairs, problem.mlcp.n_frictions};
      int which = i % 4, at = (int)test_uniform(&random, 0, counts[which]);
      if (counts[which] == 0) continue;
      all[which][at] += test_uniform(&random, -0.1, 0.1);
      expected = residual_written_out(s);
      given = mlcp_residual(&problem.mlcp, s, v);
      CU_ASSERT_DOUBLE_EQUAL(given, expected, 1e-12 * expected);
    }
    s->p[n - 1] = NAN;
    CU_ASSERT(mlcp_complete(&problem.mlcp, 1, s) == INFINITY);
    free(p);
    free(v);
    solution_release(&solution);
    problem_release(&problem);
  }
}

/* ---- mlcp_split_friction ----------------------------------------------- */

static void expect_split(double p_x, double p_y, double w_x, double w_y,
                         double limit) {
  const mlcp_friction *set = &problem.frictions[0];
  double p[3] = {limit / set->coefficient, p_x, p_y}, w[3] = {0, w_x, w_y};
  double beta[64], lambda, sum = 0, made[2] = {0, 0}, slip = 0;
  mlcp_split_friction(&problem.mlcp, 0, p, w, beta, &lambda);

  for (int e = 0; e < 2 * set->n_pairs; e++) {
    const double *u = problem.pairs[e / 2].u;
    double sign = e % 2 ? -1 : 1;
    CU_ASSERT(beta[e] >= 0);
    sum += beta[e];
    for (int i = 0; i < 2; i++) made[i] += sign * u[i] * beta[e];
    slip = fmax(slip, -sign * (u[0] * w_x + u[1] * w_y));
  }
  CU_ASSERT_DOUBLE_EQUAL(made[0], p_x, 1e-12 * limit);
  if (set->n_base == 2) CU_ASSERT_DOUBLE_EQUAL(made[1], p_y, 1e-12 * limit);
  CU_ASSERT(sum <= limit * (1 + 1e-12));
  CU_ASSERT(lambda >= 0);

  // complementary: a slip needs the whole limit, edges it does not follow none
  if (slip > 1e-6) {
    CU_ASSERT_DOUBLE_EQUAL(lambda, slip, 1e-14 * slip);
    CU_ASSERT_DOUBLE_EQUAL(sum, limit, 1e-12 * limit);
    for (int e = 0; e < 2 * set->n_pairs; e++) {
      const double *u = problem.pairs[e / 2].u;
      double sigma = lambda + (e % 2 ? -1 : 1) * (u[0] * w_x + u[1] * w_y);
      CU_ASSERT(fmin(beta[e], sigma) < 1e-12 * fmax(limit, slip));
    }
  } else {
    CU_ASSERT_EQUAL(lambda, 0);
  }
}

static void make_polygon(int n_edges, double squeeze) {
  static const double up[3] = {0, 0, 1}, origin[3] = {0, 0, 0.5};
  problem_init(&problem);
  problem_add_box(&problem, 2, 0, 0, 0.5, 0.5, 0.5, 0.5);
  problem_add_contact(&problem, 0, -1, origin, up, 0, 0.5, n_edges);
  for (int k = 0; k < n_edges / 2; k++) problem.pairs[k].u[1] *= squeeze;
}

static void test_split_of_polygons(void) {
  static const int edges[] = {4, 6, 8, 16, 30};
  test_random random = {11};
  for (int i = 0; i < 10; i++) {
    int n_pairs = edges[i / 2] / 2;
    make_polygon(2 * n_pairs, i % 2 ? 0.3 : 1);
    CU_ASSERT(mlcp_check(&problem.mlcp, message, sizeof message));
    for (int trial = 0; trial < 300; trial++) {
      double limit = test_uniform(&random, 0.1, 100);
      int k = (int)test_uniform(&random, 0, 2 * n_pairs);
      double u[2][2], share = test_uniform(&random, 0, 1);
      for (int v = 0; v < 2; v++) {
        int vertex = (k + v) % (2 * n_pairs);
        for (int c = 0; c < 2; c++)
          u[v][c] = problem.pairs[vertex % n_pairs].u[c] *
                    (vertex < n_pairs ? 1 : -1);
      }

      // a slip against the outward normal of the face between two vertices
      double slip = test_uniform(&random, 0.01, 2);
      double out[2] = {u[0][1] - u[1][1], u[1][0] - u[0][0]};
      double p_x = limit * ((1 - share) * u[0][0] + share * u[1][0]);
      double p_y = limit * ((1 - share) * u[0][1] + share * u[1][1]);
      expect_split(p_x, p_y, slip * out[0], slip * out[1], limit);
      // sticking: anywhere inside
      expect_split(0.7 * p_x, 0.7 * p_y, 0, 0, limit);
      expect_split(0, 0, 0, 0, limit);
    }
    problem_release(&problem);
  }
}

static void test_split_at_a_vertex(void) {
  make_polygon(8, 1);
  for (int vertex = 0; vertex < 8; vertex++) {
    double c = cos(pi * vertex / 4), s = sin(pi * vertex / 4);
    for (int turn = -3; turn <= 3; turn++) {
      double angle = pi * vertex / 4 + 0.1 * turn;
      expect_split(3 * c, 3 * s, -cos(angle), -sin(angle), 3);
    }
  }
  problem_release(&problem);
}

static void test_split_of_an_interval(void) {
  make_polygon(2, 1);
  expect_split(2, 0, -0.3, 0, 2);
  expect_split(-2, 0, 0.3, 0, 2);
  expect_split(1.2, 0, 0, 0, 2);
  expect_split(-1.2, 0, 0, 0, 2);
  problem_release(&problem);
}

/* Pairs may be of no set: what stood in their beta before must not count. */
static void test_completes_pairs_of_no_set(void) {
  make_polygon(4, 1);
  problem.mlcp.n_frictions = 0;
  for (int r = 1; r < problem.mlcp.n_rows; r++)
    problem.rows[r].kind = MLCP_ROW_JOINT;
  test_solution solution;
  solution_init(&solution, &problem.mlcp);
  CU_ASSERT_FATAL(problem.mlcp.n_pairs > 0);
  for (int e = 0; e < 2 * problem.mlcp.n_pairs; e++)
    solution.mlcp.beta[e] = NAN;
  CU_ASSERT(isfinite(mlcp_complete(&problem.mlcp, 1, &solution.mlcp)));
  for (int e = 0; e < 2 * problem.mlcp.n_pairs; e++)
    CU_ASSERT_EQUAL(solution.mlcp.beta[e], 0);
  solution_release(&solution);
  problem_release(&problem);
}

static void test_split_without_a_limit(void) {
  make_polygon(4, 1);
  double p[3] = {0, 0, 0}, w[3] = {0.2, 0.3, -0.4}, beta[4], lambda;
  mlcp_split_friction(&problem.mlcp, 0, p, w, beta, &lambda);
  CU_ASSERT_DOUBLE_EQUAL(lambda, 0.4, 1e-15);
  for (int e = 0; e < 4; e++) CU_ASSERT_EQUAL(beta[e], 0);
  problem_release(&problem);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"check refuses what is wrong", test_check_refuses},
      {"residual of a slide", test_residual_of_a_slide},
      {"residual of a slide on what is soft",
       test_residual_of_a_slide_on_what_is_soft},
      {"residual of edges that do not add up",
       test_residual_of_edges_that_do_not_add_up},
      {"residual of bounded rows", test_residual_of_bounded_rows},
      {"residual against all conditions", test_residual_against_conditions},
      {"pairs of no set", test_completes_pairs_of_no_set},
      {"split of polygons", test_split_of_polygons},
      {"split at a vertex", test_split_at_a_vertex},
      {"split of an interval", test_split_of_an_interval},
      {"split without a limit", test_split_without_a_limit},
      CU_TEST_INFO_NULL};
  return run_tests("mlcp", tests);
}
