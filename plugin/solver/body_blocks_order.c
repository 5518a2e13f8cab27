/* Minimum-degree order of the body graph, on its quotient graph: eliminated
 * bodies become elements, lists of the bodies they couple. An element's list
 * at its birth is the pattern of that body's column of L. */
#include "solver/body_blocks_order.h"

#include <limits.h>
#include <string.h>

typedef struct quotient_graph {
  int n;
  int *neighbour_start;  /* [n + 1] */
  int *neighbour;        /* original neighbours, pruned in place */
  int *n_neighbours;     /* [n] */
  int *first_membership; /* [n] chain of the elements a body is in, -1 */
  int *element_alive;    /* [n] by the body that became the element */
  int *eliminated;       /* [n] */
  int *mark;             /* [n] */
  int stamp;

  // bodies by degree: doubly linked, last moved first out
  int *degree, *bucket, *next, *previous;

  body_fill *fill;
} quotient_graph;

static void bucket_remove(quotient_graph *g, int i) {
  if (g->previous[i] >= 0)
    g->next[g->previous[i]] = g->next[i];
  else
    g->bucket[g->degree[i]] = g->next[i];
  if (g->next[i] >= 0) g->previous[g->next[i]] = g->previous[i];
}

static void bucket_insert(quotient_graph *g, int i, int degree) {
  g->degree[i] = degree;
  g->previous[i] = -1;
  g->next[i] = g->bucket[degree];
  if (g->next[i] >= 0) g->previous[g->next[i]] = i;
  g->bucket[degree] = i;
}

/* Room for `capacity` members. */
static bool grow(body_fill *fill, const memory_source *source,
                 size_t capacity) {
  if (capacity > INT_MAX / 4) return false;
  if (memory_block_grow(&fill->member_block, source, capacity, sizeof(int)) ==
          NULL ||
      memory_block_grow(&fill->owner_block, source, capacity, sizeof(int)) ==
          NULL ||
      memory_block_grow(&fill->next_block, source, capacity, sizeof(int)) ==
          NULL)
    return false;
  fill->member = fill->member_block.data;
  fill->owner = fill->owner_block.data;
  fill->next = fill->next_block.data;
  fill->capacity = (int)capacity;
  return true;
}

void body_fill_release(body_fill *fill, const memory_source *source) {
  memory_block_release(&fill->member_block, source);
  memory_block_release(&fill->owner_block, source);
  memory_block_release(&fill->next_block, source);
}

/* Adds `body` to the element under birth; it is in that element only once. */
static bool add_member(quotient_graph *g, const memory_source *source,
                       int element, int body) {
  body_fill *f = g->fill;
  if (g->mark[body] == g->stamp || body == element) return true;
  g->mark[body] = g->stamp;
  if (f->n_members == f->capacity &&
      !grow(f, source, 2 * (size_t)f->capacity + 16))
    return false;
  f->member[f->n_members] = body;
  f->owner[f->n_members] = element;
  f->n_members++;
  return true;
}

/* The new element's members: neighbours of the pivot and members of the
 * elements it is in, which the new one absorbs. */
static bool form_element(quotient_graph *g, const memory_source *source,
                         int pivot) {
  body_fill *f = g->fill;
  g->stamp++;
  for (int k = 0; k < g->n_neighbours[pivot]; k++) {
    int j = g->neighbour[g->neighbour_start[pivot] + k];
    if (!g->eliminated[j] && !add_member(g, source, pivot, j)) return false;
  }
  for (int m = g->first_membership[pivot]; m >= 0; m = f->next[m]) {
    int element = f->owner[m];
    if (!g->element_alive[element]) continue;
    for (int k = f->start[element]; k < f->end[element]; k++)
      if (!add_member(g, source, pivot, f->member[k])) return false;
    g->element_alive[element] = 0;
  }
  return true;
}

/* Forgets dead elements and neighbours that the new element couples anyway. */
static void prune(quotient_graph *g, int i) {
  body_fill *f = g->fill;
  int *list = g->neighbour + g->neighbour_start[i], kept = 0;
  for (int k = 0; k < g->n_neighbours[i]; k++)
    if (!g->eliminated[list[k]] && g->mark[list[k]] != g->stamp)
      list[kept++] = list[k];
  g->n_neighbours[i] = kept;

  int *link = &g->first_membership[i];
  while (*link >= 0)
    if (g->element_alive[f->owner[*link]])
      link = &f->next[*link];
    else
      *link = f->next[*link];
}

