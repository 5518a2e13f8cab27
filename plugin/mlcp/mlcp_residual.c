#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "common/six.h"
#include "common/vec3.h"
#include "mlcp/mlcp_rows.h"

/* ---- violations ---------------------------------------------------------- *
 *
 * Diagonals cost more than all the rest, and most conditions can be judged
 * without: what is below the worst so far may be given as 0.
 */

static double larger(double worst, double x) { return x > worst ? x : worst; }

static double bounded_row_violation(const mlcp_problem *problem, int row,
                                    double p, double w, double ignored) {
  const mlcp_row *r = &problem->rows[row];
  // within the bounds it is at most |w|, whatever A is
  if (r->low <= p && p <= r->high &&
      (fabs(w) <= ignored || (p == r->low && w >= 0) ||
       (p == r->high && w <= 0)))
    return 0;
  double A = mlcp_scale_of(mlcp_row_diagonal(problem, row));

  // |p - mid(low, p - w/A, high)| A, without the cancellation in p - w/A
  return fabs(middle_of((r->low - p) * A, -w, (r->high - p) * A));
}

/* |min(beta A, sigma)| where that does not depend on A > 0, or is not worth
 * knowing; else NAN. */
static double friction_edge_violation(double beta, double sigma,
                                      double ignored) {
  if (beta >= 0 && sigma <= 0) return -sigma;
  if (beta == 0 || (beta > 0 && sigma <= ignored)) return 0;
  return NAN;
}

/* The larger of `worst` and the violations of one friction edge and its
 * opposite. */
static double pair_violation(const mlcp_problem *problem,
                             const mlcp_friction *set, const double u[2],
                             const double beta[2], const double sigma[2],
                             double worst) {
  for (int i = 0; i < 2; i++) {
    double error = friction_edge_violation(beta[i], sigma[i], worst);
    if (isnan(error))
      error = fabs(fmin(beta[i] * mlcp_friction_edge_diagonal(problem, set, u),
                        sigma[i]));
    worst = larger(worst, error);
  }
  return worst;
}

/* The same of the lambda row, with `left` of the limit. */
static double limit_violation(const mlcp_problem *problem,
                              const mlcp_friction *set, double lambda,
                              double left, double worst) {
  if (lambda >= 0 && left >= 0 && (lambda <= worst || left == 0)) return worst;
  int row = set->normal >= 0 ? set->normal : set->first_row;
  double A = mlcp_scale_of(mlcp_row_diagonal(problem, row));
  return larger(worst, fabs(fmin(lambda, left * A)));
}

/* The larger of `worst` and the violations of a friction set with slips w of
 * its base rows. */
static double friction_violation(const mlcp_problem *problem,
                                 const mlcp_solution *solution, int index,
                                 const double w[], double worst) {
  const mlcp_friction *set = &problem->frictions[index];
  const double *p = solution->p + set->first_row;
  double made[2] = {0}, sum = 0, lambda = solution->lambda[index];

  for (int k = 0; k < set->n_pairs; k++) {
    const double *u = problem->pairs[set->first_pair + k].u;
    const double *beta = solution->beta + 2 * (set->first_pair + k);
    double slip = u[0] * w[0];
    if (set->n_base == 2) slip += u[1] * w[1];
    double sigma[2] = {lambda + slip, lambda - slip};
    worst = pair_violation(problem, set, u, beta, sigma, worst);
    made[0] += u[0] * (beta[0] - beta[1]);
    made[1] += u[1] * (beta[0] - beta[1]);
    sum += beta[0] + beta[1];
  }

  for (int i = 0; i < set->n_base; i++) {
    if (p[i] == made[i]) continue;
    double A = mlcp_row_diagonal(problem, set->first_row + i);
    worst = larger(worst, fabs(p[i] - made[i]) * mlcp_scale_of(A));
  }

  double limit = set->limit;
  if (set->normal >= 0) limit += set->coefficient * solution->p[set->normal];
  return limit_violation(problem, set, lambda, limit - sum, worst);
}

/* ---- the residual -------------------------------------------------------- */

