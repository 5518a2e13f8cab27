/* Contacts before they touch, for programs with a collision callback. */
#ifndef ODE_MLCP_PRELOAD_NEAR_CONTACTS_H
#define ODE_MLCP_PRELOAD_NEAR_CONTACTS_H

#include <stdbool.h>

#include "ode_mlcp.h"

/**
 * From now on dCollide gives contacts up to this gap, in m; 0: the host's own;
 * ODE_MLCP_MARGIN_AUTO: what the bodies of a pair can come closer in two steps.
 *
 * @return false where a margin has no effect: another library defines dCollide
 *         before this one.
 */
bool near_contacts_set(double margin);

/** After a step of the world: with ODE_MLCP_MARGIN_AUTO, let spaces report what
 *  its bodies can come near in the next two. */
void near_contacts_follow(dWorldID world);

#endif
