/* Scratch memory that is taken block by block and given back all at once.
 *
 *   arena_start(&workspace->arena);
 *   if (!ARENA_TAKE(&workspace->arena, rows, n_rows) ||
 *       !ARENA_TAKE(&workspace->arena, guess, n_rows))
 *     return false;                    // no memory
 *
 * What a start gives back is kept: a step that needs what the last one needed
 * allocates nothing.
 */
#ifndef ODE_MLCP_COMMON_ARENA_H
#define ODE_MLCP_COMMON_ARENA_H

#include <stdint.h>

#include "common/memory.h"

enum { ARENA_ALIGNMENT = 16 };

/** Starts as zeros with `source` set; ends with arena_release. */
typedef struct arena {
  const memory_source *source;
  struct arena_chunk *chunks; /* the one in use first */
  char *next;                 /* of the one in use: the next block */
  size_t left;                /* bytes from there, whole alignments */
  size_t taken; /* bytes since the last start, the chunk in use left out */
} arena;

/** For arena_take: a block of `size` bytes, from a chunk of its own. */
void *arena_take_from_new_chunk(arena *a, size_t size);

/** Give all blocks back: what arena_take returned is no longer valid. */
void arena_start(arena *a);

/**
 * Take `count` elements of `element_size` bytes, not cleared, aligned for any
 * type. Valid until the next start.
 *
 * @return NULL when memory or `size_t` runs out. A count of 0 still gives a pointer.
 */
static inline void *arena_take(arena *a, size_t count, size_t element_size) {
  size_t size;
  /* a division would cost more than all the rest of a block */
  if (__builtin_mul_overflow(count, element_size, &size))
    size = SIZE_MAX;
  else if (size == 0)
    size = 1;
  if (size > a->left) return arena_take_from_new_chunk(a, size);
  void *block = a->next;
  size = (size + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
  a->next += size;
  a->left -= size;
  return block;
}

/** Set `pointer` to room for `count` of what it points to.
 *  @return whether there was memory for it. */
#define ARENA_TAKE(arena, pointer, count)                                      \
  (((pointer) = arena_take((arena), (size_t)(count), sizeof *(pointer))) !=    \
   NULL)

/** Give all memory back to the source; the arena may be used again. */
void arena_release(arena *a);

#endif
