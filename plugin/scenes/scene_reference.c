#include "scenes/scene_reference.h"

#include <string.h>

void reference_integrate(reference_slope *slope, const void *context, int n,
                         double y[], double t0, double t1, long steps) {
  static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
  double h = (t1 - t0) / (double)steps;
  for (long step = 0; step < steps; step++) {
    double t = t0 + (double)step * h;
    double k[REFERENCE_ROOM] = {0}, trial[REFERENCE_ROOM];
    double sum[REFERENCE_ROOM] = {0};
    for (int stage = 0; stage < 4; stage++) {
      for (int i = 0; i < n; i++) trial[i] = y[i] + at[stage] * h * k[i];
      slope(context, t + at[stage] * h, trial, k);
      for (int i = 0; i < n; i++) sum[i] += weight[stage] * k[i];
    }
    for (int i = 0; i < n; i++) y[i] += h / 6 * sum[i];
  }
}

enum { ROOM = REFERENCE_COORDINATES };

/* Solve M a = f, M [n n] positive definite. Both are overwritten. */
static void solve_positive(int n, double M[], double f[]) {
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      double factor = M[i * n + k] / M[k * n + k];
      for (int j = k; j < n; j++) M[i * n + j] -= factor * M[k * n + j];
      f[i] -= factor * f[k];
    }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) f[i] -= M[i * n + j] * f[j];
    f[i] /= M[i * n + i];
  }
}

/* M a = -M' q' + d/dq (q'^T M q' / 2 - V) */
void reference_lagrange(const void *context, double t, const double y[],
                        double slope[]) {
  const double STEP = 1e-5;
  const reference_system *system = context;
  int n = system->n;
  const double *rate = y + n;
  double M[ROOM * ROOM], side[2][ROOM * ROOM], q[ROOM], force[ROOM] = {0};
  (void)t;
  for (int k = 0; k < n; k++) {
    double potential[2];
    memcpy(q, y, (size_t)n * sizeof *q);
    for (int i = 0; i < 2; i++) {
      q[k] = y[k] + (i == 0 ? -STEP : STEP);
      system->mass(system->context, q, side[i]);
      potential[i] = system->potential(system->context, q);
    }
    force[k] -= (potential[1] - potential[0]) / (2 * STEP);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double change = (side[1][i * n + j] - side[0][i * n + j]) / (2 * STEP);
        force[k] += 0.5 * rate[i] * change * rate[j];
        force[i] -= rate[k] * change * rate[j];
      }
  }
  system->mass(system->context, y, M);
  solve_positive(n, M, force);
  memcpy(slope, rate, (size_t)n * sizeof *slope);
  memcpy(slope + n, force, (size_t)n * sizeof *slope);
}
