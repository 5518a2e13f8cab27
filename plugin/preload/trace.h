/* The table that `--trace` writes: a row a step, in the file when the step returns.
 * All processes of a run add to the end of one file. */
#ifndef ODE_MLCP_PRELOAD_TRACE_H
#define ODE_MLCP_PRELOAD_TRACE_H

#include <stdbool.h>

#include "ode_mlcp.h"

/**
 * Add a row, and before the first one, where `has_head` is false, the names.
 *
 * @param world  its number, from 1
 * @return 0 or an errno; what is in the file then is whole rows.
 */
int trace_add(const char *path, bool has_head, const ode_mlcp_report *report,
              long world);

#endif
