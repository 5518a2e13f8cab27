#include "lcp/lcp.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "common/arena.h"
#include "common/columns.h"
#include "common/long_sum.h"
#include "common/minmax.h"

enum {
  /* rounds without fewer violators that go both ways: some add to them before they
   * help, and exchanges may go in a circle */
  patience = 5,
  /* all complementary bases are looked at where no path ends at a solution, 2^n of
   * them: matrices of no class that Lemke's method is for */
  largest_enumerated = 10,
  /* artificial edges, of which there are n, and certificates, of twice as many
   * variables, are for problems up to here */
  largest_searched = 3000,
  pivots_of_edges = 100 /* all of them, times n: a bound on the cost */
};

/* How near a path has to come: the bases that it ends at are solved for exactly. */
static const double path_tolerance = 1e-10;

/* A basic value below this share of the largest may be nothing but rounding. */
static const double rounding_share = 1e-13;

/* q'y has to be below -this |q|'y: a hundred thousand times what y is off. */
static const double certificate_margin = 1e-9;

/* A sum (M'y)_j this close to 0, relative, is polished to be 0; weights below this
 * share of the largest are left out. */
static const double certificate_zero = 1e-6, certificate_least = 1e-11;
enum { most_polishes = 300 };

const double lcp_certificate_tolerance = 1e-14;

/* The scaled problem and what the methods need. */
typedef struct solve {
  const lemke_problem *original;
  double tolerance;
  lemke_problem scaled;
  lemke_workspace *workspace;
  int *row_power, *column_power; /* [n] of two: the scales */
  double *z, *w;   /* [n] a candidate, in scaled or original units */
  double *size;    /* [n] what its w were added up from */
  double *clipped; /* [n] */
  double *best;    /* [n] the caller's z */
  bool *basic;     /* [n] z is basic */
  int n_in,
      n_out;     /* of the last basis: negative w and z, which are exchanged, */
  int n_dropped; /* and columns that depended on others */
  double *ray;   /* [2 n] of the last path */
  arena arena;
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

/* What rounding leaves of a sum of n terms, relative to their sizes. */
static double rounding_of(int n) { return 4 * DBL_EPSILON * (n + 1); }

bool lcp_is_solved(int n, double residual, double componentwise,
                   double tolerance) {
  return componentwise <= tolerance &&
         (residual <= tolerance || componentwise <= rounding_of(n));
}

static bool good_enough(const solve *s) {
  return lcp_is_solved(s->original->n, s->report->residual,
                       s->report->componentwise, s->tolerance);
}

/* Keeps z, in scaled units and >= 0, where it is the best so far. */
static void consider(solve *s, const double z[]) {
  const lemke_problem *p = s->original;
  for (int j = 0; j < p->n; j++) s->z[j] = ldexp(z[j], s->column_power[j]);
  double componentwise = lcp_componentwise(p, s->z, s->w, s->size);
  double residual = largest_violation(p, s->z, s->w);
  bool solved = lcp_is_solved(p->n, residual, componentwise, s->tolerance);
  if (!solved && !(residual < s->report->residual)) return;
  s->report->residual = residual;
  s->report->componentwise = componentwise;
  memcpy(s->best, s->z, sizeof *s->z * (size_t)p->n);
}

/* ---- scaling ------------------------------------------------------------------ */

/* The rows' and the columns' means in turn: what is left of a spread of 2^60
 * after them is a few powers of two in a matrix with many zeros, none in a full
 * one. */
enum { passes = 12 };

/* The sums over the rows, or the columns, of their entries' powers of two with the
 * others' scales become scales that take their means to 0. */
static void settle(const lemke_problem *p, bool rows, const double other[],
                   double sum[], int count[], double power[]) {
  size_t n = (size_t)p->n;
  memset(sum, 0, n * sizeof *sum);
  memset(count, 0, n * sizeof *count);
  for (int j = 0; j < p->n; j++)
    for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
      int to = rows ? p->row[e] : j, exponent;
      if (p->value[e] == 0) continue;
      frexp(p->value[e], &exponent);
      sum[to] += exponent + other[rows ? j : p->row[e]];
      count[to]++;
    }
  for (size_t i = 0; i < n; i++)
    if (count[i] > 0) power[i] = -sum[i] / count[i];
}

/* Scales that bring the geometric means of every row's and column's entries near 1, as
 * powers of two, which lose no bit. Lemke's path on R M C, R q is that of M with the
 * covering vector R^-1 e, which promises the same for every class of matrices; a P-matrix
 * stays one. @return false when memory ran out */
