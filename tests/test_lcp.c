/* Any LCP: scaled, solved by either way, verified on the original data; against
 * the enumeration of complementary bases, and where there is no solution. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense_lcp.h"
#include "failing_memory.h"
#include "small_lcps.h"
#include "lcp/lcp.h"
#include "testing.h"

enum { n_large = 500 };

static const double TOLERANCE = 1e-10;

static const lcp_method kinds[] = {LCP_FAST, LCP_LEMKE};

static lcp_report solve(int n, const double M[], const double q[],
                        lcp_method method, double z[]) {
  return lcp_solve_dense(n, M, q, method, TOLERANCE, &memory_from_malloc, z,
                         NULL);
}

/* What holds of every report: the residuals are those of z, on M and q. */
static void expect_honest(int n, const double M[], const double q[],
                          const double z[], const lcp_report *report) {
  double largest = 0;
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(q[i]));
  double residual = dense_residual(n, M, q, z) / (1 + largest);
  CU_ASSERT_EQUAL(
      report->status == LCP_SOLVED,
      lcp_is_solved(n, report->residual, report->componentwise, TOLERANCE));
  CU_ASSERT(fabs(residual - report->residual) <= 1e-12 + 1e-9 * residual);
  CU_ASSERT(fabs(dense_componentwise(n, M, q, z) - report->componentwise) <=
            1e-15 * (n + 1));
  for (int i = 0; i < n; i++) CU_ASSERT(isfinite(z[i]) && z[i] >= 0);
}

static void expect_status(int n, const double M[], const double q[],
                          bool solvable) {
  for (int k = 0; k < 2; k++) {
    double z[n_most];
    lcp_report report = solve(n, M, q, kinds[k], z);
    expect_honest(n, M, q, z, &report);
    CU_ASSERT_EQUAL(report.status == LCP_SOLVED, solvable);
    if (!solvable) CU_ASSERT_EQUAL(report.status, LCP_INFEASIBLE);
  }
}

static void test_matches_enumeration(void) {
  random_state = 11;
  for (int trial = 0; trial < 3000; trial++) {
    int n = 1 + trial % 6;
    double M[n_most * n_most], q[n_most];
    fill_semidefinite(n, n, 1, M);
    for (int i = 0; i < n; i++) M[i * n + i] += 0.1;
    fill_random(n, q);
    CU_ASSERT_EQUAL(count_solutions(n, M, q), 1);
    expect_status(n, M, q, true);

    fill_semidefinite(n, (n + 1) / 2, trial % 2, M);
    fill_random(n, q);
    expect_status(n, M, q, count_solutions(n, M, q) > 0);
  }
}

static void test_friction_is_solved(void) {
  static const double coefficients[] = {0, 0.3, 1, 10, 1e5};
  random_state = 12;
  for (int trial = 0; trial < 2000; trial++) {
    double M[64], q[8];
    fill_friction(coefficients[trial % 5], M, q);
    CU_ASSERT(count_solutions(8, M, q) > 0);
    expect_status(8, M, q, true);
  }
}

static void test_smallest_sizes(void) {
  for (int k = 0; k < 2; k++) {
    double z[2] = {7, 7};
    lcp_report report = solve(0, NULL, NULL, kinds[k], z);
    CU_ASSERT_EQUAL(report.status, LCP_SOLVED);
    CU_ASSERT_EQUAL(report.residual, 0);
    CU_ASSERT_EQUAL(z[0], 7);
    const double two = 2, zero = 0, minus = -3, plus = 3;
    solve(1, &two, &minus, kinds[k], z);
    CU_ASSERT_EQUAL(z[0], 1.5);
    solve(1, &zero, &plus, kinds[k], z);
    CU_ASSERT_EQUAL(z[0], 0);
    CU_ASSERT_EQUAL(solve(1, &zero, &minus, kinds[k], z).status,
                    LCP_INFEASIBLE);
    const double M[4] = {2, 1, 1, 2}, q[2] = {-5, -6};
    CU_ASSERT_EQUAL(solve(2, M, q, kinds[k], z).status, LCP_SOLVED);
    CU_ASSERT_DOUBLE_EQUAL(z[0], 4.0 / 3, 1e-14);
    CU_ASSERT_DOUBLE_EQUAL(z[1], 7.0 / 3, 1e-14);
  }
}

/* Rows repeated, rows of zeros, ties everywhere. */
static void test_degenerate_families(void) {
  double M[n_most * n_most], q[n_most];
  for (int trial = 0; trial < 500; trial++) {
    int n = 2 + trial % 8;
    for (int i = 0; i < n * n; i++) M[i] = 1;
    for (int i = 0; i < n; i++) q[i] = trial % 2 ? -1 : 0;
    expect_status(n, M, q, true);
    for (int i = 0; i < n; i++) M[i * n + n - 1] = M[(n - 1) * n + i] = 0;
    q[n - 1] = 0;
    expect_status(n, M, q, true);
    q[n - 1] = -1;
    expect_status(n, M, q, false);
    memset(M, 0, sizeof M);
    for (int i = 0; i < n; i++) q[i] = i;
    expect_status(n, M, q, true);
  }
}

