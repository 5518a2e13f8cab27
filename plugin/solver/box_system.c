#include "solver/box_system.h"

#include <math.h>
#include <string.h>

#include "common/six.h"

/* ---- H ------------------------------------------------------------------- */

/* S += J' W J over the simple clusters of a graph edge; the others' weights are
 * full. */
KERNEL void add_simple(const box_problem *box, const graph_edge *edge,
                       const box_weights *weights, double S[BODY_BLOCK]) {
  six_block sum;
  load_block(S, &sum);
  for (int r = edge->first_row; r < edge->end_row; r++) {
    double follow = weights->follow[r], own = weights->own[r], J[6], J_0[6];
    if (follow == 0 && own == 0) continue;
    box_jacobian(box, r, BOX_A, J);
    box_jacobian(box, box->normal_of[r], BOX_A, J_0);
    four head = follow * *(const four *)J_0 + own * *(const four *)J;
    two tail = follow * *(const two *)(J_0 + 4) + own * *(const two *)(J + 4);
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
      sum.head[i] += J[i] * head;
      sum.tail[i] += J[i] * tail;
    }
  }
  store_block(&sum, S);
}

/* WJ = W J of a cluster's rows on a or b. */
KERNEL void weigh_cluster(const box_problem *box, const box_weights *weights,
                          const box_cluster *cluster, int side, double WJ[]) {
  int m = cluster->n_rows, first = cluster->first_row;
  const double *W = weights->full + cluster->first_compliance;
  double J[6], J_0[6];
  memset(WJ, 0, sizeof *WJ * 6 * (size_t)m);
  box_jacobian(box, first, side, J_0);
  for (int j = 0; j < m; j++) {
    box_jacobian(box, first + j, side, J);
    if (cluster->first_compliance < 0) {
      add_row(WJ + 6 * j, weights->own[first + j], J);
      add_row(WJ + 6 * j, weights->follow[first + j], J_0);
      continue;
    }
    for (int i = 0; i < m; i++) add_row(WJ + 6 * i, W[m * i + j], J);
  }
}

/* S += J' WJ, J on a or b, or that sum's transpose. */
KERNEL void add_outer(const box_problem *box, const box_cluster *cluster,
                      int side, const double WJ[], bool transposed,
                      double S[BODY_BLOCK]) {
  double J[6];
  for (int r = 0; r < cluster->n_rows; r++, WJ += 6) {
    box_jacobian(box, cluster->first_row + r, side, J);
    for (int i = 0; i < 6; i++)
      add_row(S + 6 * i, transposed ? WJ[i] : J[i], transposed ? J : WJ);
  }
}

/* The same over those that are not. */
KERNEL void add_coupled(const box_problem *box, const graph_edge *edge,
                        const box_weights *weights, double S[BODY_BLOCK]) {
  double WJ[6 * BOX_MAX_CLUSTER];
  for (int c = edge->first_cluster; c < edge->end_cluster; c++) {
    const box_cluster *cluster = &box->clusters[c];
    if (cluster->first_compliance < 0) continue;
    weigh_cluster(box, weights, cluster, BOX_A, WJ);
    add_outer(box, cluster, BOX_A, WJ, false, S);
  }
}

KERNEL void add_side(const box_problem *box, const graph_edge *edge,
                     const box_weights *weights, double S[BODY_BLOCK]) {
  add_simple(box, edge, weights, S);
  if (box->n_compliances > 0) add_coupled(box, edge, weights, S);
}

/* A graph edge's place in H. */
typedef struct graph_edge_place {
  double *aa, *bb;
  double *upper, *lower; /* as by body_blocks_pair */
  bool a_first;
} graph_edge_place;

