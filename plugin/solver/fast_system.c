#include "solver/fast_system.h"

#include <math.h>
#include <string.h>

#include "common/six.h"

/* S += left' WJ, with WJ m x 6 */
KERNEL void add_outer(double S[BODY_BLOCK], int m, const double left[],
                      const double WJ[]) {
  for (int i = 0; i < 6; i++) {
    four s4 = *(four *)(S + 6 * i);
    two s2 = *(two *)(S + 6 * i + 4);
    for (int r = 0; r < m; r++) {
      double factor = left[6 * r + i];
      s4 += factor * *(const four *)(WJ + 6 * r);
      s2 += factor * *(const two *)(WJ + 6 * r + 4);
    }
    *(four *)(S + 6 * i) = s4;
    *(two *)(S + 6 * i + 4) = s2;
  }
}

/* WJ = W J; false when W is all zeros. */
KERNEL bool weigh(int m, const double W[], const double J[], double WJ[]) {
  bool any = false;
  for (int i = 0; i < m; i++) {
    double sum[6] = {0};
    for (int j = 0; j < m; j++) {
      if (W[m * i + j] == 0) continue;
      any = true;
      add_row(sum, W[m * i + j], J + 6 * j);
    }
    memcpy(WJ + 6 * i, sum, sizeof sum);
  }
  return any;
}

/* The four blocks that an edge adds to H. */
typedef struct edge_blocks {
  double aa[BODY_BLOCK], ab[BODY_BLOCK], ba[BODY_BLOCK], bb[BODY_BLOCK];
} edge_blocks;

KERNEL void sum_clusters(const fast_form *form, const fast_edge *edge,
                         const double weights[], edge_blocks *out) {
  double WJ[6 * FAST_MAX_CLUSTER];
  bool both = edge->b >= 0 && !edge->twisted;
  for (int c = edge->first_cluster; c < edge->end_cluster; c++) {
    const fast_cluster *cluster = &form->clusters[c];
    int m = cluster->n_rows;
    const double *W = weights + cluster->first_weight;
    const double *J_a = form->J_a + 6 * cluster->first_row;
    const double *J_b = form->J_b + 6 * cluster->first_row;
    if (!weigh(m, W, J_a, WJ)) continue;
    add_outer(out->aa, m, J_a, WJ);
    if (!both) continue;
    add_outer(out->ba, m, J_b, WJ);
    weigh(m, W, J_b, WJ);
    add_outer(out->ab, m, J_a, WJ);
    add_outer(out->bb, m, J_b, WJ);
  }
}

/* S T, where T v = (linear + angular x o, angular): the angular columns
 * become S_angular + o x S_linear, row by row. */
KERNEL void times_twist(const double S[BODY_BLOCK], const double o[3],
                        double ST[BODY_BLOCK]) {
  for (int i = 0; i < 6; i++) {
    const double *s = S + 6 * i;
    double *t = ST + 6 * i;
    t[0] = s[0];
    t[1] = s[1];
    t[2] = s[2];
    t[3] = s[3] + (o[1] * s[2] - o[2] * s[1]);
    t[4] = s[4] + (o[2] * s[0] - o[0] * s[2]);
    t[5] = s[5] + (o[0] * s[1] - o[1] * s[0]);
  }
}

/* T' S: the same on rows. */
KERNEL void twist_times(const double S[BODY_BLOCK], const double o[3],
                        double TS[BODY_BLOCK]) {
  memcpy(TS, S, sizeof(double) * BODY_BLOCK);
  for (int j = 0; j < 6; j++) {
    TS[18 + j] += o[1] * S[12 + j] - o[2] * S[6 + j];
    TS[24 + j] += o[2] * S[j] - o[0] * S[12 + j];
    TS[30 + j] += o[0] * S[6 + j] - o[1] * S[j];
  }
}

/* J_b = -J_a T on every row. */
KERNEL void twist_blocks(const double o[3], edge_blocks *e) {
  times_twist(e->aa, o, e->ab);
  twist_times(e->ab, o, e->bb);
  twist_times(e->aa, o, e->ba);
  for (int i = 0; i < BODY_BLOCK; i++) {
    e->ab[i] = -e->ab[i];
    e->ba[i] = -e->ba[i];
  }
}

KERNEL void add_block(double to[BODY_BLOCK], const double from[BODY_BLOCK]) {
  for (int i = 0; i < BODY_BLOCK; i++) to[i] += from[i];
}

