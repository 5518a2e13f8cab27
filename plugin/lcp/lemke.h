/* Lemke's method on a plain LCP, some of whose variables may be free:
 *
 *   w = M z + q,   0 <= z_i  perp  w_i >= 0   (i not free)
 *                       z_i any,  w_i  = 0    (i free)
 *
 * A basis is kept as LU factors of its non-unit columns and one vector a pivot
 * since, and rebuilt from the original data every `lemke_rebuild_every` pivots,
 * so a pivot costs what the factors of a sparse M cost, not n^2.
 *
 * The covering vector is added to the basic variables themselves: z0 enters as
 * the column -B e with e = 1 on every bounded basic variable. From the basis of
 * all w this is the classical covering vector of ones; a path that ended nearly
 * where it should goes on from its end's basis.
 *
 * Or there is no z0, and a path begins on an artificial edge (C. E. Lemke, J. T.
 * Howson, 1964): all labels but one, of which z_i or w_i has each, are complementary
 * on it. It is the same path with the column of z_label in the place of z0's, which
 * comes from where both are infinite and also ends where w_label leaves. In a game,
 * where every z moves the others' w alone, no covering vector has a path.
 *
 * Ratio test (Harris): of the basic variables that block within `delta`, the
 * one with the largest pivot leaves. z0 leaves whenever it may. Ties in pivot
 * size are broken by the lowest index.
 */
#ifndef ODE_MLCP_LCP_LEMKE_H
#define ODE_MLCP_LCP_LEMKE_H

#include <stdbool.h>

#include "common/memory.h"

typedef struct lemke_problem {
  int n;
  const int *column_start; /* [n + 1] M in compressed columns; no entry twice */
  const int *row;
  const double *value;
  const double *q;     /* [n] */
  const bool *is_free; /* [n], or NULL: none is */
  double scale;        /* size of a typical w; 0: the largest |q| */
} lemke_problem;

typedef struct lemke_options {
  double tolerance; /* on the residual, relative to scale */
  long max_pivots;  /* 0: 20 n + 1000 */
  bool uneven; /* a covering vector of numbers in .5 .. 1.5 in place of ones */
  int first_label; /* 0: a covering vector, else 1 + the label of the edge that the
                      path begins on, from all w */
  bool
      apart; /* move q so that nothing ties (about 1e-6 of its scale) from the first
                 path on; else after one that went round */
  bool *basis; /* [n] out: true where z is basic in the last basis; or NULL */
  double
      *ray; /* [n] out under LEMKE_RAY: the z of its direction, right to nearly
                  all digits; or NULL */
} lemke_options;

static const lemke_options lemke_default_options = {.tolerance = 1e-10};

typedef enum lemke_status {
  LEMKE_SOLVED,      /* residual <= tolerance */
  LEMKE_INACCURATE,  /* ended at a basis, residual > tolerance */
  LEMKE_RAY,         /* a ray, seen again on fresh factors */
  LEMKE_PIVOT_LIMIT, /* or a path that goes round, variables moved apart */
  LEMKE_NO_MEMORY
} lemke_status;

typedef struct lemke_report {
  lemke_status status;
  double residual; /* max |min(z, M z + q)|, free rows |w|, over scale */
  long pivots;
  long factorisations;
} lemke_report;

typedef struct lemke_workspace lemke_workspace;

/** @return NULL when memory runs out. */
lemke_workspace *lemke_workspace_create(const memory_source *source);
void lemke_workspace_destroy(lemke_workspace *workspace);

/**
 * Solve an LCP.
 *
 * @param z  [n] out: the best point met, always finite and >= 0 where not
 *           free; not written under LEMKE_NO_MEMORY.
 * @return how it ended. The residual is recomputed from `problem` and z.
 */
lemke_report lemke_solve(lemke_workspace *workspace,
                         const lemke_problem *problem,
                         const lemke_options *options, double z[]);

/**
 * Solve for the z of a complementary basis, right to nearly all their digits: w_i = 0
 * where z_i is basic, z_i = 0 elsewhere.
 *
 * @param basic  [n] in and out: columns that depend on others are taken out
 * @param z      [n] out: not clipped at 0
 * @return the factorisations it took; 0 when memory ran out
 */
long lemke_solve_basis(lemke_workspace *workspace, const lemke_problem *problem,
                       bool basic[], double z[]);

/** max_i |min(z_i, w_i)| with w = M z + q, free rows |w_i|; not relative.
 *  @param w  [n] out */
double lemke_residual(const lemke_problem *problem, const double z[],
                      double w[]);

#endif
