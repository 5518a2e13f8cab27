/* The box formulation of a mixed LCP, on which the stages work.
 *
 * A centrally symmetric polygon is a zonotope: with generators
 * g_k = (u_(k+1) - u_k) / 2, u_K = -u_0, it is { sum s_k g_k, |s_k| <= 1 }.
 * Maximum dissipation over it splits per generator, so that the rows of
 * friction edges and the lambda row of a set are equivalent to boxed rows
 *
 *   p_t = sum_k g_k sigma_k / |g_k|,  w_k = g_k . w_t / |g_k|
 *   L_k = |g_k| (coefficient p_n + limit)
 *   -L_k <= sigma_k <= L_k,  -L_k => w_k >= 0,  L_k => w_k <= 0
 *
 * two a contact instead of five for four friction edges; of more edges generators
 * share their compliance with all others, and are left to the edge formulation.
 * Upper-bounded rows are
 * turned round, fixed rows (low = high) join the free velocity, and rows are
 * sorted by the pair of bodies they act on: an edge of the body graph. A
 * `cluster` is a normal with its friction rows, or a row of its own. J stays where
 * the problem has it: a row of the box form is one of the problem's with its sign, or
 * the sum of g times the two of its friction set.
 *
 * Rows of a contact act on both bodies at one point, so that
 * J_b = -J_a T with one T for a graph edge, which halves the work on it.
 */
#ifndef ODE_MLCP_SOLVER_BOX_H
#define ODE_MLCP_SOLVER_BOX_H

#include "common/arena.h"
#include "common/six.h"
#include "mlcp/mlcp.h"
#include "solver/body_blocks.h"

typedef enum box_row_type {
  BOX_FREE,    /* w = 0 */
  BOX_LOWER,   /* p >= low */
  BOX_BOUNDED, /* low <= p <= high */
  BOX_FRICTION /* |p| <= coefficient * cluster's normal + high */
} box_row_type;

enum { BOX_MAX_CLUSTER = 32 };

typedef struct box_cluster {
  int first_row, n_rows;
  bool has_normal; /* then it is the cluster's first row */
  bool crossed;    /* two of its rows share compliance */
} box_cluster;

typedef struct graph_edge {
  int a, b; /* a < b, or b = -1 */
  int first_cluster, end_cluster, first_row, end_row;
  int slot;         /* among graph edges with two bodies */
  bool twisted;     /* J_b = -J_a T holds for every row */
  double offset[3]; /* T: linear part of a point's velocity, see twist_row */
} graph_edge;

/** What a row is made of: the sum of g times the rows. */
typedef struct box_origin {
  int friction; /* a generator's set, -1 of another */
  int rows[2];  /* of the problem, the same twice where there is one */
  double g[2];  /* the generator's direction; else the row's sign, and 0 */
  const double *J[2][2]; /* of the graph edge's a and b, of both rows */
} box_origin;

typedef struct box_problem {
  const mlcp_problem *problem;
  int n_bodies, n_rows, n_clusters, n_graph_edges, n_body_pairs;
  int n_limited; /* rows of other types than BOX_FREE */
  bool symmetric_mass;
  bool crossed; /* a cluster is */

  graph_edge *graph_edges;
  box_cluster *clusters;
  body_pair *body_pairs;

  /* [n_rows] each; bias to coefficient and origin have room to be read by fours, and
     read as a row that acts on nothing there */
  double *bias, *compliance;
  double *diagonal;    /* J M^-1 J' + compliance, 1 where that is 0 */
  double *low, *high;  /* infinite where there is none; high of BOX_FRICTION
                          is the constant part of its limit */
  double *coefficient; /* BOX_FRICTION */
  int *type;
  int *cluster_of;        /* clusters[cluster_of[row]] is the row's */
  long long *is_friction; /* of BOX_FRICTION all bits, else none */
  int *normal_of; /* the row whose impulse the row's limits follow, its own
                      where there is none */
  int *other_of;  /* the other row of a friction set of two, else its own */
  double *cross;  /* 1/kg: compliance that the two share, else 0 */
  box_origin *origin;

  double *v_base;    /* [6 n_bodies] with the fixed rows' impulses */
  double *of_rows;   /* scratch: a number for each of the problem's rows */
  double scale;      /* m/s: what residuals are relative to */
  double relaxation; /* >= 0: this much of the diagonal is added to every
                              compliance; 0 at the end of a method */
} box_problem;

/** How a row answers a slip: own x + follow x_normal + cross x_other. */
typedef struct box_weights {
  double *own, *follow, *cross; /* [n_rows] by fours */
} box_weights;

