#include "impacts/joint_free.h"

#include <math.h>
#include <string.h>

static double length(const double x[], int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

/* Take 2 u (u'x) from x, both of length n; u of length 1. */
static void reflect(const double u[], double x[], int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += u[i] * x[i];
  for (int i = 0; i < n; i++) x[i] -= 2 * sum * u[i];
}

static void swap(double a[], double b[], int n) {
  for (int i = 0; i < n; i++) {
    double kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
}

/* The unit vector that reflects x onto the first axis, in place of x; returns
 * the coordinate it gets there. */
static double householder(double x[], int n) {
  double reached = x[0] > 0 ? -length(x, n) : length(x, n);
  x[0] -= reached;
  double size = length(x, n);
  for (int i = 0; i < n; i++) x[i] /= size;
  return reached;
}

/* The row of k .. n_rows - 1 of which most is left past column k. */
static int longest_row(const double J[], int n, int n_rows, int k,
                       double *longest) {
  int chosen = k;
  *longest = -1;
  for (int row = k; row < n_rows; row++) {
    double left = length(&J[row * n + k], n - k);
    if (left > *longest) {
      *longest = left;
      chosen = row;
    }
  }
  return chosen;
}

void joint_free_basis(int n, int n_rows, double J[], double c[], double basis[],
                      double offset[], int *n_free, double *misfit) {
  // row k of J becomes: its first k entries those of the triangle L (J Q = L),
  // the others the reflection's vector; L's diagonal goes into `offset`, which
  // the forward substitution then overwrites
  int rank = 0;
  double first = 0;
  for (; rank < n_rows && rank < n; rank++) {
    double left;
    int row = longest_row(J, n, n_rows, rank, &left);
    if (rank == 0) first = left;
    if (!(left > 1e-10 * first)) break;
    if (row != rank) {
      swap(&J[row * n], &J[rank * n], n);
      swap(&c[row], &c[rank], 1);
    }
    double *u = &J[rank * n + rank];
    offset[rank] = householder(u, n - rank);
    for (int other = rank + 1; other < n_rows; other++)
      reflect(u, &J[other * n + rank], n - rank);
  }

  *misfit = 0;
  for (int row = 0; row < n_rows; row++) {
    double left = c[row];
    for (int k = 0; k < row && k < rank; k++)
      left -= J[row * n + k] * offset[k];
    if (row < rank)
      offset[row] = left / offset[row];
    else
      *misfit = fmax(*misfit, fabs(left));
  }
  memset(&offset[rank], 0, (size_t)(n - rank) * sizeof *offset);

  *n_free = n - rank;
  memset(basis, 0, (size_t)n * (size_t)n * sizeof *basis);
  for (int j = 0; j < *n_free; j++) {
    double *one = &basis[j * n];
    one[rank + j] = 1;
    for (int k = rank - 1; k >= 0; k--) reflect(&J[k * n + k], &one[k], n - k);
  }
  for (int k = rank - 1; k >= 0; k--) reflect(&J[k * n + k], &offset[k], n - k);
}
