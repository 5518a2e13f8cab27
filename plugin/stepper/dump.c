/* Problems are copied in the threads that solve, and written in the order of
 * islands and solves at the end of the step: what is on disk does not depend on
 * threads, and no result on what is written. */
#include "stepper/dump.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mlcp/mlcp_folder.h"
#include "stepper/process.h"

enum {
  MOST_KEPT = 100, /* problems on disk */
};

static const size_t MOST_BYTES = (size_t)1 << 30;

/* A problem that waits for the end of its step. */
typedef struct waiting {
  dWorldID world;
  size_t island;
  int solve;
  bool moves_only; /* corrects positions, no velocities */
  mlcp_stored stored;
  solver_report report;
  double seconds;
} waiting;

typedef struct written {
  char name[80];
  size_t bytes;
} written;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[MLCP_FOLDER_PATH - 100]; /* room for a name and a file */
static ode_mlcp_dump_when when;

static memory_pool pool; /* of the queue */
static waiting *queue;
static size_t n_queued;

static written kept[MOST_KEPT]; /* a ring, the oldest first */
static size_t first_kept, n_kept, bytes_kept;
static long failures;

static const memory_source *const source = &memory_from_malloc;

/* ---- which --------------------------------------------------------------------- */

static bool is_wanted(const solved_component *solved) {
  bool degraded = !solver_succeeded(solved->report->status) ||
                  !(solved->report->residual <= solved->tolerance);
  return when == ODE_MLCP_DUMP_ALL || degraded;
}

/* ---- during a step --------------------------------------------------------------- */

/* A problem that there is no memory for is left out: the step goes on. */
static void enqueue(const solved_component *solved) {
  if (!POOL_GROW(&pool, queue, n_queued + 1)) return;
  waiting *to = &queue[n_queued];
  *to = (waiting){.world = solved->world,
                  .island = solved->island,
                  .solve = solved->solve,
                  .moves_only = solved->moves_only,
                  .report = *solved->report,
                  .seconds = solved->seconds};
  if (mlcp_stored_copy(&to->stored, source, solved->problem, solved->guess))
    n_queued++;
}

static void observe(void *context, const solved_component *solved) {
  (void)context;
  if (solved->problem->n_rows == 0) return;
  pthread_mutex_lock(&lock);
  if (is_wanted(solved)) enqueue(solved);
  pthread_mutex_unlock(&lock);
}

/* ---- at its end ------------------------------------------------------------------- */

static void print_name(char name[80], const waiting *part, long number,
                       long step) {
  int used = number > 1 ? snprintf(name, 80, "world-%ld-", number) : 0;
  snprintf(name + used, 80 - (size_t)used, "step-%06ld-island-%03zu-part-%02d",
           step, part->island + 1, part->solve + 1);
}

static void forget_oldest(void) {
  char path[MLCP_FOLDER_PATH];
  if (mlcp_folder_file(folder, kept[first_kept].name, path))
    mlcp_folder_remove(path);
  bytes_kept -= kept[first_kept].bytes;
  first_kept = (first_kept + 1) % MOST_KEPT;
  n_kept--;
}

static void remember(const char *name, size_t bytes) {
  if (n_kept == MOST_KEPT) forget_oldest();
  written *to = &kept[(first_kept + n_kept++) % MOST_KEPT];
  snprintf(to->name, sizeof to->name, "%s", name);
  to->bytes = bytes;
  bytes_kept += bytes;
  while (bytes_kept > MOST_BYTES && n_kept > 1) forget_oldest();
}

static bool write_folder(const char *path, const waiting *part,
                         const ode_mlcp_report *report, char *message,
                         size_t message_size) {
  const mlcp_note notes[] = {
      {"step", (double)report->step, NULL},
      {"step_size", report->step_size, NULL},
      {"island", (double)part->island + 1, NULL},
      {"part", part->solve + 1, NULL},
      {"corrects", 0, part->moves_only ? "positions" : "velocities"},
      {"residual", part->report.residual, NULL},
      {"pivots", (double)part->report.pivots, NULL},
      {"factorisations", (double)part->report.factorisations, NULL},
      {"iterations", (double)part->report.iterations, NULL},
      {"seconds", part->seconds, NULL}};
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    snprintf(message, message_size, "%.500s: %s", folder, strerror(errno));
    return false;
  }
  return mlcp_folder_write(path, &part->stored.problem, part->stored.guess,
                           notes, sizeof notes / sizeof *notes, source, message,
                           message_size);
}

static void warn(const char *message) {
  if (worth_saying(&failures))
    dMessage(0, "ode-mlcp: a problem could not be written: %s (%ld so far)",
             message, failures);
}

static void write_part(const waiting *part, long number,
                       const ode_mlcp_report *report) {
  char name[80], path[MLCP_FOLDER_PATH], message[1024];
  print_name(name, part, number, report->step);
  if (!mlcp_folder_file(folder, name, path)) return;
  bool whole = write_folder(path, part, report, message, sizeof message);
  if (!whole) warn(message);
  // what is there of a broken one counts, and goes when its time comes
  remember(name, mlcp_folder_size(path));
}

static int compare_parts(const void *a, const void *b) {
  const waiting *x = a, *y = b;
  if (x->world != y->world) return x->world < y->world ? -1 : 1;
  if (x->island != y->island) return x->island < y->island ? -1 : 1;
  return (x->solve > y->solve) - (x->solve < y->solve);
}

void dump_end_step(dWorldID world, long number, const ode_mlcp_report *report) {
  pthread_mutex_lock(&lock);
  // those of worlds that step in other threads stay
  if (n_queued > 1) qsort(queue, n_queued, sizeof *queue, compare_parts);
  size_t first = 0, end;
  while (first < n_queued && queue[first].world != world) first++;
  for (end = first; end < n_queued && queue[end].world == world; end++) {
    if (folder[0] != '\0') write_part(&queue[end], number, report);
    mlcp_stored_release(&queue[end].stored);
  }
  if (end > first)
    memmove(queue + first, queue + end, (n_queued - end) * sizeof *queue);
  n_queued -= end - first;
  pthread_mutex_unlock(&lock);
}

/* ---- the public face ----------------------------------------------------------------- */

/* Another thread of the parent may have held the lock. */
static void start_child(void) {
  pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
  lock = free_lock;
}

static void open_queue(void) {
  memory_pool_open(&pool, source);
  pthread_atfork(NULL, NULL, start_child);
}

ode_mlcp_error ode_mlcp_dump(const char *new_folder,
                             ode_mlcp_dump_when new_when) {
  if (new_when != ODE_MLCP_DUMP_DEGRADED && new_when != ODE_MLCP_DUMP_ALL)
    return ODE_MLCP_BAD_ARGUMENT;
  if (new_folder != NULL &&
      (new_folder[0] == '\0' || strlen(new_folder) >= sizeof folder))
    return ODE_MLCP_BAD_ARGUMENT;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_queue);
  pthread_mutex_lock(&lock);
  folder[0] = '\0';
  if (new_folder != NULL) strcpy(folder, new_folder);
  when = new_when;
  // problems in another folder are no longer this run's to remove
  first_kept = n_kept = bytes_kept = 0;
  process_observe_solves(new_folder != NULL ? observe : NULL, NULL);
  pthread_mutex_unlock(&lock);
  return ODE_MLCP_OK;
}
