#include "solver/farkas.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "common/long_sum.h"

enum { most_rounds = 30 };

/* What is added to the diagonal of the normal equations, relative: sums that
 * depend on each other leave them singular. It costs rounds, no digits. */
static const double regularisation = 1e-10;

/* The sums A'y, and how large they are beside what was added up. */
static double add_up(int n_rows, int n_columns, const double A[],
                     const double y[], double sums[]) {
  double worst = 0;
  for (int j = 0; j < n_columns; j++) {
    long_sum sum = {0, 0};
    double size = 0;
    for (int r = 0; r < n_rows; r++) {
      double entry = A[(size_t)r * (size_t)n_columns + (size_t)j];
      if (entry == 0 || y[r] == 0) continue;
      long_sum_add_product(&sum, entry, y[r]);
      size += fabs(entry * y[r]);
    }
    sums[j] = long_sum_value(&sum);
    if (size > 0) worst = fmax(worst, fabs(sums[j]) / size);
  }
  return worst;
}

/* L L' in place of the lower triangle of a positive definite n x n matrix. */
static void factor(int n, double H[]) {
  for (int j = 0; j < n; j++) {
    double *row_j = H + (size_t)j * (size_t)n;
    for (int k = 0; k < j; k++) row_j[j] -= row_j[k] * row_j[k];
    row_j[j] = sqrt(fmax(row_j[j], DBL_MIN));
    for (int i = j + 1; i < n; i++) {
      double *row_i = H + (size_t)i * (size_t)n, sum = row_i[j];
      for (int k = 0; k < j; k++) sum -= row_i[k] * row_j[k];
      row_i[j] = sum / row_j[j];
    }
  }
}

static void solve(int n, const double L[], double x[]) {
  for (int i = 0; i < n; i++) {
    const double *row = L + (size_t)i * (size_t)n;
    for (int k = 0; k < i; k++) x[i] -= row[k] * x[k];
    x[i] /= row[i];
  }
  for (int i = n - 1; i >= 0; i--) {
    x[i] /= L[(size_t)i * (size_t)n + (size_t)i];
    for (int k = 0; k < i; k++) x[k] -= L[(size_t)i * (size_t)n + k] * x[i];
  }
}

/* H = A' Y^2 A, columns scaled to a diagonal of 1, and a little more of it. */
static void fill_normal(int n_rows, int n_columns, const double A[],
                        const double y[], double scale[], double H[]) {
  size_t n = (size_t)n_columns;
  memset(H, 0, n * n * sizeof *H);
  for (int r = 0; r < n_rows; r++) {
    const double *row = A + (size_t)r * n;
    if (y[r] == 0) continue;
    for (size_t i = 0; i < n; i++) {
      double left = row[i] * y[r] * y[r];
      if (left == 0) continue;
      for (size_t j = 0; j <= i; j++) H[i * n + j] += left * row[j];
    }
  }
  for (size_t i = 0; i < n; i++)
    scale[i] = H[i * n + i] > 0 ? 1 / sqrt(H[i * n + i]) : 1;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++) H[i * n + j] *= scale[i] * scale[j];
    H[i * n + i] = 1 + regularisation;
  }
}

bool farkas_polish(int n_rows, int n_columns, const double A[], double y[],
                   arena *arena) {
  size_t n = (size_t)n_columns;
  double *H, *scale, *sums, *tried;
  if (!ARENA_TAKE(arena, H, n * n) || !ARENA_TAKE(arena, scale, n) ||
      !ARENA_TAKE(arena, sums, n) || !ARENA_TAKE(arena, tried, n_rows))
    return false;
  fill_normal(n_rows, n_columns, A, y, scale, H);
  factor(n_columns, H);
  double worst = add_up(n_rows, n_columns, A, y, sums);
  for (int round = 0; round < most_rounds && worst > DBL_EPSILON; round++) {
    for (size_t j = 0; j < n; j++) sums[j] *= scale[j];
    solve(n_columns, H, sums);
    for (size_t j = 0; j < n; j++) sums[j] *= scale[j];
    for (int r = 0; r < n_rows; r++) {
      double change = 0;
      for (size_t j = 0; j < n; j++) change += A[(size_t)r * n + j] * sums[j];
      tried[r] = y[r] - y[r] * y[r] * change;
    }
    double now = add_up(n_rows, n_columns, A, tried, sums);
    if (!(now < worst)) break;
    worst = now;
    memcpy(y, tried, (size_t)n_rows * sizeof *y);
  }
  return true;
}
