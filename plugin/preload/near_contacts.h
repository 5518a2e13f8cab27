/* Contacts before they touch, for programs with a collision callback. */
#ifndef ODE_MLCP_PRELOAD_NEAR_CONTACTS_H
#define ODE_MLCP_PRELOAD_NEAR_CONTACTS_H

#include <stdbool.h>

/**
 * From now on dCollide gives contacts up to this gap, in m; 0: the host's own.
 *
 * @return false where a margin has no effect: another library defines dCollide
 *         before this one.
 */
bool near_contacts_set(double margin);

#endif
