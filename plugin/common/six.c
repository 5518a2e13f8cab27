#include "common/six.h"

#include <math.h>
#include <string.h>

#include "common/minmax.h"
#include "common/vec3.h"

bool six_forbid_wide;

bool six_is_wide(void) {
#if SIX_HAS_WIDE
  return !six_forbid_wide && __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

bool matrix_invert(int m, double A[], double B[]) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) B[m * i + j] = i == j;

  for (int k = 0; k < m; k++) {
    int best = k;
    for (int i = k + 1; i < m; i++)
      if (fabs(A[m * i + k]) > fabs(A[m * best + k])) best = i;
    for (int j = 0; j < m && best != k; j++) {
      double held = A[m * k + j];
      A[m * k + j] = A[m * best + j];
      A[m * best + j] = held;
      held = B[m * k + j];
      B[m * k + j] = B[m * best + j];
      B[m * best + j] = held;
    }
    double inverse = 1 / A[m * k + k];
    if (!isfinite(inverse)) return false;
    for (int j = 0; j < m; j++) {
      A[m * k + j] *= inverse;
      B[m * k + j] *= inverse;
    }
    for (int i = 0; i < m; i++) {
      double factor = A[m * i + k];
      if (i == k || factor == 0) continue;
      for (int j = 0; j < m; j++) {
        A[m * i + j] -= factor * A[m * k + j];
        B[m * i + j] -= factor * B[m * k + j];
      }
    }
  }
  return all_finite(B, m * m);
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
