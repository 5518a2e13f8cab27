/* Measuring in a process of its own: memory is that of the one measurement, a
 * limit on time can be held, and a crash is a result. */
#ifndef ODE_MLCP_BENCH_BENCH_RUN_H
#define ODE_MLCP_BENCH_BENCH_RUN_H

#include <stdbool.h>

enum { BENCH_MOST_TIMES = 512 };

/** What a measurement leaves. */
typedef struct bench_result {
  int n_times;                    /* rounds measured */
  double times[BENCH_MOST_TIMES]; /* s each, in the order of rounds */
  double residual;     /* worst, on the original problem; NAN: none to be had */
  double own_residual; /* by the law that the method solves for, where that is
                          another one; NAN: the same law */
  double memory;       /* bytes at the peak, beyond what it started with */
  int size;            /* of the problem: n of an LCP, or 0 */
  int contacts;
  int unsolved; /* rounds that ended without a solution */
  int degraded; /* rounds with an answer that misses what is accepted */
  int accepted; /* and with one that is, but misses the tolerance */
  long factorisations, pivots; /* of all rounds, where they are known */
  long sweeps;                 /* of an iterative method, 0 otherwise */
  char note[80];               /* a word where something is to be said */
} bench_result;

/** Median, mean, 99th percentile (nearest rank) and largest of the times. */
typedef struct bench_spread {
  double median, mean, p99, worst;
} bench_spread;
bench_spread bench_spread_of(const double times[], int n_times);

typedef void bench_measurement(void *what, bench_result *result);

/**
 * Run `measurement` in a child process.
 *
 * @param limit  s of processor time, after which it is ended
 * @return false: it was ended or crashed; result->note says which. The rest of
 *         the result is then all zero.
 */
bool bench_run(bench_measurement *measurement, void *what, double limit,
               bench_result *result);

/** Note a round; those past BENCH_MOST_TIMES are dropped. */
void bench_add_time(bench_result *result, double seconds);

/** True if another round fits: at least `least`, at most `most` rounds, and not
 *  beyond `seconds` in sum. */
bool bench_goes_on(const bench_result *result, int least, int most,
                   double seconds);

#endif
