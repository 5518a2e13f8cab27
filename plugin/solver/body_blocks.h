/* Factorisation of a sparse matrix of 6 x 6 blocks, one block row a body.
 *
 *   H = blocks (a, a) for every body, (a, b) and (b, a) for every pair
 *
 * The pattern is symmetric, the values need not be. Rows are eliminated in
 * the order of AMD (SuiteSparse) on the body graph, so that cost follows the contact
 * graph: L and U have as many blocks as that order fills in. There is no
 * pivoting between bodies; the matrices met here, a mass matrix plus a
 * (nearly) monotone contact term, do not need it.
 */
#ifndef ODE_MLCP_SOLVER_BODY_BLOCKS_H
#define ODE_MLCP_SOLVER_BODY_BLOCKS_H

#include <stdbool.h>

#include "common/arena.h"

typedef struct body_pair {
  int a, b; /* two different bodies; a pair occurs once */
} body_pair;

enum { BODY_BLOCK = 36 }; /* numbers in a block, row-major */

typedef struct body_blocks {
  int n, n_pairs;

  int *order;     /* [n] order[k]: the body eliminated k-th */
  int *place;     /* [n] place[order[k]] = k */
  int *start;     /* [n + 1] columns of L, without the diagonal */
  int *row;       /* [start[n]] places below, ascending in a column */
  int *pair_slot; /* [n_pairs] position of the pair's block in L and U */
  int *no_pair;   /* [n_no_pair] positions that belong to no pair */
  int n_no_pair;

  double *diagonal; /* [n] blocks; their triangular factors once factored */
  double *upper;    /* [start[n]] (column, row) blocks, after the diagonal */
  double *
      lower; /* [start[n]] (row, column) blocks, each transposed, after these */
  double *values,
      *last;       /* the same as they are set, and as they were factored */
  bool known;      /* `last` has factors */
  int *pivot;      /* [6 n] row exchanges within diagonal blocks, */
  bool *exchanged; /* [n] of bodies where this is set */
  double *vector;  /* [6 n] right-hand side in order of elimination */
  bool symmetric;

  body_pair *known_pairs; /* [n_pairs] of the present order */
  bool ordered;
  arena arena; /* all of the above */
} body_blocks;

/** An empty matrix; `source` must outlive it. */
void body_blocks_init(body_blocks *blocks, const memory_source *source);

/** Give all memory back: an empty matrix again. */
void body_blocks_release(body_blocks *blocks);

/**
 * Order the bodies and lay out L and U for a body graph. Work is saved, not
 * results changed, when the graph is the last one.
 *
 * @return false when memory runs out; the matrix is then empty.
 */
bool body_blocks_order(body_blocks *blocks, int n, const body_pair pairs[],
                       int n_pairs);

/** Make ready for new values: every body's diagonal block and every pair's
 *  blocks have to be set. `symmetric` promises symmetric values. */
void body_blocks_begin(body_blocks *blocks, bool symmetric);

/** The diagonal block of a body, to be filled in. */
double *body_blocks_diagonal(body_blocks *blocks, int body);

/**
 * Where a pair's two blocks are to be put: the (first, second) block into
 * `upper`, the transpose of the (second, first) block into `lower`, which is
 * NULL where the matrix is symmetric.
 *
 * @return whether a is the first of the two to be eliminated.
 */
bool body_blocks_pair(const body_blocks *blocks, int pair, int a, int b,
                      double **upper, double **lower);

/** Blocks of L, and their products that a factorisation takes off the rest;
 *  diagonal blocks count as well. */
double body_blocks_fill(const body_blocks *blocks);
double body_blocks_products(const body_blocks *blocks);

/** The factors of values that are set as they were at the last call are there.
 *  @param anew  out: whether it was any work
 *  @return false when a diagonal block turns out singular, not finite or
 *  (symmetric) not positive definite. */
bool body_blocks_factor(body_blocks *blocks, bool *anew);

/** 1 or -1: the sign of the determinant of what was factored. */
int body_blocks_sign(const body_blocks *blocks);

/** x [6 n], by body: the right-hand side in, the solution out. */
void body_blocks_solve(const body_blocks *blocks, double x[]);

#endif
