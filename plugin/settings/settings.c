#include "settings/settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/number.h"
#include "common/sized.h"
#include "settings/scheme_list.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

/* --- words ------------------------------------------------------------------ */

enum {
#define COUNT(id, name, help) +1
  N_LISTED = 0 SCHEME_LIST(COUNT),
#undef COUNT
  N_SCHEMES = N_LISTED + 4 /* room for those added */
};

static setting_word schemes[N_SCHEMES + 1] = {
#define SCHEME(id, name, help) {name, ODE_MLCP_SCHEME_##id, help},
    SCHEME_LIST(SCHEME)
#undef SCHEME
};

static const setting_word solvers[] = {
    {"fast", ODE_MLCP_SOLVER_FAST,
     "a cascade of methods, the cheapest first; Lemke's method for problems "
     "that have no box formulation"},
    {"lemke", ODE_MLCP_SOLVER_LEMKE, "Lemke's method for every step"},
    {NULL, 0, NULL}};

static const setting_word impact_laws[] = {
    {"poisson", ODE_MLCP_IMPACT_LAW_POISSON,
     "all contacts that strike at once together, with Poisson's restitution"},
    {"set", ODE_MLCP_IMPACT_LAW_SET,
     "one outcome of the set-valued law, at random; Poisson's where a contact "
     "bounces"},
    {NULL, 0, NULL}};

static const setting_word switches[] = {
    {"on", 1, NULL}, {"off", 0, NULL}, {NULL, 0, NULL}};

const char *settings_scheme_name(int scheme) {
  for (const setting_word *known = schemes; known->word != NULL; known++)
    if (known->value == scheme) return known->word;
  return NULL;
}

bool settings_add_scheme_name(int scheme, const char *name) {
  int n = N_LISTED;
  while (n < N_SCHEMES && schemes[n].word != NULL) n++;
  if (n == N_SCHEMES) return false;
  schemes[n] = (setting_word){name, scheme, NULL};
  return true;
}

/* --- the table -------------------------------------------------------------- */

/* what is said of a row in ode_mlcp_settings.h */
#define ONE_OF(list) .kind = SETTING_WORDS, .words = list
#define ON_OFF ONE_OF(switches)
#define WHOLE(from, to) .kind = SETTING_INTEGER, .least = from, .most = to
#define EVEN(from, to) WHOLE(from, to), .even = true
#define NUMBER(low, high) .kind = SETTING_REAL, low, high
#define FROM(number) .least = number
#define ABOVE(number) .least = number, .above = true
#define TO(number) .most = number
#define BELOW(number) .most = number, .below = true
#define WORD_OR(name, number, others) .word = name, .word_value = number, others

#define BIT(scheme) (1u << ODE_MLCP_SCHEME_##scheme)
#define ALL 0
#define AP_AH (BIT(AP) | BIT(AH))
#define AP_AH_ST (AP_AH | BIT(ST))
#define GAP BIT(GAP)
#define SECOND_ORDER                                                           \
  (BIT(GAP) | BIT(TRAPEZOID_1) | BIT(TRAPEZOID) | BIT(CONSERVING))
#define ORDER_TWO (BIT(TRAPEZOID) | BIT(CONSERVING))
#define STABILISED (BIT(AH) | SECOND_ORDER | BIT(ST))
#define ST BIT(ST)

const setting settings[] = {
#define SETTING(type, name, allowed, by_default, in_unit, its_letter, read_by, \
                text)                                                          \
  {.field = #name,                                                             \
   .offset = offsetof(ode_mlcp_options, name),                                 \
   .size = sizeof(type),                                                       \
   .fallback = by_default,                                                     \
   .unit = in_unit,                                                            \
   .letter = its_letter,                                                       \
   .schemes = read_by,                                                         \
   .help = text,                                                               \
   allowed},
    ODE_MLCP_SETTINGS(SETTING)
#undef SETTING
        {.field = NULL}};

/* words and whole numbers are kept as an int, enums too */
#define FITS(type, ...)                                                        \
  _Static_assert(                                                              \
      sizeof(type) == sizeof(double) || sizeof(type) == sizeof(int),           \
      "a setting is a double, an int or an enum");
ODE_MLCP_SETTINGS(FITS)
#undef FITS

