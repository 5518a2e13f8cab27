/* Gauss-Seidel sweeps settle what every contact does with its neighbours, but
 * not the forces that go through a heap; the linear system of the active set
 * settles those, but rows changed all at once from far off go round in circles.
 * A few sweeps before each system bring the active set so near that two or
 * three changes of a handful of rows are left; where those go round in circles,
 * pivots change them one by one. Where bodies are wedged, with more active rows
 * than degrees of freedom, that does not help: the first system shows it. */
#include "solver/fast_sweeps.h"

#include <math.h>
#include <string.h>

#include "solver/active_set.h"
#include "solver/fast_pivots.h"

bool fast_sweeps_reserve(fast_work *work) {
  return ARENA_TAKE(&work->arena, work->inverse_J,
                    12 * (size_t)work->box.n_rows);
}

/* M^-1 J' of one row and body; M^-1 is symmetric. */
static inline void times_inverse(const double inverse[36], const double J[6],
                                 double MJ[6]) {
  two sum0 = {0, 0}, sum2 = {0, 0}, sum4 = {0, 0};
  for (int k = 0; k < 6; k++) {
    sum0 += J[k] * *(const two *)(inverse + 6 * k);
    sum2 += J[k] * *(const two *)(inverse + 6 * k + 2);
    sum4 += J[k] * *(const two *)(inverse + 6 * k + 4);
  }
  *(two *)MJ = sum0;
  *(two *)(MJ + 2) = sum2;
  *(two *)(MJ + 4) = sum4;
}

static void invert_rows(fast_work *work) {
  const box_problem *box = &work->box;
  const mlcp_body *bodies = box->problem->bodies;
  for (int e = 0; e < box->n_graph_edges; e++) {
    const graph_edge *edge = &box->graph_edges[e];
    for (int r = edge->first_row; r < edge->end_row; r++) {
      double *MJ = work->inverse_J + 12 * (size_t)r;
      times_inverse(bodies[edge->a].inverse_mass, box->J_a + 6 * r, MJ);
      if (edge->b >= 0)
        times_inverse(bodies[edge->b].inverse_mass, box->J_b + 6 * r, MJ + 6);
    }
  }
}

/* Off-diagonal compliance of a row. */
static double coupled_slip(const box_problem *box, const box_cluster *cluster,
                           int i, const double p[]) {
  int m = cluster->n_rows;
  const double *C = box->full_compliance + cluster->first_compliance + m * i;
  double sum = 0;
  for (int j = 0; j < m; j++)
    if (j != i) sum += C[j] * p[cluster->first_row + j];
  return sum;
}

/* What sets a row's slip w to 0, or its impulse to a limit.
 * @param normal  of the contact that a friction row belongs to.
 * @return the change of the impulse. */
KERNEL double sweep_row(fast_work *work, int r, double w, double normal) {
  const box_problem *box = &work->box;
  double low, high, *p = &work->p[r];
  box_row_limits(box, r, normal, &low, &high);
  double next = *p - w * work->scratch[r];
  next = next < low ? low : next > high ? high : next;
  double dp = next - *p;
  *p = next;
  return dp;
}

KERNEL void sweep_edge(fast_work *work, const graph_edge *edge, bool both) {
  const box_problem *box = &work->box;
  double *v_a = work->v + 6 * edge->a;
  double *v_b = both ? work->v + 6 * edge->b : v_a;
  six a = load_six(v_a), b = load_six(v_b);
  for (int c = edge->first_cluster; c < edge->end_cluster; c++) {
    const box_cluster *cluster = &box->clusters[c];
    double normal = 0;
    for (int i = 0; i < cluster->n_rows; i++) {
      int r = cluster->first_row + i;
      const double *MJ = work->inverse_J + 12 * (size_t)r;
      two sum = times_six(box->J_a + 6 * r, a);
      if (both) sum += times_six(box->J_b + 6 * r, b);
      double w =
          box->bias[r] + box->compliance[r] * work->p[r] + (sum[0] + sum[1]);
      if (cluster->first_compliance >= 0)
        w += coupled_slip(box, cluster, i, work->p);
      double dp = sweep_row(work, r, w, normal);
      add_to_six(&a, dp, MJ);
      if (both) add_to_six(&b, dp, MJ + 6);
      if (i == 0 && cluster->has_normal) normal = work->p[r];
    }
  }
  store_six(a, v_a);
  if (both) store_six(b, v_b);
}

/* work->p after some sweeps over all rows, evaluated. */
static void sweep(fast_work *work, int count) {
  for (int r = 0; r < work->box.n_rows; r++)
    work->scratch[r] = 1 / work->box.diagonal[r];
  for (int k = 0; k < count; k++)
    for (int e = 0; e < work->box.n_graph_edges; e++) {
      const graph_edge *edge = &work->box.graph_edges[e];
      if (edge->b >= 0)
        sweep_edge(work, edge, true);
      else
        sweep_edge(work, edge, false);
    }
  work->spent += count * fast_cost_of_sweep;
  box_project(&work->box, work->p);
  fast_work_evaluate(work);
}

/* One turn of the two; also after a failure work->p is within its limits. */
static bool take_turn(fast_work *work, int n_sweeps,
                      const active_set_options *options) {
  if (n_sweeps > 0) sweep(work, n_sweeps);
  if (active_set_solve(work, options)) return true;
  fast_work_take(work, work->kept_p);
  return false;
}

/* Whether one turn of sweeps is worth another. */
static bool is_wedged(const fast_work *work, long factorisations_before) {
  return work->factorisations == factorisations_before + 1;
}

bool fast_sweeps_solve(fast_work *work, bool warm) {
  // from a near guess the active set may take its time; more than a twelfth of
  // its rows in a wrong state after sweeps tells of wedged bodies
  static const active_set_options patient = {.max_factorisations = 8,
                                             .max_all_changes = 8,
                                             .max_share = 0.2,
                                             .patience = 1};
  static const active_set_options few = {.max_factorisations = 4,
                                         .max_all_changes = 4,
                                         .max_share = 0.08,
                                         .patience = 1};
  enum { N_TURNS = 2, N_FIRST = 5 };
  static const int sweeps[N_TURNS] = {30, 10}; // 30: one factorisation's price
  const int few_rows = 150, some_rows = 300;   // whose pivots hardly cost
  const double unmoved = 0.1; // residual: the guess needs no sweeps
  const int n_rows = work->box.n_rows;
  long max_pivots = 50 + n_rows / 8;

  bool moved = work->residual > unmoved;
  if (warm && moved) invert_rows(work);
  if (warm && take_turn(work, moved ? N_FIRST : 0, &patient)) return true;
  if (warm && n_rows <= few_rows && fast_pivots_finish(work, max_pivots))
    return true;
  if (!warm || !moved) invert_rows(work);
  for (int k = 0; k < N_TURNS && isfinite(work->residual); k++) {
    long before = work->factorisations;
    if (take_turn(work, sweeps[k], &few)) return true;
    if (k > 0 || !is_wedged(work, before)) continue;
    if (n_rows > some_rows) return false;
    break;
  }
  sweep(work, sweeps[N_TURNS - 1]);
  return isfinite(work->residual) && fast_pivots_finish(work, max_pivots);
}
