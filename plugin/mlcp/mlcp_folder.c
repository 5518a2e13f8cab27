#include "mlcp/mlcp_folder.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/number.h"
#include "mlcp/matrix_market.h"

#define FORMAT "ode-mlcp problem 3"

/* The files in the order in which they are written and read. The last one says that all
 * are there. */
enum {
  MASS,
  INVERSE,
  VELOCITY,
  ROWS,
  BOUNDS,
  J,
  FRICTIONS,
  PAIRS,
  GUESS,
  FLOOR,
  N_FILES
};
static const struct {
  const char *name;
  char rows;   /* one for each of 6 bodies, rows, frictions, pairs; '1': one */
  int columns; /* 0: 6 bodies */
} files[N_FILES] = {{"M.mtx", 'b', 0},         {"Minv.mtx", 'b', 0},
                    {"v_free.mtx", 'b', 1},    {"rows.mtx", 'r', 5},
                    {"bounds.mtx", 'r', 2},    {"J.mtx", 'r', 0},
                    {"frictions.mtx", 'f', 7}, {"pairs.mtx", 'p', 2},
                    {"guess.mtx", 'r', 1},     {"velocity_floor.mtx", '1', 1}};

static const char description[] = "problem.json";

typedef struct folder {
  const char *path;
  const memory_source *source;
  const mlcp_problem *problem;
  const double *guess;
  matrix_market matrices[N_FILES];
  char file[MLCP_FOLDER_PATH];
  char *message;
  size_t message_size;
} folder;

static bool complain(const folder *f, const char *what) {
  snprintf(f->message, f->message_size, "%s: %s", f->file, what);
  return false;
}

bool mlcp_folder_file(const char *path, const char *name,
                      char file[MLCP_FOLDER_PATH]) {
  int length = snprintf(file, MLCP_FOLDER_PATH, "%s/%s", path, name);
  return length >= 0 && length < MLCP_FOLDER_PATH;
}

static bool name_file(folder *f, const char *name) {
  return mlcp_folder_file(f->path, name, f->file) ||
         complain(f, "the path is too long");
}

/* ---- a whole folder ---------------------------------------------------------- */

bool mlcp_folder_is_there(const char *path) {
  char file[MLCP_FOLDER_PATH];
  return mlcp_folder_file(path, files[FLOOR].name, file) &&
         access(file, F_OK) == 0;
}

size_t mlcp_folder_size(const char *path) {
  char file[MLCP_FOLDER_PATH];
  struct stat status;
  size_t size = 0;
  for (int i = 0; i <= N_FILES; i++)
    if (mlcp_folder_file(path, i < N_FILES ? files[i].name : description,
                         file) &&
        stat(file, &status) == 0)
      size += (size_t)status.st_size;
  return size;
}

static void remove_files(const char *path) {
  char file[MLCP_FOLDER_PATH];
  for (int i = N_FILES; i >= 0; i--)
    if (mlcp_folder_file(path, i < N_FILES ? files[i].name : description, file))
      unlink(file);
  rmdir(path);
}

void mlcp_folder_remove(const char *path) {
  if (mlcp_folder_is_there(path)) remove_files(path);
}

/* ---- where the numbers are ------------------------------------------------------ */

/* An entry's place: a number, or a whole one from `base` in the problem, which the file
 * counts from 0 to `most`. Neither: it has none and is 0. */
typedef struct place {
  const double *number;
  const int *whole;
  int base, most;
} place;

/* How many there are of what has rows in a file; -1: not known yet. */
static const int *count_of(const folder *f, int file) {
  static const int one = 1;
  const mlcp_problem *p = f->problem;
  switch (files[file].rows) {
    case 'b': return &p->n_bodies;
    case 'r': return &p->n_rows;
    case 'f': return &p->n_frictions;
    case 'p': return &p->n_pairs;
    default: return &one;
  }
}

static int rows_of(const folder *f, int file) {
  int count = *count_of(f, file);
  if (count < 0) return MATRIX_MARKET_ANY;
  return files[file].rows == 'b' ? 6 * count : count;
}

static int columns_of(const folder *f, int file) {
  if (files[file].columns > 0) return files[file].columns;
  int n_bodies = f->problem->n_bodies;
  return n_bodies < 0 ? MATRIX_MARKET_SQUARE : 6 * n_bodies;
}

static place place_in_rows(const mlcp_problem *p, const mlcp_row *row,
                           int column) {
  switch (column) {
    case 0:
      return (place){.whole = (const int *)&row->kind,
                     .most = MLCP_ROW_FRICTION};
    case 1:
    case 2: return (place){NULL, &row->body[column - 1], -1, p->n_bodies};
    case 3: return (place){.number = &row->bias};
    default: return (place){.number = &row->compliance};
  }
}

