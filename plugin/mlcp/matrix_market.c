#include "mlcp/matrix_market.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/number.h"

/* A file as words, which blanks and the ends of lines part; a % begins a comment. */
typedef struct reader {
  const char *path;
  FILE *file;
  long line;      /* of the last character, from 1 */
  bool line_ends; /* with that character */
  char word[400]; /* the format itself allows lines of 1024 characters */
  bool infinite;  /* numbers may be */
  bool coordinate, integer, symmetric, skew;
  bool lies; /* a row where a column is expected */
  int n_rows, n_columns;
  size_t n_listed; /* entries in the file */
  matrix_market *matrix;
  char *message;
  size_t message_size;
} reader;

/* ---- messages ---------------------------------------------------------- */

/* @param line  0: of the file as a whole
 * @return false */
__attribute__((format(printf, 3, 4))) static bool
complain(reader *r, long line, const char *format, ...) {
  char place[30] = "", what[300];
  if (line > 0) snprintf(place, sizeof place, "%ld:", line);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  snprintf(r->message, r->message_size, "%s:%s %s", r->path, place, what);
  return false;
}

/* "3 x any", "n x n" */
static void print_shape(char text[40], int n_rows, int n_columns) {
  char rows[16] = "any", columns[16] = "any";
  if (n_rows >= 0) snprintf(rows, sizeof rows, "%d", n_rows);
  if (n_columns >= 0) snprintf(columns, sizeof columns, "%d", n_columns);
  bool square = n_columns == MATRIX_MARKET_SQUARE;
  snprintf(text, 40, "%s x %s", square ? "n" : rows, square ? "n" : columns);
}

/* ---- words ------------------------------------------------------------- */

static int next_character(reader *r) {
  int c = getc_unlocked(r->file);
  if (c == EOF) return c;
  r->line += r->line_ends;
  r->line_ends = c == '\n';
  return c;
}

/* The first character of the next word. A word of the same line, or its end: '\n'. */
static int skip_blanks(reader *r, bool same_line) {
  int c;
  do {
    c = next_character(r);
    if (c == '%')
      while (c != '\n' && c != EOF) c = next_character(r);
  } while (c != EOF && isspace(c) && !(same_line && c == '\n'));
  return c;
}

/* r->word from its first character on. */
static bool read_word_from(reader *r, int c) {
  size_t length = 0;
  for (; c != EOF && c != 0 && !isspace(c) && length + 1 < sizeof r->word;
       c = next_character(r))
    r->word[length++] = (char)c;
  r->word[length] = '\0';
  if (c == 0) return complain(r, r->line, "a zero byte: this is no text file");
  if (length + 1 == sizeof r->word)
    return complain(r, r->line, "'%.40s..' is too long", r->word);
  if (c != EOF) ungetc(c, r->file);
  if (c == '\n') r->line_ends = false; // it comes again
  return true;
}

/* The next word; `what` is expected. */
static bool read_word(reader *r, bool same_line, const char *what) {
  int c = skip_blanks(r, same_line);
  if (c != EOF && c != '\n') return read_word_from(r, c);
  if (ferror(r->file)) return complain(r, 0, "%s", strerror(errno));
  return complain(r, r->line, "the %s ends where %s is expected",
                  same_line ? "line" : "file", what);
}

/* Nothing but blanks and comments up to the end of the line, or of the file. */
static bool read_end(reader *r, bool of_line) {
  int c = skip_blanks(r, of_line);
  if (c == EOF || c == '\n') return true;
  return read_word_from(r, c) &&
         complain(r, r->line, "'%.40s' after the %s entry", r->word,
                  of_line ? "line's" : "last");
}

static bool read_count(reader *r, bool same_line, const char *what,
                       size_t largest, size_t *count) {
  if (!read_word(r, same_line, what)) return false;
  char *end;
  errno = 0;
  unsigned long long value = strtoull(r->word, &end, 10);
  if (!isdigit((unsigned char)r->word[0]) || *end != 0)
    return complain(r, r->line, "'%.40s' where %s is expected", r->word, what);
  if (errno != 0 || value > largest)
    return complain(r, r->line, "%s is too large: %.40s", what, r->word);
  *count = (size_t)value;
  return true;
}

