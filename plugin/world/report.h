/* The report of a step out of the shares of its islands. */
#ifndef ODE_MLCP_WORLD_REPORT_H
#define ODE_MLCP_WORLD_REPORT_H

#include "ode_mlcp.h"

/** Add an island's share, as the table ode_mlcp_report.h says of each field. */
void report_add(ode_mlcp_report *sum, const ode_mlcp_report *share);

#endif
