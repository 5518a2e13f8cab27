/* Rows and columns of a matrix scaled by powers of two, which loses no bit.
 *
 * With R and C the scales, w' = R M C z' + R q has the solutions z = C z', w' = R
 * w of the original. Lemke's path on it is that of M with the covering vector
 * R^-1 e, which promises the same for every class of matrices; a P-matrix stays
 * one. */
#ifndef ODE_MLCP_LCP_LCP_SCALE_H
#define ODE_MLCP_LCP_LCP_SCALE_H

#include "common/arena.h"
#include "lcp/lemke.h"

/**
 * Choose scales that bring the geometric means of every row's and column's
 * entries near 1.
 *
 * @param row_power, column_power  [n] out: the scales are two to these
 * @return false when memory ran out
 */
bool lcp_scale_choose(const lemke_problem *problem, arena *arena,
                      int row_power[], int column_power[]);

#endif
