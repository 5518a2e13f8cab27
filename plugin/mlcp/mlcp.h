/* The mixed linear complementarity problem of one step, on plain arrays.
 *
 * One problem is one component: bodies that touch or are joined, the rows between
 * them and the friction of its contacts. Nothing here knows of a host world.
 *
 * Unknowns (docs/formulation.md, eq. 1-5):
 *
 *   v       6 a body     velocities at the end of the step    m/s, rad/s
 *   p       1 a row      impulses over the step               N s, N m s
 *   beta    2 a pair     friction-edge impulses               N s
 *   lambda  1 a friction set   about the sliding speed        m/s
 *
 * Equations:
 *
 *   v     = v_free + M^-1 J' p                                          (1)
 *   w     = J v + compliance p + bias               for every row       (2)
 *   low <= p <= high,  p = low => w >= 0,  p = high => w <= 0,
 *   low < p < high => w = 0                         not friction rows   (3)
 *
 * and for a friction set with base rows t (one or two of them), pairs u_k and
 * normal row n:
 *
 *   p_t = sum_k u_k (beta+_k - beta-_k)
 *   0 <= beta+_k  perp  +u_k.w_t + lambda >= 0
 *   0 <= beta-_k  perp  -u_k.w_t + lambda >= 0                          (4)
 *   0 <= lambda   perp  coefficient p_n + limit - sum beta >= 0         (5)
 */
#ifndef ODE_MLCP_MLCP_MLCP_H
#define ODE_MLCP_MLCP_MLCP_H

#include <stdbool.h>
#include <stddef.h>

#include "common/memory.h"
#include "common/six.h"

typedef enum mlcp_row_kind {
  MLCP_ROW_JOINT,   /* from a joint: free, bounded or one-sided */
  MLCP_ROW_NORMAL,  /* a contact's normal: low 0, high infinity */
  MLCP_ROW_FRICTION /* a base row of a friction set; low and high are unused */
} mlcp_row_kind;

typedef struct mlcp_row {
  mlcp_row_kind kind;
  int body[2]; /* into bodies, -1 for none (the world, a kinematic body);
                        the two differ */
  double
      J[2]
       [6]; /* per body: linear, then angular; without a body it is finite, and
                        nothing reads it but who asks for a joint's forces */
  double bias;       /* m/s or rad/s; see (2) */
  double compliance; /* >= 0, 1/kg: ODE's cfm / h */
  double low, high;  /* impulses; -INFINITY and INFINITY where there is none */
} mlcp_row;

/** Friction that shares one limit: a polygon in the tangent plane, whose
 *  vertices are the friction edges (two base rows), or a symmetric interval
 *  (one base row, one pair). */
typedef struct mlcp_friction {
  int normal;         /* the row whose impulse the limit follows, -1 for none */
  int first_row;      /* base rows are first_row .. first_row + n_base - 1 */
  int n_base;         /* 1 or 2 */
  int first_pair;     /* into pairs */
  int n_pairs;        /* K/2: half the number of friction edges */
  double coefficient; /* >= 0; 0 where normal is -1 */
  double limit;       /* >= 0, N s: constant part of the limit */
  /* of Coulomb's law, which the polygon stands for: half axes as shares of the limit;
   * 0: the polygon is the law */
  double ellipse[2];
} mlcp_friction;

/** A friction edge u and its opposite -u, in coordinates along the base rows.
 *  The friction edges +-u_k of a set, k = 0 .. n_pairs-1, are the vertices of a
 *  convex centrally symmetric polygon, u_0, u_1, .. in counter-clockwise order
 *  within half a turn. With one base row the only pair is {1, 0}. */
typedef struct mlcp_pair {
  double u[2];
} mlcp_pair;

/** A body's 6 x 6 mass matrix M~ (row-major; need not be symmetric, but v'M~v
 *  is positive) and its inverse. */
typedef struct mlcp_body {
  double mass[36];
  double inverse_mass[36];
  double v_free[6]; /* velocity with no impulse at all, see (1) */
} mlcp_body;

typedef struct mlcp_problem {
  int n_bodies, n_rows, n_frictions, n_pairs;
  const mlcp_body *bodies;
  const mlcp_row *rows;
  const mlcp_friction *frictions;
  const mlcp_pair *pairs;
  double velocity_floor; /* > 0, m/s: max(|gravity| h, 1e-9); keeps the relative
                            residual meaningful where nothing moves */
} mlcp_problem;

/** Arrays owned by the caller. */
typedef struct mlcp_solution {
  double *v;      /* [6 n_bodies] */
  double *p;      /* [n_rows] friction rows too */
  double *beta;   /* [2 n_pairs] beta+_k at 2k, beta-_k at 2k + 1 */
  double *lambda; /* [n_frictions] */
} mlcp_solution;

/**
 * Check a problem: indices in range, no NaN, finite J and mass, bounds in
 * order, signs as documented, friction sets that do not share rows or pairs.
 *
 * @param message  [message_size] out: empty, or one line that names what is
 *                 wrong and where ("row 12: bias is nan").
 * @return true when the problem is well formed.
 */
bool mlcp_check(const mlcp_problem *problem, char *message,
                size_t message_size);

