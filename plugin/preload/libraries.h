/* Which ODE libraries this process holds. */
#ifndef ODE_MLCP_PRELOAD_LIBRARIES_H
#define ODE_MLCP_PRELOAD_LIBRARIES_H

#include <stdbool.h>

/** The file of a loaded ODE library other than the one this module calls (its
 *  worlds do not step on ode-mlcp), or NULL. Owned by the loader. */
const char *libraries_second_ode(void);

/** The same for one whose symbols are hidden, linked statically into the program
 *  or into something it loaded: found by what every ODE says of its
 *  configuration. Looks through all that is loaded. */
const char *libraries_hidden_ode(void);

/**
 * Whether this program, or a library it was started with, was linked with an
 * ODE library (of any name).
 *
 * @param loader  out: the program's interpreter, owned by the program; NULL
 *                when it has none.
 */
bool libraries_need_ode(const char **loader);

#endif
