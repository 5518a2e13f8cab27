/* A plain LCP from anywhere: scaled, solved, verified on the original data.
 *
 *   w = M z + q,   0 <= z  perp  w >= 0
 *
 * M and q are scaled by a diagonal D of powers of two, D M D and D q, so that
 * the largest entry of every row and column that has one is near 1: what is
 * copositive, semidefinite or a P-matrix stays so, and no bit is lost.
 *
 * `fast` first looks for the basis by block pivoting: solve for the z that are
 * basic, exchange every z or w that is negative, again. A few systems instead
 * of n pivots where it ends; where violations do not get fewer Lemke's method
 * takes over, from the nearest basis where few are left, else from the start.
 */
#ifndef ODE_MLCP_SOLVER_LCP_H
#define ODE_MLCP_SOLVER_LCP_H

#include "solver/lemke.h"
#include "solver/solver_options.h"

typedef struct lcp_report {
  lemke_status status; /* LEMKE_SOLVED: the residual is at most the tolerance.
                          LEMKE_RAY: no solution was found; where M is
                          copositive and its cone is pointed there is none */
  double residual;     /* max |min(z, M z + q)| / (1 + max |q|) */
  long pivots;         /* of Lemke's method */
  long exchanges;      /* rounds of block pivoting */
  long factorisations;
} lcp_report;

/** max_i |min(z_i, (M z + q)_i)| / (1 + max_i |q_i|); INFINITY where a z is not
 *  finite.
 *  @param w  [n] out: M z + q */
double lcp_residual(const lemke_problem *problem, const double z[], double w[]);

/**
 * Solve an LCP without free variables.
 *
 * @param problem    is_free is NULL; entries of M are finite
 * @param tolerance  on the residual above
 * @param z          [n] out: the best point met, >= 0; undefined under
 *                   LEMKE_NO_MEMORY
 */
lcp_report lcp_solve(const lemke_problem *problem, solver_kind kind,
                     double tolerance, const memory_source *source, double z[]);

#endif
