#include "command/arguments.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "common/number.h"
#include "settings/settings.h"

/* ---- messages ---- */

static char command_name[40] = "ode-mlcp"; // every message begins with it

int complain(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", command_name);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  return COMMAND_WRONG_USE;
}

int written_or_complain(bool written, const char *why, int status) {
  if (written) return status;
  complain("%s", why);
  return COMMAND_FELL_SHORT;
}

/* ---- values ---- */

bool argument_take_number(const argument *argument, const char *value) {
  double *number = argument->place;
  return number_parse(value, number) && isfinite(*number);
}

bool argument_take_positive(const argument *argument, const char *value) {
  return argument_take_number(argument, value) &&
         *(double *)argument->place > 0;
}

bool argument_parse_count(const char *value, uint64_t least, uint64_t most,
                          uint64_t *count) {
  char *end;
  errno = 0;
  *count = strtoull(value, &end, 10);
  return *value >= '0' && *value <= '9' && *end == '\0' && errno == 0 &&
         *count >= least && *count <= most;
}

bool argument_take_count(const argument *argument, const char *value) {
  return argument_parse_count(value, argument->least, argument->most,
                              argument->place);
}

int argument_find_word(const char *const words[], const char *value) {
  for (int k = 0; words[k] != NULL; k++)
    if (strcmp(words[k], value) == 0) return k;
  return -1;
}

bool argument_take_word(const argument *argument, const char *value) {
  int found = argument_find_word(argument->words, value);
  *(int *)argument->place = found;
  return found >= 0;
}

static bool take(const argument *argument, const char *value) {
  if (argument->letter == NULL)
    *(bool *)argument->place = true;
  else if (argument->take == NULL)
    *(const char **)argument->place = value;
  else if (!argument->take(argument, value)) {
    complain("--%s: '%s' is not %s", argument->name, value, argument->allowed);
    return false;
  }
  return true;
}

/* ---- help ---- */

/* An option, and words from a column on, no line longer than a terminal's. */
static void print_option(const char *name, const char *letter,
                         const char *words) {
  const int indent = 23, width = 79;
  int column = printf("  --%s %s", name, letter != NULL ? letter : "");
  if (column >= indent) column = width;
  while (*words != '\0') {
    int length = (int)strcspn(words, " ");
    bool wraps = column + 1 + length > width;
    if (wraps) column = printf("\n") - 1;
    column += printf("%*s%.*s", column < indent ? indent - column : 1, "",
                     length, words);
    words += length;
    words += strspn(words, " ");
  }
  putchar('\n');
}

static void print_help(const command_line *line) {
  char name[SETTING_NAME], letter[SETTING_LINE], data[SETTING_DESCRIPTION];
  fputs(line->about, stdout);
  for (const argument *own = line->arguments; own->name != NULL; own++)
    print_option(own->name, own->letter, own->help);
  puts("  -h, --help           this text");
  for (const setting *known = settings; line->take_setting && known->field;
       known++) {
    text words;
    setting_name(known, name);
    text_start(&words, letter, sizeof letter - 1);
    setting_add_metavar(&words, known);
    letter[words.used] = '\0';
    text_start(&words, data, sizeof data - 1);
    setting_add_description(&words, known);
    data[words.used] = '\0';
    print_option(name, letter, data);
  }
  fputs(line->more, stdout);
}

/* ---- reading ---- */

enum { MOST = 96, OWN = 256, SETTING = OWN + MOST };

/* Options for getopt_long: OWN and on those of the table. */
static void list_options(const command_line *line,
                         struct option options[MOST + 1],
                         char names[MOST][SETTING_NAME]) {
  const argument *own = line->arguments;
  int n = 0;
  for (; own[n].name != NULL; n++)
    options[n] = (struct option){
        own[n].name, own[n].letter != NULL ? required_argument : no_argument,
        NULL, OWN + n};
  options[n++] = (struct option){"help", no_argument, NULL, 'h'};
  for (const setting *known = settings;
       line->take_setting != NULL && known->field != NULL && n < MOST;
       known++, n++) {
    setting_name(known, names[n]);
    options[n] = (struct option){names[n], required_argument, NULL, SETTING};
  }
  options[n] = (struct option){NULL, 0, NULL, 0};
}

/* The word that getopt_long stumbled over. */
static void explain(const char *word, bool lacks_value) {
  int length = (int)strcspn(word, "=");
  if (lacks_value)
    complain("%.*s needs a value; see --help", length, word);
  else if (optopt >= OWN)
    complain("%.*s takes no value; see --help", length, word);
  else if (optopt != 0)
    complain("there is no option -%c; see --help", optopt);
  else
    complain("there is no option %s; see --help", word);
}

bool arguments_read(const command_line *line, int argc, char **argv,
                    int *status) {
  static char names[MOST][SETTING_NAME];
  struct option options[MOST + 1];
  int option, index;
  bool good = true;
  list_options(line, options, names);
  snprintf(command_name, sizeof command_name, "ode-mlcp %s", argv[0]);
  optind = 0; // from the start, whoever used getopt before
  *status = COMMAND_WRONG_USE;
  // the messages are ours: ':'
  const char *letters = line->ends_at_name ? "+:h" : ":h";
  while (good &&
         (option = getopt_long(argc, argv, letters, options, &index)) != -1)
    if (option == 'h') {
      print_help(line);
      *status = COMMAND_DONE;
      good = false;
    } else if (option == SETTING) {
      good = line->take_setting(line->context, options[index].name, optarg);
    } else if (option >= OWN) {
      good = take(&line->arguments[option - OWN], optarg);
    } else {
      explain(argv[optind - 1], option == ':');
      good = false;
    }
  return good;
}
