/* The sums over a run's steps that `--stats` writes. */
#ifndef ODE_MLCP_PRELOAD_STATISTICS_H
#define ODE_MLCP_PRELOAD_STATISTICS_H

#include "ode_mlcp.h"

/* sums of whole numbers outgrow an int */
#define STATISTICS_int long
#define STATISTICS_long long
#define STATISTICS_double double

/** Over all worlds; starts as all zero. A field of the report that has no part in
 *  them stays 0. */
typedef struct statistics {
  long failed; /* steps not taken for another reason than size: memory */
  long worlds;
#define MEMBER(type, field, islands, steps, unit, meaning)                     \
  STATISTICS_##type field;
  ODE_MLCP_REPORT(MEMBER)
#undef MEMBER
} statistics;

void statistics_add(statistics *sums, const ode_mlcp_report *report);

/** Of `sums`, those that changed nothing. */
static inline long statistics_not_taken(const statistics *sums) {
  return sums->failed + sums->refused;
}

static inline long statistics_tried(const statistics *sums) {
  return sums->taken + statistics_not_taken(sums);
}

#endif
