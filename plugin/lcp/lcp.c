#include "lcp/lcp.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "common/arena.h"
#include "common/long_sum.h"
#include "common/minmax.h"
#include "lcp/farkas.h"
#include "lcp/lcp_scale.h"
#include "lcp/lemke_dense.h"
#include "lcp/lemke_factor.h"

enum {
  /* up to here a pivot on a whole tableau costs less than one with factors, */
  largest_tableau = 64,
  /* and up to here tableaus are taken where factors did not end at a solution:
   * their tie rule does in problems that are nothing but ties */
  largest_late_tableau = 400,
  /* a bound on the cost: Lemke takes what is left */
  most_exchanges = 50,
  /* rounds without fewer violators: some add to them before they help, and
   * exchanges may go in a circle */
  patience = 5,
  most_refinements = 4,
  /* a basis that Lemke's method ended at may be off by a tie */
  most_mends = 5,
  /* all complementary bases are looked at where no path ends at a solution:
   * 2^n of them */
  largest_enumerated = 10,
  /* a certificate is looked for by twice as many variables, dense */
  largest_certified = 3000
};

/* A path's cost is bounded; some matrices take 2^n pivots (Murty, Fathi), which
 * is no more than this where n is small. */
static long pivot_limit(int n) {
  long all = n < 18 ? 2L << n : 1L << 18;
  return 20L * n + 1000 + (n <= largest_tableau ? all : 0);
}

/* A step of refinement that changes z by this share leaves about its square. */
static const double refined_enough = 1e-8;

/* A negative value that changes no sum by more than this share of the tolerance
 * is none. */
static const double violation_share = 1e-3;

/* A basic value below this share of the largest may be nothing but rounding. */
static const double rounding_share = 1e-13;

/* How nearly a ray has to solve its equations, componentwise. */
static const double ray_tolerance = 1e-9;

/* A sum (M'y)_j this close to 0, relative, is polished to be 0. */
static const double certificate_zero = 1e-6;
/* Weights below this share of the largest are left out of a certificate. */
static const double certificate_least = 1e-11;
/* q'y has to be below -this |q|'y: a hundred thousand times what y is off. */
static const double certificate_margin = 1e-9;

const double lcp_certificate_tolerance = 1e-14;

/* The scaled problem and what both methods need. */
typedef struct solve {
  const lemke_problem *original;
  const memory_source *source;
  double tolerance;
  lemke_problem scaled;
  int *row_power, *column_power; /* [n] of two: the scales */
  int unit;                      /* q is scaled by two to this as well */
  double *value;                 /* [n entries] of the scaled M */
  double *dense;  /* [n n] it in full, once a path has asked; or NULL */
  double *q;      /* [n] scaled */
  double *z, *w;  /* [n] a candidate, in scaled or in original units */
  double *size;   /* [n] what its w were added up from */
  double *best;   /* [n] the caller's z */
  bool *basic;    /* [n] z is basic */
  bool *negative; /* [n] what a round exchanges */
  int *to_K;      /* [n] place among the basic ones, -1 */
  int *K_start, *K_row;
  double *K_value;
  double *rest; /* [n] of a refinement */
  double *ray;  /* [n] scaled: of the first path that ended on one */
  bool has_ray;
  arena arena;   /* of the solve */
  arena K_arena; /* of a factorisation, or a path */
  lemke_factor *factor;
  lcp_report *report;
} solve;

/* ---- residuals ------------------------------------------------------------------ */

/* max |min(z, w)| / (1 + max |q|) */
static double largest_violation(const lemke_problem *p, const double z[],
                                const double w[]) {
  double worst = 0, largest = 0;
  for (int i = 0; i < p->n; i++) {
    double error = fabs(smaller_of(z[i], w[i]));
    if (!isfinite(z[i]) || !(error < INFINITY)) return INFINITY;
    worst = larger_of(worst, error);
    largest = larger_of(largest, fabs(p->q[i]));
  }
  return worst / (1 + largest);
}

double lcp_residual(const lemke_problem *problem, const double z[],
                    double w[]) {
  for (int i = 0; i < problem->n; i++)
    if (!isfinite(z[i])) return INFINITY;
  lemke_residual(problem, z, w);
  return largest_violation(problem, z, w);
}

