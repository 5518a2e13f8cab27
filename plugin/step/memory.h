/* Memory that the step keeps between steps: results, warm starts, solvers. */
#ifndef ODE_MLCP_STEP_MEMORY_H
#define ODE_MLCP_STEP_MEMORY_H

#include "common/memory.h"

/** What every new world's stepper takes its memory from: malloc. Tests put a
 *  failing source here. It must be safe to use from several threads. */
extern const memory_source *step_memory;

#endif
