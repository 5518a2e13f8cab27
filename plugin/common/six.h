/* Six numbers at a time, as velocities, impulses and rows of J have them: one
 * vector of four and one of two, or three of two; and matrices of 6 x 6. */
#ifndef ODE_MLCP_COMMON_SIX_H
#define ODE_MLCP_COMMON_SIX_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "common/lanes.h"

/* A kernel goes into both variants of a function that is compiled twice: once
 * for any machine and once, marked WIDE, for one with wider registers, which
 * does the same operations in the same order and gives the same bits. */
#define KERNEL static inline __attribute__((always_inline))
#if defined(__x86_64__) && defined(__GNUC__)
#define SIX_HAS_WIDE 1
#define WIDE __attribute__((target("avx2")))
#else
#define SIX_HAS_WIDE 0
#define WIDE
#endif

/** True if the wide variants run on this machine. */
bool six_is_wide(void);

/** A function of both variants of a kernel with the same parameters, which `gives` a
 *  value, by `return`, or does not; `scope` is static or extern. */
#define IN_BOTH_WIDTHS(scope, type, name, parameters, gives, kernel,           \
                       arguments)                                              \
  WIDE static type name##_wide parameters { gives kernel arguments; }          \
  scope type name parameters {                                                 \
    if (six_is_wide()) {                                                       \
      gives name##_wide arguments;                                             \
    } else {                                                                   \
      gives kernel arguments;                                                  \
    }                                                                          \
  }

/** Set by tests that compare the two; false otherwise. */
extern bool six_forbid_wide;

/** a . b, in two partial sums */
static inline two dot6_parts(const double a[6], const double b[6]) {
  return *(const two *)a * *(const two *)b +
         *(const two *)(a + 2) * *(const two *)(b + 2) +
         *(const two *)(a + 4) * *(const two *)(b + 4);
}

static inline double dot6(const double a[6], const double b[6]) {
  two sum = dot6_parts(a, b);
  return sum[0] + sum[1];
}

/** The velocity of a side without a body. */
static const double at_rest[6] = {0};

/** J v of a row on two bodies, -1 for none; v of body b is at v + stride b. */
static inline double row_rate_of(const double J[2][6], const int body[2],
                                 const double v[], size_t stride) {
  const double *a = body[0] >= 0 ? v + stride * (size_t)body[0] : at_rest;
  const double *b = body[1] >= 0 ? v + stride * (size_t)body[1] : at_rest;
  two sum = dot6_parts(J[0], a) + dot6_parts(J[1], b);
  return sum[0] + sum[1];
}

/** Likewise of v [6 n_bodies]. */
static inline double row_rate(const double J[2][6], const int body[2],
                              const double v[]) {
  return row_rate_of(J, body, v, 6);
}

/** A 6 x 6 matrix, row-major in memory, in registers where every loop around
 *  is unrolled. */
typedef struct six_block {
  four head[6];
  two tail[6];
} six_block;

KERNEL void load_block(const double A[36], six_block *out) {
#pragma GCC unroll 6
  for (int i = 0; i < 6; i++) {
    out->head[i] = *(const four *)(A + 6 * i);
    out->tail[i] = *(const two *)(A + 6 * i + 4);
  }
}

KERNEL void store_block(const six_block *from, double A[36]) {
#pragma GCC unroll 6
  for (int i = 0; i < 6; i++) {
    *(four *)(A + 6 * i) = from->head[i];
    *(two *)(A + 6 * i + 4) = from->tail[i];
  }
}

/* A kernel is always inlined, so that no call hands over a vector. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

/* ---- four rows side by side ---------------------------------------------- */

/** Room for `n` rows that are read and written by fours from any of them. */
static inline size_t by_fours(size_t n) { return (n + 6) / 4 * 4; }

KERNEL four four_of(double x) { return (four){x, x, x, x}; }

KERNEL four four_at(const double x[], const int at[4]) {
  return (four){x[at[0]], x[at[1]], x[at[2]], x[at[3]]};
}

/** In each lane a where `mask` is set, else b. */
KERNEL four four_where(four_mask mask, four a, four b) {
  return (four)((mask & (four_mask)a) | (~mask & (four_mask)b));
}

KERNEL four larger_four(four a, four b) { return four_where(a > b, a, b); }

KERNEL four smaller_four(four a, four b) { return four_where(a < b, a, b); }

KERNEL double largest_of_four(four x) {
  double a = x[0] > x[1] ? x[0] : x[1], b = x[2] > x[3] ? x[2] : x[3];
  return a > b ? a : b;
}

KERNEL double sum_of_four(four x) { return (x[0] + x[1]) + (x[2] + x[3]); }

/** y += factor x */
KERNEL void add_row(double y[6], double factor, const double x[6]) {
  *(four *)y += factor * *(const four *)x;
  *(two *)(y + 4) += factor * *(const two *)(x + 4);
}

/* ---- 6 x 6 matrices, row-major ------------------------------------------- */

/** B = A^-1, m x m row-major, by elimination with row exchanges; both are
 *  overwritten. @return false where A is singular or not finite. */
bool matrix_invert(int m, double A[], double B[]);

/** The same of a 6 x 6 matrix, which stays. */
static inline bool matrix6_invert(double B[36], const double A[36]) {
  double work[36];
  memcpy(work, A, sizeof work);
  return matrix_invert(6, work, B);
}

/** x with A x = b by elimination with row exchanges; directions in which A is
 *  below 1e-9 of its largest element are left out of x, so that a singular A
 *  does no harm. */
void matrix6_solve(double x[6], const double A[36], const double b[6]);

/** True if v'A v > 0 for every v != 0: by the Cholesky factors of A + A'. */
bool matrix6_is_positive(const double A[36]);

/** y = A x */
static inline void matrix6_apply(double y[6], const double A[36],
                                 const double x[6]) {
  for (int i = 0; i < 6; i++) {
    y[i] = 0;
    for (int j = 0; j < 6; j++) y[i] += A[6 * i + j] * x[j];
  }
}

#endif
