#include "solver/body_blocks.h"

#include <math.h>
#include <string.h>

#include "common/six.h"
#include "solver/body_blocks_order.h"

static const body_blocks empty = {0};

void body_blocks_init(body_blocks *blocks) { *blocks = empty; }

void body_blocks_release(body_blocks *blocks, const memory_source *source) {
  memory_block_release(&blocks->pattern, source);
  memory_block_release(&blocks->fill, source);
  memory_block_release(&blocks->values, source);
  memory_block_release(&blocks->edges, source);
  *blocks = empty;
}

/* ---- order and layout --------------------------------------------------- */

static bool same_graph(const body_blocks *blocks, int n,
                       const body_edge edges[], int n_edges) {
  return blocks->ordered && blocks->n == n && blocks->n_edges == n_edges
      && (n_edges == 0
          || memcmp(blocks->known_edges, edges,
                    sizeof *edges * (size_t)n_edges)
                 == 0);
}

static void sort_ascending(int values[], int count) {
  for (int i = 1; i < count; i++) {
    int value = values[i], j = i;
    for (; j > 0 && values[j - 1] > value; j--) values[j] = values[j - 1];
    values[j] = value;
  }
}

static int slot_of(const body_blocks *blocks, int a, int b) {
  int column = blocks->place[a], row = blocks->place[b];
  if (column > row) {
    int other = column;
    column = row;
    row = other;
  }
  int low = blocks->start[column], high = blocks->start[column + 1] - 1;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (blocks->row[middle] < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Positions that no edge sets, by ticking off those that one does. */
static void list_fill(body_blocks *blocks, int n_fill) {
  int *ticked = blocks->no_edge, n = 0;
  for (int s = 0; s < n_fill; s++) ticked[s] = 0;
  for (int e = 0; e < blocks->n_edges; e++) ticked[blocks->edge_slot[e]] = 1;
  for (int s = 0; s < n_fill; s++)
    if (!ticked[s]) blocks->no_edge[n++] = s; // n <= s: behind the reading
  blocks->n_no_edge = n;
}

/* Columns of L from the members that the order left with each body. */
static bool lay_out(body_blocks *blocks, const memory_source *source,
                    const body_fill *fill, const body_edge edges[]) {
  int n = blocks->n;
  for (int k = 0; k < n; k++) blocks->place[blocks->order[k]] = k;

  blocks->row =
      memory_block_reserve(&blocks->fill, source, (size_t)fill->n_members,
                           2 * sizeof(int));
  if (blocks->row == NULL) return false;
  blocks->no_edge = blocks->row + fill->n_members;
  int n_fill = 0;
  for (int k = 0; k < n; k++) {
    int body = blocks->order[k];
    blocks->start[k] = n_fill;
    for (int m = fill->start[body]; m < fill->end[body]; m++)
      blocks->row[n_fill++] = blocks->place[fill->member[m]];
    sort_ascending(blocks->row + blocks->start[k], n_fill - blocks->start[k]);
  }
  blocks->start[n] = n_fill;

  for (int e = 0; e < blocks->n_edges; e++)
    blocks->edge_slot[e] = slot_of(blocks, edges[e].a, edges[e].b);
  list_fill(blocks, n_fill);
  return true;
}

static bool reserve_values(body_blocks *blocks, const memory_source *source) {
  size_t n = (size_t)blocks->n, n_fill = (size_t)blocks->start[blocks->n];
  size_t count = BODY_BLOCK * (n + 2 * n_fill) + 6 * n + 3 * n;
  double *values =
      memory_block_reserve(&blocks->values, source, count, sizeof *values);
  if (values == NULL) return false;
  blocks->diagonal = values;
  blocks->lower = blocks->diagonal + BODY_BLOCK * n;
  blocks->upper = blocks->lower + BODY_BLOCK * n_fill;
  blocks->vector = blocks->upper + BODY_BLOCK * n_fill;
  blocks->pivot = (int *)(blocks->vector + 6 * n);
  return true;
}

static bool order_and_lay_out(body_blocks *blocks, const memory_source *source,
                              const body_edge edges[], body_fill *fill,
                              memory_block *work_block) {
  int n = blocks->n;
  size_t n_work = body_order_work(n, blocks->n_edges) + 2 * (size_t)n;
  int *work = memory_block_reserve(work_block, source, n_work, sizeof *work);
  if (work == NULL) return false;
  fill->start = work + body_order_work(n, blocks->n_edges);
  fill->end = fill->start + n;
  return body_fill_grow(fill, source, 4 * (size_t)blocks->n_edges + 16)
      && body_order(n, edges, blocks->n_edges, source, work, fill,
                    blocks->order)
      && lay_out(blocks, source, fill, edges);
}

bool body_blocks_order(body_blocks *blocks, const memory_source *source, int n,
                       const body_edge edges[], int n_edges) {
  if (same_graph(blocks, n, edges, n_edges)) return true;

  size_t n_pattern = 3 * (size_t)n + 1 + (size_t)n_edges;
  int *pattern = memory_block_reserve(&blocks->pattern, source, n_pattern,
                                      sizeof *pattern);
  body_edge *known = memory_block_reserve(&blocks->edges, source,
                                          (size_t)n_edges, sizeof *known);
  blocks->ordered = false;
  if (pattern == NULL || known == NULL) {
    body_blocks_release(blocks, source);
    return false;
  }
  blocks->n = n;
  blocks->n_edges = n_edges;
  blocks->order = pattern;
  blocks->place = pattern + n;
  blocks->start = pattern + 2 * n;
  blocks->edge_slot = pattern + 3 * n + 1;
  blocks->known_edges = known;
  if (n_edges > 0) memcpy(known, edges, sizeof *known * (size_t)n_edges);

  body_fill fill = {0};
  memory_block work = {NULL, 0};
  bool done = order_and_lay_out(blocks, source, known, &fill, &work)
           && reserve_values(blocks, source);
  memory_block_release(&fill.member_block, source);
  memory_block_release(&fill.owner_block, source);
  memory_block_release(&fill.next_block, source);
  memory_block_release(&work, source);

  blocks->ordered = done;
  if (!done) body_blocks_release(blocks, source);
  return done;
}

/* ---- values ------------------------------------------------------------- */

void body_blocks_begin(body_blocks *blocks, bool symmetric) {
  for (int k = 0; k < blocks->n_no_edge; k++) {
    size_t at = BODY_BLOCK * (size_t)blocks->no_edge[k];
    memset(blocks->lower + at, 0, sizeof(double) * BODY_BLOCK);
    memset(blocks->upper + at, 0, sizeof(double) * BODY_BLOCK);
  }
  blocks->symmetric = symmetric;
}

double *body_blocks_diagonal(body_blocks *blocks, int body) {
  return blocks->diagonal + BODY_BLOCK * blocks->place[body];
}

void body_blocks_set_edge(body_blocks *blocks, int edge, int a, int b,
                          const double ab[BODY_BLOCK],
                          const double ba[BODY_BLOCK]) {
  bool a_below = blocks->place[a] > blocks->place[b];
  size_t at = BODY_BLOCK * (size_t)blocks->edge_slot[edge];
  memcpy(blocks->upper + at, a_below ? ba : ab, sizeof(double) * BODY_BLOCK);
  const double *from = a_below ? ab : ba;
  double *to = blocks->lower + at;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) to[6 * i + j] = from[6 * j + i];
}

/* ---- kernels ------------------------------------------------------------ */

/* C -= A' B */
KERNEL void subtract_product(double C[BODY_BLOCK],
                             const double A[BODY_BLOCK],
                             const double B[BODY_BLOCK]) {
  for (int i = 0; i < 6; i++) {
    four c4 = *(four *)(C + 6 * i);
    two c2 = *(two *)(C + 6 * i + 4);
    for (int k = 0; k < 6; k++) {
      double a = A[6 * k + i];
      c4 -= a * *(const four *)(B + 6 * k);
      c2 -= a * *(const two *)(B + 6 * k + 4);
    }
    *(four *)(C + 6 * i) = c4;
    *(two *)(C + 6 * i + 4) = c2;
  }
}

/* x -= factor y, six numbers */
KERNEL void subtract_row(double x[6], double factor,
                         const double y[6]) {
  *(four *)x -= factor * *(const four *)y;
  *(two *)(x + 4) -= factor * *(const two *)(y + 4);
}

KERNEL void scale_row(double x[6], double factor) {
  *(four *)x *= factor;
  *(two *)(x + 4) *= factor;
}

KERNEL void swap_rows(double *a, double *b) {
  for (int i = 0; i < 6; i++) {
    double held = a[i];
    a[i] = b[i];
    b[i] = held;
  }
}

/* D = P^-1 L U in place: unit L below the diagonal, U above it, and on it the
 * inverse of U's diagonal. */
KERNEL bool factor_diagonal(double D[BODY_BLOCK], int pivot[6],
                            bool symmetric) {
  for (int k = 0; k < 6; k++) {
    int best = k;
    if (!symmetric)
      for (int i = k + 1; i < 6; i++)
        if (fabs(D[6 * i + k]) > fabs(D[6 * best + k])) best = i;
    pivot[k] = best;
    if (best != k) swap_rows(D + 6 * best, D + 6 * k);

    double d = D[7 * k];
    if (!isfinite(d) || d == 0 || (symmetric && d < 0)) return false;
    double inverse = 1 / d;
    if (!isfinite(inverse)) return false;
    for (int i = k + 1; i < 6; i++) {
      double factor = D[6 * i + k] * inverse;
      D[6 * i + k] = factor;
      for (int j = k + 1; j < 6; j++) D[6 * i + j] -= factor * D[6 * k + j];
    }
    D[7 * k] = inverse;
  }
  return true;
}

/* B = L^-1 P B */
KERNEL void solve_left(const double D[BODY_BLOCK], const int pivot[6],
                       bool symmetric, double B[BODY_BLOCK]) {
  if (!symmetric)
    for (int k = 0; k < 6; k++)
      if (pivot[k] != k) swap_rows(B + 6 * pivot[k], B + 6 * k);
  for (int i = 1; i < 6; i++)
    for (int k = 0; k < i; k++)
      subtract_row(B + 6 * i, D[6 * i + k], B + 6 * k);
}

/* The transpose of B U^-1, from the transpose of B. */
KERNEL void solve_right(const double D[BODY_BLOCK], double B[BODY_BLOCK]) {
  for (int i = 0; i < 6; i++) {
    for (int k = 0; k < i; k++)
      subtract_row(B + 6 * i, D[6 * k + i], B + 6 * k);
    scale_row(B + 6 * i, D[7 * i]);
  }
}

/* Of a symmetric matrix: the transpose of L is D^-1 U */
KERNEL void lower_from_upper(const double D[BODY_BLOCK],
                             const double U[BODY_BLOCK],
                             double L[BODY_BLOCK]) {
  memcpy(L, U, sizeof(double) * BODY_BLOCK);
  for (int i = 0; i < 6; i++) scale_row(L + 6 * i, D[7 * i]);
}

/* ---- factor and solve --------------------------------------------------- */

KERNEL bool factor_column(body_blocks *blocks, int k) {
  double *D = blocks->diagonal + BODY_BLOCK * (size_t)k;
  int *pivot = blocks->pivot + 6 * k;
  bool symmetric = blocks->symmetric;
  if (!factor_diagonal(D, pivot, symmetric)) return false;

  for (int s = blocks->start[k]; s < blocks->start[k + 1]; s++) {
    double *L = blocks->lower + BODY_BLOCK * (size_t)s;
    double *U = blocks->upper + BODY_BLOCK * (size_t)s;
    solve_left(D, pivot, symmetric, U);
    if (symmetric)
      lower_from_upper(D, U, L);
    else
      solve_right(D, L);
  }
  return true;
}

/* What eliminating k takes off the rest: (i, j) -= L_ik U_kj, and in the
 * transposed lower part (j, i)' -= U_ki' L_jk'. */
KERNEL void update_rest(body_blocks *blocks, int k) {
  double *lower = blocks->lower, *upper = blocks->upper;
  for (int s = blocks->start[k]; s < blocks->start[k + 1]; s++) {
    const double *L_i = lower + BODY_BLOCK * (size_t)s;
    const double *U_i = upper + BODY_BLOCK * (size_t)s;
    int i = blocks->row[s], at = blocks->start[i];
    subtract_product(blocks->diagonal + BODY_BLOCK * (size_t)i, L_i, U_i);

    for (int t = s + 1; t < blocks->start[k + 1]; t++, at++) {
      while (blocks->row[at] != blocks->row[t]) at++;
      subtract_product(upper + BODY_BLOCK * (size_t)at, L_i,
                       upper + BODY_BLOCK * (size_t)t);
      if (!blocks->symmetric)
        subtract_product(lower + BODY_BLOCK * (size_t)at, U_i,
                         lower + BODY_BLOCK * (size_t)t);
    }
  }
}

KERNEL bool factor_all(body_blocks *blocks) {
  for (int k = 0; k < blocks->n; k++) {
    if (!factor_column(blocks, k)) return false;
    update_rest(blocks, k);
  }
  return true;
}

/* y -= A' x */
KERNEL void subtract_transposed(double y[6], const double A[BODY_BLOCK],
                                const double x[6]) {
  for (int k = 0; k < 6; k++) subtract_row(y, x[k], A + 6 * k);
}

/* y -= A x */
KERNEL void subtract_times(double y[6], const double A[BODY_BLOCK],
                           const double x[6]) {
  for (int i = 0; i < 6; i++) {
    const double *a = A + 6 * i;
    two sum = *(const two *)a * *(const two *)x
            + *(const two *)(a + 2) * *(const two *)(x + 2)
            + *(const two *)(a + 4) * *(const two *)(x + 4);
    y[i] -= sum[0] + sum[1];
  }
}

KERNEL void solve_forward(const body_blocks *blocks, int k, double y[]) {
  const double *D = blocks->diagonal + BODY_BLOCK * (size_t)k;
  double *y_k = y + 6 * k;
  if (!blocks->symmetric)
    for (int i = 0; i < 6; i++) {
      int other = blocks->pivot[6 * k + i];
      double held = y_k[i];
      y_k[i] = y_k[other];
      y_k[other] = held;
    }
  for (int i = 1; i < 6; i++)
    for (int j = 0; j < i; j++) y_k[i] -= D[6 * i + j] * y_k[j];
  for (int s = blocks->start[k]; s < blocks->start[k + 1]; s++)
    subtract_transposed(y + 6 * blocks->row[s],
                        blocks->lower + BODY_BLOCK * (size_t)s, y_k);
}

KERNEL void solve_backward(const body_blocks *blocks, int k, double y[]) {
  const double *D = blocks->diagonal + BODY_BLOCK * (size_t)k;
  double *y_k = y + 6 * k;
  for (int s = blocks->start[k]; s < blocks->start[k + 1]; s++)
    subtract_times(y_k, blocks->upper + BODY_BLOCK * (size_t)s,
                   y + 6 * blocks->row[s]);
  for (int i = 5; i >= 0; i--) {
    for (int j = i + 1; j < 6; j++) y_k[i] -= D[6 * i + j] * y_k[j];
    y_k[i] *= D[7 * i];
  }
}

KERNEL void solve_all(const body_blocks *blocks, double x[]) {
  double *y = blocks->vector;
  for (int k = 0; k < blocks->n; k++)
    memcpy(y + 6 * k, x + 6 * blocks->order[k], sizeof(double) * 6);
  for (int k = 0; k < blocks->n; k++) solve_forward(blocks, k, y);
  for (int k = blocks->n - 1; k >= 0; k--) solve_backward(blocks, k, y);
  for (int k = 0; k < blocks->n; k++)
    memcpy(x + 6 * blocks->order[k], y + 6 * k, sizeof(double) * 6);
}

#if defined(__x86_64__) && defined(__GNUC__)
/* Wider registers, the same operations in the same order: the same bits. */
__attribute__((target("avx2"))) static bool factor_wide(body_blocks *blocks) {
  return factor_all(blocks);
}

__attribute__((target("avx2"))) static void solve_wide(
    const body_blocks *blocks, double x[]) {
  solve_all(blocks, x);
}

bool body_blocks_factor(body_blocks *blocks) {
  return __builtin_cpu_supports("avx2") ? factor_wide(blocks)
                                        : factor_all(blocks);
}

void body_blocks_solve(const body_blocks *blocks, double x[]) {
  if (__builtin_cpu_supports("avx2"))
    solve_wide(blocks, x);
  else
    solve_all(blocks, x);
}
#else
bool body_blocks_factor(body_blocks *blocks) { return factor_all(blocks); }

void body_blocks_solve(const body_blocks *blocks, double x[]) {
  solve_all(blocks, x);
}
#endif
