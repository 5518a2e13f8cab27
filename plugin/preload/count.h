/* Counts this process's steps, into the page of its run and the trace. */
#ifndef ODE_MLCP_PRELOAD_COUNT_H
#define ODE_MLCP_PRELOAD_COUNT_H

#include "ode_mlcp.h"
#include "preload/run_page.h"

/** Before the first step. */
void count_set_up(run_page *page, const ode_mlcp_options *options);

/** From any thread. */
void count_step(dWorldID world, const ode_mlcp_report *report);

#endif
