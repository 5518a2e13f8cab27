#include "world/outcome.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void report_add(ode_mlcp_report *sum, const ode_mlcp_report *share,
                bool in_vain) {
#define WORK(field) sum->field += share->field
#define MOST_WORK(field) sum->field = fmax(sum->field, share->field)
#define SUM(field)                                                             \
  if (!in_vain) WORK(field)
#define MOST(field)                                                            \
  if (!in_vain) MOST_WORK(field)
#define ANY(field)                                                             \
  if (!in_vain) sum->field |= share->field
#define WORLD(field) (void)0
#define ADD(type, field, islands, steps, unit, meaning) islands(field);
  ODE_MLCP_REPORT(ADD)
#undef ADD
#undef WORLD
#undef ANY
#undef MOST
#undef SUM
#undef MOST_WORK
#undef WORK
}

void outcome_start(outcome *out) {
  /* the messages are long, but empty */
  memset(&out->report, 0, sizeof out->report);
  out->no_memory = false;
  out->n_observed = 0;
  out->message[0] = out->warning[0] = '\0';
}

void outcome_start_again(outcome *out) {
  double work = out->report.solver_work;
  int n_observed = out->n_observed;
  outcome_start(out);
  out->report.solver_work = work;
  out->n_observed = n_observed;
}

static void add_words(char sum[160], const char share[160]) {
  if (sum[0] == '\0') memcpy(sum, share, 160);
}

void outcome_add(outcome *sum, const outcome *share) {
  report_add(&sum->report, &share->report, false);
  sum->no_memory |= share->no_memory;
  add_words(sum->message, share->message);
  add_words(sum->warning, share->warning);
}

bool outcome_fail(outcome *out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(out->message, sizeof out->message, format, arguments);
  va_end(arguments);
  return false;
}

bool outcome_no_memory(outcome *out) {
  out->no_memory = true;
  return outcome_fail(out, "memory ran out");
}
