/* Tolerances of what has been through the host's numbers. */
#ifndef ODE_MLCP_TESTS_HOST_ROUNDING_H
#define ODE_MLCP_TESTS_HOST_ROUNDING_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "gap/real.h"

/** Is the host in single precision? */
static inline bool host_is_single(void) {
  return sizeof(dReal) < sizeof(double);
}

/** `in_double` where the host is in double precision; in single precision what a few
 *  roundings of numbers of this size come to, where that is more. */
static inline double of_host(double in_double, double size) {
  const double FEW = 32;
  return host_is_single() ? fmax(in_double, FEW * REAL_EPSILON * size)
                          : in_double;
}

/** How deep a rigid contact so far from the origin rests, see test_step_rest.c; depths
 *  that a host in single precision would round away are more there. */
static inline double host_rest_depth(double in_double, double far) {
  return host_is_single() ? fmax(in_double, 16 * REAL_EPSILON * far)
                          : in_double;
}

/** A number that is too large for what is tried with it, and that the host has. */
static inline double host_large(double in_double) {
  return host_is_single() ? fmin(in_double, 1e37) : in_double;
}

/** True where the host is in single precision, which the test's output then says,
 *  with the reason: for what such a host cannot show. */
static inline bool left_out_in_single(const char *why) {
  if (host_is_single()) printf("left out in single precision: %s ... ", why);
  return host_is_single();
}

#endif
