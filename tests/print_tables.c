/* Print a table of the documents as it has to be, out of the tables in
 * ode_mlcp_settings.h and ode_mlcp_report.h:
 *
 *   print_tables man|markdown settings|statistics|trace
 *
 * tests/test_documents.sh compares and updates the documents.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "settings/environment.h"
#include "settings/settings.h"

/* --- words ---------------------------------------------------------------- */

/* Words as roff or Markdown has them, in lines of a manual's width. */
static void print_paragraph(const char *words) {
  int column = 0;
  while (*words != '\0') {
    int length = (int)strcspn(words, " ");
    bool wraps = column > 0 && column + 1 + length > 78;
    column = column == 0 || wraps ? length : column + 1 + length;
    printf("%s", column == length ? wraps ? "\n" : "" : " ");
    // a line that begins like this would be a request
    if (column == length && (*words == '.' || *words == '\'')) printf("\\&");
    printf("%.*s", length, words);
    words += length;
    words += strspn(words, " ");
  }
  putchar('\n');
}

static void print_escaped(const char *words, char escaped) {
  for (; *words != '\0'; words++) {
    if (*words == escaped) putchar('\\');
    putchar(*words);
  }
}

/* "Friction edges a contact", of a sentence that may go on. */
static int first_sentence(const char *help) {
  const char *end = strstr(help, ". ");
  return end != NULL ? (int)(end - help) : (int)strlen(help) - 1;
}

/* --- settings ------------------------------------------------------------- */

typedef void add_function(text *out, const setting *setting);

static const char *said(add_function *add, const setting *setting) {
  static char data[SETTING_DESCRIPTION];
  text out;
  text_start(&out, data, sizeof data - 1);
  add(&out, setting);
  data[out.used] = '\0';
  return data;
}

static void print_settings_man(void) {
  char name[SETTING_NAME], variable[ENVIRONMENT_NAME];
  for (const setting *known = settings; known->field != NULL; known++) {
    setting_name(known, name);
    environment_variable(name, variable);
    printf(".TP\n.BR \\-\\-");
    print_escaped(name, '-');
    printf(" \" ");
    const char *value = said(setting_add_metavar, known);
    size_t n_letters = strlen(known->letter);
    printf("%.*s", (int)(strlen(value) - n_letters), value);
    if (n_letters > 0) printf("\\fI%s\\fR", known->letter);
    printf("  (\" %s )\n", variable);
    print_paragraph(said(setting_add_description, known));
  }
}

static void print_settings_markdown(void) {
  char name[SETTING_NAME], variable[ENVIRONMENT_NAME];
  puts("| option | environment | meaning |\n|---|---|---|");
  for (const setting *known = settings; known->field != NULL; known++) {
    setting_name(known, name);
    environment_variable(name, variable);
    printf("| `--%s ", name);
    print_escaped(said(setting_add_metavar, known), '|');
    printf("` | `%s` | %.*s; ", variable, first_sentence(known->help),
           known->help);
    printf("default `%s` |\n", said(setting_add_default, known));
  }
}

/* --- statistics and trace ------------------------------------------------- */

static void print_member(const char *key, const char *prefix,
                         const char *meaning) {
  char words[400];
  printf(".TP\n.B %s\n", key);
  snprintf(words, sizeof words, "%s%s", prefix, meaning);
  print_paragraph(words);
}

static void print_statistics_man(void) {
#define NONE
#define SUM(key) print_member(#key, "sum: ", words);
#define MOST(key) print_member(#key, "the most in one step: ", words);
#define MEMBER(type, field, islands, steps, unit, meaning)                     \
  {                                                                            \
    const char *words = meaning;                                               \
    (void)words;                                                               \
    steps                                                                      \
  }
  ODE_MLCP_REPORT(MEMBER)
#undef MEMBER
}

/* unit and meaning of a field, for its column */
#define FIELD_WORDS(type, field, islands, steps, in_unit, its_meaning)         \
  static const char unit_of_##field[] __attribute__((unused)) = in_unit;       \
  static const char meaning_of_##field[] __attribute__((unused)) = its_meaning;
ODE_MLCP_REPORT(FIELD_WORDS)

typedef struct column {
  const char *name, *unit, *meaning;
} column;

static const column columns[] = {
#define FIELD(name, field) {name, unit_of_##field, meaning_of_##field},
#define RECORDED(name, recorded, meaning) {name, "", meaning},
    ODE_MLCP_TRACE(FIELD, RECORDED)};
enum { N_COLUMNS = sizeof columns / sizeof columns[0] };

static void print_trace_man(void) {
  char words[400];
  for (int i = 0; i < N_COLUMNS; i++) {
    const column *c = &columns[i];
    snprintf(words, sizeof words, "%s%s%s", c->meaning,
             c->unit[0] != '\0' ? ", in " : "", c->unit);
    print_member(c->name, "", words);
  }
}

static void print_trace_markdown(void) {
  puts("| column | unit | meaning |\n|---|---|---|");
  for (int i = 0; i < N_COLUMNS; i++)
    printf("| `%s` |%s%s | %s |\n", columns[i].name,
           columns[i].unit[0] != '\0' ? " " : "", columns[i].unit,
           columns[i].meaning);
}

/* --- which ---------------------------------------------------------------- */

static const struct {
  const char *format, *name;
  void (*print)(void);
} tables[] = {{"man", "settings", print_settings_man},
              {"man", "statistics", print_statistics_man},
              {"man", "trace", print_trace_man},
              {"markdown", "settings", print_settings_markdown},
              {"markdown", "trace", print_trace_markdown}};

int main(int argc, char **argv) {
  for (size_t i = 0; argc == 3 && i < sizeof tables / sizeof tables[0]; i++)
    if (strcmp(argv[1], tables[i].format) == 0 &&
        strcmp(argv[2], tables[i].name) == 0) {
      tables[i].print();
      return 0;
    }
  fprintf(stderr, "print_tables: no such table\n");
  return 2;
}
