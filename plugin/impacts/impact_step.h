/* One step of the impact and one sample: Alg. 1 and the last step of Alg. 2. */
#ifndef ODE_MLCP_IMPACTS_IMPACT_STEP_H
#define ODE_MLCP_IMPACTS_IMPACT_STEP_H

#include "impacts/contact_modes.h"
#include "impacts/impact.h"

/** One thread's desk: everything a sample needs, so that sampling allocates
 *  nothing. */
typedef struct impact_desk {
  const ode_mlcp_impact *impact;
  const ode_mlcp_impact_options *options;
  ode_mlcp_impact_method method; /* never AUTOMATIC */
  double last_cap;    /* eps/(3 psi), N s */
  double *inputs;     /* [n_rows + m] y = (c, caps) */
  double *covering;   /* random numbers of a covering vector or two */
  double *lambdas;    /* [IMPACT_MAX_SOLUTIONS x n_rows] */
  double *reached;    /* [IMPACT_MAX_SOLUTIONS x n_rows] */
  double *lambda_sum; /* [n_rows] */
  double *solver;     /* scratch of the methods */
  int *found;         /* modes that hold; see modes_room */
  int modes_room;
  int *choice;        /* [steps + 1] ALL: the solution taken at a step */
  int *choices;       /* [steps + 1] ALL: solutions there were */
  uint64_t n_fallbacks;
  memory_block numbers, indices;
} impact_desk;

/** Build what `options` need that the impact lacks (the table of modes) and say
 *  which method is used. @return DONE, TOO_MANY_MODES or NO_MEMORY. */
ode_mlcp_impact_status impact_prepare(ode_mlcp_impact *impact,
                                      const ode_mlcp_impact_options *options,
                                      ode_mlcp_impact_method *method);

/** False: no memory. Lives on options and impact, which must outlive it. */
bool impact_desk_open(impact_desk *desk, const ode_mlcp_impact *impact,
                      const ode_mlcp_impact_options *options,
                      ode_mlcp_impact_method method,
                      const memory_source *source);
void impact_desk_close(impact_desk *desk, const memory_source *source);

/**
 * Solve one step, inputs y = (c, caps) in desk->inputs.
 *
 * @param most  how many solutions are wanted
 * @return solutions found, distinct in velocity, in desk->lambdas and
 *         desk->reached; 0 when no method found one
 */
int impact_step_solve(impact_desk *desk, uint64_t sample, uint32_t step,
                      int most);

/** Told each velocity of a sample: c is the contact velocities. */
typedef void impact_visit(void *context, const impact_desk *desk, int n_lcps,
                          const double c[]);

/**
 * One way through one sample (Alg. 1), by desk->choice where ALL is selected.
 *
 * @param visit    told of the start and every step; NULL: nobody
 * @param n_lcps   out: LCPs solved
 * @return true when the velocity it ends at, in desk->inputs (contact) and
 *         desk->lambda_sum (impulses), no longer collides
 */
bool impact_sample_once(impact_desk *desk, uint64_t sample, impact_visit *visit,
                        void *context, int *n_lcps);

/** The last step of Alg. 2; true: the velocity does not collide. */
bool impact_last_step(impact_desk *desk, uint64_t sample);

/** ALL: go to the next branch of a sample after a way of n_lcps; false when
 *  there is none. `shared` out: the steps the next way repeats. */
bool impact_next_branch(impact_desk *desk, int n_lcps, int *shared);
/** ALL: the first branch. */
void impact_first_branch(impact_desk *desk);

#endif
