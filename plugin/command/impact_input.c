#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/arguments.h"
#include "command/impact.h"
#include "command/preloads.h"
#include "common/number.h"
#include "mlcp/matrix_market.h"

/* Read folder/file into *dense (malloc), of the shape expected.
 * @return how many rows it has; 0 with a message */
static int read_array(const char *folder, const char *file, bool infinite,
                      int n_rows, int n_columns, const double **dense,
                      char message[IMPACT_MESSAGE]) {
  char path[PATH_MAX + 16];
  matrix_market matrix = {0};
  snprintf(path, sizeof path, "%s/%s", folder, file);
  if (matrix_market_read(path, n_rows, n_columns, infinite, &memory_from_malloc,
                         &matrix, message, IMPACT_MESSAGE)) {
    size_t count = (size_t)matrix.n_rows * (size_t)matrix.n_columns;
    double *numbers =
        count > 0 && count < 1 << 26 ? malloc(count * sizeof *numbers) : NULL;
    *dense = numbers;
    if (numbers != NULL)
      matrix_market_to_dense(&matrix, numbers);
    else
      snprintf(message, IMPACT_MESSAGE, "%.400s: a %d x %d matrix %s", path,
               matrix.n_rows, matrix.n_columns,
               count == 0 ? "has no entry" : "is too large");
  }
  int rows = *dense != NULL ? matrix.n_rows : 0;
  matrix_market_release(&matrix);
  return rows;
}

/* The arrays are the problem's, each from malloc. */
static bool read_folder(const char *folder, ode_mlcp_impact_problem *problem,
                        char message[IMPACT_MESSAGE]) {
  const int any = MATRIX_MARKET_ANY;
  int s = read_array(folder, "M.mtx", false, any, MATRIX_MARKET_SQUARE,
                     &problem->M, message);
  int m =
      s > 0 ? read_array(folder, "Jn.mtx", false, any, s, &problem->Jn, message)
            : 0;
  int rows =
      m > 0 ? read_array(folder, "Jt.mtx", false, any, s, &problem->Jt, message)
            : 0;
  if (rows == 0) return false;
  if (rows != m && rows != 2 * m) {
    snprintf(message, IMPACT_MESSAGE,
             "%.200s/Jt.mtx: the matrix is %d x %d, expected is %d x %d or "
             "%d x %d (one or two tangents for each row of Jn)",
             folder, rows, s, m, s, 2 * m, s);
    return false;
  }
  problem->n_velocities = s;
  problem->n_contacts = m;
  problem->n_tangents = rows / m;
  return read_array(folder, "mu.mtx", true, m, 1, &problem->mu, message) > 0 &&
         read_array(folder, "v.mtx", false, s, 1, &problem->v, message) > 0;
}

/* FNV-1a over the bytes of all numbers: parts of other data are told apart. */
static uint64_t fingerprint(const ode_mlcp_impact_problem *problem) {
  size_t s = (size_t)problem->n_velocities, m = (size_t)problem->n_contacts;
  size_t sizes[5] = {s * s, m * s, m * (size_t)problem->n_tangents * s, m, s};
  const double *at[5] = {problem->M, problem->Jn, problem->Jt, problem->mu,
                         problem->v};
  uint64_t hash = 0xcbf29ce484222325u;
  for (int i = 0; i < 5; i++) {
    const unsigned char *bytes = (const unsigned char *)at[i];
    for (size_t k = 0; k < sizes[i] * sizeof(double); k++)
      hash = (hash ^ bytes[k]) * 0x100000001b3u;
  }
  return hash;
}

/* A folder's own defaults: a line each, `h X`, `steps N`, `samples N`; # a comment. */
static bool read_options(const char *folder, impact_input *input,
                         char message[IMPACT_MESSAGE]) {
  char path[PATH_MAX + 16], line[1024];
  snprintf(path, sizeof path, "%s/options.txt", folder);
  FILE *file = fopen(path, "r");
  bool good = true;
  uint64_t steps = (uint64_t)input->steps;
  for (int n = 1;
       file != NULL && good && fgets(line, sizeof line, file) != NULL; n++) {
    char word[16], value[40], more[2];
    int count = sscanf(line, "%15s %39s %1s", word, value, more);
    if (count <= 0 || word[0] == '#') continue;
    good = count == 2 &&
           (strcmp(word, "h") == 0 ? number_parse(value, &input->h) &&
                                         input->h > 0 && isfinite(input->h)
            : strcmp(word, "steps") == 0
                ? argument_parse_count(value, 0, 1000000, &steps)
                : strcmp(word, "samples") == 0 &&
                      argument_parse_count(value, 1, (uint64_t)1 << 40,
                                           &input->samples));
    if (!good)
      snprintf(message, IMPACT_MESSAGE,
               "%.300s:%d: expected is h X, steps N or samples N", path, n);
  }
  input->steps = (int)steps;
  if (file != NULL) fclose(file);
  return good;
}

static bool is_folder(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A folder as it is named, or else one of the examples beside this program: where it
 * was built, and where it is installed. */
static bool find_folder(const char *name, char folder[PATH_MAX]) {
  static const char *const beside[] = {"lib/impact", "../lib/impact",
                                       "../share/ode-mlcp/impact",
                                       "../../../../share/ode-mlcp/impact"};
  char own[PATH_MAX];
  snprintf(folder, PATH_MAX, "%s", name);
  if (is_folder(folder)) return true;
  if (strchr(name, '/') != NULL || !preloads_own_folder(own)) return false;
  for (size_t k = 0; k < sizeof beside / sizeof *beside; k++) {
    snprintf(folder, PATH_MAX, "%.3000s/%s/%.200s", own, beside[k], name);
    if (is_folder(folder)) return true;
  }
  return false;
}

bool impact_input_open(impact_input *input, const char *name,
                       char message[IMPACT_MESSAGE]) {
  char folder[PATH_MAX];
  *input = (impact_input){.steps = 10, .samples = 1 << 14};
  snprintf(input->name, sizeof input->name, "%s", name);
  if (strlen(name) >= sizeof input->name || !find_folder(name, folder)) {
    snprintf(message, IMPACT_MESSAGE,
             "'%.200s' is neither an example (rocking-block, compass-gait, "
             "box-wall, ramone, disk-stack) nor a folder",
             name);
    return false;
  }
  bool read = read_folder(folder, &input->problem, message) &&
              read_options(folder, input, message);
  if (read)
    input->fingerprint = fingerprint(&input->problem);
  else
    impact_input_close(input);
  return read;
}

void impact_input_close(impact_input *input) {
  ode_mlcp_impact_problem *problem = &input->problem;
  free((double *)problem->M);
  free((double *)problem->Jn);
  free((double *)problem->Jt);
  free((double *)problem->mu);
  free((double *)problem->v);
  *problem = (ode_mlcp_impact_problem){0};
}

void impact_row_name(const ode_mlcp_impact_problem *problem, int row,
                     char name[24]) {
  int per_contact = 1 + problem->n_tangents;
  int contact = row / per_contact, direction = row % per_contact;
  // A .. Z, AA .. as in a spreadsheet
  char letters[8];
  int n = 0;
  for (int rest = contact + 1; rest > 0 && n < 7; rest = (rest - 1) / 26)
    letters[n++] = (char)('A' + (rest - 1) % 26);
  int used = direction == 0             ? snprintf(name, 12, "vn")
             : problem->n_tangents == 1 ? snprintf(name, 12, "vt")
                                        : snprintf(name, 12, "vt%d", direction);
  for (int i = 0; i < n; i++) name[used + i] = letters[n - 1 - i];
  name[used + n] = 0;
}
