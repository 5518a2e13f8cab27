/* The problem of one component: rows of its joints, contacts, extra rows and stops,
 * the masses of its bodies, and a guess. */
#ifndef ODE_MLCP_ASSEMBLY_COMPONENT_ROWS_H
#define ODE_MLCP_ASSEMBLY_COMPONENT_ROWS_H

#include "assembly/workspace.h"

/** What rows of all components read: c->frame and c->settings.
 *  @param v_free  [6 n_bodies] of the slip to come */
void component_rows_begin(const assembly *a, component_problem *c,
                          const double v_free[]);

/** Build the problem of c->of behind those before it.
 *  @return false with out->message where a mass has no inverse. */
bool component_rows_build(assembly *a, component_problem *c);

/** Add the rows of stops that are still left out: those active, or with a
 *  solution, in a->x, those that it overshoots. @return how many. */
int component_rows_add_stops(assembly *a, component_problem *c, bool solved);

#endif
