/* The table `--trace` writes: one row a step. ode_mlcp_report.h has its
 * columns, docs/trace.md tells of them. */
#ifndef ODE_MLCP_PRELOAD_TRACE_H
#define ODE_MLCP_PRELOAD_TRACE_H

#include "ode_mlcp.h"

/** Start the table in `path` with its header line. @return 0 or an errno. */
int trace_open(const char *path);

/** Add the row of a step of world number `world`: it is in the file when this
 *  returns.
 *  @return 0, or the errno of the write that failed: the table is then closed,
 *          without half a row where it is a plain file, and later calls do
 *          nothing. */
int trace_add(const ode_mlcp_report *report, long world);

/** Let go of a table that belongs to the parent process. */
void trace_forget(void);

#endif
