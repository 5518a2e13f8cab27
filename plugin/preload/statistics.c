#include "preload/statistics.h"

#define NONE

void statistics_add(statistics *sums, const ode_mlcp_report *report) {
  // what was not a number once stays none
#define SUM(key) *sum += value;
#define MOST(key)                                                              \
  if (!(value <= *sum) && *sum == *sum) *sum = value;
#define ADD(type, field, islands, steps, unit, meaning)                        \
  {                                                                            \
    STATISTICS_##type value = report->field, *sum = &sums->field;              \
    (void)value, (void)sum;                                                    \
    steps                                                                      \
  }
  ODE_MLCP_REPORT(ADD)
  sums->failed += !report->taken && !report->refused;
}
