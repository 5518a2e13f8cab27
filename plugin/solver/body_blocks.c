#include "solver/body_blocks.h"

#include <amd.h>
#include <math.h>
#include <string.h>

#include "common/six.h"

void body_blocks_init(body_blocks *blocks, const memory_source *source) {
  *blocks = (body_blocks){.arena.source = source};
}

void body_blocks_release(body_blocks *blocks) {
  arena_release(&blocks->arena);
  body_blocks_init(blocks, blocks->arena.source);
}

/* ---- order and layout --------------------------------------------------- */

static bool same_graph(const body_blocks *blocks, int n,
                       const body_pair pairs[], int n_pairs) {
  return blocks->ordered && blocks->n == n && blocks->n_pairs == n_pairs &&
         (n_pairs == 0 || memcmp(blocks->known_pairs, pairs,
                                 sizeof *pairs * (size_t)n_pairs) == 0);
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

/* Positions that no pair sets, by ticking off those that one does. */
static void list_fill(body_blocks *blocks, int n_fill) {
  int *ticked = blocks->no_pair, n = 0;
  for (int s = 0; s < n_fill; s++) ticked[s] = 0;
  for (int e = 0; e < blocks->n_pairs; e++) ticked[blocks->pair_slot[e]] = 1;
  for (int s = 0; s < n_fill; s++)
    if (!ticked[s]) blocks->no_pair[n++] = s; // n <= s: behind the reading
  blocks->n_no_pair = n;
}

/* Every body's neighbours, one after another from start[b] on. */
static void list_neighbours(const body_blocks *blocks, const body_pair pairs[],
                            int start[], int neighbour[]) {
  int n = blocks->n;
  memset(start, 0, sizeof *start * ((size_t)n + 2));
  for (int e = 0; e < blocks->n_pairs; e++) {
    start[pairs[e].a + 2]++;
    start[pairs[e].b + 2]++;
  }
  for (int b = 2; b <= n; b++) start[b + 1] += start[b];
  for (int e = 0; e < blocks->n_pairs; e++) {
    int a = pairs[e].a, b = pairs[e].b;
    neighbour[start[a + 1]++] = b;
    neighbour[start[b + 1]++] = a;
  }
}

/* Columns of L: row i has a block wherever the elimination tree leads from its
 * neighbours that were eliminated before it, towards i. Once to count, once to write.
 * @param next  [n + 1] of columns: where their next block goes */
static void walk_rows(const body_blocks *blocks, const int start[],
                      const int neighbour[], int parent[], int mark[],
                      int next[], int row[]) {
  for (int i = 0; i < blocks->n; i++) {
    int body = blocks->order[i];
    if (row == NULL) parent[i] = -1;
    mark[i] = i;
    for (int m = start[body]; m < start[body + 1]; m++)
      for (int j = blocks->place[neighbour[m]]; j < i && mark[j] != i;
           j = parent[j]) {
        if (parent[j] < 0) parent[j] = i;
        if (row != NULL) row[next[j]] = i;
        next[j]++;
        mark[j] = i;
      }
  }
}

static bool lay_out(body_blocks *blocks, const body_pair pairs[]) {
  arena *arena = &blocks->arena;
  size_t n = (size_t)blocks->n;
  int *start, *neighbour, *parent, *mark, *next, n_fill = 0;
  if (!ARENA_TAKE(arena, start, n + 2) ||
      !ARENA_TAKE(arena, neighbour, 2 * (size_t)blocks->n_pairs + 1) ||
      !ARENA_TAKE(arena, parent, n) || !ARENA_TAKE(arena, mark, n) ||
      !ARENA_TAKE(arena, next, n))
    return false;
  list_neighbours(blocks, pairs, start, neighbour);
  if (amd_order(blocks->n, start, neighbour, blocks->order, NULL, NULL) < 0)
    return false;
  for (int k = 0; k < blocks->n; k++) blocks->place[blocks->order[k]] = k;
  memset(next, 0, sizeof *next * n);
  walk_rows(blocks, start, neighbour, parent, mark, next, NULL);
  for (int k = 0; k < blocks->n; k++) {
    blocks->start[k] = n_fill;
    n_fill += next[k];
    next[k] = blocks->start[k];
  }
  blocks->start[n] = n_fill;
  if (!ARENA_TAKE(arena, blocks->row, n_fill) ||
      !ARENA_TAKE(arena, blocks->no_pair, n_fill))
    return false;
  walk_rows(blocks, start, neighbour, parent, mark, next, blocks->row);

  for (int e = 0; e < blocks->n_pairs; e++)
    blocks->pair_slot[e] = slot_of(blocks, pairs[e].a, pairs[e].b);
  list_fill(blocks, n_fill);
  return true;
}

static bool take_values(body_blocks *blocks) {
  arena *arena = &blocks->arena;
  size_t n = (size_t)blocks->n, n_fill = (size_t)blocks->start[blocks->n];
  size_t n_values = BODY_BLOCK * (n + 2 * n_fill);
  return ARENA_TAKE(arena, blocks->diagonal, n_values) &&
         ARENA_TAKE(arena, blocks->values, n_values) &&
         ARENA_TAKE(arena, blocks->last, n_values) &&
         ARENA_TAKE(arena, blocks->vector, 6 * n) &&
         ARENA_TAKE(arena, blocks->pivot, 6 * n) &&
         ARENA_TAKE(arena, blocks->exchanged, n);
}

static bool order_and_lay_out(body_blocks *blocks, const body_pair pairs[]) {
  arena *arena = &blocks->arena;
  int n = blocks->n, n_pairs = blocks->n_pairs;
  arena_start(arena);
  if (!ARENA_TAKE(arena, blocks->order, n) ||
      !ARENA_TAKE(arena, blocks->place, n) ||
      !ARENA_TAKE(arena, blocks->start, n + 1) ||
      !ARENA_TAKE(arena, blocks->pair_slot, n_pairs) ||
      !ARENA_TAKE(arena, blocks->known_pairs, n_pairs))
    return false;
  if (n_pairs > 0)
    memcpy(blocks->known_pairs, pairs, sizeof *pairs * (size_t)n_pairs);

  blocks->known = false;
  if (!lay_out(blocks, pairs) || !take_values(blocks)) return false;
  blocks->upper = blocks->diagonal + BODY_BLOCK * (size_t)n;
  blocks->lower = blocks->upper + BODY_BLOCK * (size_t)blocks->start[n];
  return true;
}

bool body_blocks_order(body_blocks *blocks, int n, const body_pair pairs[],
                       int n_pairs) {
  if (same_graph(blocks, n, pairs, n_pairs)) return true;
  blocks->n = n;
  blocks->n_pairs = n_pairs;
  blocks->ordered = order_and_lay_out(blocks, pairs);
  if (!blocks->ordered) body_blocks_release(blocks);
  return blocks->ordered;
}

double body_blocks_fill(const body_blocks *blocks) {
  return blocks->n + blocks->start[blocks->n];
}

double body_blocks_products(const body_blocks *blocks) {
  double sum = 0;
  for (int k = 0; k < blocks->n; k++) {
    double members = blocks->start[k + 1] - blocks->start[k];
    sum += 1 + members * (members + 3) / 2; // itself, its column, the rest
  }
  return sum;
}

/* ---- values ------------------------------------------------------------- */

/* Where the values of an array of factors are set. */
static double *values_of(const body_blocks *blocks, const double *factors) {
  return blocks->values + (factors - blocks->diagonal);
}

void body_blocks_begin(body_blocks *blocks, bool symmetric) {
  blocks->known = blocks->known && blocks->symmetric == symmetric;
  for (int k = 0; k < blocks->n_no_pair; k++) {
    size_t at = BODY_BLOCK * (size_t)blocks->no_pair[k];
    memset(values_of(blocks, blocks->upper + at), 0,
           sizeof(double) * BODY_BLOCK);
    if (symmetric) continue;
    memset(values_of(blocks, blocks->lower + at), 0,
           sizeof(double) * BODY_BLOCK);
  }
  blocks->symmetric = symmetric;
}

double *body_blocks_diagonal(body_blocks *blocks, int body) {
  return blocks->values + BODY_BLOCK * (size_t)blocks->place[body];
}

bool body_blocks_pair(const body_blocks *blocks, int pair, int a, int b,
                      double **upper, double **lower) {
  size_t at = BODY_BLOCK * (size_t)blocks->pair_slot[pair];
  *upper = values_of(blocks, blocks->upper + at);
  *lower = blocks->symmetric ? NULL : values_of(blocks, blocks->lower + at);
  return blocks->place[a] < blocks->place[b];
}

/* ---- kernels ------------------------------------------------------------ */

/* C -= A' B */
KERNEL void subtract_product(double C[BODY_BLOCK], const double A[BODY_BLOCK],
                             const double B[BODY_BLOCK]) {
  six_block c;
  load_block(C, &c);
#pragma GCC unroll 6
  for (int k = 0; k < 6; k++) {
    four head = *(const four *)(B + 6 * k);
    two tail = *(const two *)(B + 6 * k + 4);
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
      c.head[i] -= A[6 * k + i] * head;
      c.tail[i] -= A[6 * k + i] * tail;
    }
  }
  store_block(&c, C);
}

