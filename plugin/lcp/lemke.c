#include "lcp/lemke.h"

#include <math.h>
#include <string.h>

#include "common/arena.h"
#include "common/minmax.h"
#include "lcp/lemke_factor.h"

enum {
  /* eta columns on one factorisation: all of them are gone through in every
   * pivot, and their rounding adds up */
  lemke_rebuild_every = 64,
  /* paths in one solve, each tighter than the one before: a bound on the cost */
  rounds_limit = 8
};

/* A pivot below this share of its column's largest entry is not trusted. */
static const double pivot_share = 1e-10;

/* A step of refinement that changes values by this share leaves about its square. */
static const double refined_enough = 1e-8;
enum { refinements_limit = 4 };

struct lemke_workspace {
  const memory_source *source;
  lemke_factor *factor;
  arena arena;   /* of a solve */
  arena K_arena; /* of a factorisation */
};

/* A basis of the columns  w_j: e_j,  z_j: -M_j,  z0: cover,  and its values:
 * B x = q. A variable is known by its number: z_j is j, w_j is n + j and z0 is
 * 2n; basic[i] is the one at position i. */
typedef struct core {
  const lemke_problem *problem;
  const lemke_options *options;
  lemke_report *report;
  lemke_workspace *workspace;
  int n;
  double scale, delta;
  int open;   /* the index with neither z nor w basic while z0 is; else -1 */
  int label;  /* of the artificial edge that the path began on, or -1 */
  bool apart; /* a path begins with its variables moved apart */

  bool *z_basic; /* [n] */
  bool *earlier; /* [n] z_basic of an earlier pivot of the path */
  int *basic;    /* [n] */
  double *x;     /* [n] values of the basic variables */
  double *d;     /* [n] B^-1 times the entering column */
  double *q;     /* [n] q, moved a little where a path went round */
  double *cover; /* [n] column of z0 */
  double *work;  /* [n] */
  double *z, *w; /* [n] a candidate */

  int n_etas;
  int *eta_position; /* [lemke_rebuild_every] */
  double *etas;      /* [lemke_rebuild_every][n] */

  int k;         /* non-unit columns of the rebuilt basis */
  int *K_at;     /* [k] their positions */
  int *K_column; /* [k] the variables they belong to */
  int *to_K;     /* [n] the inverse of K_at, -1 */
} core;

/* ---- memory ------------------------------------------------------------ */

lemke_workspace *lemke_workspace_create(const memory_source *source) {
  lemke_workspace *workspace = memory_allocate_zero(source, sizeof *workspace);
  if (workspace == NULL) return NULL;
  workspace->source = source;
  workspace->arena.source = workspace->K_arena.source = source;
  workspace->factor = lemke_factor_create(source);
  if (workspace->factor == NULL) {
    lemke_workspace_destroy(workspace);
    return NULL;
  }
  return workspace;
}

void lemke_workspace_destroy(lemke_workspace *workspace) {
  if (workspace == NULL) return;
  const memory_source *source = workspace->source;
  lemke_factor_destroy(workspace->factor);
  arena_release(&workspace->arena);
  arena_release(&workspace->K_arena);
  source->release(source->context, workspace, sizeof *workspace);
}

static bool core_take(core *c) {
  arena *arena = &c->workspace->arena;
  size_t n = c->n;
  arena_start(arena);
  return ARENA_TAKE(arena, c->x, n) && ARENA_TAKE(arena, c->d, n) &&
         ARENA_TAKE(arena, c->q, n) && ARENA_TAKE(arena, c->cover, n) &&
         ARENA_TAKE(arena, c->work, n) && ARENA_TAKE(arena, c->z, n) &&
         ARENA_TAKE(arena, c->w, n) && ARENA_TAKE(arena, c->basic, n) &&
         ARENA_TAKE(arena, c->z_basic, n) && ARENA_TAKE(arena, c->earlier, n) &&
         ARENA_TAKE(arena, c->K_at, n) && ARENA_TAKE(arena, c->K_column, n) &&
         ARENA_TAKE(arena, c->to_K, n) &&
         ARENA_TAKE(arena, c->eta_position, lemke_rebuild_every) &&
         ARENA_TAKE(arena, c->etas, n * lemke_rebuild_every);
}

