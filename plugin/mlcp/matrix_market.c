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

#include "common/number.h"

/* Longest line that is read; the format itself allows 1024 characters. */
#define LONGEST_LINE 4096

typedef struct reader {
  const char *path;
  FILE *file;
  long line;
  char text[LONGEST_LINE];
  char *next;    /* unread part of `text` */
  bool too_long; /* of the line: `text` is only its start */
  bool not_text; /* it has a zero byte */
  bool infinite; /* numbers may be */
  char *message;
  size_t message_size;
} reader;

typedef struct header {
  bool coordinate, integer, symmetric, skew;
  int n_rows, n_columns;
  size_t n_listed; /* entries in the file */
} header;

/* ---- messages ---------------------------------------------------------- */

static bool complain(reader *reader, bool with_line, const char *format, ...) {
  if (reader->message_size == 0) return false;
  int used = with_line ? snprintf(reader->message, reader->message_size,
                                  "%s:%ld: ", reader->path, reader->line)
                       : snprintf(reader->message, reader->message_size,
                                  "%s: ", reader->path);
  if (used < 0 || (size_t)used >= reader->message_size) return false;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reader->message + used, reader->message_size - (size_t)used, format,
            arguments);
  va_end(arguments);
  return false;
}

/* ---- words and lines --------------------------------------------------- */

/* Read the next line; false at the end of the file. */
static bool next_line(reader *reader) {
  size_t length = 0;
  int c;
  while ((c = getc_unlocked(reader->file)) != EOF && c != 0 &&
         length + 1 < sizeof reader->text) {
    reader->text[length++] = (char)c;
    if (c == '\n') break;
  }
  reader->text[length] = 0;
  reader->not_text = c == 0;
  reader->too_long = c != EOF && c != 0 && c != '\n';
  if (c == EOF && length == 0) return false;
  reader->line++;
  reader->next = reader->text;
  return true;
}

static bool line_is_whole(reader *reader) {
  if (reader->not_text)
    return complain(reader, true, "a zero byte: this is no text file");
  return !reader->too_long ||
         complain(reader, true, "a line of more than %d characters",
                  LONGEST_LINE - 2);
}

/* The next word of the line, cut off; NULL when there is none. */
static char *next_word(reader *reader) {
  char *word = reader->next;
  while (isspace((unsigned char)*word)) word++;
  if (*word == 0) return NULL;
  char *end = word;
  while (*end != 0 && !isspace((unsigned char)*end)) end++;
  if (*end != 0) *end++ = 0;
  reader->next = end;
  return word;
}

/* The next word that is not in a comment or an empty line, over as many lines
 * as it takes. `what` is expected. */
static char *next_datum(reader *reader, const char *what) {
  for (;;) {
    char *word = reader->next != NULL ? next_word(reader) : NULL;
    if (word != NULL && *word != '%') return word;
    if (!next_line(reader)) {
      if (ferror(reader->file))
        complain(reader, false, "%s", strerror(errno));
      else
        complain(reader, true, "the file ends where %s is expected", what);
      return NULL;
    }
    if (!line_is_whole(reader)) return NULL;
  }
}

/* The next word of an entry, which has a line of its own. */
static char *next_of_line(reader *reader, const char *what) {
  char *word = next_word(reader);
  if (word != NULL && *word != '%') return word;
  complain(reader, true, "the line ends where %s is expected", what);
  return NULL;
}

static bool line_ends(reader *reader) {
  char *word = next_word(reader);
  if (word != NULL && *word != '%')
    return complain(reader, true, "'%.40s' after the line's entry", word);
  reader->next = NULL;
  return true;
}

static bool take_count(reader *reader, const char *word, const char *what,
                       size_t largest, size_t *count) {
  if (word == NULL) return false;
  char *end;
  errno = 0;
  unsigned long long value = strtoull(word, &end, 10);
  if (!isdigit((unsigned char)*word) || *end != 0)
    return complain(reader, true, "'%.40s' where %s is expected", word, what);
  if (errno != 0 || value > largest)
    return complain(reader, true, "%s is too large: %.40s", what, word);
  *count = (size_t)value;
  return true;
}

static bool read_count(reader *reader, const char *what, size_t largest,
                       size_t *count) {
  return take_count(reader, next_datum(reader, what), what, largest, count);
}

