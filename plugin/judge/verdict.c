#include "judge/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the verdict ---- */

static void __attribute__((format(printf, 3, 4)))
add(char *text, size_t size, const char *format, ...) {
  va_list arguments;
  size_t used = strlen(text);
  va_start(arguments, format);
  vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
}

static double value_of(const compare_run *run, size_t offset) {
  return *(const double *)((const char *)&run->figures + offset);
}

static const compare_run *least(const comparison *c, size_t offset) {
  const compare_run *best = NULL;
  double least = INFINITY;
  for (int i = 0; i < c->n_runs; i++) {
    double value = value_of(&c->runs[i], offset);
    if (c->runs[i].levels[0] != NULL && value < least) {
      least = value;
      best = &c->runs[i];
    }
  }
  return best;
}

static int n_recorded(const comparison *c) {
  int count = 0;
  for (int i = 0; i < c->n_runs; i++) count += c->runs[i].levels[0] != NULL;
  return count;
}

/* Below it an error of the contact law is rounding, m/s: no merit. */
static const double ROUNDING = 1e-9;

/* The number as printf's %.2g rounds it, which would write 410 as 4.1e+02. */
static double two_digits(double value) {
  char text[40];
  snprintf(text, sizeof text, "%.1e", value);
  return strtod(text, NULL);
}

/* Who is nearest, how far, and how far the others are. */
static void say_nearest(comparison *c, const char *program, const char *how,
                        const char *unit, const compare_run *nearest,
                        size_t judged) {
  char *out = c->verdict;
  size_t size = sizeof c->verdict;
  add(out, size, "On %s, %s %s%.2g%s", program, nearest->name, how,
      value_of(nearest, judged), unit);
  for (int i = 0; i < c->n_runs; i++) {
    const compare_run *run = &c->runs[i];
    if (run != nearest && run->levels[0] != NULL &&
        !isnan(value_of(run, judged)))
      add(out, size, "; %s %.2g", run->name, value_of(run, judged));
  }
  add(out, size, ").");
}

static bool is_known(const compare_run *run, size_t figure) {
  return run->levels[0] != NULL && !isnan(value_of(run, figure));
}

/* Names of the runs whose figure is rounding. @return how many. */
static int name_exact(const comparison *c, size_t figure, char *names,
                      size_t size) {
  int count = 0;
  names[0] = '\0';
  for (int i = 0; i < c->n_runs; i++) {
    const compare_run *run = &c->runs[i];
    if (is_known(run, figure) && value_of(run, figure) <= ROUNDING)
      add(names, size, "%s%s", count++ > 0 ? ", " : "", run->name);
  }
  return count;
}

/* "0.4 m/s under quick, 2 m/s under step, ap": the runs with a figure above
 * rounding, those that are the same to two digits together; `only` may be NULL,
 * or says which. @return how many. */
static int name_inexact(const comparison *c, size_t figure, const char *unit,
                        const bool only[], char *names, size_t size) {
  bool told[COMPARE_RUNS] = {false};
  int count = 0;
  names[0] = '\0';
  for (int i = 0; i < c->n_runs; i++)
    told[i] = !is_known(&c->runs[i], figure) ||
              value_of(&c->runs[i], figure) <= ROUNDING ||
              (only != NULL && !only[i]);
  for (int i = 0; i < c->n_runs; i++) {
    if (told[i]) continue;
    double value = two_digits(value_of(&c->runs[i], figure));
    add(names, size, "%s%g %s under ", count > 0 ? ", " : "", value, unit);
    int alike = 0;
    for (int k = i; k < c->n_runs; k++) {
      if (told[k] || two_digits(value_of(&c->runs[k], figure)) != value)
        continue;
      add(names, size, "%s%s", alike++ > 0 ? ", " : "", c->runs[k].name);
      told[k] = true;
      count++;
    }
  }
  return count;
}

/* Goes on with the sentence before. */
static void go_on(comparison *c, const char *words, const char *names) {
  c->verdict[strlen(c->verdict) - 1] = '\0';
  add(c->verdict, sizeof c->verdict, "; %s %s.", words, names);
}

static void say_who_kept(comparison *c, const char *program, size_t judged) {
  char *out = c->verdict, names[sizeof c->verdict];
  size_t size = sizeof c->verdict;
  name_exact(c, judged, names, sizeof names);
  add(out, size, "On %s, contacts keep their law to 1e-9 m/s under %s", program,
      names);
  if (name_inexact(c, judged, "m/s", NULL, names, sizeof names) > 0)
    add(out, size, "; at worst they are off it by %s", names);
  add(out, size, ".");
}

/* Of what else a figure tells. */
static void say_figure(comparison *c, const char *words, size_t figure,
                       const char *unit, const bool only[]) {
  char names[sizeof c->verdict];
  if (name_inexact(c, figure, unit, only, names, sizeof names) > 0)
    go_on(c, words, names);
}

static double most_kinetic(const recording *r) {
  double most = 0;
  for (size_t i = 0; i < r->n_steps; i++)
    most = fmax(most, r->steps[i]->kinetic);
  return most;
}

/* An energy that the laws of motion do not give is told of the runs in which it is more
 * than a tenth of the most that ever moved, and ten times what another run could do
 * with. */
static void say_energy(comparison *c, const char *words, size_t figure) {
  const compare_run *calm = least(c, figure);
  bool tells[COMPARE_RUNS] = {false};
  for (int i = 0; i < c->n_runs && calm != NULL; i++) {
    const compare_run *run = &c->runs[i];
    if (!is_known(run, figure)) continue;
    double energy = value_of(run, figure);
    tells[i] = energy > 0.1 * most_kinetic(run->levels[0]) &&
               (n_recorded(c) == 1 || energy > 10 * value_of(calm, figure));
  }
  say_figure(c, words, figure, "J", tells);
}