static bool solution_is_finite(const mlcp_problem *problem,
                               const mlcp_solution *solution) {
  return all_finite(solution->v, 6 * problem->n_bodies) &&
         all_finite(solution->p, problem->n_rows) &&
         all_finite(solution->beta, 2 * problem->n_pairs) &&
         all_finite(solution->lambda, problem->n_frictions);
}

static double relative(double worst, double scale) {
  double residual = worst / scale;
  return isfinite(residual) ? residual : INFINITY;
}

double mlcp_residual(const mlcp_problem *problem, const mlcp_solution *solution,
                     double scratch[]) {
  if (!solution_is_finite(problem, solution)) return INFINITY;

  double worst = 0;
  mlcp_velocities(problem, solution->p, scratch);
  for (int i = 0; i < 6 * problem->n_bodies; i++)
    worst = larger(worst, fabs(solution->v[i] - scratch[i]));
  for (int r = 0; r < problem->n_rows; r++)
    if (problem->rows[r].kind != MLCP_ROW_FRICTION)
      worst = larger(worst, bounded_row_violation(
                                problem, r, solution->p[r],
                                mlcp_row_slip(problem, solution, r), worst));
  for (int i = 0; i < problem->n_frictions; i++) {
    const mlcp_friction *set = &problem->frictions[i];
    double w[2] = {0};
    for (int t = 0; t < set->n_base; t++)
      w[t] = mlcp_row_slip(problem, solution, set->first_row + t);
    worst = friction_violation(problem, solution, i, w, worst);
  }
  return relative(worst, mlcp_velocity_scale(problem));
}

/* ---- the unknowns of given impulses -------------------------------------- */

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

/* The set's beta, which do not depend on slips. @return what is left of the limit. */
static double split_shares(const mlcp_problem *problem, int friction,
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
static double split_lambda(const mlcp_problem *problem, int friction,
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
  double left = split_shares(problem, friction, p, beta);
  *lambda = split_lambda(problem, friction,
                         w + problem->frictions[friction].first_row, left);
}

/* p_t = sum of the friction edges, which differs from p_t by rounding. */
static void take_friction_edge_sums(const mlcp_problem *problem, int index,
                                    const double beta[], double p[]) {
  const mlcp_friction *set = &problem->frictions[index];
  double made[2] = {0};
  for (int k = 0; k < set->n_pairs; k++) {
    const double *u = problem->pairs[set->first_pair + k].u;
    double share =
        beta[2 * (set->first_pair + k)] - beta[2 * (set->first_pair + k) + 1];
    made[0] += u[0] * share;
    made[1] += u[1] * share;
  }
  for (int t = 0; t < set->n_base; t++) p[set->first_row + t] = made[t];
}

double mlcp_complete(const mlcp_problem *problem, double scale,
                     const mlcp_solution *solution, double slips[]) {
  bool given = all_finite(solution->p, problem->n_rows);
  memset(solution->beta, 0, sizeof(double) * 2 * (size_t)problem->n_pairs);
  for (int i = 0; i < problem->n_frictions; i++) {
    solution->lambda[i] = split_shares(problem, i, solution->p, solution->beta);
    take_friction_edge_sums(problem, i, solution->beta, solution->p);
  }
  mlcp_velocities(problem, solution->p, solution->v);

  double worst = 0;
  for (int r = 0; r < problem->n_rows; r++) {
    slips[r] = mlcp_row_slip(problem, solution, r);
    if (problem->rows[r].kind != MLCP_ROW_FRICTION)
      worst = larger(worst, bounded_row_violation(problem, r, solution->p[r],
                                                  slips[r], worst));
  }
  for (int i = 0; i < problem->n_frictions; i++) {
    const double *w = slips + problem->frictions[i].first_row;
    solution->lambda[i] = split_lambda(problem, i, w, solution->lambda[i]);
    worst = friction_violation(problem, solution, i, w, worst);
  }
  if (!given || !solution_is_finite(problem, solution)) return INFINITY;
  return relative(worst, scale);
}
