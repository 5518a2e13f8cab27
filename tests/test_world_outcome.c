/* How the outcomes of islands add up to that of a step. */
#include <string.h>

#include "testing.h"
#include "world/outcome.h"

static outcome sum, share;

/* Contradictions that are kept are the first ones; all are counted. */
static void test_contradictions_are_counted_on(void) {
  outcome_start(&sum);
  outcome_start(&share);
  for (int i = 0; i < 20; i++)
    outcome_add_contradiction(&sum, &(ode_mlcp_jam){.position = {i}});
  for (int i = 0; i < OUTCOME_CONTRADICTIONS + 5; i++)
    outcome_add_contradiction(&share, &(ode_mlcp_jam){.position = {100 + i}});
  CU_ASSERT_EQUAL(share.n_contradiction, OUTCOME_CONTRADICTIONS + 5);
  outcome_add(&sum, &share);
  CU_ASSERT_EQUAL(sum.n_contradiction, 20 + OUTCOME_CONTRADICTIONS + 5);
  for (int i = 0; i < OUTCOME_CONTRADICTIONS; i++)
    CU_ASSERT_EQUAL(sum.contradiction[i].position[0], i < 20 ? i : 80 + i);
}

/* The first words stay; what went wrong in one island went wrong in the step. */
static void test_words_and_failures_add_up(void) {
  outcome_start(&sum);
  outcome_start(&share);
  strcpy(share.warning, "first");
  share.refused = true;
  outcome_add(&sum, &share);
  CU_ASSERT_STRING_EQUAL(sum.warning, "first");
  CU_ASSERT_STRING_EQUAL(sum.message, "");
  CU_ASSERT(sum.refused && !sum.no_memory);

  outcome_start(&share);
  strcpy(share.warning, "second");
  CU_ASSERT_FALSE(outcome_no_memory(&share));
  outcome_add(&sum, &share);
  CU_ASSERT_STRING_EQUAL(sum.warning, "first");
  CU_ASSERT_STRING_EQUAL(sum.message, "memory ran out");
  CU_ASSERT(sum.refused && sum.no_memory);
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
  share.report.solver_seconds = 0.5;
  share.report.unsolved = 6;
  share.report.residual = 7;
  outcome_add_work(&sum, &share);
  CU_ASSERT_EQUAL(sum.report.solves, 3);
  CU_ASSERT_EQUAL(sum.report.pivots, 3);
  CU_ASSERT_EQUAL(sum.report.factorisations, 4);
  CU_ASSERT_EQUAL(sum.report.iterations, 5);
  CU_ASSERT_EQUAL(sum.report.solver_seconds, 0.5);
  CU_ASSERT_EQUAL(sum.report.unsolved, 0);
  CU_ASSERT_EQUAL(sum.report.residual, 0);

  /* each solve by the stage that ended it */
  int *const stages[] = {
      &share.report.ended_warm,     &share.report.ended_continuation,
      &share.report.ended_interior, &share.report.ended_pivots,
      &share.report.ended_detour,   &share.report.pushes};
  for (int i = 0; i < 6; i++) *stages[i] = 1 << i;
  outcome_start(&sum);
  for (int n = 0; n < 2; n++) outcome_add_work(&sum, &share);
  CU_ASSERT_EQUAL(sum.report.ended_warm, 2);
  CU_ASSERT_EQUAL(sum.report.ended_continuation, 4);
  CU_ASSERT_EQUAL(sum.report.ended_interior, 8);
  CU_ASSERT_EQUAL(sum.report.ended_pivots, 16);
  CU_ASSERT_EQUAL(sum.report.ended_detour, 32);
  CU_ASSERT_EQUAL(sum.report.pushes, 64);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"contradictions are counted on", test_contradictions_are_counted_on},
      {"words and failures add up", test_words_and_failures_add_up},
      {"work in vain", test_work_in_vain},
      CU_TEST_INFO_NULL};
  return run_tests("outcomes", tests);
}
