/* Exact sums: no order and no cut of the terms changes a bit, and the result is
 * rounded once. */
#include "testing.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "command/exact_sum.h"

static double sum_of(const double terms[], int n) {
  exact_sum sum = {{0}};
  for (int i = 0; i < n; i++) exact_sum_add(&sum, terms[i]);
  exact_sum_settle(&sum);
  return exact_sum_round(&sum);
}

static void test_known_sums(void) {
  const struct {
    double terms[4], sum;
  } table[] = {
      {{0, 0, 0, 0}, 0},
      {{1e16, 1, -1e16, 0}, 1},
      {{1e308, 1e308, -1e308, -1e308}, 0},
      {{DBL_MAX, -DBL_MAX, 0x1p-1074, 0}, 0x1p-1074},
      {{0x1p-1074, 0x1p-1074, 0x1p-1074, 0}, 0x3p-1074},
      {{-0.1, -0.2, -0.3, 0}, -0.6},
      // halfway: to the even neighbour, and up where anything is added
      {{1, 0x1p-53, 0, 0}, 1},
      {{1, 0x1p-53, 0x1p-1074, 0}, 1 + 0x1p-52},
      {{1 + 0x1p-52, 0x1p-53, 0, 0}, 1 + 0x1p-51},
      {{-1, -0x1p-53, -0x1p-1000, 0}, -1 - 0x1p-52},
      {{1, 0x1p-53, -0x1p-1074, 0}, 1},
  };
  for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
    double sum = sum_of(table[k].terms, 4);
    CU_ASSERT_EQUAL(sum, table[k].sum);
  }
}

static void test_order_and_cut_leave_no_trace(void) {
  enum { N = 2000 };
  test_random random = {21};
  double terms[N];
  for (int i = 0; i < N; i++)
    terms[i] = ldexp(test_uniform(&random, -1, 1),
                     (int)test_uniform(&random, -300, 300));
  exact_sum whole = {{0}}, parts[3] = {{{0}}};
  for (int i = 0; i < N; i++) {
    exact_sum_add_product(&whole, terms[i], terms[N - 1 - i]);
    exact_sum_add(&whole, terms[i]);
  }
  exact_sum_settle(&whole);
  for (int i = N - 1; i >= 0; i--) {
    exact_sum_add(&parts[i % 3], terms[i]);
    exact_sum_add_product(&parts[i * 7 % 3], terms[N - 1 - i], terms[i]);
    if (i % 50 == 0) exact_sum_settle(&parts[i % 3]);
  }
  for (int i = 0; i < 3; i++) exact_sum_settle(&parts[i]);
  exact_sum_join(&parts[1], &parts[2]);
  exact_sum_join(&parts[1], &parts[0]);
  CU_ASSERT_EQUAL(memcmp(&whole, &parts[1], sizeof whole), 0);

  // negative control: one term more shows
  exact_sum_add(&whole, 0x1p-1074);
  exact_sum_settle(&whole);
  CU_ASSERT_NOT_EQUAL(memcmp(&whole, &parts[1], sizeof whole), 0);
}

/* Rounded as a sum of few terms in twice the precision is. */
static void test_rounding(void) {
  test_random random = {22};
  for (int k = 0; k < 20000; k++) {
    double a = ldexp(test_uniform(&random, -1, 1), k % 40),
           b = ldexp(test_uniform(&random, -1, 1), k % 7);
    CU_ASSERT_EQUAL(sum_of((double[]){a, b}, 2), a + b);
    exact_sum product = {{0}};
    exact_sum_add_product(&product, a, b);
    exact_sum_add(&product, b);
    exact_sum_settle(&product);
    CU_ASSERT_EQUAL(exact_sum_round(&product), fma(a, b, b));
  }
}

int main(void) {
  CU_TestInfo tests[] = {
      {"known sums", test_known_sums},
      {"order and cut leave no trace", test_order_and_cut_leave_no_trace},
      {"rounding", test_rounding},
      CU_TEST_INFO_NULL};
  return run_tests("command: exact sums", tests);
}
