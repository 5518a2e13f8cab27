/* The larger of two errors. */
#ifndef ODE_MLCP_JUDGE_WORSE_H
#define ODE_MLCP_JUDGE_WORSE_H

#include <math.h>

/** What is no number is worse than all, and stays. */
static inline double worse(double a, double b) {
  return b <= a || isnan(a) ? a : b;
}

#endif
