#include "common/six.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"

bool six_forbid_wide;

bool six_is_wide(void) {
#if SIX_HAS_WIDE
  return !six_forbid_wide && __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

bool matrix6_invert(double B[36], const double A[36]) {
  double work[6][12];
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      work[i][j] = A[6 * i + j];
      work[i][6 + j] = i == j;
    }
  for (int step = 0; step < 6; step++) {
    int pivot = step;
    for (int i = step + 1; i < 6; i++)
      if (fabs(work[i][step]) > fabs(work[pivot][step])) pivot = i;
    double scale = 1 / work[pivot][step];
    if (!isfinite(scale)) return false;
    for (int j = 0; j < 12; j++) {
      double entry = work[pivot][j];
      work[pivot][j] = work[step][j];
      work[step][j] = entry * scale;
    }
    for (int i = 0; i < 6; i++) {
      double factor = work[i][step];
      if (i == step || factor == 0) continue;
      for (int j = 0; j < 12; j++) work[i][j] -= factor * work[step][j];
    }
  }
  for (int i = 0; i < 36; i++)
    if (!isfinite(work[i / 6][6 + i % 6])) return false;
  for (int i = 0; i < 6; i++) memcpy(B + 6 * i, work[i] + 6, 6 * sizeof *B);
  return true;
}

void matrix6_solve(double x[6], const double A[36], const double b[6]) {
  const double singular = 1e-9;
  double work[6][8], most = 0; // the right-hand side in column 6
  int row_of[6];
  bool used[6] = {false};
  for (int i = 0; i < 36; i++) most = larger_of(most, fabs(A[i]));
  for (int i = 0; i < 6; i++) {
    memcpy(work[i], A + 6 * i, 6 * sizeof *A);
    work[i][6] = b[i];
    work[i][7] = 0;
  }
  for (int k = 0; k < 6; k++) {
    int best = -1;
    for (int i = 0; i < 6; i++)
      if (!used[i] && (best < 0 || fabs(work[i][k]) > fabs(work[best][k])))
        best = i;
    row_of[k] = -1;
    if (!(fabs(work[best][k]) > singular * most)) continue;
    row_of[k] = best;
    used[best] = true;
    double inverse = 1 / work[best][k];
    const two *from = (const two *)work[best];
    for (int i = 0; i < 6; i++) {
      double factor = work[i][k] * inverse;
      if (i == best || factor == 0) continue;
      // what was eliminated before is not read again
      two *row = (two *)work[i];
      for (int j = k / 2; j < 4; j++) row[j] -= factor * from[j];
    }
  }
  for (int k = 0; k < 6; k++)
    x[k] = row_of[k] < 0 ? 0 : work[row_of[k]][6] / work[row_of[k]][k];
}

bool matrix6_is_positive(const double A[36]) {
  double L[36] = {0};
  for (int i = 0; i < 6; i++)
    for (int j = 0; j <= i; j++) {
      double sum = 0.5 * (A[6 * i + j] + A[6 * j + i]);
      for (int k = 0; k < j; k++) sum -= L[6 * i + k] * L[6 * j + k];
      if (i == j && !(sum > 0)) return false;
      L[6 * i + j] = i == j ? sqrt(sum) : sum / L[7 * j];
    }
  return true;
}
