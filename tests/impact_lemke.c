#include "impact_lemke.h"

#include <math.h>
#include <string.h>

#include "impacts/contact_path.h"

int impact_lemke_size(const contact_space *space) {
  return space->n_contacts * (3 + 2 * space->n_tangents);
}

/* Tableau columns: w (n), z (n), z0, q. */
size_t impact_lemke_scratch(const contact_space *space) {
  size_t n = (size_t)impact_lemke_size(space);
  return n * (2 * n + 2) + n + (n + 1) / 2 + 1;
}

/* The direction of a friction polygon's corner in a contact's rows: +-t for one
 * tangent, +-t1, +-t2 of a pyramid. It is where every row pushes as far as it may,
 * forwards or backwards. */
static void edge_direction(int n_tangents, int edge, double direction[]) {
  double sign = edge % 2 == 0 ? 1 : -1;
  // corner edge/2 of those on one side, from t1 on: it lies across the last rows'
  for (int j = 0; j < n_tangents; j++)
    direction[j] = (j < n_tangents - edge / 2 ? sign : -sign) *
                   contact_space_bound_of_one(n_tangents);
}

/* A column of the rows' Jacobians: which rows an LCP variable pushes on. */
typedef struct direction {
  int row, count;
  double part[CONTACT_MOST_TANGENTS];
} direction;

static direction direction_of(const contact_space *space, int variable) {
  int m = space->n_contacts, E = 2 * space->n_tangents;
  direction d = {0, 1, {1, 0}};
  if (variable < m) {
    d.row = variable * space->per_contact;
  } else {
    int contact = (variable - m) / E;
    d.row = contact * space->per_contact + 1;
    d.count = space->n_tangents;
    edge_direction(space->n_tangents, (variable - m) % E, d.part);
  }
  return d;
}

void impact_lemke_problem(const contact_space *space, const double c[],
                          const double caps[], int stride, double W[],
                          double q[]) {
  int m = space->n_contacts, E = 2 * space->n_tangents, N = space->n_rows;
  int n = impact_lemke_size(space), pushes = m * (1 + E), gamma = m + pushes;
  for (int i = 0; i < n; i++) {
    memset(&W[i * stride], 0, (size_t)n * sizeof *W);
    q[i * stride] = 0;
  }

  for (int i = 0; i < m; i++) {
    // caps: lambda_max - lambda_n; a cap of infinity never binds
    bool free = caps[i] == INFINITY;
    W[i * stride + m + i] = free ? 0 : -1;
    q[i * stride] = free ? 1 : caps[i];
    W[(m + i) * stride + i] = 1;
    // gamma: mu lambda_n - sum lambda_D
    double *row = &W[(gamma + i) * stride];
    row[m + i] = space->bound[i] * contact_space_mu_of_one(space->n_tangents);
    for (int e = 0; e < E; e++) row[2 * m + i * E + e] = -1;
  }
  for (int i = 0; i < pushes; i++) {
    direction to = direction_of(space, i);
    double *row = &W[(m + i) * stride];
    for (int k = 0; k < to.count; k++)
      q[(m + i) * stride] += to.part[k] * c[to.row + k];
    for (int j = 0; j < pushes; j++) {
      direction from = direction_of(space, j);
      for (int k = 0; k < to.count; k++)
        for (int l = 0; l < from.count; l++)
          row[m + j] += to.part[k] * space->A[(to.row + k) * N + from.row + l] *
                        from.part[l];
    }
    if (i >= m) row[gamma + (i - m) / E] = 1;
  }
}

/* I w - W z - covering z0 = q, with z = [b; lambda_n; lambda_D; gamma]. */
static void write_tableau(const contact_space *space, const double c[],
                          const double caps[], const double covering[],
                          double T[]) {
  int n = impact_lemke_size(space), width = 2 * n + 2;
  impact_lemke_problem(space, c, caps, width, T + n, T + 2 * n + 1);
  for (int i = 0; i < n; i++) {
    double *row = &T[i * width];
    memset(row, 0, (size_t)n * sizeof *row);
    row[i] = 1;
    for (int j = n; j < 2 * n; j++) row[j] = -row[j];
    row[2 * n] = covering != NULL ? -covering[i] : -1;
  }
}

/* Is row a before row b in the ratio test of `column`? First q/pivot, then the
 * columns of the basis inverse, one after another. */
