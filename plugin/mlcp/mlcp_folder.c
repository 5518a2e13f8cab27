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

#define FORMAT "ode-mlcp problem 2"

enum {
  ROW_NUMBERS = 3,
  FRICTION_NUMBERS = 5
}; /* first columns: whole numbers */

/* The files in the order in which they are read. */
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
  N_FILES
};
static const struct {
  const char *name;
  char rows;   /* one for each of 6 bodies, rows, frictions, pairs */
  int columns; /* 0: 6 bodies */
} files[N_FILES] = {
    {"M.mtx", 'b', 0},         {"Minv.mtx", 'b', 0},   {"v_free.mtx", 'b', 1},
    {"rows.mtx", 'r', 5},      {"bounds.mtx", 'r', 2}, {"J.mtx", 'r', 0},
    {"frictions.mtx", 'f', 7}, {"pairs.mtx", 'p', 2},  {"guess.mtx", 'r', 1}};

static const char description[] = "problem.json";

typedef struct folder {
  const char *path;
  const memory_source *source;
  mlcp_stored *stored;
  mlcp_arrays arrays;
  double *row_numbers;      /* [n_rows ROW_NUMBERS] */
  double *friction_numbers; /* [n_frictions FRICTION_NUMBERS] */
  memory_block block;       /* of these numbers */
  matrix_market matrix;     /* the file in hand */
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
  return mlcp_folder_file(path, description, file) && access(file, F_OK) == 0;
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

static int rows_of(const folder *f, int file) {
  const mlcp_problem *p = &f->stored->problem;
  switch (files[file].rows) {
    case 'b': return 6 * p->n_bodies;
    case 'r': return p->n_rows;
    case 'f': return p->n_frictions;
    default: return p->n_pairs;
  }
}

static int columns_of(const folder *f, int file) {
  if (files[file].columns == 0) return 6 * f->stored->problem.n_bodies;
  return files[file].columns;
}

/* The place of an entry; NULL: it has none and is 0. */
static double *place_of(folder *f, int file, int row, int column) {
  mlcp_body *body = f->arrays.bodies + (file <= VELOCITY ? row / 6 : 0);
  mlcp_row *of = f->arrays.rows + (files[file].rows == 'r' ? row : 0);
  mlcp_friction *set = f->arrays.frictions + (file == FRICTIONS ? row : 0);
  int block = 6 * (row % 6) + column % 6;
  switch (file) {
    case MASS: return row / 6 == column / 6 ? &body->mass[block] : NULL;
    case INVERSE:
      return row / 6 == column / 6 ? &body->inverse_mass[block] : NULL;
    case VELOCITY: return &body->v_free[row % 6];
    case ROWS:
      if (column < ROW_NUMBERS)
        return &f->row_numbers[ROW_NUMBERS * (size_t)row + (size_t)column];
      return column == ROW_NUMBERS ? &of->bias : &of->compliance;
    case BOUNDS: return column == 0 ? &of->low : &of->high;
    case J:
      for (int side = 0; side < 2; side++)
        if (of->body[side] == column / 6) return &of->J[side][column % 6];
      return NULL;
    case FRICTIONS:
      if (column < FRICTION_NUMBERS)
        return &f->friction_numbers[FRICTION_NUMBERS * (size_t)row +
                                    (size_t)column];
      return column == FRICTION_NUMBERS ? &set->coefficient : &set->limit;
    case PAIRS: return &f->arrays.pairs[row].u[column];
    default: return &f->stored->guess[row];
  }
}

static bool take_numbers(folder *f) {
  const mlcp_problem *p = &f->stored->problem;
  size_t rows = ROW_NUMBERS * (size_t)p->n_rows;
  size_t count = rows + FRICTION_NUMBERS * (size_t)p->n_frictions;
  f->arrays = mlcp_stored_arrays(f->stored);
  f->row_numbers =
      memory_block_reserve(&f->block, f->source, count, sizeof(double));
  if (f->row_numbers == NULL) return complain(f, "no memory");
  f->friction_numbers = f->row_numbers + rows;
  memset(f->row_numbers, 0, count * sizeof(double));
  return true;
}

/* ---- writing ------------------------------------------------------------------ */

static void write_numbers(folder *f) {
  const mlcp_problem *p = &f->stored->problem;
  double *to = f->row_numbers;
  for (int r = 0; r < p->n_rows; r++) {
    *to++ = p->rows[r].kind;
    *to++ = p->rows[r].body[0] + 1;
    *to++ = p->rows[r].body[1] + 1;
  }
  for (int i = 0; i < p->n_frictions; i++) {
    *to++ = p->frictions[i].normal + 1;
    *to++ = p->frictions[i].first_row + 1;
    *to++ = p->frictions[i].n_base;
    *to++ = p->frictions[i].first_pair + 1;
    *to++ = p->frictions[i].n_pairs;
  }
}

/* Entries from a column on, as many as are side by side, that are there and that have
 * bits: of bounds and guesses an entry of 0 is one. @return false without memory */
static bool add_entries(folder *f, int file, int row, int first, int count) {
  matrix_market *m = &f->matrix;
  for (int column = first; column < first + count; column++) {
    double value = *place_of(f, file, row, column);
    bool zero =
        file != BOUNDS && file != GUESS && value == 0 && !signbit(value);
    if (zero || !isfinite(value)) continue;
    m->entries = memory_block_grow(&m->block, f->source, m->n_entries + 1,
                                   sizeof *m->entries);
    if (m->entries == NULL) return complain(f, "no memory");
    m->entries[m->n_entries++] = (matrix_market_entry){row, column, value};
  }
  return true;
}

static bool write_file(folder *f, int file) {
  matrix_market *m = &f->matrix;
  m->n_rows = rows_of(f, file);
  m->n_columns = columns_of(f, file);
  m->n_entries = 0;
  if (!name_file(f, files[file].name)) return false;
  for (int row = 0; row < m->n_rows; row++)
    for (int side = 0; side < 2; side++) {
      int body = file == J   ? f->arrays.rows[row].body[side]
                 : side == 0 ? row / 6
                             : -1;
      bool blocks = files[file].columns == 0;
      if (blocks ? body >= 0 : side == 0)
        if (!add_entries(f, file, row, blocks ? 6 * body : 0,
                         blocks ? 6 : m->n_columns))
          return false;
    }
  return matrix_market_write_entries(f->file, m, f->message, f->message_size);
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
  const mlcp_problem *p = &f->stored->problem;
  if (!name_file(f, description)) return false;
  FILE *out = fopen(f->file, "w");
  if (out == NULL) return complain(f, strerror(errno));
  fputs("{\n  \"format\": \"" FORMAT "\",\n", out);
  fprintf(out,
          "  \"bodies\": %d,\n  \"rows\": %d,\n  \"frictions\": %d,\n"
          "  \"pairs\": %d,\n",
          p->n_bodies, p->n_rows, p->n_frictions, p->n_pairs);
  for (int i = 0; i < n_notes; i++) print_note(out, &notes[i]);
  fprintf(out, "  \"velocity_floor\": %.17g\n}\n", p->velocity_floor);
  bool failed = ferror(out) != 0;
  if (fclose(out) != 0) failed = true;
  return !failed || complain(f, strerror(errno));
}

static bool write_folder(folder *f, const mlcp_problem *problem,
                         const double guess[], const mlcp_note notes[],
                         int n_notes) {
  if (!mlcp_stored_copy(f->stored, f->source, problem, guess))
    return complain(f, "no memory");
  if (!take_numbers(f)) return false;
  write_numbers(f);
  for (int i = 0; i < N_FILES; i++)
    if (!write_file(f, i)) return false;
  return write_description(f, notes, n_notes);
}

static folder start(const char *path, const memory_source *source,
                    mlcp_stored *stored, char *message, size_t message_size) {
  folder f = {.path = path,
              .source = source,
              .stored = stored,
              .message = message,
              .message_size = message_size};
  memset(stored, 0, sizeof *stored);
  if (message_size > 0) message[0] = '\0';
  snprintf(f.file, sizeof f.file, "%s", path);
  return f;
}

static void finish(folder *f) {
  matrix_market_release(&f->matrix, f->source);
  memory_block_release(&f->block, f->source);
}

bool mlcp_folder_write(const char *path, const mlcp_problem *problem,
                       const double guess[], const mlcp_note notes[],
                       int n_notes, const memory_source *source, char *message,
                       size_t message_size) {
  PLAIN_NUMBERS;
  mlcp_stored stored;
  folder f = start(path, source, &stored, message, message_size);
  if (mkdir(path, 0777) != 0 && errno != EEXIST)
    return complain(&f, strerror(errno));
  char file[MLCP_FOLDER_PATH];
  if (mlcp_folder_file(path, description, file)) unlink(file);
  bool written = write_folder(&f, problem, guess, notes, n_notes);
  finish(&f);
  mlcp_stored_release(&stored, source);
  // a disk that is full should not fill with pieces
  if (!written) remove_files(path);
  return written;
}

/* ---- the description ------------------------------------------------------------ */

/* The value of `"name":` in an object's text; NULL where there is none. */
static const char *value_of(const char *text, const char *name) {
  size_t length = strlen(name);
  for (const char *at = text; (at = strstr(at, name)) != NULL; at += length) {
    if (at == text || at[-1] != '"' || at[length] != '"') continue;
    const char *colon = at + length + 1 + strspn(at + length + 1, " \t\r\n");
    if (*colon == ':') return colon + 1 + strspn(colon + 1, " \t\r\n");
  }
  return NULL;
}

static bool complain_of_value(const folder *f, const char *text,
                              const char *value, const char *what) {
  int line = 1;
  for (; text < value; text++) line += *text == '\n';
  snprintf(f->message, f->message_size, "%s:%d: %s", f->file, line, what);
  return false;
}

/* A number of the description; NAN: it is none. */
static double number_at(const char *value) {
  size_t length = strcspn(value, " \t\r\n,}");
  char *end;
  double number = strtod(value, &end);
  // strtod knows more than JSON: hexadecimal, inf, nan
  bool plain = length > 0 && strspn(value, "+-.0123456789eE") == length;
  return plain && end == value + length ? number : NAN;
}

/* All of the file, 64 KB at most, and whether it is an object. */
static bool read_text(folder *f, char text[1 << 16]) {
  if (!name_file(f, description)) return false;
  FILE *file = fopen(f->file, "r");
  if (file == NULL) return complain(f, strerror(errno));
  size_t length = fread(text, 1, (1 << 16) - 1, file);
  bool failed = ferror(file) != 0;
  fclose(file);
  if (failed) return complain(f, strerror(errno));
  while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL) length--;
  text[length] = '\0';
  return (length > 1 && text[strspn(text, " \t\r\n")] == '{' &&
          text[length - 1] == '}') ||
         complain(f, "no object in braces of at most 64 KB");
}

