#include "world/report.h"

#include <math.h>

#define SUM(field) sum->field += share->field
#define MOST(field) sum->field = fmax(sum->field, share->field)
#define ANY(field) sum->field |= share->field
#define WORLD(field) (void)0

void report_add(ode_mlcp_report *sum, const ode_mlcp_report *share) {
#define ADD(type, field, islands, steps, unit, meaning) islands(field);
  ODE_MLCP_REPORT(ADD)
#undef ADD
}