static bool take_number(reader *reader, const char *word, bool integer,
                        double *number) {
  if (word == NULL) return false;
  char *end;
  *number = strtod(word, &end);
  if (end == word || *end != 0 || strpbrk(word, "xX") != NULL)
    return complain(reader, true, "'%.40s' is not a number", word);
  if (isnan(*number) || (isinf(*number) && !reader->infinite))
    return complain(reader, true, "'%.40s' is not a finite number", word);
  if (integer && *number != floor(*number))
    return complain(reader, true, "'%.40s' is not an integer", word);
  return true;
}

/* ---- the header -------------------------------------------------------- */

static bool same_word(const char *a, const char *b) {
  for (; *a != 0 && *b != 0; a++, b++)
    if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) return false;
  return *a == *b;
}

static bool read_banner(reader *reader, header *header) {
  const char *wanted =
      "the first line must be '%%MatrixMarket matrix array|coordinate "
      "real|integer general|symmetric|skew-symmetric'";
  if (!next_line(reader))
    return complain(
        reader, false, "%s",
        ferror(reader->file) ? strerror(errno) : "the file is empty");
  if (!line_is_whole(reader)) return false;
  const char *words[5];
  for (int i = 0; i < 5; i++) {
    words[i] = next_word(reader);
    if (words[i] == NULL) return complain(reader, true, "%s", wanted);
  }
  header->coordinate = same_word(words[2], "coordinate");
  header->integer = same_word(words[3], "integer");
  header->symmetric = same_word(words[4], "symmetric");
  header->skew = same_word(words[4], "skew-symmetric");
  bool known =
      same_word(words[0], "%%MatrixMarket") && same_word(words[1], "matrix") &&
      (header->coordinate || same_word(words[2], "array")) &&
      (header->integer || same_word(words[3], "real") ||
       same_word(words[3], "double")) &&
      (header->symmetric || header->skew || same_word(words[4], "general"));
  reader->next = NULL;
  return known || complain(reader, true, "%s", wanted);
}

static bool read_sizes(reader *reader, header *header) {
  size_t rows, columns;
  if (!read_count(reader, "the number of rows", INT_MAX, &rows) ||
      !read_count(reader, "the number of columns", INT_MAX, &columns))
    return false;
  header->n_rows = (int)rows;
  header->n_columns = (int)columns;
  if ((header->symmetric || header->skew) && rows != columns)
    return complain(reader, true, "a symmetric matrix of %zu x %zu", rows,
                    columns);
  if (header->coordinate)
    return read_count(reader, "the number of entries",
                      SIZE_MAX / 4 / sizeof(matrix_market_entry),
                      &header->n_listed);
  if (columns > 0 &&
      rows > SIZE_MAX / 4 / sizeof(matrix_market_entry) / columns)
    return complain(reader, true, "%zu x %zu is too large", rows, columns);
  header->n_listed = header->symmetric ? rows * (rows + 1) / 2
                     : header->skew    ? rows * (rows > 0 ? rows - 1 : 0) / 2
                                       : rows * columns;
  return true;
}

static void print_size(char *text, size_t size, int count) {
  if (count == MATRIX_MARKET_ANY)
    snprintf(text, size, "any");
  else
    snprintf(text, size, "%d", count);
}

/* "3 x any", "n x n" */
static void print_shape(char text[40], int n_rows, int n_columns) {
  char rows[16], columns[16];
  print_size(rows, sizeof rows, n_rows);
  print_size(columns, sizeof columns, n_columns);
  if (n_columns == MATRIX_MARKET_SQUARE)
    strcpy(text, "n x n");
  else
    snprintf(text, 40, "%s x %s", rows, columns);
}

/* Is the shape as expected? A row for a column is taken, see turn_vector. */
static bool check_shape(reader *reader, const header *header, int n_rows,
                        int n_columns) {
  int columns_wanted =
      n_columns == MATRIX_MARKET_SQUARE ? header->n_rows : n_columns;
  bool fits = (n_rows == MATRIX_MARKET_ANY || n_rows == header->n_rows) &&
              (columns_wanted == MATRIX_MARKET_ANY ||
               columns_wanted == header->n_columns);
  bool lies = n_columns == 1 && header->n_rows == 1 &&
              (n_rows == MATRIX_MARKET_ANY || n_rows == header->n_columns);
  if (fits || lies) return true;
  char shape[40];
  print_shape(shape, n_rows, n_columns);
  return complain(reader, true, "the matrix is %d x %d, expected is %s",
                  header->n_rows, header->n_columns, shape);
}