/* row i -= factor row k */
KERNEL void subtract_row(six_block *b, int i, double factor, int k) {
  b->head[i] -= factor * b->head[k];
  b->tail[i] -= factor * b->tail[k];
}

/* B = L^-1 B; of a symmetric matrix also (B' U^-1)', which only lacks the
 * scaling by L's diagonal. */
KERNEL void solve_left(const double D[BODY_BLOCK], double B[BODY_BLOCK],
                       double *other) {
  six_block b;
  load_block(B, &b);
#pragma GCC unroll 6
  for (int i = 0; i < 6; i++) {
#pragma GCC unroll 6
    for (int k = 0; k < 6; k++)
      if (k < i) subtract_row(&b, i, D[6 * i + k], k);
    if (other != NULL) {
      *(four *)(other + 6 * i) = b.head[i];
      *(two *)(other + 6 * i + 4) = b.tail[i];
    }
    b.head[i] *= D[7 * i];
    b.tail[i] *= D[7 * i];
  }
  store_block(&b, B);
}

/* The transpose of B U^-1, from the transpose of B. */
KERNEL void solve_right(const double D[BODY_BLOCK], double B[BODY_BLOCK]) {
  six_block b;
  load_block(B, &b);
#pragma GCC unroll 6
  for (int i = 0; i < 6; i++) {
#pragma GCC unroll 6
    for (int k = 0; k < 6; k++)
      if (k < i) subtract_row(&b, i, D[6 * k + i], k);
  }
  store_block(&b, B);
}

