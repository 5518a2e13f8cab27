#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mlcp/flat_json.h"
#include "mlcp/matrix_market.h"
#include "mlcp/mlcp_folder.h"

typedef struct reader {
  const char *path;
  const memory_source *source;
  mlcp_stored *stored;
  mlcp_arrays arrays;
  matrix_market matrix; /* the file in hand */
  char file[MLCP_FOLDER_PATH];
  memory_block table_block;
  char *message;
  size_t message_size;
} reader;

static bool complain(const reader *r, const char *what) {
  snprintf(r->message, r->message_size, "%s: %s", r->file, what);
  return false;
}

/* ---- the description --------------------------------------------------------- */

enum { N_COUNTS = 4 };

typedef struct description {
  bool has_format;
  int row_columns;      /* of the format */
  int counts[N_COUNTS]; /* -1: not there */
  double velocity_floor;
} description;

static const char *visit(void *context, const flat_json_member *member) {
  static const char *const names[N_COUNTS] = {"bodies", "rows", "frictions",
                                              "pairs"};
  description *d = context;
  if (strcmp(member->name, "format") == 0) {
    const char *format = member->text != NULL ? member->text : "";
    bool first = strcmp(format, MLCP_FOLDER_FORMAT_1) == 0;
    d->has_format = first || strcmp(format, MLCP_FOLDER_FORMAT) == 0;
    d->row_columns = MLCP_ROW_COLUMNS + first;
    return d->has_format ? NULL
                         : "the format is neither \"" MLCP_FOLDER_FORMAT
                           "\" nor \"" MLCP_FOLDER_FORMAT_1 "\"";
  }
  if (strcmp(member->name, "velocity_floor") == 0) {
    d->velocity_floor = member->number;
    return d->velocity_floor > 0 && isfinite(d->velocity_floor)
               ? NULL
               : "velocity_floor is not a number above 0";
  }
  for (int i = 0; i < N_COUNTS; i++) {
    if (strcmp(member->name, names[i]) != 0) continue;
    double count = member->number;
    if (!(count >= 0 && count <= 100e6 && count == floor(count)))
      return "not a whole number from 0 to 100 million";
    d->counts[i] = (int)count;
  }
  return NULL;
}

static bool read_description(reader *r, description *d) {
  *d = (description){.counts = {-1, -1, -1, -1}};
  if (!mlcp_folder_file(r->path, "problem.json", r->file))
    return complain(r, "the path is too long");
  if (!flat_json_read(r->file, visit, d, r->message, r->message_size))
    return false;
  bool counted = true;
  for (int i = 0; i < N_COUNTS; i++) counted = counted && d->counts[i] >= 0;
  if (!d->has_format)
    return complain(r, "no \"format\": \"" MLCP_FOLDER_FORMAT "\"");
  if (!counted || !(d->velocity_floor > 0))
    return complain(r,
                    "one of bodies, rows, frictions, pairs and "
                    "velocity_floor is missing");
  // no memory is taken for what the files cannot hold
  size_t size = mlcp_folder_size(r->path);
  for (int i = 0; i < N_COUNTS; i++)
    if ((size_t)d->counts[i] > size)
      return complain(r,
                      "more bodies, rows, frictions or pairs than the files "
                      "can hold");
  return true;
}

/* ---- matrices ---------------------------------------------------------------- */

static bool read_matrix(reader *r, const char *name, int n_rows,
                        int n_columns) {
  matrix_market_release(&r->matrix, r->source);
  if (!mlcp_folder_file(r->path, name, r->file))
    return complain(r, "the path is too long");
  return matrix_market_read(r->file, n_rows, n_columns, r->source, &r->matrix,
                            r->message, r->message_size);
}

/* The place of an entry; NULL: it has none and must be 0. */
typedef double *place_of(const reader *r, int row, int column);

/* Put every entry in its place: first a negative zero, which added to gives
 * each number all its bits, its sign too. */
static bool scatter(reader *r, place_of *place) {
  for (int pass = 0; pass < 2; pass++)
    for (size_t k = 0; k < r->matrix.n_entries; k++) {
      const matrix_market_entry *entry = &r->matrix.entries[k];
      double *to = place(r, entry->row, entry->column);
      if (to == NULL && entry->value != 0) {
        char what[100];
        snprintf(what, sizeof what, "the entry in row %d, column %d must be 0",
                 entry->row + 1, entry->column + 1);
        return complain(r, what);
      }
      if (to == NULL) continue;
      if (pass == 0)
        *to = -0.0;
      else
        *to += entry->value;
    }
  return true;
}

static double *table_place(const reader *r, int row, int column) {
  return (double *)r->table_block.data +
         (size_t)row * (size_t)r->matrix.n_columns + (size_t)column;
}

/* A file as a row-major table, `absent` where it has no entry; NULL with a
 * message. */
static const double *read_table(reader *r, const char *name, int n_rows,
                                int n_columns, double absent) {
  if (!read_matrix(r, name, n_rows, n_columns)) return NULL;
  size_t count = (size_t)n_rows * (size_t)n_columns;
  double *table =
      memory_block_reserve(&r->table_block, r->source, count, sizeof *table);
  if (table == NULL) {
    complain(r, "no memory");
    return NULL;
  }
  for (size_t i = 0; i < count; i++) table[i] = absent;
  return scatter(r, table_place) ? table : NULL;
}

/* A whole number of a table, 0 .. highest; false with a message. */
static bool take_integer(const reader *r, int row, int column, double value,
                         int highest, int *to) {
  if (value >= 0 && value <= highest && value == floor(value)) {
    *to = (int)value;
    return true;
  }
  char what[100];
  snprintf(what, sizeof what,
           "row %d, column %d: %g is not a whole number, 0 .. %d", row + 1,
           column + 1, value, highest);
  return complain(r, what);
}

