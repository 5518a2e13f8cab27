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
#ifndef ODE_MLCP_LCP_LEMKE_DENSE_H
#define ODE_MLCP_LCP_LEMKE_DENSE_H

#include "common/arena.h"
#include "lcp/lemke.h"

typedef struct lemke_dense_report {
  lemke_status status; /* LEMKE_SOLVED: a complementary basis, nothing verified;
                          LEMKE_RAY, LEMKE_PIVOT_LIMIT or LEMKE_NO_MEMORY */
  long pivots;
} lemke_dense_report;

/**
 * Follow a path from all w basic.
 *
 * @param M      [n n] row-major
 * @param cover  [n] > 0; or NULL: there is no z0, and the path begins with an
 *               artificial edge of z_label (C. E. Lemke, J. T. Howson, 1964): all labels
 *               but that one, of which z_i or w_i has each, are complementary on
 *               it. In a game, where every z moves the others' w alone, no covering
 *               vector has a path.
 * @param arena  what is taken of it stays taken
 * @param basic  [n] out: whether z_i is basic at the end
 * @param ray    [n] out: under LEMKE_RAY the z of the ray's direction, zeros where
 *               no edge begins; else 0
 */
lemke_dense_report lemke_dense_solve(int n, const double M[], const double q[],
                                     const double cover[], int label,
                                     long max_pivots, arena *arena,
                                     bool basic[], double ray[]);

#endif
