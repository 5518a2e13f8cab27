/* What tests of impacts share: collisions that are made ready, and samplers for single
 * steps. */
#ifndef ODE_MLCP_TESTS_IMPACT_SAMPLING_H
#define ODE_MLCP_TESTS_IMPACT_SAMPLING_H

#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "impact_example.h"
#include "impacts/impact_sampler.h"

/** A collision of its own; to be given to ode_mlcp_impact_destroy(). */
static inline ode_mlcp_impact *
make_impact(const ode_mlcp_impact_problem *problem) {
  ode_mlcp_impact *impact;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_impact_create(problem, &impact, NULL, 0),
                        ODE_MLCP_IMPACT_DONE);
  return impact;
}

static inline ode_mlcp_impact_options impact_defaults(void) {
  ode_mlcp_impact_options options;
  ode_mlcp_impact_default_options(&options);
  return options;
}

/** To be released. */
static inline ode_mlcp_impact_set
impact_set_of(ode_mlcp_impact *impact, const ode_mlcp_impact_options *options) {
  ode_mlcp_impact_set set;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_impact_approximate(impact, options, &set),
                        ODE_MLCP_IMPACT_DONE);
  return set;
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

/** An example, ready, with its own options. */
typedef struct ready_example {
  impact_example example;
  ode_mlcp_impact *impact;
  ode_mlcp_impact_options options;
  int s, m, n_rows;
} ready_example;

static inline ready_example *open_example(const char *name) {
  ready_example *it = malloc(sizeof *it);
  if (it == NULL || !impact_example_fill(&it->example, name)) abort();
  it->impact = make_impact(&it->example.problem);
  it->options = impact_defaults();
  it->options.h = it->example.h;
  it->options.steps = it->example.steps;
  it->s = it->example.problem.n_velocities;
  it->m = it->example.problem.n_contacts;
  it->n_rows = 2 * it->m;
  return it;
}

static inline void close_example(ready_example *it) {
  ode_mlcp_impact_destroy(it->impact);
  free(it);
}

#endif
