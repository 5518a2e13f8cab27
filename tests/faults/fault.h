/* Put before every source of a build with faults: which one is on. */
#ifndef ODE_MLCP_TESTS_FAULT_H
#define ODE_MLCP_TESTS_FAULT_H

#ifndef __cplusplus
#include <stdlib.h>

static int fault_chosen;

__attribute__((constructor)) static void fault_choose(void) {
  const char *chosen = getenv("ODE_MLCP_FAULT");
  fault_chosen = chosen != NULL ? atoi(chosen) : 0;
}

#define FAULT(number) (fault_chosen == (number))
#endif

#endif
