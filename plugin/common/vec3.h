/* Vectors of three and 3 x 3 matrices (row-major, 9 numbers). */
#ifndef ODE_MLCP_COMMON_VEC3_H
#define ODE_MLCP_COMMON_VEC3_H

#include <math.h>
#include <stdbool.h>

#include "common/lanes.h"

static inline void vec3_copy(double a[3], const double b[3]) {
  for (int i = 0; i < 3; i++) a[i] = b[i];
}

static inline void vec3_negate(double a[3], const double b[3]) {
  for (int i = 0; i < 3; i++) a[i] = -b[i];
}

static inline void vec3_subtract(double a[3], const double b[3],
                                 const double c[3]) {
  for (int i = 0; i < 3; i++) a[i] = b[i] - c[i];
}

/** a += s b */
static inline void vec3_add_scaled(double a[3], double s, const double b[3]) {
  for (int i = 0; i < 3; i++) a[i] += s * b[i];
}

static inline double vec3_dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void vec3_cross(double a[3], const double b[3],
                              const double c[3]) {
  a[0] = b[1] * c[2] - b[2] * c[1];
  a[1] = b[2] * c[0] - b[0] * c[2];
  a[2] = b[0] * c[1] - b[1] * c[0];
}

static inline double vec3_length(const double a[3]) {
  return sqrt(vec3_dot(a, a));
}

/** a . b of n numbers */
static inline double dot_of(int n, const double a[], const double b[]) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/** a /= |a|. @return |a| */
static inline double vec3_normalise(double a[3]) {
  double length = vec3_length(a);
  for (int i = 0; i < 3; i++) a[i] /= length;
  return length;
}

/** t: of unit length, across a unit n. */
static inline void vec3_across(const double n[3], double t[3]) {
  int least = 0;
  for (int i = 1; i < 3; i++)
    if (fabs(n[i]) < fabs(n[least])) least = i;
  for (int k = 0; k < 3; k++) t[k] = (k == least) - n[least] * n[k];
  vec3_normalise(t);
}

static inline bool all_finite(const double values[], int count) {
  for (int i = 0; i < count; i++)
    if (!isfinite(values[i])) return false;
  return true;
}

/** y = A x */
static inline void mat3_apply(double y[3], const double A[9],
                              const double x[3]) {
  for (int i = 0; i < 3; i++) y[i] = vec3_dot(A + 3 * i, x);
}

/** v'M w of a mass and an inertia; v and w are linear, then angular. */
static inline double mass_product(double mass, const double inertia[9],
                                  const double v[6], const double w[6]) {
  double spin[3];
  mat3_apply(spin, inertia, w + 3);
  return mass * vec3_dot(v, w) + vec3_dot(v + 3, spin);
}

/** C = A B; C is neither. */
static inline void mat3_multiply(double C[9], const double A[9],
                                 const double B[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      C[3 * i + j] = 0;
      for (int k = 0; k < 3; k++) C[3 * i + j] += A[3 * i + k] * B[3 * k + j];
    }
}

/** C = R A R' */
static inline void mat3_rotate(double C[9], const double R[9],
                               const double A[9]) {
  /* two columns side by side, then the third */
  const two R_0 = {R[0], R[3]}, R_1 = {R[1], R[4]}, R_2 = {R[2], R[5]};
#pragma GCC unroll 3
  for (int i = 0; i < 9; i += 3) {
    const double *r = R + i;
    two RA = r[0] * *(const two *)A + r[1] * *(const two *)(A + 3) +
             r[2] * *(const two *)(A + 6);
    double RA_2 = r[0] * A[2] + r[1] * A[5] + r[2] * A[8];
    *(two *)(C + i) = RA[0] * R_0 + RA[1] * R_1 + RA_2 * R_2;
    C[i + 2] = RA[0] * R[6] + RA[1] * R[7] + RA_2 * R[8];
  }
}

/** B = A^-1 by cofactors; false (B unchanged) where A is singular or not
 *  finite. */
static inline bool mat3_invert(double B[9], const double A[9]) {
  double c0 = A[4] * A[8] - A[5] * A[7];
  double c1 = A[5] * A[6] - A[3] * A[8];
  double c2 = A[3] * A[7] - A[4] * A[6];
  double determinant = A[0] * c0 + A[1] * c1 + A[2] * c2;
  double scale = 1 / determinant;
  if (!isfinite(scale)) return false;

  B[0] = c0 * scale;
  B[1] = (A[2] * A[7] - A[1] * A[8]) * scale;
  B[2] = (A[1] * A[5] - A[2] * A[4]) * scale;
  B[3] = c1 * scale;
  B[4] = (A[0] * A[8] - A[2] * A[6]) * scale;
  B[5] = (A[2] * A[3] - A[0] * A[5]) * scale;
  B[6] = c2 * scale;
  B[7] = (A[1] * A[6] - A[0] * A[7]) * scale;
  B[8] = (A[0] * A[4] - A[1] * A[3]) * scale;
  return true;
}

/** L L' = A, lower triangular. @return false (L is half done) where A has none up to
 *  rounding. */
static inline bool mat3_cholesky(double L[9], const double A[9]) {
  for (int i = 0; i < 9; i++) L[i] = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j <= i; j++) {
      double sum = A[3 * i + j];
      for (int k = 0; k < j; k++) sum -= L[3 * i + k] * L[3 * j + k];
      if (i == j && !(sum > 1e-13 * A[4 * i])) return false;
      L[3 * i + j] = i == j ? sqrt(sum) : sum / L[4 * j];
    }
  return true;
}

#endif
