/* ode-mlcp-mpi: `ode-mlcp impact --reduce` as the ranks of an MPI run.
 *
 * Rank 0 gives out ranges of samples, large ones first, and samples as the
 * others do. A rank asks for its next range before it begins with one, so that
 * it does not wait while rank 0 is busy. At the end the parts go up a binary
 * tree. Nobody spins while waiting: there may be more ranks than processors. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command/arguments.h"
#include "command/command.h"
#include "command/impact.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

enum { ASK, GIVE, PART };

enum {
  SMALLEST_RANGE = 16384, /* samples */
  MOST_RANGES = 2048,     /* at least the set's share of it: parts have to
                             remember their ranges, IMPACT_MOST_RANGES of them */
  WAIT_MICROSECONDS = 500
};

typedef struct ranks {
  int rank, n_ranks;
  bool stopped, opened;
  // of rank 0
  const impact_reduction *whole;
  uint64_t next, end, smallest;
  int n_told; /* ranks that know that there is no more */
  // of the others: the range asked for
  MPI_Request asked, given;
  uint64_t range[2];
  int question;
  // where messages go until all are known to be ready
  int silent_stderr;
} ranks;

/* ---- rank 0: what is left ------------------------------------------------ */

/* The next range that nobody has done; an empty one where none is left. */
static void cut(ranks *it, uint64_t range[2]) {
  uint64_t stop = it->end;
  while (it->next < it->end && impact_reduction_has(it->whole, it->next, &stop))
    it->next = stop;
  if (it->next >= it->end || it->stopped) {
    range[0] = range[1] = 0;
    return;
  }
  uint64_t left = (stop < it->end ? stop : it->end) - it->next;
  uint64_t size = (it->end - it->next) / (2 * (uint64_t)it->n_ranks);
  if (size < it->smallest) size = it->smallest;
  range[0] = it->next;
  range[1] = it->next + (size < left ? size : left);
  it->next = range[1];
}

