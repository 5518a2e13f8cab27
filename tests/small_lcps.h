/* Small dense LCPs and all their solutions, by enumeration. */
#ifndef ODE_MLCP_TESTS_SMALL_LCPS_H
#define ODE_MLCP_TESTS_SMALL_LCPS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { n_most = 10 };

static uint64_t random_state;

/* Uniform in [-1, 1). */
static inline double random_number(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (double)(random_state >> 11) / 4503599627370496.0 - 1;
}

static inline double dense_residual(int n, const double M[], const double q[],
                                    const double z[]) {
  double worst = 0;
  for (int i = 0; i < n; i++) {
    double w = q[i];
    for (int j = 0; j < n; j++) w += M[i * n + j] * z[j];
    worst = fmax(worst, fabs(fmin(z[i], w)));
  }
  return worst;
}

/* The share by which entries have to change for z >= 0 to be exact. */
static inline double dense_componentwise(int n, const double M[],
                                         const double q[], const double z[]) {
  double worst = 0;
  for (int i = 0; i < n; i++) {
    double w = q[i], size = fabs(q[i]);
    for (int j = 0; j < n; j++) {
      w += M[i * n + j] * z[j];
      size += fabs(M[i * n + j]) * z[j];
    }
    double error = z[i] > 0 ? fabs(w) : fmax(-w, 0);
    if (error > 0) worst = fmax(worst, error / size);
  }
  return worst;
}

/* Gaussian elimination with complete pivoting on a k x k system. */
static inline bool solve_small(int k, double A[], double b[]) {
  int column[n_most];
  double x[n_most];
  for (int i = 0; i < k; i++) column[i] = i;
  for (int s = 0; s < k; s++) {
    int row = s, col = s;
    for (int i = s; i < k; i++)
      for (int j = s; j < k; j++)
        if (fabs(A[i * k + j]) > fabs(A[row * k + col])) row = i, col = j;
    if (fabs(A[row * k + col]) < 1e-10) return false;
    for (int j = 0; j < k; j++) {
      double t = A[s * k + j];
      A[s * k + j] = A[row * k + j];
      A[row * k + j] = t;
    }
    double t = b[s];
    b[s] = b[row];
    b[row] = t;
    for (int i = 0; i < k; i++) {
      t = A[i * k + s];
      A[i * k + s] = A[i * k + col];
      A[i * k + col] = t;
    }
    int c = column[s];
    column[s] = column[col];
    column[col] = c;
    for (int i = s + 1; i < k; i++) {
      double f = A[i * k + s] / A[s * k + s];
      for (int j = s; j < k; j++) A[i * k + j] -= f * A[s * k + j];
      b[i] -= f * b[s];
    }
  }
  for (int i = k - 1; i >= 0; i--) {
    for (int j = i + 1; j < k; j++) b[i] -= A[i * k + j] * b[j];
    b[i] /= A[i * k + i];
  }
  for (int i = 0; i < k; i++) x[column[i]] = b[i];
  memcpy(b, x, sizeof *x * k);
  return true;
}

/* How many complementary bases are regular and feasible. */
static inline int count_solutions(int n, const double M[], const double q[]) {
  int count = 0;
  for (int basis = 0; basis < 1 << n; basis++) {
    int index[n_most], k = 0;
    double A[n_most * n_most], b[n_most], z[n_most] = {0};
    for (int i = 0; i < n; i++)
      if (basis >> i & 1) index[k++] = i;
    for (int i = 0; i < k; i++) {
      b[i] = -q[index[i]];
      for (int j = 0; j < k; j++) A[i * k + j] = M[index[i] * n + index[j]];
    }
    if (!solve_small(k, A, b)) continue;
    for (int i = 0; i < k; i++) z[index[i]] = b[i];
    count += dense_residual(n, M, q, z) < 1e-9;
  }
  return count;
}

/* ---- families of random problems --------------------------------------- */

static inline void fill_random(int count, double values[]) {
  for (int i = 0; i < count; i++) values[i] = random_number();
}

/* Murty (1978): a P-matrix; Lemke's method takes 2^n pivots from some q. */
static inline void fill_murty(int n, double M[], double q[]) {
  for (int i = 0; i < n; i++) {
    q[i] = -1;
    for (int j = 0; j < n; j++) M[i * n + j] = i == j ? 1 : j > i ? 2 : 0;
  }
}

/* Fathi (1979): positive definite, exponential as well. */
static inline void fill_fathi(int n, double M[], double q[]) {
  for (int i = 0; i < n; i++) {
    q[i] = -1;
    for (int j = 0; j < n; j++)
      M[i * n + j] = i == j ? 4 * i + 1 : 4 * (i < j ? i : j) + 2;
  }
}

/* A A' of rank `rank`, plus a skew part: positive semidefinite. */
static inline void fill_semidefinite(int n, int rank, double skew, double M[]) {
  double A[n_most * n_most];
  fill_random(n * rank, A);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      M[i * n + j] = 0;
      for (int k = 0; k < rank; k++)
        M[i * n + j] += A[i * rank + k] * A[j * rank + k];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      double s = skew * random_number();
      M[i * n + j] += s;
      M[j * n + i] -= s;
    }
}

/* Two contacts in a plane, normals and two edges each, on a body of three
 * velocities: the matrix of method eq. (2), copositive. With q = J v_free there
 * is a solution even where the friction cone is not pointed. n = 8. */
static inline void fill_friction(double mu, double M[], double q[]) {
  double J[6][3] = {{0}}, v_free[3];
  memset(M, 0, sizeof *M * 64);
  for (int c = 0; c < 2; c++) {
    double arm[2] = {random_number(), random_number()};
    double angle = 0.3 * random_number();
    double normal[2] = {sin(angle), cos(angle)};
    double *rows[3] = {J[3 * c], J[3 * c + 1], J[3 * c + 2]};
    for (int i = 0; i < 2; i++) {
      rows[0][i] = normal[i];
      rows[1][i] = i == 0 ? normal[1] : -normal[0];
      rows[2][i] = -rows[1][i];
    }
    for (int r = 0; r < 3; r++)
      rows[r][2] = arm[0] * rows[r][1] - arm[1] * rows[r][0];
  }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      for (int k = 0; k < 3; k++)
        M[(i + i / 3) * 8 + j + j / 3] += J[i][k] * J[j][k] * (k == 2 ? 5 : 1);
  fill_random(3, v_free);
  for (int i = 0; i < 6; i++)
    q[i + i / 3] =
        J[i][0] * v_free[0] + J[i][1] * v_free[1] + J[i][2] * v_free[2];
  q[3] = q[7] = 0;
  for (int c = 0; c < 2; c++) {
    M[(4 * c + 3) * 8 + 4 * c] = mu;
    for (int e = 1; e < 3; e++) {
      M[(4 * c + 3) * 8 + 4 * c + e] = -1;
      M[(4 * c + e) * 8 + 4 * c + 3] = 1;
    }
  }
}

#endif
