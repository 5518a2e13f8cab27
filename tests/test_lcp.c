/* Any LCP: scaled, solved by either way, verified on the original data; against
 * the enumeration of complementary bases where small; families from the literature and
 * badly scaled ones; and where there is no solution every certificate checked by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense_lcp.h"
#include "failing_memory.h"
#include "small_lcps.h"
#include "lcp/lcp.h"
#include "testing.h"

enum { n_here = 64, n_large = 500 };

static const double TOLERANCE = 1e-10;

static const lcp_method kinds[] = {LCP_FAST, LCP_LEMKE};

static double y[n_large];

static lcp_report solve(int n, const double M[], const double q[],
                        lcp_method method, double z[]) {
  return lcp_solve_dense(n, M, q, method, TOLERANCE, &memory_from_malloc, z, y);
}

/* y >= 0, M'y <= 0 but for rounding, q'y < 0 clearly. */
static bool proves(int n, const double M[], const double q[]) {
  double product = 0, size = 0;
  for (int i = 0; i < n; i++) {
    if (!(y[i] >= 0)) return false;
    product += q[i] * y[i];
    size += fabs(q[i]) * y[i];
  }
  for (int j = 0; j < n; j++) {
    double sum = 0, terms = 0;
    for (int i = 0; i < n; i++) {
      sum += M[i * n + j] * y[i];
      terms += fabs(M[i * n + j]) * y[i];
    }
    if (sum > 1e-14 * n * terms) return false;
  }
  return product < -1e-9 * size;
}

/* What holds of every report: the residuals are those of z, on M and q, but for what
 * sums of such terms are rounded by; the status is true of them, and of what comes with
 * it. */
static void expect_honest(int n, const double M[], const double q[],
                          const double z[], const lcp_report *report) {
  double largest = 0, size = 0;
  for (int i = 0; i < n; i++) {
    double terms = fabs(q[i]);
    largest = fmax(largest, terms);
    for (int j = 0; j < n; j++) terms += fabs(M[i * n + j]) * z[j];
    size = fmax(size, fmax(terms, z[i]));
    CU_ASSERT(isfinite(z[i]) && z[i] >= 0);
  }
  double residual = dense_residual(n, M, q, z) / (1 + largest);
  CU_ASSERT_EQUAL(
      report->status == LCP_SOLVED,
      lcp_is_solved(n, report->residual, report->componentwise, TOLERANCE));
  CU_ASSERT(fabs(residual - report->residual) <=
            1e-15 * (n + 1) * size / (1 + largest) + 1e-9 * residual);
  CU_ASSERT(fabs(dense_componentwise(n, M, q, z) - report->componentwise) <=
            1e-15 * (n + 1));
  if (report->status == LCP_INFEASIBLE) CU_ASSERT(proves(n, M, q));
  CU_ASSERT_EQUAL(report->status == LCP_INFEASIBLE,
                  isfinite(report->certificate));
}

/* @return a status that is true, of the enumeration's count as well */
static lcp_status expect_truth(int n, const double M[], const double q[],
                               lcp_method kind, bool solvable) {
  double z[n_here];
  lcp_report report = solve(n, M, q, kind, z);
  expect_honest(n, M, q, z, &report);
  if (solvable) CU_ASSERT_NOT_EQUAL(report.status, LCP_INFEASIBLE);
  return report.status;
}

static void expect_solved(int n, const double M[], const double q[]) {
  for (int k = 0; k < 2; k++)
    CU_ASSERT_EQUAL(expect_truth(n, M, q, kinds[k], true), LCP_SOLVED);
}

/* Definite, with a skew part. */
static void test_the_one_solution_is_found(void) {
  random_state = 11;
  for (int trial = 0; trial < 3000; trial++) {
    int n = 1 + trial % 6;
    double M[n_most * n_most], q[n_most];
    fill_semidefinite(n, n, 1, M);
    for (int i = 0; i < n; i++) M[i * n + i] += 0.1;
    fill_random(n, q);
    CU_ASSERT_EQUAL(count_solutions(n, M, q), 1);
    expect_solved(n, M, q);
  }
}

