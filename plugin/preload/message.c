#define _GNU_SOURCE // strerrordesc_np
#include "preload/message.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"

static int kept_stderr = -1;

void message_keep_stderr(void) {
  kept_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 955);
  if (kept_stderr < 0) kept_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 20);
}

void message_let_go(void) {
  if (kept_stderr >= 0) close(kept_stderr);
  kept_stderr = -1;
}

int message_kept_stderr(void) { return kept_stderr; }

void message_say(const char *const parts[]) {
  char line[5120]; // a path and a sentence
  text out;

  // one byte is kept back for the end of the line
  text_start(&out, line, sizeof line - 1);
  text_add(&out, "ode-mlcp: ");
  for (; *parts != NULL; parts++) text_add(&out, *parts);
  line[out.used++] = '\n';
  (void)text_write(&out, kept_stderr >= 0 ? kept_stderr : STDERR_FILENO);
}

const char *message_reason(int error) {
#ifdef __GLIBC__
  const char *words = strerrordesc_np(error);
#else
  const char *words = strerror(error); // musl's are constants
#endif
  return words != NULL ? words : "unknown error";
}
