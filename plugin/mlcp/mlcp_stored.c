#include "mlcp/mlcp_stored.h"

#include <math.h>
#include <string.h>

/* All of them multiples of the alignment of a double. */
static size_t bytes_of(const mlcp_sizes *sizes) {
  return (size_t)sizes->n_bodies * sizeof(mlcp_body) +
         (size_t)sizes->n_rows * (sizeof(mlcp_row) + sizeof(double)) +
         (size_t)sizes->n_frictions * sizeof(mlcp_friction) +
         (size_t)sizes->n_pairs * sizeof(mlcp_pair);
}

bool mlcp_stored_reserve(mlcp_stored *stored, const memory_source *source,
                         const mlcp_sizes *sizes) {
  size_t bytes = bytes_of(sizes);
  char *at = memory_block_reserve(&stored->block, source, bytes, 1);
  if (at == NULL) {
    memset(stored, 0, sizeof *stored);
    return false;
  }
  memset(at, 0, bytes);

  mlcp_problem *problem = &stored->problem;
  problem->n_bodies = sizes->n_bodies;
  problem->n_rows = sizes->n_rows;
  problem->n_frictions = sizes->n_frictions;
  problem->n_pairs = sizes->n_pairs;
  problem->bodies = (mlcp_body *)at;
  at += (size_t)sizes->n_bodies * sizeof(mlcp_body);
  problem->rows = (mlcp_row *)at;
  at += (size_t)sizes->n_rows * sizeof(mlcp_row);
  problem->frictions = (mlcp_friction *)at;
  at += (size_t)sizes->n_frictions * sizeof(mlcp_friction);
  problem->pairs = (mlcp_pair *)at;
  at += (size_t)sizes->n_pairs * sizeof(mlcp_pair);
  stored->guess = (double *)at;
  for (int r = 0; r < sizes->n_rows; r++) stored->guess[r] = NAN;
  return true;
}

mlcp_arrays mlcp_stored_arrays(const mlcp_stored *stored) {
  // the block behind them is the owner's to write
  return (mlcp_arrays){(mlcp_body *)stored->problem.bodies,
                       (mlcp_row *)stored->problem.rows,
                       (mlcp_friction *)stored->problem.frictions,
                       (mlcp_pair *)stored->problem.pairs};
}

bool mlcp_stored_copy(mlcp_stored *stored, const memory_source *source,
                      const mlcp_problem *problem, const double guess[]) {
  mlcp_sizes sizes = {problem->n_bodies, problem->n_rows, problem->n_frictions,
                      problem->n_pairs};
  if (!mlcp_stored_reserve(stored, source, &sizes)) return false;

  mlcp_arrays to = mlcp_stored_arrays(stored);
#define COPY(field)                                                            \
  if (problem->n_##field > 0)                                                  \
  memcpy(to.field, problem->field,                                             \
         (size_t)problem->n_##field * sizeof *to.field)
  COPY(bodies);
  COPY(rows);
  COPY(frictions);
  COPY(pairs);
#undef COPY
  if (guess != NULL && problem->n_rows > 0)
    memcpy(stored->guess, guess, (size_t)problem->n_rows * sizeof *guess);
  stored->problem.velocity_floor = problem->velocity_floor;
  return true;
}

void mlcp_stored_release(mlcp_stored *stored, const memory_source *source) {
  memory_block_release(&stored->block, source);
  memset(stored, 0, sizeof *stored);
}
