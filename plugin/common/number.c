#define _GNU_SOURCE // strtod_l
#include "common/number.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

static bool is_whole_text(const char *text, const char *end) {
  return end != text && *end == '\0' && !isspace((unsigned char)text[0]);
}

bool number_parse(const char *text, double *value) {
  PLAIN_NUMBERS;
  char *end;
  errno = 0;
  double read = strtod(text, &end);
  if ((errno == ERANGE && isinf(read)) || !is_whole_text(text, end))
    return false;
  *value = read;
  return true;
}

bool number_parse_whole(const char *text, long *value) {
  char *end;
  errno = 0;
  long read = strtol(text, &end, 10);
  if (errno != 0 || !is_whole_text(text, end)) return false;
  *value = read;
  return true;
}

void plain_numbers_begin(plain_numbers *numbers) {
  numbers->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  numbers->before = (locale_t)0;
  if (numbers->plain != (locale_t)0)
    numbers->before = uselocale(numbers->plain);
}

void plain_numbers_end(plain_numbers *numbers) {
  if (numbers->plain == (locale_t)0) return;
  uselocale(numbers->before);
  freelocale(numbers->plain);
}