/* ---- diagonal blocks ----------------------------------------------------- *
 *
 * P D = L U in place: U's diagonal is 1, on the diagonal stands the inverse of
 * L's.
 */

/* An element that is known when the loop around is unrolled. */
KERNEL double element(const six_block *b, int row, int column) {
  return column < 4 ? b->head[row][column & 3] : b->tail[row][column & 1];
}

/* Without exchanges. A pivot has to be positive; where the matrix is not
 * symmetric, neither lost in rounding nor much larger than what stood there: a
 * symmetric part that is positive definite promises as much, and then there is
 * no need for exchanges.
 * @return false when it is not so: D has no meaning then. */
KERNEL bool factor_straight(double D[BODY_BLOCK], bool symmetric) {
  const double smallest = 1e-300, least = symmetric ? 0 : 1e-13;
  const double most = symmetric ? INFINITY : 4;
  bool fine = true;
  six_block b;
  load_block(D, &b);
#pragma GCC unroll 6
  for (int k = 0; k < 6; k++) {
    double d = element(&b, k, k), inverse = 1 / d;
    fine =
        fine & (d > smallest) & (d > least * D[7 * k]) & (d <= most * D[7 * k]);
    four head = b.head[k] * inverse;
    two tail = b.tail[k] * inverse;
    D[7 * k] = inverse;
#pragma GCC unroll 6
    for (int j = 0; j < 6; j++)
      if (j > k) D[6 * k + j] = j < 4 ? head[j & 3] : tail[j & 1];
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
      if (i <= k) continue;
      double factor = element(&b, i, k);
      D[6 * i + k] = factor;
      if (k < 3) b.head[i] -= factor * head; // columns up to k are done with
      if (k < 5) b.tail[i] -= factor * tail;
    }
  }
  return fine;
}

