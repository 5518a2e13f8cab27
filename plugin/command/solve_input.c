#include "command/solve_input.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "mlcp/matrix_market.h"
#include "mlcp/mlcp_folder.h"

static const memory_source *const source = &memory_from_malloc;

/* The number of the first entry that is not finite; the last column's end: all are. */
static int first_bad(const lemke_problem *lcp) {
  int e = 0;
  while (e < lcp->column_start[lcp->n] && isfinite(lcp->value[e])) e++;
  return e;
}

static bool fill_lcp(solve_input *input, const matrix_market *M,
                     const matrix_market *q, const char *M_path,
                     const char *q_path, char message[SOLVE_MESSAGE]) {
  int n = M->n_rows, column = 0, *place, *start, *row;
  double *value, *sum;
  arena *arena = &input->arena;
  arena->source = source;
  if (!ARENA_TAKE(arena, place, n) || !ARENA_TAKE(arena, sum, n) ||
      !ARENA_TAKE(arena, value, M->n_entries) ||
      !ARENA_TAKE(arena, start, n + 1) ||
      !ARENA_TAKE(arena, row, M->n_entries)) {
    snprintf(message, SOLVE_MESSAGE, "no memory for %d variables", n);
    return false;
  }
  input->lcp = (lemke_problem){
      .n = n, .q = sum, .value = value, .column_start = start, .row = row};
  columns_of_entries(n, M->n_entries, M->entries, start, row, value, place);
  int bad = first_bad(&input->lcp);
  if (bad < start[n]) {
    while (start[column + 1] <= bad) column++;
    snprintf(message, SOLVE_MESSAGE,
             "%s: the entries in row %d, column %d have no finite sum", M_path,
             row[bad] + 1, column + 1);
    return false;
  }
  matrix_market_to_dense(q, sum);
  for (int i = 0; i < n; i++)
    if (!isfinite(sum[i])) {
      snprintf(message, SOLVE_MESSAGE,
               "%s: the entries in row %d have no finite sum", q_path, i + 1);
      return false;
    }
  return true;
}

bool solve_input_read_lcp(solve_input *input, const char *M_path,
                          const char *q_path, char message[SOLVE_MESSAGE]) {
  matrix_market M = {0}, q = {0};
  input->is_lcp = true;
  bool read =
      matrix_market_read(M_path, MATRIX_MARKET_ANY, MATRIX_MARKET_SQUARE, false,
                         source, &M, message, SOLVE_MESSAGE);
  if (read && (M.n_rows > SOLVE_LARGEST || M.n_entries > (size_t)1 << 30)) {
    snprintf(message, SOLVE_MESSAGE, "%s: more than %d rows or 2^30 entries",
             M_path, SOLVE_LARGEST);
    read = false;
  }
  read = read &&
         matrix_market_read(q_path, M.n_rows, 1, false, source, &q, message,
                            SOLVE_MESSAGE) &&
         fill_lcp(input, &M, &q, M_path, q_path, message);
  matrix_market_release(&M);
  matrix_market_release(&q);
  return read;
}

bool solve_input_read_folder(solve_input *input, const char *path,
                             char message[SOLVE_MESSAGE]) {
  struct stat status;
  input->is_lcp = false;
  if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode)) {
    snprintf(message, SOLVE_MESSAGE,
             "%s: one file is no problem: name M.mtx and q.mtx, or the folder "
             "of one",
             path);
    return false;
  }
  return mlcp_folder_read(path, source, &input->mlcp, message, SOLVE_MESSAGE);
}

void solve_input_close(solve_input *input) {
  arena_release(&input->arena);
  mlcp_stored_release(&input->mlcp);
}
