/* Tolerances of what has been through the host's numbers. */
#ifndef ODE_MLCP_TESTS_HOST_ROUNDING_H
#define ODE_MLCP_TESTS_HOST_ROUNDING_H

#include <math.h>

#include "gap/real.h"

/** `in_double` where the host is in double precision; in single precision what a few
 *  roundings of numbers of this size come to, where that is more. */
static inline double of_host(double in_double, double size) {
  const double FEW = 32;
  return sizeof(dReal) == sizeof(double)
             ? in_double
             : fmax(in_double, FEW * REAL_EPSILON * size);
}

#endif
