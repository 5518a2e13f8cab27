#include "solver/solver_variants.h"

#include <math.h>
#include <string.h>

bool solver_variant_make_proximal(solver_variant *variant, arena *arena,
                                  const mlcp_problem *problem, double share,
                                  const double p[]) {
  if (!ARENA_TAKE(arena, variant->rows, problem->n_rows)) return false;
  mlcp_row *rows = variant->rows;
  memcpy(rows, problem->rows, sizeof *rows * problem->n_rows);
  variant->mlcp = *problem;
  variant->mlcp.rows = rows;
  for (int r = 0; r < problem->n_rows; r++) {
    double compliance = share * mlcp_row_diagonal(problem, r);
    rows[r].compliance += compliance;
    rows[r].bias -= compliance * p[r];
  }
  return true;
}

static bool is_cone(const mlcp_friction *set) {
  return set->normal >= 0 && set->coefficient > 0;
}

/* The row of one friction edge, divided by `size` to stay near unit length. */
static mlcp_row cone_row(const mlcp_problem *problem, const mlcp_friction *set,
                         int edge, double size) {
  const double *u = problem->pairs[set->first_pair + edge / 2].u;
  double factor = (edge % 2 == 0 ? 1 : -1) * set->coefficient;
  mlcp_row row = problem->rows[set->normal];
  for (int t = 0; t < set->n_base; t++) {
    const mlcp_row *base = &problem->rows[set->first_row + t];
    for (int side = 0; side < 2; side++)
      for (int other = 0; other < 2; other++)
        for (int i = 0; i < 6 && row.body[side] >= 0; i++)
          if (base->body[other] == row.body[side])
            row.J[side][i] += factor * u[t] * base->J[other][i];
    row.bias += factor * u[t] * base->bias;
  }
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < 6; i++) row.J[side][i] /= size;
  row.bias /= size;
  row.compliance /= size * size;
  return row;
}

static double cone_size(const mlcp_friction *set) {
  return hypot(1, set->coefficient);
}

/* Rows and sets that are no cone keep their places; a cone's own rows are fixed
 * at 0 (as joint rows) and its friction edges' rows come after all others. */
bool solver_variant_make_convex(solver_variant *variant, arena *arena,
                                const mlcp_problem *problem) {
  int n_rows = problem->n_rows, n_sets = 0;
  for (int i = 0; i < problem->n_frictions; i++)
    if (is_cone(&problem->frictions[i]))
      n_rows += 2 * problem->frictions[i].n_pairs;

  mlcp_friction *sets;
  mlcp_pair *pairs; // those of the sets that stay: no other has impulses
  int n_pairs = 0;
  if (!ARENA_TAKE(arena, variant->rows, n_rows) ||
      !ARENA_TAKE(arena, sets, problem->n_frictions) ||
      !ARENA_TAKE(arena, pairs, problem->n_pairs) ||
      !ARENA_TAKE(arena, variant->first_cone, problem->n_frictions))
    return false;
  mlcp_row *rows = variant->rows;
  int *first_cone = variant->first_cone;
  memcpy(rows, problem->rows, sizeof *rows * problem->n_rows);

  n_rows = problem->n_rows;
  for (int i = 0; i < problem->n_frictions; i++) {
    const mlcp_friction *set = &problem->frictions[i];
    first_cone[i] = -1;
    if (!is_cone(set)) {
      sets[n_sets] = *set;
      sets[n_sets].normal = -1;
      sets[n_sets++].first_pair = n_pairs;
      for (int k = 0; k < set->n_pairs; k++)
        pairs[n_pairs++] = problem->pairs[set->first_pair + k];
      continue;
    }
    first_cone[i] = n_rows;
    for (int t = 0; t < set->n_base; t++) {
      mlcp_row *row = &rows[set->first_row + t];
      row->kind = MLCP_ROW_JOINT;
      row->low = row->high = 0;
    }
    for (int edge = 0; edge < 2 * set->n_pairs; edge++)
      rows[n_rows++] = cone_row(problem, set, edge, cone_size(set));
  }

  // a normal in a cone pushes through its edges only
  for (int i = 0; i < problem->n_frictions; i++) {
    if (first_cone[i] < 0) continue;
    mlcp_row *row = &rows[problem->frictions[i].normal];
    row->kind = MLCP_ROW_JOINT;
    row->low = row->high = 0;
  }
  variant->mlcp = *problem;
  variant->mlcp.rows = rows;
  variant->mlcp.n_rows = n_rows;
  variant->mlcp.frictions = sets;
  variant->mlcp.n_frictions = n_sets;
  variant->mlcp.pairs = pairs;
  variant->mlcp.n_pairs = n_pairs;
  return true;
}

void solver_variant_convex_impulses(const solver_variant *variant,
                                    const mlcp_problem *problem,
                                    const double variant_p[], double p[]) {
  memcpy(p, variant_p, sizeof *p * problem->n_rows);
  for (int i = 0; i < problem->n_frictions; i++) {
    const mlcp_friction *set = &problem->frictions[i];
    if (variant->first_cone[i] < 0) continue;
    for (int edge = 0; edge < 2 * set->n_pairs; edge++) {
      double gamma = variant_p[variant->first_cone[i] + edge] / cone_size(set);
      const double *u = problem->pairs[set->first_pair + edge / 2].u;
      p[set->normal] += gamma;
      for (int t = 0; t < set->n_base; t++)
        p[set->first_row + t] +=
            (edge % 2 == 0 ? 1 : -1) * u[t] * set->coefficient * gamma;
    }
  }
}
