#include "mlcp/mlcp.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "common/vec3.h"

/* ---- rows ------------------------------------------------------------------ */

double mlcp_rows_product(const mlcp_problem *problem, const mlcp_row *a,
                         const mlcp_row *b) {
  double sum = 0;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      if (a->body[i] < 0 || a->body[i] != b->body[j]) continue;
      const double *inverse = problem->bodies[a->body[i]].inverse_mass;
      for (int k = 0; k < 6; k++)
        sum += a->J[i][k] * dot6(inverse + 6 * k, b->J[j]);
    }
  return sum;
}

double mlcp_row_diagonal(const mlcp_problem *problem, int row) {
  const mlcp_row *r = &problem->rows[row];
  return mlcp_rows_product(problem, r, r) + r->compliance;
}

double mlcp_friction_edge_diagonal(const mlcp_problem *problem,
                                   const mlcp_friction *set,
                                   const double u[2]) {
  const mlcp_row *rows = problem->rows + set->first_row;
  double sum = 0;
  for (int i = 0; i < set->n_base; i++) {
    sum += u[i] * rows[i].compliance * u[i];
    for (int j = 0; j < set->n_base; j++)
      sum += u[i] * mlcp_rows_product(problem, &rows[i], &rows[j]) * u[j];
  }
  return mlcp_scale_of(sum);
}

static double least_compliance(const mlcp_problem *problem, int row,
                               double share) {
  const mlcp_row *r = &problem->rows[row];
  return share * mlcp_rows_product(problem, r, r);
}

void mlcp_soften_contacts(const mlcp_problem *problem, double share,
                          mlcp_row rows[]) {
  for (int r = 0; r < problem->n_rows; r++)
    if (rows[r].kind != MLCP_ROW_JOINT)
      rows[r].compliance =
          larger_of(rows[r].compliance, least_compliance(problem, r, share));
}

double mlcp_softened_speed(const mlcp_problem *problem, double share,
                           const double p[]) {
  double most = 0;
  for (int r = 0; r < problem->n_rows; r++) {
    double compliance = problem->rows[r].compliance;
    if (problem->rows[r].kind == MLCP_ROW_NORMAL &&
        compliance == least_compliance(problem, r, share))
      most = larger_of(most, compliance * p[r]);
  }
  return most;
}

/* ---- J'p and J v ---------------------------------------------------------- *
 *
 * A row has twelve numbers on end, six for each of its bodies. Rows of the same two
 * bodies mostly follow each other: these stay in registers.
 */

typedef struct pair_of_six {
  four part[3];
} pair_of_six;

KERNEL pair_of_six load_pair(const int body[2], const double x[]) {
  double both[12];
  for (int side = 0; side < 2; side++)
    memcpy(both + 6 * side, body[side] >= 0 ? x + 6 * body[side] : at_rest,
           6 * sizeof *both);
  const four *at = (const four *)both;
  return (pair_of_six){{at[0], at[1], at[2]}};
}

KERNEL void store_pair(pair_of_six from, const int body[2], double x[]) {
  const double *both = (const double *)&from;
  for (int side = 0; side < 2; side++)
    if (body[side] >= 0)
      memcpy(x + 6 * body[side], both + 6 * side, 6 * sizeof *both);
}

KERNEL bool on_same_bodies(const mlcp_row *a, const mlcp_row *b) {
  return a->body[0] == b->body[0] && a->body[1] == b->body[1];
}

KERNEL void add_impulses(const mlcp_problem *problem, const double p[],
                         double impulses[]) {
  const mlcp_row *row = problem->rows, *end = row + problem->n_rows;
  memset(impulses, 0, sizeof *impulses * 6 * (size_t)problem->n_bodies);
  while (row < end) {
    const mlcp_row *first = row;
    pair_of_six sum = load_pair(first->body, impulses);
    for (; row < end && on_same_bodies(row, first); row++, p++)
#pragma GCC unroll 3
      for (int k = 0; k < 3; k++) sum.part[k] += *p * ((const four *)row->J)[k];
    store_pair(sum, first->body, impulses);
  }
}

KERNEL void find_rates(const mlcp_problem *problem, const double v[],
                       double Jv[]) {
  const mlcp_row *row = problem->rows, *end = row + problem->n_rows;
  while (row < end) {
    const mlcp_row *first = row;
    pair_of_six u = load_pair(first->body, v);
    for (; row < end && on_same_bodies(row, first); row++) {
      const four *J = (const four *)row->J;
      *Jv++ =
          sum_of_four(J[0] * u.part[0] + J[1] * u.part[1] + J[2] * u.part[2]);
    }
  }
}

IN_BOTH_WIDTHS(extern, void, mlcp_impulses,
               (const mlcp_problem *problem, const double p[],
                double impulses[]),
               , add_impulses, (problem, p, impulses))

