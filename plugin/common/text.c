#include "common/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/number.h"

void text_start(text *out, char *data, size_t size) {
  *out = (text){data, size, 0, 0};
}

void text_add(text *out, const char *words) {
  size_t length = strlen(words);
  if (out->overflowed || length > out->size - out->used) {
    out->overflowed = 1;
    return;
  }
  memcpy(out->data + out->used, words, length);
  out->used += length;
}

void text_add_integer(text *out, long long value) {
  char digits[24];
  snprintf(digits, sizeof digits, "%lld", value);
  text_add(out, digits);
}

void text_add_number(text *out, double value, int digits) {
  PLAIN_NUMBERS;
  char ascii[40];
  snprintf(ascii, sizeof ascii, "%.*g", digits, value == 0 ? 0 : value);
  char *power = strchr(ascii, 'e');
  if (power != NULL) { // as e9 and e-12, not e+09
    power += power[1] == '-' ? 2 : 1;
    const char *from = power + strspn(power, "+0");
    memmove(power, from, strlen(from) + 1);
  }
  text_add(out, isnan(value) ? "nan" : ascii);
}

int text_write(const text *words, int descriptor) {
  for (size_t written = 0; written < words->used;) {
    ssize_t n = write(descriptor, words->data + written, words->used - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    written += (size_t)n;
  }
  return 0;
}