static bool read_number(reader *r, double *number) {
  if (!read_word(r, r->coordinate, "a number")) return false;
  char *end;
  *number = strtod(r->word, &end);
  if (*end != 0 || strpbrk(r->word, "xX") != NULL)
    return complain(r, r->line, "'%.40s' is not a number", r->word);
  if (isnan(*number) || (isinf(*number) && !r->infinite))
    return complain(r, r->line, "'%.40s' is not a finite number", r->word);
  if (r->integer && *number != floor(*number))
    return complain(r, r->line, "'%.40s' is not an integer", r->word);
  return true;
}

/* ---- the header -------------------------------------------------------- */

static bool read_banner(reader *r) {
  char words[5][40] = {"", "", "", "", ""};
  size_t length = 0;
  int c;
  while ((c = next_character(r)) != EOF && c != '\n' &&
         length + 1 < sizeof r->word)
    r->word[length++] = (char)c;
  r->word[length] = '\0';
  if (r->line == 0)
    return complain(r, 0, "%s",
                    ferror(r->file) ? strerror(errno) : "the file is empty");
  sscanf(r->word, "%39s %39s %39s %39s %39s", words[0], words[1], words[2],
         words[3], words[4]);
  r->coordinate = strcasecmp(words[2], "coordinate") == 0;
  r->integer = strcasecmp(words[3], "integer") == 0;
  r->symmetric = strcasecmp(words[4], "symmetric") == 0;
  r->skew = strcasecmp(words[4], "skew-symmetric") == 0;
  bool known =
      strcasecmp(words[0], "%%MatrixMarket") == 0 &&
      strcasecmp(words[1], "matrix") == 0 &&
      (r->coordinate || strcasecmp(words[2], "array") == 0) &&
      (r->integer || strcasecmp(words[3], "real") == 0 ||
       strcasecmp(words[3], "double") == 0) &&
      (r->symmetric || r->skew || strcasecmp(words[4], "general") == 0);
  return (known && c == '\n') ||
         complain(r, r->line,
                  "the first line must be '%%%%MatrixMarket matrix "
                  "array|coordinate real|integer "
                  "general|symmetric|skew-symmetric'");
}

static bool read_sizes(reader *r) {
  const size_t most = SIZE_MAX / 4 / sizeof(matrix_entry);
  size_t rows, columns;
  if (!read_count(r, false, "the number of rows", INT_MAX, &rows) ||
      !read_count(r, false, "the number of columns", INT_MAX, &columns))
    return false;
  r->n_rows = (int)rows;
  r->n_columns = (int)columns;
  if ((r->symmetric || r->skew) && rows != columns)
    return complain(r, r->line, "a symmetric matrix of %zu x %zu", rows,
                    columns);
  if (r->coordinate)
    return read_count(r, false, "the number of entries", most, &r->n_listed);
  return columns == 0 || rows <= most / columns ||
         complain(r, r->line, "%zu x %zu is too large", rows, columns);
}

/* Is the shape as expected? A row for a column is turned. */
static bool check_shape(reader *r, int n_rows, int n_columns) {
  int columns_wanted =
      n_columns == MATRIX_MARKET_SQUARE ? r->n_rows : n_columns;
  bool fits =
      (n_rows == MATRIX_MARKET_ANY || n_rows == r->n_rows) &&
      (columns_wanted == MATRIX_MARKET_ANY || columns_wanted == r->n_columns);
  r->lies = !fits && n_columns == 1 && r->n_rows == 1 &&
            (n_rows == MATRIX_MARKET_ANY || n_rows == r->n_columns);
  r->matrix->n_rows = r->lies ? r->n_columns : r->n_rows;
  r->matrix->n_columns = r->lies ? 1 : r->n_columns;
  if (fits || r->lies) return true;
  char shape[40];
  print_shape(shape, n_rows, n_columns);
  return complain(r, r->line, "the matrix is %d x %d, expected is %s",
                  r->n_rows, r->n_columns, shape);
}

/* ---- the entries ------------------------------------------------------- */

bool matrix_market_add(matrix_market *m, int row, int column, double value) {
  if (!POOL_GROW(&m->pool, m->entries, m->n_entries + 1)) return false;
  m->entries[m->n_entries++] = (matrix_entry){row, column, value};
  return true;
}

/* With room as entries come: a file's own count may be a lie. */
static bool add_entry(reader *r, int row, int column, double value) {
  return matrix_market_add(r->matrix, r->lies ? column : row,
                           r->lies ? row : column, value) ||
         complain(r, 0, "no memory for its entries");
}

