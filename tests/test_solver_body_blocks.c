/* Factorisation of 6 x 6 blocks: solutions against the matrix itself on every
 * shape of body graph, the order's promises, refusals and failing memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "failing_memory.h"
#include "common/six.h"
#include "solver/body_blocks.h"
#include "testing.h"

/* ---- a matrix and its blocks --------------------------------------------- */

typedef struct matrix {
  int n, n_pairs;
  bool symmetric;
  body_pair *pairs;
  double (*diagonal)[BODY_BLOCK], (*ab)[BODY_BLOCK], (*ba)[BODY_BLOCK];
} matrix;

static matrix matrix_create(int n, const body_pair pairs[], int n_pairs) {
  matrix m = {.n = n, .n_pairs = n_pairs};
  size_t count = (size_t)n_pairs + 1;
  m.pairs = calloc(count, sizeof *m.pairs);
  if (n_pairs > 0) memcpy(m.pairs, pairs, sizeof *pairs * (size_t)n_pairs);
  m.diagonal = calloc((size_t)n + 1, sizeof *m.diagonal);
  m.ab = calloc(count, sizeof *m.ab);
  m.ba = calloc(count, sizeof *m.ba);
  return m;
}

static void matrix_destroy(matrix *m) {
  free(m->pairs);
  free(m->diagonal);
  free(m->ab);
  free(m->ba);
}

/* Random blocks under a diagonal that dominates them. */
static void matrix_fill(matrix *m, bool symmetric, uint64_t seed) {
  test_random random = {seed};
  m->symmetric = symmetric;
  for (int e = 0; e < m->n_pairs; e++)
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) {
        double x = test_uniform(&random, -1, 1);
        m->ab[e][6 * i + j] = x;
        m->ba[e][6 * j + i] = symmetric ? x : test_uniform(&random, -1, 1);
      }
  for (int b = 0; b < m->n; b++)
    for (int i = 0; i < 6; i++) {
      for (int j = 0; j < i; j++) {
        double x = test_uniform(&random, -1, 1);
        m->diagonal[b][6 * i + j] = x;
        m->diagonal[b][6 * j + i] =
            symmetric ? x : test_uniform(&random, -1, 1);
      }
      m->diagonal[b][7 * i] = 8;
    }
  for (int e = 0; e < m->n_pairs; e++)
    for (int i = 0; i < 6; i++) {
      m->diagonal[m->pairs[e].a][7 * i] += 6;
      m->diagonal[m->pairs[e].b][7 * i] += 6;
    }
}

static void add_times(double y[6], const double A[BODY_BLOCK],
                      const double x[6]) {
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) y[i] += A[6 * i + j] * x[j];
}

static void matrix_times(const matrix *m, const double x[], double y[]) {
  memset(y, 0, sizeof *y * 6 * (size_t)m->n);
  for (int b = 0; b < m->n; b++)
    add_times(y + 6 * b, m->diagonal[b], x + 6 * b);
  for (int e = 0; e < m->n_pairs; e++) {
    int a = m->pairs[e].a, b = m->pairs[e].b;
    add_times(y + 6 * a, m->ab[e], x + 6 * b);
    add_times(y + 6 * b, m->ba[e], x + 6 * a);
  }
}

static bool factor_if_new(const matrix *m, body_blocks *blocks, bool *anew) {
  body_blocks_begin(blocks, m->symmetric);
  for (int b = 0; b < m->n; b++)
    memcpy(body_blocks_diagonal(blocks, b), m->diagonal[b],
           sizeof m->diagonal[b]);
  for (int e = 0; e < m->n_pairs; e++) {
    double *upper, *lower;
    bool a_first = body_blocks_pair(blocks, e, m->pairs[e].a, m->pairs[e].b,
                                    &upper, &lower);
    const double *back = a_first ? m->ba[e] : m->ab[e];
    memcpy(upper, a_first ? m->ab[e] : m->ba[e], sizeof m->ab[e]);
    for (int i = 0; i < BODY_BLOCK && lower != NULL; i++)
      lower[i] = back[6 * (i % 6) + i / 6];
  }
  return body_blocks_factor(blocks, anew);
}