/* ---- columns ----------------------------------------------------------- */

static bool is_free(const core *c, int variable) {
  if (c->problem->is_free == NULL || variable == 2 * c->n) return false;
  return c->problem->is_free[variable < c->n ? variable : variable - c->n];
}

/* y += factor times the column of `variable` */
static void add_column(const core *c, int variable, double factor, double y[]) {
  const lemke_problem *p = c->problem;
  if (factor == 0) return;
  if (variable == 2 * c->n) {
    for (int i = 0; i < c->n; i++) y[i] += factor * c->cover[i];
  } else if (variable >= c->n) {
    y[variable - c->n] += factor;
  } else {
    for (int e = p->column_start[variable]; e < p->column_start[variable + 1];
         e++)
      y[p->row[e]] -= factor * p->value[e];
  }
}

/* ---- the basis --------------------------------------------------------- */

/* Factorises K, the non-unit columns in the rows of their positions: with the
 * unit columns out of the way that is all there is to factorise. */
static lemke_factor_status factor_K(core *c) {
  const lemke_problem *p = c->problem;
  arena *arena = &c->workspace->K_arena;
  int count = 0, *row, *start;
  double *value;
  for (int t = 0; t < c->k; t++) {
    int variable = c->K_column[t];
    count += variable == 2 * c->n
                 ? c->k
                 : p->column_start[variable + 1] - p->column_start[variable];
  }
  arena_start(arena);
  if (!ARENA_TAKE(arena, value, count) || !ARENA_TAKE(arena, row, count) ||
      !ARENA_TAKE(arena, start, c->k + 1))
    return LEMKE_FACTOR_NO_MEMORY;

  int end = 0;
  for (int t = 0; t < c->k; t++) {
    int variable = c->K_column[t];
    start[t] = end;
    if (variable == 2 * c->n) {
      for (int s = 0; s < c->k; s++) {
        if (c->cover[c->K_at[s]] == 0) continue;
        row[end] = s;
        value[end++] = c->cover[c->K_at[s]];
      }
      continue;
    }
    for (int e = p->column_start[variable]; e < p->column_start[variable + 1];
         e++) {
      if (c->to_K[p->row[e]] < 0) continue;
      row[end] = c->to_K[p->row[e]];
      value[end++] = -p->value[e];
    }
  }
  start[c->k] = end;
  c->report->factorisations++;
  return lemke_factor_build(c->workspace->factor, c->k, start, row, value);
}

/* Puts every basic variable at its natural position, z0 at the open index, and
 * factorises from the original data. */
static lemke_factor_status rebuild(core *c) {
  c->n_etas = 0;
  c->k = 0;
  for (int j = 0; j < c->n; j++) {
    c->basic[j] = j == c->open ? 2 * c->n : c->z_basic[j] ? j : c->n + j;
    c->to_K[j] = -1;
    if (c->basic[j] == c->n + j) continue;
    c->to_K[j] = c->k;
    c->K_column[c->k] = c->basic[j];
    c->K_at[c->k++] = j;
  }
  return factor_K(c);
}

/* y <- B^-1 y for the rebuilt basis, without the pivots since. */
static void solve_rebuilt(core *c, double y[]) {
  double *y_K = c->work;
  for (int t = 0; t < c->k; t++) y_K[t] = y[c->K_at[t]];
  lemke_factor_solve(c->workspace->factor, y_K);

  // what the non-unit columns leave in the rows of the unit ones
  for (int t = 0; t < c->k; t++) add_column(c, c->K_column[t], -y_K[t], y);
  for (int t = 0; t < c->k; t++) y[c->K_at[t]] = y_K[t];
}

/* y <- B^-1 y */
static void solve_basis(core *c, double y[]) {
  solve_rebuilt(c, y);
  for (int m = 0; m < c->n_etas; m++) {
    const double *eta = c->etas + (size_t)m * c->n;
    int at = c->eta_position[m];
    double value = y[at] / eta[at];
    if (value != 0)
      for (int i = 0; i < c->n; i++) y[i] -= eta[i] * value;
    y[at] = value;
  }
}

