#include "preload/trace.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/output_file.h"
#include "common/text.h"

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

static const char header[] =
    "step,time_s,bodies,contacts,kinetic_energy_J,potential_energy_J,"
    "deepest_penetration_m,worst_joint_error,residual,pivots,seconds,world,"
    "rows,degraded,unsolved,taken,impacts,substeps,jammed\n";

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

int trace_open(const char *path) {
  table = output_file_open(path);
  if (table < 0) return errno;

  struct stat file;
  has_offsets = output_file_is_plain(path) && fstat(table, &file) == 0 &&
                S_ISREG(file.st_mode);
  atomic_store(&current, 0);
  atomic_store(&chunks[0].used, 0);
  chunks[0].offset = 0;
  return keep(header, sizeof header - 1);
}

static void add_integer(text *row, long value) {
  text_add_integer(row, value);
  text_add(row, ",");
}

static void add_number(text *row, double value) {
  text_add_number(row, value, DIGITS);
  text_add(row, ",");
}

int trace_add(const ode_mlcp_report *report, long world) {
  char data[ROW_SIZE];
  text row;
  if (table < 0) return 0;

  text_start(&row, data, sizeof data);
  add_integer(&row, report->step);
  add_number(&row, report->time);
  add_integer(&row, report->bodies);
  add_integer(&row, report->contacts);
  add_number(&row, report->kinetic_energy);
  add_number(&row, report->potential_energy);
  add_number(&row, report->deepest_penetration);
  add_number(&row, report->worst_joint_error);
  add_number(&row, report->residual);
  add_integer(&row, report->pivots);
  add_number(&row, report->step_seconds);
  add_integer(&row, world);
  add_integer(&row, report->rows);
  add_integer(&row, report->degraded);
  add_integer(&row, report->unsolved);
  add_integer(&row, report->taken);
  add_integer(&row, report->impacts);
  add_integer(&row, report->substeps);
  text_add_integer(&row, report->jammed_contacts);
  text_add(&row, "\n");

  int error = keep(row.data, row.used);
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
