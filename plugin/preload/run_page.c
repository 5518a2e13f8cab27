#define _GNU_SOURCE // memfd_create
#include "preload/run_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char MAGIC[8] = "MLCPRUN";

/* One that killed processes leave free. */
static void prepare(run_page *page) {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&page->lock, &kind);
  pthread_mutexattr_destroy(&kind);
  memcpy(page->magic, MAGIC, sizeof MAGIC);
}

static run_page *map(int descriptor) {
  void *page = mmap(NULL, sizeof(run_page), PROT_READ | PROT_WRITE,
                    descriptor < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED,
                    descriptor, 0);
  return page != MAP_FAILED ? page : NULL;
}

run_page *run_page_create(int *descriptor) {
  // programs expect the lowest descriptors, and shell scripts name small ones
  // (`exec 9>lock`): above both where the limit on descriptors allows
  int file = memfd_create("ode-mlcp-run", MFD_ALLOW_SEALING);
  if (file < 0 || ftruncate(file, sizeof(run_page)) != 0) return NULL;
  *descriptor = fcntl(file, F_DUPFD, 900);
  if (*descriptor < 0) *descriptor = fcntl(file, F_DUPFD, 20);
  close(file);
  flock(*descriptor, LOCK_SH); // of all who inherit it
  run_page *page = *descriptor >= 0 ? map(*descriptor) : NULL;
  if (page != NULL) prepare(page);
  return page;
}

/* What lies behind a descriptor, if that is a page. */
static run_page *find(int descriptor) {
  struct stat file;
  if (descriptor < 0 || fstat(descriptor, &file) != 0 ||
      file.st_size != sizeof(run_page))
    return NULL;
  run_page *page = map(descriptor);
  if (page == NULL || memcmp(page->magic, MAGIC, sizeof MAGIC) == 0)
    return page;
  munmap(page, sizeof *page);
  return NULL;
}

run_page *run_page_find(void) {
  const char *setting = getenv(RUN_PAGE_VARIABLE);
  long command;
  int descriptor;
  char path[64];
  if (setting == NULL || sscanf(setting, "%ld:%d", &command, &descriptor) != 2)
    return NULL;
  run_page *page = find(descriptor);
  if (page != NULL) return page;
  snprintf(path, sizeof path, "/proc/%ld/fd/%d", command, descriptor);
  descriptor = open(path, O_RDWR | O_CLOEXEC);
  page = find(descriptor);
  if (descriptor >= 0) close(descriptor);
  return page;
}

run_page *run_page_of_no_run(void) {
  run_page *page = map(-1);
  if (page != NULL) prepare(page);
  return page;
}

bool run_page_lock(run_page *page) {
  int error = pthread_mutex_lock(&page->lock);
  if (error == EOWNERDEAD) error = pthread_mutex_consistent(&page->lock);
  return error == 0;
}

void run_page_unlock(run_page *page) { pthread_mutex_unlock(&page->lock); }

void run_page_leave(int descriptor) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  int own = open(path, O_RDWR | O_CLOEXEC);
  if (own < 0) return;
  dup3(own, descriptor, O_CLOEXEC);
  close(own);
}

bool run_page_is_used(int descriptor) {
  return flock(descriptor, LOCK_EX | LOCK_NB) != 0 ||
         fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE) != 0;
}

bool run_page_claim(run_page *page, pid_t self) {
  int nobody = 0;
  return atomic_compare_exchange_strong(&page->owner, &nobody, self) ||
         nobody == self;
}
