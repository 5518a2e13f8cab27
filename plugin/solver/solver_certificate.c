#include "solver/solver_certificate.h"

#include <math.h>
#include <string.h>

#include "common/long_sum.h"
#include "common/minmax.h"
#include "mlcp/mlcp_rows.h"
#include "solver/farkas.h"

/* How much the relaxed rows give way, of their diagonal: little, so that what can
 * be met is met in a step or two; enough that impulses of 1/share times the usual
 * keep digits. */
static const double share = 1e-6;

/* Weights below this, of the largest, are impulses that bear bodies and contradict
 * nothing; where too few are left then, those below the next: what masses of 1e6
 * to 1 contradict each other with. */
static const double least_weights[] = {1e-5, 1e-7, 1e-9};

/* What a proof has to show, in the problem's own velocity scale. No world meets
 * its rows at a million times the speed that they ask for. */
static const double speed_in_scales = 1e6;
static const double margin = 1e-9;

/* Polishing takes dense normal equations of the bodies' velocities. */
enum { most_unknowns = 900 };

/* What a row asks of J v + bias alone. */
typedef enum demand { NOTHING, ZERO, AT_LEAST_ZERO, AT_MOST_ZERO } demand;

static demand demand_of(const mlcp_row *row) {
  if (row->kind == MLCP_ROW_FRICTION || row->compliance > 0) return NOTHING;
  bool has_low = row->low > -INFINITY, has_high = row->high < INFINITY;
  if (has_low && has_high) return NOTHING; // limits give way
  return has_low ? AT_LEAST_ZERO : has_high ? AT_MOST_ZERO : ZERO;
}

bool solver_certificate_is_possible(const mlcp_problem *problem) {
  int count = 0;
  for (int r = 0; r < problem->n_rows && count < 2; r++)
    count += demand_of(&problem->rows[r]) != NOTHING;
  return count == 2;
}

bool solver_certificate_relax(solver_variant *variant, arena *arena,
                              const mlcp_problem *problem, const double p[]) {
  if (!ARENA_TAKE(arena, variant->rows, problem->n_rows)) return false;
  for (int r = 0; r < problem->n_rows; r++) {
    mlcp_row *row = &variant->rows[r];
    *row = problem->rows[r];
    demand asks = demand_of(row);
    row->kind = MLCP_ROW_JOINT;
    row->low = asks == ZERO || asks == AT_MOST_ZERO ? -INFINITY : 0;
    row->high = asks == ZERO || asks == AT_LEAST_ZERO ? INFINITY : 0;
    row->compliance = share * mlcp_scale_of(mlcp_row_diagonal(problem, r));
    if (p != NULL && asks != NOTHING) row->bias -= row->compliance * p[r];
  }
  variant->mlcp = *problem;
  variant->mlcp.rows = variant->rows;
  variant->mlcp.n_frictions = variant->mlcp.n_pairs = 0;
  return true;
}

/* Signs as they have to be, the largest 1, small ones left out. */
static void clean(const mlcp_problem *problem, double least_weight,
                  double y[]) {
  double largest = 0;
  for (int r = 0; r < problem->n_rows; r++) {
    switch (demand_of(&problem->rows[r])) {
      case NOTHING: y[r] = 0; break;
      case ZERO: break;
      case AT_LEAST_ZERO: y[r] = larger_of(y[r], 0); break;
      case AT_MOST_ZERO: y[r] = smaller_of(y[r], 0); break;
    }
    if (!isfinite(y[r])) y[r] = 0;
    if (y[r] != 0)
      largest = larger_of(largest, fabs(y[r]) * mlcp_row_diagonal(problem, r));
  }
  for (int r = 0; r < problem->n_rows; r++) {
    if (y[r] == 0) continue;
    double size = fabs(y[r]) * mlcp_row_diagonal(problem, r);
    y[r] = size >= least_weight * largest ? y[r] / largest : 0;
  }
}

/* Brings J'y to 0 where a small change of y does. */
static bool polish(const mlcp_problem *problem, double y[], arena *arena) {
  int *place, n_weights = 0, n_bodies = 0;
  double *A, *weight;
  if (!ARENA_TAKE(arena, place, problem->n_bodies)) return false;
  for (int b = 0; b < problem->n_bodies; b++) place[b] = -1;
  for (int r = 0; r < problem->n_rows; r++) {
    if (y[r] == 0) continue;
    n_weights++;
    for (int side = 0; side < 2; side++) {
      int b = problem->rows[r].body[side];
      if (b >= 0 && place[b] < 0) place[b] = n_bodies++;
    }
  }
  size_t n = 6 * (size_t)n_bodies;
  if (n == 0 || n > most_unknowns) return true;
  if (!ARENA_TAKE(arena, A, n * (size_t)n_weights) ||
      !ARENA_TAKE(arena, weight, n_weights))
    return false;
  memset(A, 0, sizeof *A * n * (size_t)n_weights);
  double *row = A;
  int k = 0;
  for (int r = 0; r < problem->n_rows; r++) {
    if (y[r] == 0) continue;
    for (int side = 0; side < 2; side++) {
      int b = problem->rows[r].body[side];
      if (b >= 0)
        memcpy(row + 6 * place[b], problem->rows[r].J[side], 6 * sizeof *row);
    }
    row += n;
    weight[k++] = y[r];
  }
  if (!farkas_polish(n_weights, (int)n, A, weight, arena)) return false;
  k = 0;
  for (int r = 0; r < problem->n_rows; r++)
    if (y[r] != 0) y[r] = weight[k++];
  return true;
}

/* The speed that weights prove, 0 for none. balance: [6 n_bodies] */
static double proved_speed(const mlcp_problem *problem, const double y[],
                           long_sum balance[]) {
  long_sum demanded = {0, 0};
  double left = 0, size = 0;
  size_t n = 6 * (size_t)problem->n_bodies;
  memset(balance, 0, sizeof *balance * n);
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    if (y[r] == 0) continue;
    long_sum_add_product(&demanded, row->bias, y[r]);
    size += fabs(row->bias * y[r]);
    for (int side = 0; side < 2; side++)
      for (int i = 0; i < 6 && row->body[side] >= 0; i++)
        long_sum_add_product(&balance[6 * row->body[side] + i], row->J[side][i],
                             y[r]);
  }
  for (size_t i = 0; i < n; i++) left += fabs(long_sum_value(&balance[i]));
  double gain = -long_sum_value(&demanded);
  if (!(gain > margin * size)) return 0;
  return left > 0 ? gain / left : INFINITY;
}

bool solver_certificate_check(const mlcp_problem *problem, double y[],
                              arena *arena, double *speed, bool *proof) {
  const size_t n_tries = sizeof least_weights / sizeof *least_weights;
  size_t n_rows = (size_t)problem->n_rows;
  double *given, least = speed_in_scales * mlcp_velocity_scale(problem);
  long_sum *balance;
  *proof = false;
  if (!ARENA_TAKE(arena, balance, 6 * (size_t)problem->n_bodies) ||
      !ARENA_TAKE(arena, given, n_rows))
    return false;
  memcpy(given, y, sizeof *y * n_rows);
  for (size_t i = 0; i < n_tries && !*proof; i++) {
    memcpy(y, given, sizeof *y * n_rows);
    clean(problem, least_weights[i], y);
    if (!polish(problem, y, arena)) return false;
    clean(problem, least_weights[i], y); // polishing may have turned a sign
    *speed = proved_speed(problem, y, balance);
    *proof = *speed >= least;
  }
  return true;
}