static bool matrix_factor(const matrix *m, body_blocks *blocks) {
  bool anew;
  return factor_if_new(m, blocks, &anew);
}

/* Largest error of a solution that is known beforehand. */
static double solve_error(const matrix *m, body_blocks *blocks) {
  size_t n = 6 * (size_t)m->n;
  double *x = calloc(n + 1, sizeof *x), *y = calloc(n + 1, sizeof *y);
  test_random random = {99};
  for (size_t i = 0; i < n; i++) x[i] = test_uniform(&random, -1, 1);
  matrix_times(m, x, y);
  body_blocks_solve(blocks, y);
  double worst = 0;
  for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs(x[i] - y[i]));
  free(x);
  free(y);
  return worst;
}

/* ---- body graphs --------------------------------------------------------- */

enum { MOST_PAIRS = 2000 };

typedef struct graph {
  const char *name;
  int n, n_pairs;
  body_pair pairs[MOST_PAIRS];
} graph;

static void connect(graph *g, int a, int b) {
  g->pairs[g->n_pairs++] = (body_pair){a, b};
}

static void make_graph(graph *g, int kind) {
  static const char *const names[] = {"one body", "loose bodies", "chain",
                                      "star",     "ring",         "grid",
                                      "complete", "random"};
  test_random random = {5};
  *g = (graph){.name = names[kind]};
  switch (kind) {
    case 0: g->n = 1; break;
    case 1: g->n = 7; break;
    case 2:
      g->n = 40;
      for (int i = 0; i + 1 < g->n; i++) connect(g, i + 1, i);
      break;
    case 3:
      g->n = 40;
      for (int i = 1; i < g->n; i++) connect(g, 0, i);
      break;
    case 4:
      g->n = 41;
      for (int i = 0; i < g->n; i++) connect(g, i, (i + 1) % g->n);
      break;
    case 5:
      g->n = 144;
      for (int i = 0; i < g->n; i++) {
        if (i % 12 < 11) connect(g, i, i + 1);
        if (i / 12 < 11) connect(g, i + 12, i);
      }
      break;
    case 6:
      g->n = 12;
      for (int i = 0; i < g->n; i++)
        for (int j = 0; j < i; j++) connect(g, i, j);
      break;
    default:
      g->n = 60;
      for (int i = 0; i < g->n; i++)
        for (int j = 0; j < i; j++)
          if (test_uniform(&random, 0, 1) < 0.06) connect(g, j, i);
      break;
  }
}

enum { N_GRAPHS = 8 };

static void test_solves_every_graph(void) {
  static graph g;
  body_blocks blocks;
  body_blocks_init(&blocks, &memory_from_malloc);
  for (int kind = 0; kind < N_GRAPHS; kind++) {
    make_graph(&g, kind);
    CU_ASSERT_FATAL(body_blocks_order(&blocks, g.n, g.pairs, g.n_pairs));
    matrix m = matrix_create(g.n, g.pairs, g.n_pairs);
    for (int symmetric = 0; symmetric < 2; symmetric++) {
      matrix_fill(&m, symmetric, 17 + (uint64_t)kind);
      CU_ASSERT(matrix_factor(&m, &blocks));
      double error = solve_error(&m, &blocks);
      if (!(error < 1e-12)) printf("  %s: error %g\n", g.name, error);
      CU_ASSERT(error < 1e-12);
    }

    // the check must notice another matrix
    m.diagonal[0][0] += 0.1;
    CU_ASSERT(solve_error(&m, &blocks) > 1e-6);
    matrix_destroy(&m);
  }
  body_blocks_release(&blocks);
}

/* Rows k and k + 1 of one body change places, k = 0, 2, 4. */
static void swap_pairs_of_rows(double A[BODY_BLOCK]) {
  double other[BODY_BLOCK];
  for (int i = 0; i < BODY_BLOCK; i++) other[i] = A[6 * (i / 6 ^ 1) + i % 6];
  memcpy(A, other, sizeof other);
}

