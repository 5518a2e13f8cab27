#include "solver/lemke_mlcp.h"

#include <math.h>
#include <string.h>

#include "common/arena.h"
#include "common/columns.h"
#include "mlcp/mlcp.h"

typedef enum bound_type { FIXED, FREE, LOWER, UPPER, BOX } bound_type;

static bound_type bounds_of(const mlcp_row *row) {
  if (row->low == row->high) return FIXED;
  if (row->low == -INFINITY) return row->high == INFINITY ? FREE : UPPER;
  return row->high == INFINITY ? LOWER : BOX;
}

static int variables_of(const mlcp_row *row) {
  if (row->kind == MLCP_ROW_FRICTION) return 0;
  switch (bounds_of(row)) {
    case FIXED: return 0;
    case BOX: return 2;
    default: return 1;
  }
}

/* The LCP while it is built, entry by entry: w_row += value z_column. */
typedef struct builder {
  const mlcp_problem *problem;
  int n, n_entries;
  int *first;       /* [n_rows] a row's variable */
  int *first_beta;  /* [n_frictions] a set's beta+_0; its lambda comes last */
  double *diagonal; /* [n_rows] A_ii, 1 where that is 0 */
  double *friction_edge_diagonal; /* [n_pairs] likewise */

  matrix_entry *entries; // NULL while they are only counted

  double *q, *z, *w;
  bool *is_free;
  int *column_start, *row, *place;
  double *value;
} builder;

/* ---- entries ----------------------------------------------------------- */

static void emit(builder *f, int row, int column, double value) {
  if (value == 0) return;
  if (f->entries != NULL)
    f->entries[f->n_entries] = (matrix_entry){row, column, value};
  f->n_entries++;
}

/* change = M^-1 J' of one side of a row */
static void velocity_change(const mlcp_problem *problem, const mlcp_row *row,
                            int side, double change[6]) {
  matrix6_apply(change, problem->bodies[row->body[side]].inverse_mass,
                row->J[side]);
}

/* Variable `column` is `factor` times the impulses u of the rows from `first`
 * on (n_base of them, all between the same bodies): its effect on the
 * velocities' rows v - v_free - M^-1 J'p = 0. */
static void emit_effect(builder *f, int first, int n_base, const double u[2],
                        double factor, int column) {
  const mlcp_row *rows = f->problem->rows + first;
  for (int t = 0; t < n_base; t++)
    for (int side = 0; side < 2; side++) {
      if (rows[t].body[side] < 0) continue;
      double change[6];
      velocity_change(f->problem, &rows[t], side, change);
      for (int i = 0; i < 6; i++)
        emit(f, 6 * rows[t].body[side] + i, column, -factor * u[t] * change[i]);
    }
}

/* The row w = sign J v of the LCP. */
static void emit_slip(builder *f, int first, int n_base, const double u[2],
                      double sign, int at) {
  const mlcp_row *rows = f->problem->rows + first;
  for (int t = 0; t < n_base; t++)
    for (int side = 0; side < 2; side++)
      for (int i = 0; i < 6 && rows[t].body[side] >= 0; i++)
        emit(f, at, 6 * rows[t].body[side] + i,
             sign * u[t] * rows[t].J[side][i]);
}

static const double alone[2] = {1, 0};

/* The part of p that no variable moves. */
static double constant_impulse(const mlcp_row *row) {
  switch (bounds_of(row)) {
    case FREE: return 0;
    case UPPER: return row->high;
    default: return row->low;
  }
}

static void emit_row(builder *f, int r) {
  const mlcp_row *row = &f->problem->rows[r];
  int at = f->first[r];
  if (row->kind == MLCP_ROW_FRICTION || at < 0) return;

  double sign = bounds_of(row) == UPPER ? -1 : 1;
  emit_effect(f, r, 1, alone, sign / f->diagonal[r], at);
  emit_slip(f, r, 1, alone, sign, at);
  emit(f, at, at, row->compliance / f->diagonal[r]);
  if (bounds_of(row) == BOX) {
    emit(f, at, at + 1, 1);
    emit(f, at + 1, at, -1);
  }
}

/* The scale of a set's limit: with it zeta is in m/s too. */
static double limit_scale(const builder *f, const mlcp_friction *set) {
  return f->diagonal[set->normal >= 0 ? set->normal : set->first_row];
}

