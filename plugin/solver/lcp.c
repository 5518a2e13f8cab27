#include "solver/lcp.h"

#include <math.h>
#include <string.h>

#include "common/arena.h"
#include "solver/lemke_factor.h"

enum {
  /* a pass halves the digits by which the largest entries of rows are off 1: the
   * fifth leaves a few of 308 */
  scaling_passes = 5,
  /* a bound on the cost: Lemke takes what is left */
  most_exchanges = 50,
  /* rounds without fewer violators: some add to them before they help, and
   * exchanges may go in a circle */
  patience = 5
};

/* The scaled problem and what both methods need. */
typedef struct solve {
  const lemke_problem *original;
  const memory_source *source;
  double tolerance;
  lemke_problem scaled;
  double *scale; /* [n] powers of two */
  double *value; /* [n entries] of the scaled M */
  double *q;     /* [n] scaled */
  double *z, *w; /* [n] a candidate, in original units */
  double *best;  /* [n] the caller's z */
  bool *basic;   /* [n] z is basic */
  bool *nearest; /* [n] likewise, with the fewest violators so far */
  int fewest;    /* those; n + 1: there is none */
  int *to_K;     /* [n] place among the basic ones, -1 */
  int *K_start, *K_row;
  double *K_value;
  double *rest;  /* [n] of a refinement */
  arena arena;   /* of the solve */
  arena K_arena; /* of a factorisation */
  lcp_report *report;
} solve;

/* ---- the residual ------------------------------------------------------------ */

static double relative_to(const lemke_problem *problem) {
  double largest = 0;
  for (int i = 0; i < problem->n; i++)
    largest = fmax(largest, fabs(problem->q[i]));
  return 1 + largest;
}

double lcp_residual(const lemke_problem *problem, const double z[],
                    double w[]) {
  for (int i = 0; i < problem->n; i++)
    if (!isfinite(z[i])) return INFINITY;
  double worst = lemke_residual(problem, z, w) / relative_to(problem);
  return isnan(worst) ? INFINITY : worst;
}

/* Keeps the candidate z where it is the best so far. */
static void consider(solve *s) {
  double residual = lcp_residual(s->original, s->z, s->w);
  if (!(residual < s->report->residual)) return;
  s->report->residual = residual;
  memcpy(s->best, s->z, sizeof *s->z * (size_t)s->original->n);
}

static bool good_enough(const solve *s) {
  return s->report->residual <= s->tolerance;
}

/* ---- scaling ------------------------------------------------------------------ */

/* The power of two next to 1/sqrt(size). */
static double halfway_to_one(double size) {
  int exponent;
  frexp(size, &exponent);
  return ldexp(1, -exponent / 2);
}

/* Brings the largest entry of every row and column together near 1. */
static void choose_scale(solve *s) {
  const lemke_problem *p = s->original;
  double *most = s->w;
  for (int i = 0; i < p->n; i++) s->scale[i] = 1;
  for (int pass = 0; pass < scaling_passes; pass++) {
    memset(most, 0, sizeof *most * (size_t)p->n);
    for (int j = 0; j < p->n; j++)
      for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
        int i = p->row[e];
        double size = fabs(p->value[e]) * s->scale[i] * s->scale[j];
        most[i] = fmax(most[i], size);
        most[j] = fmax(most[j], size);
      }
    for (int i = 0; i < p->n; i++)
      if (most[i] > 0 && isfinite(most[i]))
        s->scale[i] *= halfway_to_one(most[i]);
  }
}

static void apply_scale(solve *s) {
  const lemke_problem *p = s->original;
  for (int j = 0; j < p->n; j++)
    for (int e = p->column_start[j]; e < p->column_start[j + 1]; e++)
      s->value[e] = s->scale[p->row[e]] * p->value[e] * s->scale[j];
  for (int i = 0; i < p->n; i++) s->q[i] = s->scale[i] * p->q[i];
  s->scaled = *p;
  s->scaled.value = s->value;
  s->scaled.q = s->q;
  s->scaled.scale = 0;
}

