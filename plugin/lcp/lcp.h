/* A plain LCP from anywhere: scaled, solved, verified on the original data.
 *
 *   w = M z + q,   0 <= z  perp  w >= 0
 *
 * The answer is always the basic solution of a complementary basis, solved for anew
 * from the scaled data. `fast` first looks for the basis by block pivoting: solve for
 * the z that are basic, exchange every z or w that is negative, again. Of an M-matrix
 * these exchanges go one way and end at the solution; else they do in a few systems, or
 * not at all. Then, and from the start under LCP_LEMKE, paths of Lemke's method are
 * followed: from a covering vector of ones, from an uneven one, from artificial edges;
 * and block pivoting goes on from the basis that a path ended at.
 *
 * What no path solves is asked whether M z + q >= 0, z >= 0 alone can be met. */
#ifndef ODE_MLCP_LCP_LCP_H
#define ODE_MLCP_LCP_LCP_H

#include "lcp/lemke.h"

typedef enum lcp_method {
  LCP_FAST, /* block pivoting first */
  LCP_LEMKE /* Lemke's method alone */
} lcp_method;

typedef enum lcp_status {
  LCP_SOLVED,
  LCP_INFEASIBLE, /* proved to have no solution: see lcp_certificate_error */
  LCP_RAY, /* the first path ended on a ray, seen on fresh factors; says nothing
              about solutions (where M is copositive-plus there would be one) */
  LCP_INACCURATE, /* a basis that cannot be verified */
  LCP_PIVOT_LIMIT,
  LCP_NO_MEMORY
} lcp_status;

typedef struct lcp_report {
  lcp_status status;
  double residual;      /* max |min(z, M z + q)| / (1 + max |q|) */
  double componentwise; /* see lcp_componentwise */
  double certificate;   /* of LCP_INFEASIBLE: lcp_certificate_error, else
                           INFINITY */
  long pivots;          /* of Lemke's method */
  long exchanges;       /* rounds of block pivoting */
  long factorisations;
} lcp_report;

/**
 * The least share by which entries of M and q have to change so that z >= 0 is an
 * exact solution (W. Oettli, W. Prager, 1964):
 *
 *   max_i e_i / (|M| z + |q|)_i,  e_i = |w_i| where z_i > 0, else max(-w_i, 0)
 *
 * No scaling of rows or columns changes it. INFINITY where a z is negative or
 * not finite.
 *
 * @param w, size  [n] out: M z + q, |M| z + |q|
 */
double lcp_componentwise(const lemke_problem *problem, const double z[],
                         double w[], double size[]);

/** True if z with these two is a solution to `tolerance`: both are below it, or
 *  the componentwise one is what rounding leaves, and no double is nearer. */
bool lcp_is_solved(int n, double residual, double componentwise,
                   double tolerance);

/**
 * How well y proves that no z >= 0 has M z + q >= 0: with y >= 0, M'y <= 0 and
 * q'y < 0 it does, as y'(M z + q) = (M'y)'z + q'y < 0.
 *
 * @return the least share by which entries of M have to change for y to be an
 *         exact proof, max_j (M'y)_j / (|M|'y)_j or 0; INFINITY where y is no
 *         certificate: negative somewhere, or q'y not below -1e-9 |q|'y
 */
double lcp_certificate_error(const lemke_problem *problem, const double y[]);

/** Its bound: rounding of y itself. */
extern const double lcp_certificate_tolerance;

/**
 * Solve an LCP without free variables.
 *
 * @param problem    is_free is NULL; entries of M are finite
 * @param tolerance  as in lcp_is_solved
 * @param z          [n] out: the best point met, >= 0; undefined under
 *                   LCP_NO_MEMORY
 * @param y          [n] out: the certificate under LCP_INFEASIBLE, else zeros;
 *                   or NULL
 */
lcp_report lcp_solve(const lemke_problem *problem, lcp_method method,
                     double tolerance, const memory_source *source, double z[],
                     double y[]);

#endif
