/* How long a fuzz target runs, in seconds of a processor: libFuzzer's own clock goes on
 * while others have it. */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);

/** Called by libFuzzer, before its first input. It ends as asked at SIGUSR1: after
 *  $FUZZ_SECONDS. */
int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *seconds = getenv("FUZZ_SECONDS");
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                           .sigev_signo = SIGUSR1};
  struct itimerspec at = {.it_value = {0}};
  timer_t timer;
  (void)argc;
  (void)argv;
  if (seconds == NULL) return 0;
  at.it_value.tv_sec = atol(seconds);
  if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) != 0 ||
      timer_settime(timer, 0, &at, NULL) != 0)
    abort();
  return 0;
}
