/* Sums of products in about twice the digits of a double (T. Ogita, S. M. Rump,
 * S. Oishi, 2005), the same bits on every machine. */
#ifndef ODE_MLCP_COMMON_LONG_SUM_H
#define ODE_MLCP_COMMON_LONG_SUM_H

#include <math.h>

/** Starts as {a, 0}. */
typedef struct long_sum {
  double sum, rest;
} long_sum;

static inline void long_sum_add(long_sum *to, double term) {
  double sum = to->sum + term, taken = sum - to->sum;
  to->rest += (to->sum - (sum - taken)) + (term - taken);
  to->sum = sum;
}

static inline void long_sum_add_product(long_sum *to, double a, double b) {
  double product = a * b;
  to->rest += fma(a, b, -product);
  long_sum_add(to, product);
}

static inline double long_sum_value(const long_sum *of) {
  return of->sum + of->rest;
}

#endif
