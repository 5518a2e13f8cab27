#include "command/json.h"

#include <inttypes.h>
#include <math.h>

static void put_text(const json *json, const char *text) {
  FILE *out = json->out;
  if (json->words) {
    fputs(text, out);
    return;
  }
  fputc('"', out);
  for (; *text != '\0'; text++) {
    unsigned char letter = (unsigned char)*text;
    if (letter == '"' || letter == '\\')
      fprintf(out, "\\%c", letter);
    else if (letter < 0x20 || letter == '<') // that would end a page's script
      fprintf(out, "\\u%04x", letter);
    else
      fputc(letter, out);
  }
  fputc('"', out);
}

static void put_number(const json *json, double value) {
  enum { ALL = 17, SHOWN = 9 };
  int digits = json->digits > 0 ? json->digits : json->words ? SHOWN : ALL;
  if (isfinite(value))
    fprintf(json->out, "%.*g", digits, value);
  else
    fputs("null", json->out);
}

static void begin_line(const json *json) {
  fprintf(json->out, "\n%*s", 2 * (json->depth - json->words), "");
}

/* All before a member's value. */
static void begin_member(json *json, const char *key, bool opens) {
  bool item = json->words && key == NULL && !opens;
  bool own_line = json->depth > 0 && json->line == 0 && !item;
  if (json->some && !(json->words && own_line)) fputc(',', json->out);
  if (own_line && (json->begun || !json->words)) begin_line(json);
  if (!own_line && (json->some || (item && json->line == 0)))
    fputc(' ', json->out);
  if (key != NULL) {
    put_text(json, key);
    fputs(opens && json->words && json->line == 0 ? ":" : ": ", json->out);
  }
  json->some = json->begun = true;
}

void json_open(json *json, const char *key, char bracket) {
  if (json->depth > 0 || !json->words) begin_member(json, key, true);
  if (json->words && json->depth > 0 && key == NULL && json->line == 0) {
    fputs("- ", json->out);
    json->line = json->depth + 1;
  }
  if (!json->words || json->line > 0) fputc(bracket, json->out);
  json->closing[json->depth++] = bracket == '{' ? '}' : ']';
  json->some = false;
}

void json_close(json *json) {
  char bracket = json->closing[--json->depth];
  if (!json->words && json->line == 0 && json->some) begin_line(json);
  if (!json->words || json->line > 0) fputc(bracket, json->out);
  if (json->depth < json->line) json->line = 0;
  json->some = true;
  if (json->depth == 0) fputc('\n', json->out);
}

void json_put(json *json, const char *key, double value) {
  begin_member(json, key, false);
  put_number(json, value);
}

void json_put_count(json *json, const char *key, long long value) {
  begin_member(json, key, false);
  fprintf(json->out, "%lld", value);
}

void json_put_size(json *json, const char *key, uint64_t value) {
  begin_member(json, key, false);
  fprintf(json->out, "%" PRIu64, value);
}

void json_put_string(json *json, const char *key, const char *text) {
  begin_member(json, key, false);
  put_text(json, text);
}

void json_put_word(json *json, const char *key, const char *word) {
  begin_member(json, key, false);
  fputs(word, json->out);
}

void json_put_truth(json *json, const char *key, bool value) {
  json_put_word(json, key, value ? "true" : "false");
}

void json_put_numbers(json *json, const char *key, const double values[],
                      int n) {
  begin_member(json, key, false);
  fputc('[', json->out);
  for (int i = 0; i < n; i++) {
    if (i > 0) fputs(", ", json->out);
    put_number(json, values[i]);
  }
  fputc(']', json->out);
}