static int external_degree(quotient_graph *g, int i) {
  body_fill *f = g->fill;
  int degree = g->n_neighbours[i];
  g->stamp++;
  g->mark[i] = g->stamp;
  for (int k = 0; k < g->n_neighbours[i]; k++)
    g->mark[g->neighbour[g->neighbour_start[i] + k]] = g->stamp;
  for (int m = g->first_membership[i]; m >= 0; m = f->next[m]) {
    int element = f->owner[m];
    for (int k = f->start[element]; k < f->end[element]; k++)
      if (g->mark[f->member[k]] != g->stamp) {
        g->mark[f->member[k]] = g->stamp;
        degree++;
      }
  }
  return degree;
}

static bool eliminate(quotient_graph *g, const memory_source *source,
                      int pivot) {
  body_fill *f = g->fill;
  f->start[pivot] = f->n_members;
  if (!form_element(g, source, pivot)) return false;
  f->end[pivot] = f->n_members;
  g->eliminated[pivot] = 1;

  for (int m = f->start[pivot]; m < f->end[pivot]; m++) prune(g, f->member[m]);
  g->element_alive[pivot] = 1;
  for (int m = f->start[pivot]; m < f->end[pivot]; m++) {
    int i = f->member[m];
    f->next[m] = g->first_membership[i];
    g->first_membership[i] = m;
  }
  for (int m = f->start[pivot]; m < f->end[pivot]; m++) {
    int i = f->member[m];
    bucket_remove(g, i);
    bucket_insert(g, i, external_degree(g, i));
  }
  return true;
}

/* Every body's neighbours, by counting. */
static void list_neighbours(quotient_graph *g, const body_pair pairs[],
                            int n_pairs) {
  int *start = g->neighbour_start, *count = g->n_neighbours;
  memset(count, 0, sizeof *count * (size_t)g->n);
  for (int e = 0; e < n_pairs; e++) {
    count[pairs[e].a]++;
    count[pairs[e].b]++;
  }
  start[0] = 0;
  for (int i = 0; i < g->n; i++) {
    start[i + 1] = start[i] + count[i];
    count[i] = 0;
  }
  for (int e = 0; e < n_pairs; e++) {
    int a = pairs[e].a, b = pairs[e].b;
    g->neighbour[start[a] + count[a]++] = b;
    g->neighbour[start[b] + count[b]++] = a;
  }
}

static bool take_graph(quotient_graph *g, int n_pairs, arena *arena) {
  size_t n = (size_t)g->n;
  if (!ARENA_TAKE(arena, g->neighbour_start, n + 1) ||
      !ARENA_TAKE(arena, g->neighbour, 2 * (size_t)n_pairs) ||
      !ARENA_TAKE(arena, g->n_neighbours, n) ||
      !ARENA_TAKE(arena, g->first_membership, n) ||
      !ARENA_TAKE(arena, g->element_alive, n) ||
      !ARENA_TAKE(arena, g->eliminated, n) || !ARENA_TAKE(arena, g->mark, n) ||
      !ARENA_TAKE(arena, g->degree, n) || !ARENA_TAKE(arena, g->bucket, n) ||
      !ARENA_TAKE(arena, g->next, n) || !ARENA_TAKE(arena, g->previous, n) ||
      !ARENA_TAKE(arena, g->fill->start, n) ||
      !ARENA_TAKE(arena, g->fill->end, n))
    return false;
  memset(g->element_alive, 0, sizeof *g->element_alive * n);
  memset(g->eliminated, 0, sizeof *g->eliminated * n);
  memset(g->mark, 0, sizeof *g->mark * n);
  for (size_t i = 0; i < n; i++) g->first_membership[i] = g->bucket[i] = -1;
  return grow(g->fill, arena->source, 4 * (size_t)n_pairs + 16);
}

bool body_order(int n, const body_pair pairs[], int n_pairs, arena *arena,
                body_fill *fill, int order[]) {
  quotient_graph g = {.n = n, .fill = fill};
  if (!take_graph(&g, n_pairs, arena)) return false;
  list_neighbours(&g, pairs, n_pairs);
  for (int i = n - 1; i >= 0; i--) bucket_insert(&g, i, g.n_neighbours[i]);

  int lowest = 0;
  for (int k = 0; k < n; k++) {
    while (g.bucket[lowest] < 0) lowest++;
    int pivot = g.bucket[lowest];
    bucket_remove(&g, pivot);
    order[k] = pivot;
    if (!eliminate(&g, arena->source, pivot)) return false;
    // neighbours lose at most the pivot
    if (lowest > 0) lowest--;
  }
  return true;
}
