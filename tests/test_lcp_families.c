/* Families of LCPs from the literature and badly scaled ones, by either way of
 * `ode-mlcp solve`: against the enumeration of complementary bases where small,
 * and every certificate checked by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense_lcp.h"
#include "small_lcps.h"
#include "lcp/lcp.h"
#include "testing.h"

enum { n_here = 64 };

static const double TOLERANCE = 1e-10;

static const lcp_method kinds[] = {LCP_FAST, LCP_LEMKE};

static double y[n_here];

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

/* The status is true of what comes with it, and of the enumeration's count. */
static lcp_status expect_truth(int n, const double M[], const double q[],
                               lcp_method kind, bool solvable) {
  double z[n_here];
  lcp_report report = solve(n, M, q, kind, z);
  if (report.status == LCP_SOLVED)
    CU_ASSERT(dense_componentwise(n, M, q, z) <= TOLERANCE);
  if (solvable) CU_ASSERT_NOT_EQUAL(report.status, LCP_INFEASIBLE);
  if (report.status == LCP_INFEASIBLE) CU_ASSERT(proves(n, M, q));
  CU_ASSERT_EQUAL(report.status == LCP_INFEASIBLE,
                  isfinite(report.certificate));
  return report.status;
}

static void expect_solved(int n, const double M[], const double q[]) {
  for (int k = 0; k < 2; k++)
    CU_ASSERT_EQUAL(expect_truth(n, M, q, kinds[k], true), LCP_SOLVED);
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

/* ---- ties ---------------------------------------------------------------------- */

/* Small integers tie at nearly every pivot. Whatever has a solution is solved,
 * and no other end is a limit. */
static void test_small_integers(void) {
  random_state = 23;
  int n_solvable = 0, n_infeasible = 0, n_rays = 0;
  for (int trial = 0; trial < 10000; trial++) {
    int n = 2 + trial % 6;
    double M[n_here * n_here], q[n_here];
    for (int i = 0; i < n * n; i++) M[i] = floor(2.5 * random_number() + 0.5);
    for (int i = 0; i < n; i++) q[i] = floor(2.5 * random_number() + 0.5);
    bool solvable = count_solutions(n, M, q) > 0;
    for (int k = 0; k < 2; k++) {
      lcp_status end = expect_truth(n, M, q, kinds[k], solvable);
      if (solvable) CU_ASSERT_EQUAL(end, LCP_SOLVED);
      CU_ASSERT(end == LCP_SOLVED || end == LCP_INFEASIBLE || end == LCP_RAY);
      n_solvable += end == LCP_SOLVED;
      n_infeasible += end == LCP_INFEASIBLE;
      n_rays += end == LCP_RAY;
    }
  }
  // the family has all three
  CU_ASSERT(n_solvable > 2000 && n_infeasible > 2000 && n_rays > 500);
}

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

/* ---- families by name ------------------------------------------------------------ */

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

int main(void) {
  const CU_TestInfo tests[] = {
      {"badly scaled P-matrices", test_badly_scaled_P_matrices},
      {"forward error of scaled problems",
       test_forward_error_of_scaled_problems},
      {"small q is not no q", test_small_q_is_not_no_q},
      {"small integers", test_small_integers},
      {"ties of copositive matrices", test_ties_of_copositive_matrices},
      {"Murty", test_murty},
      {"Fathi", test_fathi},
      {"Chandrasekaran", test_chandrasekaran},
      {"semidefinite", test_semidefinite},
      {"sparse obstacle", test_sparse_obstacle},
      {"certificates are checked", test_certificates_are_checked},
      {"Pang's isolated solution", test_pang_isolated_solution},
      {"feasible is never infeasible", test_feasible_is_never_infeasible},
      CU_TEST_INFO_NULL};
  return run_tests("plain LCPs: families", tests);
}
