/* Sparse LU factors of a square matrix that name the columns which depend on others
 * instead of dividing by rounding errors. Lemke's bases are factorised with it. */
#ifndef ODE_MLCP_LCP_LEMKE_FACTOR_H
#define ODE_MLCP_LCP_LEMKE_FACTOR_H

#include <stdbool.h>

#include "common/memory.h"

typedef enum lemke_factor_status {
  LEMKE_FACTOR_OK,
  LEMKE_FACTOR_SINGULAR, /* see lemke_factor_dependent; cannot solve */
  LEMKE_FACTOR_NO_MEMORY
} lemke_factor_status;

typedef struct lemke_factor lemke_factor;

/** @return NULL when memory runs out. The sparse factors themselves live in the
 *  C library's memory, as the library that computes them has no other. */
lemke_factor *lemke_factor_create(const memory_source *source);
void lemke_factor_destroy(lemke_factor *factor);

/**
 * Factorise a k x k matrix in compressed columns.
 *
 * A column is dependent when elimination leaves less of it than 1e-11 of its
 * largest entry.
 */
lemke_factor_status lemke_factor_build(lemke_factor *factor, int k,
                                       const int column_start[],
                                       const int row[], const double value[]);

/** [k] true for the columns found dependent by the last build. Not all of them
 *  need be found at once: remove these and build again. */
const bool *lemke_factor_dependent(const lemke_factor *factor);

/** x <- A^-1 x for the last matrix built with LEMKE_FACTOR_OK; x is [k]. */
void lemke_factor_solve(lemke_factor *factor, double x[]);

#endif