/* w = M z + q and size = |M| |z| + |q| */
static void add_up(const lemke_problem *p, const double z[], double w[],
                   double size[]) {
  for (int i = 0; i < p->n; i++) {
    w[i] = p->q[i];
    size[i] = fabs(p->q[i]);
  }
  for (int j = 0; j < p->n; j++) {
    if (z[j] == 0) continue;
    for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
      double term = p->value[e] * z[j];
      w[p->row[e]] += term;
      size[p->row[e]] += fabs(term);
    }
  }
}

double lcp_componentwise(const lemke_problem *problem, const double z[],
                         double w[], double size[]) {
  double worst = 0;
  add_up(problem, z, w, size);
  for (int i = 0; i < problem->n; i++) {
    if (!(z[i] >= 0) || !isfinite(z[i])) return INFINITY;
    double error = z[i] > 0 ? fabs(w[i]) : larger_of(-w[i], 0);
    if (!(error < INFINITY)) return INFINITY;
    if (error > 0) worst = larger_of(worst, error / size[i]);
  }
  return worst;
}

bool lcp_is_solved(int n, double residual, double componentwise,
                   double tolerance) {
  const double rounding = 4 * DBL_EPSILON * (n + 1);
  return componentwise <= tolerance &&
         (residual <= tolerance || componentwise <= rounding);
}

static bool good_enough(const solve *s) {
  return lcp_is_solved(s->original->n, s->report->residual,
                       s->report->componentwise, s->tolerance);
}

/* Keeps the candidate z where it is the best so far. */
static void consider(solve *s) {
  double componentwise = lcp_componentwise(s->original, s->z, s->w, s->size);
  double residual = largest_violation(s->original, s->z, s->w);
  bool solved =
      lcp_is_solved(s->original->n, residual, componentwise, s->tolerance);
  if (!solved && !(residual < s->report->residual)) return;
  s->report->residual = residual;
  s->report->componentwise = componentwise;
  memcpy(s->best, s->z, sizeof *s->z * (size_t)s->original->n);
}

/* ---- scaling ------------------------------------------------------------------ */

/* Powers that bring q to a size near 1 as well: z then is as many times as
 * large. */
static int power_of_q(const lemke_problem *p, const int row_power[]) {
  int most = 0;
  bool any = false;
  for (int i = 0; i < p->n; i++) {
    int power;
    if (p->q[i] == 0) continue;
    frexp(p->q[i], &power);
    power += row_power[i];
    if (!any || power > most) most = power;
    any = true;
  }
  return -most;
}

static bool apply_scale(solve *s) {
  const lemke_problem *p = s->original;
  if (!lcp_scale_choose(p, &s->K_arena, s->row_power, s->column_power))
    return false;
  s->unit = power_of_q(p, s->row_power);
  for (int j = 0; j < p->n; j++)
    for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
      int power = s->row_power[p->row[e]] + s->column_power[j];
      s->value[e] = power != 0 ? ldexp(p->value[e], power) : p->value[e];
    }
  for (int i = 0; i < p->n; i++)
    s->q[i] = ldexp(p->q[i], s->row_power[i] + s->unit);
  s->scaled = *p;
  s->scaled.value = s->value;
  s->scaled.q = s->q;
  s->scaled.scale = 0;
  return true;
}

/* z in original units. */
static void unscale(solve *s) {
  for (int j = 0; j < s->scaled.n; j++)
    s->z[j] = ldexp(s->z[j], s->column_power[j] - s->unit);
}

static bool take_lcp_arrays(solve *s) {
  size_t n = (size_t)s->original->n;
  s->arena.source = s->K_arena.source = s->source;
  arena_start(&s->arena);
  arena_start(&s->K_arena);
  return ARENA_TAKE(&s->arena, s->row_power, n) &&
         ARENA_TAKE(&s->arena, s->column_power, n) &&
         ARENA_TAKE(&s->arena, s->q, n) && ARENA_TAKE(&s->arena, s->z, n) &&
         ARENA_TAKE(&s->arena, s->w, n) && ARENA_TAKE(&s->arena, s->size, n) &&
         ARENA_TAKE(&s->arena, s->rest, n) &&
         ARENA_TAKE(&s->arena, s->ray, n) &&
         ARENA_TAKE(&s->arena, s->value, s->original->column_start[n]) &&
         ARENA_TAKE(&s->arena, s->to_K, n) &&
         ARENA_TAKE(&s->arena, s->basic, n) &&
         ARENA_TAKE(&s->arena, s->negative, n);
}