IN_BOTH_WIDTHS(extern, void, mlcp_rates,
               (const mlcp_problem *problem, const double v[], double Jv[]), ,
               find_rates, (problem, v, Jv))

void mlcp_respond(const mlcp_problem *problem, const double from[],
                  double v[]) {
  for (int b = 0; b < problem->n_bodies; b++, v += 6) {
    const mlcp_body *body = &problem->bodies[b];
    const double *base = from != NULL ? from + 6 * b : body->v_free;
    double impulse[6];
    memcpy(impulse, v, sizeof impulse);
    for (int i = 0; i < 6; i++)
      v[i] = base[i] + dot6(body->inverse_mass + 6 * i, impulse);
  }
}

void mlcp_velocities(const mlcp_problem *problem, const double p[],
                     double v[]) {
  mlcp_impulses(problem, p, v);
  mlcp_respond(problem, NULL, v);
}

void mlcp_fixed_impulses(const mlcp_problem *problem, double p[]) {
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    bool fixed = row->kind != MLCP_ROW_FRICTION && row->low == row->high;
    p[r] = fixed ? row->low : 0;
  }
}

double mlcp_velocity_scale(const mlcp_problem *problem) {
  double scale = problem->velocity_floor;
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    scale =
        larger_of(scale, fabs(mlcp_row_free_rate(problem, row) + row->bias));
  }
  return scale;
}

/* ---- violations ---------------------------------------------------------- *
 *
 * Diagonals cost more than all the rest, and most conditions can be judged
 * without: what is below the worst so far may be given as 0.
 */

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
    worst = larger_of(worst, error);
  }
  return worst;
}

/* The same of the lambda row, with `left` of the limit: an impulse of friction, which
 * changes slips by the friction rows' diagonal, however soft the normal is. */
static double limit_violation(const mlcp_problem *problem,
                              const mlcp_friction *set, double lambda,
                              double left, double worst) {
  if (lambda >= 0 && left >= 0 && (lambda <= worst || left == 0)) return worst;
  double A = mlcp_scale_of(mlcp_row_diagonal(problem, set->first_row));
  return larger_of(worst, fabs(fmin(lambda, left * A)));
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
    worst = larger_of(worst, fabs(p[i] - made[i]) * mlcp_scale_of(A));
  }

  double limit = set->limit;
  if (set->normal >= 0) limit += set->coefficient * solution->p[set->normal];
  return limit_violation(problem, set, lambda, limit - sum, worst);
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
  if (slip < left * problem->rows[set->first_row].compliance) return 0;
  double slack =
      left * mlcp_scale_of(mlcp_row_diagonal(problem, set->first_row));
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

/* The larger of `worst` and the violations of (2) to (5). Where `completes` lambda, in:
 * what is left of the limit, comes from the slips. */
static double worst_violation(const mlcp_problem *problem,
                              const mlcp_solution *solution, bool completes,
                              double worst) {
  for (int r = 0; r < problem->n_rows; r++)
    if (problem->rows[r].kind != MLCP_ROW_FRICTION)
      worst = larger_of(worst, bounded_row_violation(
                                   problem, r, solution->p[r],
                                   mlcp_row_slip(problem, solution, r), worst));
  for (int i = 0; i < problem->n_frictions; i++) {
    const mlcp_friction *set = &problem->frictions[i];
    double w[2] = {0}, *lambda = &solution->lambda[i];
    for (int t = 0; t < set->n_base; t++)
      w[t] = mlcp_row_slip(problem, solution, set->first_row + t);
    if (completes) *lambda = split_lambda(problem, i, w, *lambda);
    worst = friction_violation(problem, solution, i, w, worst);
  }
  return worst;
}

double mlcp_residual(const mlcp_problem *problem, const mlcp_solution *solution,
                     double scratch[]) {
  double worst = 0;
  if (!solution_is_finite(problem, solution)) return INFINITY;
  mlcp_velocities(problem, solution->p, scratch);
  for (int i = 0; i < 6 * problem->n_bodies; i++)
    worst = larger_of(worst, fabs(solution->v[i] - scratch[i]));
  return relative(worst_violation(problem, solution, false, worst),
                  mlcp_velocity_scale(problem));
}

double mlcp_complete(const mlcp_problem *problem, double scale,
                     const mlcp_solution *solution) {
  bool given = all_finite(solution->p, problem->n_rows);
  memset(solution->beta, 0, sizeof(double) * 2 * (size_t)problem->n_pairs);
  for (int i = 0; i < problem->n_frictions; i++) {
    solution->lambda[i] = split_shares(problem, i, solution->p, solution->beta);
    take_friction_edge_sums(problem, i, solution->beta, solution->p);
  }
  mlcp_velocities(problem, solution->p, solution->v);
  double worst = worst_violation(problem, solution, true, 0);
  return given && solution_is_finite(problem, solution) ? relative(worst, scale)
                                                        : INFINITY;
}
