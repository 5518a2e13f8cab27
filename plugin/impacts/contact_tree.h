/* Results of searches, kept for the steps after them.
 *
 * A search decides one thing after the other about contacts; those decisions are
 * a tree that is the same for every step of an island. Where it turned back, a
 * linear function of the step's inputs y = (c, caps) said why, and it says so of
 * every other y where it is negative, too: a *refutation*, kept at the branch. Where
 * all is decided is a contact mode (contact_modes.h), of which the impulses and
 * the conditions are linear functions of y. So a step goes down all branches
 * that nothing known refutes and looks at the conditions of the modes it comes
 * to; where nobody has been yet the search goes first (contact_search_grow).
 *
 * No refutation holds where a mode's conditions do, so that what a tree has met
 * before changes no result: these are the modes that hold, in the order of their
 * numbers. Modes whose system is singular are left out, as in the table of modes.
 */
#ifndef ODE_MLCP_IMPACTS_CONTACT_TREE_H
#define ODE_MLCP_IMPACTS_CONTACT_TREE_H

#include "common/arena.h"
#include "impacts/contact_modes.h"

/* Where a branch leads: a node's number; or one of these; or a mode, by its place
 * in the table, as CONTACT_TREE_MODE - place. */
enum {
  CONTACT_TREE_UNKNOWN = -1,
  CONTACT_TREE_NOTHING = -2, /* a mode with a singular system */
  CONTACT_TREE_SPAN = -3,    /* one that may be a continuum */
  CONTACT_TREE_MODE = -4
};

/* Refutations that stand side by side, so that a step asks all of them at once; and
 * how many such blocks a node may have. */
enum { CONTACT_TREE_LANES = 8, CONTACT_TREE_BLOCKS = 8 };

/* A tree with so many modes or nodes begins anew. */
enum { CONTACT_TREE_MOST_MODES = 8192, CONTACT_TREE_MOST_NODES = 16384 };

/* A decision about a row of contact space, three ways; or more refutations of one. */
typedef struct contact_tree_node {
  int row;
  int to[3];
  int more; /* where the next refutations are; 0: no more */
  int next; /* the lane that goes next, */
  int used; /* but for those that refuted since: bits */
  /* bit k: the lane refutes branch k; bit 3 + lane: its own; 0 while it is empty */
  int32_t bits[CONTACT_TREE_LANES];
  /* followed by n_terms x CONTACT_TREE_LANES numbers, f.y < 0 */
} contact_tree_node;

typedef struct contact_tree {
  const contact_space *space;
  const memory_source *source;
  contact_modes modes; /* those met so far */
  int64_t *numbers;    /* [modes.n_modes] */
  int n_nodes;
  char *nodes;      /* n_nodes of node_size bytes; the first is the root */
  size_t node_size; /* of whole cache lines */
  int *queue;       /* [3 n_nodes + 1] */
  int n_terms;      /* n_inputs + 1 */
  double *exact;    /* [n_inputs] a refutation while it is worked out */
  double *y;        /* [n_inputs] a step's inputs */
  /* they, rounded, and at least 1: how many times as large as speeds and caps are
     taken to be. Many are 0, of contacts at rest, and are left out: */
  int n_values;
  int *terms;    /* [n_values] where in a node the value's factors are */
  float *values; /* [n_values] */
  double usual_cap;
  bool no_memory; /* ended its growth */
  bool
      overflowed; /* more modes held than there is room for: of solutions some may lack */
  double *scratch, *impulses, *conditions; /* of a mode that is worked out */
  int *contacts;
  arena arena;
  memory_block node_block, queue_block, number_block;
} contact_tree;

/** May an island have a tree? Its modes have numbers, and neither friction nor masses
 *  are of many decades. */
bool contact_tree_suits(const contact_space *space);

/** Sets the inputs of the step that a tree is to grow by. */
void contact_tree_ask(contact_tree *tree, const double y[]);

/** Rows that repeat others: pivots that Cholesky's method, the largest first, finds to
 *  be 0.
 *  @param scratch  [n_rows (n_rows + 1)] */
int contact_tree_repeated(const contact_space *space, double scratch[]);

/** False: no memory. Begins as zeros; `usual_cap` (N s) changes no result. */
bool contact_tree_open(contact_tree *tree, const contact_space *space,
                       double usual_cap, const memory_source *source);
void contact_tree_close(contact_tree *tree);

/**
 * The solutions of a step, as contact_modes_solve.
 *
 * @param spans  out: it comes to a mode that may be a continuum
 * @return -1 where it comes to a branch that nobody has been at
 */
int contact_tree_solve(contact_tree *tree, const double y[], int most,
                       double lambdas[], double reached[], bool *spans);

/* ---- growing ----------------------------------------------------------- */

static inline contact_tree_node *contact_tree_at(const contact_tree *tree,
                                                 int node) {
  return (contact_tree_node *)(tree->nodes + (size_t)node * tree->node_size);
}

/** Which branches of a node are refuted for the step that was asked for last: a bit
 *  each. */
int contact_tree_refuted(const contact_tree *tree, int node);

/** Forget all where the tree has become too large. */
void contact_tree_trim(contact_tree *tree);
void contact_tree_forget(contact_tree *tree);

/** A new node that decides `row`; its number, or CONTACT_TREE_UNKNOWN: no
 *  memory. */
int contact_tree_add_node(contact_tree *tree, int row);

/** What a branch to the mode of that number is to lead to, or
 *  CONTACT_TREE_UNKNOWN: no memory. */
int contact_tree_add_mode(contact_tree *tree, int64_t number);

/**
 * Keep the refutation in tree->exact at a branch: where a mode beyond holds,
 * f.y >= -slack.
 *
 * @param slack  m/s
 * @return false where it does not refute the step that was asked for last: it is
 *         not kept
 */
bool contact_tree_add_reason(contact_tree *tree, int node, int branch,
                             double slack);

#endif