/* ---- block pivoting ------------------------------------------------------------ */

/* The columns and rows of the scaled M that belong to basic z, and their
 * number; -1 when memory runs out. */
static int gather_K(solve *s) {
  const lemke_problem *p = &s->scaled;
  int k = 0;
  size_t entries = 0;
  for (int j = 0; j < p->n; j++) s->to_K[j] = s->basic[j] ? k++ : -1;
  for (int j = 0; j < p->n; j++)
    if (s->basic[j])
      entries += (size_t)(p->column_start[j + 1] - p->column_start[j]);
  arena_start(&s->K_arena);
  if (!ARENA_TAKE(&s->K_arena, s->K_value, entries) ||
      !ARENA_TAKE(&s->K_arena, s->K_row, entries) ||
      !ARENA_TAKE(&s->K_arena, s->K_start, k + 1))
    return -1;

  int end = 0;
  for (int j = 0; j < p->n; j++) {
    if (!s->basic[j]) continue;
    s->K_start[s->to_K[j]] = end;
    for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
      if (s->to_K[p->row[e]] < 0) continue;
      s->K_row[end] = s->to_K[p->row[e]];
      s->K_value[end++] = p->value[e];
    }
  }
  s->K_start[k] = end;
  return k;
}

/* z <- the basic solution in scaled units, dependent columns taken out of the
 * basis. */
static lemke_factor_status solve_basic(solve *s) {
  for (;;) {
    int k = gather_K(s);
    if (k < 0) return LEMKE_FACTOR_NO_MEMORY;
    s->report->factorisations++;
    lemke_factor_status status =
        lemke_factor_build(s->factor, k, s->K_start, s->K_row, s->K_value);
    if (status == LEMKE_FACTOR_NO_MEMORY) return status;
    if (status == LEMKE_FACTOR_SINGULAR) {
      const bool *dependent = lemke_factor_dependent(s->factor);
      for (int j = 0; j < s->scaled.n; j++)
        if (s->to_K[j] >= 0 && dependent[s->to_K[j]]) s->basic[j] = false;
      continue;
    }
    for (int j = 0; j < s->scaled.n; j++)
      if (s->to_K[j] >= 0) s->w[s->to_K[j]] = -s->q[j];
    lemke_factor_solve(s->factor, s->w);
    for (int j = 0; j < s->scaled.n; j++)
      s->z[j] = s->to_K[j] >= 0 ? s->w[s->to_K[j]] : 0;
    return LEMKE_FACTOR_OK;
  }
}

/* One step of refinement of the basic z on the scaled data: what is left is
 * added up in twice the digits, so that z is right to nearly all of its own.
 * @return the largest change, relative to its z. */
static double refine(solve *s) {
  const lemke_problem *p = &s->scaled;
  double *rest = s->rest, *low = s->w, largest = 0;
  for (int j = 0; j < p->n; j++)
    if (s->to_K[j] >= 0) {
      rest[s->to_K[j]] = -s->q[j];
      low[s->to_K[j]] = 0;
    }
  for (int j = 0; j < p->n; j++) {
    if (s->to_K[j] < 0) continue;
    for (int e = s->K_start[s->to_K[j]]; e < s->K_start[s->to_K[j] + 1]; e++) {
      int k = s->K_row[e];
      long_sum sum = {rest[k], low[k]};
      long_sum_add_product(&sum, -s->K_value[e], s->z[j]);
      rest[k] = sum.sum;
      low[k] = sum.rest;
    }
  }
  for (int j = 0; j < p->n; j++)
    if (s->to_K[j] >= 0) rest[s->to_K[j]] += low[s->to_K[j]];
  lemke_factor_solve(s->factor, rest);
  for (int j = 0; j < p->n; j++) {
    if (s->to_K[j] < 0) continue;
    double change = rest[s->to_K[j]];
    s->z[j] += change;
    if (!(fabs(change) <= largest * fabs(s->z[j])))
      largest = fabs(change) / fabs(s->z[j]);
  }
  return largest;
}

