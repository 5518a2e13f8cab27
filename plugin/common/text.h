/* Text put together in a buffer, numbers with a decimal point whatever the locale. */
#ifndef ODE_MLCP_COMMON_TEXT_H
#define ODE_MLCP_COMMON_TEXT_H

#include <stddef.h>

/** Text in a buffer of the caller's. What does not fit is left out, the rest
 *  of the calls included, so that the text is always a whole beginning. */
typedef struct text {
  char *data;
  size_t size; /* bytes of `data` */
  size_t used;
  int overflowed;
} text;

void text_start(text *out, char *data, size_t size);

void text_add(text *out, const char *words);
void text_add_integer(text *out, long long value);

/** `digits` (1 .. 17) significant digits, as -0.00123, or -1.23e-12 where that
 *  is shorter. "nan", "inf" or "-inf" where
 *  it is no number. */
void text_add_number(text *out, double value, int digits);

/** Write all of `text` to `descriptor`.
 *  @return 0, or the errno of the write that failed. */
int text_write(const text *words, int descriptor);

#endif