static void emit_friction(builder *f, int index) {
  const mlcp_friction *set = &f->problem->frictions[index];
  const mlcp_row *rows = f->problem->rows + set->first_row;
  int n_betas = 2 * set->n_pairs, lambda = f->first_beta[index] + n_betas;

  for (int e = 0; e < n_betas; e++) {
    const double *u = f->problem->pairs[set->first_pair + e / 2].u;
    double A = f->friction_edge_diagonal[set->first_pair + e / 2];
    double sign = e % 2 == 0 ? 1 : -1;
    int at = f->first_beta[index] + e;
    emit_effect(f, set->first_row, set->n_base, u, sign / A, at);
    emit_slip(f, set->first_row, set->n_base, u, sign, at);
    emit(f, at, lambda, 1);
    emit(f, lambda, at, -limit_scale(f, set) / A);

    // compliance couples all friction edges of a set
    for (int other = 0; other < n_betas; other++) {
      const double *u2 = f->problem->pairs[set->first_pair + other / 2].u;
      double coupling = u[0] * rows[0].compliance * u2[0];
      if (set->n_base == 2) coupling += u[1] * rows[1].compliance * u2[1];
      emit(f, f->first_beta[index] + other, at,
           sign * (other % 2 == 0 ? 1 : -1) * coupling / A);
    }
  }
  if (set->normal >= 0)
    emit(f, lambda, f->first[set->normal],
         set->coefficient * limit_scale(f, set) / f->diagonal[set->normal]);
}

static void emit_all(builder *f) {
  f->n_entries = 0;
  for (int i = 0; i < 6 * f->problem->n_bodies; i++) emit(f, i, i, 1);
  for (int r = 0; r < f->problem->n_rows; r++) emit_row(f, r);
  for (int i = 0; i < f->problem->n_frictions; i++) emit_friction(f, i);
}

/* ---- the LCP ----------------------------------------------------------- */

static bool number_variables(builder *f, arena *arena) {
  const mlcp_problem *p = f->problem;
  if (!ARENA_TAKE(arena, f->diagonal, p->n_rows) ||
      !ARENA_TAKE(arena, f->friction_edge_diagonal, p->n_pairs) ||
      !ARENA_TAKE(arena, f->first, p->n_rows) ||
      !ARENA_TAKE(arena, f->first_beta, p->n_frictions))
    return false;

  f->n = 6 * p->n_bodies;
  for (int r = 0; r < p->n_rows; r++) {
    int count = variables_of(&p->rows[r]);
    f->diagonal[r] = mlcp_scale_of(mlcp_row_diagonal(p, r));
    f->first[r] = count > 0 ? f->n : -1;
    f->n += count;
  }
  for (int i = 0; i < p->n_frictions; i++) {
    const mlcp_friction *set = &p->frictions[i];
    f->first_beta[i] = f->n;
    f->n += 2 * set->n_pairs + 1;
    for (int k = set->first_pair; k < set->first_pair + set->n_pairs; k++)
      f->friction_edge_diagonal[k] =
          mlcp_friction_edge_diagonal(p, set, p->pairs[k].u);
  }
  return true;
}

static void fill_q(builder *f) {
  const mlcp_problem *p = f->problem;
  memset(f->q, 0, sizeof *f->q * f->n);
  memset(f->is_free, 0, sizeof *f->is_free * f->n);
  for (int b = 0; b < p->n_bodies; b++)
    for (int i = 0; i < 6; i++) {
      f->q[6 * b + i] = -p->bodies[b].v_free[i];
      f->is_free[6 * b + i] = true;
    }

  for (int r = 0; r < p->n_rows; r++) {
    const mlcp_row *row = &p->rows[r];
    if (row->kind == MLCP_ROW_FRICTION) continue;
    double constant = constant_impulse(row);
    for (int side = 0; side < 2 && constant != 0; side++) {
      double change[6];
      if (row->body[side] < 0) continue;
      velocity_change(p, row, side, change);
      for (int i = 0; i < 6; i++)
        f->q[6 * row->body[side] + i] -= constant * change[i];
    }
    int at = f->first[r];
    if (at < 0) continue;
    double w = row->bias + row->compliance * constant;
    f->q[at] = bounds_of(row) == UPPER ? -w : w;
    f->is_free[at] = bounds_of(row) == FREE;
    if (bounds_of(row) == BOX)
      f->q[at + 1] = (row->high - row->low) * f->diagonal[r];
  }

  for (int i = 0; i < p->n_frictions; i++) {
    const mlcp_friction *set = &p->frictions[i];
    for (int e = 0; e < 2 * set->n_pairs; e++) {
      const double *u = p->pairs[set->first_pair + e / 2].u;
      double slip = u[0] * p->rows[set->first_row].bias;
      if (set->n_base == 2) slip += u[1] * p->rows[set->first_row + 1].bias;
      f->q[f->first_beta[i] + e] = e % 2 == 0 ? slip : -slip;
    }
    f->q[f->first_beta[i] + 2 * set->n_pairs] =
        set->limit * limit_scale(f, set);
  }
}

