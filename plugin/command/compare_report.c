/* A comparison as a table, as report.json and as CSV. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command/compare.h"
#include "command/json.h"
#include "command/result_file.h"
#include "judge/tables.h"
#include "ode_mlcp.h"

/* ---- the table ---- */

static int width_of(const compare_run *run) {
  enum { USUAL = 11 };
  int length = (int)strlen(run->name);
  return length > USUAL ? length : USUAL;
}

static void print_cell(const compare_run *run, const figure *figure) {
  char cell[32] = "-";
  double value = figure_value(figure, run);
  if (run->levels[0] != NULL && !isnan(value)) {
    if (figure->counted)
      snprintf(cell, sizeof cell, "%ld", (long)value);
    else if (value == INFINITY)
      snprintf(cell, sizeof cell, "never");
    else if (figure->offset == offsetof(compare_figures, order) && value < 0)
      snprintf(cell, sizeof cell, "none"); // it does not converge
    else
      snprintf(cell, sizeof cell, "%.3g", value);
  }
  printf(" %*s", width_of(run), cell);
}

/* ---- notes: the same on the page ---- */

typedef void take_note(void *to, const char *text);

static void __attribute__((format(printf, 3, 4)))
note(take_note *take, void *to, const char *format, ...) {
  char text[1000];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  take(to, text);
}

static void note_parting(const comparison *c, take_note *take, void *to) {
  double first = INFINITY;
  int n = 0;
  for (int i = 0; i < c->n_runs; i++) {
    if (c->runs[i].levels[0] == NULL) continue;
    n++;
    first = fmin(first, c->runs[i].figures.parted);
  }
  if (n < 2) return;
  if (!isfinite(first))
    note(take, to, "The runs stay together.");
  else
    note(take, to, "The runs part after %.3g s%s%s.", first,
         c->differs <= first ? ", but so do two on " : "",
         c->differs <= first ? c->runs[c->repeated].name : "");
}

static void note_runs(const comparison *c, take_note *take, void *to) {
  for (int i = 0; i < c->n_runs; i++)
    if (c->runs[i].complaint[0] != '\0')
      note(take, to, "%s: %s", c->runs[i].name, c->runs[i].complaint);
  for (int i = 0; i < c->n_runs; i++) {
    const recording *r = c->runs[i].levels[0];
    if (r != NULL && r->head->messages > 0)
      note(take, to, "%s, the first message: %s", c->runs[i].name,
           r->head->message);
    if (c->runs[i].figures.order < 0)
      note(take, to, "%s is not converging at this h.", c->runs[i].name);
  }
}

static void note_worlds(const comparison *c, take_note *take, void *to) {
  if (c->worlds > 1)
    note(take, to,
         "%d worlds were stepped: the figures are of all, the replay, the "
         "curves and what compares states are of the one with the most "
         "bodies.",
         c->worlds);
}

static void note_all(const comparison *c, take_note *take, void *to) {
  note_runs(c, take, to);
  note_worlds(c, take, to);
  if (isfinite(c->differs))
    note(take, to,
         "Two runs on %s differ from %.3g s on: what is different there need "
         "not be the steppers' doing (threads, clocks, random numbers).",
         c->runs[c->repeated].name, c->differs);
  else if (c->differs == INFINITY)
    note(take, to, "A second run on %s was the same, bit for bit.",
         c->runs[c->repeated].name);
  note_parting(c, take, to);
  char chaos[100] = "";
  if (isfinite(c->chaos))
    snprintf(chaos, sizeof chaos,
             ", until %.3g s: from there on it depends on the step size "
             "itself (chaos)",
             c->chaos);
  if (c->reference >= 0)
    note(take, to, "The reference is %s with every step in %d%s.",
         c->runs[c->reference].name, c->refine * c->refine, chaos);
}

/* In lines of a terminal's width. */
static void print_note(void *to, const char *text) {
  enum { WIDTH = 88 };
  (void)to;
  for (size_t left = strlen(text); left > 0;) {
    size_t n = left;
    if (n > WIDTH) {
      n = WIDTH;
      while (n > 1 && text[n] != ' ') n--;
      if (n == 1) n = strcspn(text, " ");
    }
    printf("%.*s\n", (int)n, text);
    text += n;
    text += strspn(text, " ");
    left = strlen(text);
  }
}

static void print_figures(const comparison *c) {
  printf("\n%-39s", "");
  for (int i = 0; i < c->n_runs; i++)
    printf(" %*s", width_of(&c->runs[i]), c->runs[i].name);
  putchar('\n');
  for (size_t k = 0; k < n_figures; k++) {
    if (figure_is_empty(&figures[k], c)) continue;
    printf("%-32s %6s", figures[k].words, figures[k].unit);
    for (int i = 0; i < c->n_runs; i++) print_cell(&c->runs[i], &figures[k]);
    putchar('\n');
  }
}

