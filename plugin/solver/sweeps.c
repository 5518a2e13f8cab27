#include "solver/sweeps.h"

#include "common/six.h"
#include "common/minmax.h"

/* M^-1 J_r' of each row, on its bodies. */
typedef struct row_response {
  double a[6], b[6];
} row_response;

static void find_responses(const box_problem *box, row_response responses[]) {
  const mlcp_body *bodies = box->problem->bodies;
  for (int e = 0; e < box->n_graph_edges; e++) {
    const graph_edge *edge = &box->graph_edges[e];
    for (int r = edge->first_row; r < edge->end_row; r++) {
      row_response *to = &responses[r];
      double J[6];
      box_jacobian(box, r, BOX_A, J);
      matrix6_apply(to->a, bodies[edge->a].inverse_mass, J);
      box_jacobian(box, r, BOX_B, J);
      if (edge->b >= 0) matrix6_apply(to->b, bodies[edge->b].inverse_mass, J);
    }
  }
}

static double slip_of(const solve_work *work, const graph_edge *edge, int r) {
  const box_problem *box = &work->box;
  double J[6];
  box_jacobian(box, r, BOX_A, J);
  double w = box->bias[r] + dot6(J, work->v + 6 * edge->a);
  box_jacobian(box, r, BOX_B, J);
  if (edge->b >= 0) w += dot6(J, work->v + 6 * edge->b);
  return w + box->compliance[r] * work->p[r] +
         box->cross[r] * work->p[box->other_of[r]];
}

static void sweep_edge(solve_work *work, const graph_edge *edge,
                       const row_response responses[]) {
  const box_problem *box = &work->box;
  for (int r = edge->first_row; r < edge->end_row; r++) {
    double low, high, before = work->p[r];
    box_limits(box, r, work->p, &low, &high);
    work->p[r] = middle_of(
        low, before - slip_of(work, edge, r) / box->diagonal[r], high);
    double dp = work->p[r] - before;
    for (int i = 0; i < 6; i++) {
      work->v[6 * edge->a + i] += dp * responses[r].a[i];
      if (edge->b >= 0) work->v[6 * edge->b + i] += dp * responses[r].b[i];
    }
  }
}

enum { SWEEPS = 20 };

double sweeps_cost(const solve_work *work) { return SWEEPS * work->cost.sweep; }

bool sweeps_take(solve_work *work) {
  row_response *responses;
  if (!ARENA_TAKE(&work->arena, responses, work->box.n_rows)) return false;
  find_responses(&work->box, responses);
  solve_work_restore_best(work);
  for (int k = 0; k < SWEEPS; k++)
    for (int e = 0; e < work->box.n_graph_edges; e++)
      sweep_edge(work, &work->box.graph_edges[e], responses);
  work->spent += sweeps_cost(work);
  box_project(&work->box, work->p);
  solve_work_evaluate(work);
  return true;
}
