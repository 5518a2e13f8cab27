/* Friction edges that follow the answer: Coulomb's law where a body is guided.
 *
 * A polygon of friction edges is Coulomb's where a vertex opposes the slip. Its first
 * edge lies along the slip of free flight, which is the answer's for a body that slides
 * alone; a wall, a groove or another body turns the slip. So where an answer is not
 * Coulomb's, Coulomb's law is solved from it, and sets are turned to where that answer is
 * the polygons' as well (docs/formulation.md, eq. 9b).
 */
#ifndef ODE_MLCP_ASSEMBLY_COMPONENT_EDGES_H
#define ODE_MLCP_ASSEMBLY_COMPONENT_EDGES_H

#include "assembly/workspace.h"

/**
 * Look at the answer in c->solution, into c->look, and turn friction sets until it is
 * Coulomb's, or as long as half of what lacks goes each time.
 *
 * @param options  of the solve that gave the answer; what is left of its budget is
 *                 spent
 * @param solve    in: that solve; one that did not succeed is looked at alone; out: with
 *                 the work of all
 * @return false where memory ran out: answer and sets are as they were.
 */
bool component_edges_follow(assembly *a, component_problem *c,
                            const solver_options *options,
                            solver_report *solve);

/** What friction took, and how far it is from Coulomb's law: to the report. */
void component_edges_measure(const component_problem *c);

/** What the next step starts from: contacts that had to be turned keep the direction
 *  of their answer, until they slide along free flight again. */
void component_edges_remember(assembly *a, const component_problem *c);

#endif