void setting_name(const setting *setting, char name[SETTING_NAME]) {
  snprintf(name, SETTING_NAME, "%s", setting->field);
  for (char *c = name; *c != '\0'; c++)
    if (*c == '_') *c = '-';
}

static const setting *find_setting(const char *name) {
  for (const setting *known = settings; known->field != NULL; known++) {
    char own[SETTING_NAME];
    setting_name(known, own);
    if (strcmp(own, name) == 0) return known;
  }
  return NULL;
}

static double value_of(const setting *setting,
                       const ode_mlcp_options *options) {
  const char *place = (const char *)options + setting->offset;
  double real;
  int whole;
  if (setting->kind == SETTING_REAL) {
    memcpy(&real, place, sizeof real);
    return real;
  }
  memcpy(&whole, place, sizeof whole);
  return whole;
}

static void set_value(const setting *setting, ode_mlcp_options *options,
                      double value) {
  char *place = (char *)options + setting->offset;
  int whole = setting->kind == SETTING_REAL ? 0 : (int)value;
  if (setting->kind == SETTING_REAL)
    memcpy(place, &value, sizeof value);
  else
    memcpy(place, &whole, sizeof whole);
}

/* NaN is never allowed: no comparison with it holds. */
static bool is_allowed(const setting *setting, double value) {
  if (setting->kind == SETTING_WORDS) {
    for (const setting_word *word = setting->words; word->word != NULL; word++)
      if (value == word->value) return true;
    return false;
  }
  if (setting->word != NULL && value == setting->word_value) return true;
  if (setting->even && fmod(value, 2) != 0) return false;
  return (setting->above ? value > setting->least : value >= setting->least) &&
         (setting->below ? value < setting->most : value <= setting->most);
}

/* --- to and from text ------------------------------------------------------- */

/* As few digits as give the same number again. */
static void add_exactly(text *out, setting_kind kind, double value) {
  if (kind != SETTING_REAL) {
    text_add_integer(out, (long long)value);
    return;
  }
  for (int digits = 9; digits <= 17; digits++) {
    char data[40];
    double again;
    text number;
    text_start(&number, data, sizeof data - 1);
    text_add_number(&number, value, digits);
    data[number.used] = '\0';
    if (digits < 17 && (!number_parse(data, &again) || again != value))
      continue;
    text_add(out, data);
    return;
  }
}

static void add_value(text *out, const setting *setting, double value) {
  if (setting->kind == SETTING_WORDS)
    for (const setting_word *word = setting->words; word->word != NULL; word++)
      if (value == word->value) {
        text_add(out, word->word);
        return;
      }
  if (setting->word != NULL && value == setting->word_value)
    text_add(out, setting->word);
  else
    add_exactly(out, setting->kind, value);
}

/* The value may be out of range. */
static bool parse_value(const setting *setting, const char *value,
                        double *parsed) {
  long whole;
  switch (setting->kind) {
    case SETTING_WORDS:
      for (const setting_word *word = setting->words; word->word; word++)
        if (strcmp(word->word, value) == 0) {
          *parsed = word->value;
          return true;
        }
      return false;
    case SETTING_INTEGER:
      if (!number_parse_whole(value, &whole)) return false;
      *parsed = (double)whole;
      return true;
    case SETTING_REAL:
      if (setting->word != NULL && strcmp(value, setting->word) == 0) {
        *parsed = setting->word_value;
        return true;
      }
      // the number behind a word is not its name
      return number_parse(value, parsed) &&
             (setting->word == NULL || *parsed != setting->word_value);
  }
  return false;
}

void setting_add_metavar(text *out, const setting *setting) {
  if (setting->word != NULL) {
    text_add(out, setting->word);
    text_add(out, "|");
  }
  text_add(out, setting->letter);
  if (setting->letter[0] != '\0') return;
  for (const setting_word *word = setting->words; word->word; word++) {
    if (word != setting->words) text_add(out, "|");
    text_add(out, word->word);
  }
}

static void add_words(text *out, const setting_word words[],
                      const char *before_last) {
  for (const setting_word *word = words; word->word != NULL; word++) {
    if (word != words) text_add(out, word[1].word ? ", " : before_last);
    text_add(out, word->word);
  }
}

