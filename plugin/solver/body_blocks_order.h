/* The order in which body_blocks eliminates, and the fill it makes. */
#ifndef ODE_MLCP_SOLVER_BODY_BLOCKS_ORDER_H
#define ODE_MLCP_SOLVER_BODY_BLOCKS_ORDER_H

#include <stdbool.h>

#include "common/arena.h"

typedef struct body_pair {
  int a, b; /* two different bodies; a pair occurs once */
} body_pair;

/** Who is coupled with whom when a body is eliminated. */
typedef struct body_fill {
  int *start, *end;  /* [n] a body's members, its column */
  int *member;       /* [n_members] bodies */
  int *owner, *next; /* [n_members] work */
  int n_members, capacity;
  memory_block member_block, owner_block, next_block;
} body_fill;

void body_fill_release(body_fill *fill, const memory_source *source);

/**
 * Minimum-degree order. Among bodies of the same degree the one whose degree
 * changed last goes first, at the start the one of lowest number.
 *
 * @param arena  for `start` and `end` of the fill, and work
 * @param fill   out: member lists of every body; zeros before. To be released,
 *               after a failure too.
 * @param order  [n] out: the body eliminated k-th.
 * @return false when memory runs out.
 */
bool body_order(int n, const body_pair pairs[], int n_pairs, arena *arena,
                body_fill *fill, int order[]);

#endif
