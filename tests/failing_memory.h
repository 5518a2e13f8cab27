/* A memory source whose allocations fail when a test says so. */
#ifndef ODE_MLCP_TESTS_FAILING_MEMORY_H
#define ODE_MLCP_TESTS_FAILING_MEMORY_H

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/memory.h"

/** Allocations are counted from 0; those in [first, last) fail: all zero, none
 *  does. For one thread at a time. */
typedef struct failing_memory {
  long first, last;
  long n_asked;
  long n_held, bytes_held; /* blocks, and bytes by the sizes that came back */
} failing_memory;

/** Fail allocation `first` alone, counted from 0 from here on. */
static inline void fail_allocation(failing_memory *memory, long first) {
  memory->n_asked = 0;
  memory->first = first;
  memory->last = first + 1;
}

/** Fail allocation `first` and all that follow, counted from here on. */
static inline void fail_allocations_from(failing_memory *memory, long first) {
  fail_allocation(memory, first);
  memory->last = LONG_MAX;
}

static inline void fail_no_allocation(failing_memory *memory) {
  memory->first = memory->last = 0;
}

/** Count an allocation. @return whether it has to fail */
static inline bool next_allocation_fails(failing_memory *memory) {
  long index = memory->n_asked++;
  return index >= memory->first && index < memory->last;
}

/** True if one has failed since fail_allocation or fail_allocations_from. */
static inline bool an_allocation_failed(const failing_memory *memory) {
  return memory->first < memory->last && memory->n_asked > memory->first;
}

static inline void *failing_memory_allocate(void *context, size_t size) {
  failing_memory *memory = context;
  if (next_allocation_fails(memory)) return NULL;
  memory->n_held++;
  memory->bytes_held += (long)size;
  return malloc(size);
}

static inline void failing_memory_release(void *context, void *block,
                                          size_t size) {
  failing_memory *memory = context;
  memory->n_held--;
  memory->bytes_held -= (long)size;
  free(block);
}

static inline memory_source failing_memory_source(failing_memory *memory) {
  return (memory_source){failing_memory_allocate, failing_memory_release,
                         memory};
}

#endif