static bool add_with_mirror(reader *r, int row, int column, double value) {
  if (!add_entry(r, row, column, value)) return false;
  if (row == column || !(r->symmetric || r->skew)) return true;
  return add_entry(r, column, row, r->skew ? -value : value);
}

static bool read_index(reader *r, bool same_line, const char *what, int count,
                       int *index) {
  size_t value;
  if (!read_count(r, same_line, what, INT_MAX, &value)) return false;
  if (value < 1 || value > (size_t)count)
    return complain(r, r->line, "%s is %zu, it must be 1 .. %d", what, value,
                    count);
  *index = (int)value - 1;
  return true;
}

/* An entry has a line of its own. */
static bool read_coordinates(reader *r) {
  for (size_t k = 0; k < r->n_listed; k++) {
    int row, column;
    double value;
    if (!read_index(r, false, "a row", r->n_rows, &row) ||
        !read_index(r, true, "a column", r->n_columns, &column) ||
        !read_number(r, &value))
      return false;
    if (r->skew && row == column && value != 0)
      return complain(r, r->line, "a skew-symmetric matrix with a diagonal");
    if (!read_end(r, true) || !add_with_mirror(r, row, column, value))
      return false;
  }
  return true;
}

/* Column after column; of a symmetric matrix the lower triangle. */
static bool read_array(reader *r) {
  bool lower = r->symmetric || r->skew;
  for (int column = 0; column < r->n_columns; column++)
    for (int row = lower ? column + r->skew : 0; row < r->n_rows; row++) {
      double value;
      if (!read_number(r, &value) || !add_with_mirror(r, row, column, value))
        return false;
    }
  return true;
}

bool matrix_market_read(const char *path, int n_rows, int n_columns,
                        bool infinite, const memory_source *source,
                        matrix_market *matrix, char *message,
                        size_t message_size) {
  PLAIN_NUMBERS;
  char nothing[1];
  reader r = {.path = path,
              .line_ends = true,
              .infinite = infinite,
              .matrix = matrix,
              .message = message_size > 0 ? message : nothing,
              .message_size = message_size > 0 ? message_size : 1};
  r.message[0] = '\0';
  memset(matrix, 0, sizeof *matrix);
  memory_pool_open(&matrix->pool, source);
  r.file = fopen(path, "r");
  if (r.file == NULL) return complain(&r, 0, "%s", strerror(errno));
  bool read = read_banner(&r) && read_sizes(&r) &&
              check_shape(&r, n_rows, n_columns) &&
              (r.coordinate ? read_coordinates(&r) : read_array(&r)) &&
              read_end(&r, false);
  fclose(r.file);
  return read;
}

void matrix_market_to_dense(const matrix_market *matrix, double dense[]) {
  size_t n_columns = (size_t)matrix->n_columns;
  memset(dense, 0, (size_t)matrix->n_rows * n_columns * sizeof *dense);
  for (size_t k = 0; k < matrix->n_entries; k++) {
    const matrix_entry *entry = &matrix->entries[k];
    dense[(size_t)entry->row * n_columns + (size_t)entry->column] +=
        entry->value;
  }
}

void matrix_market_release(matrix_market *matrix) {
  memory_pool_release(&matrix->pool);
  memset(matrix, 0, sizeof *matrix);
}

/* ---- writing ----------------------------------------------------------- */

bool matrix_market_write(const char *path, const matrix_market *matrix,
                         char *message, size_t message_size) {
  PLAIN_NUMBERS;
  reader w = {.path = path, .message = message, .message_size = message_size};
  if (message_size > 0) message[0] = '\0';
  FILE *file = fopen(path, "w");
  if (file == NULL) return complain(&w, 0, "%s", strerror(errno));
  fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%d %d %zu\n",
          matrix->n_rows, matrix->n_columns, matrix->n_entries);
  for (size_t k = 0; k < matrix->n_entries; k++)
    fprintf(file, "%d %d %.17g\n", matrix->entries[k].row + 1,
            matrix->entries[k].column + 1, matrix->entries[k].value);
  bool failed = ferror(file) != 0;
  if (fclose(file) != 0) failed = true;
  return !failed || complain(&w, 0, "%s", strerror(errno));
}
