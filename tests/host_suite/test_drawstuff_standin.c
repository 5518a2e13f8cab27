// The drawstuff stand-in: frames, keys, pause, end, and what its report says.
// Each case runs a small program in a child process, because the stand-in sums
// up over a whole process, and reads what the child saw and reported.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CUnit/Basic.h>
#include <drawstuff/drawstuff.h>

enum { most_frames = 100 };

// what a child saw, shared with its parent
typedef struct {
  int n_starts, n_stops, n_frames;
  bool paused[most_frames];
  char keys[most_frames][8]; // pressed before this frame
  double elapsed;
} observation;

static observation *seen;
static char report_name[] = "/tmp/drawstuff_standin_XXXXXX";
static char report[512];

// what the next child draws in each frame
static double drawn_position[3] = {1, 2, 3};
static double drawn_padding;
static int stop_at_frame;

// ---- the child's program ----------------------------------------------------

static void on_start(void) { seen->n_starts++; }
static void on_stop(void) { seen->n_stops++; }

static void on_key(int key) {
  char *keys = seen->keys[seen->n_frames];
  keys[strlen(keys)] = (char)key;
}

static void on_step(int pause) {
  double R[12] = {1, 0, 0, drawn_padding, 0, 1, 0, drawn_padding,
                  0, 0, 1, drawn_padding};
  dsSetColor(1, 1, 0);
  dsDrawSphereD(drawn_position, R, 0.5f);
  seen->paused[seen->n_frames] = pause != 0;
  seen->elapsed = dsElapsedTime();
  seen->n_frames++;
  if (seen->n_frames == stop_at_frame) dsStop();
}

static void run_one_loop(int argc, char **argv) {
  dsFunctions functions = {DS_VERSION, on_start, on_step, on_key, on_stop, 0};
  dsSimulationLoop(argc, argv, 352, 288, &functions);
}

static void loop_once(void) { run_one_loop(1, (char *[]){"demo", NULL}); }

static void loop_twice(void) {
  loop_once();
  loop_once();
}

static void loop_paused(void) {
  run_one_loop(2, (char *[]){"demo", "-pause", NULL});
}

static void loop_of_four_steps(void) {
  run_one_loop(3, (char *[]){"demo", "-steps", "4", NULL});
}

static void draw_outside(void) {
  loop_once();
  dsSetColor(1, 1, 1);
}

// ---- running it -------------------------------------------------------------

