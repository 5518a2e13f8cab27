/* Files that the user names for results: checked before the program starts,
 * written whole at its end.
 *
 * A plain file is written under a name of its own in the same folder and then
 * renamed, so that a reader never sees half of it. Anything else (a pipe, a
 * terminal, whatever lies in /dev or /proc) is written in place.
 */
#ifndef ODE_MLCP_PRELOAD_OUTPUT_FILE_H
#define ODE_MLCP_PRELOAD_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>

#include "common/text.h"

/** A path and room for the process ids that may be added to it. */
#define OUTPUT_FILE_PATH_SIZE (PATH_MAX + 48)

/**
 * Find out whether `name` can be written, without creating or changing it.
 *
 * @param path  [PATH_MAX] out: its absolute path, symbolic links followed.
 * @return 0, or an errno that says why not.
 */
int output_file_check(const char *name, char path[PATH_MAX]);

/** As output_file_check, for a folder that is there or can be made. */
int output_file_check_folder(const char *name, char path[PATH_MAX]);

/** True if `path` is, or would become, a plain file. Async-signal-safe. */
bool output_file_is_plain(const char *path);

/** Remove an old result, so that it is never taken for a new one: a plain file
 *  goes, all else stays. @return 0 or an errno. */
int output_file_remove(const char *path);

/** Open `path` to be written from its beginning, emptied.
 *  @return a descriptor that no child inherits, or -1 and errno. */
int output_file_open(const char *path);

/** Make `words` the content of `path`. Async-signal-safe.
 *  @return 0 or an errno. */
int output_file_replace(const char *path, const text *words);

#endif