/* The basic solution, clipped at 0 and in original units, as a candidate; then
 * without the values that may be rounding of 0: sums of nothing but such have no
 * digits. */
static void consider_scaled(solve *s) {
  size_t n = (size_t)s->scaled.n;
  double *scaled = s->rest, largest = 0;
  for (size_t j = 0; j < n; j++) {
    scaled[j] = larger_of(s->z[j], 0);
    largest = larger_of(largest, scaled[j]);
  }
  memcpy(s->z, scaled, sizeof *scaled * n);
  unscale(s);
  consider(s);
  if (good_enough(s)) return;
  for (size_t j = 0; j < n; j++)
    s->z[j] = scaled[j] > rounding_share * largest ? scaled[j] : 0;
  unscale(s);
  consider(s);
}

/* True if z_j or w_j, whichever is basic, is negative by more than `share` of
 * what the sums that it is in are added up from. */
static bool violates(const solve *s, int j, double share) {
  const lemke_problem *p = &s->scaled;
  if (!s->basic[j]) return s->w[j] < -share * s->size[j];
  if (!(s->z[j] < 0)) return false;
  for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++)
    if (-s->z[j] * fabs(p->value[e]) > share * s->size[p->row[e]]) return true;
  return false;
}

/* Exchanges what is negative. @return how many there were. */
static int exchange(solve *s, double share) {
  int count = 0;
  for (int j = 0; j < s->scaled.n; j++) {
    s->negative[j] = violates(s, j, share);
    count += s->negative[j];
  }
  for (int j = 0; j < s->scaled.n; j++) s->basic[j] ^= s->negative[j];
  return count;
}

/* The solution of the last factors' basis, as good as doubles have it. */
static void refine_basis(solve *s) {
  for (int k = 0; k < most_refinements; k++)
    if (refine(s) < refined_enough) break;
  add_up(&s->scaled, s->z, s->w, s->size);
}

static bool solve_basis(solve *s) {
  if (solve_basic(s) != LEMKE_FACTOR_OK) return false;
  refine_basis(s);
  return true;
}

/* Rounds of exchanges while they get fewer, with some patience.
 * @return false when memory ran out. */
static bool pivot_blocks(solve *s) {
  int left = patience, fewest = s->original->n + 1;
  double share = violation_share * s->tolerance;
  for (int i = 0; i < s->scaled.n; i++) s->basic[i] = s->q[i] < 0;
  for (int round = 0; round < most_exchanges && left > 0; round++) {
    s->report->exchanges++;
    if (solve_basic(s) != LEMKE_FACTOR_OK) return false;
    add_up(&s->scaled, s->z, s->w, s->size);
    int violators = exchange(s, share);
    if (violators == 0) {
      refine_basis(s);
      violators = exchange(s, share);
    }
    left = violators < fewest ? patience : left - 1;
    if (violators < fewest) fewest = violators;
    if (violators == 0) break;
  }
  consider_scaled(s);
  return true;
}

/* ---- Lemke's method on a tableau --------------------------------------------------- */

/* The basis that a path ended at is solved for, and put right by exchanges where
 * a tie was not one. @return false when memory ran out. */
static bool finish_basis(solve *s) {
  double share = violation_share * s->tolerance;
  for (int mend = 0; mend < most_mends; mend++) {
    if (!solve_basis(s)) return false;
    int violators = exchange(s, share);
    consider_scaled(s);
    if (violators == 0 || good_enough(s)) break;
  }
  return true;
}

/* The first of all complementary bases that is a solution.
 * @return false when memory ran out. */
static bool enumerate(solve *s) {
  int n = s->scaled.n;
  for (unsigned set = 0; set < 1u << n; set++) {
    for (int j = 0; j < n; j++) s->basic[j] = set >> j & 1;
    if (!solve_basis(s)) return false;
    int violators = 0;
    for (int j = 0; j < n; j++)
      violators += violates(s, j, violation_share * s->tolerance);
    if (violators > 0) continue;
    consider_scaled(s);
    if (good_enough(s)) break;
  }
  return true;
}