KERNEL void assemble(body_blocks *blocks, const fast_form *form,
                     const double weights[]) {
  for (int i = 0; i < form->n_bodies; i++)
    memcpy(body_blocks_diagonal(blocks, i), form->problem->bodies[i].mass,
           sizeof(double) * BODY_BLOCK);

  for (int e = 0; e < form->n_edges; e++) {
    const fast_edge *edge = &form->edges[e];
    edge_blocks sums;
    memset(&sums, 0, edge->twisted ? sizeof sums.aa : sizeof sums);
    sum_clusters(form, edge, weights, &sums);
    if (edge->twisted) twist_blocks(edge->offset, &sums);
    add_block(body_blocks_diagonal(blocks, edge->a), sums.aa);
    if (edge->b < 0) continue;
    add_block(body_blocks_diagonal(blocks, edge->b), sums.bb);
    body_blocks_set_edge(blocks, edge->slot, edge->a, edge->b, sums.ab,
                         sums.ba);
  }
}

#if defined(__x86_64__) && defined(__GNUC__)
/* Wider registers, the same operations in the same order: the same bits. */
__attribute__((target("avx2"))) static void assemble_wide(
    body_blocks *blocks, const fast_form *form, const double weights[]) {
  assemble(blocks, form, weights);
}

static void assemble_any(body_blocks *blocks, const fast_form *form,
                         const double weights[]) {
  if (__builtin_cpu_supports("avx2"))
    assemble_wide(blocks, form, weights);
  else
    assemble(blocks, form, weights);
}
#else
static void assemble_any(body_blocks *blocks, const fast_form *form,
                         const double weights[]) {
  assemble(blocks, form, weights);
}
#endif

bool fast_system_factor(body_blocks *blocks, const fast_form *form,
                        const double weights[], bool symmetric) {
  body_blocks_begin(blocks, symmetric && form->symmetric_mass);
  assemble_any(blocks, form, weights);
  return body_blocks_factor(blocks);
}

/* y = W x for the commonest cluster, a contact with two generators. */
static inline void apply_three(const double W[9], const double x[3],
                               double y[3]) {
  for (int i = 0; i < 3; i++)
    y[i] = W[3 * i] * x[0] + W[3 * i + 1] * x[1] + W[3 * i + 2] * x[2];
}

void fast_system_weigh(const fast_form *form, const double weights[],
                       const double x[], double y[]) {
  for (int c = 0; c < form->n_clusters; c++) {
    const fast_cluster *cluster = &form->clusters[c];
    int m = cluster->n_rows, first = cluster->first_row;
    const double *W = weights + cluster->first_weight;
    if (m == 3) {
      apply_three(W, x + first, y + first);
      continue;
    }
    for (int i = 0; i < m; i++) {
      double sum = 0;
      for (int j = 0; j < m; j++) sum += W[m * i + j] * x[first + j];
      y[first + i] = sum;
    }
  }
}

void fast_system_solve(const body_blocks *blocks, const fast_form *form,
                       const double weights[], const double r[], double dv[],
                       double dp[], double work[]) {
  fast_system_weigh(form, weights, r, dp);
  fast_form_impulses(form, dp, dv);
  body_blocks_solve(blocks, dv);
  fast_form_relative(form, dv, work);
  for (int i = 0; i < form->n_rows; i++) work[i] = r[i] - work[i];
  fast_system_weigh(form, weights, work, dp);
}

bool fast_system_invert(int m, double A[], double W[]) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) W[m * i + j] = i == j;

  for (int k = 0; k < m; k++) {
    int best = k;
    for (int i = k + 1; i < m; i++)
      if (fabs(A[m * i + k]) > fabs(A[m * best + k])) best = i;
    for (int j = 0; j < m && best != k; j++) {
      double held = A[m * k + j];
      A[m * k + j] = A[m * best + j];
      A[m * best + j] = held;
      held = W[m * k + j];
      W[m * k + j] = W[m * best + j];
      W[m * best + j] = held;
    }
    double inverse = 1 / A[m * k + k];
    if (!isfinite(inverse)) return false;
    for (int j = 0; j < m; j++) {
      A[m * k + j] *= inverse;
      W[m * k + j] *= inverse;
    }
    for (int i = 0; i < m; i++) {
      double factor = A[m * i + k];
      if (i == k || factor == 0) continue;
      for (int j = 0; j < m; j++) {
        A[m * i + j] -= factor * A[m * k + j];
        W[m * i + j] -= factor * W[m * k + j];
      }
    }
  }
  return true;
}
