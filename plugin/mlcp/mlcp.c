#include "mlcp/mlcp.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- the problem is well formed ---------------------------------------- */

typedef struct complaint {
  char *message;
  size_t size;
} complaint;

__attribute__((format(printf, 2, 3))) static bool wrong(complaint *c,
                                                        const char *format,
                                                        ...) {
  if (c->size > 0) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->message, c->size, format, arguments);
    va_end(arguments);
  }
  return false;
}

static bool all_finite(const double values[], int count) {
  for (int i = 0; i < count; i++)
    if (!isfinite(values[i])) return false;
  return true;
}

static bool check_body(const mlcp_body *body, int index, complaint *c) {
  if (!all_finite(body->mass, 36))
    return wrong(c, "body %d: mass is not finite", index);
  if (!all_finite(body->inverse_mass, 36))
    return wrong(c, "body %d: inverse mass is not finite", index);
  if (!all_finite(body->v_free, 6))
    return wrong(c, "body %d: v_free is not finite", index);
  for (int i = 0; i < 6; i++)
    if (!(body->mass[7 * i] > 0) || !(body->inverse_mass[7 * i] > 0))
      return wrong(c, "body %d: diagonal %d of the mass is not positive", index,
                   i);
  return true;
}

static bool check_row_bounds(const mlcp_row *row, int index, complaint *c) {
  if (row->kind == MLCP_ROW_FRICTION) return true;
  if (isnan(row->low) || isnan(row->high))
    return wrong(c, "row %d: a bound is nan", index);
  if (row->low > row->high || row->low == INFINITY || row->high == -INFINITY)
    return wrong(c, "row %d: low %g and high %g are out of order", index,
                 row->low, row->high);
  if (row->kind == MLCP_ROW_NORMAL && (row->low != 0 || row->high != INFINITY))
    return wrong(c, "row %d: a normal's bounds are not 0 and infinity", index);
  return true;
}

static bool check_row(const mlcp_problem *problem, int index, complaint *c) {
  const mlcp_row *row = &problem->rows[index];
  if (row->kind != MLCP_ROW_JOINT && row->kind != MLCP_ROW_NORMAL
      && row->kind != MLCP_ROW_FRICTION)
    return wrong(c, "row %d: unknown kind %d", index, (int)row->kind);
  for (int side = 0; side < 2; side++) {
    if (row->body[side] < -1 || row->body[side] >= problem->n_bodies)
      return wrong(c, "row %d: body %d is out of range", index,
                   row->body[side]);
    if (!all_finite(row->J[side], 6))
      return wrong(c, "row %d: J is not finite", index);
    for (int i = 0; i < 6; i++)
      if (row->body[side] == -1 && row->J[side][i] != 0)
        return wrong(c, "row %d: J is not zero where there is no body", index);
  }
  if (row->body[0] != -1 && row->body[0] == row->body[1])
    return wrong(c, "row %d: both sides are body %d", index, row->body[0]);
  if (!isfinite(row->bias))
    return wrong(c, "row %d: bias is %g", index, row->bias);
  if (!isfinite(row->compliance) || row->compliance < 0)
    return wrong(c, "row %d: compliance is %g", index, row->compliance);
  if (!isfinite(row->correction) || row->correction < 0)
    return wrong(c, "row %d: correction is %g", index, row->correction);
  return check_row_bounds(row, index, c);
}

static double cross(const double a[2], const double b[2]) {
  return a[0] * b[1] - a[1] * b[0];
}

/* The vertex that follows pair k on the polygon: u_(k+1), or -u_0. */
static void next_vertex(const mlcp_pair *pairs, int n_pairs, int k,
                        double next[2]) {
  double sign = k + 1 < n_pairs ? 1 : -1;
  const double *u = pairs[k + 1 < n_pairs ? k + 1 : 0].u;
  next[0] = sign * u[0];
  next[1] = sign * u[1];
}

static bool check_polygon(const mlcp_problem *problem, int index,
                          complaint *c) {
  const mlcp_friction *set = &problem->frictions[index];
  const mlcp_pair *pairs = problem->pairs + set->first_pair;

  if (set->n_base == 1 && set->n_pairs != 1)
    return wrong(c, "friction %d: one base row needs one pair", index);
  for (int k = 0; k < set->n_pairs; k++) {
    if (!all_finite(pairs[k].u, 2) || hypot(pairs[k].u[0], pairs[k].u[1]) == 0)
      return wrong(c, "friction %d: pair %d is zero or not finite", index, k);
    if (set->n_base == 1 && (pairs[k].u[0] != 1 || pairs[k].u[1] != 0))
      return wrong(c, "friction %d: the pair of one base row is not 1, 0",
                   index);
    double next[2];
    next_vertex(pairs, set->n_pairs, k, next);
    if (set->n_pairs > 1 && !(cross(pairs[k].u, next) > 0))
      return wrong(c, "friction %d: pairs are not counter-clockwise", index);
  }
  return true;
}

