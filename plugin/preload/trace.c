#include "preload/trace.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"
#include "preload/output_file.h"

#define ROW_SIZE 2048
#define DIGITS 12

static int table = -1; /* descriptor */
static bool has_offsets;
static off_t end; /* of the whole rows in the file */

/* A comma goes before each column; the first is not written. */
#define FIELD(name, field) "," name
#define RECORDED(name, recorded, meaning) "," name
static const char header[] = ODE_MLCP_TRACE(FIELD, RECORDED) "\n";
#undef FIELD
#undef RECORDED

/* At once: the next step may take minutes, and a signal may end it. A row to a
 * place of its own is whole or, where it does not fit, not there. */
static int keep(const char *row, size_t length) {
  if (!has_offsets) {
    text words = {(char *)row, length, length, 0};
    return text_write(&words, table);
  }
  for (size_t written = 0; written < length;) {
    ssize_t n =
        pwrite(table, row + written, length - written, end + (off_t)written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      int error = n < 0 ? errno : EIO;
      return ftruncate(table, end) == 0 ? error : errno;
    }
    written += (size_t)n;
  }
  end += (off_t)length;
  return 0;
}

int trace_open(const char *path) {
  table = output_file_open(path);
  if (table < 0) return errno;

  struct stat file;
  has_offsets = output_file_is_plain(path) && fstat(table, &file) == 0 &&
                S_ISREG(file.st_mode);
  end = 0;
  int error = keep(header + 1, sizeof header - 2);
  if (error != 0) trace_forget();
  return error;
}

static void add_integer(text *row, long value) {
  text_add(row, ",");
  text_add_integer(row, value);
}

static void add_number(text *row, double value) {
  text_add(row, ",");
  text_add_number(row, value, DIGITS);
}

#define ADD(value)                                                             \
  _Generic((value), double : add_number, default : add_integer)(&row, (value));
#define FIELD(name, field) ADD(report->field)
#define RECORDED(name, recorded, meaning) ADD(recorded)

int trace_add(const ode_mlcp_report *report, long world) {
  char data[ROW_SIZE];
  text row;
  if (table < 0) return 0;

  text_start(&row, data, sizeof data);
  ODE_MLCP_TRACE(FIELD, RECORDED)
  text_add(&row, "\n");

  int error = keep(row.data + 1, row.used - 1);
  if (error != 0) trace_forget();
  return error;
}

void trace_forget(void) {
  if (table >= 0) close(table);
  table = -1;
}
