#include "preload/statistics.h"

#include <math.h>
#include <string.h>

#define NONE

void statistics_add(statistics *sums, const ode_mlcp_report *report) {
  // what was not a number once stays none
#define SUM(key) *sum += value;
#define MOST(key)                                                              \
  if (!(value <= *sum) && *sum == *sum) *sum = value;
#define ADD(type, field, islands, steps, unit, meaning)                        \
  {                                                                            \
    STATISTICS_##type value = report->field, *sum = &sums->field;              \
    (void)value, (void)sum;                                                    \
    steps                                                                      \
  }
  ODE_MLCP_REPORT(ADD)
#undef ADD
#undef SUM
#undef MOST
  sums->failed += !report->taken && !report->refused;
}

static void add_key(text *out, const char *key) {
  text_add(out, "  \"");
  text_add(out, key);
  text_add(out, "\": ");
}

static void add_integer(text *out, const char *key, long value) {
  add_key(out, key);
  text_add_integer(out, value);
  text_add(out, ",\n");
}

/* JSON has no word for what is not a finite number but null. */
static void add_number(text *out, const char *key, double value) {
  add_key(out, key);
  if (isfinite(value))
    text_add_number(out, value, 9);
  else
    text_add(out, "null");
  text_add(out, ",\n");
}

static void add_word(text *out, const char *key, const char *word) {
  add_key(out, key);
  text_add_json_string(out, word);
}

/* A setting's text is a number, for JSON too, a word, or inf: no limit. */
static void add_setting(text *out, const char *name, const char *value) {
  char key[32];
  size_t length = strlen(name);
  for (size_t i = 0; i <= length; i++) {
    key[i] = name[i];
    if (key[i] == '-') key[i] = '_';
  }
  text_add(out, ",\n");
  if (value[0] >= 'a' && strcmp(value, "inf") != 0) {
    add_word(out, key, value);
    return;
  }
  add_key(out, key);
  text_add(out, strcmp(value, "inf") != 0 ? value : "null");
}

void statistics_add_settings(text *out, const ode_mlcp_options *options) {
  char name[32], value[32];
  add_word(out, "version", ode_mlcp_version());
  for (int i = 0; ode_mlcp_option_name(i, name, sizeof name) == ODE_MLCP_OK;
       i++)
    if (ode_mlcp_get_option(options, name, value, sizeof value) == ODE_MLCP_OK)
      add_setting(out, name, value);
  text_add(out, "\n");
}

void statistics_add_json(text *out, const statistics *sums,
                         const char *settings) {
  text_add(out, "{\n");
#define SUM(key) ADD_VALUE(#key, value)
#define MOST(key) ADD_VALUE(#key, value)
#define ADD_VALUE(key, value)                                                  \
  _Generic((value), double : add_number, long : add_integer)(out, key, value);
#define ADD(type, field, islands, steps, unit, meaning)                        \
  {                                                                            \
    STATISTICS_##type value = sums->field;                                     \
    (void)value;                                                               \
    steps                                                                      \
  }
  ODE_MLCP_REPORT(ADD)
#undef ADD
#undef SUM
#undef MOST
  add_integer(out, "failed", sums->failed);
  add_integer(out, "worlds", sums->worlds);
  text_add(out, settings);
  text_add(out, "}\n");
}