static bool choose_scales(const lemke_problem *p, arena *arena, int row_power[],
                          int column_power[]) {
  size_t n = (size_t)p->n;
  double *row, *column, *sum;
  int *count;
  if (!ARENA_TAKE(arena, row, n) || !ARENA_TAKE(arena, column, n) ||
      !ARENA_TAKE(arena, sum, n) || !ARENA_TAKE(arena, count, n))
    return false;
  memset(row, 0, n * sizeof *row);
  memset(column, 0, n * sizeof *column);
  for (int pass = 0; pass < passes; pass++) {
    settle(p, true, column, sum, count, row);
    settle(p, false, row, sum, count, column);
  }
  for (size_t i = 0; i < n; i++) {
    row_power[i] = (int)round(row[i]);
    column_power[i] = (int)round(column[i]);
  }
  return true;
}

static bool take_scaled(solve *s) {
  const lemke_problem *p = s->original;
  size_t n = (size_t)p->n;
  double *value, *q;
  if (!ARENA_TAKE(&s->arena, s->row_power, n) ||
      !ARENA_TAKE(&s->arena, s->column_power, n) ||
      !ARENA_TAKE(&s->arena, value, p->column_start[n]) ||
      !ARENA_TAKE(&s->arena, q, n) || !ARENA_TAKE(&s->arena, s->z, n) ||
      !ARENA_TAKE(&s->arena, s->w, n) || !ARENA_TAKE(&s->arena, s->size, n) ||
      !ARENA_TAKE(&s->arena, s->clipped, n) ||
      !ARENA_TAKE(&s->arena, s->basic, n) ||
      !ARENA_TAKE(&s->arena, s->ray, 2 * n) ||
      !choose_scales(p, &s->arena, s->row_power, s->column_power))
    return false;
  for (int j = 0; j < p->n; j++)
    for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++)
      value[e] =
          ldexp(p->value[e], s->row_power[p->row[e]] + s->column_power[j]);
  for (int i = 0; i < p->n; i++) q[i] = ldexp(p->q[i], s->row_power[i]);
  s->scaled = *p;
  s->scaled.value = value;
  s->scaled.q = q;
  s->scaled.scale = 0;
  return true;
}

/* ---- block pivoting ------------------------------------------------------------ */

/* True if z_j or w_j, whichever is basic, is negative by more than rounding of the
 * sums that it is in. */
static bool violates(const solve *s, int j) {
  const lemke_problem *p = &s->scaled;
  const double share = rounding_of(p->n);
  if (!s->basic[j]) return s->w[j] < -share * s->size[j];
  if (!(s->z[j] < 0)) return false;
  for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++)
    if (-s->z[j] * fabs(p->value[e]) > share * s->size[p->row[e]]) return true;
  return false;
}

/* Solves for the basis and considers it, clipped at 0; then without the values that
 * may be rounding of 0: sums of nothing but such have no digits. What is negative is
 * exchanged. @return false when memory ran out */
static bool solve_basis(solve *s) {
  int n = s->scaled.n;
  double largest = 0;
  s->n_in = s->n_out = s->n_dropped = 0;
  for (int j = 0; j < n; j++) s->n_dropped += s->basic[j];
  long taken = lemke_solve_basis(s->workspace, &s->scaled, s->basic, s->z);
  if (taken == 0) return false;
  s->report->factorisations += taken;
  for (int j = 0; j < n; j++) s->n_dropped -= s->basic[j];
  add_up(&s->scaled, s->z, s->w, s->size);
  for (int j = 0; j < n; j++) {
    s->clipped[j] = larger_of(s->z[j], 0);
    largest = larger_of(largest, s->clipped[j]);
    if (!violates(s, j)) continue;
    s->n_out += s->basic[j];
    s->n_in += !s->basic[j];
    s->basic[j] = !s->basic[j];
  }
  consider(s, s->clipped);
  if (good_enough(s)) return true;
  for (int j = 0; j < n; j++)
    if (s->clipped[j] <= rounding_share * largest) s->clipped[j] = 0;
  consider(s, s->clipped);
  return true;
}

/* From the basis on: all that is negative is exchanged until nothing is. Rounds that
 * go one way cannot go in a circle, however few they exchange; others count while they
 * bring no fewer. @return false when memory ran out */
static bool pivot_blocks(solve *s) {
  int left = patience, fewest = s->scaled.n + 1, n_negative;
  bool went_in = true, went_out = true;
  do {
    s->report->exchanges++;
    if (!solve_basis(s)) return false;
    n_negative = s->n_in + s->n_out;
    bool goes_in = s->n_in > 0, goes_out = s->n_out + s->n_dropped > 0;
    if (n_negative < fewest)
      left = patience;
    else if ((goes_in || went_in) && (goes_out || went_out))
      left--;
    if (n_negative < fewest) fewest = n_negative;
    went_in = goes_in;
    went_out = goes_out;
  } while (n_negative > 0 && left > 0 && !good_enough(s));
  return true;
}