/* y = B^-1 b on fresh factors, and what is left, in `rest` [n], as long as that matters. */
static void solve_exactly(core *c, const double b[], double y[],
                          double rest[]) {
  memcpy(y, b, sizeof *y * c->n);
  solve_basis(c, y);
  for (int step = 0; step < refinements_limit; step++) {
    double largest = 0;
    memcpy(rest, b, sizeof *rest * c->n);
    for (int i = 0; i < c->n; i++) add_column(c, c->basic[i], -y[i], rest);
    solve_basis(c, rest);
    for (int i = 0; i < c->n; i++) {
      y[i] += rest[i];
      if (!(fabs(rest[i]) <= largest * fabs(y[i])))
        largest = fabs(rest[i]) / fabs(y[i]);
    }
    if (largest < refined_enough) break;
  }
}

/* Makes the complementary basis of z_basic regular: of columns that depend on
 * others those of bounded variables go first, then w takes their place. A free
 * row leaves only where the free rows depend on each other. */
static lemke_factor_status rebuild_complementary(core *c) {
  c->open = -1;
  for (;;) {
    lemke_factor_status status = rebuild(c);
    if (status != LEMKE_FACTOR_SINGULAR) return status;

    const bool *dependent = lemke_factor_dependent(c->workspace->factor);
    bool any_bounded = false;
    for (int t = 0; t < c->k; t++)
      if (dependent[t] && !is_free(c, c->K_column[t])) any_bounded = true;
    for (int t = 0; t < c->k; t++)
      if (dependent[t] && (!any_bounded || !is_free(c, c->K_column[t])))
        c->z_basic[c->K_column[t]] = false;
  }
}

/* ---- one pivot --------------------------------------------------------- */

/* The tie rule: does `variable` with pivot `size` go before the best so far? */
static bool goes_before(int variable, double size, int best, double best_size) {
  if (best < 0 || size > best_size) return true;
  if (size < best_size) return false;
  return variable < best;
}

/* True if the path is at its end once `variable` leaves. */
static bool ends_path(const core *c, int variable) {
  return variable == 2 * c->n || (c->label >= 0 && variable == c->n + c->label);
}

static int complement(const core *c, int variable) {
  return variable < c->n ? variable + c->n : variable - c->n;
}

/* The position whose variable leaves when x - theta d, theta >= 0; -1 when
 * none blocks. */
static int ratio_test(const core *c) {
  double most = 0;
  for (int i = 0; i < c->n; i++)
    if (!is_free(c, c->basic[i])) most = fmax(most, fabs(c->d[i]));
  double least = pivot_share * most;

  double theta = INFINITY;
  for (int i = 0; i < c->n; i++)
    if (c->d[i] > least && !is_free(c, c->basic[i]))
      theta = fmin(theta, (fmax(c->x[i], 0) + c->delta) / c->d[i]);
  if (theta == INFINITY) return -1;

  int at = -1;
  for (int i = 0; i < c->n; i++) {
    if (!(c->d[i] > least) || is_free(c, c->basic[i]) ||
        fmax(c->x[i], 0) > theta * c->d[i])
      continue;
    if (ends_path(c, c->basic[i])) return i;
    if (goes_before(c->basic[i], c->d[i], at < 0 ? -1 : c->basic[at],
                    at < 0 ? 0 : c->d[at]))
      at = i;
  }
  return at;
}

static void set_z_basic(core *c, int variable, bool entering) {
  if (variable < c->n) c->z_basic[variable] = entering;
}

/* `entering`, whose direction is d, takes position `at`; returns what left. */
static int exchange(core *c, int entering, int at, double theta) {
  int leaving = c->basic[at];
  for (int i = 0; i < c->n; i++) c->x[i] -= theta * c->d[i];
  c->x[at] = theta;
  memcpy(c->etas + (size_t)c->n_etas * c->n, c->d, sizeof *c->d * c->n);
  c->eta_position[c->n_etas++] = at;

  set_z_basic(c, leaving, false);
  set_z_basic(c, entering, true);
  c->basic[at] = entering;
  c->open = ends_path(c, leaving) ? -1 : leaving % c->n;
  // z0 stands for z_label
  if (c->open < 0 && leaving < 2 * c->n) c->z_basic[c->label] = true;
  c->report->pivots++;
  return leaving;
}