/* What a graph edge adds where its rows are of several points. */
KERNEL void add_untwisted(const box_problem *box, const graph_edge *edge,
                          const box_weights *weights,
                          const graph_edge_place *at) {
  double WJ[6 * BOX_MAX_CLUSTER];
  memset(at->upper, 0, sizeof(double) * BODY_BLOCK);
  if (at->lower != NULL) memset(at->lower, 0, sizeof(double) * BODY_BLOCK);
  for (int c = edge->first_cluster; c < edge->end_cluster; c++)
    for (int side = BOX_A; side <= BOX_B; side++) {
      const box_cluster *cluster = &box->clusters[c];
      int other = BOX_B - side;
      weigh_cluster(box, weights, cluster, side, WJ);
      add_outer(box, cluster, side, WJ, false, side == BOX_A ? at->aa : at->bb);
      if (at->a_first == (side == BOX_B))
        add_outer(box, cluster, other, WJ, false, at->upper);
      else if (at->lower != NULL)
        add_outer(box, cluster, other, WJ, true, at->lower);
    }
}

/* S = S T, row by row. */
KERNEL void times_twist(six_block *S, const double o[3]) {
#pragma GCC unroll 6
  for (int i = 0; i < 6; i++) twist_row(&S->head[i], &S->tail[i], o);
}

/* S = T' S: the angular rows gain o x the linear ones. */
KERNEL void twist_times(six_block *S, const double o[3]) {
#pragma GCC unroll 3
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    S->head[3 + i] += o[j] * S->head[k] - o[k] * S->head[j];
    S->tail[3 + i] += o[j] * S->tail[k] - o[k] * S->tail[j];
  }
}

/* to = -S, or its transpose */
KERNEL void store_negative(const six_block *sum, double to[BODY_BLOCK]) {
#pragma GCC unroll 6
  for (int i = 0; i < 6; i++) {
    *(four *)(to + 6 * i) = -sum->head[i];
    *(two *)(to + 6 * i + 4) = -sum->tail[i];
  }
}

KERNEL void store_negative_transpose(const six_block *sum,
                                     double to[BODY_BLOCK]) {
  const four *h = sum->head;
  const two *t = sum->tail;
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    *(four *)(to + 6 * i) = -(four){h[0][i], h[1][i], h[2][i], h[3][i]};
    *(two *)(to + 6 * i + 4) = -(two){h[4][i], h[5][i]};
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; i++) {
    *(four *)(to + 24 + 6 * i) = -(four){t[0][i], t[1][i], t[2][i], t[3][i]};
    *(two *)(to + 28 + 6 * i) = -(two){t[4][i], t[5][i]};
  }
}

KERNEL void add_block(const six_block *sum, double to[BODY_BLOCK]) {
#pragma GCC unroll 6
  for (int i = 0; i < 6; i++) {
    *(four *)(to + 6 * i) += sum->head[i];
    *(two *)(to + 6 * i + 4) += sum->tail[i];
  }
}

/* J_b = -J_a T on every row: S = J_a' W J_a gives all blocks. */
KERNEL void add_twisted(const box_problem *box, const graph_edge *edge,
                        const box_weights *weights,
                        const graph_edge_place *at) {
  double S[BODY_BLOCK] = {0};
  six_block sum;
  add_side(box, edge, weights, S);
  load_block(S, &sum);
  add_block(&sum, at->aa);

  if (!at->a_first || at->lower != NULL) { // the (b, a) block
    twist_times(&sum, edge->offset);
    if (at->a_first)
      store_negative_transpose(&sum, at->lower);
    else
      store_negative(&sum, at->upper);
    load_block(S, &sum);
  }
  times_twist(&sum, edge->offset);
  if (at->a_first)
    store_negative(&sum, at->upper);
  else if (at->lower != NULL)
    store_negative_transpose(&sum, at->lower);
  twist_times(&sum, edge->offset);
  add_block(&sum, at->bb);
}

