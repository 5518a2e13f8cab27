/* Products with a problem's rows, and the polygons of its friction. */
#ifndef ODE_MLCP_MLCP_MLCP_ROWS_H
#define ODE_MLCP_MLCP_MLCP_ROWS_H

#include "common/six.h"
#include "mlcp/mlcp.h"

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
