#include "command/json.h"

#include <math.h>

void json_number(FILE *out, double value) {
  if (isfinite(value))
    fprintf(out, "%.17g", value);
  else
    fputs("null", out);
}

void json_string(FILE *out, const char *text) {
  fputc('"', out);
  for (; *text != '\0'; text++) {
    unsigned char letter = (unsigned char)*text;
    if (letter == '"' || letter == '\\')
      fprintf(out, "\\%c", letter);
    else if (letter < 0x20)
      fprintf(out, "\\u%04x", letter);
    else
      fputc(letter, out);
  }
  fputc('"', out);
}
