/* A recording on a disk that gets full: what is in it until then is whole, it says that
 * it is full, and nothing follows even where there is room again. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "full_disk.h"
#include "judge/judge.h"
#include "judge/recording_file.h"
#include "testing.h"

enum { FRAME = 1 << 20 }; /* B: much, to fill a disk soon */
static char path[] = "/tmp/ode-mlcp-test.XXXXXX";

/* A step and a frame of it; false without room. */
static bool record(uint32_t number) {
  recording_step *step = recording_file_begin(RECORDING_STEP, sizeof *step);
  if (step == NULL) return false;
  memset((char *)step + sizeof step->record, 0,
         sizeof *step - sizeof step->record);
  step->world = 1;
  step->number = number;
  recording_file_end();
  recording_frame *frame = recording_file_begin(RECORDING_FRAME, FRAME);
  if (frame == NULL) return false;
  frame->world = 1;
  frame->number = number;
  recording_file_end();
  return !recording_file_head()->full;
}

/* A disk of 10 MiB has room for nine frames of 1 MiB each, with their steps and the head. */
static void test_full_disk(void) {
  full_disk before;
  unlink(path);
  full_disk_begin(&before, 10 << 20);
  CU_ASSERT_FATAL(recording_file_open(path));
  uint32_t n = 0;
  while (n < 100 && record(n + 1)) n++;
  full_disk_end(&before);
  CU_ASSERT_EQUAL(n, 9);
  CU_ASSERT_EQUAL(recording_file_head()->full, 1);

  // now there is room, but a gap in what is told would be no recording
  CU_ASSERT(!record(n + 2));
  recording_file_head()->worlds = 1;
  recording_file_close();

  char message[200];
  recording *r = recording_open(path, message, sizeof message);
  CU_ASSERT_PTR_NOT_NULL_FATAL(r);
  CU_ASSERT_EQUAL(r->head->full, 1);
  CU_ASSERT_EQUAL(r->n_frames, 9);
  CU_ASSERT_EQUAL(r->n_steps, 10); // the one whose frame had no room
  for (uint32_t i = 0; i < r->n_frames; i++)
    CU_ASSERT_EQUAL(r->frames[i]->number, i + 1);
  recording_close(r);
}

/* The same with room for all: the limit is what ended it. */
static void test_room(void) {
  unlink(path);
  CU_ASSERT_FATAL(recording_file_open(path));
  uint32_t n = 0;
  while (n < 20 && record(n + 1)) n++;
  CU_ASSERT_EQUAL(n, 20);
  CU_ASSERT_EQUAL(recording_file_head()->full, 0);
  recording_file_close();
}

int main(void) {
  static const CU_TestInfo tests[] = {{"a full disk", test_full_disk},
                                      {"a disk with room", test_room},
                                      CU_TEST_INFO_NULL};
  int file = mkstemp(path);
  if (file < 0) return 1;
  close(file);
  int status = run_tests("judge: recordings", tests);
  unlink(path);
  return status;
}
