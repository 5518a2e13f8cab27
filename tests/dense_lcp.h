/* LCPs whose matrix is given in full. */
#ifndef ODE_MLCP_TESTS_DENSE_LCP_H
#define ODE_MLCP_TESTS_DENSE_LCP_H

#include <math.h>
#include <stdlib.h>

#include "lcp/lcp.h"

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

typedef struct dense_arrays {
  int *start, *row;
  double *value;
} dense_arrays;

static inline lemke_problem
dense_problem(int n, const double M[], const double q[], dense_arrays *arrays) {
  size_t room = (size_t)n * (size_t)n + 1;
  arrays->value = malloc(room * sizeof(double));
  arrays->row = malloc(room * sizeof(int));
  arrays->start = malloc(((size_t)n + 1) * sizeof(int));
  if (arrays->value == NULL || arrays->row == NULL || arrays->start == NULL)
    abort();
  return dense_columns(n, M, q, arrays->start, arrays->row, arrays->value);
}

static inline void dense_release(dense_arrays *arrays) {
  free(arrays->value);
  free(arrays->row);
  free(arrays->start);
}

/** As lemke_solve for a row-major n x n matrix without free variables. */
static inline lemke_report lemke_solve_dense(lemke_workspace *workspace, int n,
                                             const double M[], const double q[],
                                             const lemke_options *options,
                                             double z[]) {
  dense_arrays arrays;
  lemke_problem problem = dense_problem(n, M, q, &arrays);
  lemke_report report = lemke_solve(workspace, &problem, options, z);
  dense_release(&arrays);
  return report;
}

/** As lcp_solve. */
static inline lcp_report lcp_solve_dense(int n, const double M[],
                                         const double q[], lcp_method method,
                                         double tolerance,
                                         const memory_source *source,
                                         double z[], double y[]) {
  dense_arrays arrays;
  lemke_problem problem = dense_problem(n, M, q, &arrays);
  lcp_report report = lcp_solve(&problem, method, tolerance, source, z, y);
  dense_release(&arrays);
  return report;
}

#endif
