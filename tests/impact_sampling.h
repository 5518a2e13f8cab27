/* Samplers for tests that solve single steps. */
#ifndef ODE_MLCP_TESTS_IMPACT_SAMPLING_H
#define ODE_MLCP_TESTS_IMPACT_SAMPLING_H

#include "testing.h"

#include "impacts/impact_sampler.h"

/** A collision of its own; to be given to ode_mlcp_impact_destroy(). */
static inline ode_mlcp_impact *
make_impact(const ode_mlcp_impact_problem *problem) {
  ode_mlcp_impact *impact;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_impact_create(problem, &impact, NULL, 0),
                        ODE_MLCP_IMPACT_DONE);
  return impact;
}

/** Prepare what `options` need and open a sampler for them; both must outlive it. */
static inline void open_sampler(impact_sampler *sampler,
                                ode_mlcp_impact *impact,
                                const ode_mlcp_impact_options *options) {
  CU_ASSERT_EQUAL_FATAL(impact_sampler_prepare(impact, options, true),
                        ODE_MLCP_IMPACT_DONE);
  CU_ASSERT_FATAL(
      impact_sampler_open(sampler, impact, options, &memory_from_malloc));
}

#endif
