/* The order in which body_blocks eliminates, and the fill it makes. */
#ifndef ODE_MLCP_SOLVER_BODY_BLOCKS_ORDER_H
#define ODE_MLCP_SOLVER_BODY_BLOCKS_ORDER_H

#include <limits.h>

#include "solver/body_blocks.h"

/** Who is coupled with whom when a body is eliminated. */
typedef struct body_fill {
  int *start, *end; /* [n] set by the caller; a body's members, its column */
  int *member;      /* [n_members] bodies */
  int *owner, *next; /* [n_members] work */
  int n_members, capacity;
  memory_block member_block, owner_block, next_block;
} body_fill;

/** Room for `capacity` members; false when memory runs out. */
bool body_fill_grow(body_fill *fill, const memory_source *source,
                    size_t capacity);

/** Number of ints that body_order needs as work. */
size_t body_order_work(int n, int n_edges);

/**
 * Minimum-degree order. Among bodies of the same degree the one whose degree
 * changed last goes first, at the start the one of lowest number.
 *
 * @param fill   out: member lists of every body, start and end given.
 * @param order  [n] out: the body eliminated k-th.
 * @return false when memory runs out.
 */
bool body_order(int n, const body_pair edges[], int n_edges,
                const memory_source *source, int work[], body_fill *fill,
                int order[]);

#endif
