/* Places of the files that `ode-mlcp run` puts under a program and that other
 * subcommands load. */
#ifndef ODE_MLCP_COMMAND_PRELOADS_H
#define ODE_MLCP_COMMAND_PRELOADS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Set by the build; an editor's checker sees the default. */
#ifndef INSTALLED_LIBDIR
#define INSTALLED_LIBDIR "/usr/local/lib"
#endif

/** Libraries that go under a program, before the patched host. */
typedef enum preload_set {
  PRELOAD_PLUGIN = 1,
  PRELOAD_RECORDER = 2
} preload_set;

/**
 * The value for LD_PRELOAD: what `set` names, the patched host, then what the
 * variable held.
 *
 * Looks beside this program for lib/ (a build tree) and for ../lib/ode-mlcp
 * (an installation that was moved), then in the folder of the installation.
 *
 * @param set  of preload_set
 * @param value  [value_size] out
 * @param message  [message_size] out: one line on failure.
 */
bool preloads_value(unsigned set, char *value, size_t value_size, char *message,
                    size_t message_size);

/** The folder of this very program, without its last slash; false where it cannot
 *  be told. */
bool preloads_own_folder(char folder[PATH_MAX]);

/** The path of `file`, which lies beside the host; looked for as above.
 *
 * @param path  [path_size] out
 * @param message  [message_size] out: one line on failure.
 */
bool preloads_find(const char *file, char *path, size_t path_size,
                   char *message, size_t message_size);

#endif
