#include "solver/box.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "common/six.h"

/* ---- J' p and J v -------------------------------------------------------- */

/* f += sum of J_r p_r over two rows at a time, twelve numbers in three vectors;
 * worth its ending where there are many. @return the row that is left. */
KERNEL int add_row_pairs(six *f, const double J[], const double p[], int begin,
                         int end) {
  four first = {0, 0, 0, 0}, across = first, second = first;
  int r = begin;
  for (; r + 1 < end; r += 2) {
    const four *at = (const four *)(J + 6 * r);
    first += p[r] * at[0];
    across += (four){p[r], p[r], p[r + 1], p[r + 1]} * at[1];
    second += p[r + 1] * at[2];
  }
  f->part[0] += (two){first[0], first[1]} + (two){across[2], across[3]};
  f->part[1] += (two){first[2], first[3]} + (two){second[0], second[1]};
  f->part[2] += (two){across[0], across[1]} + (two){second[2], second[3]};
  return r;
}

KERNEL six sum_rows(const double J[], const double p[],
                    const graph_edge *edge) {
  const int many = 6;
  int r = edge->first_row, end = edge->end_row;
  six sum = {{{0, 0}, {0, 0}, {0, 0}}};
  if (end - r >= many) r = add_row_pairs(&sum, J, p, r, end);
  for (; r < end; r++) add_to_six(&sum, p[r], J + 6 * r);
  return sum;
}

/* The same impulse on b: its linear part, and its moment about b's centre. */
KERNEL six move_impulse(six f, const double o[3]) {
  double x = f.part[0][0], y = f.part[0][1], z = f.part[1][0];
  double turn[3] = {f.part[1][1] + (o[1] * z - o[2] * y),
                    f.part[2][0] + (o[2] * x - o[0] * z),
                    f.part[2][1] + (o[0] * y - o[1] * x)};
  return (six){{{-x, -y}, {-z, -turn[0]}, {-turn[1], -turn[2]}}};
}

KERNEL void add_six(six x, double y[6]) {
  six sum = load_six(y);
  for (int k = 0; k < 3; k++) sum.part[k] += x.part[k];
  store_six(sum, y);
}

KERNEL void add_edge_impulse(const box_problem *box, const graph_edge *edge,
                             const double p[], double impulse[]) {
  six f = sum_rows(box->J_a, p, edge);
  add_six(f, impulse + 6 * edge->a);
  if (edge->b < 0) return;
  six f_b = edge->twisted ? move_impulse(f, edge->offset)
                          : sum_rows(box->J_b, p, edge);
  add_six(f_b, impulse + 6 * edge->b);
}

KERNEL void add_impulses(const box_problem *box, const double p[],
                         double impulse[]) {
  memset(impulse, 0, sizeof(double) * 6 * (size_t)box->n_bodies);
  for (int e = 0; e < box->n_graph_edges; e++)
    add_edge_impulse(box, &box->graph_edges[e], p, impulse);
}

WIDE static void add_impulses_wide(const box_problem *box, const double p[],
                                   double impulse[]) {
  add_impulses(box, p, impulse);
}

void box_impulses(const box_problem *box, const double p[], double impulse[]) {
  if (six_is_wide())
    add_impulses_wide(box, p, impulse);
  else
    add_impulses(box, p, impulse);
}

/* v = v_base + M^-1 v, where M is a scalar and an inertia. */
static inline void plain_velocity(const double inverse[36],
                                  const double v_base[6], double v[6]) {
  const double *x = inverse + 21, *y = inverse + 27, *z = inverse + 33;
  double f[3] = {v[3], v[4], v[5]};
  for (int i = 0; i < 3; i++) v[i] = v_base[i] + inverse[0] * v[i];
  v[3] = v_base[3] + (x[0] * f[0] + x[1] * f[1] + x[2] * f[2]);
  v[4] = v_base[4] + (y[0] * f[0] + y[1] * f[1] + y[2] * f[2]);
  v[5] = v_base[5] + (z[0] * f[0] + z[1] * f[1] + z[2] * f[2]);
}

