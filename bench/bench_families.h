/* A member of a family of problems stepped by ours, its states written down,
 * and the same steps taken by the host's own steppers. */
#ifndef ODE_MLCP_BENCH_BENCH_FAMILIES_H
#define ODE_MLCP_BENCH_BENCH_FAMILIES_H

#include <stdio.h>

#include "bench_run.h"
#include "families.h"

typedef struct family_run {
  const family_member *member;
  FILE *states;   /* written by ours, read by others; a process shares it */
  int steps;      /* at most */
  double seconds; /* of steps: none is begun after so many */
  int sweeps;     /* of the others: QuickStep with so many, 0: dWorldStep */
  const char *budget, *softness; /* of ours, NULL: the default */
} family_run;

/** Steps of the member at the defaults; a bench_measurement of a family_run. */
void family_by_ours(void *what, bench_result *result);

/** The steps that family_by_ours left in `states`, by another stepper. */
void family_by_host(void *what, bench_result *result);

#endif
