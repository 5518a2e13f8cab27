#include "impacts/contact_tree.h"

#include <math.h>
#include <string.h>

#include "common/six.h"

/* A tree with more modes or nodes than this begins anew. */
#define MOST_MODES 8192
#define MOST_NODES 16384

/* Modes that may hold at once; with more, those of the least numbers. */
#define MOST_FOUND 256

/* With friction or masses over more decades than that the search is safer. */
#define MOST_FRICTION 1e3
#define MOST_SPREAD 1e6

/* A row of which less than this is its own repeats others. */
#define REPEATED 1e-9

static int inputs_of(const contact_space *space) {
  return space->n_rows + space->n_contacts;
}

/* Rows that repeat others: pivots that Cholesky's method, the largest first, finds
 * to be 0. */
static int count_repeated(const contact_space *space) {
  int n = space->n_rows;
  double A[32 * 32];
  bool used[32] = {false};
  memcpy(A, space->A, (size_t)(n * n) * sizeof *A);
  for (int done = 0; done < n; done++) {
    int best = -1;
    double most = REPEATED;
    for (int i = 0; i < n; i++) {
      double left = A[i * (n + 1)] / space->A[i * (n + 1)];
      if (used[i] || left <= most) continue;
      most = left;
      best = i;
    }
    if (best < 0) return n - done;
    used[best] = true;
    for (int i = 0; i < n; i++) {
      double factor = A[i * n + best] / A[best * (n + 1)];
      for (int j = 0; j < n && !used[i]; j++)
        A[i * n + j] -= factor * A[best * n + j];
    }
  }
  return 0;
}

bool contact_tree_suits(const contact_space *space) {
  int n = space->n_rows, m = space->n_contacts;
  double modes = pow(contact_modes_of_one(space, true), m);
  double least = INFINITY, most = 0, friction = 0;
  for (int i = 0; i < n; i++) {
    least = fmin(least, space->A[i * (n + 1)]);
    most = fmax(most, space->A[i * (n + 1)]);
  }
  for (int i = 0; i < m; i++) friction = fmax(friction, space->bound[i]);
  return n <= 32 && modes < 0x1p31 && friction <= MOST_FRICTION &&
         most <= MOST_SPREAD * least && count_repeated(space) <= 1;
}

bool contact_tree_open(contact_tree *tree, const contact_space *space,
                       double usual_cap, const memory_source *source) {
  size_t n = (size_t)space->n_rows, n_inputs = (size_t)inputs_of(space);
  size_t most = (size_t)(2 + 2 * space->n_tangents) * (size_t)space->n_contacts;
  memset(tree, 0, sizeof *tree);
  tree->space = space;
  tree->source = source;
  tree->usual_cap = usual_cap;
  tree->n_wide = (inputs_of(space) + 1 + 7) / 8 * 8;
  tree->arena.source = source;
  arena_start(&tree->arena);
  bool ready =
      ARENA_TAKE(&tree->arena, tree->y, n_inputs) &&
      ARENA_TAKE(&tree->arena, tree->exact, tree->n_wide) &&
      ARENA_TAKE(&tree->arena, tree->rounded, tree->n_wide) &&
      ARENA_TAKE(&tree->arena, tree->scratch, contact_mode_scratch(space)) &&
      ARENA_TAKE(&tree->arena, tree->impulses, n * n_inputs) &&
      ARENA_TAKE(&tree->arena, tree->conditions, most * n_inputs) &&
      ARENA_TAKE(&tree->arena, tree->contacts, space->n_contacts) &&
      contact_modes_begin(&tree->modes, space, source);
  if (!ready) {
    contact_tree_close(tree);
    return false;
  }
  for (int i = 0; i < space->n_contacts; i++) tree->contacts[i] = i;
  memset(tree->rounded, 0, (size_t)tree->n_wide * sizeof *tree->rounded);
  return true;
}

void contact_tree_close(contact_tree *tree) {
  if (tree->source == NULL) return;
  contact_modes_release(&tree->modes, tree->source);
  memory_block_release(&tree->node_block, tree->source);
  memory_block_release(&tree->reason_block, tree->source);
  memory_block_release(&tree->number_block, tree->source);
  arena_release(&tree->arena);
  memset(tree, 0, sizeof *tree);
}