/* Answer one that waits. False: nobody does. */
static bool answer(ranks *it) {
  int waits, question;
  MPI_Status from;
  MPI_Iprobe(MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &waits, &from);
  if (!waits) return false;
  MPI_Recv(&question, 1, MPI_INT, from.MPI_SOURCE, ASK, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  it->stopped |= question != 0;
  uint64_t range[2];
  cut(it, range);
  it->n_told += range[0] == range[1];
  MPI_Send(range, 2, MPI_UINT64_T, from.MPI_SOURCE, GIVE, MPI_COMM_WORLD);
  return true;
}

static void serve(void *context) {
  ranks *it = context;
  while (it->rank == 0 && answer(it)) {
  }
}

/* ---- the others: asking -------------------------------------------------- */

static void rest(void) {
  const struct timespec some = {0, WAIT_MICROSECONDS * 1000};
  nanosleep(&some, NULL);
}

static void wait_for(MPI_Request *request) {
  int done;
  for (;;) {
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    rest();
  }
}

static void ask(ranks *it, bool stop) {
  it->question = stop;
  MPI_Irecv(it->range, 2, MPI_UINT64_T, 0, GIVE, MPI_COMM_WORLD, &it->given);
  MPI_Isend(&it->question, 1, MPI_INT, 0, ASK, MPI_COMM_WORLD, &it->asked);
}

static bool next(void *context, bool stop, uint64_t range[2]) {
  ranks *it = context;
  it->stopped |= stop;
  if (it->rank == 0) {
    cut(it, range);
    while (range[0] == range[1] && it->n_told < it->n_ranks - 1)
      if (!answer(it)) rest();
    return range[0] < range[1];
  }
  wait_for(&it->asked);
  wait_for(&it->given);
  memcpy(range, it->range, sizeof it->range);
  if (range[0] == range[1]) return false;
  ask(it, it->stopped);
  return true;
}

/* ---- together ------------------------------------------------------------ */

/* Errors that every rank would find are told by rank 0 alone. */
static void speak(ranks *it) {
  if (it->silent_stderr < 0) return;
  dup2(it->silent_stderr, STDERR_FILENO);
  close(it->silent_stderr);
  it->silent_stderr = -1;
}

static void be_silent(ranks *it) {
  int nowhere = open("/dev/null", O_WRONLY);
  it->silent_stderr = dup(STDERR_FILENO);
  dup2(nowhere, STDERR_FILENO);
  close(nowhere);
}

static bool all_ready(ranks *it, bool ready) {
  int mine[2] = {ready, it->rank == 0 ? ready : 1}, all[2];
  it->opened = true;
  MPI_Allreduce(mine, all, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (all[1] != 0 && !ready) { // rank 0 has nothing to complain of
    speak(it);
    complain("rank %d cannot begin where rank 0 can: are the same files there?",
             it->rank);
  }
  return all[0] != 0;
}

static bool open_team(void *context, bool ready, const impact_reduction *whole,
                      uint64_t first, uint64_t end) {
  ranks *it = context;
  if (!all_ready(it, ready)) return false;
  speak(it);
  it->whole = whole;
  it->next = first;
  it->end = end;
  it->smallest = (end - first) / MOST_RANGES;
  if (it->smallest < SMALLEST_RANGE) it->smallest = SMALLEST_RANGE;
  // small sets too are shared
  uint64_t fair = (end - first) / (4 * (uint64_t)it->n_ranks) + 1;
  if (it->smallest > fair && fair > 1024) it->smallest = fair;
  if (it->rank != 0) ask(it, false);
  return true;
}

/* A part from another rank, taken into `own`. */
static bool take_part(impact_reduction *own, int from, int *status,
                      char message[IMPACT_MESSAGE]) {
  MPI_Status about;
  int there = 0, size;
  while (!there) {
    MPI_Iprobe(from, PART, MPI_COMM_WORLD, &there, &about);
    if (!there) rest();
  }
  MPI_Get_count(&about, MPI_BYTE, &size);
  char name[40], *bytes = malloc((size_t)size);
  if (bytes == NULL) MPI_Abort(MPI_COMM_WORLD, COMMAND_FELL_SHORT);
  MPI_Recv(bytes, size, MPI_BYTE, from, PART, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  // the status stands behind the part
  if (bytes[size - 1] > *status) *status = bytes[size - 1];
  snprintf(name, sizeof name, "the part of rank %d", from);
  impact_reduction *part =
      impact_reduction_unpack(bytes, (size_t)size - 1, name, message);
  bool taken = part != NULL && impact_reduction_merge(own, "the parts before",
                                                      part, name, message);
  impact_reduction_destroy(part);
  free(bytes);
  return taken;
}

static void give_part(const impact_reduction *own, int to, int status) {
  size_t size;
  char *bytes = impact_reduction_pack(own, &size);
  // the buffer of a memory stream ends with a zero behind its bytes
  if (bytes == NULL) MPI_Abort(MPI_COMM_WORLD, COMMAND_FELL_SHORT);
  bytes[size] = (char)status;
  MPI_Request sent;
  MPI_Isend(bytes, (int)size + 1, MPI_BYTE, to, PART, MPI_COMM_WORLD, &sent);
  wait_for(&sent);
  free(bytes);
}

static int gather(void *context, impact_reduction *own, int status,
                  char message[IMPACT_MESSAGE]) {
  ranks *it = context;
  for (int reach = 1; reach < it->n_ranks; reach *= 2) {
    if (it->rank % (2 * reach) != 0) {
      give_part(own, it->rank - reach, status);
      return status;
    }
    if (it->rank + reach < it->n_ranks &&
        !take_part(own, it->rank + reach, &status, message))
      status = COMMAND_WRONG_USE;
  }
  return status;
}

static bool close_team(void *context, bool written) {
  (void)context;
  int done = written;
  MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return done != 0;
}

static int run_ranks(int argc, char **argv) {
  ranks it = {.silent_stderr = -1};
  MPI_Comm_rank(MPI_COMM_WORLD, &it.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &it.n_ranks);
  const impact_team team = {it.rank, &it,    open_team, next,
                            serve,   gather, close_team};
  if (it.rank != 0) {
    be_silent(&it);
    if (freopen("/dev/null", "w", stdout) == NULL) return COMMAND_FELL_SHORT;
  }
  int status = command_impact_in_team(argc, argv, &team);
  if (!it.opened) all_ready(&it, false);
  speak(&it);
  MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return status;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    puts("ode-mlcp-mpi " PACKAGE_VERSION);
    return COMMAND_DONE;
  }
  if (argc < 2 || strcmp(argv[1], "impact") != 0) {
    fputs(
        "Usage: mpirun -n N ode-mlcp-mpi impact NAME|FOLDER --reduce FILE "
        "[OPTION...]\n"
        "Options are those of ode-mlcp impact; a thread a rank unless "
        "--threads says more.\n",
        stderr);
    return COMMAND_WRONG_USE;
  }
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  int status = run_ranks(argc - 1, argv + 1);
  if (fflush(stdout) != 0 || ferror(stdout)) status = COMMAND_FELL_SHORT;
  MPI_Finalize();
  return status;
}