/* The same matrix with rows of some bodies in another order, so that their
 * diagonals are small: with and without wide registers, the same bits. Before, the
 * determinant is positive; each pair of rows changes its sign. */
static void test_exchanges_rows(void) {
  static graph g;
  body_blocks blocks;
  body_blocks_init(&blocks, &memory_from_malloc);
  for (int kind = 0; kind < N_GRAPHS; kind++) {
    make_graph(&g, kind);
    body_blocks_order(&blocks, g.n, g.pairs, g.n_pairs);
    matrix m = matrix_create(g.n, g.pairs, g.n_pairs);
    matrix_fill(&m, false, 31 + (uint64_t)kind);
    for (int b = 0; b < g.n; b += 3) {
      swap_pairs_of_rows(m.diagonal[b]);
      for (int e = 0; e < g.n_pairs; e++) {
        if (g.pairs[e].a == b) swap_pairs_of_rows(m.ab[e]);
        if (g.pairs[e].b == b) swap_pairs_of_rows(m.ba[e]);
      }
    }
    double errors[2];
    int n_swapped = (g.n + 2) / 3, sign = n_swapped % 2 == 0 ? 1 : -1;
    for (int narrow = 0; narrow < 2; narrow++) {
      six_forbid_wide = narrow;
      CU_ASSERT(matrix_factor(&m, &blocks));
      CU_ASSERT_EQUAL(body_blocks_sign(&blocks), sign);
      errors[narrow] = solve_error(&m, &blocks);
      six_forbid_wide = false;
    }
    CU_ASSERT(errors[0] < 1e-12);
    CU_ASSERT_EQUAL(errors[0], errors[1]);
    for (int b = 0; b < g.n; b += 3)
      CU_ASSERT(blocks.exchanged[blocks.place[b]]);
    matrix_destroy(&m);
  }
  body_blocks_release(&blocks);
}

/* Trees fill nothing in; a grid far less than its natural order would. */
static void test_order_keeps_fill_low(void) {
  static graph g;
  static const int most[N_GRAPHS] = {0, 0, 39, 39, 79, 1000, 66, 1770};
  body_blocks blocks;
  body_blocks_init(&blocks, &memory_from_malloc);
  for (int kind = 0; kind < N_GRAPHS; kind++) {
    make_graph(&g, kind);
    CU_ASSERT_FATAL(body_blocks_order(&blocks, g.n, g.pairs, g.n_pairs));
    CU_ASSERT(blocks.start[g.n] >= g.n_pairs);
    CU_ASSERT(blocks.start[g.n] <= most[kind]);
    for (int k = 0; k < g.n; k++)
      CU_ASSERT_EQUAL(blocks.place[blocks.order[k]], k);
  }
  body_blocks_release(&blocks);
}

/* A chain makes no fill; where every body meets every other, all is full. */
static void test_work_is_counted(void) {
  enum { N = 12 };
  body_pair chain[N - 1], all[N * (N - 1) / 2];
  int n_all = 0;
  for (int a = 0; a < N; a++) {
    if (a > 0) chain[a - 1] = (body_pair){a - 1, a};
    for (int b = 0; b < a; b++) all[n_all++] = (body_pair){b, a};
  }
  body_blocks blocks;
  body_blocks_init(&blocks, &memory_from_malloc);
  CU_ASSERT(body_blocks_order(&blocks, N, chain, N - 1));
  CU_ASSERT_EQUAL(body_blocks_fill(&blocks), 2 * N - 1);
  CU_ASSERT_EQUAL(body_blocks_products(&blocks), 3 * (N - 1) + 1);
  CU_ASSERT(body_blocks_order(&blocks, N, all, n_all));
  CU_ASSERT_EQUAL(body_blocks_fill(&blocks), N * (N + 1) / 2);
  CU_ASSERT_EQUAL(body_blocks_products(&blocks), N * (N + 1) * (N + 2) / 6);
  body_blocks_release(&blocks);
}

/* ---- refusals ------------------------------------------------------------ */