/* Members may stand in any order among others. */
static bool read_description(folder *f, int counts[4], double *floor_of) {
  static const char *const names[] = {"bodies", "rows", "frictions", "pairs",
                                      "velocity_floor"};
  char text[1 << 16];
  if (!read_text(f, text)) return false;
  const char *format = value_of(text, "format");
  if (format == NULL) return complain(f, "no \"format\": \"" FORMAT "\"");
  if (strncmp(format, "\"" FORMAT "\"", sizeof FORMAT + 1) != 0)
    return complain_of_value(f, text, format,
                             "the format is not \"" FORMAT "\"");
  // no memory is taken for what the files cannot hold
  double size = (double)mlcp_folder_size(f->path);
  for (int i = 0; i < 5; i++) {
    char what[100];
    const char *value = value_of(text, names[i]);
    snprintf(what, sizeof what, "%s is missing", names[i]);
    if (value == NULL) return complain(f, what);
    double number = number_at(value);
    bool whole = number >= 0 && number <= 100e6 && number == floor(number);
    if (i < 4 ? !whole : !(number > 0 && isfinite(number))) {
      snprintf(what, sizeof what, "%s is not a %s", names[i],
               i < 4 ? "whole number from 0 to 100 million" : "number above 0");
      return complain_of_value(f, text, value, what);
    }
    if (i < 4 && number > size)
      return complain_of_value(f, text, value, "more than the files can hold");
    if (i < 4)
      counts[i] = (int)number;
    else
      *floor_of = number;
  }
  return true;
}