static bool build(builder *f, arena *arena) {
  if (!number_variables(f, arena)) return false;
  emit_all(f);

  size_t count = f->n_entries, n = f->n;
  if (!ARENA_TAKE(arena, f->entries, count) ||
      !ARENA_TAKE(arena, f->place, n) || !ARENA_TAKE(arena, f->value, count) ||
      !ARENA_TAKE(arena, f->row, count) ||
      !ARENA_TAKE(arena, f->column_start, n + 1) ||
      !ARENA_TAKE(arena, f->q, n) || !ARENA_TAKE(arena, f->z, n) ||
      !ARENA_TAKE(arena, f->w, n) || !ARENA_TAKE(arena, f->is_free, n))
    return false;

  emit_all(f);
  columns_of_entries(f->n, count, f->entries, f->column_start, f->row, f->value,
                     f->place);
  fill_q(f);
  return true;
}

/* ---- to and from its variables ----------------------------------------- */

static void expand_friction(const builder *f, int index, const double z[],
                            const mlcp_solution *s) {
  const mlcp_problem *p = f->problem;
  const mlcp_friction *set = &p->frictions[index];
  double *beta = s->beta + 2 * set->first_pair, sum = 0, p_t[2] = {0, 0};
  for (int e = 0; e < 2 * set->n_pairs; e++) {
    beta[e] = z[f->first_beta[index] + e] /
              f->friction_edge_diagonal[set->first_pair + e / 2];
    sum += beta[e];
  }

  // rounding must not carry the impulse out of its polygon
  double limit = set->limit;
  if (set->normal >= 0) limit += set->coefficient * s->p[set->normal];
  double share = sum > limit ? limit / sum : 1;
  for (int e = 0; e < 2 * set->n_pairs; e++) {
    const double *u = p->pairs[set->first_pair + e / 2].u;
    beta[e] *= share;
    for (int t = 0; t < 2; t++)
      p_t[t] += e % 2 == 0 ? u[t] * beta[e] : -u[t] * beta[e];
  }
  for (int t = 0; t < set->n_base; t++) s->p[set->first_row + t] = p_t[t];
  s->lambda[index] = z[f->first_beta[index] + 2 * set->n_pairs];
}

/* The point of the mixed problem that z stands for, within its bounds. */
static void expand(const builder *f, const double z[], const mlcp_solution *s) {
  const mlcp_problem *p = f->problem;
  memset(s->beta, 0, sizeof *s->beta * 2 * p->n_pairs); // some of no set
  for (int r = 0; r < p->n_rows; r++) {
    const mlcp_row *row = &p->rows[r];
    if (row->kind == MLCP_ROW_FRICTION) continue;
    double x = f->first[r] >= 0 ? z[f->first[r]] / f->diagonal[r] : 0;
    double impulse = constant_impulse(row) + (bounds_of(row) == UPPER ? -x : x);
    s->p[r] = fmin(fmax(impulse, row->low), row->high);
  }
  for (int i = 0; i < p->n_frictions; i++) expand_friction(f, i, z, s);
  mlcp_velocities(p, s->p, s->v);
}

lemke_report lemke_mlcp_solve(const memory_source *source,
                              const mlcp_problem *problem,
                              const lemke_options *options,
                              const mlcp_solution *solution) {
  lemke_report report = {LEMKE_NO_MEMORY, INFINITY, 0, 0};
  builder f = {.problem = problem};
  arena arena = {.source = source};
  lemke_workspace *workspace = lemke_workspace_create(source);
  if (workspace != NULL && build(&f, &arena))
    report =
        lemke_solve(workspace,
                    &(lemke_problem){f.n, f.column_start, f.row, f.value, f.q,
                                     f.is_free, mlcp_velocity_scale(problem)},
                    options, f.z);
  if (report.status != LEMKE_NO_MEMORY) {
    expand(&f, f.z, solution);
    report.residual = mlcp_residual(problem, solution, f.w);
    if (report.status == LEMKE_SOLVED && report.residual > options->tolerance)
      report.status = LEMKE_INACCURATE;
  }
  arena_release(&arena);
  lemke_workspace_destroy(workspace);
  return report;
}