/* A matrix of a graph, for blocks that are laid out for it. */
static matrix lay_out(graph *g, int kind, body_blocks *blocks) {
  body_blocks_init(blocks, &memory_from_malloc);
  make_graph(g, kind);
  body_blocks_order(blocks, g->n, g->pairs, g->n_pairs);
  return matrix_create(g->n, g->pairs, g->n_pairs);
}

static void test_singular_matrices_are_refused(void) {
  static graph g;
  body_blocks blocks;
  matrix m = lay_out(&g, 2, &blocks);
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    matrix_fill(&m, symmetric, 3);
    memset(m.diagonal[5], 0, sizeof m.diagonal[5]);
    memset(m.ab, 0, sizeof *m.ab * (size_t)m.n_pairs);
    memset(m.ba, 0, sizeof *m.ba * (size_t)m.n_pairs);
    CU_ASSERT(!matrix_factor(&m, &blocks));
    m.diagonal[5][0] = NAN;
    CU_ASSERT(!matrix_factor(&m, &blocks));
  }

  // not positive definite: only of interest when symmetric
  matrix_fill(&m, true, 3);
  m.diagonal[0][7] = -50;
  CU_ASSERT(!matrix_factor(&m, &blocks));
  m.symmetric = false;
  CU_ASSERT(matrix_factor(&m, &blocks));
  CU_ASSERT(solve_error(&m, &blocks) < 1e-11);
  matrix_destroy(&m);
  body_blocks_release(&blocks);
}

/* Where any number differs, or symmetry, it is another matrix. */
static void test_a_matrix_is_factored_once(void) {
  static graph g;
  body_blocks blocks;
  bool anew;
  matrix m = lay_out(&g, 5, &blocks);
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    matrix_fill(&m, symmetric, 3);
    double *const numbers[] = {m.diagonal[2], m.ab[1], m.ba[1]};
    for (int k = 0; k < 4; k++) {
      CU_ASSERT(factor_if_new(&m, &blocks, &anew) && anew);
      CU_ASSERT(factor_if_new(&m, &blocks, &anew) && !anew);
      CU_ASSERT(solve_error(&m, &blocks) < 1e-11);
      if (k == 3) break;
      numbers[k][0] += 1e-12;
      if (symmetric && k > 0) m.ba[1][0] = m.ab[1][0] += 1e-12;
    }
  }
  m.symmetric = false; // the values are the same
  CU_ASSERT(factor_if_new(&m, &blocks, &anew) && anew);
  m.diagonal[0][0] = NAN;
  CU_ASSERT(!factor_if_new(&m, &blocks, &anew));
  CU_ASSERT(!factor_if_new(&m, &blocks, &anew) && anew);
  matrix_destroy(&m);
  body_blocks_release(&blocks);
}

static void test_every_allocation_may_fail(void) {
  static graph g;
  make_graph(&g, 6);
  bool done = false;
  int n_failures = 0;
  for (int k = 0; !done && k < 100; k++) {
    failing_memory memory = {0};
    memory_source source = failing_memory_source(&memory);
    fail_allocations_from(&memory, k);
    body_blocks blocks;
    body_blocks_init(&blocks, &source);
    done = body_blocks_order(&blocks, g.n, g.pairs, g.n_pairs);
    if (!done) {
      n_failures++;
      CU_ASSERT_EQUAL(memory.bytes_held, 0);
    }
    body_blocks_release(&blocks);
    CU_ASSERT_EQUAL(memory.bytes_held, 0);
  }
  CU_ASSERT(done);
  CU_ASSERT(n_failures >= 5);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"solves every graph", test_solves_every_graph},
      {"exchanges rows", test_exchanges_rows},
      {"order keeps fill low", test_order_keeps_fill_low},
      {"work is counted", test_work_is_counted},
      {"singular matrices are refused", test_singular_matrices_are_refused},
      {"a matrix is factored once", test_a_matrix_is_factored_once},
      {"every allocation may fail", test_every_allocation_may_fail},
      {NULL, NULL},
  };
  return run_tests("solver: 6 x 6 blocks", tests);
}