/* ---- reading -------------------------------------------------------------------- */

/* Puts every entry in its place: first a negative zero, which added to gives each
 * number all its bits, its sign too. */
static bool read_file(folder *f, int file) {
  matrix_market_release(&f->matrix, f->source);
  if (!name_file(f, files[file].name) ||
      !matrix_market_read(f->file, rows_of(f, file), columns_of(f, file),
                          f->source, &f->matrix, f->message, f->message_size))
    return false;
  for (int pass = 0; pass < 2; pass++)
    for (size_t k = 0; k < f->matrix.n_entries; k++) {
      const matrix_market_entry *entry = &f->matrix.entries[k];
      double *to = place_of(f, file, entry->row, entry->column);
      if (to == NULL && entry->value != 0) {
        char what[100];
        snprintf(what, sizeof what, "the entry in row %d, column %d must be 0",
                 entry->row + 1, entry->column + 1);
        return complain(f, what);
      }
      if (to == NULL) continue;
      *to = pass == 0 ? -0.0 : *to + entry->value;
    }
  return true;
}

/* The whole numbers of a table's row, each 0 .. highest; false with a message. */
static bool take_integers(const folder *f, int row, const double from[],
                          int count, const int highest[], int to[]) {
  for (int k = 0; k < count; k++) {
    double value = from[(size_t)row * (size_t)count + (size_t)k];
    if (!(value >= 0 && value <= highest[k] && value == floor(value))) {
      char what[100];
      snprintf(what, sizeof what,
               "row %d, column %d: %g is not a whole number, 0 .. %d", row + 1,
               k + 1, value, highest[k]);
      return complain(f, what);
    }
    to[k] = (int)value;
  }
  return true;
}

