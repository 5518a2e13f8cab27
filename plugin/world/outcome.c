#include "world/outcome.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void outcome_start(outcome *out) {
  /* the messages are long, but empty */
  memset(&out->report, 0, sizeof out->report);
  out->refused = out->no_memory = false;
  out->n_observed = 0;
  out->message[0] = out->warning[0] = '\0';
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
