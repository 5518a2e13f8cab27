#include "common/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* A chunk's blocks follow it. */
typedef struct arena_chunk {
  struct arena_chunk *next;
  size_t size; /* bytes, this header included */
} arena_chunk;

enum { ALIGNMENT = 16 };

static const size_t HEADER =
    (sizeof(arena_chunk) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

/* With the address sanitizer every block is an allocation of its own, so that a
 * write past its end is noticed. */
#if defined __SANITIZE_ADDRESS__
static const bool BLOCKS_APART = true;
#else
static const bool BLOCKS_APART = false;
#endif

static bool add_chunk(arena *a, size_t size) {
  arena_chunk *chunk = a->source->allocate(a->source->context, size);
  if (chunk == NULL) return false;
  *chunk = (arena_chunk){a->chunks, size};
  a->chunks = chunk;
  a->used = HEADER;
  return true;
}

static void release_chunks(arena *a) {
  while (a->chunks != NULL) {
    arena_chunk *chunk = a->chunks;
    a->chunks = chunk->next;
    a->source->release(a->source->context, chunk, chunk->size);
  }
  a->used = 0;
}

void arena_start(arena *a) {
  /* one chunk is kept; several become one that has room for all of them when
   * the first block is taken */
  if (BLOCKS_APART || (a->chunks != NULL && a->chunks->next != NULL))
    release_chunks(a);
  else
    a->taken = 0;
  a->used = HEADER;
  a->failed = NULL;
}

/* 0 on overflow. */
static size_t block_size(size_t count, size_t element_size) {
  size_t size;
  if (count == 0) count = 1;
  /* a division would cost more than all the rest of a block */
  if (__builtin_mul_overflow(count, element_size, &size) ||
      size > SIZE_MAX - ALIGNMENT)
    return 0;
  return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The size of a chunk that begins with a block of `size` bytes: half as much
 * again as what was taken so far, so that a pile that gains a contact a step
 * does not allocate every step. 0 on overflow. */
static size_t chunk_size(const arena *a, size_t size) {
  size_t roomy = BLOCKS_APART ? size : a->taken + a->taken / 2;
  size_t room = size > roomy ? size : roomy;
  return room <= SIZE_MAX - HEADER ? room + HEADER : 0;
}

void *arena_take(arena *a, const char *name, size_t count,
                 size_t element_size) {
  size_t size = block_size(count, element_size);
  bool fits = !BLOCKS_APART && a->chunks != NULL && size != 0 &&
              size <= a->chunks->size - a->used;
  if (!fits) {
    size_t chunk = size != 0 ? chunk_size(a, size) : 0;
    bool first = a->chunks == NULL;
    if (chunk == 0 || !add_chunk(a, chunk)) {
      a->failed = name;
      return NULL;
    }
    if (first) a->taken = 0; /* it was of the steps before */
  }
  void *block = (char *)a->chunks + a->used;
  a->used += size;
  a->taken += size;
  return block;
}

void arena_release(arena *a) {
  release_chunks(a);
  a->taken = 0;
  a->failed = NULL;
}
