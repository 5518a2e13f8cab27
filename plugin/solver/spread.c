/* Impulses of one pair of bodies spread over its rows as stiffness has it.
 *
 * What a pair passes on changes little from step to step, however its points
 * come and go; the share of a single row follows from compliances of a
 * millionth of the diagonal. With the sum given the rows are a problem of six
 * unknowns, the relative twist u of the pair:
 *
 *   p = mid(low, p_0 - (J u + c p_0 + b) / s, high),  J_a' p = J_a' p_0
 *
 * with s = c, or, where there is next to no compliance, a small share of the
 * diagonal, which keeps p near p_0. Newton's method finds u in one or two steps
 * where few rows meet a limit.
 */
#include "solver/spread.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "common/six.h"

static double sum_of_sizes(const double x[6]) {
  double sum = 0;
  for (int i = 0; i < 6; i++) sum += fabs(x[i]);
  return sum;
}

static inline double softness(const box_problem *box, int row) {
  return larger_of(box->compliance[row], 1e-6 * box->diagonal[row]);
}

/* J_a' p_0. @return what errors of it are relative to. */
static double sum_rows(const box_problem *box, const graph_edge *edge,
                       const double p_0[], double sum[6]) {
  double size = 0, J[6];
  memset(sum, 0, 6 * sizeof *sum);
  for (int r = edge->first_row; r < edge->end_row; r++) {
    box_jacobian(box, r, BOX_A, J);
    add_row(sum, p_0[r], J);
    size += fabs(p_0[r]) * sum_of_sizes(J);
  }
  return size;
}

/* S += left' (factor right) */
KERNEL void add_outer(six_block *S, const double left[6], double factor,
                      const double right[6]) {
  four head = factor * *(const four *)right;
  two tail = factor * *(const two *)(right + 4);
#pragma GCC unroll 6
  for (int i = 0; i < 6; i++) {
    S->head[i] += left[i] * head;
    S->tail[i] += left[i] * tail;
  }
}

/* p at twist u; missing -= J_a' p. */
static void put_impulses(const box_problem *box, const graph_edge *edge,
                         const double p_0[], const double u[6], double p[],
                         double missing[6]) {
  for (int c = edge->first_cluster; c < edge->end_cluster; c++) {
    const box_cluster *cluster = &box->clusters[c];
    int first = cluster->first_row, end = first + cluster->n_rows;
    double low, high, normal = 0;
    for (int r = first; r < end; r++) {
      double J[6];
      box_jacobian(box, r, BOX_A, J);
      double w = dot6(J, u) + box->compliance[r] * p_0[r] + box->bias[r];
      double free = p_0[r] - w / softness(box, r);
      box_row_limits(box, r, normal, &low, &high);
      p[r] = free < low ? low : free > high ? high : free;
      if (r == first && cluster->has_normal) normal = p[r];
      add_row(missing, -p[r], J);
    }
  }
}

/* How J_a' p changes with u at this p, with the sign turned. */
KERNEL void put_stiffness(const box_problem *box, const graph_edge *edge,
                          const double p[], double K[36]) {
  six_block sum;
  memset(&sum, 0, sizeof sum);
  for (int c = edge->first_cluster; c < edge->end_cluster; c++) {
    const box_cluster *cluster = &box->clusters[c];
    int first = cluster->first_row, end = first + cluster->n_rows;
    double normal = cluster->has_normal ? p[first] : 0;
    for (int r = first; r < end; r++) {
      double J[6], J_0[6], low, high, stiffness;
      const double *along = J;
      box_jacobian(box, r, BOX_A, J);
      box_row_limits(box, r, normal, &low, &high);
      if (p[r] > low && p[r] < high) {
        stiffness = 1 / softness(box, r);
      } else { // it may follow its normal
        if (box->type[r] != BOX_FRICTION || !(normal > 0)) continue;
        box_jacobian(box, first, BOX_A, J_0);
        along = J_0;
        stiffness =
            (p[r] > 0 ? 1 : -1) * box->coefficient[r] / softness(box, first);
      }
      add_outer(&sum, J, stiffness, along);
    }
  }
  store_block(&sum, K);
}

WIDE static void put_stiffness_wide(const box_problem *box,
                                    const graph_edge *edge, const double p[],
                                    double K[36]) {
  put_stiffness(box, edge, p, K);
}

/* @return true when p has the sum of p_0. */
static bool spread_edge(const box_problem *box, const graph_edge *edge,
                        const double p_0[], double p[]) {
  enum { MAX_STEPS = 5 };
  const double near = 1e-9;
  double sum[6], u[6] = {0}, least = INFINITY;
  double size = sum_rows(box, edge, p_0, sum);
  for (int k = 0; k < MAX_STEPS; k++) {
    double missing[6], K[36], step[6];
    memcpy(missing, sum, sizeof missing);
    put_impulses(box, edge, p_0, u, p, missing);
    double error = sum_of_sizes(missing);
    if (error <= near * size) return true;
    if (!(error < 0.5 * least)) return false;
    if (k > 0) least = error;
    if (six_is_wide())
      put_stiffness_wide(box, edge, p, K);
    else
      put_stiffness(box, edge, p, K);
    for (int i = 0; i < 6; i++) missing[i] = -missing[i];
    matrix6_solve(step, K, missing);
    add_row(u, 1, step);
  }
  return false;
}

void spread_impulses(solve_work *work) {
  const box_problem *box = &work->box;
  double *p = work->kept_p;
  for (int e = 0; e < box->n_graph_edges; e++) {
    const graph_edge *edge = &box->graph_edges[e];
    int begin = edge->first_row, end = edge->end_row;
    if ((edge->b < 0 || edge->twisted) && spread_edge(box, edge, work->p, p))
      memcpy(work->p + begin, p + begin, sizeof *p * (size_t)(end - begin));
  }
}
