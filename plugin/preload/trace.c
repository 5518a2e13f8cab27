#include "preload/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"

#define ROW_SIZE 3072 // its head is longer than a row
#define DIGITS 12

/* A comma goes before each column; the first is not written. */
#define FIELD(name, field) "," name
#define RECORDED(name, recorded, meaning) "," name
static const char head[] = ODE_MLCP_TRACE(FIELD, RECORDED) "\n";
#undef FIELD
#undef RECORDED

/* The descriptor may be another file's by now: daemons close all they find. */
static int open_table(const char *path) {
  static int table = -1;
  static struct stat ours;
  struct stat there;
  if (table >= 0 && fstat(table, &there) == 0 && there.st_ino == ours.st_ino &&
      there.st_dev == ours.st_dev)
    return table;
  table =
      open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
  if (table >= 0) fstat(table, &ours);
  return table;
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

static int write_row(int table, text row) {
  // a row that does not fit is not there
  off_t end = lseek(table, 0, SEEK_END);
  row.data++, row.used--;
  int error = text_write(&row, table);
  if (error == 0 || end < 0 || ftruncate(table, end) == 0) return error;
  return error;
}

int trace_add(const char *path, bool has_head, const ode_mlcp_report *report,
              long world) {
  char data[ROW_SIZE];
  text row;
  int table = open_table(path);
  if (table < 0) return errno;
  text_start(&row, data, sizeof data);
  if (!has_head) {
    text_add(&row, head);
    int error = write_row(table, row);
    if (error != 0) return error;
  }
  text_start(&row, data, sizeof data);
  ODE_MLCP_TRACE(FIELD, RECORDED)
  text_add(&row, "\n");
  return write_row(table, row);
}
