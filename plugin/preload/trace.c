#include "preload/trace.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/text.h"
#include "preload/output_file.h"

#define CHUNK_SIZE 65536
#define ROW_SIZE 1024
#define DIGITS 12

/* Rows not yet known to be in the file, and their place in it. Two take turns:
 * the current one only grows and is written to a place of its own, so that a
 * signal at any point can write it once more without harm. */
typedef struct chunk {
  char data[CHUNK_SIZE];
  atomic_size_t used;
  off_t offset;
} chunk;

static chunk chunks[2];
static atomic_int current;
static int table = -1; /* descriptor */
static bool has_offsets;

/* A comma goes before each column; the first is not written. */
#define FIELD(name, field) "," name
#define RECORDED(name, recorded, meaning) "," name
static const char header[] = ODE_MLCP_TRACE(FIELD, RECORDED) "\n";
#undef FIELD
#undef RECORDED

static int write_chunk(chunk *rows) {
  size_t used = atomic_load(&rows->used);
  if (!has_offsets) {
    text words = {rows->data, used, used, 0};
    return text_write(&words, table);
  }
  for (size_t written = 0; written < used;) {
    ssize_t n = pwrite(table, rows->data + written, used - written,
                       rows->offset + (off_t)written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    written += (size_t)n;
  }
  return 0;
}

static int keep(const char *row, size_t length) {
  int index = atomic_load(&current);
  chunk *rows = &chunks[index];
  size_t used = atomic_load(&rows->used);

  if (used + length > CHUNK_SIZE) {
    int error = write_chunk(rows);
    if (error != 0) return error;
    chunk *next = &chunks[1 - index];
    next->offset = rows->offset + (off_t)used;
    atomic_store(&next->used, 0);
    atomic_store(&current, 1 - index);
    rows = next;
    used = 0;
  }
  memcpy(rows->data + used, row, length);
  atomic_store(&rows->used, used + length);
  return 0;
}

/* Let a reader see the rows while the next step goes on, which may take minutes:
 * a chunk is written again from its start when it is full or the run ends. */
static int show(void) {
  const double PAUSE = 1e-3; // s, so that short steps do not pay for it
  static double last;
  static int last_index;
  static size_t shown;
  int index = atomic_load(&current);
  const chunk *rows = &chunks[index];
  size_t used = atomic_load(&rows->used);
  double now = seconds_now();
  if (!has_offsets || now - last < PAUSE) return 0;
  if (index != last_index || shown > used) shown = 0;
  while (shown < used) {
    ssize_t n = pwrite(table, rows->data + shown, used - shown,
                       rows->offset + (off_t)shown);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    shown += (size_t)n;
  }
  last = now;
  last_index = index;
  return 0;
}

int trace_open(const char *path) {
  table = output_file_open(path);
  if (table < 0) return errno;

  struct stat file;
  has_offsets = output_file_is_plain(path) && fstat(table, &file) == 0 &&
                S_ISREG(file.st_mode);
  atomic_store(&current, 0);
  atomic_store(&chunks[0].used, 0);
  chunks[0].offset = 0;
  return keep(header + 1, sizeof header - 2);
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
  if (error == 0) error = show();
  if (error != 0) trace_forget();
  return error;
}

int trace_finish(void) {
  return table >= 0 ? write_chunk(&chunks[atomic_load(&current)]) : 0;
}

void trace_forget(void) {
  if (table >= 0) close(table);
  table = -1;
}
