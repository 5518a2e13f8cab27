/* A program may trap invalid operations; in this library a NaN stands for what is not
 * given. Its traps are held meanwhile, then its environment comes back as it was. */
#ifndef ODE_MLCP_COMMON_TRAPS_H
#define ODE_MLCP_COMMON_TRAPS_H

#include <fenv.h>
#include <stdbool.h>

typedef struct held_traps {
  bool held;
  fenv_t own;
} held_traps;

static inline void traps_hold(held_traps *traps) {
#ifdef __GLIBC__ // others have none to be asked for
  traps->held = fegetexcept() != 0 && feholdexcept(&traps->own) == 0;
#else
  traps->held = false;
#endif
}

static inline void traps_let_go(held_traps *traps) {
  if (traps->held) fesetenv(&traps->own);
}

/** The program's traps are held until the end of the block. */
#define HOLD_TRAPS                                                             \
  __attribute__((cleanup(traps_let_go))) held_traps traps_here;                \
  traps_hold(&traps_here)

#endif