// Exit status of the child, -1 where it was killed.
static int run_child(void (*program)(void), const char *steps,
                     const char *keys) {
  memset(seen, 0, sizeof *seen);
  report[0] = '\0';
  pid_t child = fork();
  if (child == 0) {
    setenv("DRAWSTUFF_STEPS", steps, 1);
    setenv("DRAWSTUFF_KEYS", keys, 1);
    setenv("DRAWSTUFF_REPORT", report_name, 1);
    if (!freopen("/dev/null", "w", stderr)) _exit(99);
    program();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  FILE *file = fopen(report_name, "r");
  if (file) {
    if (!fgets(report, sizeof report, file)) report[0] = '\0';
    fclose(file);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool reported(const char *pair) {
  char wanted[80];
  snprintf(wanted, sizeof wanted, " %s ", pair);
  return strstr(report, wanted) != NULL;
}

static unsigned long long reported_hash(void) {
  const char *hash = strstr(report, " hash=");
  return hash ? strtoull(hash + 6, NULL, 16) : 0;
}

// ---- tests ------------------------------------------------------------------

static void test_frames_and_callbacks(void) {
  CU_ASSERT_EQUAL(run_child(loop_once, "7", ""), 0);
  CU_ASSERT_EQUAL(seen->n_starts, 1);
  CU_ASSERT_EQUAL(seen->n_frames, 7);
  CU_ASSERT_EQUAL(seen->n_stops, 1);
  CU_ASSERT_EQUAL(seen->elapsed, 1.0 / 60.0);
  CU_ASSERT(reported("loops=1") && reported("frames=7"));
  CU_ASSERT(reported("drawn=7") && reported("nan=0") && reported("end=steps"));

  CU_ASSERT_EQUAL(run_child(loop_of_four_steps, "7", ""), 0);
  CU_ASSERT_EQUAL(seen->n_frames, 4);

  CU_ASSERT_EQUAL(run_child(loop_twice, "3", ""), 0);
  CU_ASSERT_EQUAL(seen->n_stops, 2);
  CU_ASSERT(reported("loops=2") && reported("frames=6"));
}

static void test_keys(void) {
  CU_ASSERT_EQUAL(run_child(loop_once, "12", " 2:a,  4-9/3:b_ 7:c "), 0);
  for (int frame = 0; frame < 12; frame++) {
    const char *expected = frame == 2   ? "a,"
                           : frame == 4 ? "b "
                           : frame == 7 ? "b c"
                                        : "";
    CU_ASSERT_STRING_EQUAL(seen->keys[frame], expected);
  }

  const char *broken[] = {"a", "5", "5:", "5-9/0:a", "-3:a", "5-:a", "5 :a"};
  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
    CU_ASSERT_EQUAL(run_child(loop_once, "9", broken[i]), 1);
}

static void test_pause(void) {
  CU_ASSERT_EQUAL(run_child(loop_once, "10", "1:^O 3:^P 5:^O 8:^P"), 0);
  for (int frame = 0; frame < 10; frame++)
    CU_ASSERT_EQUAL(seen->paused[frame], frame >= 3 && frame < 8 && frame != 5);

  CU_ASSERT_EQUAL(run_child(loop_paused, "4", "2:^P"), 0);
  for (int frame = 0; frame < 4; frame++)
    CU_ASSERT_EQUAL(seen->paused[frame], frame < 2);
}

static void test_end(void) {
  CU_ASSERT_EQUAL(run_child(loop_once, "50", "6:^X"), 0);
  CU_ASSERT(reported("end=stop") && seen->n_stops == 1);
  CU_ASSERT(seen->n_frames <= 7);

  stop_at_frame = 5;
  CU_ASSERT_EQUAL(run_child(loop_once, "50", ""), 0);
  stop_at_frame = 0;
  CU_ASSERT(reported("end=stop") && reported("frames=5"));

  CU_ASSERT_EQUAL(run_child(draw_outside, "3", ""), 1);
}

static void test_hash_and_nan(void) {
  run_child(loop_once, "5", "");
  unsigned long long hash = reported_hash();
  run_child(loop_once, "5", "");
  CU_ASSERT_EQUAL(reported_hash(), hash);

  // what the rotation leaves unset is not part of the picture
  drawn_padding = NAN;
  run_child(loop_once, "5", "");
  drawn_padding = 0;
  CU_ASSERT_EQUAL(reported_hash(), hash);
  CU_ASSERT(reported("nan=0"));

  // one bit is
  drawn_position[1] = nextafter(2, 3);
  run_child(loop_once, "5", "");
  CU_ASSERT_NOT_EQUAL(reported_hash(), hash);

  drawn_position[1] = INFINITY;
  run_child(loop_once, "5", "");
  drawn_position[1] = 2;
  CU_ASSERT(reported("nan=5"));
}

int main(void) {
  int file = mkstemp(report_name);
  seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (file < 0 || seen == MAP_FAILED) return 1;
  close(file);

  if (CU_initialize_registry() != CUE_SUCCESS) return CU_get_error();
  CU_pSuite suite = CU_add_suite("drawstuff stand-in", NULL, NULL);
  CU_add_test(suite, "frames and callbacks", test_frames_and_callbacks);
  CU_add_test(suite, "keys", test_keys);
  CU_add_test(suite, "pause", test_pause);
  CU_add_test(suite, "end", test_end);
  CU_add_test(suite, "hash and NaN", test_hash_and_nan);
  CU_basic_run_tests();
  bool passed = CU_get_number_of_tests_run() > 0 &&
                CU_get_number_of_failure_records() == 0;
  CU_cleanup_registry();
  unlink(report_name);
  return passed ? 0 : 1;
}
