/* A mixed LCP that owns its arrays: copied out of a step, or read from files. */
#ifndef ODE_MLCP_MLCP_MLCP_STORED_H
#define ODE_MLCP_MLCP_MLCP_STORED_H

#include "mlcp/mlcp.h"

/** Starts as all zero. `problem` and `guess` view the block. */
typedef struct mlcp_stored {
  mlcp_problem problem;
  double *guess; /* [n_rows] impulses to start from, NAN where there is none */
  memory_block block;
} mlcp_stored;

/** Numbers of bodies, rows, friction sets and pairs, each >= 0. */
typedef struct mlcp_sizes {
  int n_bodies, n_rows, n_frictions, n_pairs;
} mlcp_sizes;

/** The writable arrays of a stored problem. */
typedef struct mlcp_arrays {
  mlcp_body *bodies;
  mlcp_row *rows;
  mlcp_friction *frictions;
  mlcp_pair *pairs;
} mlcp_arrays;

/** Make room; the content is all zero, the guess NAN.
 *  @return false when memory runs out: `stored` is then empty. */
bool mlcp_stored_reserve(mlcp_stored *stored, const memory_source *source,
                         const mlcp_sizes *sizes);

/** Make `stored` a copy of `problem` and `guess` ([n_rows] or NULL).
 *  @return false when memory runs out: `stored` is then empty. */
bool mlcp_stored_copy(mlcp_stored *stored, const memory_source *source,
                      const mlcp_problem *problem, const double guess[]);

mlcp_arrays mlcp_stored_arrays(const mlcp_stored *stored);

void mlcp_stored_release(mlcp_stored *stored, const memory_source *source);

#endif