/* z0 enters as -B e and drives the most negative basic variable to 0. Returns
 * the variable that left, or -1 where none was negative. */
static int enter_cover(core *c) {
  int at = -1;
  double level = c->delta;
  memset(c->cover, 0, sizeof *c->cover * c->n);
  for (int i = 0; i < c->n; i++) {
    double cover = c->options->uneven ? spread(i) : 1;
    c->d[i] = is_free(c, c->basic[i]) ? 0 : -cover;
    add_column(c, c->basic[i], c->d[i], c->cover);
    if (c->d[i] == 0 || !(c->x[i] / c->d[i] >= level)) continue;
    if (c->x[i] / c->d[i] > level || at < 0 || c->basic[i] < c->basic[at]) {
      level = c->x[i] / c->d[i];
      at = i;
    }
  }
  return at < 0 ? -1 : exchange(c, 2 * c->n, at, level);
}

static void find_direction(core *c, int entering) {
  memset(c->d, 0, sizeof *c->d * c->n);
  add_column(c, entering, 1, c->d);
  solve_basis(c, c->d);
}

/* z_label comes from infinity until what it mends last is 0, and the label met there
 * likewise, if that mends the rest. Returns as enter_cover; -2 where the edge leads
 * nowhere. */
static int enter_edge(core *c) {
  int entering = 2 * c->n, left = -1;
  memset(c->cover, 0, sizeof *c->cover * c->n);
  add_column(c, c->label, 1, c->cover);
  for (int turn = 0; turn < 2; turn++) {
    int at = -1;
    bool all = true;
    find_direction(c, entering);
    for (int i = 0; i < c->n; i++) {
      if (c->x[i] >= -c->delta) continue;
      if (!(c->d[i] < -pivot_share))
        all = false;
      else if (at < 0 || c->x[i] / c->d[i] > c->x[at] / c->d[at])
        at = i;
    }
    if (turn == 0 ? at < 0 : !all) return -2;
    if (at < 0) break;
    left = exchange(c, entering, at, c->x[at] / c->d[at]);
    if (c->open < 0) break;
    entering = complement(c, left);
  }
  return left;
}

/* ---- the path ---------------------------------------------------------- */

typedef enum path_end {
  PATH_COMPLEMENTARY,
  PATH_RAY,
  PATH_PIVOT_LIMIT,
  PATH_SINGULAR, /* the basis turned out to depend on rounding errors */
  PATH_CIRCLE,   /* a basis came again */
  PATH_NO_MEMORY
} path_end;

/* Where variables reach 0 together the path may go round in a circle. It cannot
 * once q is moved so that none do, and farther than the ratio test overlooks. That
 * is done at the path's beginning: moved on the way, the basis may lie on another
 * path, which is closed. The end is solved with the true q again. */
static void move_apart(core *c) {
  double step = 1e5 * c->delta;
  for (int i = 0; i < c->n; i++) {
    if (is_free(c, c->basic[i])) continue;
    // the root, as many of the numbers themselves differ alike
    double shift = step * sqrt(spread(c->basic[i]));
    c->x[i] += shift;
    add_column(c, c->basic[i], shift, c->q);
  }
}

static path_end rebuild_on_path(core *c) {
  switch (rebuild(c)) {
    case LEMKE_FACTOR_OK:
      solve_exactly(c, c->q, c->x, c->d);
      return PATH_COMPLEMENTARY;
    case LEMKE_FACTOR_SINGULAR: return PATH_SINGULAR;
    default: return PATH_NO_MEMORY;
  }
}

