#include "command/solve_input.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "mlcp/matrix_market.h"
#include "mlcp/mlcp_folder.h"

static const memory_source *const source = &memory_from_malloc;

/* Entries in the order of their columns, and in a column of the file. */
static void sort_by_column(const matrix_market *matrix, int start[], int row[],
                           double value[]) {
  memset(start, 0, ((size_t)matrix->n_columns + 1) * sizeof *start);
  for (size_t k = 0; k < matrix->n_entries; k++)
    start[matrix->entries[k].column + 1]++;
  for (int j = 0; j < matrix->n_columns; j++) start[j + 1] += start[j];
  for (size_t k = 0; k < matrix->n_entries; k++) {
    int at = start[matrix->entries[k].column]++;
    row[at] = matrix->entries[k].row;
    value[at] = matrix->entries[k].value;
  }
  for (int j = matrix->n_columns; j > 0; j--) start[j] = start[j - 1];
  start[0] = 0;
}

/* Adds up entries named twice and leaves out zeros. `seen` [n] is where in the
 * column a row stands. @return the number of the row where the sum is not
 * finite, else -1; *column is its column. */
static int add_up(int n, int start[], int row[], double value[], int seen[],
                  int *column) {
  int end = 0;
  for (int i = 0; i < n; i++) seen[i] = -1;
  for (int j = 0, from = start[0]; j < n; j++) {
    int first = end, to = start[j + 1];
    for (int e = from; e < to; e++) {
      int i = row[e];
      if (value[e] == 0) continue;
      if (seen[i] < first) {
        seen[i] = end;
        row[end] = i;
        value[end++] = value[e];
      } else {
        value[seen[i]] += value[e];
      }
      if (isfinite(value[seen[i]])) continue;
      *column = j;
      return i;
    }
    from = to;
    start[j + 1] = end;
  }
  return -1;
}

static bool fill_lcp(solve_input *input, const matrix_market *M,
                     const matrix_market *q, const char *M_path,
                     const char *q_path, char message[SOLVE_MESSAGE]) {
  int n = M->n_rows, column = 0, *seen, *start, *row;
  double *value, *sum;
  arena *arena = &input->arena;
  arena->source = source;
  if (!ARENA_TAKE(arena, seen, n) || !ARENA_TAKE(arena, sum, n) ||
      !ARENA_TAKE(arena, value, M->n_entries) ||
      !ARENA_TAKE(arena, start, n + 1) ||
      !ARENA_TAKE(arena, row, M->n_entries)) {
    snprintf(message, SOLVE_MESSAGE, "no memory for %d variables", n);
    return false;
  }
  input->lcp = (lemke_problem){
      .n = n, .q = sum, .value = value, .column_start = start, .row = row};
  sort_by_column(M, start, row, value);
  int bad = add_up(n, start, row, value, seen, &column);
  if (bad >= 0) {
    snprintf(message, SOLVE_MESSAGE,
             "%s: the entries in row %d, column %d have no finite sum", M_path,
             bad + 1, column + 1);
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
