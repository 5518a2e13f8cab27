#include "scenes/scene_reference.h"

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
