/* The clock of the benches. */
#ifndef ODE_MLCP_BENCH_BENCH_CLOCK_H
#define ODE_MLCP_BENCH_BENCH_CLOCK_H

#include <time.h>

/** This thread's own processor time, s: other load shows less in it than on
 *  the wall clock. Everything measured runs on one thread. */
static inline double bench_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
