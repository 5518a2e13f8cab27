/* The function that stands behind one of ours by the same name: the host's, the C
 * library's. Looked up once, however many threads do. */
#ifndef ODE_MLCP_PRELOAD_NEXT_H
#define ODE_MLCP_PRELOAD_NEXT_H

#include <dlfcn.h>
#include <stddef.h>

#define VISIBLE __attribute__((visibility("default")))

/** Declares next, the one behind `name`; needs _GNU_SOURCE. */
#define NEXT(name)                                                             \
  static _Atomic(__typeof__(&name)) found;                                     \
  __typeof__(&name) next = found;                                              \
  if (next == NULL) {                                                          \
    *(void **)&next = dlsym(RTLD_NEXT, #name);                                 \
    found = next;                                                              \
  }

#endif