static bool ranges_meet(int a, int n_a, int b, int n_b) {
  return a < b + n_b && b < a + n_a;
}

static bool check_friction(const mlcp_problem *problem, int index,
                           complaint *c) {
  const mlcp_friction *set = &problem->frictions[index];
  if (set->n_base < 1 || set->n_base > 2 || set->first_row < 0
      || set->first_row > problem->n_rows - set->n_base)
    return wrong(c, "friction %d: base rows are out of range", index);
  if (set->n_pairs < 1 || set->first_pair < 0
      || set->first_pair > problem->n_pairs - set->n_pairs)
    return wrong(c, "friction %d: pairs are out of range", index);
  for (int i = 0; i < set->n_base; i++)
    if (problem->rows[set->first_row + i].kind != MLCP_ROW_FRICTION)
      return wrong(c, "friction %d: row %d is not a friction row", index,
                   set->first_row + i);
  if (set->normal < -1 || set->normal >= problem->n_rows)
    return wrong(c, "friction %d: normal %d is out of range", index,
                 set->normal);
  if (set->normal >= 0 && problem->rows[set->normal].kind != MLCP_ROW_NORMAL)
    return wrong(c, "friction %d: row %d is not a normal", index, set->normal);
  if (!isfinite(set->coefficient) || set->coefficient < 0
      || (set->normal == -1 && set->coefficient != 0))
    return wrong(c, "friction %d: coefficient is %g", index, set->coefficient);
  if (!isfinite(set->limit) || set->limit < 0)
    return wrong(c, "friction %d: limit is %g", index, set->limit);
  return check_polygon(problem, index, c);
}

/* Sets in ascending order cannot share anything; only a set that is out of
 * order is compared with all those before it. */
static bool check_sharing(const mlcp_problem *problem, complaint *c) {
  int n_base_rows = 0, row_end = 0, pair_end = 0;
  for (int i = 0; i < problem->n_frictions; i++) {
    const mlcp_friction *set = &problem->frictions[i];
    bool in_order = set->first_row >= row_end && set->first_pair >= pair_end;
    for (int j = 0; j < i && !in_order; j++) {
      const mlcp_friction *other = &problem->frictions[j];
      if (ranges_meet(set->first_row, set->n_base, other->first_row,
                      other->n_base)
          || ranges_meet(set->first_pair, set->n_pairs, other->first_pair,
                         other->n_pairs))
        return wrong(c, "friction %d: shares rows or pairs with %d", i, j);
    }
    if (set->first_row + set->n_base > row_end)
      row_end = set->first_row + set->n_base;
    if (set->first_pair + set->n_pairs > pair_end)
      pair_end = set->first_pair + set->n_pairs;
    n_base_rows += set->n_base;
  }
  for (int i = 0; i < problem->n_rows; i++)
    if (problem->rows[i].kind == MLCP_ROW_FRICTION) n_base_rows--;
  if (n_base_rows != 0)
    return wrong(c, "%d friction rows belong to no friction set",
                 -n_base_rows);
  return true;
}

bool mlcp_check(const mlcp_problem *problem, char *message,
                size_t message_size) {
  complaint c = {message, message_size};
  if (message_size > 0) message[0] = '\0';

  if (problem->n_bodies < 0 || problem->n_rows < 0 || problem->n_frictions < 0
      || problem->n_pairs < 0)
    return wrong(&c, "a count is negative");
  if (!isfinite(problem->velocity_floor) || !(problem->velocity_floor > 0))
    return wrong(&c, "velocity_floor is %g", problem->velocity_floor);
  for (int i = 0; i < problem->n_bodies; i++)
    if (!check_body(&problem->bodies[i], i, &c)) return false;
  for (int i = 0; i < problem->n_rows; i++)
    if (!check_row(problem, i, &c)) return false;
  for (int i = 0; i < problem->n_frictions; i++)
    if (!check_friction(problem, i, &c)) return false;
  return check_sharing(problem, &c);
}

/* ---- velocities and diagonals ------------------------------------------ */

static double dot6(const double a[6], const double b[6]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4]
       + a[5] * b[5];
}

