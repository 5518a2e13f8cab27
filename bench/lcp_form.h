/* The plain LCP of a mixed one, dense, for solvers that know no other:
 *
 *   w = M z + q,   0 <= z  perp  w >= 0
 *
 * Velocities and free rows (joints) are eliminated; z are the impulses of the
 * other rows, the friction-edge impulses and lambda, all in m/s (impulses times
 * their own diagonal of J M^-1 J'), w likewise. */
#ifndef ODE_MLCP_BENCH_LCP_FORM_H
#define ODE_MLCP_BENCH_LCP_FORM_H

#include "mlcp/mlcp.h"

typedef struct lcp_form {
  int n;
  double *M; /* n x n, row-major */
  double *q; /* [n] */

  /* the way back */
  const mlcp_problem *problem;
  int n_rows;         /* of the problem */
  double *A;          /* n_rows x n_rows: J M^-1 J' + compliance */
  double *b;          /* [n_rows] J v_free + bias */
  double *p_constant; /* [n_rows] impulses at z = 0 */
  double *map;        /* n_rows x n: p = p_constant + map z */
} lcp_form;

/** Number of variables the LCP will have. */
int lcp_form_size(const mlcp_problem *problem);

/** @return false where memory runs out or free rows depend on each other. The
 *  problem must stay. */
bool lcp_form_build(lcp_form *form, const mlcp_problem *problem);
void lcp_form_release(lcp_form *form);

/** The original problem's unknowns from z. */
void lcp_form_solution(const lcp_form *form, const double z[],
                       const mlcp_solution *solution);

/** The unknowns from impulses alone: velocities, edges and lambda that fit. */
void lcp_form_from_impulses(const mlcp_problem *problem,
                            const mlcp_solution *solution);

/** As mlcp_residual, but every base row of a friction set has a box of its own,
 *  |p_t| <= coefficient p_n + limit: the law of the host's quick stepper.
 *  Impulses alone count; solution->v is set. */
double lcp_form_box_residual(const mlcp_problem *problem,
                             const mlcp_solution *solution);

/** A = J M^-1 J' + compliance, dense n_rows x n_rows, and b = J v_free + bias.
 *  Either may be NULL. */
void lcp_form_rows(const mlcp_problem *problem, double A[], double b[]);

#endif