void box_velocities(const box_problem *box, const double p[], double v[]) {
  box_impulses(box, p, v);
  for (int b = 0; b < box->n_bodies; b++) {
    const double *inverse = box->problem->bodies[b].inverse_mass;
    const double *v_base = box->v_base + 6 * b;
    if (box->plain_mass) {
      plain_velocity(inverse, v_base, v + 6 * b);
      continue;
    }
    double impulse[6];
    memcpy(impulse, v + 6 * b, sizeof impulse);
    for (int i = 0; i < 6; i++)
      v[6 * b + i] = v_base[i] + dot6(inverse + 6 * i, impulse);
  }
}

/* a's velocity less b's, both as of the point of b's centre moved by -offset:
 * J v = J_a . (v_a - T v_b) for every row of a twisted edge */
static inline six relative_twist(const double v_a[6], const double v_b[6],
                                 const double o[3]) {
  const double *turn = v_b + 3;
  double x = v_a[0] - v_b[0] - (turn[1] * o[2] - turn[2] * o[1]);
  double y = v_a[1] - v_b[1] - (turn[2] * o[0] - turn[0] * o[2]);
  double z = v_a[2] - v_b[2] - (turn[0] * o[1] - turn[1] * o[0]);
  return (six){
      {{x, y}, {z, v_a[3] - v_b[3]}, {v_a[4] - v_b[4], v_a[5] - v_b[5]}}};
}

/* J u of four rows that follow each other. */
KERNEL four times_rows(const double J[], const double u[6]) {
  six x = load_six(u);
  two a = times_six(J, x), b = times_six(J + 6, x);
  two c = times_six(J + 12, x), d = times_six(J + 18, x);
  return (four){a[0], b[0], c[0], d[0]} + (four){a[1], b[1], c[1], d[1]};
}

/* What is made of J v as it comes. Rows are written by fours in their order, so
 * that what one edge's last four write beyond it is overwritten by the next. */
typedef struct slip_use {
  double *Jv;          /* out, or NULL */
  const double *p;     /* out: w = J v + compliance p + bias, */
  double *w;           /* or NULL */
  const double *right; /* out: answer = W (right - J v), */
  const box_weights *weights;
  double *left, *answer; /* left: right - J v, or NULL */
} slip_use;

KERNEL void use_slips(const box_problem *box, const slip_use *use, int r,
                      const four *Jv) {
  if (use->Jv != NULL) *(four *)(use->Jv + r) = *Jv;
  if (use->w != NULL) {
    four p = *(const four *)(use->p + r);
    four w = *Jv + (*(const four *)(box->compliance + r) * p +
                    *(const four *)(box->bias + r));
    if (box->relaxation > 0)
      w += box->relaxation * *(const four *)(box->diagonal + r) * p;
    *(four *)(use->w + r) = w;
  }
  if (use->left != NULL) {
    const double *left = use->left;
    four own = *(const four *)(use->right + r) - *Jv;
    *(four *)(use->left + r) = own;
    four normal = four_at(left, box->normal_of + r);
    *(four *)(use->answer + r) =
        *(const four *)(use->weights->own + r) * own +
        *(const four *)(use->weights->follow + r) * normal;
  }
}

KERNEL void go_over_slips(const box_problem *box, const double v[],
                          const slip_use *use) {
  for (int e = 0; e < box->n_graph_edges; e++) {
    const graph_edge *edge = &box->graph_edges[e];
    const double *v_a = v + 6 * edge->a;
    const double *v_b = edge->b >= 0 ? v + 6 * edge->b : NULL;
    bool apart = v_b != NULL && !edge->twisted;
    double u[6];
    store_six(
        edge->twisted ? relative_twist(v_a, v_b, edge->offset) : load_six(v_a),
        u);
    for (int r = edge->first_row; r < edge->end_row; r += 4) {
      four Jv = times_rows(box->J_a + 6 * r, u);
      if (apart) Jv += times_rows(box->J_b + 6 * r, v_b);
      use_slips(box, use, r, &Jv);
    }
  }
}

WIDE static void go_over_slips_wide(const box_problem *box, const double v[],
                                    const slip_use *use) {
  go_over_slips(box, v, use);
}

static void go_over_slips_any(const box_problem *box, const double v[],
                              const slip_use *use) {
  if (six_is_wide())
    go_over_slips_wide(box, v, use);
  else
    go_over_slips(box, v, use);
}

void box_relative(const box_problem *box, const double v[], double Jv[]) {
  go_over_slips_any(box, v, &(slip_use){.Jv = Jv});
}

