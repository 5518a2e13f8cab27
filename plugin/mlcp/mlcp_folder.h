/* A mixed LCP as a folder: Matrix Market files, and a description for whoever looks at
 * it, problem.json. Every number keeps all its bits. docs/solve.md shows shapes and units.
 *
 * The numbers of bodies and rows in the files begin at 1; 0 stands for none. */
#ifndef ODE_MLCP_MLCP_MLCP_FOLDER_H
#define ODE_MLCP_MLCP_MLCP_FOLDER_H

#include "mlcp/mlcp_stored.h"

/** One more member of the description, for whoever reads it; a text where
 *  `text` is not NULL (no quotes, backslashes or control characters), else a
 *  number (null where it is not finite). */
typedef struct mlcp_note {
  const char *name;
  double number;
  const char *text;
} mlcp_note;

/**
 * Write `problem` (which passes mlcp_check) into the folder `path`, which is
 * made where it is missing; velocity_floor.mtx is written last, so that a folder
 * without it is not whole.
 *
 * @param guess    [n_rows] or NULL
 * @param notes    [n_notes]
 * @param message  [message_size] out: empty, or one line that names the file
 * @return false with a message where something cannot be written; none of its
 *         files is left then
 */
bool mlcp_folder_write(const char *path, const mlcp_problem *problem,
                       const double guess[], const mlcp_note notes[],
                       int n_notes, const memory_source *source, char *message,
                       size_t message_size);

/**
 * Read a folder. The problem has passed mlcp_check.
 *
 * @param stored  out: release it with mlcp_stored_release, also after a failure
 * @param message as above, with the line where it makes sense
 */
bool mlcp_folder_read(const char *path, const memory_source *source,
                      mlcp_stored *stored, char *message, size_t message_size);

/** True if `path` holds a whole problem. */
bool mlcp_folder_is_there(const char *path);

/** Bytes of its files. */
size_t mlcp_folder_size(const char *path);

/** Remove the files that mlcp_folder_write makes, and the folder if it is empty
 *  then. A folder that is not whole is left alone. */
void mlcp_folder_remove(const char *path);

/** Longest path of a file in a folder:
    shorter than a system's, as steps of threads with small stacks write folders. */
enum { MLCP_FOLDER_PATH = 1024 };

/** PATH/NAME; false where that is too long. */
bool mlcp_folder_file(const char *path, const char *name,
                      char file[MLCP_FOLDER_PATH]);

#endif
