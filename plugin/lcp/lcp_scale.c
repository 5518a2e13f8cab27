#include "lcp/lcp_scale.h"

#include <math.h>
#include <string.h>

/* The rows' and the columns' means in turn: what is left of a spread of 2^60
 * after them is a few powers of two in a matrix with many zeros, none in a full
 * one. */
enum { passes = 12 };

/* The sums over the rows, or the columns, of their entries' powers of two with the
 * others' scales become scales that take their means to 0. */
static void settle(const lemke_problem *p, bool rows, const double other[],
                   double sum[], int count[], double power[]) {
  size_t n = (size_t)p->n;
  memset(sum, 0, n * sizeof *sum);
  memset(count, 0, n * sizeof *count);
  for (int j = 0; j < p->n; j++)
    for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
      int to = rows ? p->row[e] : j, exponent;
      if (p->value[e] == 0) continue;
      frexp(p->value[e], &exponent);
      sum[to] += exponent + other[rows ? j : p->row[e]];
      count[to]++;
    }
  for (size_t i = 0; i < n; i++)
    if (count[i] > 0) power[i] = -sum[i] / count[i];
}

bool lcp_scale_choose(const lemke_problem *p, arena *arena, int row_power[],
                      int column_power[]) {
  size_t n = (size_t)p->n;
  double *row, *column, *sum;
  int *count;
  if (!ARENA_TAKE(arena, row, n) || !ARENA_TAKE(arena, column, n) ||
      !ARENA_TAKE(arena, sum, n) || !ARENA_TAKE(arena, count, n))
    return false;
  memset(row, 0, n * sizeof *row);
  memset(column, 0, n * sizeof *column);
  for (int pass = 0; pass < passes; pass++) {
    settle(p, true, column, sum, count, row);
    settle(p, false, row, sum, count, column);
  }
  for (size_t i = 0; i < n; i++) {
    row_power[i] = (int)round(row[i]);
    column_power[i] = (int)round(column[i]);
  }
  return true;
}
