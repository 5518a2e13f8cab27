/* The recording as it is written: see recording.h. One a process. */
#ifndef ODE_MLCP_JUDGE_RECORDING_FILE_H
#define ODE_MLCP_JUDGE_RECORDING_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/recording.h"

/** The head, which the file has as it was when a record was whole. NULL: nothing is
 *  recorded. */
recording_head *recording_file_head(void);

/** Make the file, which must not be there. @return false where it cannot be. */
bool recording_file_open(const char *path);

/** Room for a record of `size` bytes (made a multiple of 8) behind those that
 *  are whole, its `record` set; NULL once the disk was full. */
void *recording_file_begin(recording_kind kind, size_t size);

/** The record is whole; where it has no room the disk is full. */
void recording_file_end(void);

/** Done with it. */
void recording_file_close(void);

#endif
