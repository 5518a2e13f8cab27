/* What Lemke's method has of its own, under both rules for ties: free variables, guessed
 * bases, paths that do not go round. What it solves is in test_lcp.c. */
#include <math.h>
#include <string.h>

#include "dense_lcp.h"
#include "small_lcps.h"
#include "lcp/lemke.h"
#include "testing.h"

static lemke_workspace *workspace;
static lemke_options options;

static void expect_solved(int n, const double M[], const double q[]) {
  double z[n_most];
  for (int k = 0; k < 2; k++) {
    options.uneven = k > 0;
    lemke_report report = lemke_solve_dense(workspace, n, M, q, &options, z);
    CU_ASSERT_EQUAL(report.status, LEMKE_SOLVED);
    CU_ASSERT(dense_residual(n, M, q, z) < 1e-9);
    for (int i = 0; i < n; i++) CU_ASSERT(z[i] >= 0);
  }
  options = lemke_default_options;
}

/* Entries that are not negative, and a positive diagonal: from each q a path ends
 * at a solution. Where all is 0, 1 or 2 variables reach 0 together, and by the tie
 * rule alone one path in some hundred goes round in a circle. */
static void test_no_path_goes_round(void) {
  random_state = 5;
  for (int trial = 0; trial < 20000; trial++) {
    int n = 6 + trial % 5;
    double M[n_most * n_most], q[n_most];
    for (int i = 0; i < n * n; i++) M[i] = floor(1.5 * (random_number() + 1));
    for (int i = 0; i < n; i++) {
      M[i * n + i] = floor(random_number() + 2);
      q[i] = random_number() < 0.7 ? -1 : floor(1.5 * random_number() + 0.5);
    }
    expect_solved(n, M, q);
  }
}

/* A large sparse problem: an obstacle problem on a line, and the same with
 * its multipliers and positions both explicit (free variables). */
static void test_sparse_with_free_variables(void) {
  enum { n = 300 };
  static int start[2 * n + 1], row[6 * n];
  static double value[6 * n], q[2 * n], z[2 * n], w[2 * n];
  static bool is_free[2 * n];
  int end = 0;

  // x (free): K x - z = 0 with K = tridiag(-1, 2, -1); w = x - obstacle >= 0
  for (int j = 0; j < n; j++) {
    start[j] = end;
    for (int i = j - 1; i <= j + 1; i++) {
      if (i < 0 || i >= n) continue;
      row[end] = i;
      value[end++] = i == j ? 2 : -1;
    }
    row[end] = n + j;
    value[end++] = 1;
    is_free[j] = true;
  }
  for (int j = 0; j < n; j++) {
    start[n + j] = end;
    row[end] = j;
    value[end++] = -1;
    double at = (j + 1.0) / (n + 1) - 0.4;
    q[n + j] = -(0.1 - at * at);
  }
  start[2 * n] = end;
  lemke_problem problem = {2 * n, start, row, value, q, is_free, 0};

  lemke_report report = lemke_solve(workspace, &problem, &options, z);
  CU_ASSERT_EQUAL(report.status, LEMKE_SOLVED);
  CU_ASSERT(report.pivots > 10);
  CU_ASSERT(lemke_residual(&problem, z, w) < 1e-10);
  z[n + n / 3] += 0.1;
  CU_ASSERT(lemke_residual(&problem, z, w) > 1e-3);
}

static void test_dependent_columns_are_thinned_out(void) {
  enum { n = 200 };
  static double M[n * n], q[n], z[n], w[n];
  static int start[n + 1], row[n * n];
  static double value[n * n];
  static bool basic[n];
  // sixty groups of equal contacts, and far too many of them active
  for (int i = 0; i < n; i++) {
    q[i] = -1 - i % 60;
    basic[i] = true;
    for (int j = 0; j < n; j++) M[i * n + j] = i % 60 == j % 60;
  }
  lemke_problem problem = dense_columns(n, M, q, start, row, value);
  CU_ASSERT(lemke_solve_basis(workspace, &problem, basic, z) > 0);
  int n_basic = 0;
  for (int i = 0; i < n; i++) n_basic += basic[i];
  CU_ASSERT_EQUAL(n_basic, 60);
  CU_ASSERT(lemke_residual(&problem, z, w) < 1e-10);
}

/* The path's last pivot takes z0 out as z_0 comes to delta / 2 below 0, which counts as
 * feasible. With z_0 taken as the 0 that it is meant to be, w_2 is K delta / 2 off, more
 * than the tolerance 10 delta: a tighter round has to find that z_0 leaves. The solution
 * is z = (0, 2, 1), w = (delta / 2, 0, 0), by hand. */
static void test_an_end_not_quite_feasible_is_gone_on_from(void) {
  const double delta = 0.1 * options.tolerance, K = 1000;
  const double M[9] = {1, 2, 0, 0, 1, 0, K, 0, 1};
  const double q[3] = {-4 + delta / 2, -2, -1};
  int start[4], row[9];
  double value[9], z[3];
  lemke_problem problem = dense_columns(3, M, q, start, row, value);
  lemke_report report = lemke_solve(workspace, &problem, &options, z);
  CU_ASSERT_EQUAL(report.status, LEMKE_SOLVED);
  CU_ASSERT_EQUAL(z[0], 0);
  CU_ASSERT_EQUAL(z[1], 2);
  CU_ASSERT_EQUAL(z[2], 1);
}

static void test_pivot_limit_is_a_status(void) {
  random_state = 5;
  double M[n_most * n_most], q[n_most], z[n_most];
  fill_semidefinite(n_most, n_most, 0, M);
  for (int i = 0; i < n_most; i++) {
    q[i] = -1 + 0.1 * random_number();
    M[i * n_most + i] += 1;
  }
  options.max_pivots = 2;
  lemke_report report = lemke_solve_dense(workspace, n_most, M, q, &options, z);
  CU_ASSERT_EQUAL(report.status, LEMKE_PIVOT_LIMIT);
  CU_ASSERT(report.residual > options.tolerance);
  options = lemke_default_options;
  expect_solved(n_most, M, q);
}

static void test_same_bits_whatever_came_before(void) {
  random_state = 6;
  double M[64], q[8], first[8], second[8];
  fill_friction(0.5, M, q);
  lemke_solve_dense(workspace, 8, M, q, &options, first);
  lemke_workspace *other = lemke_workspace_create(&memory_from_malloc);
  lemke_solve_dense(other, 8, M, q, &options, second);
  CU_ASSERT_EQUAL(memcmp(first, second, sizeof first), 0);
  test_pivot_limit_is_a_status();
  lemke_solve_dense(workspace, 8, M, q, &options, second);
  CU_ASSERT_EQUAL(memcmp(first, second, sizeof first), 0);
  lemke_workspace_destroy(other);
}

int main(void) {
  workspace = lemke_workspace_create(&memory_from_malloc);
  options = lemke_default_options;
  if (workspace == NULL) return 1;
  const CU_TestInfo tests[] = {
      {"no path goes round", test_no_path_goes_round},
      {"sparse with free variables", test_sparse_with_free_variables},
      {"dependent columns are thinned out",
       test_dependent_columns_are_thinned_out},
      {"an end not quite feasible is gone on from",
       test_an_end_not_quite_feasible_is_gone_on_from},
      {"pivot limit is a status", test_pivot_limit_is_a_status},
      {"same bits whatever came before", test_same_bits_whatever_came_before},
      CU_TEST_INFO_NULL};
  int failed = run_tests("plain LCPs: Lemke's method", tests);
  lemke_workspace_destroy(workspace);
  return failed;
}
