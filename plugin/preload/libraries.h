/* Which ODE libraries this process holds. */
#ifndef ODE_MLCP_PRELOAD_LIBRARIES_H
#define ODE_MLCP_PRELOAD_LIBRARIES_H

/** The file of a loaded ODE library other than the one this module calls (its
 *  worlds do not step on ode-mlcp), or NULL. Owned by the loader. */
const char *libraries_second_ode(void);

#endif
