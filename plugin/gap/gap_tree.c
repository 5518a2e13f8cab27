#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gap/gap_mesh.h"

enum {
  /* few enough to test one by one, and a quarter of the nodes */
  LEAF_TRIANGLES = 4,
  /* every node halves its triangles, and a count has 31 bits */
  MOST_DEPTH = 64
};

/* Nodes of a subtree follow each other: the left child comes right after its
 * parent. */
typedef struct gap_tree_node {
  double box[6];
  int first, count; /* of a leaf: in `order` */
  int right;        /* of an inner node; 0 for a leaf */
} node;

static void box_add(double box[6], const double other[6]) {
  for (int k = 0; k < 3; k++) {
    if (other[k] < box[k]) box[k] = other[k];
    if (other[k + 3] > box[k + 3]) box[k + 3] = other[k + 3];
  }
}

static bool before(const gap_tree *tree, int axis, int32_t i, int32_t j) {
  double a = tree->boxes[i][axis] + tree->boxes[i][axis + 3];
  double b = tree->boxes[j][axis] + tree->boxes[j][axis + 3];
  return a < b || (a == b && i < j);
}

/* Put the lower half by centres first (quickselect; ties by number). */
static void split_half(const gap_tree *tree, int axis, int first, int count) {
  int32_t *order = tree->order;
  int low = first, high = first + count - 1, middle = first + count / 2;
  while (low < high) {
    int32_t pivot = order[(low + high) / 2];
    int i = low, j = high;
    while (i <= j) {
      while (before(tree, axis, order[i], pivot)) i++;
      while (before(tree, axis, pivot, order[j])) j--;
      if (i > j) break;
      int32_t kept = order[i];
      order[i++] = order[j];
      order[j--] = kept;
    }
    if (middle <= j)
      high = j;
    else if (middle >= i)
      low = i;
    else
      break;
  }
}

/* @return the number of nodes after it */
static int build_node(gap_tree *tree, int number, int first, int count) {
  node *at = &tree->nodes[number++];
  memcpy(at->box, tree->boxes[tree->order[first]], sizeof at->box);
  for (int i = 1; i < count; i++)
    box_add(at->box, tree->boxes[tree->order[first + i]]);
  at->first = first;
  at->count = count;
  at->right = 0;
  if (count <= LEAF_TRIANGLES) return number;

  int axis = 0;
  for (int k = 1; k < 3; k++)
    if (at->box[k + 3] - at->box[k] > at->box[axis + 3] - at->box[axis])
      axis = k;
  split_half(tree, axis, first, count);
  at->right = build_node(tree, number, first, count / 2);
  return build_node(tree, at->right, first + count / 2, count - count / 2);
}

bool gap_tree_reserve(gap_tree *tree, memory_pool *pool, int count) {
  tree->n_triangles = 0;
  return POOL_RESERVE(pool, tree->nodes, 2 * (size_t)count) &&
         POOL_RESERVE(pool, tree->order, count) &&
         POOL_RESERVE(pool, tree->boxes, count);
}

void gap_tree_build(gap_tree *tree, int count) {
  for (int i = 0; i < count; i++) tree->order[i] = i;
  tree->n_triangles = count;
  if (count > 0) (void)build_node(tree, 0, 0, count);
}

const double *gap_tree_whole(const gap_tree *tree) {
  return tree->n_triangles > 0 ? tree->nodes[0].box : NULL;
}

static bool meets(const double a[6], const double b[6]) {
  for (int k = 0; k < 3; k++)
    if (a[k] > b[k + 3] || b[k] > a[k + 3]) return false;
  return true;
}

static int compare_numbers(const void *a, const void *b) {
  int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
  return (i > j) - (i < j);
}

int gap_tree_find(const gap_tree *tree, const double box[6], int32_t found[]) {
  if (tree->n_triangles == 0) return 0;
  const int32_t *order = tree->order;
  int waiting[MOST_DEPTH], n_waiting = 0, count = 0;
  waiting[n_waiting++] = 0;
  while (n_waiting > 0) {
    int index = waiting[--n_waiting];
    const node *at = &tree->nodes[index];
    if (!meets(at->box, box)) continue;
    if (at->right != 0) {
      waiting[n_waiting++] = at->right;
      waiting[n_waiting++] = index + 1;
      continue;
    }
    for (int i = at->first; i < at->first + at->count; i++)
      if (meets(tree->boxes[order[i]], box)) found[count++] = order[i];
  }
  qsort(found, (size_t)count, sizeof *found, compare_numbers);
  return count;
}
