/* A disk that is full: files may not grow past a limit. /dev/full is not on every
 * machine, nor is what is written to it a file. */
#ifndef ODE_MLCP_TESTS_FULL_DISK_H
#define ODE_MLCP_TESTS_FULL_DISK_H

#include <signal.h>
#include <sys/resource.h>

#include "testing.h"

typedef struct full_disk {
  struct rlimit limit;
  void (*handler)(int);
} full_disk;

/** Until full_disk_end no file of this process and its children gets longer than
 *  `bytes`: a write past that fails with EFBIG. */
static inline void full_disk_begin(full_disk *before, rlim_t bytes) {
  before->handler = signal(SIGXFSZ, SIG_IGN);
  CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_FSIZE, &before->limit), 0);
  struct rlimit small = before->limit;
  small.rlim_cur = bytes;
  CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &small), 0);
}

static inline void full_disk_end(const full_disk *before) {
  CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &before->limit), 0);
  signal(SIGXFSZ, before->handler);
}

#endif
