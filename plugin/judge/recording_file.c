#include "judge/recording_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int file = -1;
static recording_head head;
static recording_record *record; /* that is made */
static size_t record_room;

recording_head *recording_file_head(void) { return file >= 0 ? &head : NULL; }

static bool put(const void *bytes, size_t size, uint64_t at) {
  size_t done = 0;
  while (done < size) {
    ssize_t n = pwrite(file, (const char *)bytes + done, size - done,
                       (off_t)(at + done));
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

bool recording_file_open(const char *path) {
  file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return false;
  head = (recording_head){.version = RECORDING_VERSION,
                          .head_size = RECORDING_HEAD,
                          .used = RECORDING_HEAD};
  memcpy(head.magic, RECORDING_MAGIC, sizeof head.magic);
  if (put(&head, sizeof head, 0)) return true;
  recording_file_close();
  unlink(path);
  return false;
}

void *recording_file_begin(recording_kind kind, size_t size) {
  size = (size + 7) / 8 * 8;
  if (file < 0 || head.full) return NULL;
  if (size > record_room) {
    free(record);
    record = malloc(record_room = 2 * size);
  }
  if (record == NULL) {
    record_room = 0;
    head.full = 1;
    return NULL;
  }
  memset(record, 0, size);
  *record = (recording_record){kind, (uint32_t)size};
  return record;
}

void recording_file_end(void) {
  if (put(record, record->size, head.used))
    head.used += record->size;
  else
    head.full = 1;
  put(&head, sizeof head, 0);
}

void recording_file_close(void) {
  if (file < 0) return;
  put(&head, sizeof head, 0);
  if (ftruncate(file, (off_t)head.used) != 0) head.full = 1;
  close(file);
  file = -1;
}
