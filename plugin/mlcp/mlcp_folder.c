#include "mlcp/mlcp_folder.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/number.h"
#include "mlcp/matrix_market.h"

/* The files, and what their description says of them. */
static const struct {
  const char *name, *what;
} files[] = {
    {"M.mtx",
     "6 bodies x 6 bodies: mass matrices, kg and kg m^2, in 6 x 6 "
     "blocks"},
    {"Minv.mtx", "6 bodies x 6 bodies: their inverses, 1/kg and 1/(kg m^2)"},
    {"v_free.mtx", "6 bodies x 1: velocities with no impulse, m/s then rad/s"},
    {"J.mtx", "rows x 6 bodies: Jacobian, per body linear then angular"},
    {"rows.mtx",
     "rows x 5: kind (0 joint, 1 normal, 2 friction), first and "
     "second body from 1 (0 none), bias m/s or rad/s, compliance "
     "1/kg"},
    {"bounds.mtx",
     "rows x 2: lowest and highest impulse, N s or N m s; none "
     "where there is no entry"},
    {"frictions.mtx",
     "frictions x 7: normal row from 1 (0 none), first base "
     "row from 1, base rows, first pair from 1, pairs, "
     "coefficient, constant limit N s"},
    {"pairs.mtx", "pairs x 2: an edge along the base rows"},
    {"guess.mtx",
     "rows x 1: impulses to start from, N s or N m s; none where "
     "there is no entry"}};

enum { N_FILES = sizeof files / sizeof *files };

static const char description[] = "problem.json";

