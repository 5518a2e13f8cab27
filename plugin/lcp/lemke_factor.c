#include "lcp/lemke_factor.h"

#include <klu.h>
#include <math.h>
#include <string.h>

#include "common/arena.h"

/* Below this order a dense elimination is quicker than any bookkeeping; above
 * it, where more than this share of the entries is non-zero. */
static const int dense_order = 40;
static const double dense_share = 0.2;

/* Less of a column's largest entry than this is what rounding leaves of it. */
static const double dependent_share = 1e-11;
static const double noise_share = 1e-14;

struct lemke_factor {
  const memory_source *source;
  int k;
  bool dense;
  bool *dependent; /* [k] */
  arena arena;     /* of this build */

  /* dense: L (unit diagonal) and U in place, column-major [k x k]; [k] each */
  double *lu, *work;
  int *order;

  /* sparse */
  klu_common common;
  klu_symbolic *symbolic;
  klu_numeric *numeric;
};

lemke_factor *lemke_factor_create(const memory_source *source) {
  lemke_factor *factor = memory_allocate_zero(source, sizeof *factor);
  if (factor == NULL) return NULL;
  factor->source = factor->arena.source = source;
  klu_defaults(&factor->common);
  // the basis of one component is one block, so a search for blocks is in vain
  factor->common.btf = 0;
  return factor;
}

static void free_sparse(lemke_factor *factor) {
  if (factor->numeric != NULL)
    klu_free_numeric(&factor->numeric, &factor->common);
  if (factor->symbolic != NULL)
    klu_free_symbolic(&factor->symbolic, &factor->common);
}

void lemke_factor_destroy(lemke_factor *factor) {
  if (factor == NULL) return;
  const memory_source *source = factor->source;
  free_sparse(factor);
  arena_release(&factor->arena);
  source->release(source->context, factor, sizeof *factor);
}

/* ---- dense ------------------------------------------------------------- */

static double largest(const double values[], int count) {
  double most = 0;
  for (int i = 0; i < count; i++) most = fmax(most, fabs(values[i]));
  return most;
}

static void swap_rows(double *lu, int k, int a, int b) {
  for (int j = 0; j < k; j++) {
    double value = lu[(size_t)j * k + a];
    lu[(size_t)j * k + a] = lu[(size_t)j * k + b];
    lu[(size_t)j * k + b] = value;
  }
}

/* Columns first .. end-1, rows below `step`: one elimination step. */
static void eliminate(double *lu, int k, int column, int step, int first,
                      int end) {
  const double *l = lu + (size_t)column * k;
  for (int j = first; j < end; j++) {
    double *u = lu + (size_t)j * k;
    double factor = u[step];
    if (factor == 0) continue;
    for (int i = step + 1; i < k; i++) u[i] -= l[i] * factor;
  }
}

/* Right-looking elimination with partial pivoting. A dependent column is left
 * out and its row kept for the columns that follow, so that all dependent
 * columns are found at once. */
static lemke_factor_status build_dense(lemke_factor *factor, int k,
                                       const int column_start[],
                                       const int row[], const double value[]) {
  if (!ARENA_TAKE(&factor->arena, factor->lu, (size_t)k * k) ||
      !ARENA_TAKE(&factor->arena, factor->order, k) ||
      !ARENA_TAKE(&factor->arena, factor->work, k))
    return LEMKE_FACTOR_NO_MEMORY;

  double *lu = factor->lu;
  int *order = factor->order;
  memset(lu, 0, sizeof *lu * (size_t)k * k);
  for (int j = 0; j < k; j++)
    for (int e = column_start[j]; e < column_start[j + 1]; e++)
      lu[(size_t)j * k + row[e]] += value[e];
  for (int i = 0; i < k; i++) order[i] = i;

  int step = 0;
  for (int j = 0; j < k; j++) {
    double *column = lu + (size_t)j * k;
    double size =
        largest(value + column_start[j], column_start[j + 1] - column_start[j]);
    int pivot = step;
    for (int i = step + 1; i < k; i++)
      if (fabs(column[i]) > fabs(column[pivot])) pivot = i;
    if (!(fabs(column[pivot]) > dependent_share * size)) {
      factor->dependent[j] = true;
      continue;
    }
    if (pivot != step) {
      swap_rows(lu, k, pivot, step);
      int original = order[pivot];
      order[pivot] = order[step];
      order[step] = original;
    }
    double inverse = 1 / column[step];
    for (int i = step + 1; i < k; i++) column[i] *= inverse;
    eliminate(lu, k, j, step, j + 1, k);
    step++;
  }
  return step == k ? LEMKE_FACTOR_OK : LEMKE_FACTOR_SINGULAR;
}

static void solve_dense(lemke_factor *factor, double x[]) {
  int k = factor->k;
  const double *lu = factor->lu;
  double *y = factor->work;

  for (int i = 0; i < k; i++) y[i] = x[factor->order[i]];
  for (int j = 0; j < k; j++) {
    const double *column = lu + (size_t)j * k;
    if (y[j] == 0) continue;
    for (int i = j + 1; i < k; i++) y[i] -= column[i] * y[j];
  }
  for (int j = k - 1; j >= 0; j--) {
    const double *column = lu + (size_t)j * k;
    if (y[j] == 0) continue;
    y[j] /= column[j];
    for (int i = 0; i < j; i++) y[i] -= column[i] * y[j];
  }
  memcpy(x, y, sizeof *x * k);
}

