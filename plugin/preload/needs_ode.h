/* Whether a loaded program or library was linked with ODE. */
#ifndef ODE_MLCP_PRELOAD_NEEDS_ODE_H
#define ODE_MLCP_PRELOAD_NEEDS_ODE_H

#include <link.h>
#include <stdbool.h>

/** An ODE library of any name is among those that the object itself names. */
bool needs_ode(const struct dl_phdr_info *object);

#endif