static bool comes_before(const double T[], int width, int n, int a, int b,
                         int column, double tie) {
  const double *ra = &T[a * width], *rb = &T[b * width];
  double pa = ra[column], pb = rb[column];
  double difference = ra[2 * n + 1] / pa - rb[2 * n + 1] / pb;
  if (fabs(difference) > tie) return difference < 0;
  for (int k = 0; k < n; k++) {
    difference = ra[k] / pa - rb[k] / pb;
    if (fabs(difference) > 1e-12) return difference < 0;
  }
  return a < b;
}

static int ratio_test(const double T[], int width, int n, int column,
                      const int basic[], double flat, double tie) {
  int best = -1;
  for (int i = 0; i < n; i++) {
    if (T[i * width + column] <= flat) continue;
    if (best < 0 || comes_before(T, width, n, i, best, column, tie)) best = i;
  }
  // of equal rows the artificial variable's own is taken
  for (int i = 0; best >= 0 && i < n; i++)
    if (basic[i] == 2 * n && T[i * width + column] > flat &&
        T[i * width + 2 * n + 1] / T[i * width + column] <=
            T[best * width + 2 * n + 1] / T[best * width + column] + tie)
      best = i;
  return best;
}

static void pivot(double T[], int width, int n, int row, int column) {
  double *P = &T[row * width], inverse = 1 / P[column];
  for (int k = 0; k < width; k++) P[k] *= inverse;
  P[column] = 1;
  for (int i = 0; i < n; i++) {
    double factor = T[i * width + column];
    if (i == row || factor == 0) continue;
    for (int k = 0; k < width; k++) T[i * width + k] -= factor * P[k];
    T[i * width + column] = 0;
  }
}

/* Row of the lexicographically most negative q/covering. */
static int first_row(const double T[], int width, int n) {
  int best = -1;
  double least = 0;
  for (int i = 0; i < n; i++) {
    double ratio = T[i * width + 2 * n + 1] / -T[i * width + 2 * n];
    if (ratio < least) {
      least = ratio;
      best = i;
    }
  }
  return best;
}

static bool follow(double T[], int width, int n, int start, int basic[],
                   double flat, double tie, int *pivots) {
  int entering = 2 * n, row = start;
  for (*pivots = 1; *pivots < 50 * n; ++*pivots) {
    int leaving = basic[row];
    pivot(T, width, n, row, entering);
    basic[row] = entering;
    if (leaving == 2 * n) return true;
    entering = leaving < n ? leaving + n : leaving - n;
    row = ratio_test(T, width, n, entering, basic, flat, tie);
    if (row < 0) return false;
  }
  return false;
}

bool impact_lemke_solve(const contact_space *space, const double c[],
                        const double caps[], const double covering[],
                        double scratch[], double lambda[], double reached[],
                        int *pivots) {
  int n = impact_lemke_size(space), m = space->n_contacts, N = space->n_rows;
  int width = 2 * n + 2;
  double *T = scratch, *z = T + n * width;
  int *basic = (int *)(z + n);

  write_tableau(space, c, caps, covering, T);
  memset(lambda, 0, (size_t)N * sizeof *lambda);
  memcpy(reached, c, (size_t)N * sizeof *reached);
  *pivots = 0;
  for (int i = 0; i < n; i++) basic[i] = i;
  if (contact_space_slowest(space, c) >= 0) return true; // Lemma 8
  int start = first_row(T, width, n);
  if (start < 0) return true;
  if (!follow(T, width, n, start, basic, 1e-11, 1e-13 * space->scale, pivots))
    return false;

  memset(z, 0, (size_t)n * sizeof *z);
  for (int i = 0; i < n; i++)
    if (basic[i] >= n && basic[i] < 2 * n)
      z[basic[i] - n] = T[i * width + 2 * n + 1];
  for (int i = 0; i < m * (1 + 2 * space->n_tangents); i++) {
    direction d = direction_of(space, i);
    for (int k = 0; k < d.count; k++) lambda[d.row + k] += d.part[k] * z[m + i];
  }
  contact_space_push(space, c, lambda, reached);
  for (int i = 0; i < N; i++)
    if (fabs(reached[i]) <= 1e-13 * space->scale) reached[i] = 0;
  if (contact_path_violation(space, caps, lambda, reached) <=
      1e3 * IMPACT_FEASIBILITY * space->scale)
    return true;
  memset(lambda, 0, (size_t)N * sizeof *lambda);
  memcpy(reached, c, (size_t)N * sizeof *reached);
  return false;
}
