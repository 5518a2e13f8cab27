/* LCPs whose matrix is given in full. */
#ifndef ODE_MLCP_TESTS_DENSE_LCP_H
#define ODE_MLCP_TESTS_DENSE_LCP_H

#include <math.h>
#include <stdlib.h>

#include "lcp/lemke.h"

/** The problem of a row-major n x n matrix, in the caller's arrays: start
 * [n + 1], row and value [n n]. They and q belong to it. */
static inline lemke_problem dense_columns(int n, const double M[],
                                          const double q[], int start[],
                                          int row[], double value[]) {
  int end = 0;
  for (int j = 0; j < n; j++) {
    start[j] = end;
    for (int i = 0; i < n; i++) {
      double entry = M[(size_t)i * (size_t)n + (size_t)j];
      if (entry == 0) continue;
      row[end] = i;
      value[end++] = entry;
    }
  }
  start[n] = end;
  return (lemke_problem){n, start, row, value, q, NULL, 0};
}

/** As lemke_solve for a row-major n x n matrix without free variables. */
static inline lemke_report lemke_solve_dense(lemke_workspace *workspace, int n,
                                             const double M[], const double q[],
                                             const lemke_options *options,
                                             double z[]) {
  lemke_report report = {LEMKE_NO_MEMORY, INFINITY, 0, 0};
  size_t room = (size_t)n * (size_t)n + 1;
  double *value = malloc(room * sizeof *value);
  int *row = malloc(room * sizeof *row);
  int *column_start = malloc(((size_t)n + 1) * sizeof *column_start);
  if (value != NULL && row != NULL && column_start != NULL) {
    lemke_problem problem = dense_columns(n, M, q, column_start, row, value);
    report = lemke_solve(workspace, &problem, options, NULL, z);
  }
  free(value);
  free(row);
  free(column_start);
  return report;
}

#endif
