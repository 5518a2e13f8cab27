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

/* Of solves in vain the work counts, not what they came to. */
static void test_shares_of_islands_add_up(void) {
  for (int in_vain = 0; in_vain < 2; in_vain++) {
    ode_mlcp_report sum = report_of(2), share = report_of(5);
    report_add(&sum, &share, in_vain);
#define WORK 7
#define MOST_WORK 5
#define SUM (in_vain ? 2 : WORK)
#define MOST (in_vain ? 2 : MOST_WORK)
#define ANY (in_vain ? 2 : 2 | 5)
#define WORLD 2
#define EXPECT(type, field, islands, ...) CU_ASSERT(sum.field == islands);
    ODE_MLCP_REPORT(EXPECT)
#undef EXPECT
#undef SUM
#undef MOST
    CU_ASSERT(sum.solves == 7 && sum.pivots == 7 && sum.ended_warm == 7);
    CU_ASSERT_EQUAL(sum.unsolved, in_vain ? 2 : 7);
    CU_ASSERT_EQUAL(sum.residual, in_vain ? 2 : 5);
  }
}

/* The first words stay; what went wrong in one island went wrong in the step. */
static void test_words_and_failures_add_up(void) {
  static outcome sum, share;
  outcome_start(&sum);
  outcome_start(&share);
  strcpy(share.warning, "first");
  share.report.refused = 1;
  outcome_add(&sum, &share);
  CU_ASSERT_STRING_EQUAL(sum.warning, "first");
  CU_ASSERT_STRING_EQUAL(sum.message, "");
  CU_ASSERT(sum.report.refused && !sum.no_memory);

  outcome_start(&share);
  strcpy(share.warning, "second");
  CU_ASSERT_FALSE(outcome_no_memory(&share));
  outcome_add(&sum, &share);
  CU_ASSERT_STRING_EQUAL(sum.warning, "first");
  CU_ASSERT_STRING_EQUAL(sum.message, "memory ran out");
  CU_ASSERT(sum.report.refused && sum.no_memory);
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
      {"words and failures", test_words_and_failures_add_up},
      {"steps", test_steps_add_up},
      {"not a number", test_what_was_no_number_stays_none},
      CU_TEST_INFO_NULL};
  return run_tests("stepper: report", tests);
}
