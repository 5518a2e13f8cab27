/* Bodies moved by what their velocities do not correct, where that makes the position
 * errors smaller: a projection (position_projection.h) that is solved, measured where
 * it leads, and repeated with joints that give way, or left. */
#ifndef ODE_MLCP_ASSEMBLY_COMPONENT_PROJECT_H
#define ODE_MLCP_ASSEMBLY_COMPONENT_PROJECT_H

#include "assembly/workspace.h"

/** Project a solved component into a->projected, and count it and the work of its
 *  corrections.
 *  @return false with out->message where memory ran out. */
bool component_project(assembly *a, component_problem *c);

#endif