/* The first of all complementary bases that is a solution.
 * @return false when memory ran out. */
static bool enumerate(solve *s) {
  int n = s->scaled.n;
  for (unsigned set = 0; set < 1u << n && !good_enough(s); set++) {
    for (int j = 0; j < n; j++) s->basic[j] = set >> j & 1;
    if (!solve_basis(s)) return false;
  }
  return true;
}

/* ---- Lemke's method ------------------------------------------------------------- */

static lemke_report follow_path(solve *s, const lemke_problem *problem,
                                lemke_options options, double z[]) {
  options.tolerance = path_tolerance;
  options.apart = true;
  options.ray = s->ray;
  lemke_report path = lemke_solve(s->workspace, problem, &options, z);
  s->report->pivots += path.pivots;
  s->report->factorisations += path.factorisations;
  return path;
}

/* A path, and exchanges from the basis that it ended at: where that is off by a tie,
 * or far off because the path is 2^n pivots long. */
static lcp_status try_path(solve *s, lemke_options options) {
  options.basis = s->basic;
  lemke_report path = follow_path(s, &s->scaled, options, s->z);
  if (path.status == LEMKE_NO_MEMORY) return LCP_NO_MEMORY;
  if (path.status == LEMKE_RAY) return LCP_RAY;
  if (!pivot_blocks(s)) return LCP_NO_MEMORY;
  if (good_enough(s)) return LCP_SOLVED;
  return path.status == LEMKE_PIVOT_LIMIT ? LCP_PIVOT_LIMIT : LCP_INACCURATE;
}

/* Paths from a covering vector of ones, from an uneven one, which ends one in ten of the
 * problems of n = 128 that are nothing but ties, and from artificial edges, label after
 * label: a long one is left, as the next label's may be short.
 * @return the first one's end where none solves it */
static lcp_status try_paths(solve *s) {
  int n = s->scaled.n;
  lcp_status first = try_path(s, (lemke_options){0});
  if (first == LCP_SOLVED || first == LCP_NO_MEMORY) return first;
  lcp_status next = try_path(s, (lemke_options){.uneven = true});
  long end = s->report->pivots + pivots_of_edges * (long)n;
  for (int k = 0; k < n && n <= largest_searched; k++) {
    if (next == LCP_SOLVED || next == LCP_NO_MEMORY) return next;
    if (s->report->pivots >= end) break;
    next = try_path(
        s, (lemke_options){.first_label = k + 1, .max_pivots = 2L * n});
  }
  return first;
}

/* ---- certificates ----------------------------------------------------------------- */

/* (M'y)_j; *size is what it was added up from */
static double transposed_sum(const lemke_problem *p, int j, const double y[],
                             double *size) {
  long_sum sum = {0, 0};
  *size = 0;
  for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
    double entry = p->value[e], weight = y[p->row[e]];
    long_sum_add_product(&sum, entry, weight);
    *size += fabs(entry * weight);
  }
  return long_sum_value(&sum);
}

double lcp_certificate_error(const lemke_problem *problem, const double y[]) {
  long_sum demand = {0, 0};
  double size = 0, worst = 0;
  for (int i = 0; i < problem->n; i++) {
    if (!(y[i] >= 0) || !isfinite(y[i])) return INFINITY;
    long_sum_add_product(&demand, problem->q[i], y[i]);
    size += fabs(problem->q[i]) * y[i];
  }
  if (!(long_sum_value(&demand) < -certificate_margin * size)) return INFINITY;
  for (int j = 0; j < problem->n; j++) {
    double sum = transposed_sum(problem, j, y, &size);
    if (sum > 0 || isnan(sum)) worst = larger_of(worst, sum / size);
  }
  return isnan(worst) ? INFINITY : worst;
}

/* Makes the sums (M'y)_j that are nearly 0 so up to rounding, one after the other by changes of y in
 * proportion to it (S. Kaczmarz, 1937): more of them may be 0 than the
 * path's basis says, as M's own rounding is all that tells them apart. */
static void polish(const lemke_problem *p, double y[]) {
  double largest = 0, worst = INFINITY, size;
  for (int i = 0; i < p->n; i++) largest = larger_of(largest, y[i]);
  for (int i = 0; i < p->n; i++)
    if (y[i] <= certificate_least * largest) y[i] = 0;
  for (int k = 0; k < most_polishes && worst > DBL_EPSILON; k++) {
    worst = 0;
    for (int j = 0; j < p->n; j++) {
      double sum = transposed_sum(p, j, y, &size), squares = 0;
      if (!(fabs(sum) <= certificate_zero * size) || size == 0) continue;
      worst = larger_of(worst, fabs(sum) / size);
      for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
        double term = p->value[e] * y[p->row[e]];
        squares += term * p->value[e];
      }
      for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
        double *weight = &y[p->row[e]];
        *weight -= sum / squares * p->value[e] * *weight;
      }
    }
  }
}

