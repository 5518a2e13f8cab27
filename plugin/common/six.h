/* Six numbers at a time, as velocities, impulses and rows of J have them: one
 * vector of four and one of two, or three of two. The compiler turns these
 * into whatever the machine has, with the same bits everywhere. */
#ifndef ODE_MLCP_COMMON_SIX_H
#define ODE_MLCP_COMMON_SIX_H

typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
typedef double two __attribute__((vector_size(16), aligned(8), may_alias));

/* A kernel goes into both variants of a function that is compiled twice: once
 * for any machine and once for one with wider registers, which does the same
 * operations in the same order. */
#define KERNEL static inline __attribute__((always_inline))

/** a . b, in two partial sums */
static inline two dot6_parts(const double a[6], const double b[6]) {
  return *(const two *)a * *(const two *)b
       + *(const two *)(a + 2) * *(const two *)(b + 2)
       + *(const two *)(a + 4) * *(const two *)(b + 4);
}

static inline double dot6(const double a[6], const double b[6]) {
  two sum = dot6_parts(a, b);
  return sum[0] + sum[1];
}

/** y += factor x */
KERNEL void add_row(double y[6], double factor, const double x[6]) {
  *(four *)y += factor * *(const four *)x;
  *(two *)(y + 4) += factor * *(const two *)(x + 4);
}

#endif