static void add_range(text *out, const setting *setting) {
  bool is_whole = setting->kind == SETTING_INTEGER;
  bool endless = isinf(setting->most);
  text_add(out, setting->even                       ? "an even number"
                : is_whole                          ? "a whole number"
                : strcmp(setting->unit, "m") == 0   ? "a length"
                : strcmp(setting->unit, "m/s") == 0 ? "a speed"
                                                    : "a number");
  text_add(out, setting->above ? " above " : " from ");
  add_exactly(out, setting->kind, setting->least);
  if (!endless) {
    text_add(out, setting->above ? " and" : "");
    text_add(out, setting->below ? " below " : " to ");
    add_exactly(out, setting->kind, setting->most);
  }
  if (setting->unit[0] != '\0') {
    text_add(out, " in ");
    text_add(out, setting->unit);
  }
  if (endless) text_add(out, setting->below ? ", not inf" : ", or inf");
}

static void add_allowed(text *out, const setting *setting) {
  if (setting->kind == SETTING_WORDS) {
    add_words(out, setting->words, " or ");
    return;
  }
  if (setting->word != NULL) {
    text_add(out, setting->word);
    text_add(out, ", or ");
  }
  add_range(out, setting);
}

static void add_schemes(text *out, const setting *setting) {
  setting_word readers[N_SCHEMES + 1] = {0};
  int n = 0;
  for (int i = 0; i < N_LISTED; i++)
    if (setting->schemes & (1u << schemes[i].value)) readers[n++] = schemes[i];
  if (n == 0) return;
  text_add(out, "; read by ");
  add_words(out, readers, " and ");
  text_add(out, " only");
}

void setting_add_default(text *out, const setting *setting) {
  add_value(out, setting, setting->fallback);
}

void setting_add_description(text *out, const setting *setting) {
  text_add(out, setting->help);
  if (setting->kind == SETTING_WORDS && setting->words[0].help != NULL)
    for (const setting_word *word = setting->words; word->word; word++) {
      text_add(out, " ");
      text_add(out, word->word);
      text_add(out, ": ");
      text_add(out, word->help);
      text_add(out, word[1].word != NULL ? ";" : ".");
    }
  text_add(out, " Default ");
  setting_add_default(out, setting);
  if (setting->kind != SETTING_WORDS) {
    text_add(out, "; ");
    add_allowed(out, setting);
  }
  add_schemes(out, setting);
  text_add(out, ".");
}

/* --- checks ----------------------------------------------------------------- */

/* A line in a buffer of any size, NULL with 0. */
static void give_line(char *message, size_t size, text *line) {
  line->data[line->used] = '\0';
  if (size > 0) snprintf(message, size, "%s", line->data);
}

/* A value as somebody gave it, on one line that is not too long. */
static void add_given(text *out, const char *value) {
  char shown[100];
  snprintf(shown, sizeof shown, "%s", value);
  for (char *c = shown; *c != '\0'; c++)
    if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
  text_add(out, shown);
}

/* `scheme` NULL: the value is not allowed; else one that does not read it. */
static void refuse(const setting *setting, const char *value,
                   const char *scheme, char *message, size_t message_size) {
  char data[SETTING_LINE], name[SETTING_NAME];
  text line;
  text_start(&line, data, sizeof data - 1);
  setting_name(setting, name);
  text_add(&line, name);
  text_add(&line, ": '");
  add_given(&line, value);
  text_add(&line, scheme != NULL ? "' is not for scheme " : "' is not ");
  if (scheme != NULL) {
    text_add(&line, scheme);
    add_schemes(&line, setting);
  } else {
    add_allowed(&line, setting);
  }
  give_line(message, message_size, &line);
}

static bool refuse_size(const char *why, char *message, size_t message_size) {
  if (message_size > 0) snprintf(message, message_size, "struct_size: %s", why);
  return false;
}

static bool has_room(const setting *setting, const ode_mlcp_options *options) {
  return setting->offset + setting->size <= options->struct_size;
}

/* Fields of a later version: as long as they are 0 we need not know them. */
static bool is_zero_beyond(const ode_mlcp_options *options) {
  const unsigned char *bytes = (const unsigned char *)options;
  for (size_t i = sizeof *options; i < options->struct_size; i++)
    if (bytes[i] != 0) return false;
  return true;
}

enum { STRUCT_MAX = 1 << 16 }; /* bytes: no version's options are as long */