/* ---- growing ----------------------------------------------------------- */

void contact_tree_trim(contact_tree *tree) {
  if (tree->modes.n_modes >= MOST_MODES || tree->n_nodes >= MOST_NODES)
    contact_tree_forget(tree);
}

void contact_tree_forget(contact_tree *tree) {
  tree->n_nodes = tree->modes.n_modes = 0;
}

static float *reasons_of(const contact_tree *tree, int node, int branch) {
  size_t each = CONTACT_TREE_REASONS * (size_t)tree->n_wide;
  return &tree->reasons[((size_t)node * 3 + (size_t)branch) * each];
}

int contact_tree_add_node(contact_tree *tree, int row) {
  size_t count = (size_t)tree->n_nodes + 1;
  contact_tree_node *nodes =
      memory_block_grow(&tree->node_block, tree->source, count, sizeof *nodes);
  if (nodes != NULL) tree->nodes = nodes;
  float *reasons = memory_block_grow(
      &tree->reason_block, tree->source,
      count * 3 * CONTACT_TREE_REASONS * (size_t)tree->n_wide, sizeof *reasons);
  if (reasons != NULL) tree->reasons = reasons;
  if (nodes == NULL || reasons == NULL) return CONTACT_TREE_UNKNOWN;
  contact_tree_node *node = &nodes[tree->n_nodes];
  memset(node, 0, sizeof *node);
  node->row = row;
  for (int k = 0; k < 3; k++) node->to[k] = CONTACT_TREE_UNKNOWN;
  return tree->n_nodes++;
}

int contact_tree_add_mode(contact_tree *tree, int number) {
  uint32_t zero_rows;
  int count = contact_mode_work_out(
      tree->space, tree->contacts, tree->space->n_contacts, number, true,
      tree->scratch, tree->impulses, tree->conditions, &zero_rows);
  if (count < 0) return CONTACT_TREE_NOTHING;
  size_t place = (size_t)tree->modes.n_modes;
  int *numbers = memory_block_grow(&tree->number_block, tree->source, place + 1,
                                   sizeof *numbers);
  if (numbers == NULL) return CONTACT_TREE_UNKNOWN;
  tree->numbers = numbers;
  numbers[place] = number;
  if (!contact_modes_add(&tree->modes, tree->space, tree->impulses,
                         tree->conditions, count, zero_rows, tree->source))
    return CONTACT_TREE_UNKNOWN;
  return CONTACT_TREE_MODE - (int)place;
}

/* ---- a step ------------------------------------------------------------ */

typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));

KERNEL float value_of(const float f[], const float y[], int n) {
  eight sum = *(const eight *)f * *(const eight *)y;
#pragma GCC unroll 2
  for (int k = 8; k < n; k += 8)
    sum += *(const eight *)(f + k) * *(const eight *)(y + k);
  sum += __builtin_shufflevector(sum, sum, 4, 5, 6, 7, 0, 1, 2, 3);
  sum += __builtin_shufflevector(sum, sum, 2, 3, 0, 1, 6, 7, 4, 5);
  return sum[0] + sum[1];
}

/* What refutes comes one place further to the front. */
KERNEL bool refutes(float reasons[], int n_reasons, const float y[], int n) {
  for (int k = 0; k < n_reasons; k++) {
    float *reason = &reasons[k * n];
    if (!(value_of(reason, y, n) < 0)) continue;
    for (int j = 0; j < n && k > 0; j += 8) {
      eight kept = *(eight *)(reason + j - n);
      *(eight *)(reason + j - n) = *(eight *)(reason + j);
      *(eight *)(reason + j) = kept;
    }
    return true;
  }
  return false;
}

bool contact_tree_refutes(contact_tree *tree, int node, int branch) {
  return refutes(reasons_of(tree, node, branch),
                 tree->nodes[node].n_reasons[branch], tree->rounded,
                 tree->n_wide);
}

