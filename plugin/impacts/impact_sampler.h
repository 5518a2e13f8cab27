/* One step of the impact and one sample: Alg. 1 and the last step of Alg. 2. */
#ifndef ODE_MLCP_IMPACTS_IMPACT_SAMPLER_H
#define ODE_MLCP_IMPACTS_IMPACT_SAMPLER_H

#include "impacts/impact.h"

/** Counts over the steps of samples; see ode_mlcp_impact_set. */
typedef struct impact_counts {
  uint64_t fallbacks, solutions, incomplete, continua;
} impact_counts;

/** One thread's workspace: everything a sample needs. */
typedef struct impact_sampler {
  const ode_mlcp_impact *impact;
  const ode_mlcp_impact_options *options;
  double *c;            /* [n_rows] contact velocities, of all islands */
  double *lambda_sum;   /* [n_rows] impulses so far */
  double *drawn;        /* [m] caps by the user's own distribution */
  contact_gates *gates; /* [n_islands] of their tables */
  /* of the island that is entered: */
  const impact_island *island;
  ode_mlcp_impact_method method; /* never AUTOMATIC */
  uint64_t seed;                 /* the options' and the island's key */
  double h;                      /* N s */
  double last_cap;               /* eps/(3 psi), N s */
  contact_space limited; /* its own, friction without limit replaced by much
                            friction, for Lemke's path */
  double *limited_bound; /* [m] */
  double *inputs;        /* [n_rows + m] y = (c, caps) */
  contact_found found;   /* the last step's solutions, room for one more */
  int point; /* the place of the one drawn within a continuum; -1: none */
  double *covering, *scratch;
  arena path_arena;
  impact_counts counts;
  double work_left; /* products that searches may take; INFINITY: any number.
                            A sample ends where there are none */
  bool met_all;     /* the last step has no others */
  bool spans;       /* it has a continuum of solutions */
  bool failed;      /* this sample met a step without a solution */
  bool stopped;     /* `interrupted` said so: this sample is not done */
  int n_lcps;       /* of this sample */
  arena arena;
} impact_sampler;

/** Take room for IMPACT_MAX_SOLUTIONS and one more. */
bool impact_found_open(contact_found *found, int n_rows, arena *arena);

/**
 * All solutions of a step by decisions in doubles; there always is one: where these lack
 * the digits for it, in 34 digits; then by coarser decisions, which may not meet all.
 *
 * @param scratch  impact_search_scratch numbers
 * @param found    as of contact_search_solve
 * @return products that the searches took
 */
double impact_search(const ode_mlcp_impact *impact, const impact_island *island,
                     const double c[], const double caps[], long most_pivots,
                     double scratch[], contact_found *found);
size_t impact_search_scratch(const impact_island *island);

/** Of the first `count` solutions keep those that differ by more than rounding; how many
 *  these are. */
int impact_found_distinct(const contact_space *space, contact_found *found,
                          int count);

/** Build what `options` need that the impact lacks: caps of islands; and where
 *  `tables`, tables of modes, which one sample is not worth.
 *  @return DONE, TOO_MANY_MODES or NO_MEMORY. */
ode_mlcp_impact_status
impact_sampler_prepare(ode_mlcp_impact *impact,
                       const ode_mlcp_impact_options *options, bool tables);

/** False: no memory. Lives on options and impact, which must outlive it and are
 *  prepared. The first island is entered. */
bool impact_sampler_open(impact_sampler *sampler, const ode_mlcp_impact *impact,
                         const ode_mlcp_impact_options *options,
                         const memory_source *source);
/** Also of one of zeros, which was never opened. */
void impact_sampler_close(impact_sampler *sampler);

/** Turn to an island: steps are its own from here on. */
void impact_sampler_enter(impact_sampler *sampler, int number);

/**
 * Solve one step of the island that is entered, inputs y = (c, caps) in sampler->inputs.
 *
 * @param most  how many solutions are wanted
 * @return solutions found, distinct in velocity, in sampler->found; of a continuum its
 *         corners, and with RANDOM behind them the point drawn; 0 when no method found
 *         one
 */
int impact_sampler_step(impact_sampler *sampler, uint64_t sample, uint32_t step,
                        int most);

/** Told each velocity of a sample, island after island, and LCPs until it. */
typedef void impact_visit(void *context, const impact_sampler *sampler);

/**
 * One sample (Alg. 1), sampler->n_lcps LCPs.
 *
 * @param visit    told of the start and every step; NULL: nobody
 * @return true when the velocity it ends at, in sampler->c (contact) and
 *         sampler->lambda_sum (impulses), no longer collides
 */
bool impact_sampler_run(impact_sampler *sampler, uint64_t sample,
                        impact_visit *visit, void *context);

/** The last step of Alg. 2; true: the velocity does not collide. */
bool impact_sampler_last_step(impact_sampler *sampler, uint64_t sample);

#endif