/* End a message on something else with the shape expected. */
static void name_shape(reader *reader, int n_rows, int n_columns) {
  if (n_rows == MATRIX_MARKET_ANY && n_columns == MATRIX_MARKET_ANY) return;
  if (strstr(reader->message, "expected is") != NULL) return;
  char shape[40];
  print_shape(shape, n_rows, n_columns);
  size_t used = strlen(reader->message);
  snprintf(reader->message + used, reader->message_size - used,
           " (expected is %s)", shape);
}

/* ---- the entries ------------------------------------------------------- */

static bool add_entry(reader *reader, matrix_market *matrix,
                      const memory_source *source, int row, int column,
                      double value) {
  // room as entries come: a file's own count may be a lie
  matrix->entries = memory_block_grow(
      &matrix->block, source, matrix->n_entries + 1, sizeof *matrix->entries);
  if (matrix->entries == NULL)
    return complain(reader, false, "no memory for its entries");
  matrix->entries[matrix->n_entries++] =
      (matrix_market_entry){row, column, value};
  return true;
}

static bool add_with_mirror(reader *reader, matrix_market *matrix,
                            const memory_source *source, const header *header,
                            int row, int column, double value) {
  if (!add_entry(reader, matrix, source, row, column, value)) return false;
  if (row == column || !(header->symmetric || header->skew)) return true;
  return add_entry(reader, matrix, source, column, row,
                   header->skew ? -value : value);
}

static bool take_index(reader *reader, const char *word, const char *what,
                       int count, int *index) {
  size_t value;
  if (!take_count(reader, word, what, INT_MAX, &value)) return false;
  if (value < 1 || value > (size_t)count)
    return complain(reader, true, "%s is %zu, it must be 1 .. %d", what, value,
                    count);
  *index = (int)value - 1;
  return true;
}

static bool read_coordinates(reader *reader, const header *header,
                             const memory_source *source,
                             matrix_market *matrix) {
  for (size_t k = 0; k < header->n_listed; k++) {
    int row, column;
    double value;
    if (!take_index(reader, next_datum(reader, "a row"), "a row",
                    header->n_rows, &row) ||
        !take_index(reader, next_of_line(reader, "a column"), "a column",
                    header->n_columns, &column) ||
        !take_number(reader, next_of_line(reader, "a number"), header->integer,
                     &value) ||
        !line_ends(reader))
      return false;
    if (header->skew && row == column && value != 0)
      return complain(reader, true, "a skew-symmetric matrix with a diagonal");
    if (!add_with_mirror(reader, matrix, source, header, row, column, value))
      return false;
  }
  return true;
}

/* Column after column; of a symmetric matrix the lower triangle. */
static bool read_array(reader *reader, const header *header,
                       const memory_source *source, matrix_market *matrix) {
  bool lower = header->symmetric || header->skew;
  for (int column = 0; column < header->n_columns; column++)
    for (int row = lower ? column + header->skew : 0; row < header->n_rows;
         row++) {
      double value;
      if (!take_number(reader, next_datum(reader, "a number"), header->integer,
                       &value) ||
          !add_with_mirror(reader, matrix, source, header, row, column, value))
        return false;
    }
  return true;
}

static bool nothing_follows(reader *reader) {
  for (;;) {
    char *word = reader->next != NULL ? next_word(reader) : NULL;
    if (word != NULL && *word != '%')
      return complain(reader, true, "'%.40s' after the last entry", word);
    if (!next_line(reader)) return true;
    if (!line_is_whole(reader)) return false;
  }
}

/* Turn a row where a column is expected. */
static void turn_vector(matrix_market *matrix, int n_columns) {
  if (n_columns != 1 || matrix->n_columns == 1) return;
  for (size_t k = 0; k < matrix->n_entries; k++)
    matrix->entries[k].row = matrix->entries[k].column;
  for (size_t k = 0; k < matrix->n_entries; k++) matrix->entries[k].column = 0;
  matrix->n_rows = matrix->n_columns;
  matrix->n_columns = 1;
}

