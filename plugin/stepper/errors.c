#include "host/patched_host.h"
#include "ode_mlcp.h"

const char *ode_mlcp_error_text(ode_mlcp_error error) {
  switch (error) {
    case ODE_MLCP_OK: return "done";
    case ODE_MLCP_BAD_ARGUMENT: return "an argument is out of its range";
    case ODE_MLCP_NO_MEMORY: return "memory ran out";
    case ODE_MLCP_WRONG_HOST: {
      const char *fault = patched_host_fault();
      return fault != NULL ? fault : "another ODE library than the patched one";
    }
    case ODE_MLCP_NOT_ATTACHED: return "the world does not step on ode-mlcp";
    case ODE_MLCP_STEP_FAILED: return "the step was not taken";
    case ODE_MLCP_IN_STEP: return "a step of the world is under way";
  }
  return "unknown error";
}
