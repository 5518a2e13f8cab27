/* fmax and fmin without a call into the C library, which the compiler makes of
 * them unless NaN may be forgotten: where one number is NaN the other is taken,
 * of two zeros the second. */
#ifndef ODE_MLCP_COMMON_MINMAX_H
#define ODE_MLCP_COMMON_MINMAX_H

#include <math.h>
#include <stdint.h>

static inline double larger_of(double a, double b) {
  return a > b || isnan(b) ? a : b;
}

static inline double smaller_of(double a, double b) {
  return a < b || isnan(b) ? a : b;
}

/** In (0.5, 1.5), spread evenly, the same on every run. */
static inline double spread(int i) {
  return 0.5 + (double)((uint32_t)i * 2654435761u >> 8) / 16777216.0;
}

/** x moved into low .. high; NAN stays. */
static inline double middle_of(double low, double x, double high) {
  return x < low ? low : x > high ? high : x;
}

#endif
