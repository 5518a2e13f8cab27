/* 6 x 6 matrices, row-major. */
#ifndef ODE_MLCP_COMMON_MATRIX6_H
#define ODE_MLCP_COMMON_MATRIX6_H

#include <stdbool.h>

/** B = A^-1 by elimination with row exchanges; false (B unchanged) where A is
 *  singular or not finite. */
bool matrix6_invert(double B[36], const double A[36]);

/** x with A x = b by elimination with row exchanges; directions in which A is
 *  below 1e-9 of its largest element are left out of x, so that a singular A
 *  does no harm. */
void matrix6_solve(double x[6], const double A[36], const double b[6]);

/** True if v'A v > 0 for every v != 0: by the Cholesky factors of A + A'. */
bool matrix6_is_positive(const double A[36]);

/** y = A x */
static inline void matrix6_apply(double y[6], const double A[36],
                                 const double x[6]) {
  for (int i = 0; i < 6; i++) {
    y[i] = 0;
    for (int j = 0; j < 6; j++) y[i] += A[6 * i + j] * x[j];
  }
}

#endif
