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

void *memory_allocate_array(const memory_source *source, size_t count,
                            size_t size) {
  if (count == 0) count = 1;
  if (count > SIZE_MAX / size) return NULL;
  return source->allocate(source->context, count * size);
}

void memory_release_array(const memory_source *source, void *block,
                          size_t count, size_t size) {
  if (block == NULL) return;
  if (count == 0) count = 1;
  source->release(source->context, block, count * size);
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

void *memory_block_replace(memory_block *block, const memory_source *source,
                           size_t count, size_t element_size) {
  size_t size = grown_size(block->size, count, element_size);
  memory_block_release(block, source);
  if (size == 0) return NULL;

  block->data = source->allocate(source->context, size);
  block->size = block->data != NULL ? size : 0;
  return block->data;
}

void *memory_block_grow(memory_block *block, const memory_source *source,
                        size_t count, size_t element_size) {
  if (block->data != NULL && count <= block->size / element_size)
    return block->data;

  size_t size = grown_size(block->size, count, element_size);
  void *data = size != 0 ? source->allocate(source->context, size) : NULL;
  if (data == NULL) return NULL;

  if (block->data != NULL) {
    memcpy(data, block->data, block->size);
    source->release(source->context, block->data, block->size);
  }
  block->data = data;
  block->size = size;
  return data;
}

void memory_block_release(memory_block *block, const memory_source *source) {
  if (block->data != NULL)
    source->release(source->context, block->data, block->size);
  block->data = NULL;
  block->size = 0;
}

void memory_blocks_release(memory_block *const blocks[], size_t count,
                           const memory_source *source) {
  for (size_t i = 0; i < count; i++) memory_block_release(blocks[i], source);
}
