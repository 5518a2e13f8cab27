/* The solution of one component's problem, verified and counted. Where the problem
 * has none, or none to be had, one that asks for less is solved instead: without
 * position errors, and at last without bounces. */
#ifndef ODE_MLCP_ASSEMBLY_COMPONENT_SOLVE_H
#define ODE_MLCP_ASSEMBLY_COMPONENT_SOLVE_H

#include "assembly/workspace.h"

/** Solve the component's problem into c->solution.
 *  @return false with out->message where it is too large, memory ran out or no
 *          finite solution was found. */
bool component_solve(assembly *a, component_problem *c);

/** Move the bodies of a solved component by what their velocities do not correct
 *  (position_projection.h), into a->projected. One whose solve fails moves nothing.
 *  @return false with out->message where memory ran out. */
bool component_project(assembly *a, component_problem *c);

#endif
