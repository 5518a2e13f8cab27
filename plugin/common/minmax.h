/* fmax and fmin without a call into the C library, which the compiler makes of
 * them unless NaN may be forgotten: where one number is NaN the other is taken,
 * of two zeros the second. */
#ifndef ODE_MLCP_COMMON_MINMAX_H
#define ODE_MLCP_COMMON_MINMAX_H

#include <math.h>

static inline double larger_of(double a, double b) {
  return a > b || isnan(b) ? a : b;
}

static inline double smaller_of(double a, double b) {
  return a < b || isnan(b) ? a : b;
}

/** x moved into low .. high; NAN stays. */
static inline double middle_of(double low, double x, double high) {
  return x < low ? low : x > high ? high : x;
}

#endif
