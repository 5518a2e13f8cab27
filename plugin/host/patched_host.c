#include "host/patched_host.h"

#include <ode/ode.h>
#include <ode/stepper.h>

const char *patched_host_fault(void) {
#define MISSING(name)                                                          \
  if (name == NULL)                                                            \
    return "this ODE library has no " #name                                    \
           ": it is stock, or its patches are older than this ode-mlcp";
  PATCHED_HOST_FUNCTIONS(MISSING)
#undef MISSING
  if (sizeof(dReal) == sizeof(double))
    return dCheckConfiguration("ODE_double_precision")
               ? NULL
               : "this ODE library is not in double precision";
  return dCheckConfiguration("ODE_single_precision")
             ? NULL
             : "this ODE library is not in single precision";
}
