#define _GNU_SOURCE // RTLD_NEXT
#include "preload/recorder_clock.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "preload/next.h"

static const int64_t START = INT64_C(946684800) * 1000000000; /* 2000-01-01 */
/* ns by which a read moves the clock on: a program that waits for time to pass ends
 * its wait */
static const int64_t A_READ = 100000;

static bool by_steps;
static _Atomic int64_t elapsed; /* ns */
/* as the recorder is preloaded, a place for it is there from the start */
static _Thread_local int wants_real __attribute__((tls_model("initial-exec")));

static int real_clock(clockid_t clock, struct timespec *now) {
  NEXT(clock_gettime)
  return next(clock, now);
}

void recorder_clock_set(void) { by_steps = true; }

void recorder_clock_advance(double seconds) {
  if (seconds > 0 && seconds < 1e6) elapsed += (int64_t)(seconds * 1e9);
}

void recorder_clock_real(bool on) { wants_real += on ? 1 : -1; }

static double seconds_of(clockid_t clock) {
  struct timespec now;
  real_clock(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double recorder_clock_seconds(void) { return seconds_of(CLOCK_MONOTONIC); }

double recorder_clock_processor(void) {
  return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

static bool is_ours(void) { return by_steps && wants_real == 0; }

static int64_t read_clock(void) {
  return START + A_READ + atomic_fetch_add(&elapsed, A_READ);
}

/* A sleep takes none of the real time; another thread may be waited for. */
static void pass(int64_t nanoseconds) {
  if (nanoseconds > 0) elapsed += nanoseconds;
  sched_yield();
}

/* ---- the C library's functions ---- */

VISIBLE int clock_gettime(clockid_t clock, struct timespec *now) {
  if (!is_ours()) return real_clock(clock, now);
  int64_t ns = read_clock();
  *now = (struct timespec){ns / 1000000000, ns % 1000000000};
  return 0;
}

VISIBLE int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  NEXT(gettimeofday)
  if (!is_ours()) return next(now, zone);
  int64_t ns = read_clock();
  *now = (struct timeval){ns / 1000000000, ns % 1000000000 / 1000};
  return 0;
}

VISIBLE time_t time(time_t *now) {
  NEXT(time)
  if (!is_ours()) return next(now);
  time_t seconds = read_clock() / 1000000000;
  if (now != NULL) *now = seconds;
  return seconds;
}

VISIBLE clock_t clock(void) {
  NEXT(clock)
  return is_ours() ? (read_clock() - START) / (1000000000 / CLOCKS_PER_SEC)
                   : next();
}

VISIBLE int nanosleep(const struct timespec *wanted, struct timespec *left) {
  NEXT(nanosleep)
  if (!is_ours()) return next(wanted, left);
  pass(wanted->tv_sec * 1000000000 + wanted->tv_nsec);
  return 0;
}

VISIBLE int clock_nanosleep(clockid_t clock, int flags,
                            const struct timespec *wanted,
                            struct timespec *left) {
  NEXT(clock_nanosleep)
  if (!is_ours()) return next(clock, flags, wanted, left);
  int64_t ns = wanted->tv_sec * 1000000000 + wanted->tv_nsec;
  pass(flags & TIMER_ABSTIME ? ns - START - elapsed : ns);
  return 0;
}

VISIBLE int usleep(useconds_t wanted) {
  NEXT(usleep)
  if (!is_ours()) return next(wanted);
  pass((int64_t)wanted * 1000);
  return 0;
}

VISIBLE unsigned sleep(unsigned wanted) {
  NEXT(sleep)
  if (!is_ours()) return next(wanted);
  pass((int64_t)wanted * 1000000000);
  return 0;
}
