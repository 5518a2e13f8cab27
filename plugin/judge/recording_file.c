#define _GNU_SOURCE // mremap
#include "judge/recording_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The file grows by this much at a time. */
static const size_t GROWTH = (size_t)4 << 20;

static int file = -1;
static recording_head *head;
static size_t file_size, record_size;

/* Disk is set aside before it is mapped: a write to a mapped page that has none
 * would be a bus error. */
static bool grow(size_t size) {
  int error = posix_fallocate(file, 0, (off_t)size);
  if (error != 0) return false;
  void *moved = head == NULL ? mmap(NULL, size, PROT_READ | PROT_WRITE,
                                    MAP_SHARED, file, 0)
                             : mremap(head, file_size, size, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) return false;
  head = moved;
  file_size = size;
  return true;
}

recording_head *recording_file_head(void) { return head; }

bool recording_file_open(const char *path) {
  file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return false;
  if (!grow(GROWTH)) {
    close(file);
    file = -1;
    unlink(path);
    return false;
  }
  memcpy(head->magic, RECORDING_MAGIC, sizeof head->magic);
  head->version = RECORDING_VERSION;
  head->head_size = RECORDING_HEAD;
  head->used = RECORDING_HEAD;
  return true;
}

void *recording_file_begin(recording_kind kind, size_t size) {
  record_size = (size + 7) / 8 * 8;
  if (head == NULL || head->full) return NULL;
  while (head->used + record_size > file_size)
    if (!grow(file_size + (record_size > GROWTH ? record_size : GROWTH))) {
      head->full = 1;
      return NULL;
    }
  recording_record *record = (void *)((char *)head + head->used);
  // disk just set aside is zero
  *record = (recording_record){kind, (uint32_t)record_size};
  return record;
}

void recording_file_end(void) {
  __atomic_store_n(&head->used, head->used + record_size, __ATOMIC_RELEASE);
}

void recording_file_close(void) {
  if (head != NULL) munmap(head, file_size);
  if (file >= 0) close(file);
  head = NULL;
  file = -1;
}