void compare_print_table(const comparison *c) {
  bool any = false;
  for (int i = 0; i < c->n_runs; i++) any |= c->runs[i].levels[0] != NULL;
  if (any) print_figures(c);
  putchar('\n');
  note_all(c, print_note, NULL);
  printf("\n%s\n", c->headline);
  for (int i = 0; i < c->n_lines; i++)
    printf("%d. %s\n", i + 1, c->lines[i].text);
}

/* ---- JSON ---- */

static void put_note(void *out, const char *text) {
  json_put_string(out, NULL, text);
}

static void put_run(json *out, const compare_run *run) {
  const recording *r = run->levels[0];
  json_open(out, NULL, '{');
  json_put_string(out, "name", run->name);
  for (size_t k = 0; k < n_figures; k++)
    json_put(out, figures[k].key, figure_value(&figures[k], run));
  json_put_string(out, "complaint", run->complaint);
  json_put_string(out, "first_message",
                  r != NULL && r->head->messages > 0 ? r->head->message : "");
  json_close(out);
}

static void put_verdict(json *out, const comparison *c) {
  json_put_string(out, "headline", c->headline);
  json_open(out, "verdict", '[');
  for (int i = 0; i < c->n_lines; i++) {
    const verdict_line *line = &c->lines[i];
    json_open(out, NULL, '{');
    json_put_string(out, "stepper", line->stepper);
    json_put_string(out, "what", line->what);
    json_put(out, "figure", line->figure);
    json_put_string(out, "unit", line->unit);
    json_put(out, "relative", line->relative);
    json_put_string(out, "advice", line->advice);
    json_put_string(out, "text", line->text);
    json_close(out);
  }
  json_close(out);
}

void compare_put(const comparison *c, json *out, const char *key) {
  json_open(out, key, '{');
  json_put_string(out, "program", c->program);
  json_open(out, "arguments", '[');
  for (int i = 0; c->arguments != NULL && c->arguments[i] != NULL; i++)
    json_put_string(out, NULL, c->arguments[i]);
  json_close(out);
  json_put_string(out, "version", ode_mlcp_version());
  put_verdict(out, c);
  json_open(out, "notes", '[');
  note_all(c, put_note, out);
  json_close(out);
  json_put_count(out, "refine", c->refine);
  if (c->reference >= 0)
    json_put_string(out, "reference", c->runs[c->reference].name);
  else
    json_put_word(out, "reference", "null");
  json_put(out, "chaos_from", c->chaos);
  json_put_word(out, "repeats",
                isnan(c->differs)      ? "null"
                : isfinite(c->differs) ? "false"
                                       : "true");
  json_put(out, "differs_from", c->differs);
  json_put_count(out, "worlds", c->worlds);
  json_open(out, "steppers", '[');
  for (int i = 0; i < c->n_runs; i++) put_run(out, &c->runs[i]);
  json_close(out);
  json_close(out);
}

bool compare_write_json(const comparison *c, const char *folder, char *message,
                        size_t message_size) {
  result_file file;
  if (!result_begin(&file, message, message_size, "%s/report.json", folder))
    return false;
  json out = {.out = file.out};
  compare_put(c, &out, NULL);
  return result_end(&file, true, message, message_size);
}

/* ---- CSV: the steps of each run ---- */

void compare_file_name(const compare_run *run, char name[COMPARE_NAME]) {
  snprintf(name, COMPARE_NAME, "%s", run->name);
  for (char *c = name; *c != '\0'; c++)
    if (*c == ':' || *c == ' ' || *c == '=') *c = '-';
}

static bool write_csv(const compare_run *run, const char *folder, char *message,
                      size_t message_size) {
  char name[COMPARE_NAME];
  result_file file;
  compare_file_name(run, name);
  if (!result_begin(&file, message, message_size, "%s/%s.csv", folder, name))
    return false;
  FILE *out = file.out;
  fputs("step,world,steps,contacts,bodies,awake,failed,degraded,messages", out);
  for (size_t k = 0; k < n_step_columns; k++)
    fprintf(out, ",%s", step_columns[k].header);
  fputc('\n', out);
  const recording *r = run->levels[0];
  for (size_t i = 0; i < r->n_steps; i++) {
    const recording_step *s = r->steps[i];
    fprintf(out, "%lld,%u,%u,%u,%u,%u,%u,%u,%u", (long long)s->number, s->world,
            s->steps, s->contacts, s->bodies, s->awake, s->failed, s->degraded,
            s->messages);
    for (size_t k = 0; k < n_step_columns; k++)
      fprintf(out, ",%.9g", step_value(s, &step_columns[k]));
    fputc('\n', out);
  }
  return result_end(&file, true, message, message_size);
}

bool compare_write_csv(const comparison *c, const char *folder, char *message,
                       size_t message_size) {
  for (int i = 0; i < c->n_runs; i++)
    if (c->runs[i].levels[0] != NULL &&
        !write_csv(&c->runs[i], folder, message, message_size))
      return false;
  return true;
}
