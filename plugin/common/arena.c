#include "common/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* A chunk's blocks follow it. */
typedef struct arena_chunk {
  struct arena_chunk *next;
  size_t size; /* bytes, this header included */
} arena_chunk;

static size_t aligned(size_t size) {
  return (size + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
}

/* With the address sanitizer every block is an allocation of its own, so that a
 * write past its end is noticed. */
#if defined __SANITIZE_ADDRESS__
static const bool BLOCKS_APART = true;
#else
static const bool BLOCKS_APART = false;
#endif

/* Head of a chunk, before its first block. */
#define HEADER aligned(sizeof(arena_chunk))

static size_t used(const arena *a) {
  return a->chunks != NULL ? (size_t)(a->next - (char *)a->chunks) - HEADER : 0;
}

/* The blocks of the first chunk begin. */
static void open_chunk(arena *a) {
  a->next = (char *)a->chunks + HEADER;
  a->left = (a->chunks->size - HEADER) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
}

static void release_chunks(arena *a) {
  while (a->chunks != NULL) {
    arena_chunk *chunk = a->chunks;
    a->chunks = chunk->next;
    a->source->release(a->source->context, chunk, chunk->size);
  }
  a->next = NULL;
  a->left = 0;
}

void arena_start(arena *a) {
  /* one chunk is kept; several become one that has room for all of them when
   * the first block is taken */
  if (a->chunks == NULL) return;
  if (!BLOCKS_APART && a->chunks->next == NULL) {
    a->taken = 0;
    open_chunk(a);
    return;
  }
  a->taken += used(a);
  release_chunks(a);
}

/* Put a chunk with room for `room` bytes before the others. */
static bool add_chunk(arena *a, size_t room) {
  arena_chunk *chunk = a->source->allocate(a->source->context, room + HEADER);
  if (chunk == NULL) return false;
  *chunk = (arena_chunk){a->chunks, room + HEADER};
  a->chunks = chunk;
  open_chunk(a);
  return true;
}

void *arena_take_from_new_chunk(arena *a, size_t size) {
  const size_t MOST = SIZE_MAX / 4;
  size_t taken = a->taken + used(a);
  bool first = a->chunks == NULL; /* `taken` is of the steps before */
  if (!BLOCKS_APART && size <= MOST) size = aligned(size);
  /* half as much again as what was taken so far, so that a pile that gains a
   * contact a step does not allocate every step */
  size_t room = BLOCKS_APART ? size : taken + taken / 2;
  if (room < size) room = size;
  if (size > MOST || !add_chunk(a, room)) return NULL;
  a->taken = first ? 0 : taken;
  a->next += size;
  a->left = BLOCKS_APART ? 0 : a->left - size;
  return a->next - size;
}

void arena_release(arena *a) {
  release_chunks(a);
  a->taken = 0;
}
