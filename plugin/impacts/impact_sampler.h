/* One step of the impact and one sample: Alg. 1 and the last step of Alg. 2. */
#ifndef ODE_MLCP_IMPACTS_IMPACT_SAMPLER_H
#define ODE_MLCP_IMPACTS_IMPACT_SAMPLER_H

#include "impacts/impact.h"
#include "impacts/impact_ends.h"

/** Counts over the steps of samples; see ode_mlcp_impact_set. */
typedef struct impact_counts {
  uint64_t fallbacks, solutions, incomplete, continua;
} impact_counts;

/** A step with several solutions of which some are to be taken yet. */
typedef struct impact_branch {
  int island, step, n_lcps; /* behind the step */
  int n_solutions, next;
  size_t at; /* in the sampler's state */
  bool over; /* the islands before */
} impact_branch;

/** One thread's workspace: everything a sample needs, so that sampling allocates
 *  nothing but what trees grow by. */
typedef struct impact_sampler {
  const ode_mlcp_impact *impact;
  const ode_mlcp_impact_options *options;
  double *c;          /* [n_rows] contact velocities, of all islands */
  double *lambda_sum; /* [n_rows] impulses so far */
  double *drawn;      /* [m] caps by the user's own distribution */
  /* of the island that is entered: */
  const impact_island *island;
  ode_mlcp_impact_method method; /* never AUTOMATIC */
  uint64_t seed;                 /* the options' and the island's key */
  double h;                      /* N s */
  double last_cap;               /* eps/(3 psi), N s */
  contact_space limited; /* its own, friction without limit replaced by much
                            friction, for the ways that need a limit */
  double *limited_bound; /* [m] */
  double *inputs;        /* [n_rows + m] y = (c, caps) */
  double *covering;      /* random numbers of a covering vector or two */
  double *lambdas;       /* [(IMPACT_MAX_SOLUTIONS + 1) x n_rows] */
  double *reached;       /* likewise */
  int *leaf;             /* [..] of which leaf a corner is (contact_search.h) */
  int n_leaves;
  int point;       /* the place of the one drawn within a continuum; -1: none */
  double *numbers; /* [n_rows + m] scratch */
  double *solver;  /* scratch of the methods */
  contact_tree *trees; /* [n_islands] zeros until an island needs its own */
  impact_ends *ends;   /* [n_islands] where caps go for the ends */
  double pick;         /* and the number that chooses among solutions */
  impact_counts counts;
  uint32_t step;    /* that is solved */
  double work_left; /* products that searches may take; INFINITY: any number.
                            A sample ends where there are none */
  bool met_all;     /* the last step has no others */
  bool spans;       /* it has a continuum of solutions */
  bool failed;      /* this sample met a step without a solution */
  bool stopped;     /* `interrupted` said so: this sample is not done */
  bool no_memory;   /* for a branch */
  bool over;        /* the islands so far collide no longer */
  int n_lcps;       /* of this branch */
  impact_branch *branches; /* ALL: a stack, the deepest last */
  size_t n_branches;
  double *state; /* of branches: c, lambda_sum, lambdas, reached */
  size_t n_state;
  double *way; /* where somebody is told: c, lambda_sum after each LCP */
  memory_block branch_block, state_block, way_block;
  arena arena;
} impact_sampler;

/** Build what `options` need that the impact lacks (tables of modes, caps of
 *  islands). @return DONE, TOO_MANY_MODES or NO_MEMORY. */
ode_mlcp_impact_status
impact_sampler_prepare(ode_mlcp_impact *impact,
                       const ode_mlcp_impact_options *options);

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
 * @return solutions found, distinct in velocity, in sampler->lambdas and
 *         sampler->reached; of a continuum its corners, and with RANDOM behind them
 *         the point drawn; 0 when no method found one
 */
int impact_sampler_step(impact_sampler *sampler, uint64_t sample, uint32_t step,
                        int most);

/** Told each velocity of a sample, island after island: c is the contact
 *  velocities of all. */
typedef void impact_visit(void *context, const impact_sampler *sampler,
                          int n_lcps, const double c[]);

/**
 * One sample (Alg. 1), sampler->n_lcps LCPs; with ALL its first branch.
 *
 * @param visit    told of the start and every step; NULL: nobody
 * @return true when the velocity it ends at, in sampler->c (contact) and
 *         sampler->lambda_sum (impulses), no longer collides
 */
bool impact_sampler_run(impact_sampler *sampler, uint64_t sample,
                        impact_visit *visit, void *context);

/** ALL: has the sample branches that were not run yet? If so, run the next, which
 *  shares so many LCPs with one before. */
bool impact_sampler_more_branches(const impact_sampler *sampler);
int impact_sampler_shared(const impact_sampler *sampler);
bool impact_sampler_next_branch(impact_sampler *sampler, uint64_t sample,
                                impact_visit *visit, void *context);

/** The last step of Alg. 2; true: the velocity does not collide. */
bool impact_sampler_last_step(impact_sampler *sampler, uint64_t sample);

#endif
