#include "preload/recorder_traffic.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* So much of the ring is used where the command keeps up, B. */
static const uint64_t SOON = (uint64_t)2 << 20;

static traffic_head *head;
static char *ring;
static uint64_t open_size; /* of the record that is being made, B */

traffic_head *traffic(void) { return head; }

bool traffic_open(const char *path) {
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  void *bytes = mmap(NULL, TRAFFIC_HEAD + TRAFFIC_RING, PROT_READ | PROT_WRITE,
                     MAP_SHARED, file, 0);
  close(file);
  if (bytes == MAP_FAILED) return false;
  traffic_head *found = bytes;
  int32_t nobody = 0;
  if (memcmp(found->magic, TRAFFIC_MAGIC, sizeof found->magic) == 0 &&
      found->size == TRAFFIC_RING &&
      __atomic_compare_exchange_n(&found->writer, &nobody, (int32_t)getpid(),
                                  false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    head = found;
    ring = (char *)bytes + TRAFFIC_HEAD;
    return true;
  }
  munmap(bytes, TRAFFIC_HEAD + TRAFFIC_RING);
  return false;
}

void traffic_forget(void) {
  if (head != NULL) munmap(head, TRAFFIC_HEAD + TRAFFIC_RING);
  head = NULL;
}

static uint64_t taken_so_far(void) {
  return __atomic_load_n(&head->taken, __ATOMIC_ACQUIRE);
}

/* Not by the C library's sleep, which is the recorder's own. */
static void wait_a_moment(void) {
  const struct timespec moment = {0, 200000};
  syscall(SYS_nanosleep, &moment, NULL);
}

/* @return false where the command is gone, for which nobody waits. */
static bool wait_for_room(uint64_t size) {
  enum { LOOKS = 1000 };
  for (int k = 1; head->written + size - taken_so_far() > TRAFFIC_RING; k++) {
    wait_a_moment();
    if (k % LOOKS == 0 && kill(head->reader, 0) != 0 && errno == ESRCH)
      return false;
  }
  return true;
}

static void publish(uint64_t size) {
  __atomic_store_n(&head->written, head->written + size, __ATOMIC_RELEASE);
}

/* The rest of the ring is left out. */
static bool pad(uint64_t size) {
  if (!wait_for_room(size)) return false;
  recording_record *record = (void *)(ring + head->written % TRAFFIC_RING);
  *record = (recording_record){TRAFFIC_PAD, (uint32_t)size};
  publish(size);
  return true;
}

void *traffic_begin(uint32_t kind, size_t bytes) {
  if (head == NULL || head->lost) return NULL;
  uint64_t size = traffic_whole(bytes);
  uint64_t at = head->written % TRAFFIC_RING, rest = TRAFFIC_RING - at;
  // from its start on where that has been taken: memory that was just used is
  // nearer than new one
  uint64_t left = head->written - taken_so_far();
  bool again = (left == 0 || at > SOON) && left + rest + size <= TRAFFIC_RING;
  if (size > TRAFFIC_RING || ((size > rest || again) && !pad(rest)) ||
      !wait_for_room(size)) {
    head->lost = 1;
    return NULL;
  }
  recording_record *record = (void *)(ring + head->written % TRAFFIC_RING);
  *record = (recording_record){kind, (uint32_t)size};
  open_size = size;
  return record;
}

void traffic_end(void) { publish(open_size); }