static double row_times(const mlcp_row *row, const double v[]) {
  double sum = 0;
  for (int side = 0; side < 2; side++)
    if (row->body[side] >= 0)
      sum += dot6(row->J[side], v + 6 * row->body[side]);
  return sum;
}

/* J_a M^-1 J_b' */
static double rows_product(const mlcp_problem *problem, const mlcp_row *a,
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
  return rows_product(problem, r, r) + r->compliance;
}

/* impulses[6 b + i] = (J'p) of every body */
static void body_impulses(const mlcp_problem *problem, const double p[],
                          double impulses[]) {
  for (int i = 0; i < 6 * problem->n_bodies; i++) impulses[i] = 0;
  for (int r = 0; r < problem->n_rows; r++)
    for (int side = 0; side < 2; side++) {
      int body = problem->rows[r].body[side];
      if (body < 0) continue;
      for (int i = 0; i < 6; i++)
        impulses[6 * body + i] += problem->rows[r].J[side][i] * p[r];
    }
}

void mlcp_velocities(const mlcp_problem *problem, const double p[],
                     double v[]) {
  body_impulses(problem, p, v);
  for (int b = 0; b < problem->n_bodies; b++) {
    const mlcp_body *body = &problem->bodies[b];
    double impulse[6];
    memcpy(impulse, v + 6 * b, sizeof impulse);
    for (int i = 0; i < 6; i++)
      v[6 * b + i] =
          body->v_free[i] + dot6(body->inverse_mass + 6 * i, impulse);
  }
}

/* ---- the residual ------------------------------------------------------ */

static double middle(double low, double x, double high) {
  return x < low ? low : x > high ? high : x;
}

/* A row of zeros has no diagonal to scale with: its impulse changes nothing,
 * so any positive number serves. */
static double scale_of(double diagonal) { return diagonal > 0 ? diagonal : 1; }

static double row_slip(const mlcp_problem *problem,
                       const mlcp_solution *solution, int row) {
  const mlcp_row *r = &problem->rows[row];
  return row_times(r, solution->v) + r->compliance * solution->p[row]
       + r->bias;
}

/* A violation of at most `ignored` may be given as 0. */
static double bounded_row_violation(const mlcp_problem *problem,
                                    const mlcp_solution *solution, int row,
                                    double ignored) {
  const mlcp_row *r = &problem->rows[row];
  double p = solution->p[row], w = row_slip(problem, solution, row);

  // within the bounds it is at most |w|, whatever A is
  if (fabs(w) <= ignored && r->low <= p && p <= r->high) return 0;
  double A = scale_of(mlcp_row_diagonal(problem, row));

  // |p - mid(low, p - w/A, high)| A, without the cancellation in p - w/A
  return fabs(middle((r->low - p) * A, -w, (r->high - p) * A));
}

static double friction_violation(const mlcp_problem *problem,
                                 const mlcp_solution *solution, int index) {
  const mlcp_friction *set = &problem->frictions[index];
  const mlcp_row *rows = problem->rows + set->first_row;
  double A[2][2] = {{0}}, w[2] = {0}, gap[2] = {0}, sum = 0, worst = 0;
  double lambda = solution->lambda[index];

  for (int i = 0; i < set->n_base; i++) {
    w[i] = row_slip(problem, solution, set->first_row + i);
    gap[i] = solution->p[set->first_row + i];
    for (int j = 0; j < set->n_base; j++)
      A[i][j] = rows_product(problem, &rows[i], &rows[j]);
    A[i][i] += rows[i].compliance;
  }

  for (int k = 0; k < set->n_pairs; k++) {
    const double *u = problem->pairs[set->first_pair + k].u;
    double A_edge = scale_of(u[0] * (A[0][0] * u[0] + A[0][1] * u[1])
                             + u[1] * (A[1][0] * u[0] + A[1][1] * u[1]));
    double slip = u[0] * w[0] + u[1] * w[1];
    const double *beta = solution->beta + 2 * (set->first_pair + k);

    worst = fmax(worst, fabs(fmin(beta[0] * A_edge, lambda + slip)));
    worst = fmax(worst, fabs(fmin(beta[1] * A_edge, lambda - slip)));
    gap[0] -= u[0] * (beta[0] - beta[1]);
    gap[1] -= u[1] * (beta[0] - beta[1]);
    sum += beta[0] + beta[1];
  }

  for (int i = 0; i < set->n_base; i++)
    worst = fmax(worst, fabs(gap[i]) * scale_of(A[i][i]));

  double limit = set->limit, A_limit = A[0][0];
  if (set->normal >= 0)
    limit += set->coefficient * solution->p[set->normal];
  if (lambda == 0 && sum <= limit) return worst;
  if (set->normal >= 0) A_limit = mlcp_row_diagonal(problem, set->normal);
  return fmax(worst, fabs(fmin(lambda, (limit - sum) * scale_of(A_limit))));
}

