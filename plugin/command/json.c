#include "command/json.h"

#include <inttypes.h>
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

static void begin_line(const json *json) {
  fprintf(json->out, "\n%*s", 2 * json->depth, "");
}

/* All before a member's value. */
static void begin_member(json *json, const char *key) {
  if (json->some) fputc(',', json->out);
  if (json->depth > 0) begin_line(json);
  if (key != NULL) {
    json_string(json->out, key);
    fputs(": ", json->out);
  }
  json->some = true;
}

void json_open(json *json, const char *key, char bracket) {
  begin_member(json, key);
  fputc(bracket, json->out);
  json->closing[json->depth++] = bracket == '{' ? '}' : ']';
  json->some = false;
}

void json_close(json *json) {
  char bracket = json->closing[--json->depth];
  if (json->some) begin_line(json);
  fputc(bracket, json->out);
  json->some = true;
  if (json->depth == 0) fputc('\n', json->out);
}

void json_put(json *json, const char *key, double value) {
  begin_member(json, key);
  json_number(json->out, value);
}

void json_put_count(json *json, const char *key, long long value) {
  begin_member(json, key);
  fprintf(json->out, "%lld", value);
}

void json_put_size(json *json, const char *key, uint64_t value) {
  begin_member(json, key);
  fprintf(json->out, "%" PRIu64, value);
}

void json_put_string(json *json, const char *key, const char *text) {
  begin_member(json, key);
  json_string(json->out, text);
}

void json_put_word(json *json, const char *key, const char *word) {
  begin_member(json, key);
  fputs(word, json->out);
}

void json_put_numbers(json *json, const char *key, const double values[],
                      int n) {
  begin_member(json, key);
  fputc('[', json->out);
  for (int i = 0; i < n; i++) {
    if (i > 0) fputs(", ", json->out);
    json_number(json->out, values[i]);
  }
  fputc(']', json->out);
}