/* What numbers of 24 bits lose. */
static double rounding_of(const contact_tree *tree) {
  int n = tree->space->n_rows, n_inputs = inputs_of(tree->space);
  double sum = 0;
  for (int j = 0; j < n_inputs; j++)
    sum +=
        fabs(tree->exact[j]) * (j < n ? tree->space->scale : tree->usual_cap);
  return (n_inputs + 8) * 0x1p-23 * sum;
}

bool contact_tree_add_reason(contact_tree *tree, int node, int branch,
                             double slack) {
  int n = tree->n_wide, n_inputs = inputs_of(tree->space);
  int *count = &tree->nodes[node].n_reasons[branch];
  float reason[72] = {0};
  for (int j = 0; j < n_inputs; j++) reason[j] = (float)tree->exact[j];
  reason[n_inputs] = (float)(1.001 * (slack + rounding_of(tree)));
  if (!(value_of(reason, tree->rounded, n) < 0)) return false;
  // it refutes now: to the front, the last one goes
  float *reasons = reasons_of(tree, node, branch);
  if (*count < CONTACT_TREE_REASONS) ++*count;
  memmove(reasons + n, reasons, (size_t)((*count - 1) * n) * sizeof *reasons);
  memcpy(reasons, reason, (size_t)n * sizeof *reasons);
  return true;
}

static void set_inputs(contact_tree *tree, const double y[]) {
  const contact_space *space = tree->space;
  int n = space->n_rows, n_inputs = inputs_of(space);
  double times = 1;
  for (int j = 0; j < n_inputs; j++) {
    double usual = j < n ? space->scale : tree->usual_cap;
    times = larger(times, fabs(y[j]) / usual);
    tree->y[j] = y[j];
    tree->rounded[j] = (float)y[j];
  }
  tree->rounded[n_inputs] = (float)(1.001 * times);
}

/* Keep the least numbers in order; how many there are then. */
static int insert(const contact_tree *tree, int found[], int n_found,
                  int place) {
  int at = n_found;
  while (at > 0 && tree->numbers[found[at - 1]] > tree->numbers[place]) at--;
  if (at == MOST_FOUND) return n_found;
  if (n_found == MOST_FOUND) n_found--;
  memmove(&found[at + 1], &found[at], (size_t)(n_found - at) * sizeof *found);
  found[at] = place;
  return n_found + 1;
}

/* The modes that hold; -1: a branch is unknown. */
KERNEL int find(contact_tree *tree, int n, int found[]) {
  int stack[3 * 32 + 3], top = 0, n_found = 0;
  if (tree->n_nodes == 0) return -1;
  stack[top++] = 0;
  while (top > 0) {
    int number = stack[--top];
    const contact_tree_node *node = &tree->nodes[number];
    float *reasons = reasons_of(tree, number, 0);
    for (int k = 0; k < 3; k++, reasons += CONTACT_TREE_REASONS * n) {
      if (refutes(reasons, node->n_reasons[k], tree->rounded, n)) continue;
      int to = node->to[k];
      if (to >= 0)
        stack[top++] = to;
      else if (to == CONTACT_TREE_UNKNOWN)
        return -1;
      else if (to <= CONTACT_TREE_MODE &&
               contact_modes_hold(&tree->modes, CONTACT_TREE_MODE - to, tree->y,
                                  IMPACT_FEASIBILITY * tree->space->scale))
        n_found = insert(tree, found, n_found, CONTACT_TREE_MODE - to);
    }
  }
  return n_found;
}

KERNEL int find_any(contact_tree *tree, int found[]) {
  if (tree->n_wide == 16) return find(tree, 16, found); // five planar contacts
  return find(tree, tree->n_wide, found);
}

WIDE static int find_wide(contact_tree *tree, int found[]) {
  return find_any(tree, found);
}

int contact_tree_solve(contact_tree *tree, const double y[], int most,
                       double lambdas[], double reached[]) {
  const contact_space *space = tree->space;
  set_inputs(tree, y);
  int found[MOST_FOUND + 1];
  int n_found = six_is_wide() ? find_wide(tree, found) : find_any(tree, found);
  if (n_found < 0) return -1;
  return contact_modes_apply(&tree->modes, space, found, n_found, y, most,
                             lambdas, reached);
}
