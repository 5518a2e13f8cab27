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
 * Ask the program's own loader which libode it would take, and that library
 * for its precision. Runs none of the program's code. What cannot be found out counts as fitting.
 *
 * @param loader   the program's interpreter, as its ELF file names it
 * @param library  [PATH_MAX] out: the library's file or its name
 */
host_probe_result host_probe(const char *loader, const char *program,
                             char library[PATH_MAX]);

/**
 * Ask the program's own loader which file it would take for a library that is opened by
 * this name, without a folder.
 *
 * @return false where it has none.
 */
bool host_probe_name(const char *loader, const char *program, const char *name,
                     char library[PATH_MAX]);

/** One line about a `library` that does not fit `program`. */
void host_probe_explain(host_probe_result result, const char *program,
                        const char *library, char *message,
                        size_t message_size);

#endif