/**
 * The worst violation of (1)-(5), relative.
 *
 * Per row |p - mid(low, p - w / A_ii, high)| A_ii, so m/s throughout, with
 * A_ii the row's diagonal of J M^-1 J' + compliance; friction edges
 * |min(beta A, sigma)| with A their own diagonal; lambda rows
 * |min(lambda, zeta A_tt)| of the first base row; friction rows
 * |p_t - sum u (beta+ - beta-)| A_tt. Equation (1) is not
 * trusted from `solution->v` but checked as |v - v_free - M^-1 J'p|, largest over
 * the bodies (angular components as they are). The worst of all is divided by
 * max(max_i |J_i v_free + bias_i|, velocity_floor).
 *
 * @param scratch  [6 n_bodies] overwritten.
 * @return the residual; INFINITY when a value of the solution is not finite.
 */
double mlcp_residual(const mlcp_problem *problem, const mlcp_solution *solution,
                     double scratch[]);

/**
 * The other unknowns from the impulses: v by (1), beta as in
 * mlcp_split_friction, whose sums p_t then takes over (a change by rounding),
 * and lambda. Pairs of no set get 0. One pass in place of five.
 *
 * @param scale     mlcp_velocity_scale(problem)
 * @param solution  p [n_rows] in; v, beta and lambda out
 * @return as mlcp_residual; (1) holds by construction.
 */
double mlcp_complete(const mlcp_problem *problem, double scale,
                     const mlcp_solution *solution);

/** The divisor of mlcp_residual, m/s:
 *  max(max_i |J_i v_free + bias_i|, velocity_floor). */
double mlcp_velocity_scale(const mlcp_problem *problem);

/** v = v_free + M^-1 J'p for every body, eq. (1); v is [6 n_bodies] out. */
void mlcp_velocities(const mlcp_problem *problem, const double p[], double v[]);

/** A_ii = J_i M^-1 J_i' + compliance_i for row `row`. */
double mlcp_row_diagonal(const mlcp_problem *problem, int row);

/**
 * Split a friction impulse p_t that lies in `limit` times the polygon into
 * impulses of friction edges beta >= 0 with sum beta = limit exactly at the
 * boundary and at most limit inside, complementary to the slip w_t (those away from a non-zero slip
 * get 0 within rounding), and give the lambda that belongs to w_t:
 * max_k |u_k . w_t|, or 0 where the limit is not reached.
 */
void mlcp_split_friction(const mlcp_problem *problem, int friction,
                         const double p[], const double w[], double beta[],
                         double *lambda);

/* --- its rows and polygons ------------------------------------------------------ */

/** w of one row by (2). */
static inline double mlcp_row_slip(const mlcp_problem *problem,
                                   const mlcp_solution *solution, int row) {
  const mlcp_row *r = &problem->rows[row];
  return row_rate(r->J, r->body, solution->v) +
         r->compliance * solution->p[row] + r->bias;
}

/** J v of one row where there is no impulse at all. */
static inline double mlcp_row_free_rate(const mlcp_problem *problem,
                                        const mlcp_row *row) {
  size_t stride = sizeof *problem->bodies / sizeof(double);
  return row_rate_of(row->J, row->body, problem->bodies->v_free, stride);
}

/** J' p of every body, [6 n_bodies] out. */
void mlcp_impulses(const mlcp_problem *problem, const double p[],
                   double impulses[]);

/** v = from + M^-1 v of every body, [6 n_bodies]; NULL: from v_free. */
void mlcp_respond(const mlcp_problem *problem, const double from[], double v[]);

/** J v of every row. */
void mlcp_rates(const mlcp_problem *problem, const double v[], double Jv[]);

/** The impulses of fixed rows (low = high), 0 of others. */
void mlcp_fixed_impulses(const mlcp_problem *problem, double p[]);

/** J of a row on one of its bodies; 0 where that is none of them. */
static inline const double *mlcp_row_on_body(const mlcp_row *row, int body) {
  return body < 0               ? at_rest
         : row->body[0] == body ? row->J[0]
         : row->body[1] == body ? row->J[1]
                                : at_rest;
}

/** J_a M^-1 J_b'. */
double mlcp_rows_product(const mlcp_problem *problem, const mlcp_row *a,
                         const mlcp_row *b);

/** Contacts give way by at least `share` of what they move: the compliance of the
 *  rows of contacts in `rows`, the problem's own, is no less than share J M^-1 J'. */
void mlcp_soften_contacts(const mlcp_problem *problem, double share,
                          mlcp_row rows[]);

/** How fast the normals whose compliance is that least one give way at impulses p,
 *  at most, m/s; 0 where none is. */
double mlcp_softened_speed(const mlcp_problem *problem, double share,
                           const double p[]);

/** A row of zeros has no diagonal to scale with: its impulse changes nothing,
 *  so any positive number serves. */
static inline double mlcp_scale_of(double diagonal) {
  return diagonal > 0 ? diagonal : 1;
}

/** u' (J M^-1 J' + compliance) u of the friction edge u of a set, as a scale. */
double mlcp_friction_edge_diagonal(const mlcp_problem *problem,
                                   const mlcp_friction *set, const double u[2]);

static inline double mlcp_cross(const double a[2], const double b[2]) {
  return a[0] * b[1] - a[1] * b[0];
}

/** The vertex that follows pair k on the polygon: u_(k+1), or -u_0. */
static inline void mlcp_next_vertex(const mlcp_pair *pairs, int n_pairs, int k,
                                    double next[2]) {
  double sign = k + 1 < n_pairs ? 1 : -1;
  const double *u = pairs[k + 1 < n_pairs ? k + 1 : 0].u;
  next[0] = sign * u[0];
  next[1] = sign * u[1];
}

#endif