/* True if z is the ray's direction of a path with a covering vector of ones. */
static bool is_ray(solve *s, const double z[]) {
  double *w = s->w, *size = s->size, z0 = 0;
  int largest = 0;
  add_up(&s->scaled, z, w, size);
  for (int i = 0; i < s->scaled.n; i++) {
    w[i] -= s->q[i];
    size[i] -= fabs(s->q[i]);
    if (z[i] > z[largest]) largest = i;
  }
  if (!(z[largest] > 0)) return false;
  z0 = larger_of(-w[largest], 0);
  for (int i = 0; i < s->scaled.n; i++) {
    double error = z[i] > 0 ? fabs(w[i] + z0) : -(w[i] + z0);
    if (!(error <= ray_tolerance * (size[i] + z0))) return false;
  }
  return true;
}

static void keep_ray(solve *s, const double z[]) {
  if (s->has_ray || !is_ray(s, z)) return;
  memcpy(s->ray, z, sizeof *z * (size_t)s->scaled.n);
  s->has_ray = true;
}

/* The scaled M in full; NULL where memory runs out. */
static double *dense_matrix(solve *s) {
  const lemke_problem *p = &s->scaled;
  size_t n = (size_t)p->n;
  double *M;
  if (s->dense != NULL) return s->dense;
  if (!ARENA_TAKE(&s->arena, M, n * n)) return NULL;
  memset(M, 0, n * n * sizeof *M);
  for (size_t j = 0; j < n; j++)
    for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++)
      M[(size_t)p->row[e] * n + j] += p->value[e];
  return s->dense = M;
}

/* One path by whole tableaus, and what follows from the basis that it ends at. */
static lcp_status try_tableau(solve *s, const double M[], const double cover[],
                              int label, long max_pivots) {
  double *ray;
  if (!ARENA_TAKE(&s->K_arena, ray, s->scaled.n)) return LCP_NO_MEMORY;
  lemke_dense_report path =
      lemke_dense_solve(s->scaled.n, M, s->q, cover, label, max_pivots,
                        &s->K_arena, s->basic, ray);
  s->report->pivots += path.pivots;
  if (path.status == LEMKE_NO_MEMORY) return LCP_NO_MEMORY;
  if (path.status == LEMKE_RAY) keep_ray(s, ray);
  // exchanges may lead on where the path is 2^n pivots long
  if (path.status == LEMKE_SOLVED || path.status == LEMKE_PIVOT_LIMIT) {
    if (!finish_basis(s)) return LCP_NO_MEMORY;
    if (good_enough(s)) return LCP_SOLVED;
  }
  return path.status == LEMKE_PIVOT_LIMIT ? LCP_PIVOT_LIMIT : LCP_INACCURATE;
}

/* In (0.5, 1.5), spread evenly, the same on every run. */
static double spread_column(int i) {
  return 0.5 + (double)((unsigned)i * 2654435761u >> 8) / 16777216.0;
}

/* Paths by whole tableaus: with a covering vector of ones, then uneven. */
static lcp_status try_covers(solve *s, long max_pivots) {
  int n = s->scaled.n;
  const double *M = dense_matrix(s);
  if (M == NULL) return LCP_NO_MEMORY;
  lcp_status end = LCP_INACCURATE;
  for (int uneven = 0; uneven < 2; uneven++) {
    double *cover;
    arena_start(&s->K_arena);
    if (!ARENA_TAKE(&s->K_arena, cover, n)) return LCP_NO_MEMORY;
    for (int i = 0; i < n; i++) cover[i] = uneven ? spread_column(i) : 1;
    lcp_status status = try_tableau(s, M, cover, n, max_pivots);
    if (status == LCP_NO_MEMORY || status == LCP_SOLVED) return status;
    if (status == LCP_PIVOT_LIMIT) end = status;
  }
  return end;
}

/* Paths from artificial edges, label after label, until one ends at a solution. A long
 * one is left: the next label's may be short. */
static lcp_status try_edges(solve *s, long max_pivots) {
  int n = s->scaled.n;
  const double *M = dense_matrix(s);
  if (M == NULL) return LCP_NO_MEMORY;
  long end = s->report->pivots + max_pivots;
  for (int k = 0; k < n && s->report->pivots < end; k++) {
    arena_start(&s->K_arena);
    lcp_status status = try_tableau(s, M, NULL, k, 10L * n);
    if (status == LCP_NO_MEMORY || status == LCP_SOLVED) return status;
  }
  return LCP_INACCURATE;
}