/* Where `entering` grows for ever. */
static void read_ray(core *c, int entering) {
  double *ray = c->options->ray;
  if (ray == NULL) return;
  memset(c->w, 0, sizeof *c->w * c->n);
  add_column(c, entering, 1, c->w);
  solve_exactly(c, c->w, c->d, c->q); // the path is at its end
  memset(ray, 0, sizeof *ray * c->n);
  for (int i = 0; i < c->n; i++)
    if (c->basic[i] < c->n)
      ray[c->basic[i]] = is_free(c, c->basic[i]) ? -c->d[i] : fmax(-c->d[i], 0);
  if (entering < c->n) ray[entering] = 1;
}

static path_end follow_path(core *c, int left) {
  int entering = complement(c, left);
  long max_pivots =
      c->options->max_pivots > 0 ? c->options->max_pivots : 20L * c->n + 1000;
  long pivots = 0, look = 1;
  int earlier_open = -1;

  while (c->report->pivots < max_pivots) {
    find_direction(c, entering);
    int at = ratio_test(c);
    bool doubtful = at < 0 || fabs(c->d[at]) < 1e-5;
    if ((doubtful && c->n_etas > 0) || c->n_etas == lemke_rebuild_every) {
      path_end end = rebuild_on_path(c);
      if (end != PATH_COMPLEMENTARY) return end;
      continue;
    }
    if (at < 0) {
      read_ray(c, entering);
      return PATH_RAY;
    }

    double theta = fmax(c->x[at], 0) / c->d[at];
    int leaving = exchange(c, entering, at, theta);
    if (ends_path(c, leaving)) return PATH_COMPLEMENTARY;
    entering = complement(c, leaving);

    /* what is compared with moves on ever more rarely, so that a circle of any
     * length closes on it */
    size_t size = sizeof *c->earlier * c->n;
    if (c->open == earlier_open && memcmp(c->earlier, c->z_basic, size) == 0)
      return PATH_CIRCLE;
    if (++pivots == look) {
      memcpy(c->earlier, c->z_basic, size);
      earlier_open = c->open;
      look *= 2;
    }
  }
  return PATH_PIVOT_LIMIT;
}

/* ---- results ----------------------------------------------------------- */

