/* Which ODE library a program would run on if nothing were preloaded. */
#ifndef ODE_MLCP_PRELOAD_HOST_PROBE_H
#define ODE_MLCP_PRELOAD_HOST_PROBE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum host_probe_result {
  HOST_PROBE_FITS, /* none needed, or one that the host can stand in for */
  HOST_PROBE_OTHER_PRECISION, /* one in the precision that the host is not in */
  HOST_PROBE_OTHER_NAME       /* one of another name (libode.so.6) */
} host_probe_result;

/**
 * Ask the loader which libode it would take for a program. Runs none of the program's
 * code. What cannot be found out counts as fitting.
 *
 * @param opened   NULL, or the name, without a folder, of a library that the program
 *                 opens: then that is asked for
 * @param message  [message_size] out: one line, where it does not fit
 */
host_probe_result host_probe(const char *program, const char *opened,
                             char *message, size_t message_size);

#endif