/* ---- sparse ------------------------------------------------------------ */

/* In (0.5, 1.5), spread evenly, the same on every run. */
static double spread(int i) {
  return 0.5 + (double)((unsigned)i * 2654435761u >> 8) / 16777216.0;
}

/* An exactly singular matrix stops the elimination at the first dependent
 * column. A little noise on the diagonal lets it run on and show them all. */
static lemke_factor_status factor_with_noise(lemke_factor *factor, int k,
                                             const int column_start[],
                                             const int row[],
                                             const double value[]) {
  size_t most = (size_t)column_start[k] + (size_t)k;
  double *values;
  int *starts, *rows;
  if (!ARENA_TAKE(&factor->arena, values, most) ||
      !ARENA_TAKE(&factor->arena, rows, most) ||
      !ARENA_TAKE(&factor->arena, starts, k + 1))
    return LEMKE_FACTOR_NO_MEMORY;

  // every column gets a diagonal entry
  int end = 0;
  for (int j = 0; j < k; j++) {
    int length = column_start[j + 1] - column_start[j];
    bool has_diagonal = false;
    double noise =
        noise_share * spread(j) * largest(value + column_start[j], length);
    starts[j] = end;
    for (int e = column_start[j]; e < column_start[j + 1]; e++, end++) {
      rows[end] = row[e];
      values[end] = value[e];
      if (row[e] == j && !has_diagonal) {
        values[end] += noise;
        has_diagonal = true;
      }
    }
    if (!has_diagonal) {
      rows[end] = j;
      values[end++] = noise;
    }
  }
  starts[k] = end;

  free_sparse(factor);
  factor->symbolic = klu_analyze(k, starts, rows, &factor->common);
  if (factor->symbolic != NULL)
    factor->numeric =
        klu_factor(starts, rows, values, factor->symbolic, &factor->common);
  return factor->common.status == KLU_OUT_OF_MEMORY ? LEMKE_FACTOR_NO_MEMORY
                                                    : LEMKE_FACTOR_OK;
}

static lemke_factor_status build_sparse(lemke_factor *factor, int k,
                                        const int column_start[],
                                        const int row[], const double value[]) {
  free_sparse(factor);
  // klu does not change its matrix; its interface merely does not say so
  factor->symbolic =
      klu_analyze(k, (int *)column_start, (int *)row, &factor->common);
  if (factor->symbolic != NULL)
    factor->numeric =
        klu_factor((int *)column_start, (int *)row, (double *)value,
                   factor->symbolic, &factor->common);
  if (factor->common.status < 0) return LEMKE_FACTOR_NO_MEMORY;

  bool singular = factor->common.status == KLU_SINGULAR;
  if (singular && factor_with_noise(factor, k, column_start, row, value) ==
                      LEMKE_FACTOR_NO_MEMORY)
    return LEMKE_FACTOR_NO_MEMORY;

  if (factor->numeric == NULL || factor->common.status == KLU_SINGULAR) {
    int column = factor->common.singular_col;
    factor->dependent[column >= 0 && column < k ? column : 0] = true;
    return LEMKE_FACTOR_SINGULAR;
  }

  // the rows are scaled to a largest entry of 1, so columns compare with 1
  const double *diagonal = factor->numeric->Udiag;
  bool any = false;
  for (int i = 0; i < k; i++)
    if (!(fabs(diagonal[i]) > dependent_share)) {
      factor->dependent[factor->symbolic->Q[i]] = true;
      any = true;
    }
  if (singular && !any) factor->dependent[0] = any = true;
  return any ? LEMKE_FACTOR_SINGULAR : LEMKE_FACTOR_OK;
}

/* ---- either ------------------------------------------------------------ */

lemke_factor_status lemke_factor_build(lemke_factor *factor, int k,
                                       const int column_start[],
                                       const int row[], const double value[]) {
  arena_start(&factor->arena);
  if (!ARENA_TAKE(&factor->arena, factor->dependent, k))
    return LEMKE_FACTOR_NO_MEMORY;
  memset(factor->dependent, 0, sizeof *factor->dependent * k);

  factor->k = k;
  factor->dense =
      k <= dense_order || column_start[k] > dense_share * (double)k * k;
  return factor->dense ? build_dense(factor, k, column_start, row, value)
                       : build_sparse(factor, k, column_start, row, value);
}

const bool *lemke_factor_dependent(const lemke_factor *factor) {
  return factor->dependent;
}

void lemke_factor_solve(lemke_factor *factor, double x[]) {
  if (factor->k == 0) return;
  if (factor->dense)
    solve_dense(factor, x);
  else
    klu_solve(factor->symbolic, factor->numeric, factor->k, 1, x,
              &factor->common);
}