KERNEL void swap_rows(double *a, double *b) {
  for (int i = 0; i < 6; i++) {
    double held = a[i];
    a[i] = b[i];
    b[i] = held;
  }
}

/* The same with exchanges of rows, in place. */
static bool factor_careful(double D[BODY_BLOCK], int pivot[6]) {
  for (int k = 0; k < 6; k++) {
    int best = k;
    for (int i = k + 1; i < 6; i++)
      if (fabs(D[6 * i + k]) > fabs(D[6 * best + k])) best = i;
    pivot[k] = best;
    if (best != k) swap_rows(D + 6 * best, D + 6 * k);

    double inverse = 1 / D[7 * k];
    if (!isfinite(inverse)) return false;
    D[7 * k] = inverse;
    for (int j = k + 1; j < 6; j++) D[6 * k + j] *= inverse;
    for (int i = k + 1; i < 6; i++)
      for (int j = k + 1; j < 6; j++)
        D[6 * i + j] -= D[6 * i + k] * D[6 * k + j];
  }
  for (int i = 0; i < BODY_BLOCK; i++)
    if (!isfinite(D[i])) return false;
  return true;
}

/* @return false when D is singular to working precision or not finite; a
 * symmetric one also when it is not positive definite. */
KERNEL bool factor_diagonal(body_blocks *blocks, int k) {
  double *D = blocks->diagonal + BODY_BLOCK * (size_t)k;
  six_block kept;
  load_block(D, &kept);
  blocks->exchanged[k] = false;
  if (factor_straight(D, blocks->symmetric)) return true;
  if (blocks->symmetric) return false;
  store_block(&kept, D);
  blocks->exchanged[k] = true;
  return factor_careful(D, blocks->pivot + 6 * k);
}

/* ---- factor and solve --------------------------------------------------- */

KERNEL bool factor_column(body_blocks *blocks, int k, bool symmetric) {
  const double *D = blocks->diagonal + BODY_BLOCK * (size_t)k;
  const int *pivot = blocks->pivot + 6 * k;
  if (!factor_diagonal(blocks, k)) return false;
  for (int s = blocks->start[k]; s < blocks->start[k + 1]; s++) {
    double *L = blocks->lower + BODY_BLOCK * (size_t)s;
    double *U = blocks->upper + BODY_BLOCK * (size_t)s;
    for (int i = 0; i < 6 && blocks->exchanged[k]; i++)
      if (pivot[i] != i) swap_rows(U + 6 * pivot[i], U + 6 * i);
    solve_left(D, U, symmetric ? L : NULL);
    if (!symmetric) solve_right(D, L);
  }
  return true;
}

/* What eliminating k takes off the rest: (i, j) -= L_ik U_kj, and in the
 * transposed lower part (j, i)' -= U_ki' L_jk'. */
KERNEL void update_rest(body_blocks *blocks, int k, bool symmetric) {
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
      if (!symmetric)
        subtract_product(lower + BODY_BLOCK * (size_t)at, U_i,
                         lower + BODY_BLOCK * (size_t)t);
    }
  }
}

KERNEL bool factor_columns(body_blocks *blocks, bool symmetric) {
  for (int k = 0; k < blocks->n; k++) {
    if (!factor_column(blocks, k, symmetric)) return false;
    update_rest(blocks, k, symmetric);
  }
  return true;
}

KERNEL bool factor_all(body_blocks *blocks) {
  return blocks->symmetric ? factor_columns(blocks, true)
                           : factor_columns(blocks, false);
}