KERNEL void assemble(body_blocks *blocks, const box_problem *box,
                     const box_weights *weights) {
  for (int i = 0; i < box->n_bodies; i++)
    memcpy(body_blocks_diagonal(blocks, i), box->problem->bodies[i].mass,
           sizeof(double) * BODY_BLOCK);

  for (int e = 0; e < box->n_graph_edges; e++) {
    const graph_edge *edge = &box->graph_edges[e];
    graph_edge_place at = {.aa = body_blocks_diagonal(blocks, edge->a)};
    if (edge->b < 0) {
      add_side(box, edge, weights, at.aa);
      continue;
    }
    at.bb = body_blocks_diagonal(blocks, edge->b);
    at.a_first = body_blocks_pair(blocks, edge->slot, edge->a, edge->b,
                                  &at.upper, &at.lower);
    if (edge->twisted)
      add_twisted(box, edge, weights, &at);
    else
      add_untwisted(box, edge, weights, &at);
  }
}

WIDE static void assemble_wide(body_blocks *blocks, const box_problem *box,
                               const box_weights *weights) {
  assemble(blocks, box, weights);
}

static void assemble_any(body_blocks *blocks, const box_problem *box,
                         const box_weights *weights) {
  if (six_is_wide())
    assemble_wide(blocks, box, weights);
  else
    assemble(blocks, box, weights);
}

bool box_system_factor(body_blocks *blocks, const box_problem *box,
                       const box_weights *weights, bool symmetric) {
  if (symmetric && box->symmetric_mass) {
    body_blocks_begin(blocks, true);
    assemble_any(blocks, box, weights);
    if (body_blocks_factor(blocks)) return true;
  }
  body_blocks_begin(blocks, false);
  assemble_any(blocks, box, weights);
  return body_blocks_factor(blocks);
}

/* What clusters whose compliance is coupled add to W x. */
static void weigh_full(const box_problem *box, const box_weights *weights,
                       const double x[], double y[]) {
  for (int c = 0; c < box->n_clusters && box->n_compliances > 0; c++) {
    const box_cluster *cluster = &box->clusters[c];
    int m = cluster->n_rows, first = cluster->first_row;
    if (cluster->first_compliance < 0) continue;
    const double *W = weights->full + cluster->first_compliance;
    for (int i = 0; i < m; i++) {
      double sum = 0;
      for (int j = 0; j < m; j++) sum += W[m * i + j] * x[first + j];
      y[first + i] = sum;
    }
  }
}

KERNEL void weigh_rows(const box_problem *box, const box_weights *weights,
                       const double x[], double y[]) {
  for (int r = 0; r < box->n_rows; r += 4)
    *(four *)(y + r) =
        *(const four *)(weights->own + r) * *(const four *)(x + r) +
        *(const four *)(weights->follow + r) * four_at(x, box->normal_of + r);
}

WIDE static void weigh_rows_wide(const box_problem *box,
                                 const box_weights *weights, const double x[],
                                 double y[]) {
  weigh_rows(box, weights, x, y);
}

void box_system_weigh(const box_problem *box, const box_weights *weights,
                      const double x[], double y[]) {
  if (six_is_wide())
    weigh_rows_wide(box, weights, x, y);
  else
    weigh_rows(box, weights, x, y);
  weigh_full(box, weights, x, y);
}

void box_system_answer(const box_problem *box, const box_weights *weights,
                       const double r[], const double dv[], double dp[],
                       double work[], double Jdv[]) {
  double *Jv = Jdv != NULL ? Jdv : work;
  box_relative(box, dv, Jv);
  for (int i = 0; i < box->n_rows; i++) work[i] = r[i] - Jv[i];
  box_system_weigh(box, weights, work, dp);
}

void box_system_solve(const body_blocks *blocks, const box_problem *box,
                      const box_weights *weights, const double r[], double dv[],
                      double dp[], double work[]) {
  box_system_weigh(box, weights, r, dp);
  box_impulses(box, dp, dv);
  body_blocks_solve(blocks, dv);
  box_system_answer(box, weights, r, dv, dp, work, NULL);
}
