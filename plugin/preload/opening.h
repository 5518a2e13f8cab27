/* What the opening of libraries asks whoever answers for the run. */
#ifndef ODE_MLCP_PRELOAD_OPENING_H
#define ODE_MLCP_PRELOAD_OPENING_H

#include <stdbool.h>

/** A second ODE library is in the process. @return whether it is to be told of: the
 *  run is told once */
bool opening_is_first_second(void);

#endif
