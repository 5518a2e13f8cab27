/* Wall clock. */
#ifndef ODE_MLCP_COMMON_CLOCK_H
#define ODE_MLCP_COMMON_CLOCK_H

#include <time.h>

/** s since some start; never goes back. */
static inline double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
