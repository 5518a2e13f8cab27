/* Solvers of other projects, on arrays of ours. Each is there only where its
 * library was found at configure time. */
#ifndef ODE_MLCP_BENCH_PEERS_H
#define ODE_MLCP_BENCH_PEERS_H

#ifdef __cplusplus
extern "C" {
#endif

/** How a peer says it ended: 0 solved; its own words are not trusted, the
 *  residual is. */

/** w = M z + q, 0 <= z perp w >= 0; M is n x n, row-major, z [n] out.
 *  @param seconds  out: of the solve alone, without copying M */
int siconos_lexicographic_lemke(int n, const double M[], const double q[],
                                double z[], double *seconds);
int bullet_lemke(int n, const double M[], const double q[], double z[],
                 double *seconds);

/** Coulomb's law in exact cones: v = W r + q for contacts of three rows
 *  (normal, two tangents). W comes as entries; r [3 n_contacts] out. */
typedef struct friction_contacts {
  int n_contacts;
  int n_entries;
  const int *row, *column; /* [n_entries] */
  const double *entry;
  const double *q;  /* [3 n_contacts] */
  const double *mu; /* [n_contacts] */
} friction_contacts;
/** @param own_error  out: its own relative error of the exact cones' problem */
int siconos_nsgs(const friction_contacts *contacts, int sweeps,
                 double tolerance, double r[], double *own_error,
                 double *seconds);

/** A x = b + w with bounds; hi and lo of a row with limit[i] >= 0 are
 *  coefficients of |x[limit[i]]|, fixed once when the other rows are solved.
 *  A is n x n, row-major, symmetric; x [n] out. */
int bullet_dantzig(int n, const double A[], const double b[],
                   const double low[], const double high[], const int limit[],
                   double x[], double *seconds);

#ifdef __cplusplus
}
#endif

#endif
