/* Stewart and Trinkle's position-level scheme (ST 2000): contacts are found and
 * linearised where the bodies are going to be, not where they are.
 *
 *   q^ = q + h v,   Phi(q^) + n(q^)'(h v+ - h v) >= 0                      (25)
 *
 * with joints as in scheme AH. Contacts that were active in the last step and
 * those violated at q^ take part; what turns out violated at q+ is added and
 * the problem solved again. The nonlinear version puts the new q+ in place of
 * q^ until nothing changes (ST 3.4). Where no solution is found the normal rows
 * become n'v+ >= 0 (ST 3.3), which always has one.
 */
#ifndef ODE_MLCP_SCHEMES_STEWART_TRINKLE_H
#define ODE_MLCP_SCHEMES_STEWART_TRINKLE_H

#include "schemes/forces.h"

typedef struct stewart_trinkle stewart_trinkle;

/** @return NULL when memory runs out. */
stewart_trinkle *stewart_trinkle_create(const memory_source *source);
void stewart_trinkle_destroy(stewart_trinkle *s);

/**
 * Solve a step. Nothing of the host is changed.
 *
 * @param bodies, joints  out, in the order of the islands
 * @param result          out: report and message
 * @return false where the step cannot be taken: result->message says why.
 */
bool stewart_trinkle_solve(stewart_trinkle *s, dWorldID world, double step_size,
                           double time, const dStepperIsland *islands,
                           size_t n_islands, const ode_mlcp_options *options,
                           const force_list *forces, contact_source *contacts,
                           body_result bodies[], joint_result joints[],
                           island_result *result);

#endif
