#include "bench_run.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int by_size(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

bench_spread bench_spread_of(const double times[], int n_times) {
  if (n_times < 1) return (bench_spread){NAN, NAN, NAN, NAN};
  double sorted[BENCH_MOST_TIMES];
  memcpy(sorted, times, (size_t)n_times * sizeof *sorted);
  qsort(sorted, (size_t)n_times, sizeof *sorted, by_size);
  int p99 = (int)ceil(0.99 * n_times) - 1;
  double sum = 0;
  for (int i = 0; i < n_times; i++) sum += sorted[i];
  return (bench_spread){sorted[n_times / 2], sum / n_times, sorted[p99],
                        sorted[n_times - 1]};
}

void bench_add_time(bench_result *result, double seconds) {
  if (result->n_times < BENCH_MOST_TIMES)
    result->times[result->n_times++] = seconds;
}

bool bench_goes_on(const bench_result *result, int least, int most,
                   double seconds) {
  double sum = 0;
  for (int i = 0; i < result->n_times; i++) sum += result->times[i];
  if (result->n_times >= most || result->n_times == BENCH_MOST_TIMES)
    return false;
  return result->n_times < least || sum < seconds;
}

/* A figure of /proc/self/status, bytes; 0 where there is none. */
static double memory_of_process(const char *name) {
  FILE *file = fopen("/proc/self/status", "r");
  char line[200];
  double kilobytes = 0;
  size_t length = strlen(name);
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, name, length) == 0) kilobytes = atof(line + length);
  if (file != NULL) fclose(file);
  return 1024 * kilobytes;
}

static void measure(bench_measurement *measurement, void *what, int pipe) {
  static bench_result result;
  result.own_residual = NAN;
  double before = memory_of_process("VmRSS:");
  measurement(what, &result);
  result.memory = memory_of_process("VmHWM:") - before;
  const char *next = (const char *)&result;
  size_t left = sizeof result;
  while (left > 0) {
    ssize_t written = write(pipe, next, left);
    if (written <= 0) break;
    next += written;
    left -= (size_t)written;
  }
}

bool bench_run(bench_measurement *measurement, void *what, double limit,
               bench_result *result) {
  memset(result, 0, sizeof *result);
  int ends[2];
  if (pipe(ends) != 0) {
    snprintf(result->note, sizeof result->note, "no pipe");
    return false;
  }
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const struct rlimit processor = {(rlim_t)ceil(limit),
                                     (rlim_t)ceil(limit) + 1};
    setrlimit(RLIMIT_CPU, &processor);
    measure(measurement, what, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  char *next = (char *)result;
  size_t left = child < 0 ? 0 : sizeof *result;
  while (left > 0) {
    ssize_t got = read(ends[0], next, left);
    if (got <= 0) break;
    next += got;
    left -= (size_t)got;
  }
  close(ends[0]);
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  if (child > 0 && left == 0) return true;

  memset(result, 0, sizeof *result);
  result->residual = result->own_residual = NAN;
  if (child > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    snprintf(result->note, sizeof result->note, "over %.0f s", limit);
  else
    snprintf(result->note, sizeof result->note, "crashed");
  return false;
}
