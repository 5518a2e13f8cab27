/* Numbers from text, whatever the program's locale. */
#ifndef ODE_MLCP_COMMON_NUMBER_H
#define ODE_MLCP_COMMON_NUMBER_H

#include <locale.h>
#include <stdbool.h>

/** Read all of `text` as a number with a decimal point; "inf" and "nan" are
 *  some. @return false, and `value` unchanged, where there is anything else,
 *  space too, or it is too large for a double. */
bool number_parse(const char *text, double *value);

/** Likewise a whole number. */
bool number_parse_whole(const char *text, long *value);

/** The thread's locale of before, while printf, scanf and strtod read and write a
 *  decimal point. */
typedef struct plain_numbers {
  locale_t plain, before;
} plain_numbers;

/** From here to plain_numbers_end numbers of this thread have a point. */
void plain_numbers_begin(plain_numbers *numbers);
void plain_numbers_end(plain_numbers *numbers);

/** Plain numbers until the end of the block. */
#define PLAIN_NUMBERS                                                          \
  __attribute__((cleanup(plain_numbers_end)))                                  \
  plain_numbers plain_numbers_here;                                            \
  plain_numbers_begin(&plain_numbers_here)

#endif
