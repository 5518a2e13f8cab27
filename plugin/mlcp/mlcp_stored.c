#include "mlcp/mlcp_stored.h"

#include <math.h>
#include <string.h>

bool mlcp_stored_reserve(mlcp_stored *stored, const memory_source *source,
                         const mlcp_problem *sizes) {
  stored->arena.source = source;
  arena_start(&stored->arena);
#define TAKE(array, count)                                                     \
  (ARENA_TAKE(&stored->arena, stored->array, count) &&                         \
   memset(stored->array, 0, sizeof *stored->array * (size_t)(count)) != NULL)
  if (!TAKE(bodies, sizes->n_bodies) || !TAKE(rows, sizes->n_rows) ||
      !TAKE(frictions, sizes->n_frictions) || !TAKE(pairs, sizes->n_pairs) ||
      !TAKE(guess, sizes->n_rows)) {
    mlcp_stored_release(stored);
    return false;
  }
#undef TAKE
  stored->problem = *sizes;
  stored->problem.bodies = stored->bodies;
  stored->problem.rows = stored->rows;
  stored->problem.frictions = stored->frictions;
  stored->problem.pairs = stored->pairs;
  for (int r = 0; r < sizes->n_rows; r++) stored->guess[r] = NAN;
  return true;
}

bool mlcp_stored_copy(mlcp_stored *stored, const memory_source *source,
                      const mlcp_problem *problem, const double guess[]) {
  if (!mlcp_stored_reserve(stored, source, problem)) return false;
#define COPY(to, from, count)                                                  \
  if ((count) > 0) memcpy(to, from, (size_t)(count) * sizeof *(to))
  COPY(stored->bodies, problem->bodies, problem->n_bodies);
  COPY(stored->rows, problem->rows, problem->n_rows);
  COPY(stored->frictions, problem->frictions, problem->n_frictions);
  COPY(stored->pairs, problem->pairs, problem->n_pairs);
  if (guess != NULL) COPY(stored->guess, guess, problem->n_rows);
#undef COPY
  return true;
}

void mlcp_stored_release(mlcp_stored *stored) {
  arena_release(&stored->arena);
  memset(stored, 0, sizeof *stored);
}
