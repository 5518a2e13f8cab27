/* Numbers from text, whatever the program's locale. */
#ifndef ODE_MLCP_COMMON_NUMBER_H
#define ODE_MLCP_COMMON_NUMBER_H

#include <stdbool.h>

/** Read all of `text` as a number with a decimal point; "inf" and "nan" are
 *  some. @return false, and `value` unchanged, where there is anything else,
 *  space too, or it is too large for a double. */
bool number_parse(const char *text, double *value);

/** Likewise a whole number. */
bool number_parse_whole(const char *text, long *value);

#endif
