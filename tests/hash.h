/* A hash of numbers, bit by bit (FNV-1a). */
#ifndef ODE_MLCP_TESTS_HASH_H
#define ODE_MLCP_TESTS_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct hash {
  uint64_t value;
} hash;

static inline hash hash_start(void) { return (hash){0xcbf29ce484222325u}; }

static inline void hash_bytes(hash *hash, const void *from, size_t size) {
  const unsigned char *bytes = from;
  for (size_t i = 0; i < size; i++)
    hash->value = (hash->value ^ bytes[i]) * 0x100000001b3u;
}

static inline void hash_numbers(hash *hash, const double numbers[], size_t n) {
  hash_bytes(hash, numbers, n * sizeof *numbers);
}

#endif