typedef enum box_status {
  BOX_BUILT,
  BOX_UNSUITABLE, /* friction between other bodies than its normal's or of
                     more than four edges, or a cluster of more than
                     BOX_MAX_CLUSTER rows */
  BOX_NO_MEMORY
} box_status;

/** Build the box formulation in `arena`; `problem` must outlive it. */
box_status box_build(box_problem *box, arena *arena,
                     const mlcp_problem *problem);

/** One row x of six numbers, as its first four and its last two, becomes x T,
 *  where T v = (linear + angular x o, angular). */
KERNEL void twist_row(four *head, two *tail, const double o[3]) {
  four x = *head, from_1 = {0, 0, 0, -o[2]}, from_2 = {0, 0, 0, o[1]};
  two end_0 = {o[2], -o[1]}, end_1 = {0, o[0]}, end_2 = {-o[0], 0};
  *head = x + (x[1] * from_1 + x[2] * from_2);
  *tail += x[0] * end_0 + (x[1] * end_1 + x[2] * end_2);
}

enum { BOX_A, BOX_B };

/** J of a row on body a or b of its graph edge; 0 where there is none. */
KERNEL void box_jacobian(const box_problem *box, int row, int side,
                         double J[6]) {
  const box_origin *origin = &box->origin[row];
  const double *one = origin->J[side][0], *other = origin->J[side][1];
  *(four *)J =
      origin->g[0] * *(const four *)one + origin->g[1] * *(const four *)other;
  *(two *)(J + 4) = origin->g[0] * *(const two *)(one + 4) +
                    origin->g[1] * *(const two *)(other + 4);
}

/** A row's limits where its cluster's normal (0 without one) is `normal`. */
static inline void box_row_limits(const box_problem *box, int row,
                                  double normal, double *low, double *high) {
  *low = box->low[row];
  *high = box->high[row];
  if (box->type[row] == BOX_FRICTION) {
    double limit = *high + box->coefficient[row] * normal;
    *high = limit > 0 ? limit : 0;
    *low = -*high;
  }
}

/** The limits of rows 4 i to 4 i + 3 where the rows that they follow have
 *  impulses `normal`. */
KERNEL void box_limits_of_four(const box_problem *box, int i,
                               const four *normal, four *low, four *high) {
  four_mask friction = *(const four_mask *)(box->is_friction + 4 * i);
  four limit = *(const four *)(box->high + 4 * i) +
               *(const four *)(box->coefficient + 4 * i) * *normal;
  four clear = larger_four(limit, four_of(0));
  *high = four_where(friction, clear, limit);
  *low = four_where(friction, -clear, *(const four *)(box->low + 4 * i));
}

static inline const box_cluster *box_cluster_of(const box_problem *box,
                                                int row) {
  return &box->clusters[box->cluster_of[row]];
}

/** A row's limits at impulses p. */
static inline void box_limits(const box_problem *box, int row, const double p[],
                              double *low, double *high) {
  const box_cluster *cluster = box_cluster_of(box, row);
  double normal = cluster->has_normal ? p[cluster->first_row] : 0;
  box_row_limits(box, row, normal, low, high);
}

/** J' p added up: impulse [6 n_bodies] out. */
void box_impulses(const box_problem *box, const double p[], double impulse[]);

/** v = v_base + M^-1 J' p. */
void box_velocities(const box_problem *box, const double p[], double v[]);

/** w = J v + (compliance + relaxation diagonal) p + bias. Vectors of rows have room
 *  by_fours; what p has beyond its last row has to be finite. */
void box_slips(const box_problem *box, const double v[], const double p[],
               double w[]);

/** Jv = J v, nothing else. */
void box_relative(const box_problem *box, const double v[], double Jv[]);

/** Move p into its limits: normals first, then what depends on them. */
void box_project(const box_problem *box, double p[]);

/** The softening of a row in a linear system, 1/kg: `prox` of the diagonal,
 *  which takes repeated steps, where its own compliance does not already keep
 *  the system regular. Between the two impulses that hold each other would
 *  settle by a hundredth a step, so that there is hardly any prox then. */
double box_softness(const box_problem *box, int row, double prox);

/**
 * The worst |mid(low - p, -w, high - p)| in m/s, impulses times the diagonal,
 * over box->scale. p must be within its limits.
 */
double box_residual(const box_problem *box, const double p[], const double w[]);

/** Impulses of the problem's rows [problem->n_rows] to p, and back. A NAN
 *  guess counts as unknown and becomes 0; p may be out of its limits.
 *  @param known  [n_rows] out */
void box_take_guess(const box_problem *box, const double guess[], double p[],
                    bool known[]);
void box_give_impulses(const box_problem *box, const double p[],
                       double problem_p[]);

#endif
