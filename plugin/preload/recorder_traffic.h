/* The recorded process's end of preload/traffic.h. One thread at a time. */
#ifndef ODE_MLCP_PRELOAD_RECORDER_TRAFFIC_H
#define ODE_MLCP_PRELOAD_RECORDER_TRAFFIC_H

#include <stdbool.h>

#include "preload/traffic.h"

/** @return false where there is no such file, or another process tells there. */
bool traffic_open(const char *path);

/** NULL before it is open. */
traffic_head *traffic(void);

/** Room for a record: its kind and size are set, nothing else. Waits for the
 *  command where the ring is full. @return NULL where nothing can be told. */
void *traffic_begin(uint32_t kind, size_t size);

/** The record is whole. */
void traffic_end(void);

/** In a child of the process: the file is its parent's. */
void traffic_forget(void);

#endif
