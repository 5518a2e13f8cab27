/* Contacts as their gaps are, and before they touch, for programs with a collision
 * callback. */
#ifndef ODE_MLCP_PRELOAD_NEAR_CONTACTS_H
#define ODE_MLCP_PRELOAD_NEAR_CONTACTS_H

#include <stdbool.h>

#include "ode_mlcp.h"

/**
 * From now on dCollide gives contacts up to this gap, in m; ODE_MLCP_MARGIN_AUTO: what
 * the bodies of a pair can come closer in two steps. With a margin of 0 they are those
 * that touch.
 *
 * @param own  false: the host's own colliders say where, with a margin of 0. They have
 *             normals that neither shape has there, and leave out points of a face.
 * @return false where that has no effect: another library defines dCollide before
 *         this one.
 */
bool near_contacts_set(double margin, bool own);

/** After a step of the world: with ODE_MLCP_MARGIN_AUTO, let spaces report what
 *  its bodies can come near in the next two. */
void near_contacts_follow(dWorldID world);

#endif
