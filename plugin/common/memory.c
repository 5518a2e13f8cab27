#include "common/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *allocate_with_malloc(void *context, size_t size) {
  (void)context;
  return malloc(size);
}

static void release_with_free(void *context, void *block, size_t size) {
  (void)context;
  (void)size;
  free(block);
}

const memory_source memory_from_malloc = {allocate_with_malloc,
                                          release_with_free, NULL};

void *memory_allocate_zero(const memory_source *source, size_t size) {
  void *data = source->allocate(source->context, size);
  if (data != NULL) memset(data, 0, size);
  return data;
}

/* Before each block of a pool; max_align_t keeps the block aligned. */
typedef struct pooled {
  struct pooled *next, *previous;
  size_t size; /* bytes, this included */
  max_align_t block[];
} pooled;

static void *allocate_from_pool(void *context, size_t size) {
  memory_pool *pool = context;
  const memory_source *from = pool->from;
  if (size > SIZE_MAX - sizeof(pooled)) return NULL;
  size += sizeof(pooled);
  pooled *added = from->allocate(from->context, size);
  if (added == NULL) return NULL;
  *added = (pooled){.next = pool->first, .size = size};
  if (pool->first != NULL) pool->first->previous = added;
  pool->first = added;
  return added->block;
}

static pooled *pooled_of(void *block) {
  return (pooled *)((char *)block - offsetof(pooled, block));
}

/* Bytes; NULL has none. */
static size_t block_size(void *block) {
  return block != NULL ? pooled_of(block)->size - sizeof(pooled) : 0;
}

static void release_to_pool(void *context, void *block, size_t size) {
  (void)size;
  memory_pool *pool = context;
  pooled *taken = pooled_of(block);
  if (taken->next != NULL) taken->next->previous = taken->previous;
  if (taken->previous != NULL)
    taken->previous->next = taken->next;
  else
    pool->first = taken->next;
  pool->from->release(pool->from->context, taken, taken->size);
}

void memory_pool_open(memory_pool *pool, const memory_source *from) {
  *pool = (memory_pool){.source = {allocate_from_pool, release_to_pool, pool},
                        .from = from};
}

void memory_pool_release(memory_pool *pool) {
  while (pool->first != NULL) release_to_pool(pool, pool->first->block, 0);
}

/* The size a block grows to: half as much again, so that a pile that gains a
 * contact a step does not allocate every step. 0 on overflow. */
static size_t grown_size(size_t old_size, size_t count, size_t element_size) {
  if (count == 0) count = 1;
  if (count > SIZE_MAX / element_size) return 0;

  size_t size = count * element_size;
  size_t roomy = old_size <= SIZE_MAX / 2 ? old_size + old_size / 2 : size;
  return size > roomy ? size : roomy;
}

/* A larger block where `pointer` points to, with or without what it held. */
static bool replace(memory_pool *pool, void *pointer, size_t count,
                    size_t element_size, bool keeps) {
  void *block, *next;
  memcpy(&block, pointer, sizeof block);
  size_t held = block_size(block);
  if (block != NULL && count <= held / element_size) return true;
  size_t size = grown_size(held, count, element_size);
  if (!keeps && block != NULL) release_to_pool(pool, block, held);
  next = size != 0 ? allocate_from_pool(pool, size) : NULL;
  if (keeps && next == NULL) return false;
  if (keeps && block != NULL) {
    memcpy(next, block, held);
    release_to_pool(pool, block, held);
  }
  memcpy(pointer, &next, sizeof next);
  return next != NULL;
}

bool memory_pool_reserve(memory_pool *pool, void *pointer, size_t count,
                         size_t element_size) {
  return replace(pool, pointer, count, element_size, false);
}

bool memory_pool_grow(memory_pool *pool, void *pointer, size_t count,
                      size_t element_size) {
  return replace(pool, pointer, count, element_size, true);
}
