/* Lemke's method on a mixed LCP, with every body's velocity explicit, so that
 * a pivot costs what the contact graph costs.
 *
 * The LCP (lemke.h) has as free variables the velocities and the impulses of
 * free rows, as bounded ones the impulses of the other rows, the friction-edge
 * impulses and lambda, all in m/s: impulses times their row's diagonal A_ii.
 * A row with two finite bounds is a pair of variables,
 *
 *   0 <= p - low  perp  w + y >= 0,   0 <= y  perp  high - p >= 0.
 */
#ifndef ODE_MLCP_SOLVER_LEMKE_MLCP_H
#define ODE_MLCP_SOLVER_LEMKE_MLCP_H

#include "mlcp/mlcp.h"
#include "lcp/lemke.h"

/**
 * Solve `problem` (which passes mlcp_check).
 *
 * @param source    gives its memory, all of which is given back
 * @param solution  out: impulses within their bounds and polygons, velocities
 *                  by eq. (1); not written under LEMKE_NO_MEMORY.
 * @return as lemke_solve, with mlcp_residual of `solution` for residual.
 */
lemke_report lemke_mlcp_solve(const memory_source *source,
                              const mlcp_problem *problem,
                              const lemke_options *options,
                              const mlcp_solution *solution);

#endif
