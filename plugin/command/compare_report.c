/* A comparison as a table, as report.json and as CSV. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command/compare.h"
#include "command/json.h"
#include "ode_mlcp.h"

/* ---- the figures as a list: once for the table and for JSON ---- */

/* ROW(field, kind, "words of the table", "unit"); the first group has the keys
 * that programs rely on, in their order */
#define FIGURES(ROW)                                                           \
  ROW(steps, COUNT, "steps taken or tried", "")                                \
  ROW(contact_error_worst, NUMBER, "contact off its law, worst", "m/s")        \
  ROW(contact_error_p90, NUMBER, "  nine steps of ten below", "m/s")           \
  ROW(penetration_worst, NUMBER, "deepest penetration", "m")                   \
  ROW(joint_error_worst, NUMBER, "joint off its place, worst", "m, rad")       \
  ROW(cone_violation_worst, NUMBER, "friction beyond its cone", "m/s")         \
  ROW(friction_error_worst, NUMBER, "friction off its law, worst", "m/s")      \
  ROW(friction_error_p90, NUMBER, "  nine steps of ten below", "m/s")          \
  ROW(own_error_worst, NUMBER, "off what it asked itself, worst", "m/s")       \
  ROW(energy_drift, NUMBER, "energy not explained, most", "J")                 \
  ROW(reference_error, NUMBER, "off the reference", "m")                       \
  ROW(order, NUMBER, "order in the step size", "")                             \
  ROW(messages, COUNT, "solver messages", "")                                  \
  ROW(failed_steps, COUNT, "failed steps", "")                                 \
  ROW(degraded, COUNT, "degraded answers", "")                                 \
  ROW(ms_step_median, NUMBER, "a step, median", "ms")                          \
  ROW(ms_step_p99, NUMBER, "  99 steps of 100 below", "ms")                    \
  ROW(ms_step_worst, NUMBER, "  the longest", "ms")                            \
  ROW(penetration_end, NUMBER, "penetration at the end", "m")                  \
  ROW(fastest_end, NUMBER, "fastest body at the end", "m/s")                   \
  ROW(contact_work, NUMBER, "energy put in by contacts", "J")                  \
  ROW(momentum_drift, NUMBER, "momentum not explained, a step", "N s")         \
  ROW(unsolved, COUNT, "unsolved answers", "")                                 \
  ROW(not_finite, COUNT, "steps to states not finite", "")                     \
  ROW(parted, NUMBER, "parts from the first run at", "s")                      \
  ROW(seconds, NUMBER, "simulated", "s")                                       \
  ROW(impacts_by_set, RARE, "impacts by an outcome of the set", "")            \
  ROW(poisson_bounces, RARE, "  Poisson's law: it bounces", "")                \
  ROW(poisson_unposed, RARE, "  Poisson's law: there is no set", "")           \
  ROW(poisson_unfinished, RARE, "  Poisson's law: the sample failed", "")      \
  ROW(lost_pairs, RARE, "touching pairs that ODE would lose", "")

/* RARE: a count whose row is left out where all runs have 0. */
typedef enum figure_kind { COUNT, RARE, NUMBER } figure_kind;

typedef struct figure {
  const char *key, *words, *unit;
  figure_kind kind;
  size_t offset;
} figure;