/* Units chosen so unlike that entries span thirty orders of magnitude: the
 * answer is that of the problem in good units. */
static void test_units_do_not_matter(void) {
  random_state = 13;
  for (int trial = 0; trial < 500; trial++) {
    int n = 2 + trial % 7;
    double M[n_most * n_most], q[n_most], z[n_most], scaled[n_most];
    fill_semidefinite(n, n, 1, M);
    for (int i = 0; i < n; i++) M[i * n + i] += 0.1;
    fill_random(n, q);
    CU_ASSERT_EQUAL(solve(n, M, q, LCP_LEMKE, z).status, LCP_SOLVED);

    double unit[n_most], N[n_most * n_most], r[n_most];
    for (int i = 0; i < n; i++)
      unit[i] = ldexp(1, (int)(25 * random_number()) - 26);
    for (int i = 0; i < n; i++) {
      r[i] = unit[i] * q[i];
      for (int j = 0; j < n; j++)
        N[i * n + j] = unit[i] * M[i * n + j] * unit[j];
    }
    for (int k = 0; k < 2; k++) {
      lcp_report report = solve(n, N, r, kinds[k], scaled);
      expect_honest(n, N, r, scaled, &report);
      CU_ASSERT_EQUAL(report.status, LCP_SOLVED);
    }
  }
}

/* Whatever the matrix, an end with a status and a finite point. */
static void test_any_input_ends(void) {
  random_state = 14;
  double M[n_most * n_most], q[n_most], z[n_most];
  int n_solved = 0, n_missed = 0;
  for (int trial = 0; trial < 4000; trial++) {
    int n = 1 + trial % 6;
    fill_random(n * n, M);
    fill_random(n, q);
    if (trial % 3 == 0)
      for (int i = 0; i < n * n; i++) M[i] = round(1.4 * M[i]);
    bool solvable = count_solutions(n, M, q) > 0;
    for (int k = 0; k < 2; k++) {
      lcp_report report = solve(n, M, q, kinds[k], z);
      expect_honest(n, M, q, z, &report);
      bool solved = report.status == LCP_SOLVED;
      // a singular basis may hold a solution that enumeration leaves out
      if (trial % 3 != 0 && solved) CU_ASSERT(solvable);
      n_solved += solved;
      n_missed += solvable && !solved;
    }
  }
  // neither copositive nor P: Lemke's method misses many, enumeration none
  CU_ASSERT(n_solved > 2000);
  CU_ASSERT_EQUAL(n_missed, 0);
}

/* Block pivoting goes round. */
static void test_exchanges_that_go_round_end(void) {
  const double cycle[9] = {0.5, 0, 2, 2, 0.5, 0, 0, 2, 0.5};
  const double minus[3] = {-1, -1, -1};
  double z[3];
  for (int k = 0; k < 2; k++) {
    lcp_report report = solve(3, cycle, minus, kinds[k], z);
    expect_honest(3, cycle, minus, z, &report);
    CU_ASSERT_EQUAL(report.status, LCP_SOLVED);
  }
}

/* A large dense one, and the same bits twice. */
static void test_large_and_repeatable(void) {
  static double M[n_large * n_large], q[n_large], z[n_large], again[n_large];
  random_state = 15;
  const int n = 400;
  for (int i = 0; i < n; i++) {
    q[i] = random_number();
    for (int j = 0; j < n; j++)
      M[i * n + j] = 0.05 * random_number() + (i == j) * 2;
  }
  for (int k = 0; k < 2; k++) {
    lcp_report report = solve(n, M, q, kinds[k], z);
    expect_honest(n, M, q, z, &report);
    CU_ASSERT_EQUAL(report.status, LCP_SOLVED);
    lcp_report second = solve(n, M, q, kinds[k], again);
    CU_ASSERT_EQUAL(second.pivots, report.pivots);
    CU_ASSERT_EQUAL(memcmp(z, again, sizeof z), 0);
    if (k == 0) CU_ASSERT(report.pivots == 0 && report.exchanges < 30);
  }
  // the check must notice a wrong answer
  CU_ASSERT(dense_componentwise(n, M, q, z) <= TOLERANCE);
  z[7] += 1e-3;
  CU_ASSERT(dense_componentwise(n, M, q, z) > 1e-5);
}

/* ---- memory --------------------------------------------------------------------- */

static void test_every_allocation_may_fail(void) {
  random_state = 16;
  double M[64], q[8], z[8];
  fill_friction(0.5, M, q);
  for (int k = 0; k < 2; k++) {
    int n_failures = 0;
    for (int until = 0;; until++) {
      failing_memory memory = {0};
      memory_source source = failing_memory_source(&memory);
      fail_allocation(&memory, until);
      lcp_report report =
          lcp_solve_dense(8, M, q, kinds[k], TOLERANCE, &source, z, NULL);
      CU_ASSERT_EQUAL(memory.n_held, 0);
      if (report.status == LCP_SOLVED) break;
      CU_ASSERT_EQUAL(report.status, LCP_NO_MEMORY);
      n_failures++;
    }
    CU_ASSERT(n_failures > 3);
  }
}

