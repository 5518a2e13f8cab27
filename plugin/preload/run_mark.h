/* Messages between the processes of one `ode-mlcp run`.
 *
 * `ode-mlcp run` becomes the program (exec), and the program may be a script
 * whose children do the stepping. So that the top process can say at its end
 * whether any of them stepped a world, all share one page of memory: an
 * unnamed file that the command opens and leaves open. ODE_MLCP_RUN holds
 * PID:DESCRIPTOR:DEVICE:INODE. A process maps the page from its own inherited
 * descriptor or, when a launcher closed that, from the top process's
 * (/proc/PID/fd/DESCRIPTOR). Nothing is left behind on disk.
 */
#ifndef ODE_MLCP_PRELOAD_RUN_MARK_H
#define ODE_MLCP_PRELOAD_RUN_MARK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define RUN_MARK_VARIABLE "ODE_MLCP_RUN"

typedef struct run_mark {
  atomic_int stepped;        /* some process stepped a world */
  atomic_int second_library; /* some process loaded a second ODE library */
  atomic_int owner;          /* process that the plain file names belong to */
  atomic_long steps;         /* that any process tried */
  atomic_long not_taken;     /* of them: refused or failed */
  /* the file whose host the command has looked at, before the start */
  unsigned long long probed_device, probed_inode;
} run_mark;

typedef struct run_mark_place {
  run_mark *mark; /* NULL: no memory for it */
  pid_t top;      /* process the command became; 0: not under the command
                           or its page is out of reach */
} run_mark_place;

/**
 * Open the page for the program that this process is about to become.
 *
 * @param path     the program's file, whose host has been probed
 * @param setting  [setting_size] out: the value for ODE_MLCP_RUN.
 * @return 0 or an errno.
 */
int run_mark_create(const char *path, char *setting, size_t setting_size);

/** True if the command has probed this very program. */
bool run_mark_is_probed(const run_mark *mark);

/** Map the page that `setting` (NULL: none) names; without one, a page that
 *  this process shares with those it forks. */
run_mark_place run_mark_open(const char *setting);

/** True if the plain file names belong to this process: the first that asks
 *  gets them, the others add their process id. */
bool run_mark_claim(run_mark *mark, pid_t self);

#endif