static const figure figures[] = {
#define ROW(field, kind, words, unit)                                          \
  {#field, words, unit, kind, offsetof(compare_figures, field)},
    FIGURES(ROW)
#undef ROW
};
static const size_t n_figures = sizeof figures / sizeof figures[0];

static const void *place(const compare_run *run, const figure *figure) {
  return (const char *)&run->figures + figure->offset;
}

/* ---- the table ---- */

static int width_of(const compare_run *run) {
  enum { USUAL = 11 };
  int length = (int)strlen(run->name);
  return length > USUAL ? length : USUAL;
}

static void print_cell(const compare_run *run, const figure *figure) {
  char cell[32] = "-";
  double number = figure->kind == NUMBER
                      ? *(const double *)place(run, figure)
                      : (double)*(const long *)place(run, figure);
  if (run->levels[0] != NULL && !isnan(number)) {
    if (figure->kind != NUMBER)
      snprintf(cell, sizeof cell, "%ld", (long)number);
    else if (number == INFINITY)
      snprintf(cell, sizeof cell, "never");
    else
      snprintf(cell, sizeof cell, "%.3g", number);
  }
  printf(" %*s", width_of(run), cell);
}

static bool is_empty(const comparison *c, const figure *figure) {
  for (int i = 0; i < c->n_runs; i++) {
    if (c->runs[i].levels[0] == NULL) continue;
    const void *value = place(&c->runs[i], figure);
    if (figure->kind == COUNT ||
        (figure->kind == RARE && *(const long *)value != 0) ||
        (figure->kind == NUMBER && !isnan(*(const double *)value)))
      return false;
  }
  return true;
}

static void print_parting(const comparison *c) {
  double first = INFINITY;
  int n = 0;
  for (int i = 0; i < c->n_runs; i++) {
    if (c->runs[i].levels[0] == NULL) continue;
    n++;
    first = fmin(first, c->runs[i].figures.parted);
  }
  if (c->is_scene || n < 2) return;
  if (!isfinite(first))
    puts("The runs stay together.");
  else
    printf("The runs part after %.3g s%s%s.\n", first,
           c->differs <= first ? ", but so do two on " : "",
           c->differs <= first ? c->runs[c->repeated].name : "");
}

static void print_notes(const comparison *c) {
  for (int i = 0; i < c->n_runs; i++)
    if (c->runs[i].complaint[0] != '\0')
      printf("%s: %s\n", c->runs[i].name, c->runs[i].complaint);
  for (int i = 0; i < c->n_runs; i++) {
    const recording *r = c->runs[i].levels[0];
    if (r != NULL && r->head->messages > 0)
      printf("%s, the first message: %s\n", c->runs[i].name, r->head->message);
  }
  if (c->worlds > 1)
    printf(
        "%d worlds were stepped: the figures are of all, the replay, the "
        "curves and what\ncompares states are of the one with the most "
        "bodies.\n",
        c->worlds);
  long lost = 0;
  for (int i = 0; i < c->n_runs; i++)
    if (c->runs[i].figures.lost_pairs > lost)
      lost = c->runs[i].figures.lost_pairs;
  if (lost > 0)
    printf(
        "Releases of ODE would not tell this program of %ld touching pairs: "
        "their hash space\nloses them, the host here does not. No stepper is "
        "to "
        "blame for what sinks there.\n",
        lost);
  if (isfinite(c->differs))
    printf(
        "Two runs on %s differ from %.3g s on: what is different there need "
        "not be the\nsteppers' doing (threads, clocks, random numbers).\n",
        c->runs[c->repeated].name, c->differs);
  else if (c->differs == INFINITY)
    printf("A second run on %s was the same, bit for bit.\n",
           c->runs[c->repeated].name);
  print_parting(c);
  if (c->is_scene)
    printf("Off the reference: %s; it and the order are the scene's own.\n",
           c->measured);
  if (c->reference >= 0) {
    printf("The reference is %s with every step in %d",
           c->runs[c->reference].name, c->refine * c->refine);
    if (isfinite(c->chaos))
      printf(
          ", until %.3g s: from there on it depends on the step\nsize itself "
          "(chaos).\n",
          c->chaos);
    else
      puts(".");
  }
}

static void print_figures(const comparison *c) {
  printf("\n%-39s", "");
  for (int i = 0; i < c->n_runs; i++)
    printf(" %*s", width_of(&c->runs[i]), c->runs[i].name);
  putchar('\n');
  for (size_t k = 0; k < n_figures; k++) {
    if (is_empty(c, &figures[k])) continue;
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
  print_notes(c);
  printf("\n%s\n", c->headline);
  for (int i = 0; i < c->n_lines; i++)
    printf("%d. %s\n", i + 1, c->lines[i].text);
}

/* ---- JSON ---- */

static FILE *open_file(const char *folder, const char *name, char *message,
                       size_t message_size) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (file == NULL)
    snprintf(message, message_size, "cannot write %s: %s", path,
             strerror(errno));
  return file;
}

static bool close_file(FILE *file, const char *name, char *message,
                       size_t message_size) {
  bool good = !ferror(file);
  if (fclose(file) == 0 && good) return true;
  snprintf(message, message_size, "cannot write %s: %s", name, strerror(errno));
  return false;
}

static void write_run(FILE *out, const compare_run *run) {
  fputs("    {\n      \"name\": ", out);
  json_string(out, run->name);
  for (size_t k = 0; k < n_figures; k++) {
    fprintf(out, ",\n      \"%s\": ", figures[k].key);
    if (figures[k].kind != NUMBER)
      fprintf(out, "%ld", *(const long *)place(run, &figures[k]));
    else
      json_number(out, *(const double *)place(run, &figures[k]));
  }
  fputs(",\n      \"complaint\": ", out);
  json_string(out, run->complaint);
  fputs(",\n      \"first_message\": ", out);
  const recording *r = run->levels[0];
  json_string(out, r != NULL && r->head->messages > 0 ? r->head->message : "");
  fputs("\n    }", out);
}

static void write_verdict(FILE *out, const comparison *c) {
  fputs(",\n  \"headline\": ", out);
  json_string(out, c->headline);
  fputs(",\n  \"verdict\": [", out);
  for (int i = 0; i < c->n_lines; i++) {
    const verdict_line *line = &c->lines[i];
    fputs(i > 0 ? ",\n    {\"stepper\": " : "\n    {\"stepper\": ", out);
    json_string(out, line->stepper);
    fputs(", \"what\": ", out);
    json_string(out, line->what);
    fputs(", \"figure\": ", out);
    json_number(out, line->figure);
    fputs(", \"unit\": ", out);
    json_string(out, line->unit);
    fputs(", \"relative\": ", out);
    json_number(out, line->relative);
    fputs(", \"advice\": ", out);
    json_string(out, line->advice);
    fputs(", \"text\": ", out);
    json_string(out, line->text);
    fputc('}', out);
  }
  fputs(c->n_lines > 0 ? "\n  ]" : "]", out);
}

bool compare_write_json(const comparison *c, const char *folder, char *message,
                        size_t message_size) {
  FILE *out = open_file(folder, "report.json", message, message_size);
  if (out == NULL) return false;
  fputs("{\n  \"program\": ", out);
  json_string(out, c->program);
  fputs(",\n  \"arguments\": [", out);
  for (int i = 0; c->arguments != NULL && c->arguments[i] != NULL; i++) {
    if (i > 0) fputs(", ", out);
    json_string(out, c->arguments[i]);
  }
  fputs("],\n  \"version\": ", out);
  json_string(out, ode_mlcp_version());
  write_verdict(out, c);
  fprintf(out, ",\n  \"refine\": %d,\n  \"reference\": ", c->refine);
  if (c->is_scene)
    json_string(out, c->measured);
  else if (c->reference >= 0)
    json_string(out, c->runs[c->reference].name);
  else
    fputs("null", out);
  fputs(",\n  \"chaos_from\": ", out);
  json_number(out, c->chaos);
  fprintf(out, ",\n  \"repeats\": %s",
          isnan(c->differs)      ? "null"
          : isfinite(c->differs) ? "false"
                                 : "true");
  fputs(",\n  \"differs_from\": ", out);
  json_number(out, c->differs);
  fprintf(out, ",\n  \"worlds\": %d", c->worlds);
  fputs(",\n  \"steppers\": [\n", out);
  for (int i = 0; i < c->n_runs; i++) {
    write_run(out, &c->runs[i]);
    fputs(i < c->n_runs - 1 ? ",\n" : "\n", out);
  }
  fputs("  ]\n}\n", out);
  return close_file(out, "report.json", message, message_size);
}

/* ---- CSV: the steps of each run ---- */

#define COLUMNS(COLUMN)                                                        \
  COLUMN("time_s", time)                                                       \
  COLUMN("step_size_s", step_size)                                             \
  COLUMN("contact_error_m_s", contact_error)                                   \
  COLUMN("cone_violation_m_s", cone_violation)                                 \
  COLUMN("friction_error_m_s", friction_error)                                 \
  COLUMN("own_error_m_s", own_error)                                           \
  COLUMN("penetration_m", penetration)                                         \
  COLUMN("joint_error", joint_error)                                           \
  COLUMN("kinetic_J", kinetic)                                                 \
  COLUMN("potential_J", potential)                                             \
  COLUMN("energy_unexplained_J", energy_unexplained)                           \
  COLUMN("contact_work_J", contact_work)                                       \
  COLUMN("momentum_unexplained_N_s", momentum_unexplained)                     \
  COLUMN("fastest_m_s", fastest)                                               \
  COLUMN("residual", residual)                                                 \
  COLUMN("seconds", seconds)

static bool write_csv(const compare_run *run, const char *folder, char *message,
                      size_t message_size) {
  char name[COMPARE_NAME + 8];
  snprintf(name, sizeof name, "%s.csv", run->name);
  for (char *c = name; *c != '\0'; c++)
    if (*c == ':' || *c == ' ' || *c == '=') *c = '-';
  FILE *out = open_file(folder, name, message, message_size);
  if (out == NULL) return false;
  fputs("step,world,steps,contacts,bodies,awake,failed,degraded,messages", out);
#define COLUMN(name, field) fputs("," name, out);
  COLUMNS(COLUMN)
#undef COLUMN
  fputc('\n', out);
  const recording *r = run->levels[0];
  for (size_t i = 0; i < r->n_steps; i++) {
    const recording_step *s = r->steps[i];
    fprintf(out, "%lld,%u,%u,%u,%u,%u,%u,%u,%u", (long long)s->number, s->world,
            s->steps, s->contacts, s->bodies, s->awake, s->failed, s->degraded,
            s->messages);
#define COLUMN(name, field) fprintf(out, ",%.9g", s->field);
    COLUMNS(COLUMN)
#undef COLUMN
    fputc('\n', out);
  }
  return close_file(out, name, message, message_size);
}

bool compare_write_csv(const comparison *c, const char *folder, char *message,
                       size_t message_size) {
  for (int i = 0; i < c->n_runs; i++)
    if (c->runs[i].levels[0] != NULL &&
        !write_csv(&c->runs[i], folder, message, message_size))
      return false;
  return true;
}
