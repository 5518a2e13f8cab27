/* A mixed LCP that owns its arrays: copied out of a step, or read from files. */
#ifndef ODE_MLCP_MLCP_MLCP_STORED_H
#define ODE_MLCP_MLCP_MLCP_STORED_H

#include "common/arena.h"
#include "mlcp/mlcp.h"

/** Starts as all zero. `problem` views the arrays. */
typedef struct mlcp_stored {
  mlcp_problem problem;
  mlcp_body *bodies;
  mlcp_row *rows;
  mlcp_friction *frictions;
  mlcp_pair *pairs;
  double *guess; /* [n_rows] impulses to start from, NAN where there is none */
  arena arena;
} mlcp_stored;

/** Make room for as many of each as `sizes` has, of which its counts and its
 *  velocity_floor are read; the content is all zero, the guess NAN.
 *  @return false when memory runs out: `stored` is then empty. */
bool mlcp_stored_reserve(mlcp_stored *stored, const memory_source *source,
                         const mlcp_problem *sizes);

/** Make `stored` a copy of `problem` and `guess` ([n_rows] or NULL).
 *  @return false when memory runs out: `stored` is then empty. */
bool mlcp_stored_copy(mlcp_stored *stored, const memory_source *source,
                      const mlcp_problem *problem, const double guess[]);

void mlcp_stored_release(mlcp_stored *stored);

#endif
