/* The source of the plugin's memory.
 *
 * Every room takes its memory from a `memory_source`, so that a world's own
 * step memory manager is honoured and tests can make any allocation fail.
 */
#ifndef ODE_MLCP_COMMON_MEMORY_H
#define ODE_MLCP_COMMON_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct memory_source {
  /** Returns `size` bytes aligned for any type, or NULL. `size` > 0. */
  void *(*allocate)(void *context, size_t size);
  /** Takes back a block of `size` bytes from `allocate`; never NULL. */
  void (*release)(void *context, void *block, size_t size);
  void *context;
} memory_source;

/** The C library's malloc and free. */
extern const memory_source memory_from_malloc;

/** `size` bytes of zeros, or NULL. */
void *memory_allocate_zero(const memory_source *source, size_t size);

/** Objects that take all their memory here give nothing back themselves. */
typedef struct memory_pool {
  memory_source source;      /* what it takes from */
  const memory_source *from; /* where the pool takes from */
  struct pooled *first;
} memory_pool;

/** Start; `pool` must stay where it is. */
void memory_pool_open(memory_pool *pool, const memory_source *from);

/** Give back all that was taken and not released. */
void memory_pool_release(memory_pool *pool);

/** Make room for `count` elements of `element_size` bytes where a pointer points
 *  to that is the pool's or NULL. What was there is lost where it has to grow.
 *
 * @param pointer  the address of the pointer, of whatever type; NULL afterwards
 *                 where memory or `size_t` runs out
 * @return whether there is room; a count of 0 still gives a pointer. */
bool memory_pool_reserve(memory_pool *pool, void *pointer, size_t count,
                         size_t element_size);

/** The same, but what was there is kept; on failure it stays as it is. */
bool memory_pool_grow(memory_pool *pool, void *pointer, size_t count,
                      size_t element_size);

#define POOL_RESERVE(pool, pointer, count)                                     \
  memory_pool_reserve((pool), &(pointer), (size_t)(count), sizeof *(pointer))
#define POOL_GROW(pool, pointer, count)                                        \
  memory_pool_grow((pool), &(pointer), (size_t)(count), sizeof *(pointer))

#endif