static bool take_arrays(solve *s) {
  size_t n = (size_t)s->original->n;
  s->arena.source = s->K_arena.source = s->source;
  s->fewest = s->original->n + 1;
  arena_start(&s->arena);
  return ARENA_TAKE(&s->arena, s->scale, n) && ARENA_TAKE(&s->arena, s->q, n) &&
         ARENA_TAKE(&s->arena, s->z, n) && ARENA_TAKE(&s->arena, s->w, n) &&
         ARENA_TAKE(&s->arena, s->rest, n) &&
         ARENA_TAKE(&s->arena, s->value, s->original->column_start[n]) &&
         ARENA_TAKE(&s->arena, s->to_K, n) &&
         ARENA_TAKE(&s->arena, s->basic, n) &&
         ARENA_TAKE(&s->arena, s->nearest, n);
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
static lemke_factor_status solve_basic(solve *s, lemke_factor *factor) {
  for (;;) {
    int k = gather_K(s);
    if (k < 0) return LEMKE_FACTOR_NO_MEMORY;
    s->report->factorisations++;
    lemke_factor_status status =
        lemke_factor_build(factor, k, s->K_start, s->K_row, s->K_value);
    if (status == LEMKE_FACTOR_NO_MEMORY) return status;
    if (status == LEMKE_FACTOR_SINGULAR) {
      const bool *dependent = lemke_factor_dependent(factor);
      for (int j = 0; j < s->scaled.n; j++)
        if (s->to_K[j] >= 0 && dependent[s->to_K[j]]) s->basic[j] = false;
      continue;
    }
    for (int j = 0; j < s->scaled.n; j++)
      if (s->to_K[j] >= 0) s->w[s->to_K[j]] = -s->q[j];
    lemke_factor_solve(factor, s->w);
    for (int j = 0; j < s->scaled.n; j++)
      s->z[j] = s->to_K[j] >= 0 ? s->w[s->to_K[j]] : 0;
    return LEMKE_FACTOR_OK;
  }
}

/* One step of refinement of the basic z on the scaled data. */
static void refine(solve *s, lemke_factor *factor) {
  double *rest = s->rest;
  lemke_residual(&s->scaled, s->z, s->w); // w = M z + q
  for (int j = 0; j < s->scaled.n; j++)
    if (s->to_K[j] >= 0) rest[s->to_K[j]] = -s->w[j];
  lemke_factor_solve(factor, rest);
  for (int j = 0; j < s->scaled.n; j++)
    if (s->to_K[j] >= 0) s->z[j] += rest[s->to_K[j]];
}

/* The basic solution, clipped at 0 and in original units, as a candidate. */
static void consider_scaled(solve *s) {
  for (int j = 0; j < s->scaled.n; j++)
    s->z[j] = fmax(s->z[j], 0) * s->scale[j];
  consider(s);
}

static bool violates(const solve *s, int j, double level) {
  return (s->basic[j] ? s->z[j] : s->w[j]) < -level;
}

/* Exchanges what is negative. @return how many there were. */
static int exchange(solve *s, double level) {
  int count = 0;
  for (int j = 0; j < s->scaled.n; j++) count += violates(s, j, level);
  if (count < s->fewest)
    memcpy(s->nearest, s->basic, sizeof *s->basic * (size_t)s->scaled.n);
  for (int j = 0; j < s->scaled.n; j++)
    if (violates(s, j, level)) s->basic[j] = !s->basic[j];
  return count;
}

/* Rounds of exchanges while they get fewer, with some patience.
 * @return false when memory ran out. */
static bool pivot_blocks(solve *s, lemke_factor *factor) {
  int left = patience;
  double largest = 0;
  for (int i = 0; i < s->scaled.n; i++) {
    largest = fmax(largest, fabs(s->q[i]));
    s->basic[i] = s->q[i] < 0;
  }
  double level = 1e-3 * s->tolerance * largest;
  for (int round = 0; round < most_exchanges && left > 0; round++) {
    s->report->exchanges++;
    if (solve_basic(s, factor) != LEMKE_FACTOR_OK) return false;
    refine(s, factor);
    lemke_residual(&s->scaled, s->z, s->w);
    int violators = exchange(s, level);
    left = violators < s->fewest ? patience : left - 1;
    if (violators < s->fewest) s->fewest = violators;
    if (violators == 0) break;
  }
  consider_scaled(s);
  return true;
}

static bool try_blocks(solve *s) {
  lemke_factor *factor = lemke_factor_create(s->source);
  if (factor == NULL) return false;
  bool whole = pivot_blocks(s, factor);
  lemke_factor_destroy(factor);
  return whole;
}

/* ---- Lemke's method -------------------------------------------------------------- */

/* One run of Lemke's method on the scaled or the original problem. */
static lemke_status run_lemke(solve *s, lemke_workspace *workspace, bool scaled,
                              const lemke_options *options, const bool warm[]) {
  lemke_report lemke = lemke_solve(workspace, scaled ? &s->scaled : s->original,
                                   options, warm, s->z);
  s->report->pivots += lemke.pivots;
  s->report->factorisations += lemke.factorisations;
  if (lemke.status == LEMKE_NO_MEMORY) return lemke.status;
  for (int j = 0; scaled && j < s->scaled.n; j++) s->z[j] *= s->scale[j];
  consider(s);
  return good_enough(s) ? LEMKE_SOLVED : lemke.status;
}

/* From the nearest basis that block pivoting met, where that is near, and with
 * few pivots to spend. */
static lemke_status try_nearest(solve *s, lemke_workspace *workspace) {
  int n = s->scaled.n;
  if (s->fewest > n / 10) return LEMKE_INACCURATE;
  lemke_options options = {.tolerance = s->tolerance, .max_pivots = 20 + n / 4};
  return run_lemke(s, workspace, true, &options, s->nearest);
}

/* One run after another until the original problem is solved: scaled; closer
 * from the basis found, where only the original residual is short; by the other
 * ties; unscaled. One that ran into the pivot limit is the last. */
static lemke_status try_lemke(solve *s, lemke_workspace *workspace) {
  static const struct {
    bool scaled, from_best;
    double tighter;
    lemke_ties ties;
  } runs[] = {{.scaled = true, .tighter = 1},
              {.scaled = true, .from_best = true, .tighter = 1e-4},
              {.scaled = true, .tighter = 1, .ties = LEMKE_TIES_LAST},
              {.scaled = false, .tighter = 1}};
  lemke_status first = LEMKE_INACCURATE;
  lemke_status status = try_nearest(s, workspace);
  if (status == LEMKE_NO_MEMORY || good_enough(s)) return status;
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    if (runs[i].from_best && status == LEMKE_RAY) continue;
    for (int j = 0; j < s->scaled.n; j++) s->basic[j] = s->best[j] > 0;
    lemke_options options = {.tolerance = s->tolerance * runs[i].tighter,
                             .ties = runs[i].ties};
    status = run_lemke(s, workspace, runs[i].scaled, &options,
                       runs[i].from_best ? s->basic : NULL);
    if (status == LEMKE_NO_MEMORY || good_enough(s)) return status;
    if (i == 0) first = status;
    if (status == LEMKE_PIVOT_LIMIT) return status;
  }
  return first == LEMKE_SOLVED ? LEMKE_INACCURATE : first;
}

lcp_report lcp_solve(const lemke_problem *problem, solver_kind kind,
                     double tolerance, const memory_source *source,
                     double z[]) {
  lcp_report report = {.status = LEMKE_NO_MEMORY, .residual = INFINITY};
  solve s = {.original = problem,
             .source = source,
             .tolerance = tolerance,
             .best = z,
             .report = &report};
  if (problem->n == 0) return (lcp_report){.status = LEMKE_SOLVED};
  if (take_arrays(&s)) {
    choose_scale(&s);
    apply_scale(&s);
    memset(s.z, 0, sizeof *s.z * (size_t)problem->n);
    consider(&s);
    bool whole = kind != SOLVER_FAST || good_enough(&s) || try_blocks(&s);
    lemke_workspace *workspace = NULL;
    if (whole && good_enough(&s)) {
      report.status = LEMKE_SOLVED;
    } else if (whole && (workspace = lemke_workspace_create(source)) != NULL) {
      report.status = try_lemke(&s, workspace);
      lemke_workspace_destroy(workspace);
    }
  }
  arena_release(&s.arena);
  arena_release(&s.K_arena);
  return report;
}