void box_answer(const box_problem *box, const box_weights *weights,
                const double r[], const double v[], double left[],
                double answer[], double Jv[]) {
  go_over_slips_any(box, v,
                    &(slip_use){.Jv = Jv,
                                .right = r,
                                .weights = weights,
                                .left = left,
                                .answer = answer});
}

static void add_full_compliance(const box_problem *box,
                                const box_cluster *cluster, const double p[],
                                double w[]) {
  int m = cluster->n_rows, first = cluster->first_row;
  const double *C = box->full_compliance + cluster->first_compliance;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      if (i != j) w[first + i] += C[m * i + j] * p[first + j];
}

void box_slips(const box_problem *box, const double v[], const double p[],
               double w[]) {
  go_over_slips_any(box, v, &(slip_use){.p = p, .w = w});
  if (box->n_compliances == 0) return;
  for (int c = 0; c < box->n_clusters; c++)
    if (box->clusters[c].first_compliance >= 0)
      add_full_compliance(box, &box->clusters[c], p, w);
}

/* ---- limits and residual ------------------------------------------------- */

KERNEL four middle_four(four low, four x, four high) {
  return four_where(x < low, low, four_where(x > high, high, x));
}

/* Those that follow no other first: what the others follow is then in place. */
KERNEL void project(const box_problem *box, double p[]) {
  for (int i = 0; 4 * i < box->n_rows; i++) {
    four_mask friction = *(const four_mask *)(box->is_friction + 4 * i);
    four own = *(const four *)(p + 4 * i), low, high;
    four fixed = middle_four(*(const four *)(box->low + 4 * i), own,
                             *(const four *)(box->high + 4 * i));
    *(four *)(p + 4 * i) = four_where(friction, own, fixed);
    four normal = four_at(p, box->normal_of + 4 * i);
    box_limits_of_four(box, i, &normal, &low, &high);
    *(four *)(p + 4 * i) =
        four_where(friction, middle_four(low, own, high), fixed);
  }
}

WIDE static void project_wide(const box_problem *box, double p[]) {
  project(box, p);
}

void box_project(const box_problem *box, double p[]) {
  if (six_is_wide())
    project_wide(box, p);
  else
    project(box, p);
}

KERNEL double residual(const box_problem *box, const double p[],
                       const double w[]) {
  four worst = four_of(0), lost = four_of(0);
  for (int i = 0; 4 * i < box->n_rows; i++) {
    four own = *(const four *)(p + 4 * i), low, high;
    four A = *(const four *)(box->diagonal + 4 * i);
    four normal = four_at(p, box->normal_of + 4 * i);
    box_limits_of_four(box, i, &normal, &low, &high);
    four error = middle_four((low - own) * A, -*(const four *)(w + 4 * i),
                             (high - own) * A);
    worst = larger_four(worst, larger_four(error, -error));
    lost += 0 * error;
  }
  return sum_of_four(lost) == 0 ? largest_of_four(worst) / box->scale
                                : INFINITY; // where one is a NAN
}

WIDE static double residual_wide(const box_problem *box, const double p[],
                                 const double w[]) {
  return residual(box, p, w);
}

double box_residual(const box_problem *box, const double p[],
                    const double w[]) {
  return six_is_wide() ? residual_wide(box, p, w) : residual(box, p, w);
}

double box_softness(const box_problem *box, int row, double prox) {
  const double regular = 1e-12;
  double A = box->diagonal[row];
  double own = box->compliance[row] + box->relaxation * A;
  return own > regular * A ? own : prox * A;
}

/* ---- to and from the problem's impulses ---------------------------------- */

/* p_t += the impulses that make `missing`, the shortest such vector over the
 * generators that are not yet at their limit; those it drives beyond stop
 * there. @return true when none did. */