static bool read_all(reader *reader, int n_rows, int n_columns,
                     const memory_source *source, matrix_market *matrix) {
  header header = {0};
  if (!read_banner(reader, &header) || !read_sizes(reader, &header) ||
      !check_shape(reader, &header, n_rows, n_columns))
    return false;
  matrix->n_rows = header.n_rows;
  matrix->n_columns = header.n_columns;
  bool whole = header.coordinate
                   ? read_coordinates(reader, &header, source, matrix)
                   : read_array(reader, &header, source, matrix);
  if (!whole || !nothing_follows(reader)) return false;
  turn_vector(matrix, n_columns);
  return true;
}

static bool read_path(const char *path, bool infinite, int n_rows,
                      int n_columns, const memory_source *source,
                      matrix_market *matrix, char *message,
                      size_t message_size) {
  PLAIN_NUMBERS;
  memset(matrix, 0, sizeof *matrix);
  if (message_size > 0) message[0] = 0;
  reader reader = {.path = path,
                   .infinite = infinite,
                   .message = message,
                   .message_size = message_size};
  reader.file = fopen(path, "r");
  if (reader.file == NULL) {
    complain(&reader, false, "%s", strerror(errno));
    if (message_size > 0) name_shape(&reader, n_rows, n_columns);
    return false;
  }
  bool read = read_all(&reader, n_rows, n_columns, source, matrix);
  fclose(reader.file);
  if (!read && message_size > 0) name_shape(&reader, n_rows, n_columns);
  return read;
}

bool matrix_market_read(const char *path, int n_rows, int n_columns,
                        const memory_source *source, matrix_market *matrix,
                        char *message, size_t message_size) {
  return read_path(path, false, n_rows, n_columns, source, matrix, message,
                   message_size);
}

bool matrix_market_read_limits(const char *path, int n_rows, int n_columns,
                               const memory_source *source,
                               matrix_market *matrix, char *message,
                               size_t message_size) {
  return read_path(path, true, n_rows, n_columns, source, matrix, message,
                   message_size);
}

void matrix_market_to_dense(const matrix_market *matrix, double dense[]) {
  size_t n_columns = (size_t)matrix->n_columns;
  memset(dense, 0, (size_t)matrix->n_rows * n_columns * sizeof *dense);
  for (size_t k = 0; k < matrix->n_entries; k++) {
    const matrix_market_entry *entry = &matrix->entries[k];
    dense[(size_t)entry->row * n_columns + (size_t)entry->column] +=
        entry->value;
  }
}

void matrix_market_release(matrix_market *matrix, const memory_source *source) {
  memory_block_release(&matrix->block, source);
  memset(matrix, 0, sizeof *matrix);
}

/* ---- writing ----------------------------------------------------------- */

static bool finish(reader *writer) {
  bool failed = ferror(writer->file) != 0;
  if (fclose(writer->file) != 0) failed = true;
  return failed ? complain(writer, false, "%s", strerror(errno)) : true;
}

static bool start(reader *writer, const char *path, char *message,
                  size_t message_size) {
  memset(writer, 0, sizeof *writer);
  writer->path = path;
  writer->message = message;
  writer->message_size = message_size;
  if (message_size > 0) message[0] = 0;
  writer->file = fopen(path, "w");
  return writer->file != NULL || complain(writer, false, "%s", strerror(errno));
}

bool matrix_market_write_dense(const char *path, int n_rows, int n_columns,
                               const double dense[], char *message,
                               size_t message_size) {
  PLAIN_NUMBERS;
  reader writer;
  if (!start(&writer, path, message, message_size)) return false;
  fprintf(writer.file, "%%%%MatrixMarket matrix array real general\n%d %d\n",
          n_rows, n_columns);
  for (int column = 0; column < n_columns; column++)
    for (int row = 0; row < n_rows; row++)
      fprintf(writer.file, "%.17g\n",
              dense[(size_t)row * (size_t)n_columns + (size_t)column]);
  return finish(&writer);
}

bool matrix_market_write_entries(const char *path, const matrix_market *matrix,
                                 char *message, size_t message_size) {
  PLAIN_NUMBERS;
  reader writer;
  if (!start(&writer, path, message, message_size)) return false;
  fprintf(writer.file,
          "%%%%MatrixMarket matrix coordinate real general\n%d %d %zu\n",
          matrix->n_rows, matrix->n_columns, matrix->n_entries);
  for (size_t k = 0; k < matrix->n_entries; k++)
    fprintf(writer.file, "%d %d %.17g\n", matrix->entries[k].row + 1,
            matrix->entries[k].column + 1, matrix->entries[k].value);
  return finish(&writer);
}
