/* Lemke's method on a small dense LCP, a whole tableau at a time.
 *
 *   w = M z + q + cover z0,   0 <= z  perp  w >= 0,   0 <= z0
 *
 * Ties are broken lexicographically (B. C. Eaves, 1971): the path is that of
 * q + (e, e^2, .. e^n) for every small e > 0, which has no ties. So no basis is
 * met twice, and as there are finitely many the path ends, at a solution or on a
 * ray. What is computed in doubles are the numbers that are compared: the running
 * bound on the rounding of every basic value says which count as equal.
 */
#ifndef ODE_MLCP_SOLVER_LEMKE_DENSE_H
#define ODE_MLCP_SOLVER_LEMKE_DENSE_H

#include "common/arena.h"
#include "solver/lemke.h"

typedef struct lemke_dense_report {
  lemke_status status; /* LEMKE_SOLVED: a complementary basis, nothing verified;
                          LEMKE_RAY, LEMKE_PIVOT_LIMIT or LEMKE_NO_MEMORY */
  long pivots;
} lemke_dense_report;

/**
 * Follow the path from all w basic.
 *
 * @param M      [n n] row-major
 * @param cover  [n] > 0
 * @param arena  what is taken of it stays taken
 * @param basic  [n] out: whether z_i is basic at the end
 * @param ray    [n] out: under LEMKE_RAY the z of the ray's direction, else 0
 */
lemke_dense_report lemke_dense_solve(int n, const double M[], const double q[],
                                     const double cover[], long max_pivots,
                                     arena *arena, bool basic[], double ray[]);

#endif
