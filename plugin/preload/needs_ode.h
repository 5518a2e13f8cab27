/* A loaded program or library: its segments, and whether it was linked with ODE. */
#ifndef ODE_MLCP_PRELOAD_NEEDS_ODE_H
#define ODE_MLCP_PRELOAD_NEEDS_ODE_H

#include <link.h>
#include <stdbool.h>

/** The first segment of a type, where it lies in memory, or NULL. */
const void *object_segment(const struct dl_phdr_info *object, ElfW(Word) type);

/** An ODE library of any name is among those that the object itself names. */
bool needs_ode(const struct dl_phdr_info *object);

#endif