static bool add_generators(const box_problem *box, int first, int n,
                           const double limits[], bool stopped[],
                           const double missing[2], double p[]) {
  double G[3] = {0}, y[2] = {0}; // G G', upper triangle
  for (int i = 0; i < n; i++) {
    const double *g = box->origin[first + i].g;
    if (stopped[i]) continue;
    G[0] += g[0] * g[0];
    G[1] += g[0] * g[1];
    G[2] += g[1] * g[1];
  }
  double det = G[0] * G[2] - G[1] * G[1], size = G[0] + G[2];
  if (size == 0) return true;
  if (det > 1e-12 * size * size) {
    y[0] = (G[2] * missing[0] - G[1] * missing[1]) / det;
    y[1] = (G[0] * missing[1] - G[1] * missing[0]) / det;
  } else { // all along one line
    y[0] = missing[0] / size;
    y[1] = missing[1] / size;
  }

  bool none = true;
  for (int i = 0; i < n; i++) {
    const double *g = box->origin[first + i].g;
    double *sigma = &p[first + i];
    if (stopped[i]) continue;
    *sigma += g[0] * y[0] + g[1] * y[1];
    stopped[i] = fabs(*sigma) > limits[i];
    if (stopped[i]) none = false;
    *sigma = middle_of(-limits[i], *sigma, limits[i]);
  }
  return none;
}

/* Two generators make a p_t in one way, whether in their limits or not. */
static bool make_by_two(const box_problem *box, int first, const double made[2],
                        double p[]) {
  const double *g = box->origin[first].g, *h = box->origin[first + 1].g;
  double det = g[0] * h[1] - g[1] * h[0];
  if (!(fabs(det) > 1e-6)) return false;
  p[first] = (made[0] * h[1] - made[1] * h[0]) / det;
  p[first + 1] = (g[0] * made[1] - g[1] * made[0]) / det;
  return true;
}

/* The generators' impulses that make the guess of p_t. */
static void guess_generators(const box_problem *box, int first, int n,
                             const double guess[], double p[]) {
  const mlcp_friction *set =
      &box->problem->frictions[box->origin[first].friction];
  double missing[2] = {guess[set->first_row], 0};
  double limits[BOX_MAX_CLUSTER], low;
  for (int i = 0; i < n; i++) box_limits(box, first + i, p, &low, &limits[i]);
  if (set->n_base == 2) missing[1] = guess[set->first_row + 1];
  if (!isfinite(missing[0]) || !isfinite(missing[1])) {
    for (int i = 0; i < n; i++) p[first + i] = NAN;
    return;
  }
  if (n == 2 && make_by_two(box, first, missing, p)) return;

  bool stopped[BOX_MAX_CLUSTER] = {false};
  for (int i = 0; i < n; i++) p[first + i] = 0;
  for (int turn = 0; turn < n; turn++) {
    double left[2] = {missing[0], missing[1]};
    for (int i = 0; i < n; i++)
      for (int t = 0; t < 2; t++)
        left[t] -= box->origin[first + i].g[t] * p[first + i];
    if (add_generators(box, first, n, limits, stopped, left, p)) return;
  }
}

/* NAN becomes 0. @return the number of other values. */
static int count_known(double p[], int first, int n) {
  int n_known = 0;
  for (int r = first; r < first + n; r++)
    if (isfinite(p[r]))
      n_known++;
    else
      p[r] = 0;
  return n_known;
}

int box_take_guess(const box_problem *box, const double guess[], double p[]) {
  int n_known = 0;
  for (int r = 0, n; r < box->n_rows; r += n) {
    const box_origin *origin = &box->origin[r];
    n = 1;
    if (origin->friction < 0) {
      p[r] = origin->g[0] * guess[origin->row];
    } else {
      n = box->problem->frictions[origin->friction].n_pairs;
      guess_generators(box, r, n, guess, p);
    }
    n_known += count_known(p, r, n);
  }
  return n_known;
}

void box_give_impulses(const box_problem *box, const double p[],
                       double problem_p[]) {
  const mlcp_problem *problem = box->problem;
  for (int r = 0; r < problem->n_rows; r++) {
    const mlcp_row *row = &problem->rows[r];
    bool fixed = row->kind != MLCP_ROW_FRICTION && row->low == row->high;
    problem_p[r] = fixed ? row->low : 0;
  }
  for (int r = 0; r < box->n_rows; r++) {
    const box_origin *origin = &box->origin[r];
    if (origin->friction < 0) {
      problem_p[origin->row] = origin->g[0] * p[r];
      continue;
    }
    const mlcp_friction *set = &problem->frictions[origin->friction];
    for (int i = 0; i < set->n_base; i++)
      problem_p[set->first_row + i] += origin->g[i] * p[r];
  }
}