bool mlcp_folder_file(const char *path, const char *name,
                      char file[MLCP_FOLDER_PATH]) {
  int length = snprintf(file, MLCP_FOLDER_PATH, "%s/%s", path, name);
  return length >= 0 && length < MLCP_FOLDER_PATH;
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

/* ---- writing ------------------------------------------------------------------ */

typedef struct writer {
  const char *path;
  const mlcp_problem *problem;
  const memory_source *source;
  matrix_market matrix; /* the file in hand */
  bool no_memory;
  char *message;
  size_t message_size;
} writer;

static bool complain(const writer *w, const char *file, const char *what) {
  snprintf(w->message, w->message_size, "%s: %s", file, what);
  return false;
}

static void start_matrix(writer *w, int n_rows, int n_columns) {
  w->matrix.n_rows = n_rows;
  w->matrix.n_columns = n_columns;
  w->matrix.n_entries = 0;
}

static void add(writer *w, int row, int column, double value) {
  matrix_market *m = &w->matrix;
  m->entries = memory_block_grow(&m->block, w->source, m->n_entries + 1,
                                 sizeof *m->entries);
  w->no_memory |= m->entries == NULL;
  if (w->no_memory) return;
  m->entries[m->n_entries++] = (matrix_market_entry){row, column, value};
}

/* An entry that has bits: a negative zero too. */
static void add_set(writer *w, int row, int column, double value) {
  if (value != 0 || signbit(value)) add(w, row, column, value);
}

static bool write_matrix(writer *w, const char *name) {
  char file[MLCP_FOLDER_PATH];
  if (!mlcp_folder_file(w->path, name, file))
    return complain(w, w->path, "the path is too long");
  if (w->no_memory) return complain(w, file, "no memory");
  return matrix_market_write_entries(file, &w->matrix, w->message,
                                     w->message_size);
}

static bool write_bodies(writer *w) {
  const mlcp_problem *p = w->problem;
  int n = 6 * p->n_bodies;
  for (int inverse = 0; inverse < 2; inverse++) {
    start_matrix(w, n, n);
    for (int b = 0; b < p->n_bodies; b++)
      for (int k = 0; k < 36; k++)
        add_set(w, 6 * b + k / 6, 6 * b + k % 6,
                inverse ? p->bodies[b].inverse_mass[k] : p->bodies[b].mass[k]);
    if (!write_matrix(w, inverse ? "Minv.mtx" : "M.mtx")) return false;
  }
  start_matrix(w, n, 1);
  for (int i = 0; i < n; i++) add_set(w, i, 0, p->bodies[i / 6].v_free[i % 6]);
  return write_matrix(w, "v_free.mtx");
}

static bool write_rows(writer *w) {
  const mlcp_problem *p = w->problem;
  start_matrix(w, p->n_rows, 6 * p->n_bodies);
  for (int r = 0; r < p->n_rows; r++)
    for (int side = 0; side < 2; side++)
      for (int k = 0; k < 6 && p->rows[r].body[side] >= 0; k++)
        add_set(w, r, 6 * p->rows[r].body[side] + k, p->rows[r].J[side][k]);
  if (!write_matrix(w, "J.mtx")) return false;

  start_matrix(w, p->n_rows, MLCP_ROW_COLUMNS);
  for (int r = 0; r < p->n_rows; r++) {
    const mlcp_row *row = &p->rows[r];
    double columns[MLCP_ROW_COLUMNS] = {row->kind, row->body[0] + 1,
                                        row->body[1] + 1, row->bias,
                                        row->compliance};
    for (int k = 0; k < MLCP_ROW_COLUMNS; k++) add(w, r, k, columns[k]);
  }
  if (!write_matrix(w, "rows.mtx")) return false;

  // an entry of 0 is a bound at 0, so all finite ones are written
  start_matrix(w, p->n_rows, 2);
  for (int r = 0; r < p->n_rows; r++) {
    if (isfinite(p->rows[r].low)) add(w, r, 0, p->rows[r].low);
    if (isfinite(p->rows[r].high)) add(w, r, 1, p->rows[r].high);
  }
  return write_matrix(w, "bounds.mtx");
}

static bool write_frictions(writer *w) {
  const mlcp_problem *p = w->problem;
  start_matrix(w, p->n_frictions, MLCP_FRICTION_COLUMNS);
  for (int f = 0; f < p->n_frictions; f++) {
    const mlcp_friction *set = &p->frictions[f];
    double columns[MLCP_FRICTION_COLUMNS] = {
        set->normal + 1, set->first_row + 1, set->n_base, set->first_pair + 1,
        set->n_pairs,    set->coefficient,   set->limit};
    for (int k = 0; k < MLCP_FRICTION_COLUMNS; k++)
      add_set(w, f, k, columns[k]);
  }
  if (!write_matrix(w, "frictions.mtx")) return false;

  start_matrix(w, p->n_pairs, 2);
  for (int k = 0; k < p->n_pairs; k++)
    for (int i = 0; i < 2; i++) add_set(w, k, i, p->pairs[k].u[i]);
  return write_matrix(w, "pairs.mtx");
}

static bool write_guess(writer *w, const double guess[]) {
  start_matrix(w, w->problem->n_rows, 1);
  for (int r = 0; r < w->problem->n_rows; r++)
    if (guess != NULL && isfinite(guess[r])) add(w, r, 0, guess[r]);
  return write_matrix(w, "guess.mtx");
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

static bool write_description(writer *w, const mlcp_note notes[], int n_notes) {
  char file[MLCP_FOLDER_PATH];
  const mlcp_problem *p = w->problem;
  if (!mlcp_folder_file(w->path, description, file))
    return complain(w, w->path, "the path is too long");
  FILE *out = fopen(file, "w");
  if (out == NULL) return complain(w, file, strerror(errno));

  fputs("{\n  \"format\": \"" MLCP_FOLDER_FORMAT "\",\n", out);
  fprintf(out,
          "  \"bodies\": %d,\n  \"rows\": %d,\n  \"frictions\": %d,\n"
          "  \"pairs\": %d,\n  \"velocity_floor\": %.17g,\n",
          p->n_bodies, p->n_rows, p->n_frictions, p->n_pairs,
          p->velocity_floor);
  for (int i = 0; i < n_notes; i++) print_note(out, &notes[i]);
  for (int i = 0; i < N_FILES; i++)
    fprintf(out, "  \"%s\": \"%s\"%s\n", files[i].name, files[i].what,
            i + 1 < N_FILES ? "," : "");
  fputs("}\n", out);
  bool failed = ferror(out) != 0;
  if (fclose(out) != 0) failed = true;
  return !failed || complain(w, file, strerror(errno));
}

bool mlcp_folder_write(const char *path, const mlcp_problem *problem,
                       const double guess[], const mlcp_note notes[],
                       int n_notes, const memory_source *source, char *message,
                       size_t message_size) {
  PLAIN_NUMBERS;
  writer w = {.path = path,
              .problem = problem,
              .source = source,
              .message = message,
              .message_size = message_size};
  if (message_size > 0) message[0] = '\0';
  if (mkdir(path, 0777) != 0 && errno != EEXIST)
    return complain(&w, path, strerror(errno));
  char file[MLCP_FOLDER_PATH];
  if (mlcp_folder_file(path, description, file)) unlink(file);
  bool written = write_bodies(&w) && write_rows(&w) && write_frictions(&w) &&
                 write_guess(&w, guess) &&
                 write_description(&w, notes, n_notes);
  memory_block_release(&w.matrix.block, source);
  // a disk that is full should not fill with pieces
  if (!written) remove_files(path);
  return written;
}
