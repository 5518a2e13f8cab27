/* The table of report fields: how islands' shares and steps add up. */
#include <math.h>
#include <string.h>

#include "preload/statistics.h"
#include "world/outcome.h"
#include "testing.h"

/* Every field at `value`. */
static ode_mlcp_report report_of(int value) {
  ode_mlcp_report report;
  memset(&report, 0, sizeof report);
#define FILL(type, field, ...) report.field = (type)value;
  ODE_MLCP_REPORT(FILL)
#undef FILL
  return report;
}

static void test_shares_of_islands_add_up(void) {
  ode_mlcp_report sum = report_of(2), share = report_of(5);
  report_add(&sum, &share, false);
#define SUM 7
#define MOST 5
#define ANY (2 | 5)
#define WORLD 2
#define WORK SUM
#define MOST_WORK MOST
#define EXPECT(type, field, islands, ...) CU_ASSERT(sum.field == islands);
  ODE_MLCP_REPORT(EXPECT)
#undef EXPECT
#undef SUM
#undef MOST
}

static void test_steps_add_up(void) {
  statistics sums = {0};
  ode_mlcp_report report = {.taken = 1,
                            .contacts = 3,
                            .solves = 2,
                            .residual = 1e-12,
                            .step_seconds = 0.5};
  statistics_add(&sums, &report);
  report.contacts = 2;
  statistics_add(&sums, &report);
  report.taken = 0;
  statistics_add(&sums, &report);
  report.refused = 1;
  statistics_add(&sums, &report);
  CU_ASSERT_EQUAL(sums.taken, 2);
  CU_ASSERT_EQUAL(sums.failed, 1);
  CU_ASSERT_EQUAL(sums.refused, 1);
  CU_ASSERT_EQUAL(statistics_tried(&sums), 4);
  CU_ASSERT_EQUAL(sums.contacts, 3); // the most
  CU_ASSERT_EQUAL(sums.solves, 8);
  CU_ASSERT_EQUAL(sums.residual, 1e-12);
  CU_ASSERT_EQUAL(sums.step_seconds, 2);
}

static void test_what_was_no_number_stays_none(void) {
  statistics sums = {0};
  const double residuals[] = {1e-12, NAN, 1e-3};
  for (int i = 0; i < 3; i++) {
    ode_mlcp_report report = {.taken = 1, .residual = residuals[i]};
    CU_ASSERT_EQUAL(isnan(sums.residual) != 0, i == 2);
    statistics_add(&sums, &report);
  }
  CU_ASSERT(isnan(sums.residual));
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"islands", test_shares_of_islands_add_up},
      {"steps", test_steps_add_up},
      {"not a number", test_what_was_no_number_stays_none},
      CU_TEST_INFO_NULL};
  return run_tests("stepper: report", tests);
}
