/* Every allocation may fail: each failure is reported, leaks nothing, and the
 * next call works. Sampling allocates nothing. */
#include "failing_memory.h"
#include "impact_sampling.h"
#include "impacts/impact.h"

/* One use of everything; NO_MEMORY when any part of it said so. */
static ode_mlcp_impact_status use(const impact_example *example,
                                  ode_mlcp_impact_select select,
                                  uint64_t samples,
                                  const memory_source *source) {
  ode_mlcp_impact *impact;
  ode_mlcp_impact_status status =
      impact_create(&example->problem, source, &impact, NULL, 0);
  if (status != ODE_MLCP_IMPACT_DONE) return status;

  ode_mlcp_impact_options options = impact_defaults();
  options.samples = samples;
  options.select = select;
  options.h = example->h;
  options.threads = 1;
  ode_mlcp_impact_set set;
  double v[64 * 9];
  int count;
  status = ode_mlcp_impact_approximate(impact, &options, &set);
  ode_mlcp_impact_set_release(&set);
  if (status == ODE_MLCP_IMPACT_DONE)
    status = ode_mlcp_impact_ways(impact, &options, 10, &set);
  ode_mlcp_impact_set_release(&set);
  if (status == ODE_MLCP_IMPACT_DONE)
    status = ode_mlcp_impact_simultaneous(impact, 64, v, &count);
  if (status == ODE_MLCP_IMPACT_DONE)
    status =
        ode_mlcp_impact_sequential(impact, 1e-8, NULL, 0, 9, v, NULL, NULL);
  if (status == ODE_MLCP_IMPACT_DONE)
    status = ode_mlcp_impact_sim(impact, &options, 0, v, NULL);
  ode_mlcp_impact_destroy(impact);
  return status;
}

static void test_every_allocation_may_fail(void) {
  impact_example example;
  impact_example_fill(&example, "box-wall");
  for (int select = 0; select < 2; select++) {
    long n_needed = 0;
    for (long fail_at = 0; fail_at < 1000; fail_at++) {
      failing_memory memory = {0};
      memory_source source = failing_memory_source(&memory);
      fail_allocation(&memory, fail_at);
      ode_mlcp_impact_status status =
          use(&example, (ode_mlcp_impact_select)select, 50, &source);
      CU_ASSERT_EQUAL(memory.n_held, 0);
      CU_ASSERT_EQUAL(memory.bytes_held, 0);
      if (!an_allocation_failed(&memory)) {
        CU_ASSERT_EQUAL(status, ODE_MLCP_IMPACT_DONE);
        n_needed = fail_at;
        break;
      }
      CU_ASSERT_EQUAL(status, ODE_MLCP_IMPACT_NO_MEMORY);
    }
    CU_ASSERT(n_needed > 10);
  }
}

static void test_sampling_allocates_nothing(void) {
  for (int k = 0; k < IMPACT_EXAMPLES; k++) {
    impact_example example;
    impact_example_fill(&example, impact_example_name(k));
    long n_allocations[2];
    for (int i = 0; i < 2; i++) {
      failing_memory memory = {0};
      memory_source source = failing_memory_source(&memory);
      use(&example, ODE_MLCP_IMPACT_RANDOM, i == 0 ? 1 : test_rounds(3000),
          &source);
      n_allocations[i] = memory.n_asked;
    }
    CU_ASSERT_EQUAL(n_allocations[0], n_allocations[1]);
  }
}

static void test_too_many_modes(void) {
  enum { N = 8, S = 2 * N };
  double M[S * S], Jn[N * S] = {0}, Jt[N * S] = {0}, mu[N], v[S] = {0};
  for (int i = 0; i < S * S; i++) M[i] = i % (S + 1) == 0 ? 1 : 0.05;
  for (int i = 0; i < N; i++) {
    Jn[i * S + i] = 1;
    Jt[i * S + N + i] = 1;
    mu[i] = 0.5;
    v[i] = -1;
  }
  const ode_mlcp_impact_problem problem =
      collision_of(S, N, 1, M, Jn, Jt, mu, v);
  ode_mlcp_impact *impact = make_impact(&problem);
  ode_mlcp_impact_options options = impact_defaults();
  options.samples = 100;
  ode_mlcp_impact_set set;
  options.method = ODE_MLCP_IMPACT_MODES;
  CU_ASSERT_EQUAL(ode_mlcp_impact_approximate(impact, &options, &set),
                  ODE_MLCP_IMPACT_TOO_MANY_MODES);
  CU_ASSERT_PTR_NULL(set.v);
  // path and search need no table
  for (int k = 0; k < 2; k++) {
    options.method = k == 0 ? ODE_MLCP_IMPACT_PATH : ODE_MLCP_IMPACT_SEARCH;
    set = impact_set_of(impact, &options);
    CU_ASSERT(set.n_outcomes > 90);
    CU_ASSERT_EQUAL(set.n_incomplete, k == 0 ? set.n_lcps : 0);
    ode_mlcp_impact_set_release(&set);
  }
  ode_mlcp_impact_destroy(impact);
}

int main(void) {
  CU_TestInfo tests[] = {
      {"every allocation may fail", test_every_allocation_may_fail},
      {"sampling allocates nothing", test_sampling_allocates_nothing},
      {"too many modes", test_too_many_modes},
      CU_TEST_INFO_NULL};
  return run_tests("impacts: memory", tests);
}
