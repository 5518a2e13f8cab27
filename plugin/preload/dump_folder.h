/* The folder that `--dump` names, as the command and the preload read it. */
#ifndef ODE_MLCP_PRELOAD_DUMP_FOLDER_H
#define ODE_MLCP_PRELOAD_DUMP_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** Settings by the environment. */
typedef struct dump_request {
  char folder[PATH_MAX]; /* absolute; empty: nothing is asked for */
} dump_request;

/**
 * Read ODE_MLCP_DUMP.
 *
 * @param checked  the folder has been looked at already, by the command: it is
 *                 taken as it is
 * @param message  [message_size] out: empty, or what is wrong, in one line
 * @return NULL, or the name of the variable whose value is bad
 */
const char *dump_request_read(dump_request *request, bool checked,
                              char *message, size_t message_size);

#endif
