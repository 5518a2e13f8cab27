/* Tests on the host's library, and what it is told through its messages. */
#ifndef ODE_MLCP_TESTS_HOST_TESTING_H
#define ODE_MLCP_TESTS_HOST_TESTING_H

#include <ode/ode.h>
#include <stdarg.h>

#include "ode_mlcp.h"
#include "testing.h"

/** run_tests with the library open. */
static inline int run_host_tests(const char *suite_name,
                                 const CU_TestInfo tests[]) {
  dInitODE2(0);
  int failed = run_tests(suite_name, tests);
  dCloseODE();
  return failed;
}

static inline ode_mlcp_options default_options(void) {
  ode_mlcp_options options;
  ode_mlcp_default_options(&options);
  return options;
}

static inline ode_mlcp_options options_under(int scheme) {
  ode_mlcp_options options = default_options();
  options.scheme = scheme;
  return options;
}

static int n_heard;
static char last_heard[1000];
static const char *heard_of = "";

static inline void hear(int number, const char *format, va_list values) {
  char message[sizeof last_heard];
  (void)number;
  vsnprintf(message, sizeof message, format, values);
  if (strstr(message, heard_of) == NULL) return;
  n_heard++;
  strcpy(last_heard, message);
}

/** From here on: what the host is told with `words` in it. */
static inline void listen_to_host(const char *words) {
  n_heard = 0;
  last_heard[0] = '\0';
  heard_of = words;
  dSetMessageHandler(hear);
}

#endif
