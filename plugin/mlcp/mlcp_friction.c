#include "mlcp/mlcp_friction.h"

#include <math.h>

#include "common/minmax.h"
#include "mlcp/mlcp_rows.h"

/* p = a vertex_k + b vertex_(k+1), both >= 0 or both <= 0: the sector of the
 * polygon that p lies in. The sector where the smaller share is largest is
 * taken, so that rounding on a sector's border picks one of its two. */
static int sector_of(const mlcp_pair *pairs, int n_pairs, const double p[2],
                     double *a, double *b) {
  int best = 0;
  double best_share = -INFINITY;
  for (int k = 0; k < n_pairs; k++) {
    double next[2];
    mlcp_next_vertex(pairs, n_pairs, k, next);
    double area = mlcp_cross(pairs[k].u, next);
    double share_a = mlcp_cross(p, next) / area;
    double share_b = mlcp_cross(pairs[k].u, p) / area;
    double share = smaller_of(share_a, share_b);
    double turned = smaller_of(-share_a, -share_b);
    if (turned > share) share = turned;
    if (share > best_share) {
      best_share = share;
      best = k;
      *a = share_a;
      *b = share_b;
    }
  }
  return best;
}

/* Puts a signed share on pair k of a set: beta+ or beta-. */
static void add_share(double beta[], double share) {
  beta[share >= 0 ? 0 : 1] += fabs(share);
}

double mlcp_split_shares(const mlcp_problem *problem, int friction,
                         const double p[], double beta[]) {
  const mlcp_friction *set = &problem->frictions[friction];
  const mlcp_pair *pairs = problem->pairs + set->first_pair;
  double p_t[2] = {p[set->first_row],
                   set->n_base == 2 ? p[set->first_row + 1] : 0};
  double *shares = beta + 2 * set->first_pair, sum;

  for (int i = 0; i < 2 * set->n_pairs; i++) shares[i] = 0;
  if (set->n_pairs == 1) {
    const double *u = pairs[0].u;
    double share =
        (p_t[0] * u[0] + p_t[1] * u[1]) / (u[0] * u[0] + u[1] * u[1]);
    add_share(shares, share);
    sum = fabs(share);
  } else {
    double a = 0, b = 0;
    int k = sector_of(pairs, set->n_pairs, p_t, &a, &b);
    bool turned = k + 1 == set->n_pairs;
    // rounding on a border may leave one share with the wrong sign
    if (a * b < 0) *(fabs(a) < fabs(b) ? &a : &b) = 0;
    add_share(shares + 2 * k, a);
    add_share(shares + (turned ? 0 : 2 * (k + 1)), turned ? -b : b);
    sum = fabs(a) + fabs(b);
  }

  double limit = set->limit;
  if (set->normal >= 0) limit += set->coefficient * p[set->normal];
  if (!(limit > 0)) limit = 0;

  // at the boundary but for rounding: exactly at it
  if (sum > 0 && fabs(limit - sum) <= 1e-13 * limit)
    for (int i = 0; i < 2 * set->n_pairs; i++) shares[i] *= limit / sum;
  return limit - sum;
}

/* A stick's slip is what rounding left, a slide's slack likewise; the smaller
 * of the two, both in m/s, is taken for zero, as in |min(x, y)|. */
double mlcp_split_lambda(const mlcp_problem *problem, int friction,
                         const double w_t[], double left) {
  const mlcp_friction *set = &problem->frictions[friction];
  double slip = 0;
  for (int k = 0; k < set->n_pairs; k++) {
    const double *u = problem->pairs[set->first_pair + k].u;
    double along = u[0] * w_t[0];
    if (set->n_base == 2) along += u[1] * w_t[1];
    if (fabs(along) > slip) slip = fabs(along);
  }
  if (left <= 0) return slip;

  // most sticks are told without the diagonal, which is no less than this
  int scale_row = set->normal >= 0 ? set->normal : set->first_row;
  if (slip < left * problem->rows[scale_row].compliance) return 0;
  double slack = left * mlcp_scale_of(mlcp_row_diagonal(problem, scale_row));
  return slip >= slack ? slip : 0;
}

void mlcp_split_friction(const mlcp_problem *problem, int friction,
                         const double p[], const double w[], double beta[],
                         double *lambda) {
  double left = mlcp_split_shares(problem, friction, p, beta);
  *lambda = mlcp_split_lambda(problem, friction,
                              w + problem->frictions[friction].first_row, left);
}