static void test_friction_is_solved(void) {
  static const double coefficients[] = {0, 0.3, 1, 10, 1e5};
  random_state = 12;
  for (int trial = 0; trial < 2000; trial++) {
    double M[64], q[8];
    fill_friction(coefficients[trial % 5], M, q);
    CU_ASSERT(count_solutions(8, M, q) > 0);
    expect_solved(8, M, q);
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

/* Rows repeated and rows of zeros: ties everywhere. */
static void test_degenerate_families(void) {
  double M[n_most * n_most], q[n_most];
  for (int n = 2; n < n_most; n++)
    for (int at = -1; at <= 0; at++) {
      for (int i = 0; i < n * n; i++) M[i] = 1;
      for (int i = 0; i < n; i++) q[i] = at;
      expect_solved(n, M, q);
      for (int i = 0; i < n; i++) M[i * n + n - 1] = M[(n - 1) * n + i] = 0;
      q[n - 1] = 0;
      expect_solved(n, M, q);
      q[n - 1] = -1;
      for (int k = 0; k < 2; k++)
        CU_ASSERT_EQUAL(expect_truth(n, M, q, kinds[k], false), LCP_INFEASIBLE);
    }
}

/* Any matrix, and one of small integers, which tie at nearly every pivot. Whatever has a
 * solution is solved, and no other end is a limit. */
static void test_any_input_ends(void) {
  random_state = 23;
  int n_solvable = 0, n_infeasible = 0, n_rays = 0;
  for (int trial = 0; trial < 13000; trial++) {
    int n = 1 + trial % 7;
    bool whole = trial % 13 < 10;
    double M[n_here * n_here], q[n_here];
    fill_random(n * n, M);
    fill_random(n, q);
    for (int i = 0; i < n * n && whole; i++) M[i] = floor(2.5 * M[i] + 0.5);
    for (int i = 0; i < n && whole; i++) q[i] = floor(2.5 * q[i] + 0.5);
    bool solvable = count_solutions(n, M, q) > 0;
    for (int k = 0; k < 2; k++) {
      lcp_status end = expect_truth(n, M, q, kinds[k], solvable);
      if (solvable) CU_ASSERT_EQUAL(end, LCP_SOLVED);
      // a singular basis may hold a solution that enumeration leaves out
      if (!whole && end == LCP_SOLVED) CU_ASSERT(solvable);
      CU_ASSERT(end == LCP_SOLVED || end == LCP_INFEASIBLE || end == LCP_RAY);
      n_solvable += end == LCP_SOLVED;
      n_infeasible += end == LCP_INFEASIBLE;
      n_rays += end == LCP_RAY;
    }
  }
  // the family has all three
  CU_ASSERT(n_solvable > 2000 && n_infeasible > 2000 && n_rays > 500);
}

/* Block pivoting goes round. */
static void test_exchanges_that_go_round_end(void) {
  const double cycle[9] = {0.5, 0, 2, 2, 0.5, 0, 0, 2, 0.5};
  const double minus[3] = {-1, -1, -1};
  expect_solved(3, cycle, minus);
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

/* ---- scales ------------------------------------------------------------------- */

/* A P-matrix: dominant diagonal, or semidefinite with a skew part. */
static void fill_P(int n, bool dominant, double M[]) {
  if (!dominant) {
    double A[n_here * n_here];
    fill_random(n * n, A);
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++) {
        double sum = i == j ? 1e-3 : 0, skew = i == j ? 0 : random_number();
        for (int k = 0; k < n; k++) sum += A[i * n + k] * A[j * n + k];
        M[i * n + j] = sum + skew;
        M[j * n + i] = sum - skew;
      }
    return;
  }
  for (int i = 0; i < n; i++) {
    double sum = 0.01;
    for (int j = 0; j < n; j++) {
      M[i * n + j] = i == j ? 0 : random_number();
      sum += fabs(M[i * n + j]);
    }
    M[i * n + i] = sum;
  }
}

/* Rows, columns, both, or every column by 1e9 or 1e-9; q like the rows or not. */
static void test_badly_scaled_P_matrices(void) {
  random_state = 21;
  for (int trial = 0; trial < 10000; trial++) {
    int n = 2 + trial % 9;
    double M[n_here * n_here], q[n_here];
    fill_P(n, trial % 2, M);
    fill_random(n, q);
    for (int i = 0; i < n; i++) {
      double r = pow(10, 9 * random_number()), c = pow(10, 9 * random_number());
      if (trial / 2 % 4 == 3) c = random_number() > 0 ? 1e9 : 1e-9;
      for (int j = 0; j < n; j++) {
        if (trial / 2 % 4 != 1 && trial / 2 % 4 != 3) M[i * n + j] *= r;
        if (trial / 2 % 4 != 0) M[j * n + i] *= c;
      }
      if (trial / 8 % 2) q[i] *= r;
    }
    expect_solved(n, M, q);
  }
}

/* Integers, so that q = w - M z is exact for a z and w chosen beforehand, and
 * powers of two: what is found is that z, to the stated forward error. */
static void test_forward_error_of_scaled_problems(void) {
  const double STATED = 1e-12;
  random_state = 22;
  for (int trial = 0; trial < 2000; trial++) {
    int n = 2 + trial % 20;
    double M[n_here * n_here], q[n_here], known[n_here], z[n_here];
    for (int i = 0; i < n; i++) {
      double sum = 1;
      known[i] = random_number() > 0 ? floor(501 + 500 * random_number()) : 0;
      for (int j = 0; j < n; j++) {
        M[i * n + j] = floor(10 * random_number());
        sum += fabs(M[i * n + j]);
      }
      M[i * n + i] = sum;
    }
    for (int i = 0; i < n; i++) {
      q[i] = known[i] > 0 ? 0 : floor(501 + 500 * random_number());
      for (int j = 0; j < n; j++) q[i] -= M[i * n + j] * known[j];
    }
    for (int i = 0; i < n; i++) {
      int r = (int)(40 * random_number()), c = (int)(40 * random_number());
      for (int j = 0; j < n; j++) {
        M[i * n + j] = ldexp(M[i * n + j], r);
        M[j * n + i] = ldexp(M[j * n + i], c);
      }
      q[i] = ldexp(q[i], r);
      known[i] = ldexp(known[i], -c);
    }
    for (int k = 0; k < 2; k++) {
      CU_ASSERT_EQUAL(solve(n, M, q, kinds[k], z).status, LCP_SOLVED);
      for (int i = 0; i < n; i++)
        CU_ASSERT(fabs(z[i] - known[i]) <= STATED * known[i]);
    }
  }
}

/* An absolute residual would take 0 for the solution. */
static void test_small_q_is_not_no_q(void) {
  const double M[4] = {2, 1, 1, 2}, q[2] = {-5e-13, -6e-13};
  for (int k = 0; k < 2; k++) {
    double z[2];
    CU_ASSERT_EQUAL(solve(2, M, q, kinds[k], z).status, LCP_SOLVED);
    CU_ASSERT_DOUBLE_EQUAL(z[0], 4e-13 / 3, 1e-27);
    CU_ASSERT_DOUBLE_EQUAL(z[1], 7e-13 / 3, 1e-27);
  }
}

/* ---- families by name ------------------------------------------------------------ */

/* Strictly copositive, and nothing but ties: a solution there always is. */
static void test_ties_of_copositive_matrices(void) {
  random_state = 24;
  for (int trial = 0; trial < 5000; trial++) {
    int n = trial < 4900 ? 2 + trial % 9 : 24 + trial % 9;
    double M[n_here * n_here], q[n_here];
    for (int i = 0; i < n; i++) {
      q[i] = -1 - trial % 2 * (i % 3);
      for (int j = 0; j < n; j++) // nonnegative, ones on the diagonal
        M[i * n + j] = i == j ? 1 : floor(1.5 * fabs(random_number()));
    }
    expect_solved(n, M, q);
  }
}

/* The second q is the one of 2^n pivots for the covering vector of ones. */
static void test_murty(void) {
  double M[n_here * n_here], q[n_here];
  for (int n = 2; n <= 16; n++) {
    fill_murty(n, M, q);
    expect_solved(n, M, q);
    for (int i = 0; i < n; i++) q[i] = ldexp(1, i) - ldexp(1, n);
    expect_solved(n, M, q);
  }
}

static void test_fathi(void) {
  double M[n_here * n_here], q[n_here];
  for (int n = 2; n <= 16; n++) {
    fill_fathi(n, M, q);
    expect_solved(n, M, q);
  }
}

/* Chandrasekaran (1970): of a Z-matrix there is a solution wherever the
 * inequalities have one, so that the two outcomes are all there are. */
static void test_chandrasekaran(void) {
  random_state = 25;
  int n_infeasible = 0;
  for (int trial = 0; trial < 3000; trial++) {
    int n = 1 + trial % 8;
    double M[n_here * n_here], q[n_here];
    for (int i = 0; i < n; i++) {
      q[i] = random_number();
      for (int j = 0; j < n; j++)
        M[i * n + j] = i == j ? 0.5 * n * random_number()
                              : -fabs(random_number()) * (trial % 3 > 0);
    }
    bool solvable = count_solutions(n, M, q) > 0;
    for (int k = 0; k < 2; k++) {
      lcp_status end = expect_truth(n, M, q, kinds[k], solvable);
      CU_ASSERT_EQUAL(end, solvable ? LCP_SOLVED : LCP_INFEASIBLE);
      n_infeasible += end == LCP_INFEASIBLE;
    }
  }
  CU_ASSERT(n_infeasible > 500);
}

/* Semidefinite and singular: solvable or not, nothing between, at any scale. */
static void test_semidefinite(void) {
  random_state = 27;
  int n_infeasible = 0;
  for (int trial = 0; trial < 3000; trial++) {
    int n = 2 + trial % 7;
    double M[n_here * n_here], q[n_here];
    fill_semidefinite(n, (n + 1) / 2, trial % 2, M);
    fill_random(n, q);
    bool solvable = count_solutions(n, M, q) > 0;
    for (int i = 0; i < n; i++) {
      int r = (int)(20 * random_number()), c = (int)(20 * random_number());
      for (int j = 0; j < n; j++) {
        M[i * n + j] = ldexp(M[i * n + j], r);
        M[j * n + i] = ldexp(M[j * n + i], c);
      }
      q[i] = ldexp(q[i], r);
    }
    for (int k = 0; k < 2; k++) {
      lcp_status end = expect_truth(n, M, q, kinds[k], solvable);
      // enumeration passes over bases that are nearly singular
      if (solvable) CU_ASSERT_EQUAL(end, LCP_SOLVED);
      CU_ASSERT(end == LCP_SOLVED || end == LCP_INFEASIBLE);
      n_infeasible += end == LCP_INFEASIBLE;
    }
  }
  CU_ASSERT(n_infeasible > 200);
}

/* A membrane over an obstacle on a square grid: sparse, an M-matrix. */
static void test_sparse_obstacle(void) {
  enum { side = 40, n = side * side };
  static int start[n + 1], row[5 * n];
  static double value[5 * n], q[n], z[n], w[n], size[n];
  int end = 0;
  for (int j = 0; j < n; j++) {
    int at_x = j % side, at_y = j / side;
    double x = (at_x + 1.0) / (side + 1) - 0.5;
    double h = (at_y + 1.0) / (side + 1) - 0.5;
    start[j] = end;
    for (int e = 0; e < 5; e++) {
      static const int step[5][2] = {{0, -1}, {-1, 0}, {0, 0}, {1, 0}, {0, 1}};
      int to_x = at_x + step[e][0], to_y = at_y + step[e][1];
      if (to_x < 0 || to_y < 0 || to_x >= side || to_y >= side) continue;
      row[end] = to_y * side + to_x;
      value[end++] = e == 2 ? 4 : -1;
    }
    q[j] = 1e-3 - 0.05 * fmax(0.1 - x * x - h * h, 0);
  }
  start[n] = end;
  const lemke_problem problem = {n, start, row, value, q, NULL, 0};
  lcp_report report =
      lcp_solve(&problem, LCP_FAST, TOLERANCE, &memory_from_malloc, z, NULL);
  CU_ASSERT_EQUAL(report.status, LCP_SOLVED);
  CU_ASSERT(lcp_componentwise(&problem, z, w, size) <= TOLERANCE);
  int n_raised = 0;
  for (int i = 0; i < n; i++) n_raised += z[i] > 0;
  CU_ASSERT(n_raised > n / 20 && n_raised < n);
}

/* ---- certificates --------------------------------------------------------------- */

static void test_certificates_are_checked(void) {
  // z_1 - z_2 >= 1 and z_2 - z_1 >= 1
  const int start[3] = {0, 2, 4}, row[4] = {0, 1, 0, 1};
  double value[4] = {1, -1, -1, 1}, q[2] = {-1, -1};
  const lemke_problem problem = {2, start, row, value, q, NULL, 0};
  const double proof[2] = {3, 3}, half[2] = {3, 0}, minus[2] = {3, -3};
  CU_ASSERT_EQUAL(lcp_certificate_error(&problem, proof), 0);
  CU_ASSERT_EQUAL(lcp_certificate_error(&problem, half), 1);
  CU_ASSERT_EQUAL(lcp_certificate_error(&problem, minus), INFINITY);
  q[0] = 1;
  CU_ASSERT_EQUAL(lcp_certificate_error(&problem, proof), INFINITY);
  q[0] = -1;

  // z = 2e13 and more solves it as soon as one entry is larger by 1e-13
  const double M[4] = {1, -1, -1, 1 + 1e-13};
  double z[2];
  for (int k = 0; k < 2; k++) {
    lcp_report report = solve(2, M, q, kinds[k], z);
    CU_ASSERT_NOT_EQUAL(report.status, LCP_INFEASIBLE);
    const double same[4] = {1, -1, -1, 1};
    CU_ASSERT_EQUAL(expect_truth(2, same, q, kinds[k], false), LCP_INFEASIBLE);
  }
}

/* Pang's problem with the isolated solution (1, 0, 0), as Siconos has it among its test
 * data, and its perturbed sibling, in which q_1 = -1e-4. The file's numbers are columns
 * of M: w_1 = -z_2 - z_3 - 1e-4 is below 0 whatever z >= 0, so that y = (1, 0, 0) is a
 * proof. Read by rows it is w_2 = -z_1 - 1 that cannot be met, perturbed or not. */
static void test_pang_isolated_solution(void) {
  const double by_columns[9] = {0, -1, -1, 1, 0, 0, -1, 0, 0};
  const double by_rows[9] = {0, 1, -1, -1, 0, 0, -1, 0, 0};
  const double isolated[3] = {0, -1, 1};
  expect_solved(3, by_columns, isolated);
  for (int k = 0; k < 2; k++) {
    double z[n_here];
    solve(3, by_columns, isolated, kinds[k], z);
    for (int i = 0; i < 3; i++) CU_ASSERT_DOUBLE_EQUAL(z[i], i == 0, 1e-12);
    CU_ASSERT_EQUAL(expect_truth(3, by_rows, isolated, kinds[k], false),
                    LCP_INFEASIBLE);
    for (double shift = 1e-8; shift < 1e9; shift *= 1e4) {
      const double q[3] = {-shift, -1, 1};
      CU_ASSERT_EQUAL(expect_truth(3, by_columns, q, kinds[k], false),
                      LCP_INFEASIBLE);
      CU_ASSERT(y[0] > 0);
      CU_ASSERT_EQUAL(expect_truth(3, by_rows, q, kinds[k], false),
                      LCP_INFEASIBLE);
    }
  }
}

/* Problems made around a solution are never called infeasible, whatever the
 * matrix and the scales. */
static void test_feasible_is_never_infeasible(void) {
  random_state = 28;
  for (int trial = 0; trial < 5000; trial++) {
    int n = 2 + trial % 20;
    double M[n_here * n_here], q[n_here];
    fill_random(n * n, M);
    for (int i = 0; i < n; i++) q[i] = 0;
    for (int i = 0; i < n; i++) {
      double z = fmax(random_number(), 0) * pow(10, 3 * random_number());
      for (int j = 0; j < n; j++) q[j] -= M[j * n + i] * z;
      if (z == 0) q[i] += 0.1 + fabs(random_number());
    }
    for (int i = 0; i < n; i++) {
      double r = pow(10, 6 * random_number()), c = pow(10, 6 * random_number());
      for (int j = 0; j < n; j++) {
        M[i * n + j] *= r;
        M[j * n + i] *= c;
      }
      q[i] *= r;
    }
    double z[n_here];
    lcp_report report = solve(n, M, q, kinds[trial % 2], z);
    CU_ASSERT_NOT_EQUAL(report.status, LCP_INFEASIBLE);
    CU_ASSERT_NOT_EQUAL(report.status, LCP_PIVOT_LIMIT);
  }
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

int main(void) {
  const CU_TestInfo tests[] = {
      {"the one solution is found", test_the_one_solution_is_found},
      {"friction is solved", test_friction_is_solved},
      {"smallest sizes", test_smallest_sizes},
      {"degenerate families", test_degenerate_families},
      {"any input ends", test_any_input_ends},
      {"exchanges that go round end", test_exchanges_that_go_round_end},
      {"large and repeatable", test_large_and_repeatable},
      {"games are solved", test_games_are_solved},
      {"dominant M-matrices", test_dominant_M_matrices},
      {"badly scaled P-matrices", test_badly_scaled_P_matrices},
      {"forward error of scaled problems",
       test_forward_error_of_scaled_problems},
      {"small q is not no q", test_small_q_is_not_no_q},
      {"ties of copositive matrices", test_ties_of_copositive_matrices},
      {"Murty", test_murty},
      {"Fathi", test_fathi},
      {"Chandrasekaran", test_chandrasekaran},
      {"semidefinite", test_semidefinite},
      {"sparse obstacle", test_sparse_obstacle},
      {"certificates are checked", test_certificates_are_checked},
      {"Pang's isolated solution", test_pang_isolated_solution},
      {"feasible is never infeasible", test_feasible_is_never_infeasible},
      {"every allocation may fail", test_every_allocation_may_fail},
      CU_TEST_INFO_NULL};
  return run_tests("plain LCPs", tests);
}
