#include "lcp/lcp_scale.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The rows' and the columns' means in turn: what is left of a spread of 2^60
 * after them is a few powers of two in a matrix with many zeros, none in a full
 * one. */
enum { passes = 12 };

/* A matrix is left alone where the largest entry of every row and column lies
 * within these powers of two of 1. */
enum { near_enough = 8 };

typedef struct means {
  double *sum; /* [n] of powers */
  int *count;  /* [n] of entries that are not 0 */
} means;

static void clear(means *m, int n) {
  memset(m->sum, 0, (size_t)n * sizeof *m->sum);
  memset(m->count, 0, (size_t)n * sizeof *m->count);
}

/* power[i] = -(what its entries have on average), with the others' scales. */
static double settle(means *m, int n, double power[]) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    if (m->count[i] == 0) continue;
    double mean = -m->sum[i] / m->count[i];
    most = fmax(most, fabs(mean - power[i]));
    power[i] = mean;
  }
  return most;
}

static void balance(const lemke_problem *p, const short entry_power[], means *m,
                    double row[], double column[]) {
  for (int pass = 0; pass < passes; pass++) {
    clear(m, p->n);
    for (int j = 0; j < p->n; j++)
      for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
        if (p->value[e] == 0) continue;
        m->sum[p->row[e]] += entry_power[e] + column[j];
        m->count[p->row[e]]++;
      }
    double change = settle(m, p->n, row);
    clear(m, p->n);
    for (int j = 0; j < p->n; j++)
      for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
        if (p->value[e] == 0) continue;
        m->sum[j] += entry_power[e] + row[p->row[e]];
        m->count[j]++;
      }
    change = fmax(change, settle(m, p->n, column));
    if (change < 0.5) break;
  }
}

/* The power of two next above |x|, which is not 0. */
static int power_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (int)(bits >> 52 & 0x7ff) - 1022;
}

/* True if the largest entries, by rows and columns, are all near 1. */
static bool is_balanced(const lemke_problem *p, const short entry_power[],
                        int largest[]) {
  for (int i = 0; i < p->n; i++) largest[i] = INT_MIN;
  for (int j = 0; j < p->n; j++) {
    int largest_here = INT_MIN;
    for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
      if (p->value[e] == 0) continue;
      int power = entry_power[e];
      if (power > largest_here) largest_here = power;
      if (power > largest[p->row[e]]) largest[p->row[e]] = power;
    }
    if (largest_here != INT_MIN && abs(largest_here) > near_enough)
      return false;
  }
  for (int i = 0; i < p->n; i++)
    if (largest[i] != INT_MIN && abs(largest[i]) > near_enough) return false;
  return true;
}

bool lcp_scale_choose(const lemke_problem *p, arena *arena, int row_power[],
                      int column_power[]) {
  size_t n = (size_t)p->n, n_entries = (size_t)p->column_start[p->n];
  short *entry_power;
  double *row, *column;
  means m;
  memset(row_power, 0, n * sizeof *row_power);
  memset(column_power, 0, n * sizeof *column_power);
  if (!ARENA_TAKE(arena, entry_power, n_entries) ||
      !ARENA_TAKE(arena, row, n) || !ARENA_TAKE(arena, column, n) ||
      !ARENA_TAKE(arena, m.sum, n) || !ARENA_TAKE(arena, m.count, n))
    return false;
  for (size_t e = 0; e < n_entries; e++)
    entry_power[e] = (short)power_of(p->value[e]);
  if (is_balanced(p, entry_power, m.count)) return true;
  memset(row, 0, n * sizeof *row);
  memset(column, 0, n * sizeof *column);
  balance(p, entry_power, &m, row, column);
  for (size_t i = 0; i < n; i++) {
    row_power[i] = (int)round(row[i]);
    column_power[i] = (int)round(column[i]);
  }
  return true;
}
