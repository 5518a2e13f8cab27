/* How the outcomes of islands add up to that of a step. */
#include <string.h>

#include "testing.h"
#include "world/outcome.h"

static outcome sum, share;

/* The first words stay; what went wrong in one island went wrong in the step. */
static void test_words_and_failures_add_up(void) {
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

/* Of solves in vain the work counts, not what they came to. */
static void test_work_in_vain(void) {
  outcome_start(&sum);
  outcome_start(&share);
  sum.report.solves = 1;
  share.report.solves = 2;
  share.report.pivots = 3;
  share.report.factorisations = 4;
  share.report.iterations = 5;
  share.report.sweep_queries = 8;
  share.report.solver_seconds = 0.5;
  share.report.unsolved = 6;
  share.report.residual = 7;
  report_add(&sum.report, &share.report, true);
  CU_ASSERT_EQUAL(sum.report.solves, 3);
  CU_ASSERT_EQUAL(sum.report.pivots, 3);
  CU_ASSERT_EQUAL(sum.report.factorisations, 4);
  CU_ASSERT_EQUAL(sum.report.iterations, 5);
  CU_ASSERT_EQUAL(sum.report.sweep_queries, 8);
  CU_ASSERT_EQUAL(sum.report.solver_seconds, 0.5);
  CU_ASSERT_EQUAL(sum.report.unsolved, 0);
  CU_ASSERT_EQUAL(sum.report.residual, 0);

  /* each solve by the stage that ended it */
  int *const stages[] = {
      &share.report.ended_warm,     &share.report.ended_continuation,
      &share.report.ended_interior, &share.report.ended_pivots,
      &share.report.ended_homotopy, &share.report.ended_lemke,
      &share.report.pushes};
  for (int i = 0; i < 7; i++) *stages[i] = 1 << i;
  outcome_start(&sum);
  for (int n = 0; n < 2; n++) report_add(&sum.report, &share.report, true);
  CU_ASSERT_EQUAL(sum.report.ended_warm, 2);
  CU_ASSERT_EQUAL(sum.report.ended_continuation, 4);
  CU_ASSERT_EQUAL(sum.report.ended_interior, 8);
  CU_ASSERT_EQUAL(sum.report.ended_pivots, 16);
  CU_ASSERT_EQUAL(sum.report.ended_homotopy, 32);
  CU_ASSERT_EQUAL(sum.report.ended_lemke, 64);
  CU_ASSERT_EQUAL(sum.report.pushes, 128);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"words and failures add up", test_words_and_failures_add_up},
      {"work in vain", test_work_in_vain},
      CU_TEST_INFO_NULL};
  return run_tests("outcomes", tests);
}
