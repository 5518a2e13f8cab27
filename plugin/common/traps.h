/* A program may trap invalid operations; in this library a NaN stands for what is not
 * given. Its traps are held meanwhile, then its environment comes back as it was. */
#ifndef ODE_MLCP_COMMON_TRAPS_H
#define ODE_MLCP_COMMON_TRAPS_H

#include <fenv.h>
#include <stdbool.h>

/** @return whether there are any, for traps_let_go */
static inline bool traps_hold(fenv_t *own) {
#ifdef __GLIBC__ // others have none to be asked for
  return fegetexcept() != 0 && feholdexcept(own) == 0;
#else
  (void)own;
  return false;
#endif
}

static inline void traps_let_go(bool held, const fenv_t *own) {
  if (held) fesetenv(own);
}

#endif
