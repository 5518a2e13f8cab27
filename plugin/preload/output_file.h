/* Files that the user names for results, checked before there are any. */
#ifndef ODE_MLCP_PRELOAD_OUTPUT_FILE_H
#define ODE_MLCP_PRELOAD_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>

/**
 * Find out whether `name` can be written, a file or a folder, without creating or
 * changing it.
 *
 * @param path  [PATH_MAX] out: its absolute path, symbolic links followed.
 * @return 0, or an errno that says why not.
 */
int output_file_check(const char *name, bool folder, char path[PATH_MAX]);

/** True if `path` is, or would become, a plain file. */
bool output_file_is_plain(const char *path);

#endif
