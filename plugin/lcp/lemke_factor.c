#include "lcp/lemke_factor.h"

#include <klu.h>
#include <math.h>
#include <string.h>

#include "common/arena.h"
#include "common/minmax.h"

/* Less of a column's largest entry than this is what rounding leaves of it. */
static const double dependent_share = 1e-11;
static const double noise_share = 1e-14;

struct lemke_factor {
  const memory_source *source;
  int k;
  bool *dependent; /* [k] */
  arena arena;     /* of this build */
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

static double largest(const double values[], int count) {
  double most = 0;
  for (int i = 0; i < count; i++) most = fmax(most, fabs(values[i]));
  return most;
}

/* An exactly singular matrix stops the elimination at the first dependent column. A
 * little noise on the diagonal, which refinement takes away again, lets it run on and
 * show them all. */
lemke_factor_status lemke_factor_build(lemke_factor *factor, int k,
                                       const int column_start[],
                                       const int row[], const double value[]) {
  klu_common *common = &factor->common;
  size_t most = (size_t)column_start[k] + (size_t)k;
  double *values;
  int *starts, *rows;
  arena_start(&factor->arena);
  factor->k = k;
  if (!ARENA_TAKE(&factor->arena, factor->dependent, k) ||
      !ARENA_TAKE(&factor->arena, values, most) ||
      !ARENA_TAKE(&factor->arena, rows, most) ||
      !ARENA_TAKE(&factor->arena, starts, k + 1))
    return LEMKE_FACTOR_NO_MEMORY;
  memset(factor->dependent, 0, sizeof *factor->dependent * k);

  int end = 0;
  for (int j = 0; j < k; j++) {
    int length = column_start[j + 1] - column_start[j];
    double noise =
        noise_share * spread(j) * largest(value + column_start[j], length);
    starts[j] = end;
    rows[end] = j; // every column gets a diagonal entry
    values[end++] = noise;
    for (int e = column_start[j]; e < column_start[j + 1]; e++) {
      if (row[e] == j) {
        values[starts[j]] += value[e];
        continue;
      }
      rows[end] = row[e];
      values[end++] = value[e];
    }
  }
  starts[k] = end;

  free_sparse(factor);
  if (k == 0) return LEMKE_FACTOR_OK;
  factor->symbolic = klu_analyze(k, starts, rows, common);
  if (factor->symbolic != NULL)
    factor->numeric =
        klu_factor(starts, rows, values, factor->symbolic, common);
  if (common->status < 0) return LEMKE_FACTOR_NO_MEMORY;
  if (factor->numeric == NULL || common->status == KLU_SINGULAR) {
    int column = common->singular_col;
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
  return any ? LEMKE_FACTOR_SINGULAR : LEMKE_FACTOR_OK;
}

const bool *lemke_factor_dependent(const lemke_factor *factor) {
  return factor->dependent;
}

void lemke_factor_solve(lemke_factor *factor, double x[]) {
  if (factor->k > 0)
    klu_solve(factor->symbolic, factor->numeric, factor->k, 1, x,
              &factor->common);
}
