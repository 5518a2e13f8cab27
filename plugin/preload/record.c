#include "preload/record.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "preload/message.h"
#include "preload/output_file.h"
#include "preload/statistics.h"
#include "common/text.h"
#include "preload/trace.h"

/* ---- what was asked for; unchanged after record_set_up ---- */

static char statistics_name[PATH_MAX]; /* empty: not asked for */
static char trace_name[PATH_MAX];
static char settings[4096];
static run_mark *mark;

/* ---- what happened ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Two copies of the sums take turns: a signal finds the published one whole. */
static statistics sums[2];
static atomic_int published;
static atomic_bool has_steps;
static atomic_bool sealed; /* the files are being written */
static atomic_bool finished;
/* A step is being recorded, and by this thread. */
static atomic_bool records;
static _Thread_local bool records_here
    __attribute__((tls_model("initial-exec")));

/* The names above, with this process's id where they belong to another. */
static char statistics_path[OUTPUT_FILE_PATH_SIZE];
static char trace_path[OUTPUT_FILE_PATH_SIZE];

/* Worlds are told apart by address, and by their step count starting again
 * where an address is used again. */
typedef struct known_world {
  dWorldID world;
  long number;
  long last_step;
} known_world;

static known_world *worlds;
static size_t n_worlds, worlds_size, last_world;

static void copy_name(char name[PATH_MAX], const char *from) {
  name[0] = '\0';
  if (from != NULL) strncat(name, from, PATH_MAX - 1);
}

void record_set_up(const record_request *request,
                   const ode_mlcp_options *options) {
  text out;

  copy_name(statistics_name, request->statistics);
  copy_name(trace_name, request->trace);
  mark = request->mark;
  text_start(&out, settings, sizeof settings - 1);
  statistics_add_settings(&out, options);
}

/* The path for `name`: itself, or, where it belongs to another process and is
 * a plain file, "out.json.4711". */
static void choose_path(char path[OUTPUT_FILE_PATH_SIZE], const char *name,
                        bool owned) {
  text out;

  text_start(&out, path, OUTPUT_FILE_PATH_SIZE - 1);
  text_add(&out, name);
  if (!owned && *name != '\0' && output_file_is_plain(name)) {
    text_add(&out, ".");
    text_add_integer(&out, getpid());
  }
  path[out.used] = '\0';
}

static void complain_of_file(const char *path, int error) {
  if (error != 0)
    message_say((const char *[]){"cannot write ", path, ": ",
                                 message_reason(error), NULL});
}

static void start_recording(void) {
  if (mark != NULL) atomic_store(&mark->stepped, 1);
  bool owned = run_mark_claim(mark, getpid());
  choose_path(statistics_path, statistics_name, owned);
  choose_path(trace_path, trace_name, owned);
  if (trace_path[0] != '\0')
    complain_of_file(trace_path, trace_open(trace_path));
}

/* The entry of `world`, new where it was not seen before; NULL without memory
 * for it. */
static known_world *find_world(dWorldID world) {
  if (last_world < n_worlds && worlds[last_world].world == world)
    return &worlds[last_world];
  for (last_world = 0; last_world < n_worlds; last_world++)
    if (worlds[last_world].world == world) return &worlds[last_world];

  if (n_worlds == worlds_size) {
    size_t size = worlds_size == 0 ? 8 : 2 * worlds_size;
    known_world *more = realloc(worlds, size * sizeof *worlds);
    if (more == NULL) return NULL;
    worlds = more;
    worlds_size = size;
  }
  worlds[n_worlds] = (known_world){world, 0, 0};
  return &worlds[n_worlds++];
}

/* The number of `world`, from 1 in the order of their first steps; 0 when there
 * was no memory to remember it. */
static long number_world(dWorldID world, long step, long *n_numbered) {
  known_world *known = find_world(world);
  if (known == NULL) return 0;
  if (known->number == 0 || step <= known->last_step)
    known->number = ++*n_numbered;
  known->last_step = step;
  return known->number;
}

static void record(dWorldID world, const ode_mlcp_report *report) {
  if (!atomic_load(&has_steps)) start_recording();

  int next = 1 - atomic_load(&published);
  sums[next] = sums[1 - next];
  statistics_add(&sums[next], report);
  long number = number_world(world, report->step, &sums[next].worlds);
  complain_of_file(trace_path, trace_add(report, number));
  atomic_store(&published, next);
  atomic_store(&has_steps, true);
}

void record_step(dWorldID world, const ode_mlcp_report *report) {
  pthread_mutex_lock(&lock);
  records_here = true;
  atomic_store(&records, true);
  if (!atomic_load(&sealed)) record(world, report);
  atomic_store(&records, false);
  records_here = false;
  pthread_mutex_unlock(&lock);
}

bool record_has_steps(void) { return atomic_load(&has_steps); }

/* For a second at most, whatever holds the other thread up. */
static void wait_until(const atomic_bool *flag, bool value) {
  const struct timespec millisecond = {0, 1000000};
  for (int k = 0; k < 1000 && atomic_load(flag) != value; k++)
    nanosleep(&millisecond, NULL);
}

void record_finish(void) {
  static char json[8192]; // a signal may find little room on the stack
  text out;

  // sealed before the sums are chosen: from here they do not change
  if (atomic_exchange(&sealed, true)) {
    wait_until(&finished, true);
    return;
  }
  // a process that ends cuts the row that another thread is writing at the end of a
  // page; a signal within this one's has its row whole already, or not begun
  if (!records_here) wait_until(&records, false);
  const statistics *last = &sums[atomic_load(&published)];
  if (atomic_load(&has_steps)) {
    if (statistics_path[0] != '\0') {
      text_start(&out, json, sizeof json);
      statistics_add_json(&out, last, settings);
      complain_of_file(statistics_path,
                       output_file_replace(statistics_path, &out));
    }
  }
  atomic_store(&finished, true);
}

void record_start_child(void) {
  // another thread of the parent may have held the lock
  pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
  lock = free_lock;
  trace_forget();
  memset(sums, 0, sizeof sums);
  n_worlds = 0;
  atomic_store(&has_steps, false);
  atomic_store(&sealed, false);
  atomic_store(&finished, false);
  atomic_store(&records, false);
}
