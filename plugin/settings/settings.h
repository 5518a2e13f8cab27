/* The table of settings (ode_mlcp_settings.h) as data, and the schemes' names.
 *
 * Nothing here calls the host: the command is linked with it, too.
 */
#ifndef ODE_MLCP_SETTINGS_SETTINGS_H
#define ODE_MLCP_SETTINGS_SETTINGS_H

#include <stdbool.h>

#include "common/text.h"
#include "ode_mlcp.h"

enum {
  SETTING_NAME = 32,  /* longest name of a setting, with its end */
  SETTING_LINE = 400, /* longest message */
  SETTING_DESCRIPTION = 1000
};

typedef enum setting_kind {
  SETTING_WORDS,
  SETTING_INTEGER,
  SETTING_REAL
} setting_kind;

typedef struct setting_word {
  const char *word;
  int value;
  const char *help;
} setting_word;

/** A row of the table. */
typedef struct setting {
  const char *field; /* "max_events" */
  size_t offset, size;
  double fallback;
  setting_kind kind;
  const setting_word *words; /* of SETTING_WORDS; ends with a NULL word */
  double least, most;        /* of the others; themselves left out where: */
  bool above, below;
  bool even;
  const char *word; /* stands for word_value, which needs not be in range; or
                       NULL */
  double word_value;
  const char *unit, *letter;
  unsigned schemes; /* that read it, bit by ode_mlcp_scheme; 0: all */
  const char *help;
} setting;

/** All settings, in the order of ode_mlcp_options; ends with a NULL field. */
extern const setting settings[];

/** "max-events". */
void setting_name(const setting *setting, char name[SETTING_NAME]);

/** Placeholder of its value: "K", "on|off". */
void setting_add_metavar(text *out, const setting *setting);

/** "4", as ode_mlcp_set_option takes it. */
void setting_add_default(text *out, const setting *setting);

/** All there is to say of it: the help, its words, "Default 4; an even number
 *  from 4 to 64; read by ap and ah only." */
void setting_add_description(text *out, const setting *setting);

/**
 * Make options of this version out of a caller's, which may be older and
 * shorter: what it does not have is at its default.
 *
 * @param options  NULL: defaults
 * @param own      out, on success
 * @param message  [message_size] out: empty, or which setting is out of range
 * @return false where one is, or the struct's size is none.
 */
bool settings_read(const ode_mlcp_options *options, ode_mlcp_options *own,
                   char *message, size_t message_size);

/** The word for a scheme; NULL for none. */
const char *settings_scheme_name(int scheme);

/** Let a scheme that is not in SCHEME_LIST be chosen by a name that stays. Not
 *  thread-safe. @return false where there is no room for more. */
bool settings_add_scheme_name(int scheme, const char *name);

#endif
