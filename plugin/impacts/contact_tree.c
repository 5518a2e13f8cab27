#include "impacts/contact_tree.h"

#include <math.h>
#include <string.h>

#include "common/six.h"

/* Modes that may hold at once; with more, those of the least numbers. */
#define MOST_FOUND 256

/* With friction or masses over more decades than that the search is safer. */
#define MOST_FRICTION 1e3
#define MOST_SPREAD 1e6

/* In front of a node's lanes: whole lines of the cache. */
enum { CACHE_LINE = 64 };
#define HEAD_SIZE                                                              \
  ((sizeof(contact_tree_node) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE)

/* A row of which less than this is its own repeats others. */
#define REPEATED 1e-9

static int inputs_of(const contact_space *space) {
  return space->n_rows + space->n_contacts;
}

int contact_tree_repeated(const contact_space *space, double A[]) {
  int n = space->n_rows;
  bool *used = (bool *)(A + n * n);
  memset(used, 0, (size_t)n * sizeof *used);
  memcpy(A, space->A, (size_t)(n * n) * sizeof *A);
  for (int done = 0; done < n; done++) {
    int best = -1;
    double most = REPEATED;
    for (int i = 0; i < n; i++) {
      double own = space->A[i * (n + 1)];
      double left = own > 0 ? A[i * (n + 1)] / own : 0;
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
  return n <= 32 && space->n_tangents <= 2 && modes < 0x1p62 &&
         friction <= MOST_FRICTION && most <= MOST_SPREAD * least;
}

bool contact_tree_open(contact_tree *tree, const contact_space *space,
                       double usual_cap, const memory_source *source) {
  size_t n = (size_t)space->n_rows, n_inputs = (size_t)inputs_of(space);
  size_t most = (size_t)(2 + 2 * space->n_tangents) * (size_t)space->n_contacts;
  memset(tree, 0, sizeof *tree);
  tree->space = space;
  tree->source = source;
  tree->usual_cap = usual_cap;
  tree->n_terms = inputs_of(space) + 1;
  size_t lanes = (size_t)(tree->n_terms * CONTACT_TREE_LANES);
  tree->node_size = HEAD_SIZE + lanes * sizeof(float);
  tree->arena.source = source;
  arena_start(&tree->arena);
  bool ready =
      ARENA_TAKE(&tree->arena, tree->y, n_inputs) &&
      ARENA_TAKE(&tree->arena, tree->exact, n_inputs) &&
      ARENA_TAKE(&tree->arena, tree->terms, tree->n_terms) &&
      ARENA_TAKE(&tree->arena, tree->values, tree->n_terms) &&
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
  return true;
}

void contact_tree_close(contact_tree *tree) {
  if (tree->source == NULL) return;
  contact_modes_release(&tree->modes, tree->source);
  memory_block_release(&tree->node_block, tree->source);
  memory_block_release(&tree->queue_block, tree->source);
  memory_block_release(&tree->number_block, tree->source);
  arena_release(&tree->arena);
  memset(tree, 0, sizeof *tree);
}

/* ---- growing ----------------------------------------------------------- */

void contact_tree_trim(contact_tree *tree) {
  if (tree->modes.n_modes >= CONTACT_TREE_MOST_MODES ||
      tree->n_nodes >= CONTACT_TREE_MOST_NODES)
    contact_tree_forget(tree);
}

void contact_tree_forget(contact_tree *tree) {
  tree->n_nodes = tree->modes.n_modes = 0;
}

KERNEL float *lanes_of(const contact_tree_node *node) {
  return (float *)((char *)node + HEAD_SIZE);
}

int contact_tree_add_node(contact_tree *tree, int row) {
  size_t count = (size_t)tree->n_nodes + 1;
  char *nodes = memory_block_grow(&tree->node_block, tree->source, count,
                                  tree->node_size);
  if (nodes != NULL) tree->nodes = nodes;
  int *queue = memory_block_grow(&tree->queue_block, tree->source,
                                 3 * count + 1, sizeof *queue);
  if (queue != NULL) tree->queue = queue;
  if (nodes == NULL || queue == NULL) return CONTACT_TREE_UNKNOWN;
  contact_tree_node *node = contact_tree_at(tree, tree->n_nodes);
  memset(node, 0, tree->node_size);
  node->row = row;
  for (int k = 0; k < 3; k++) node->to[k] = CONTACT_TREE_UNKNOWN;
  return tree->n_nodes++;
}

int contact_tree_add_mode(contact_tree *tree, int64_t number) {
  uint32_t zero_rows;
  int count = contact_mode_work_out(
      tree->space, tree->contacts, tree->space->n_contacts, number, true,
      tree->scratch, tree->impulses, tree->conditions, &zero_rows);
  if (count == CONTACT_MODE_SPANS) return CONTACT_TREE_SPAN;
  if (count < 0) return CONTACT_TREE_NOTHING;
  size_t place = (size_t)tree->modes.n_modes;
  int64_t *numbers = memory_block_grow(&tree->number_block, tree->source,
                                       place + 1, sizeof *numbers);
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
typedef int32_t eight_bits
    __attribute__((vector_size(32), aligned(4), may_alias));

/* The bits of the lanes of a block that refute a step, together. Nodes are many and
 * what they answer cannot be guessed, so this has no branch. */
KERNEL int refuting(const contact_tree_node *node, const int terms[],
                    const float values[], int n_values) {
  const float *lanes = lanes_of(node);
  eight sum = {0};
  for (int k = 0; k < n_values; k++)
    sum += *(const eight *)(lanes + terms[k]) * values[k];
  eight_bits bits = (sum < 0) & *(const eight_bits *)node->bits;
  bits |= __builtin_shufflevector(bits, bits, 4, 5, 6, 7, 0, 1, 2, 3);
  bits |= __builtin_shufflevector(bits, bits, 2, 3, 0, 1, 6, 7, 4, 5);
  return bits[0] | bits[1];
}

enum { ALL_BRANCHES = 7 };

/* The branches that a node and what belongs to it refute. */
KERNEL int refuted(const contact_tree *tree, int node, const int terms[],
                   const float values[], int n_values) {
  int branches = 0;
  do {
    contact_tree_node *at = contact_tree_at(tree, node);
    int bits = refuting(at, terms, values, n_values);
    at->used |= bits >> 3;
    branches |= bits & ALL_BRANCHES;
    node = at->more;
  } while (node != 0 && branches != ALL_BRANCHES);
  return branches;
}

int contact_tree_refuted(const contact_tree *tree, int node) {
  return refuted(tree, node, tree->terms, tree->values, tree->n_values);
}

/* The rounding of numbers of 24 bits. */
static double rounding_of(const contact_tree *tree) {
  int n = tree->space->n_rows, n_inputs = inputs_of(tree->space);
  double sum = 0;
  for (int j = 0; j < n_inputs; j++)
    sum +=
        fabs(tree->exact[j]) * (j < n ? tree->space->scale : tree->usual_cap);
  return (n_inputs + 8) * 0x1p-23 * sum;
}

/* A block of a node, and a lane in it, that is empty; or of the last block the next
 * that has not refuted for a while. */
static contact_tree_node *lane_to_give(contact_tree *tree, int node,
                                       int *lane) {
  contact_tree_node *at = contact_tree_at(tree, node);
  for (int blocks = 1;; blocks++) {
    for (*lane = 0; *lane < CONTACT_TREE_LANES; ++*lane)
      if (at->bits[*lane] == 0) return at;
    if (at->more == 0 && blocks == CONTACT_TREE_BLOCKS) break;
    if (at->more == 0) {
      size_t from = (size_t)((char *)at - tree->nodes);
      int more = contact_tree_add_node(tree, -1);
      at = (contact_tree_node *)(tree->nodes + from);
      if (more == CONTACT_TREE_UNKNOWN) break;
      at->more = more;
    }
    at = contact_tree_at(tree, at->more);
  }
  do {
    *lane = at->next;
    at->next = (*lane + 1) % CONTACT_TREE_LANES;
    at->used ^= 1 << *lane;
  } while ((at->used >> *lane & 1) == 0);
  return at;
}

bool contact_tree_add_reason(contact_tree *tree, int node, int branch,
                             double slack) {
  int n_inputs = inputs_of(tree->space), lane;
  contact_tree_node *at = lane_to_give(tree, node, &lane);
  float *to = lanes_of(at) + lane;
  for (int j = 0; j < n_inputs; j++, to += CONTACT_TREE_LANES)
    *to = (float)tree->exact[j];
  *to = (float)(1.001 * (slack + rounding_of(tree)));
  at->bits[lane] = 1 << branch | 1 << (3 + lane);
  int bits = refuting(at, tree->terms, tree->values, tree->n_values);
  bool refutes = (bits >> (3 + lane) & 1) != 0;
  if (!refutes) at->bits[lane] = 0;
  at->used |= bits >> 3;
  return refutes;
}

static void add_value(contact_tree *tree, int term, float value) {
  tree->terms[tree->n_values] = term * CONTACT_TREE_LANES;
  tree->values[tree->n_values++] = value;
}

void contact_tree_ask(contact_tree *tree, const double y[]) {
  const contact_space *space = tree->space;
  int n = space->n_rows, n_inputs = inputs_of(space);
  double times = 1;
  tree->n_values = 0;
  for (int j = 0; j < n_inputs; j++) {
    double usual = j < n ? space->scale : tree->usual_cap;
    times = larger(times, fabs(y[j]) / usual);
    tree->y[j] = y[j];
    if (y[j] != 0) add_value(tree, j, (float)y[j]);
  }
  add_value(tree, n_inputs, (float)(1.001 * times));
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

/* The modes that hold; -1: a branch is unknown. Nodes are asked in the order in which
 * they are come to, so that the next ones are known while one answers. */
KERNEL int find(contact_tree *tree, int found[], bool *spans) {
  int *queue = tree->queue, head = 0, tail = 0, n_found = 0;
  int n_values = tree->n_values;
  const int *terms = tree->terms;
  const float *values = tree->values;
  double tolerance = IMPACT_FEASIBILITY * tree->space->scale;
  *spans = tree->overflowed = false;
  if (tree->n_nodes == 0) return -1;
  queue[tail++] = 0;
  while (head < tail) {
    int at = queue[head++];
    if (at >= 0) {
      const contact_tree_node *node = contact_tree_at(tree, at);
      int closed = refuted(tree, at, terms, values, n_values);
      for (int k = 0; k < 3; k++) {
        queue[tail] = node->to[k];
        tail += ~closed >> k & 1;
      }
    } else if (at == CONTACT_TREE_UNKNOWN) {
      return -1;
    } else if (at == CONTACT_TREE_SPAN) {
      *spans = true;
    } else if (at <= CONTACT_TREE_MODE &&
               contact_modes_hold(&tree->modes, CONTACT_TREE_MODE - at, tree->y,
                                  tolerance)) {
      tree->overflowed |= n_found == MOST_FOUND;
      n_found = insert(tree, found, n_found, CONTACT_TREE_MODE - at);
    }
  }
  return n_found;
}

WIDE static int find_wide(contact_tree *tree, int found[], bool *spans) {
  return find(tree, found, spans);
}

int contact_tree_solve(contact_tree *tree, const double y[], int most,
                       double lambdas[], double reached[], bool *spans) {
  const contact_space *space = tree->space;
  contact_tree_ask(tree, y);
  int found[MOST_FOUND + 1];
  int n_found =
      six_is_wide() ? find_wide(tree, found, spans) : find(tree, found, spans);
  if (n_found < 0) return -1;
  return contact_modes_apply(&tree->modes, space, found, n_found, y, most,
                             lambdas, reached);
}
