/* Small plain LCPs as `ode-mlcp solve` takes them, beside Siconos' lexicographic
 * Lemke on the same M and q in the same run.
 *
 *   bench_lcps [SECONDS]     about so long for each figure (0.2)
 *
 * Prints a table: microseconds a problem of processor time, ours with scaling and
 * verification, theirs of the call alone; how many were solved by the share of
 * their entries that would have to change (lcp_componentwise), whoever says
 * what; and the pivots. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/dense_lcp.h"
#include "../tests/small_lcps.h"
#include "bench_clock.h"
#include "peers.h"
#include "lcp/lcp.h"

#ifndef HAVE_SICONOS
#define HAVE_SICONOS 0
#endif

enum { LARGEST = 128, ROUNDS_LEAST = 20 };

static double M[LARGEST * LARGEST], q[LARGEST], z[LARGEST];

/* ---- families ------------------------------------------------------------------ */

static void fill_dense_P(int n, double M[], double q[]) {
  for (int i = 0; i < n; i++) {
    q[i] = random_number();
    for (int j = 0; j < n; j++)
      M[i * n + j] = random_number() + (i == j ? 0.6 * n : 0);
  }
}

/* Semidefinite and a skew part, by rows and columns of very unlike units. */
static void fill_scaled_P(int n, double M[], double q[]) {
  static double A[LARGEST * LARGEST];
  for (int i = 0; i < n * n; i++) A[i] = random_number();
  for (int i = 0; i < n; i++) {
    q[i] = random_number();
    for (int j = 0; j <= i; j++) {
      double sum = i == j ? 1e-3 : 0, skew = i == j ? 0 : random_number();
      for (int k = 0; k < n; k++) sum += A[i * n + k] * A[j * n + k];
      M[i * n + j] = sum + skew;
      M[j * n + i] = sum - skew;
    }
  }
  for (int i = 0; i < n; i++) {
    double r = pow(10, 9 * random_number()), c = pow(10, 9 * random_number());
    for (int j = 0; j < n; j++) {
      M[i * n + j] *= r;
      M[j * n + i] *= c;
    }
  }
}

/* Nonnegative integers with ones on the diagonal: strictly copositive, and ties
 * at nearly every pivot. */
static void fill_integers(int n, double M[], double q[]) {
  int n_values = 1 + (int)(3 * fabs(random_number()));
  for (int i = 0; i < n; i++) {
    q[i] = -1 - i % n_values;
    for (int j = 0; j < n; j++)
      M[i * n + j] = i == j ? 1 : floor(1.5 * fabs(random_number()));
  }
}

/* A string over an obstacle. */
static void fill_obstacle(int n, double M[], double q[]) {
  for (int i = 0; i < n; i++) {
    double x = (i + 1.0) / (n + 1) - 0.4 - 0.1 * random_number();
    q[i] = 1.0 / n / n - 0.2 * fmax(0.1 - x * x, 0);
    for (int j = 0; j < n; j++)
      M[i * n + j] = i == j ? 2 : abs(i - j) == 1 ? -1 : 0;
  }
}

typedef struct family {
  const char *name;
  void (*fill)(int n, double M[], double q[]);
} family;

static const family families[] = {{"P, dense", fill_dense_P},
                                  {"P, scaled 1e+-9", fill_scaled_P},
                                  {"integers, ties", fill_integers},
                                  {"Murty, q = -1", fill_murty},
                                  {"Fathi", fill_fathi},
                                  {"obstacle", fill_obstacle}};

/* ---- measuring ------------------------------------------------------------------- */

typedef struct figure {
  int rounds, solved;
  double seconds, pivots;
} figure;

static bool is_solved(int n) {
  for (int i = 0; i < n; i++)
    if (!(z[i] >= 0) || !isfinite(z[i])) return false;
  return dense_componentwise(n, M, q, z) <= 1e-10;
}

static double by_ours(int n, lcp_method kind, double *pivots) {
  static int start[LARGEST + 1], row[LARGEST * LARGEST];
  static double value[LARGEST * LARGEST];
  const lemke_problem problem = dense_columns(n, M, q, start, row, value);
  double before = bench_seconds();
  lcp_report report =
      lcp_solve(&problem, kind, 1e-10, &memory_from_malloc, z, NULL);
  *pivots += (double)report.pivots;
  return bench_seconds() - before;
}

/* kind -1: the peer's. The same problems for all. */
static figure measure(const family *family, int n, int kind, double limit) {
  figure sum = {0};
  random_state = 31;
  while (sum.rounds < ROUNDS_LEAST || sum.seconds < limit) {
    double seconds = 0;
    family->fill(n, M, q);
    if (kind >= 0) {
      seconds = by_ours(n, (lcp_method)kind, &sum.pivots);
    } else {
#if HAVE_SICONOS
      siconos_lexicographic_lemke(n, M, q, z, &seconds);
#endif
    }
    sum.seconds += seconds;
    sum.solved += is_solved(n);
    sum.rounds++;
    if (sum.rounds >= 100000) break;
  }
  return sum;
}

static void print_figure(const figure *f) {
  printf(" %9.1f %6.1f%%", 1e6 * f->seconds / f->rounds,
         100.0 * f->solved / f->rounds);
}

int main(int argc, char **argv) {
  static const int sizes[] = {4, 8, 16, 32, 64, 128};
  double limit = argc > 1 ? atof(argv[1]) : 0.2;
  printf("%-16s %4s  %17s %8s  %17s  %17s\n", "microseconds", "n", "lemke",
         "pivots", "fast", HAVE_SICONOS ? "Siconos Lemke" : "");
  for (size_t f = 0; f < sizeof families / sizeof *families; f++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      int n = sizes[s];
      figure lemke = measure(&families[f], n, LCP_LEMKE, limit);
      figure fast = measure(&families[f], n, LCP_FAST, limit);
      printf("%-16s %4d ", families[f].name, n);
      print_figure(&lemke);
      printf(" %8.1f ", lemke.pivots / lemke.rounds);
      print_figure(&fast);
#if HAVE_SICONOS
      figure peer = measure(&families[f], n, -1, limit);
      printf(" ");
      print_figure(&peer);
#endif
      printf("\n");
      fflush(stdout);
    }
  return 0;
}