/* w = [ 0 -M' ] z + [ 0 ]
 *     [ M  0  ]     [ q ],  which has a solution where M z + q >= 0, z >= 0 has
 * one, and else a ray whose second half is a certificate: the matrix is skew.
 * @return false when memory ran out */
static bool feasibility_problem(solve *s, lemke_problem *pair) {
  const lemke_problem *p = &s->scaled;
  int n = p->n, *start, *row, *place;
  size_t most = 2 * (size_t)p->column_start[n], count = 0;
  matrix_entry *entries;
  double *value, *q;
  if (!ARENA_TAKE(&s->arena, start, 2 * n + 1) ||
      !ARENA_TAKE(&s->arena, entries, most) ||
      !ARENA_TAKE(&s->arena, row, most) ||
      !ARENA_TAKE(&s->arena, value, most) ||
      !ARENA_TAKE(&s->arena, place, 2 * n) || !ARENA_TAKE(&s->arena, q, 2 * n))
    return false;
  for (int j = 0; j < n; j++) {
    q[j] = 0;
    q[n + j] = p->q[j];
    for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
      int i = p->row[e];
      entries[count++] = (matrix_entry){n + i, j, p->value[e]};
      entries[count++] = (matrix_entry){j, n + i, -p->value[e]};
    }
  }
  columns_of_entries(2 * n, count, entries, start, row, value, place);
  *pair = (lemke_problem){2 * n, start, row, value, q, NULL, 0};
  return true;
}

/* Whether what no path solved has no solution.
 * @return false when memory ran out */
static bool find_certificate(solve *s, double certificate[]) {
  int n = s->scaled.n;
  lemke_problem pair;
  double *z, *y = s->ray + n;
  if (n > largest_searched) return true;
  if (!ARENA_TAKE(&s->arena, z, 2 * n) || !feasibility_problem(s, &pair))
    return false;
  lemke_report path = follow_path(s, &pair, (lemke_options){0}, z);
  if (path.status != LEMKE_RAY) return path.status != LEMKE_NO_MEMORY;
  polish(&s->scaled, y);
  for (int i = 0; i < n; i++) y[i] = ldexp(y[i], s->row_power[i]);
  double error = lcp_certificate_error(s->original, y);
  if (!(error <= lcp_certificate_tolerance)) return true;
  s->report->status = LCP_INFEASIBLE;
  s->report->certificate = error;
  if (certificate != NULL) memcpy(certificate, y, sizeof *y * (size_t)n);
  return true;
}

/* ---- all of it ---------------------------------------------------------------------- */

/* Method after method until one solves it. */
static lcp_status run_methods(solve *s, lcp_method method, double y[]) {
  int n = s->scaled.n;
  for (int i = 0; i < n; i++)
    s->basic[i] = method == LCP_FAST && s->scaled.q[i] < 0;
  if (method == LCP_FAST ? !pivot_blocks(s) : !solve_basis(s))
    return LCP_NO_MEMORY;
  if (good_enough(s)) return LCP_SOLVED;
  lcp_status status = try_paths(s);
  if (status == LCP_SOLVED || status == LCP_NO_MEMORY) return status;
  if (n <= largest_enumerated && !enumerate(s)) return LCP_NO_MEMORY;
  if (good_enough(s)) return LCP_SOLVED;
  s->report->status = status;
  return find_certificate(s, y) ? s->report->status : LCP_NO_MEMORY;
}

lcp_report lcp_solve(const lemke_problem *problem, lcp_method method,
                     double tolerance, const memory_source *source, double z[],
                     double y[]) {
  lcp_report report = {.status = LCP_NO_MEMORY,
                       .residual = INFINITY,
                       .componentwise = INFINITY,
                       .certificate = INFINITY};
  solve s = {.original = problem,
             .tolerance = tolerance,
             .best = z,
             .report = &report,
             .arena.source = source};
  if (y != NULL) memset(y, 0, sizeof *y * (size_t)problem->n);
  if (problem->n == 0)
    return (lcp_report){.status = LCP_SOLVED, .certificate = INFINITY};
  arena_start(&s.arena);
  s.workspace = lemke_workspace_create(source);
  if (s.workspace != NULL && take_scaled(&s))
    report.status = run_methods(&s, method, y);
  lemke_workspace_destroy(s.workspace);
  arena_release(&s.arena);
  return report;
}
