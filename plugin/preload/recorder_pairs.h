/* Touching pairs of geoms that releases of ODE do not tell a program of: their hash
 * spaces lose some (patches/0013), the host behind the recorder does not. */
#ifndef ODE_MLCP_PRELOAD_RECORDER_PAIRS_H
#define ODE_MLCP_PRELOAD_RECORDER_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include <ode/ode.h>

/** A space whose pairs the program is told of from here on, in this thread; NULL:
 *  none. @return the one before, to be given back after it. */
dSpaceID recorder_pairs_of(dSpaceID space);

/** True if the two are geoms of that space, and its own host would leave them out. */
bool recorder_pairs_are_lost(dGeomID one, dGeomID other);

/** Count such a pair that touches, and how many there were. */
void recorder_pairs_count(void);
int64_t recorder_pairs_lost(void);

#endif