/* ---- the parts ----------------------------------------------------------------- */

static double *mass_place(const reader *r, int row, int column) {
  if (row / 6 != column / 6) return NULL;
  return &r->arrays.bodies[row / 6].mass[6 * (row % 6) + column % 6];
}

static double *inverse_place(const reader *r, int row, int column) {
  if (row / 6 != column / 6) return NULL;
  return &r->arrays.bodies[row / 6].inverse_mass[6 * (row % 6) + column % 6];
}

static double *velocity_place(const reader *r, int row, int column) {
  (void)column;
  return &r->arrays.bodies[row / 6].v_free[row % 6];
}

static double *jacobian_place(const reader *r, int row, int column) {
  mlcp_row *to = &r->arrays.rows[row];
  for (int side = 0; side < 2; side++)
    if (to->body[side] == column / 6) return &to->J[side][column % 6];
  return NULL;
}

static bool read_bodies(reader *r) {
  int n = 6 * r->stored->problem.n_bodies;
  return read_matrix(r, "M.mtx", n, n) && scatter(r, mass_place) &&
         read_matrix(r, "Minv.mtx", n, n) && scatter(r, inverse_place) &&
         read_matrix(r, "v_free.mtx", n, 1) && scatter(r, velocity_place);
}

static bool read_rows(reader *r, int n_columns) {
  int n_rows = r->stored->problem.n_rows;
  int n_bodies = r->stored->problem.n_bodies;
  const double *table = read_table(r, "rows.mtx", n_rows, n_columns, 0);
  if (table == NULL) return false;
  for (int i = 0; i < n_rows; i++, table += n_columns) {
    mlcp_row *row = &r->arrays.rows[i];
    int numbers[3];
    for (int k = 0; k < 3; k++)
      if (!take_integer(r, i, k, table[k],
                        k == 0 ? MLCP_ROW_FRICTION : n_bodies, &numbers[k]))
        return false;
    row->kind = (mlcp_row_kind)numbers[0];
    row->body[0] = numbers[1] - 1;
    row->body[1] = numbers[2] - 1;
    row->bias = table[3];
    row->compliance = table[4];
  }

  table = read_table(r, "bounds.mtx", n_rows, 2, NAN);
  if (table == NULL) return false;
  for (int i = 0; i < n_rows; i++, table += 2) {
    r->arrays.rows[i].low = isnan(table[0]) ? -INFINITY : table[0];
    r->arrays.rows[i].high = isnan(table[1]) ? INFINITY : table[1];
  }
  return read_matrix(r, "J.mtx", n_rows, 6 * n_bodies) &&
         scatter(r, jacobian_place);
}

static bool read_frictions(reader *r) {
  int n_frictions = r->stored->problem.n_frictions;
  int n_pairs = r->stored->problem.n_pairs;
  int n_rows = r->stored->problem.n_rows;
  const double *table =
      read_table(r, "frictions.mtx", n_frictions, MLCP_FRICTION_COLUMNS, 0);
  if (table == NULL) return false;
  for (int i = 0; i < n_frictions; i++, table += MLCP_FRICTION_COLUMNS) {
    mlcp_friction *set = &r->arrays.frictions[i];
    int *const numbers[5] = {&set->normal, &set->first_row, &set->n_base,
                             &set->first_pair, &set->n_pairs};
    for (int k = 0; k < 5; k++)
      if (!take_integer(r, i, k, table[k], k < 3 ? n_rows : n_pairs,
                        numbers[k]))
        return false;
    set->normal--;
    set->first_row--;
    set->first_pair--;
    set->coefficient = table[5];
    set->limit = table[6];
  }

  table = read_table(r, "pairs.mtx", n_pairs, 2, 0);
  if (table == NULL) return false;
  for (int i = 0; i < 2 * n_pairs; i++)
    r->arrays.pairs[i / 2].u[i % 2] = table[i];
  return true;
}

static bool read_guess(reader *r) {
  int n_rows = r->stored->problem.n_rows;
  const double *table = read_table(r, "guess.mtx", n_rows, 1, NAN);
  if (table == NULL) return false;
  for (int i = 0; i < n_rows; i++) r->stored->guess[i] = table[i];
  return true;
}

/* The problem as a whole, once every file is. */
static bool check(reader *r) {
  char what[200];
  if (mlcp_check(&r->stored->problem, what, sizeof what)) return true;
  snprintf(r->message, r->message_size, "%s: %s (numbers from 0)", r->path,
           what);
  return false;
}

static bool read_folder(reader *r) {
  description d;
  if (!read_description(r, &d)) return false;
  mlcp_sizes sizes = {d.counts[0], d.counts[1], d.counts[2], d.counts[3]};
  if (!mlcp_stored_reserve(r->stored, r->source, &sizes))
    return complain(r, "no memory");
  r->arrays = mlcp_stored_arrays(r->stored);
  r->stored->problem.velocity_floor = d.velocity_floor;
  return read_bodies(r) && read_rows(r, d.row_columns) && read_frictions(r) &&
         read_guess(r) && check(r);
}

bool mlcp_folder_read(const char *path, const memory_source *source,
                      mlcp_stored *stored, char *message, size_t message_size) {
  reader r = {.path = path,
              .source = source,
              .stored = stored,
              .message = message,
              .message_size = message_size};
  memset(stored, 0, sizeof *stored);
  if (message_size > 0) message[0] = '\0';
  bool read = read_folder(&r);
  matrix_market_release(&r.matrix, source);
  memory_block_release(&r.table_block, source);
  return read;
}
