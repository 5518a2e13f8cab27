#include "preload/message.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int *n_ends;

void message_count_ends(atomic_int *count) { n_ends = count; }

/* In one piece: others write to the same place. */
static void say(const char *format, va_list arguments) {
  char line[2 * PATH_MAX], words[2 * PATH_MAX - 16];
  vsnprintf(words, sizeof words, format, arguments);
  int length = snprintf(line, sizeof line, "ode-mlcp: %s\n", words);
  while (write(STDERR_FILENO, line, (size_t)length) < 0 && errno == EINTR)
    continue;
}

void message_say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
}

void message_end(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  if (n_ends != NULL) atomic_fetch_add(n_ends, 1);
  _exit(2);
}
