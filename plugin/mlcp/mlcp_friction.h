/* A friction set's polygon, and its impulse split along friction edges. */
#ifndef ODE_MLCP_MLCP_MLCP_FRICTION_H
#define ODE_MLCP_MLCP_MLCP_FRICTION_H

#include "mlcp/mlcp.h"

static inline double mlcp_cross(const double a[2], const double b[2]) {
  return a[0] * b[1] - a[1] * b[0];
}

/** The vertex that follows pair k on the polygon: u_(k+1), or -u_0. */
static inline void mlcp_next_vertex(const mlcp_pair *pairs, int n_pairs, int k,
                                    double next[2]) {
  double sign = k + 1 < n_pairs ? 1 : -1;
  const double *u = pairs[k + 1 < n_pairs ? k + 1 : 0].u;
  next[0] = sign * u[0];
  next[1] = sign * u[1];
}

/** The first half of mlcp_split_friction: the set's beta, which does not
 *  depend on slips. @return what is left of the limit, N s. */
double mlcp_split_shares(const mlcp_problem *problem, int friction,
                         const double p[], double beta[]);

/** The second half: lambda, from the slips w_t of the base rows [n_base] and
 *  what is left of the limit. */
double mlcp_split_lambda(const mlcp_problem *problem, int friction,
                         const double w_t[], double left);

#endif