static place place_in_frictions(const mlcp_problem *p, const mlcp_friction *set,
                                int column) {
  switch (column) {
    case 0: return (place){NULL, &set->normal, -1, p->n_rows};
    case 1: return (place){NULL, &set->first_row, -1, p->n_rows};
    case 2: return (place){NULL, &set->n_base, 0, p->n_rows};
    case 3: return (place){NULL, &set->first_pair, -1, p->n_pairs};
    case 4: return (place){NULL, &set->n_pairs, 0, p->n_pairs};
    case 5: return (place){.number = &set->coefficient};
    default: return (place){.number = &set->limit};
  }
}

static place place_of(const folder *f, int file, int row, int column) {
  const mlcp_problem *p = f->problem;
  const mlcp_body *body = p->bodies + (file <= VELOCITY ? row / 6 : 0);
  const mlcp_row *of = p->rows + (files[file].rows == 'r' ? row : 0);
  int block = 6 * (row % 6) + column % 6;
  const double *at = NULL;
  switch (file) {
    case MASS: at = row / 6 == column / 6 ? &body->mass[block] : NULL; break;
    case INVERSE:
      at = row / 6 == column / 6 ? &body->inverse_mass[block] : NULL;
      break;
    case VELOCITY: at = &body->v_free[row % 6]; break;
    case ROWS: return place_in_rows(p, of, column);
    case BOUNDS: at = column == 0 ? &of->low : &of->high; break;
    case J:
      for (int side = 0; side < 2; side++)
        if (of->body[side] == column / 6) at = &of->J[side][column % 6];
      break;
    case FRICTIONS: return place_in_frictions(p, &p->frictions[row], column);
    case PAIRS: at = &p->pairs[row].u[column]; break;
    case FLOOR: at = &p->velocity_floor; break;
    default: at = f->guess != NULL ? &f->guess[row] : NULL;
  }
  return (place){.number = at};
}

/* ---- writing ------------------------------------------------------------------ */

/* Entries from a column on, as many as are side by side, that are there and that have
 * bits: of bounds and guesses an entry of 0 is one. @return false without memory */
static bool add_entries(folder *f, int file, int row, int first, int count) {
  matrix_market *m = &f->matrices[file];
  for (int column = first; column < first + count; column++) {
    place at = place_of(f, file, row, column);
    if (at.number == NULL && at.whole == NULL) continue;
    double value = at.number != NULL ? *at.number : *at.whole - at.base;
    bool zero =
        file != BOUNDS && file != GUESS && value == 0 && !signbit(value);
    if (zero || !isfinite(value)) continue;
    if (!matrix_market_add(m, row, column, value))
      return complain(f, "no memory");
  }
  return true;
}

static bool write_file(folder *f, int file) {
  matrix_market *m = &f->matrices[file];
  memory_pool_open(&m->pool, f->source);
  m->n_rows = rows_of(f, file);
  m->n_columns = columns_of(f, file);
  if (!name_file(f, files[file].name)) return false;
  for (int row = 0; row < m->n_rows; row++)
    for (int side = 0; side < 2; side++) {
      int body = file == J   ? f->problem->rows[row].body[side]
                 : side == 0 ? row / 6
                             : -1;
      bool blocks = files[file].columns == 0;
      if (blocks ? body >= 0 : side == 0)
        if (!add_entries(f, file, row, blocks ? 6 * body : 0,
                         blocks ? 6 : m->n_columns))
          return false;
    }
  return matrix_market_write(f->file, m, f->message, f->message_size);
}

static void print_note(FILE *out, const mlcp_note *note) {
  fprintf(out, "  \"%s\": ", note->name);
  if (note->text != NULL)
    fprintf(out, "\"%s\",\n", note->text);
  else if (isfinite(note->number))
    fprintf(out, "%.17g,\n", note->number);
  else
    fputs("null,\n", out);
}

static bool write_description(folder *f, const mlcp_note notes[], int n_notes) {
  const mlcp_problem *p = f->problem;
  if (!name_file(f, description)) return false;
  FILE *out = fopen(f->file, "w");
  if (out == NULL) return complain(f, strerror(errno));
  fputs("{\n  \"format\": \"" FORMAT "\",\n", out);
  fprintf(out, "  \"bodies\": %d,\n  \"rows\": %d,\n  \"frictions\": %d,\n",
          p->n_bodies, p->n_rows, p->n_frictions);
  for (int i = 0; i < n_notes; i++) print_note(out, &notes[i]);
  fprintf(out, "  \"pairs\": %d\n}\n", p->n_pairs);
  bool failed = ferror(out) != 0;
  if (fclose(out) != 0) failed = true;
  return !failed || complain(f, strerror(errno));
}

static void release_matrices(folder *f) {
  for (int i = 0; i < N_FILES; i++) matrix_market_release(&f->matrices[i]);
}

static folder start(const char *path, const memory_source *source,
                    const mlcp_problem *problem, const double guess[],
                    char *message, size_t message_size) {
  folder f = {.path = path,
              .source = source,
              .problem = problem,
              .guess = guess,
              .message = message,
              .message_size = message_size};
  if (message_size > 0) message[0] = '\0';
  snprintf(f.file, sizeof f.file, "%s", path);
  return f;
}

