/* Siconos (libsiconos-numerics-dev): lexicographic Lemke and NSGS. */
#include "peers.h"

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <LCP_Solvers.h>
#include <LinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsSparseMatrix.h>
#include <NumericsVerbose.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
#include <lcp_cst.h>
#include <stdlib.h>
#include <string.h>

#include "bench_clock.h"

int siconos_lexicographic_lemke(int n, const double M[], const double q[],
                                double z[], double *seconds) {
  numerics_set_verbose(0);
  size_t size = (size_t)n;
  double *by_column = malloc(size * size * sizeof *by_column);
  double *own_q = malloc(size * sizeof *own_q);
  double *w = calloc(size, sizeof *w);
  if (by_column == NULL || own_q == NULL || w == NULL) abort();
  for (size_t i = 0; i < size; i++)
    for (size_t k = 0; k < size; k++) by_column[k * size + i] = M[i * size + k];
  memcpy(own_q, q, size * sizeof *own_q);
  memset(z, 0, size * sizeof *z);

  NumericsMatrix *matrix = NM_create_from_data(NM_DENSE, n, n, by_column);
  LinearComplementarityProblem problem = {n, matrix, own_q};
  SolverOptions *options = solver_options_create(SICONOS_LCP_LEMKE);
  options->iparam[SICONOS_IPARAM_MAX_ITER] = 20 * n + 1000;
  int info = 0;
  double start = bench_seconds();
  lcp_lexicolemke(&problem, z, w, &info, options);
  *seconds = bench_seconds() - start;
  solver_options_delete(options);
  free(by_column);
  free(own_q);
  free(w);
  return info;
}

int siconos_nsgs(const friction_contacts *contacts, int sweeps,
                 double tolerance, double r[], double *own_error,
                 double *seconds) {
  numerics_set_verbose(0);
  int n = 3 * contacts->n_contacts;
  NumericsMatrix *sparse = NM_create(NM_SPARSE, n, n);
  NM_triplet_alloc(sparse, contacts->n_entries);
  for (int k = 0; k < contacts->n_entries; k++)
    NM_entry(sparse, contacts->row[k], contacts->column[k], contacts->entry[k]);
  NumericsMatrix *blocks = NM_create(NM_SPARSE_BLOCK, n, n);
  SBM_from_csparse(3, NM_csc(sparse), blocks->matrix1);
  double *q = malloc((size_t)n * sizeof *q),
         *mu = malloc((size_t)contacts->n_contacts * sizeof *mu);
  double *velocity = calloc((size_t)n, sizeof *velocity);
  if (q == NULL || mu == NULL || velocity == NULL) abort();
  memcpy(q, contacts->q, (size_t)n * sizeof *q);
  memcpy(mu, contacts->mu, (size_t)contacts->n_contacts * sizeof *mu);
  memset(r, 0, (size_t)n * sizeof *r);

  FrictionContactProblem problem = {3, contacts->n_contacts, blocks, q, mu};
  SolverOptions *options = solver_options_create(SICONOS_FRICTION_3D_NSGS);
  options->iparam[SICONOS_IPARAM_MAX_ITER] = sweeps;
  options->dparam[SICONOS_DPARAM_TOL] = tolerance;
  double start = bench_seconds();
  int info = fc3d_driver(&problem, r, velocity, options);
  *seconds = bench_seconds() - start;
  *own_error = options->dparam[SICONOS_DPARAM_RESIDU];
  solver_options_delete(options);
  free(q);
  free(mu);
  free(velocity);
  return info;
}