double lemke_residual(const lemke_problem *problem, const double z[],
                      double w[]) {
  double worst = 0;
  memcpy(w, problem->q, sizeof *w * problem->n);
  for (int j = 0; j < problem->n; j++)
    for (int e = problem->column_start[j];
         z[j] != 0 && e < problem->column_start[j + 1]; e++)
      w[problem->row[e]] += problem->value[e] * z[j];
  for (int i = 0; i < problem->n; i++) {
    bool is_free = problem->is_free != NULL && problem->is_free[i];
    double error = fabs(is_free ? w[i] : fmin(z[i], w[i]));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

/* Keeps the basic solution, clipped at 0, if it is the best so far. */
static void consider(core *c, double z[]) {
  memset(c->z, 0, sizeof *c->z * c->n);
  for (int i = 0; i < c->n; i++) {
    int variable = c->basic[i];
    if (variable >= c->n) continue;
    c->z[variable] = is_free(c, variable) ? c->x[i] : fmax(c->x[i], 0);
    if (!isfinite(c->z[variable])) return;
  }
  double residual = lemke_residual(c->problem, c->z, c->w) / c->scale;
  if (!(residual < c->report->residual)) return;
  c->report->residual = residual;
  memcpy(z, c->z, sizeof *z * c->n);
}

static bool negative_value(const core *c) {
  for (int i = 0; i < c->n; i++)
    if (!is_free(c, c->basic[i]) && !(c->x[i] >= -c->delta)) return true;
  return false;
}

/* One path from the complementary basis of z_basic; its end is considered. */
static path_end run_path(core *c, double z[]) {
  memcpy(c->q, c->problem->q, sizeof *c->q * c->n);
  if (rebuild_complementary(c) == LEMKE_FACTOR_NO_MEMORY) return PATH_NO_MEMORY;
  solve_exactly(c, c->q, c->x, c->d);
  consider(c, z);
  if (!negative_value(c)) return PATH_COMPLEMENTARY;
  if (c->apart) move_apart(c);

  path_end end = PATH_COMPLEMENTARY;
  int left = c->label < 0 ? enter_cover(c) : enter_edge(c);
  if (left < -1) return PATH_RAY;
  if (left >= 0 && c->open >= 0) end = follow_path(c, left);
  if (end == PATH_NO_MEMORY) return end;
  if (end != PATH_COMPLEMENTARY) {
    consider(c, z);
    return end;
  }

  memcpy(c->q, c->problem->q, sizeof *c->q * c->n);
  end = rebuild_on_path(c);
  if (end == PATH_COMPLEMENTARY) consider(c, z);
  return end;
}

static void start_cold(core *c) {
  for (int i = 0; i < c->n; i++) c->z_basic[i] = is_free(c, i);
}

/* A path that ends at a basis whose true values are not quite feasible is
 * continued from there, tighter; one that fails from there begins again cold. */
static lemke_status run_rounds(core *c, double z[]) {
  bool warm = false;
  start_cold(c);
  for (int round = 0; round < rounds_limit; round++) {
    switch (run_path(c, z)) {
      case PATH_NO_MEMORY: return LEMKE_NO_MEMORY;
      case PATH_PIVOT_LIMIT: return LEMKE_PIVOT_LIMIT;
      case PATH_RAY:
        if (!warm) return LEMKE_RAY;
        start_cold(c);
        warm = false;
        break;
      case PATH_CIRCLE:
        if (c->apart) return LEMKE_PIVOT_LIMIT;
        start_cold(c);
        warm = false;
        c->apart = true;
        break;
      case PATH_SINGULAR:
        warm = true;
        c->label = -1;
        break;
      case PATH_COMPLEMENTARY:
        if (c->report->residual <= c->options->tolerance) return LEMKE_SOLVED;
        // what follows starts from this basis, not from all w
        warm = true;
        c->label = -1;
        c->apart = false;
        c->delta *= 0.1;
        break;
    }
  }
  return LEMKE_INACCURATE;
}

lemke_report lemke_solve(lemke_workspace *workspace,
                         const lemke_problem *problem,
                         const lemke_options *options, double z[]) {
  lemke_report report = {LEMKE_NO_MEMORY, INFINITY, 0, 0};
  core c = {.problem = problem,
            .options = options,
            .report = &report,
            .workspace = workspace,
            .n = problem->n,
            .open = -1,
            .label = options->first_label - 1,
            .apart = options->apart};
  if (problem->n == 0) return (lemke_report){LEMKE_SOLVED, 0, 0, 0};
  if (!core_take(&c)) return report;

  double largest_q = 0;
  for (int i = 0; i < c.n; i++)
    largest_q = fmax(largest_q, fabs(problem->q[i]));
  c.scale = problem->scale > 0 ? problem->scale : largest_q > 0 ? largest_q : 1;
  c.delta = 0.1 * options->tolerance * c.scale;

  memset(z, 0, sizeof *z * c.n);
  report.residual = lemke_residual(problem, z, c.w) / c.scale;
  report.status = run_rounds(&c, z);
  if (report.status != LEMKE_NO_MEMORY && report.residual <= options->tolerance)
    report.status = LEMKE_SOLVED;
  if (options->basis != NULL)
    memcpy(options->basis, c.z_basic, sizeof *c.z_basic * c.n);
  return report;
}

long lemke_solve_basis(lemke_workspace *workspace, const lemke_problem *problem,
                       bool basic[], double z[]) {
  lemke_report report = {LEMKE_NO_MEMORY, INFINITY, 0, 0};
  core c = {.problem = problem,
            .report = &report,
            .workspace = workspace,
            .n = problem->n,
            .open = -1};
  if (!core_take(&c)) return 0;
  memcpy(c.z_basic, basic, sizeof *basic * c.n);
  if (rebuild_complementary(&c) == LEMKE_FACTOR_NO_MEMORY) return 0;
  solve_exactly(&c, problem->q, c.x, c.d);
  memcpy(basic, c.z_basic, sizeof *basic * c.n);
  for (int i = 0; i < c.n; i++) z[i] = basic[i] ? c.x[i] : 0;
  return report.factorisations;
}