static bool solution_is_finite(const mlcp_problem *problem,
                               const mlcp_solution *solution) {
  return all_finite(solution->v, 6 * problem->n_bodies)
      && all_finite(solution->p, problem->n_rows)
      && all_finite(solution->beta, 2 * problem->n_pairs)
      && all_finite(solution->lambda, problem->n_frictions);
}

double mlcp_velocity_scale(const mlcp_problem *problem) {
  double scale = problem->velocity_floor;
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    double free = row->bias;
    for (int side = 0; side < 2; side++)
      if (row->body[side] >= 0)
        free += dot6(row->J[side], problem->bodies[row->body[side]].v_free);
    scale = fmax(scale, fabs(free));
  }
  return scale;
}

double mlcp_residual(const mlcp_problem *problem, const mlcp_solution *solution,
                     double scratch[]) {
  if (!solution_is_finite(problem, solution)) return INFINITY;

  double worst = 0;
  mlcp_velocities(problem, solution->p, scratch);
  for (int i = 0; i < 6 * problem->n_bodies; i++)
    worst = fmax(worst, fabs(solution->v[i] - scratch[i]));
  for (int r = 0; r < problem->n_rows; r++)
    if (problem->rows[r].kind != MLCP_ROW_FRICTION)
      worst = fmax(worst,
                   bounded_row_violation(problem, solution, r, worst));
  for (int i = 0; i < problem->n_frictions; i++)
    worst = fmax(worst, friction_violation(problem, solution, i));

  double residual = worst / mlcp_velocity_scale(problem);
  return isfinite(residual) ? residual : INFINITY;
}

/* ---- friction impulses and edges --------------------------------------- */

/* p = a vertex_k + b vertex_(k+1), both >= 0 or both <= 0: the sector of the
 * polygon that p lies in. The sector where the smaller share is largest is
 * taken, so that rounding on a sector's border picks one of its two. */
static int sector_of(const mlcp_pair *pairs, int n_pairs, const double p[2],
                     double *a, double *b) {
  int best = 0;
  double best_share = -INFINITY;
  for (int k = 0; k < n_pairs; k++) {
    double next[2];
    next_vertex(pairs, n_pairs, k, next);
    double area = cross(pairs[k].u, next);
    double share_a = cross(p, next) / area;
    double share_b = cross(pairs[k].u, p) / area;
    double share = fmax(fmin(share_a, share_b), fmin(-share_a, -share_b));
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

static double largest_slip(const mlcp_pair *pairs, int n_pairs,
                           const double w[2]) {
  double slip = 0;
  for (int k = 0; k < n_pairs; k++)
    slip = fmax(slip, fabs(pairs[k].u[0] * w[0] + pairs[k].u[1] * w[1]));
  return slip;
}

void mlcp_split_friction(const mlcp_problem *problem, int friction,
                         const double p[], const double w[], double beta[],
                         double *lambda) {
  const mlcp_friction *set = &problem->frictions[friction];
  const mlcp_pair *pairs = problem->pairs + set->first_pair;
  double p_t[2] = {p[set->first_row], 0}, w_t[2] = {w[set->first_row], 0};
  double *shares = beta + 2 * set->first_pair;

  if (set->n_base == 2) {
    p_t[1] = p[set->first_row + 1];
    w_t[1] = w[set->first_row + 1];
  }
  memset(shares, 0, sizeof(double) * 2 * (size_t)set->n_pairs);

  double sum;
  if (set->n_pairs == 1) {
    const double *u = pairs[0].u;
    double share = (p_t[0] * u[0] + p_t[1] * u[1])
                 / (u[0] * u[0] + u[1] * u[1]);
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
  limit = fmax(limit, 0);

  // at the boundary but for rounding: exactly at it
  if (sum > 0 && fabs(limit - sum) <= 1e-13 * limit)
    for (int i = 0; i < 2 * set->n_pairs; i++) shares[i] *= limit / sum;

  // A stick's slip is what rounding left, a slide's slack likewise; the
  // smaller of the two, both in m/s, is taken for zero, as in |min(x, y)|.
  int scale_row = set->normal >= 0 ? set->normal : set->first_row;
  double A = scale_of(mlcp_row_diagonal(problem, scale_row));
  double slack = (limit - sum) * A;
  double slip = largest_slip(pairs, set->n_pairs, w_t);
  *lambda = slip >= slack ? slip : 0;
}
