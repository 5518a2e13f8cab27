/* What the processes of one `ode-mlcp run` count of their steps, for the command,
 * which waits for the program and writes the results when it is over.
 *
 * One page that all have mapped: memory without a name, which the program inherits
 * as a descriptor. ODE_MLCP_RUN holds PID:DESCRIPTOR; where a launcher has closed
 * that, it is the command's own (/proc/PID/fd/DESCRIPTOR). However a process ends,
 * what it counted is there; one that is killed as it counts leaves a part of that
 * step. */
#ifndef ODE_MLCP_PRELOAD_RUN_PAGE_H
#define ODE_MLCP_PRELOAD_RUN_PAGE_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "ode_mlcp.h"
#include "preload/statistics.h"

#define RUN_PAGE_VARIABLE "ODE_MLCP_RUN"

/** A program that ended well ends with this where it stepped no world on ode-mlcp,
 *  or worlds of a second library. */
enum { WRONG_RUN_STATUS = 2 };

typedef struct run_page {
  char magic[8];
  pthread_mutex_t lock;  /* of all below */
  statistics sums;       /* over all processes */
  ode_mlcp_options used; /* by the first that stepped */
  char trace[PATH_MAX];  /* absolute; empty: no rows are wanted, or any more */
  bool has_head;         /* the trace does */
  /* these need no lock */
  atomic_int started;        /* processes that have the plug-in in them */
  atomic_int answered;       /* another ode-mlcp run is within, for itself */
  atomic_int second_library; /* was opened, and told of */
  atomic_int refused;        /* processes that ended and told why */
  atomic_int owner;          /* the process that the --dump folder belongs to */
  int exec_error; /* errno, by the command's child: the program did not start */
} run_page;

/** Make the page; its descriptor is inherited. @return NULL and errno where there is no
 *  memory. */
run_page *run_page_create(int *descriptor);

/** That of the run which this process is in; NULL: there is none, or it is out of
 *  reach. */
run_page *run_page_find(void);

/** A page that this process shares with those it forks. NULL without memory. */
run_page *run_page_of_no_run(void);

/** @return false where this very thread has it, in what a signal interrupted. */
bool run_page_lock(run_page *page);
void run_page_unlock(run_page *page);

/** Called by the command once its child has the page, by which it knows of the child's
 *  children: leaves them the only ones that have this descriptor. */
void run_page_leave(int descriptor);

/** True if a process has the descriptor or the page mapped; the last thing to be asked,
 *  by one that has not. */
bool run_page_is_used(int descriptor);

/** True for the first process that asks, and for it again. */
bool run_page_claim(run_page *page, pid_t self);

#endif
