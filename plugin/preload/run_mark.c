#define _GNU_SOURCE // memfd_create
#include "preload/run_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Programs expect the lowest descriptors, and shell scripts name small ones
 * (`exec 9>lock`): stay above both where the limit on descriptors allows. */
static int move_out_of_the_way(int descriptor) {
  static const int lowest[] = {985, 485, 105, 25};

  for (size_t k = 0; k < sizeof lowest / sizeof lowest[0]; k++) {
    int moved = fcntl(descriptor, F_DUPFD, lowest[k]);
    if (moved < 0) continue;
    close(descriptor);
    return moved;
  }
  return descriptor;
}

/* A file without a name: in memory, or where the kernel has no such thing, one
 * that is removed at once. */
static int open_unnamed_file(void) {
  int descriptor = memfd_create("ode-mlcp-run", 0);
  if (descriptor >= 0) return descriptor;

  char path[] = "/tmp/ode-mlcp-run.XXXXXX";
  descriptor = mkstemp(path);
  if (descriptor >= 0) unlink(path);
  return descriptor;
}

int run_mark_create(const char *path, char *setting, size_t setting_size) {
  run_mark first = {0};
  struct stat file;

  if (stat(path, &file) != 0) return errno;
  first.probed_device = file.st_dev;
  first.probed_inode = file.st_ino;

  int descriptor = open_unnamed_file();
  if (descriptor < 0) return errno;
  descriptor = move_out_of_the_way(descriptor);

  errno = EIO; // should fewer bytes be written than there are
  if (write(descriptor, &first, sizeof first) != sizeof first ||
      fstat(descriptor, &file) != 0) {
    int error = errno;
    close(descriptor);
    return error;
  }
  snprintf(setting, setting_size, "%ld:%d:%llu:%llu", (long)getpid(),
           descriptor, (unsigned long long)file.st_dev,
           (unsigned long long)file.st_ino);
  return 0;
}

typedef struct page_name {
  long top;
  int descriptor;
  unsigned long long device, inode;
} page_name;

/* Maps the page behind `descriptor`, if that is the page. */
static run_mark *map_page(int descriptor, const page_name *name) {
  struct stat file;
  if (descriptor < 0 || fstat(descriptor, &file) != 0 ||
      file.st_dev != name->device || file.st_ino != name->inode ||
      file.st_size != (off_t)sizeof(run_mark))
    return NULL;

  void *page = mmap(NULL, sizeof(run_mark), PROT_READ | PROT_WRITE, MAP_SHARED,
                    descriptor, 0);
  return page != MAP_FAILED ? page : NULL;
}

static run_mark *map_page_of_top(const page_name *name) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/fd/%d", name->top, name->descriptor);
  int descriptor = open(path, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return NULL;

  run_mark *mark = map_page(descriptor, name);
  close(descriptor);
  return mark;
}

run_mark_place run_mark_open(const char *setting) {
  page_name name;
  if (setting != NULL &&
      sscanf(setting, "%ld:%d:%llu:%llu", &name.top, &name.descriptor,
             &name.device, &name.inode) == 4) {
    run_mark *mark = map_page(name.descriptor, &name);
    if (mark == NULL) mark = map_page_of_top(&name);
    if (mark != NULL) return (run_mark_place){mark, (pid_t)name.top};
  }

  void *page = mmap(NULL, sizeof(run_mark), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return (run_mark_place){page != MAP_FAILED ? page : NULL, 0};
}

bool run_mark_is_probed(const run_mark *mark) {
  struct stat file;
  return mark != NULL && stat("/proc/self/exe", &file) == 0 &&
         mark->probed_device == file.st_dev &&
         mark->probed_inode == file.st_ino;
}

bool run_mark_claim(run_mark *mark, pid_t self) {
  int nobody = 0;
  if (mark == NULL) return true;
  return atomic_compare_exchange_strong(&mark->owner, &nobody, self) ||
         nobody == self;
}
