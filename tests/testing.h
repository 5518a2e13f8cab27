/* A CUnit program from a list of tests. */
#ifndef ODE_MLCP_TESTS_TESTING_H
#define ODE_MLCP_TESTS_TESTING_H

#include <CUnit/Basic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Random numbers with a fixed seed: the tests are the same on every run. */
typedef struct test_random {
  uint64_t state;
} test_random;

/** Uniform in [low, high). */
static inline double test_uniform(test_random *random, double low,
                                  double high) {
  /* SplitMix64 */
  uint64_t z = (random->state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return low + (high - low) * ((double)(z >> 11) * 0x1p-53);
}

/** With TEST_LENGTH=short in the environment, what only goes on or repeats is shorter:
 *  for sanitizers, which look at lines of code more than at numbers. */
static inline int test_is_short(void) {
  const char *length = getenv("TEST_LENGTH");
  return length != NULL && strcmp(length, "short") == 0;
}

/** How many of `all` rounds are run: an eighth in a short test, one at least. */
static inline int test_rounds(int all) {
  return test_is_short() ? (all + 7) / 8 : all;
}

/** Of cases that combine everything with everything a short test runs each seventh: as
 *  lists of such cases are not seven long, each of their values is among those that run.
 *  `n_seen` counts the cases from 0. */
static inline int test_leaves_out(int *n_seen) {
  return (*n_seen)++ % 7 != 0 && test_is_short();
}

/** Run the tests; returns what main has to return: 0 only if tests ran and all
 *  their checks held. */
static inline int run_tests(const char *suite_name, const CU_TestInfo tests[]) {
  if (CU_initialize_registry() != CUE_SUCCESS) return 1;
  CU_pSuite suite = CU_add_suite(suite_name, NULL, NULL);
  for (int i = 0; suite != NULL && tests[i].pName != NULL; i++)
    CU_add_test(suite, tests[i].pName, tests[i].pTestFunc);
  CU_basic_set_mode(CU_BRM_VERBOSE);
  CU_basic_run_tests();
  int passed = CU_get_number_of_tests_run() > 0 &&
               CU_get_number_of_failure_records() == 0;
  CU_cleanup_registry();
  return passed ? 0 : 1;
}

#endif
