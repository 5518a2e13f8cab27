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

/* A body's impulse while rows add to it; none for body -1. */
static inline six take_impulse(const double impulses[], int body) {
  return load_six(body >= 0 ? impulses + 6 * body : at_rest);
}

static inline void give_impulse(six sum, double impulses[], int body) {
  if (body >= 0) store_six(sum, impulses + 6 * body);
}

/* impulses[6 b + i] = (J'p) of every body; rows of the same bodies, which
 * mostly follow each other, add to registers. */
static void body_impulses(const mlcp_problem *problem, const double p[],
                          double impulses[]) {
  int a = -1, b = -1;
  memset(impulses, 0, sizeof *impulses * 6 * (size_t)problem->n_bodies);
  six at_a = take_impulse(impulses, a), at_b = at_a;
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    if (row->body[0] != a || row->body[1] != b) {
      give_impulse(at_a, impulses, a);
      give_impulse(at_b, impulses, b);
      a = row->body[0];
      b = row->body[1];
      at_a = take_impulse(impulses, a);
      at_b = take_impulse(impulses, b);
    }
    add_to_six(&at_a, p[r], row->J[0]);
    add_to_six(&at_b, p[r], row->J[1]);
  }
  give_impulse(at_a, impulses, a);
  give_impulse(at_b, impulses, b);
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

double mlcp_velocity_scale(const mlcp_problem *problem) {
  double scale = problem->velocity_floor;
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    scale =
        larger_of(scale, fabs(mlcp_row_free_rate(problem, row) + row->bias));
  }
  return scale;
}
