#include "command/settings_options.h"

#include <string.h>

#include "settings/settings.h"

int settings_options(struct option options[SETTINGS_OPTIONS_MAX], int first) {
  static char names[SETTINGS_OPTIONS_MAX][SETTING_NAME];
  int n = 0;
  for (; settings[n].field != NULL && n < SETTINGS_OPTIONS_MAX; n++) {
    setting_name(&settings[n], names[n]);
    options[n] = (struct option){names[n], required_argument, NULL, first + n};
  }
  return n;
}

/* Words from column `indent` on, no line longer than a terminal's. */
static void print_wrapped(FILE *out, const char *words, int column) {
  const int indent = 23, width = 79;
  while (*words != '\0') {
    int length = (int)strcspn(words, " ");
    if (column == 0 || column + 1 + length > width) {
      fprintf(out, "%s%*s", column > 0 ? "\n" : "", indent - 1, "");
      column = indent - 1;
    }
    fprintf(out, " %.*s", length, words);
    column += 1 + length;
    words += length;
    words += strspn(words, " ");
  }
  fputc('\n', out);
}

void settings_options_help(FILE *out) {
  char name[SETTING_NAME], data[SETTING_DESCRIPTION];
  text words;
  for (const setting *known = settings; known->field != NULL; known++) {
    setting_name(known, name);
    text_start(&words, data, sizeof data - 1);
    setting_add_metavar(&words, known);
    data[words.used] = '\0';
    int column = fprintf(out, "  --%s %s", name, data);
    if (column > 22) fputc('\n', out);
    else fprintf(out, "%*s", 22 - column, "");

    text_start(&words, data, sizeof data - 1);
    setting_add_description(&words, known);
    data[words.used] = '\0';
    print_wrapped(out, data, column > 22 ? 0 : 22);
  }
}