/* Every game of two players has an equilibrium (Nash), so these LCPs have a solution,
 * though each path from a covering vector ends on a ray at once. Payoffs of a few
 * whole numbers make ties everywhere. */
static void test_games_are_solved(void) {
  static double M[n_large * n_large], q[n_large], z[n_large];
  const int sizes[] = {1, 2, 5, 8, 10, 20, 50, 100};
  test_random random = {5};
  int n_solved = 0, n_games = 0;
  for (int run = 0; run < 96; run++) {
    int a = sizes[run % 8], n, of_whole = run / 8 % 3;
    if (run == 7)
      a = 250;
    else if (a == 100 && run > 24)
      continue;
    n = 2 * a;
    double unit = pow(10, run % 7 - 3);
    memset(M, 0, sizeof M);
    for (int i = 0; i < a; i++)
      for (int j = 0; j < a; j++)
        for (int side = 0; side < 2; side++) {
          double cost = test_uniform(&random, 0.1, 1.1);
          if (of_whole > 0) cost = 1 + (int)(3 * of_whole * cost);
          M[side == 0 ? i * n + a + j : (a + j) * n + i] = unit * cost;
        }
    for (int i = 0; i < n; i++) q[i] = -1;
    for (size_t k = 0; k < 2; k++) {
      lcp_report report = solve(n, M, q, kinds[k], z);
      expect_honest(n, M, q, z, &report);
      n_solved += report.status == LCP_SOLVED;
      n_games++;
    }
  }
  CU_ASSERT_EQUAL(n_solved, n_games);
}

/* Strictly dominant, off-diagonals of one sign, as an option priced on a grid or a
 * dam has: the active set moves a node a round, values and q span tens of orders of
 * magnitude, and q has exact zeros. Each answer is to nearly all digits. */
static void test_dominant_M_matrices(void) {
  enum { n_grid = 2000 };
  static int start[n_grid + 1], row[9 * n_grid];
  static double value[9 * n_grid], q[n_grid], z[n_grid], w[n_grid],
      size[n_grid];
  static double diagonal[n_grid];
  const int sizes[] = {50, 120, 500, n_grid};
  test_random random = {7};
  for (int run = 0; run < 48; run++) {
    int n = sizes[run % 4], reach = run / 4 % 2 ? 4 : 1, end = 0;
    for (int i = 0; i < n; i++) {
      double at = (double)i / n;
      diagonal[i] = test_uniform(&random, 1e-6, 0.1);
      switch (run / 8 % 3) {
        case 0: q[i] = (at < 0.4 ? 1 : -1e-3) * exp(-60 * at); break;
        case 1:
          q[i] = at < 0.3 ? 1e-3 : at < 0.5 ? -1e-2 : i % 3 ? 0 : 1e-18;
          break;
        default: q[i] = test_uniform(&random, -1, 1);
      }
    }
    for (int j = 0; j < n; j++) {
      start[j] = end;
      for (int i = j - reach; i <= j + reach; i++) {
        if (i < 0 || i >= n) continue;
        row[end] = i;
        value[end] = i == j ? 0 : -test_uniform(&random, 0, 1);
        diagonal[i] -= value[end++];
      }
    }
    start[n] = end;
    for (int j = 0; j < n; j++)
      for (int e = start[j]; e < start[j + 1]; e++)
        if (row[e] == j) value[e] = diagonal[j];
    const lemke_problem problem = {n, start, row, value, q, NULL, 0};
    for (int k = 0; k < 2; k++) {
      lcp_report report = lcp_solve(&problem, kinds[k], TOLERANCE,
                                    &memory_from_malloc, z, NULL);
      CU_ASSERT_EQUAL(report.status, LCP_SOLVED);
      CU_ASSERT(lcp_componentwise(&problem, z, w, size) <= 1e-15);
      if (k == 0) CU_ASSERT_EQUAL(report.pivots, 0);
    }
  }
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"matches enumeration", test_matches_enumeration},
      {"friction is solved", test_friction_is_solved},
      {"smallest sizes", test_smallest_sizes},
      {"degenerate families", test_degenerate_families},
      {"units do not matter", test_units_do_not_matter},
      {"any input ends", test_any_input_ends},
      {"exchanges that go round end", test_exchanges_that_go_round_end},
      {"dominant M-matrices", test_dominant_M_matrices},
      {"games are solved", test_games_are_solved},
      {"large and repeatable", test_large_and_repeatable},
      {"every allocation may fail", test_every_allocation_may_fail},
      CU_TEST_INFO_NULL};
  return run_tests("plain LCPs", tests);
}
