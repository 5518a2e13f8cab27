/* A collision made ready: contact space, and what the ways to solve a step
 * share. */
#ifndef ODE_MLCP_IMPACTS_IMPACT_H
#define ODE_MLCP_IMPACTS_IMPACT_H

#include <stdbool.h>

#include "impacts/impact_islands.h"
#include "ode_mlcp_impacts.h"

/* Columns from `begin` to before `end`. */
typedef struct impact_span {
  int begin, end;
} impact_span;

struct ode_mlcp_impact {
  memory_source source;
  int n_velocities;
  contact_space space;
  double *M;            /* s x s */
  double *J;            /* n_rows x s, rows of contact space */
  double *B;            /* s x n_rows, M^-1 J' */
  impact_span *J_spans; /* [n_rows] where a row of J, and */
  impact_span *B_spans; /* [s] of B, is not 0: bodies touch few others */
  double *v;            /* [s] before the impact */
  double *surface;      /* [n_rows] rows of contact space at v = 0 */
  int n_islands;
  impact_island *islands;
  arena arena; /* of all of the above */
};

/** As the public create, with memory from `source`. */
ode_mlcp_impact_status impact_create(const ode_mlcp_impact_problem *problem,
                                     const memory_source *source,
                                     ode_mlcp_impact **impact, char *message,
                                     size_t message_size);

/** Options of this version out of a caller's, which may be older and shorter:
 *  what it does not have is at its default. @return false where they are not
 *  sound; *why then says what is wrong. */
bool impact_options_read(const ode_mlcp_impact_options *options,
                         ode_mlcp_impact_options *own, const char **why);

/** ode_mlcp_impact_sim with so much work of searches, those that prepared the impact
 *  among them: a sample that it does not suffice for is unfinished.
 *  No table is made for it.
 *  @param work  products that are left, in and out; INFINITY: any number, and tables */
ode_mlcp_impact_status
impact_sample_within(ode_mlcp_impact *impact,
                     const ode_mlcp_impact_options *options, uint64_t sample,
                     double *work, double v[], int *n_lcps);

/** v = v0 + B lambda_sum. */
void impact_velocity(const ode_mlcp_impact *impact, const double lambda_sum[],
                     double v[]);

/** Contact velocities in the caller's tangents from rows of contact space. */
void impact_report_rows(const ode_mlcp_impact *impact, const double c[],
                        double rows[]);

#endif
