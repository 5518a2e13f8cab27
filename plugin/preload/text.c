#include "preload/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

void text_start(text *out, char *data, size_t size) {
  *out = (text){data, size, 0, 0};
}

static void add_bytes(text *out, const char *bytes, size_t length) {
  if (out->overflowed || length > out->size - out->used) {
    out->overflowed = 1;
    return;
  }
  memcpy(out->data + out->used, bytes, length);
  out->used += length;
}

void text_add(text *out, const char *words) {
  add_bytes(out, words, strlen(words));
}

void text_add_integer(text *out, long long value) {
  char digits[24];
  size_t at = sizeof digits;
  // unsigned, because the most negative value has no positive twin
  unsigned long long rest = value < 0 ? 0ULL - (unsigned long long)value
                                      : (unsigned long long)value;

  do {
    digits[--at] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (value < 0) digits[--at] = '-';

  add_bytes(out, digits + at, sizeof digits - at);
}

/* value * 10^power for value > 0. In steps a long double holds without loss,
 * so that the error stays at a few of its ulps. */
static long double times_power_of_ten(long double value, int power) {
  const int step = 27; // 10^27 is the last power exact in 64 bits of mantissa
  long double ten_to_step = 1e27L;

  for (; power >= step; power -= step) value *= ten_to_step;
  for (; power <= -step; power += step) value /= ten_to_step;

  long double rest = 1;
  for (int k = 0; k < (power < 0 ? -power : power); k++) rest *= 10;
  return power < 0 ? value / rest : value * rest;
}

void text_add_number(text *out, double value, int digits) {
  if (isnan(value)) {
    text_add(out, "nan");
    return;
  }
  if (value < 0) text_add(out, "-");
  if (isinf(value)) {
    text_add(out, "inf");
    return;
  }
  if (value == 0) {
    text_add(out, "0");
    return;
  }

  // a first exponent from the binary one, put right after rounding
  long double magnitude = value < 0 ? -(long double)value : value;
  int binary;
  (void)frexpl(magnitude, &binary);
  int exponent = (int)floor((binary - 1) * 0.30102999566398119521);
  long double limit = times_power_of_ten(1, digits);

  unsigned long long mantissa = (unsigned long long)(
      times_power_of_ten(magnitude, digits - 1 - exponent) + 0.5L);
  if ((long double)mantissa >= limit) {
    exponent++;
    mantissa = (unsigned long long)(
        times_power_of_ten(magnitude, digits - 1 - exponent) + 0.5L);
  }

  char ascii[20];
  for (int k = digits - 1; k >= 0; k--) {
    ascii[k] = (char)('0' + mantissa % 10);
    mantissa /= 10;
  }
  // trailing zeros say nothing
  size_t kept = (size_t)digits;
  while (kept > 1 && ascii[kept - 1] == '0') kept--;

  add_bytes(out, ascii, 1);
  if (kept > 1) {
    text_add(out, ".");
    add_bytes(out, ascii + 1, kept - 1);
  }
  if (exponent != 0) {
    text_add(out, "e");
    text_add_integer(out, exponent);
  }
}

void text_add_json_string(text *out, const char *words) {
  static const char hex[] = "0123456789abcdef";

  text_add(out, "\"");
  for (; *words != '\0'; words++) {
    unsigned char byte = (unsigned char)*words;
    char escaped[7] = {'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15], 0};
    if (byte == '"' || byte == '\\') add_bytes(out, "\\", 1);
    if (byte < 0x20) text_add(out, escaped);
    else add_bytes(out, words, 1);
  }
  text_add(out, "\"");
}

int text_write(const text *words, int descriptor) {
  for (size_t written = 0; written < words->used;) {
    ssize_t n = write(descriptor, words->data + written,
                      words->used - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    written += (size_t)n;
  }
  return 0;
}
