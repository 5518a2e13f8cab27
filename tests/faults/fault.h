/* Put before every source of a build with faults: which one is on. */
#ifndef ODE_MLCP_TESTS_FAULT_H
#define ODE_MLCP_TESTS_FAULT_H

#ifndef __cplusplus
#define _GNU_SOURCE // what the source that comes after it may ask for
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FAULTS_MOST = 4096 };

static int fault_chosen;
/* A byte a fault, 1 once its line was come by: a file that all sources and processes of a
 * run share, where FAULTS_SEEN names one. */
static unsigned char fault_unseen[FAULTS_MOST], *fault_seen = fault_unseen;

__attribute__((constructor(101))) static void fault_choose(void) {
  // first of all constructors, or what others do is without faults; no names of
  // settings, ODE_MLCP_..: the tests of the command clear those
  const char *chosen = getenv("FAULT_CHOSEN");
  const char *seen = getenv("FAULTS_SEEN");
  fault_chosen = chosen != NULL ? atoi(chosen) : 0;
  if (seen == NULL) return;
  int file = open(seen, O_RDWR | O_CLOEXEC);
  void *bytes = file < 0 ? MAP_FAILED
                         : mmap(NULL, FAULTS_MOST, PROT_READ | PROT_WRITE,
                                MAP_SHARED, file, 0);
  if (bytes != MAP_FAILED) fault_seen = bytes;
  if (file >= 0) close(file);
}

#define FAULT(number) (fault_seen[number] = 1, fault_chosen == (number))
#endif

#endif
