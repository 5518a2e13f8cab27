#include "solver/box_system.h"

#include <string.h>

#include "common/six.h"

/* ---- H ------------------------------------------------------------------- */

/* WJ = W J of a row on a or b. */
KERNEL void weigh_row(const box_problem *box, const box_weights *weights, int r,
                      int side, double WJ[6]) {
  double J[6], J_0[6], own = weights->own[r], follow = weights->follow[r];
  box_jacobian(box, r, side, J);
  box_jacobian(box, box->normal_of[r], side, J_0);
  *(four *)WJ = follow * *(const four *)J_0 + own * *(const four *)J;
  *(two *)(WJ + 4) =
      follow * *(const two *)(J_0 + 4) + own * *(const two *)(J + 4);
  if (weights->cross[r] == 0) return;
  box_jacobian(box, box->other_of[r], side, J);
  add_row(WJ, weights->cross[r], J);
}

static inline bool answers(const box_weights *weights, int r) {
  return weights->own[r] != 0 || weights->follow[r] != 0 ||
         weights->cross[r] != 0;
}

/* S += J' W J over the rows of a graph edge, on a. */
KERNEL void add_side(const box_problem *box, const graph_edge *edge,
                     const box_weights *weights, double S[BODY_BLOCK]) {
  six_block sum;
  load_block(S, &sum);
  for (int r = edge->first_row; r < edge->end_row; r++) {
    double J[6], WJ[6];
    if (!answers(weights, r)) continue;
    box_jacobian(box, r, BOX_A, J);
    weigh_row(box, weights, r, BOX_A, WJ);
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
      sum.head[i] += J[i] * *(const four *)WJ;
      sum.tail[i] += J[i] * *(const two *)(WJ + 4);
    }
  }
  store_block(&sum, S);
}

/* A graph edge's place in H. */
typedef struct graph_edge_place {
  double *aa, *bb;
  double *upper, *lower; /* as by body_blocks_pair */
  bool a_first;
} graph_edge_place;

/* S += x y' */
KERNEL void add_outer(const double x[6], const double y[6],
                      double S[BODY_BLOCK]) {
  for (int i = 0; i < 6; i++) add_row(S + 6 * i, x[i], y);
}

/* What a graph edge adds where its rows are of several points. */
KERNEL void add_untwisted(const box_problem *box, const graph_edge *edge,
                          const box_weights *weights,
                          const graph_edge_place *at) {
  memset(at->upper, 0, sizeof(double) * BODY_BLOCK);
  if (at->lower != NULL) memset(at->lower, 0, sizeof(double) * BODY_BLOCK);
  for (int r = edge->first_row; r < edge->end_row; r++)
    for (int side = BOX_A; side <= BOX_B; side++) {
      double J[6], J_other[6], WJ[6];
      box_jacobian(box, r, side, J);
      box_jacobian(box, r, BOX_B - side, J_other);
      weigh_row(box, weights, r, side, WJ);
      add_outer(J, WJ, side == BOX_A ? at->aa : at->bb);
      if (at->a_first == (side == BOX_B))
        add_outer(J_other, WJ, at->upper);
      else if (at->lower != NULL)
        add_outer(WJ, J_other, at->lower);
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

IN_BOTH_WIDTHS(static, void, assemble_any,
               (body_blocks * blocks, const box_problem *box,
                const box_weights *weights),
               , assemble, (blocks, box, weights))

bool box_system_factor(body_blocks *blocks, const box_problem *box,
                       const box_weights *weights, bool symmetric, bool *anew) {
  if (symmetric && box->symmetric_mass) {
    body_blocks_begin(blocks, true);
    assemble_any(blocks, box, weights);
    if (body_blocks_factor(blocks, anew)) return true;
  }
  body_blocks_begin(blocks, false);
  assemble_any(blocks, box, weights);
  return body_blocks_factor(blocks, anew);
}

void box_system_cross(const box_problem *box, box_weights *weights) {
  for (int r = 0; r < box->n_rows && box->crossed; r++) {
    int other = box->other_of[r];
    double c = box->cross[r], *own = weights->own, *follow = weights->follow;
    if (c == 0 || other < r) continue;
    double left = 1 / (1 - own[r] * own[other] * c * c);
    double one = follow[r], two = follow[other];
    follow[r] = left * (one - own[r] * c * two);
    follow[other] = left * (two - own[other] * c * one);
    weights->cross[r] = weights->cross[other] = -left * own[r] * own[other] * c;
    own[r] *= left;
    own[other] *= left;
  }
}

KERNEL void weigh_rows(const box_problem *box, const box_weights *weights,
                       const double x[], double y[]) {
  for (int r = 0; r < box->n_rows; r += 4)
    *(four *)(y + r) =
        *(const four *)(weights->own + r) * *(const four *)(x + r) +
        *(const four *)(weights->follow + r) * four_at(x, box->normal_of + r) +
        *(const four *)(weights->cross + r) * four_at(x, box->other_of + r);
}

IN_BOTH_WIDTHS(extern, void, box_system_weigh,
               (const box_problem *box, const box_weights *weights,
                const double x[], double y[]),
               , weigh_rows, (box, weights, x, y))

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
