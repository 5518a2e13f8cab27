/* Values of a JSON text. */
#ifndef ODE_MLCP_COMMAND_JSON_H
#define ODE_MLCP_COMMAND_JSON_H

#include <stdio.h>

/** With all digits; null where it is not finite, for which JSON has no word. */
void json_number(FILE *out, double value);

/** In quotes, with escapes. */
void json_string(FILE *out, const char *text);

#endif