/* ---- Lemke's method with factors ---------------------------------------------------- */

/* A run of Lemke's method on the scaled problem. */
static lcp_status try_lemke(solve *s) {
  lemke_options options = {.tolerance = s->tolerance, .ray = s->rest};
  lemke_workspace *workspace = lemke_workspace_create(s->source);
  if (workspace == NULL) return LCP_NO_MEMORY;
  lemke_report lemke = lemke_solve(workspace, &s->scaled, &options, NULL, s->z);
  lemke_workspace_destroy(workspace);
  s->report->pivots += lemke.pivots;
  s->report->factorisations += lemke.factorisations;
  if (lemke.status == LEMKE_NO_MEMORY) return LCP_NO_MEMORY;
  if (lemke.status == LEMKE_RAY) keep_ray(s, s->rest);
  for (int j = 0; j < s->scaled.n; j++) s->basic[j] = s->z[j] > 0;
  unscale(s);
  consider(s);
  if (!good_enough(s) && lemke.status == LEMKE_SOLVED && !finish_basis(s))
    return LCP_NO_MEMORY;
  if (good_enough(s)) return LCP_SOLVED;
  return lemke.status == LEMKE_PIVOT_LIMIT ? LCP_PIVOT_LIMIT : LCP_INACCURATE;
}

/* ---- certificates ----------------------------------------------------------------- */

/* The largest (M'y)_j beside |M|'y, positive ones only; sums, sizes [n] out or
 * NULL. */
static double transposed_error(const lemke_problem *p, const double y[],
                               double relative[]) {
  double worst = 0;
  for (int j = 0; j < p->n; j++) {
    long_sum sum = {0, 0};
    double size = 0;
    for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
      if (y[p->row[e]] == 0) continue;
      long_sum_add_product(&sum, p->value[e], y[p->row[e]]);
      size += fabs(p->value[e] * y[p->row[e]]);
    }
    double error = size > 0 ? long_sum_value(&sum) / size : 0;
    if (relative != NULL) relative[j] = size > 0 ? error : -1;
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

double lcp_certificate_error(const lemke_problem *problem, const double y[]) {
  long_sum sum = {0, 0};
  double size = 0;
  for (int i = 0; i < problem->n; i++) {
    if (!(y[i] >= 0) || !isfinite(y[i])) return INFINITY;
    long_sum_add_product(&sum, problem->q[i], y[i]);
    size += fabs(problem->q[i]) * y[i];
  }
  if (!(long_sum_value(&sum) < -certificate_margin * size)) return INFINITY;
  double worst = transposed_error(problem, y, NULL);
  return isnan(worst) ? INFINITY : worst;
}

/* Makes the sums (M'y)_j that are nearly 0 so, on the scaled data.
 * @return false when memory ran out. */
static bool polish(solve *s, double y[]) {
  const lemke_problem *p = &s->scaled;
  int *place = s->to_K, n_rows = 0, n_columns = 0;
  double largest = 0, *relative = s->size, *A, *weight;
  for (int i = 0; i < p->n; i++) largest = larger_of(largest, y[i]);
  for (int i = 0; i < p->n; i++) {
    if (!(y[i] > certificate_least * largest)) y[i] = 0;
    place[i] = y[i] > 0 ? n_rows++ : -1;
  }
  transposed_error(p, y, relative);
  for (int j = 0; j < p->n; j++)
    n_columns += fabs(relative[j]) <= certificate_zero;
  arena_start(&s->K_arena);
  if (!ARENA_TAKE(&s->K_arena, A, (size_t)n_rows * (size_t)n_columns) ||
      !ARENA_TAKE(&s->K_arena, weight, n_rows))
    return false;
  memset(A, 0, sizeof *A * (size_t)n_rows * (size_t)n_columns);
  int column = 0;
  for (int j = 0; j < p->n; j++) {
    if (!(fabs(relative[j]) <= certificate_zero)) continue;
    for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++)
      if (place[p->row[e]] >= 0)
        A[(size_t)place[p->row[e]] * (size_t)n_columns + (size_t)column] +=
            p->value[e];
    column++;
  }
  for (int i = 0; i < p->n; i++)
    if (place[i] >= 0) weight[place[i]] = y[i];
  if (!farkas_polish(n_rows, n_columns, A, weight, &s->K_arena)) return false;
  for (int i = 0; i < p->n; i++) y[i] = place[i] >= 0 ? weight[place[i]] : 0;
  return true;
}