static void say_more_of_contacts(comparison *c) {
  say_figure(c, "friction is beyond its cone by",
             offsetof(compare_figures, cone_violation_worst), "m/s", NULL);
  /* they do no work but where something drives them, a position error that makes
   * bodies pop for one */
  say_energy(c, "contacts put in", offsetof(compare_figures, contact_work));
  say_energy(c, "energy is off what forces explain by",
             offsetof(compare_figures, energy_drift));
}

static void say_nothing_touched(comparison *c, const char *program) {
  uint32_t bodies = 0;
  for (int i = 0; i < c->n_runs; i++)
    if (c->runs[i].figures.most_bodies > bodies)
      bodies = c->runs[i].figures.most_bodies;
  add(c->verdict, sizeof c->verdict, "On %s, %s.", program,
      bodies == 0 ? "there was no body to step"
                  : "no contact was made: there is none to judge");
}

/* What every run has beside its contacts. */
static void say_rest(comparison *c) {
  say_figure(c, "joints are off their place by",
             offsetof(compare_figures, joint_error_worst), "m or rad", NULL);
  say_figure(c, "energy is off what forces explain by",
             offsetof(compare_figures, energy_drift), "J", NULL);
}

/* The runs of a trouble, by name. */
typedef bool trouble(const compare_run *run);

static bool has_failed(const compare_run *run) {
  return run->figures.failed_steps > 0;
}

static bool has_lost(const compare_run *run) {
  return run->figures.not_finite > 0;
}

static bool has_died(const compare_run *run) {
  const recording_head *head = run->levels[0]->head;
  return head->status > 0 && !head->stopped && !head->cut;
}

static bool was_cut(const compare_run *run) {
  const recording_head *head = run->levels[0]->head;
  // status < 0: the command itself was killed as it recorded
  return head->cut || head->full || head->status < 0;
}

static void say_trouble(comparison *c, trouble *has, const char *words) {
  char names[sizeof c->verdict] = "";
  for (int i = 0; i < c->n_runs; i++)
    if (c->runs[i].levels[0] != NULL && has(&c->runs[i]))
      add(names, sizeof names, "%s%s", names[0] != '\0' ? ", " : "",
          c->runs[i].name);
  if (names[0] != '\0') go_on(c, words, names);
}

static void say_troubles(comparison *c) {
  say_trouble(c, has_failed, "steps were refused under");
  say_trouble(c, has_lost, "states came to be no numbers under");
  say_trouble(c, has_died, "the program ended with an error under");
  say_trouble(c, was_cut, "the program was not run to its end under");
}

/* Two sentences: who kept the law, and at what price; what broke ends them. */
void judge_verdict(comparison *c) {
  char *out = c->verdict;
  size_t size = sizeof c->verdict;
  const char *slash = strrchr(c->program, '/');
  const char *program = slash != NULL ? slash + 1 : c->program;
  // of a scene its own error; of a program, the contact law
  size_t judged = c->is_scene ? offsetof(compare_figures, reference_error)
                              : offsetof(compare_figures, contact_error_worst);
  const compare_run *law = least(c, judged);
  const compare_run *fast = least(c, offsetof(compare_figures, ms_step_median));
  out[0] = '\0';
  if (fast == NULL) {
    add(out, size, "No stepper took a step of %s.", program);
    return;
  }
  bool one = !c->is_scene && n_recorded(c) == 1;
  if (law == NULL) {
    say_nothing_touched(c, program);
    say_rest(c);
  } else if (one)
    add(out, size,
        "On %s, the contacts of %s were off their law by at most %.2g m/s.",
        program, law->name, value_of(law, judged));
  else if (c->is_scene)
    say_nearest(c, program, "came closest to the reference (", " off", law,
                judged);
  else if (value_of(law, judged) <= ROUNDING)
    say_who_kept(c, program, judged);
  else
    say_nearest(c, program,
                "kept the contacts closest to their law (worst error ", " m/s",
                law, judged);
  if (one) {
    if (law != NULL) say_more_of_contacts(c);
    add(out, size, " A step took %.3g ms.", fast->figures.ms_step_median);
    say_troubles(c);
    return;
  }
  if (!c->is_scene && law != NULL) say_more_of_contacts(c);
  if (!c->is_scene)
    say_figure(c, "bodies are off the reference by",
               offsetof(compare_figures, reference_error), "m", NULL);
  add(out, size, " %s was the fastest (%.3g ms a step", fast->name,
      fast->figures.ms_step_median);
  for (int i = 0; i < c->n_runs; i++) {
    const compare_run *run = &c->runs[i];
    if (run == fast || run->levels[0] == NULL ||
        !(fast->figures.ms_step_median > 0))
      continue;
    double times =
        two_digits(run->figures.ms_step_median / fast->figures.ms_step_median);
    if (times == 1)
      add(out, size, "; %s takes as long", run->name);
    else
      add(out, size, "; %s takes %g times as long", run->name, times);
  }
  add(out, size, ")");
  double first = INFINITY;
  for (int i = 0; i < c->n_runs; i++)
    if (c->runs[i].levels[0] != NULL && c->runs[i].figures.parted < first)
      first = c->runs[i].figures.parted;
  if (c->is_scene)
    add(out, size, ".");
  else if (isfinite(first))
    add(out, size,
        c->differs <= first
            ? "; the runs part after %.3g s, but so do two on %s."
            : "; the runs part after %.3g s.",
        first, c->repeated >= 0 ? c->runs[c->repeated].name : "");
  else
    add(out, size, "; the runs stay together.");
  say_troubles(c);
}