/* y -= A' x */
KERNEL void subtract_transposed(double y[6], const double A[BODY_BLOCK],
                                const double x[6]) {
  four head = *(const four *)y;
  two tail = *(const two *)(y + 4);
#pragma GCC unroll 6
  for (int k = 0; k < 6; k++) {
    head -= x[k] * *(const four *)(A + 6 * k);
    tail -= x[k] * *(const two *)(A + 6 * k + 4);
  }
  *(four *)y = head;
  *(two *)(y + 4) = tail;
}

/* y -= A x, in three parts of two */
KERNEL void subtract_times(two y[3], const double A[BODY_BLOCK],
                           const double x[6]) {
#pragma GCC unroll 3
  for (int i = 0; i < 3; i++) {
    two one = dot6_parts(A + 12 * i, x), other = dot6_parts(A + 12 * i + 6, x);
    y[i] -= (two){one[0], other[0]} + (two){one[1], other[1]};
  }
}

KERNEL void solve_forward(const body_blocks *blocks, int k, double y[]) {
  const double *D = blocks->diagonal + BODY_BLOCK * (size_t)k;
  double *y_k = y + 6 * k;
  for (int i = 0; i < 6 && blocks->exchanged[k]; i++) {
    int other = blocks->pivot[6 * k + i];
    double held = y_k[i];
    y_k[i] = y_k[other];
    y_k[other] = held;
  }
  double x[6];
#pragma GCC unroll 6
  for (int i = 0; i < 6; i++) {
    x[i] = y_k[i];
#pragma GCC unroll 6
    for (int j = 0; j < 6; j++)
      if (j < i) x[i] -= D[6 * i + j] * x[j];
    x[i] *= D[7 * i];
    y_k[i] = x[i];
  }
  for (int s = blocks->start[k]; s < blocks->start[k + 1]; s++)
    subtract_transposed(y + 6 * blocks->row[s],
                        blocks->lower + BODY_BLOCK * (size_t)s, x);
}

KERNEL void solve_backward(const body_blocks *blocks, int k, double y[]) {
  const double *D = blocks->diagonal + BODY_BLOCK * (size_t)k;
  two *y_k = (two *)(y + 6 * k), sum[3] = {y_k[0], y_k[1], y_k[2]};
  for (int s = blocks->start[k]; s < blocks->start[k + 1]; s++)
    subtract_times(sum, blocks->upper + BODY_BLOCK * (size_t)s,
                   y + 6 * blocks->row[s]);
  double x[6];
#pragma GCC unroll 6
  for (int i = 5; i >= 0; i--) {
    x[i] = sum[i / 2][i % 2];
#pragma GCC unroll 6
    for (int j = 5; j >= 0; j--)
      if (j > i) x[i] -= D[6 * i + j] * x[j];
    y[6 * k + i] = x[i];
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

IN_BOTH_WIDTHS(static, bool, factor_any, (body_blocks * blocks), return,
               factor_all, (blocks))

IN_BOTH_WIDTHS(extern, void, body_blocks_solve,
               (const body_blocks *blocks, double x[]), , solve_all,
               (blocks, x))

bool body_blocks_factor(body_blocks *blocks, bool *anew) {
  double *values = blocks->values;
  size_t n_fill = (size_t)blocks->start[blocks->n];
  size_t size = sizeof *values * BODY_BLOCK *
                ((size_t)blocks->n + (blocks->symmetric ? 1 : 2) * n_fill);
  *anew = !blocks->known || memcmp(values, blocks->last, size) != 0;
  if (!*anew) return true;
  blocks->values = blocks->last;
  blocks->last = values;
  memcpy(blocks->diagonal, values, size);
  blocks->known = factor_any(blocks);
  return blocks->known;
}

int body_blocks_sign(const body_blocks *blocks) {
  int sign = 1;
  for (int k = 0; k < blocks->n; k++)
    for (int i = 0; i < 6; i++) {
      bool swapped = blocks->exchanged[k] && blocks->pivot[6 * k + i] != i;
      bool negative = blocks->diagonal[BODY_BLOCK * (size_t)k + 7 * i] < 0;
      if (swapped != negative) sign = -sign;
    }
  return sign;
}