/* Takes y (of the scaled problem, overwritten) for a certificate where it is one.
 * @return false when memory ran out. */
static bool try_certificate(solve *s, double y[], double certificate[]) {
  int n = s->scaled.n;
  if (!polish(s, y)) return false;
  for (int i = 0; i < n; i++) y[i] = ldexp(y[i], s->row_power[i]);
  double error = lcp_certificate_error(s->original, y);
  if (!(error <= lcp_certificate_tolerance)) return true;
  s->report->status = LCP_INFEASIBLE;
  s->report->certificate = error;
  if (certificate != NULL) memcpy(certificate, y, sizeof *y * (size_t)n);
  return true;
}

/* w = [ 0 -M' ] z + [ 0 ]
 *     [ M  0  ]     [ q ],  which has a solution where M z + q >= 0, z >= 0 has
 * one, and else a ray whose second half is a certificate: the matrix is skew.
 * @return false when memory ran out */
static bool feasibility_problem(solve *s, lemke_problem *pair) {
  const lemke_problem *p = &s->scaled;
  int n = p->n, n_entries = p->column_start[n], *start, *row;
  double *value, *q;
  if (!ARENA_TAKE(&s->arena, start, 2 * n + 1) ||
      !ARENA_TAKE(&s->arena, row, 2 * (size_t)n_entries) ||
      !ARENA_TAKE(&s->arena, value, 2 * (size_t)n_entries) ||
      !ARENA_TAKE(&s->arena, q, 2 * n))
    return false;
  for (int j = 0; j < n; j++) {
    start[j] = p->column_start[j];
    q[j] = 0;
    q[n + j] = p->q[j];
  }
  for (int e = 0; e < n_entries; e++) {
    row[e] = n + p->row[e];
    value[e] = p->value[e];
  }
  // the transpose's columns, counted and then filled
  memset(start + n, 0, sizeof *start * ((size_t)n + 1));
  for (int e = 0; e < n_entries; e++) start[n + p->row[e] + 1]++;
  start[n] = n_entries;
  for (int i = 0; i < n; i++) start[n + i + 1] += start[n + i];
  for (int j = 0; j < n; j++)
    for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
      int at = start[n + p->row[e]]++;
      row[at] = j;
      value[at] = -p->value[e];
    }
  for (int i = n; i > 0; i--) start[n + i] = start[n + i - 1];
  start[n] = n_entries;
  *pair = (lemke_problem){2 * n, start, row, value, q, NULL, 0};
  return true;
}

/* The ray of that problem, by whole tableaus or with factors; ray [2 n] out.
 * @return LEMKE_RAY, LEMKE_NO_MEMORY or anything else */
static lemke_status follow_feasibility(solve *s, const lemke_problem *pair,
                                       double ray[]) {
  size_t m = (size_t)pair->n;
  if (s->scaled.n > largest_tableau) {
    lemke_workspace *workspace = lemke_workspace_create(s->source);
    if (workspace == NULL) return LEMKE_NO_MEMORY;
    double *z;
    lemke_options options = {.tolerance = s->tolerance, .ray = ray};
    lemke_status status = LEMKE_NO_MEMORY;
    if (ARENA_TAKE(&s->arena, z, m)) {
      lemke_report path = lemke_solve(workspace, pair, &options, NULL, z);
      s->report->pivots += path.pivots;
      s->report->factorisations += path.factorisations;
      status = path.status;
    }
    lemke_workspace_destroy(workspace);
    return status;
  }
  double *dense, *cover;
  bool *basic;
  if (!ARENA_TAKE(&s->arena, dense, m * m) ||
      !ARENA_TAKE(&s->arena, cover, m) || !ARENA_TAKE(&s->arena, basic, m))
    return LEMKE_NO_MEMORY;
  memset(dense, 0, sizeof *dense * m * m);
  for (size_t j = 0; j < m; j++) {
    cover[j] = 1;
    for (int e = pair->column_start[j]; e < pair->column_start[j + 1]; e++)
      dense[(size_t)pair->row[e] * m + j] += pair->value[e];
  }
  lemke_dense_report path =
      lemke_dense_solve(pair->n, dense, pair->q, cover, pair->n,
                        pivot_limit(pair->n), &s->K_arena, basic, ray);
  s->report->pivots += path.pivots;
  return path.status;
}

