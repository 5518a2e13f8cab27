/* Structs across the library's border, whose two sides may be of different
 * versions (docs/abi.md). */
#ifndef ODE_MLCP_COMMON_SIZED_H
#define ODE_MLCP_COMMON_SIZED_H

#include <stddef.h>
#include <string.h>

/** Copy a struct of ours to a caller's of `size` bytes: what both know; the rest
 *  of a longer one becomes 0. @return bytes that both know. */
static inline size_t sized_copy(void *out, size_t size, const void *own,
                                size_t own_size) {
  size_t known = size < own_size ? size : own_size;
  memcpy(out, own, known);
  memset((char *)out + known, 0, size - known);
  return known;
}

/** Likewise a struct that begins with its `size_t struct_size`, which becomes
 *  the bytes that both know. */
static inline void sized_give(void *out, size_t size, const void *own,
                              size_t own_size) {
  size_t known = sized_copy(out, size, own, own_size);
  if (known >= sizeof known) memcpy(out, &known, sizeof known);
}

#endif