static bool read_row_numbers(const folder *f) {
  const mlcp_problem *p = &f->stored->problem;
  const int highest[] = {MLCP_ROW_FRICTION, p->n_bodies, p->n_bodies};
  for (int r = 0; r < p->n_rows; r++) {
    int numbers[ROW_NUMBERS];
    mlcp_row *row = &f->arrays.rows[r];
    if (!take_integers(f, r, f->row_numbers, ROW_NUMBERS, highest, numbers))
      return false;
    row->kind = (mlcp_row_kind)numbers[0];
    row->body[0] = numbers[1] - 1;
    row->body[1] = numbers[2] - 1;
  }
  return true;
}

static bool read_friction_numbers(const folder *f) {
  const mlcp_problem *p = &f->stored->problem;
  const int highest[] = {p->n_rows, p->n_rows, p->n_rows, p->n_pairs,
                         p->n_pairs};
  for (int i = 0; i < p->n_frictions; i++) {
    int numbers[FRICTION_NUMBERS];
    mlcp_friction *set = &f->arrays.frictions[i];
    if (!take_integers(f, i, f->friction_numbers, FRICTION_NUMBERS, highest,
                       numbers))
      return false;
    set->normal = numbers[0] - 1;
    set->first_row = numbers[1] - 1;
    set->n_base = numbers[2];
    set->first_pair = numbers[3] - 1;
    set->n_pairs = numbers[4];
  }
  return true;
}

static bool read_folder(folder *f) {
  int counts[4];
  double floor_of;
  if (!read_description(f, counts, &floor_of)) return false;
  mlcp_sizes sizes = {counts[0], counts[1], counts[2], counts[3]};
  if (!mlcp_stored_reserve(f->stored, f->source, &sizes))
    return complain(f, "no memory");
  if (!take_numbers(f)) return false;
  mlcp_problem *problem = &f->stored->problem;
  problem->velocity_floor = floor_of;
  for (int r = 0; r < problem->n_rows; r++) {
    f->arrays.rows[r].low = -INFINITY;
    f->arrays.rows[r].high = INFINITY;
  }
  for (int i = 0; i < N_FILES; i++)
    if (!read_file(f, i) || (i == ROWS && !read_row_numbers(f)) ||
        (i == FRICTIONS && !read_friction_numbers(f)))
      return false;
  // the problem as a whole, once every file is
  char what[200];
  if (mlcp_check(problem, what, sizeof what)) return true;
  snprintf(f->message, f->message_size, "%s: %s (numbers from 0)", f->path,
           what);
  return false;
}

bool mlcp_folder_read(const char *path, const memory_source *source,
                      mlcp_stored *stored, char *message, size_t message_size) {
  PLAIN_NUMBERS;
  folder f = start(path, source, stored, message, message_size);
  bool read = read_folder(&f);
  finish(&f);
  return read;
}