/* True if what no path solved has no solution.
 * @return false when memory ran out */
static bool find_certificate(solve *s, double certificate[]) {
  int n = s->scaled.n;
  lemke_problem pair;
  double *ray;
  if (n > largest_certified) return true;
  if (!ARENA_TAKE(&s->arena, ray, 2 * n)) return false;
  if (s->has_ray) {
    // of a copositive-plus M the ray itself
    for (int i = 0; i < n; i++)
      ray[i] = ldexp(s->ray[i], s->column_power[i] - s->row_power[i]);
    if (!try_certificate(s, ray, certificate)) return false;
    if (s->report->status == LCP_INFEASIBLE) return true;
  }
  arena_start(&s->K_arena);
  if (!feasibility_problem(s, &pair)) return false;
  lemke_status end = follow_feasibility(s, &pair, ray);
  if (end == LEMKE_NO_MEMORY) return false;
  return end != LEMKE_RAY || try_certificate(s, ray + n, certificate);
}

/* ---- all of it ---------------------------------------------------------------------- */

/* Method after method until one solves it. */
static lcp_status run_methods(solve *s, lcp_method method) {
  memset(s->z, 0, sizeof *s->z * (size_t)s->original->n);
  consider(s);
  if (good_enough(s)) return LCP_SOLVED;
  if (method == LCP_FAST && !pivot_blocks(s)) return LCP_NO_MEMORY;
  if (good_enough(s)) return LCP_SOLVED;
  lcp_status tableaus = LCP_INACCURATE;
  int n = s->scaled.n;
  if (n <= largest_tableau) tableaus = try_covers(s, 100 + 20L * n);
  if (tableaus == LCP_SOLVED || tableaus == LCP_NO_MEMORY) return tableaus;
  if (n <= largest_enumerated && !enumerate(s)) return LCP_NO_MEMORY;
  if (good_enough(s)) return LCP_SOLVED;
  lcp_status status = try_lemke(s);
  if (status == LCP_SOLVED || status == LCP_NO_MEMORY) return status;
  bool again = n > largest_tableau || tableaus == LCP_PIVOT_LIMIT;
  if (again && n <= largest_late_tableau)
    tableaus = try_covers(s, pivot_limit(n));
  if (tableaus == LCP_SOLVED || tableaus == LCP_NO_MEMORY) return tableaus;
  if (n <= largest_late_tableau) {
    lcp_status edges = try_edges(s, pivot_limit(n));
    if (edges == LCP_SOLVED || edges == LCP_NO_MEMORY) return edges;
  }
  if (s->has_ray) return LCP_RAY;
  return tableaus == LCP_PIVOT_LIMIT ? tableaus : status;
}

lcp_report lcp_solve(const lemke_problem *problem, lcp_method method,
                     double tolerance, const memory_source *source, double z[],
                     double y[]) {
  lcp_report report = {.status = LCP_NO_MEMORY,
                       .residual = INFINITY,
                       .componentwise = INFINITY,
                       .certificate = INFINITY};
  solve s = {.original = problem,
             .source = source,
             .tolerance = tolerance,
             .best = z,
             .report = &report};
  if (y != NULL) memset(y, 0, sizeof *y * (size_t)problem->n);
  if (problem->n == 0)
    return (lcp_report){.status = LCP_SOLVED, .certificate = INFINITY};
  s.factor = lemke_factor_create(source);
  if (s.factor != NULL && take_lcp_arrays(&s) && apply_scale(&s)) {
    report.status = run_methods(&s, method);
    bool asks = report.status != LCP_SOLVED && report.status != LCP_NO_MEMORY;
    if (asks && !find_certificate(&s, y)) report.status = LCP_NO_MEMORY;
  }
  lemke_factor_destroy(s.factor);
  arena_release(&s.arena);
  arena_release(&s.K_arena);
  return report;
}
