/* The solution of one component's problem, verified and counted. Where the problem
 * has none, or none to be had, one that asks for less is solved instead: without
 * position errors, and at last without bounces. */
#ifndef ODE_MLCP_ASSEMBLY_COMPONENT_SOLVE_H
#define ODE_MLCP_ASSEMBLY_COMPONENT_SOLVE_H

#include "assembly/workspace.h"

/** Solve the component's own problem, or a projection's (`moves_only`), which is not
 *  counted. */
solver_report component_solve_once(assembly *a, component_problem *c,
                                   const mlcp_problem *problem, bool moves_only,
                                   const mlcp_solution *solution);

/** Count a solve in the report. */
void component_solve_count(ode_mlcp_report *report, const solver_report *solve);

/** The work that a solve may take, of the request's part of the options' budget. */
double component_solve_budget(const assembly *a);

/** Solve the component's problem into c->solution.
 *  @return false with out->message where it is too large, memory ran out or no
 *          finite solution was found. */
bool component_solve(assembly *a, component_problem *c);

#endif