bool settings_read(const ode_mlcp_options *options, ode_mlcp_options *own,
                   char *message, size_t message_size) {
  ode_mlcp_options read;
  if (message_size > 0) message[0] = '\0';
  ode_mlcp_default_options(&read);
  if (options != NULL && (options->struct_size < sizeof options->struct_size ||
                          options->struct_size > STRUCT_MAX))
    return refuse_size(
        "the options do not begin as ode_mlcp_default_options makes them",
        message, message_size);
  if (options != NULL && !is_zero_beyond(options))
    return refuse_size("there is a setting that this version does not know",
                       message, message_size);
  for (const setting *known = settings; options && known->field; known++) {
    if (!has_room(known, options)) continue;
    double value = value_of(known, options);
    bool allowed = is_allowed(known, value);
    /* what would only be left unread is no error, but for an accuracy asked for */
    bool is_read = strcmp(known->field, "accuracy") != 0 || !(value > 0) ||
                   (int)read.scheme >= N_LISTED ||
                   (known->schemes & (1u << read.scheme));
    if (!allowed || !is_read) {
      char shown[40];
      text out;
      text_start(&out, shown, sizeof shown - 1);
      add_exactly(&out, known->kind, value);
      shown[out.used] = '\0';
      refuse(known, shown, allowed ? settings_scheme_name(read.scheme) : NULL,
             message, message_size);
      return false;
    }
    set_value(known, &read, value);
  }
  *own = read;
  return true;
}

/* --- the public face -------------------------------------------------------- */

void ode_mlcp_default_options_sized(ode_mlcp_options *options, size_t size) {
  ode_mlcp_options own;
  memset(&own, 0, sizeof own);
  for (const setting *known = settings; known->field != NULL; known++)
    set_value(known, &own, known->fallback);
  sized_copy(options, size, &own, sizeof own);
  if (size >= sizeof size) options->struct_size = size;
}

ode_mlcp_error ode_mlcp_check_options(const ode_mlcp_options *options,
                                      char *message, size_t message_size) {
  ode_mlcp_options own;
  if (options == NULL && message_size > 0) message[0] = '\0';
  return options != NULL && settings_read(options, &own, message, message_size)
             ? ODE_MLCP_OK
             : ODE_MLCP_BAD_ARGUMENT;
}

ode_mlcp_error ode_mlcp_set_option(ode_mlcp_options *options, const char *name,
                                   const char *value, char *message,
                                   size_t message_size) {
  double parsed;
  if (message_size > 0) message[0] = '\0';
  if (options == NULL || name == NULL || value == NULL)
    return ODE_MLCP_BAD_ARGUMENT;

  const setting *known = find_setting(name);
  if (known == NULL || !has_room(known, options)) {
    if (message_size > 0)
      snprintf(message, message_size, "there is no option '%.100s'", name);
    return ODE_MLCP_BAD_ARGUMENT;
  }
  if (!parse_value(known, value, &parsed) || !is_allowed(known, parsed)) {
    refuse(known, value, NULL, message, message_size);
    return ODE_MLCP_BAD_ARGUMENT;
  }
  set_value(known, options, parsed);
  return ODE_MLCP_OK;
}

ode_mlcp_error ode_mlcp_get_option(const ode_mlcp_options *options,
                                   const char *name, char *value,
                                   size_t value_size) {
  char data[SETTING_LINE];
  text out;
  const setting *known =
      options != NULL && name != NULL ? find_setting(name) : NULL;
  if (known == NULL || !has_room(known, options)) return ODE_MLCP_BAD_ARGUMENT;
  text_start(&out, data, sizeof data - 1);
  add_value(&out, known, value_of(known, options));
  if (out.used >= value_size) return ODE_MLCP_BAD_ARGUMENT;
  give_line(value, value_size, &out);
  return ODE_MLCP_OK;
}

ode_mlcp_error ode_mlcp_option_name(int index, char *name, size_t name_size) {
  char own[SETTING_NAME];
  int n = sizeof settings / sizeof settings[0] - 1;
  if (index < 0 || index >= n) return ODE_MLCP_BAD_ARGUMENT;
  setting_name(&settings[index], own);
  if (strlen(own) >= name_size) return ODE_MLCP_BAD_ARGUMENT;
  strcpy(name, own);
  return ODE_MLCP_OK;
}

const char *ode_mlcp_version(void) { return PACKAGE_VERSION; }
