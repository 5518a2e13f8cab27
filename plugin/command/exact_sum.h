/* Sums of doubles without rounding: any order and any cut of the terms gives the
 * same bits. Not for terms that are not finite. */
#ifndef ODE_MLCP_COMMAND_EXACT_SUM_H
#define ODE_MLCP_COMMAND_EXACT_SUM_H

#include <stdint.h>

enum {
  /* 32 bits each, from 2^-1074 on; room for 2^63 terms of any size */
  EXACT_LIMBS = 68
};

/** Starts as zeros. Limb i counts 2^(32 i - 1074). */
typedef struct exact_sum {
  int64_t limbs[EXACT_LIMBS];
} exact_sum;

/** At most 2^30 terms between two calls of exact_sum_settle. */
void exact_sum_add(exact_sum *sum, double term);
/** Add a b, to the last bit where it is above 1e-290. */
void exact_sum_add_product(exact_sum *sum, double a, double b);
/** Add another sum; both settled, and so is the result. */
void exact_sum_join(exact_sum *sum, const exact_sum *other);
/** Carry over: equal sums have equal limbs then. */
void exact_sum_settle(exact_sum *sum);
/** The nearest double of a settled sum. */
double exact_sum_round(const exact_sum *sum);

#endif