bool mlcp_folder_write(const char *path, const mlcp_problem *problem,
                       const double guess[], const mlcp_note notes[],
                       int n_notes, const memory_source *source, char *message,
                       size_t message_size) {
  PLAIN_NUMBERS;
  folder f = start(path, source, problem, guess, message, message_size);
  if (mkdir(path, 0777) != 0 && errno != EEXIST)
    return complain(&f, strerror(errno));
  char file[MLCP_FOLDER_PATH];
  if (mlcp_folder_file(path, files[FLOOR].name, file)) unlink(file);
  bool written = write_description(&f, notes, n_notes);
  for (int i = 0; i < N_FILES && written; i++) written = write_file(&f, i);
  release_matrices(&f);
  // a disk that is full should not fill with pieces
  if (!written) remove_files(path);
  return written;
}

/* ---- reading -------------------------------------------------------------------- */

/* @return false where the sum of a whole number's entries is none of 0 .. most */
static bool add_whole(const folder *f, const matrix_entry *entry,
                      const place *at, int *to) {
  double value = *to - at->base + entry->value;
  if (value >= 0 && value <= at->most && value == floor(value)) {
    *to = (int)value + at->base;
    return true;
  }
  char what[100];
  snprintf(what, sizeof what,
           "row %d, column %d: %g is not a whole number, 0 .. %d",
           entry->row + 1, entry->column + 1, value, at->most);
  return complain(f, what);
}

/* A file, and how many there are of what has rows in it, in `sizes`. */
static bool read_file(folder *f, int file, mlcp_problem *sizes) {
  matrix_market *m = &f->matrices[file];
  f->problem = sizes;
  if (!name_file(f, files[file].name) ||
      !matrix_market_read(f->file, rows_of(f, file), columns_of(f, file), false,
                          f->source, m, f->message, f->message_size))
    return false;
  int *count = (int *)count_of(f, file); // of `sizes`, which is ours to write
  if (*count < 0) *count = m->n_rows / (files[file].rows == 'b' ? 6 : 1);
  if (m->n_rows != rows_of(f, file))
    return complain(f, "not six rows for every body");
  // no memory is taken for what the files cannot hold
  return (size_t)m->n_rows <= mlcp_folder_size(f->path) ||
         complain(f, "more rows than the files can hold");
}

/* Puts every entry in its place: first a negative zero, which added to gives each
 * number all its bits, its sign too. */
static bool place_entries(folder *f, int file) {
  const matrix_market *m = &f->matrices[file];
  if (!name_file(f, files[file].name)) return false;
  for (int pass = 0; pass < 2; pass++)
    for (size_t k = 0; k < m->n_entries; k++) {
      const matrix_entry *entry = &m->entries[k];
      place at = place_of(f, file, entry->row, entry->column);
      // what is read is the stored problem's, this function's to write
      double *to = (double *)at.number;
      int *whole = (int *)at.whole;
      if (to == NULL && whole == NULL && entry->value != 0) {
        char what[100];
        snprintf(what, sizeof what, "the entry in row %d, column %d must be 0",
                 entry->row + 1, entry->column + 1);
        return complain(f, what);
      }
      if (whole != NULL && pass == 1 && !add_whole(f, entry, &at, whole))
        return false;
      if (to != NULL) *to = pass == 0 ? -0.0 : *to + entry->value;
    }
  return true;
}

static bool read_folder(folder *f, mlcp_stored *stored) {
  mlcp_problem sizes = {
      .n_bodies = -1, .n_rows = -1, .n_frictions = -1, .n_pairs = -1};
  for (int i = 0; i < N_FILES; i++)
    if (!read_file(f, i, &sizes)) return false;
  if (!mlcp_stored_reserve(stored, f->source, &sizes))
    return complain(f, "no memory");
  f->problem = &stored->problem;
  f->guess = stored->guess;
  for (int r = 0; r < sizes.n_rows; r++) {
    mlcp_row *row = &stored->rows[r];
    row->body[0] = row->body[1] = -1;
    row->low = -INFINITY;
    row->high = INFINITY;
  }
  for (int i = 0; i < sizes.n_frictions; i++) {
    mlcp_friction *set = &stored->frictions[i];
    set->normal = set->first_row = set->first_pair = -1;
  }
  for (int i = 0; i < N_FILES; i++)
    if (!place_entries(f, i)) return false;
  // the problem as a whole, once every file is
  char what[200];
  if (mlcp_check(&stored->problem, what, sizeof what)) return true;
  snprintf(f->message, f->message_size, "%s: %s (numbers from 0)", f->path,
           what);
  return false;
}

bool mlcp_folder_read(const char *path, const memory_source *source,
                      mlcp_stored *stored, char *message, size_t message_size) {
  PLAIN_NUMBERS;
  memset(stored, 0, sizeof *stored);
  folder f = start(path, source, &stored->problem, stored->guess, message,
                   message_size);
  bool read = read_folder(&f, stored);
  release_matrices(&f);
  return read;
}
