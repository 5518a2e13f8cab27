#include "common/text.h"

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
  unsigned long long rest =
      value < 0 ? 0ULL - (unsigned long long)value : (unsigned long long)value;

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

/* The decimal digits of value > 0, rounded to `digits` of them, and the power
 * of ten of the first.
 * @return how many are left without the zeros at the end, which say nothing */
static int decimal_digits(char ascii[20], int *exponent, double value,
                          int digits) {
  // a first guess from the binary exponent: right, or one too small
  int binary;
  (void)frexp(value, &binary);
  *exponent = (int)floor((binary - 1) * 0.30102999566398119521);

  long double limit = times_power_of_ten(1, digits);
  unsigned long long mantissa =
      (unsigned long long)(times_power_of_ten(value, digits - 1 - *exponent) +
                           0.5L);
  if ((long double)mantissa >= limit) {
    ++*exponent;
    mantissa =
        (unsigned long long)(times_power_of_ten(value, digits - 1 - *exponent) +
                             0.5L);
  }

  for (int k = digits - 1; k >= 0; k--) {
    ascii[k] = (char)('0' + mantissa % 10);
    mantissa /= 10;
  }
  while (digits > 1 && ascii[digits - 1] == '0') digits--;
  return digits;
}

/* Digits with the point after the first `before`; zeros stand in where there
 * are none. */
static void add_pointed(text *out, const char *ascii, int n, int before) {
  for (int k = before < 1 ? before - 1 : 0; k < n || k < before; k++) {
    if (k == before) text_add(out, ".");
    if (k < 0 || k >= n)
      text_add(out, "0");
    else
      add_bytes(out, ascii + k, 1);
  }
}

void text_add_number(text *out, double value, int digits) {
  char ascii[20];
  int exponent;

  if (isnan(value)) {
    text_add(out, "nan");
    return;
  }
  if (value < 0) text_add(out, "-");
  if (isinf(value) || value == 0) {
    text_add(out, value == 0 ? "0" : "inf");
    return;
  }

  int n = decimal_digits(ascii, &exponent, fabs(value), digits);
  if (exponent >= -4 && exponent < digits) {
    add_pointed(out, ascii, n, exponent + 1);
  } else {
    add_pointed(out, ascii, n, 1);
    text_add(out, "e");
    text_add_integer(out, exponent);
  }
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
