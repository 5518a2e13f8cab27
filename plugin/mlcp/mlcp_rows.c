#include "mlcp/mlcp_rows.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"

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

WIDE static void add_impulses_wide(const mlcp_problem *problem,
                                   const double p[], double impulses[]) {
  add_impulses(problem, p, impulses);
}

WIDE static void find_rates_wide(const mlcp_problem *problem, const double v[],
                                 double Jv[]) {
  find_rates(problem, v, Jv);
}

void mlcp_impulses(const mlcp_problem *problem, const double p[],
                   double impulses[]) {
  if (six_is_wide())
    add_impulses_wide(problem, p, impulses);
  else
    add_impulses(problem, p, impulses);
}

void mlcp_rates(const mlcp_problem *problem, const double v[], double Jv[]) {
  if (six_is_wide())
    find_rates_wide(problem, v, Jv);
  else
    find_rates(problem, v, Jv);
}

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
