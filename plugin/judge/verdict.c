#include "judge/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what one sees of a run, by figures ---- */

typedef enum scale_kind {
  WEIGHT, /* m/s: what a body gains falling for a step: a force over its weight */
  FALL,   /* the same, of velocities */
  LENGTH,
  ENERGY,
  BODIES,
  STEPS
} scale_kind;

/* Kinds of steppers, which have advice of their own. */
enum { OF_STEP, OF_QUICK, OF_FIRST_ORDER, OF_SECOND_ORDER, KINDS };

typedef struct fault {
  const char *what, *says, *unit;
  const char *advice[KINDS]; /* NULL: none is known to help */
  scale_kind scale;
  enum {
    DECIDES,  /* which stepper to take */
    COMPARED, /* it does where a run without a fault of its own has less */
    TOLD      /* it does not */
  } role;
  bool counted; /* a long, not a double */
  size_t offset;
} fault;

#define OF(field) offsetof(compare_figures, field)
/* tests/test_judge_advice.sh tries each line on a program that it helps */
static const char smaller_step[] = "a smaller step";
static const char sweeps[] =
    "more iterations (dWorldSetQuickStepNumIterations; quick:200 here)";
static const char direction[] = "dContactFDir1 along the slip";
static const char conserving[] = "--scheme conserving";
static const char smaller_step_or_conserving[] =
    "a smaller step or, where little touches, --scheme conserving";
static const fault faults[] = {
    {.what = "falling apart",
     .says = "bodies end elsewhere than in the other runs:",
     .unit = "",
     .scale = BODIES,
     .role = COMPARED,
     .counted = true,
     .offset = OF(strayed)},
    {.what = "joints open",
     .says = "joints open by",
     .unit = "m or rad",
     .advice = {smaller_step, sweeps, conserving, smaller_step},
     .scale = LENGTH,
     .offset = OF(joint_error_worst)},
    {.what = "sinking",
     .says = "in one step of ten bodies are in each other by",
     .unit = "m",
     .advice = {smaller_step, smaller_step, "--scheme st"},
     .scale = LENGTH,
     .offset = OF(penetration_p90)},
    {.what = "popping",
     .says = "contacts push bodies apart with",
     .unit = "J",
     .advice = {smaller_step, smaller_step, "a lower --max-correction"},
     .scale = ENERGY,
     .offset = OF(contact_work)},
    {.what = "energy gained or lost",
     .says = "energy changes without a cause by",
     .unit = "J",
     .advice = {smaller_step, smaller_step, smaller_step_or_conserving,
                smaller_step},
     .scale = ENERGY,
     .offset = OF(energy_drift)},
    {.what = "creeping",
     .says = "a body that should rest creeps",
     .unit = "m",
     .advice = {smaller_step, sweeps, smaller_step, smaller_step},
     .scale = LENGTH,
     .offset = OF(crept)},
    {.what = "friction",
     .says = "in one step of ten friction on a body is off by",
     .unit = "m/s a step",
     .advice = {direction, direction, "--max-correction inf"},
     .scale = WEIGHT,
     .offset = OF(friction_error_p90)},
    {.what = "no rest",
     .says = "bodies never come to rest: at the end one still has",
     .unit = "m/s",
     .advice = {NULL, smaller_step},
     .scale = FALL,
     .role = COMPARED,
     .offset = OF(unrest)},
    {.what = "messages",
     .says = "messages of ODE:",
     .unit = "",
     .scale = STEPS,
     .counted = true,
     .offset = OF(messages)},
    {.what = "unsolved",
     .says = "answers that were not solved:",
     .unit = "",
     .scale = STEPS,
     .counted = true,
     .offset = OF(unsolved)},
    {.what = "off the reference",
     .says = "bodies are off the reference by",
     .unit = "m",
     .advice = {smaller_step, smaller_step, conserving, smaller_step},
     .scale = LENGTH,
     .role = TOLD,
     .offset = OF(reference_error)},
    {.what = "behind real time",
     .says = "steps that take longer than they simulate:",
     .unit = "",
     .scale = STEPS,
     .role = TOLD,
     .counted = true,
     .offset = OF(late)}};
enum { N_FAULTS = sizeof faults / sizeof faults[0] };

/* Below this part of the scene's scale a figure is no fault. */
static const double NOTICE = 0.01;
/* Two figures are the same to a user within this factor. */
static const double ALIKE = 2;
/* And two prices within this one. */
static const double SAME = 1.1;

/* ---- words ---- */

static void __attribute__((format(printf, 3, 4)))
add(char *text, size_t size, const char *format, ...) {
  va_list arguments;
  size_t used = strlen(text);
  va_start(arguments, format);
  vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
}

/* To two digits, without an exponent where it can be read: 410, 0.052, 3e-07. */
static const char *short_number(double value, char text[32]) {
  snprintf(text, 32, "%.1e", value);
  double rounded = strtod(text, NULL);
  snprintf(text, 32, "%g", rounded);
  return text;
}

static const char *percent(double relative, char text[32]) {
  char number[32];
  if (relative > 0 && relative < 1e-4)
    snprintf(text, 32, "below 0.01 %%");
  else
    snprintf(text, 32, "%s %%", short_number(100 * relative, number));
  return text;
}

static const char *name_of(scale_kind kind) {
  switch (kind) {
    case WEIGHT: return "of its weight";
    case FALL: return "of what gravity gives in a step";
    case LENGTH: return "of a body's size";
    case ENERGY: return "of the scene's energy";
    case BODIES: return "of the bodies";
    default: return "of the steps";
  }
}

/* ---- the scene's own scales ---- */

static bool is_there(const compare_run *run) { return run->levels[0] != NULL; }

/* That forces explain: what is gained from nothing is a fault's. */
static double most_kinetic(const recording *r) {
  double most = 0;
  for (size_t i = 0; i < r->n_steps; i++) {
    const recording_step *step = r->steps[i];
    double own =
        step->kinetic - fmax(step->energy_unexplained, 0) - step->contact_work;
    if (isfinite(own)) most = fmax(most, own);
  }
  return most;
}

static double mass_of(const recording *r) {
  double mass = 0;
  for (size_t i = 0; i < r->n_bodies; i++)
    if (r->bodies[i]->world == r->world) mass += r->bodies[i]->mass;
  return mass;
}

/* The largest energy of all runs: one that brakes by itself is no measure of the
 * others. At rest it is the weight over a body's size. */
static void find_scales(comparison *c) {
  double kinetic = 0, weight = 0, mass = 0;
  for (int i = 0; i < c->n_runs; i++) {
    if (!is_there(&c->runs[i])) continue;
    const recording *r = c->runs[i].levels[0];
    kinetic = fmax(kinetic, most_kinetic(r));
    weight = fmax(weight, r->head->weight);
    mass = fmax(mass, mass_of(r));
    if (r->n_steps > 0) c->step_size = r->steps[r->n_steps - 1]->step_size;
  }
  c->energy = fmax(kinetic, weight * c->size);
  c->speed = mass > 0 ? sqrt(2 * c->energy / mass) : 0;
  // without weight the scene's speed is the scale there is
  c->fall = weight > 0 && mass > 0 ? weight / mass * c->step_size : c->speed;
}

static double scale_of(const comparison *c, const compare_run *run,
                       scale_kind kind) {
  switch (kind) {
    case WEIGHT:
    case FALL: return c->fall;
    case LENGTH: return c->size;
    case ENERGY: return c->energy;
    case BODIES: return (double)run->figures.most_bodies;
    default: return (double)run->figures.steps;
  }
}

static double value_of(const compare_run *run, const fault *fault) {
  const char *at = (const char *)&run->figures + fault->offset;
  return fault->counted ? (double)*(const long *)at : *(const double *)at;
}

/* NAN where it is not known. */
static double relative_of(const comparison *c, const compare_run *run,
                          const fault *fault) {
  double value = is_there(run) ? value_of(run, fault) : NAN;
  double scale = scale_of(c, run, fault->scale);
  return value == 0 ? 0 : scale > 0 ? value / scale : NAN;
}

/* ---- runs that broke ---- */

typedef struct trouble {
  const char *what, *advice;
} trouble;

/* Tells how a run broke or lost its worth; NULL: it did not. `cut` is the
 * command's doing. */
static const trouble *trouble_of(const compare_run *run, bool *cut) {
  static const trouble kinds[] = {
      {"states came to be no numbers",
       "look for masses and forces that are none; take a smaller step"},
      {"steps were refused", "read the first message, which says why"},
      {"the program ended with an error", "read what it said in data/"},
      {"the program was not run to its end",
       "give more --limit or --megabytes"}};
  *cut = false;
  if (!is_there(run)) return NULL;
  const recording_head *head = run->levels[0]->head;
  if (run->figures.not_finite > 0) return &kinds[0];
  if (run->figures.failed_steps > 0) return &kinds[1];
  if (head->status > 0 && !head->stopped && !head->cut) return &kinds[2];
  *cut = head->cut || head->full || head->status < 0;
  return *cut ? &kinds[3] : NULL;
}

static bool is_broken(const compare_run *run) {
  bool cut;
  return !is_there(run) || (trouble_of(run, &cut) != NULL && !cut);
}

/* Of a run that was cut nobody knows how it ends, where others came to theirs. */
static bool is_taken(const comparison *c, const compare_run *run) {
  bool cut, is_cut, any = false;
  if (is_broken(run)) return false;
  trouble_of(run, &is_cut);
  for (int i = 0; i < c->n_runs && is_cut; i++)
    any |= is_there(&c->runs[i]) && trouble_of(&c->runs[i], &cut) == NULL;
  return !any;
}

/* ---- which to take ---- */

/* What all runs have much the same of tells nothing about which to take. */
static bool is_alike(const comparison *c, const fault *fault) {
  double most = 0, least = INFINITY;
  int known = 0;
  for (int i = 0; i < c->n_runs; i++) {
    double part = relative_of(c, &c->runs[i], fault);
    if (isnan(part)) continue;
    most = fmax(most, part);
    least = fmin(least, part);
    known++;
  }
  return known > 1 && most <= ALIKE * least;
}

static bool decides(const comparison *c, int k) {
  if (is_alike(c, &faults[k])) return false;
  return faults[k].role == DECIDES;
}

/* The largest fault that is a run's own; relative: 0 where it has none. */
static const fault *own_fault(const comparison *c, const compare_run *run,
                              double *relative) {
  const fault *worst = NULL;
  *relative = 0;
  for (int k = 0; k < N_FAULTS; k++) {
    double part = decides(c, k) ? relative_of(c, run, &faults[k]) : NAN;
    if (!(part > *relative)) continue;
    *relative = part;
    worst = &faults[k];
  }
  return worst;
}

/* What only other runs tell: who is right, most of them need not know, but one
 * that has no other fault. */
static bool is_known_by_others(const comparison *c, const compare_run *run,
                               const fault *fault) {
  double own, part = relative_of(c, run, fault);
  for (int i = 0; i < c->n_runs; i++) {
    const compare_run *other = &c->runs[i];
    if (is_broken(other)) continue;
    own_fault(c, other, &own);
    if (own <= NOTICE && relative_of(c, other, fault) < part / ALIKE &&
        relative_of(c, other, fault) <= NOTICE)
      return true;
  }
  return false;
}

/* What other runs tell counts where a run has no fault of its own. */
static const fault *worst_fault(const comparison *c, const compare_run *run,
                                double *relative) {
  const fault *worst = own_fault(c, run, relative);
  if (*relative > NOTICE) return worst;
  for (int k = 0; k < N_FAULTS; k++) {
    if (faults[k].role != COMPARED) continue;
    double part = relative_of(c, run, &faults[k]);
    if (!(part > *relative) || !is_known_by_others(c, run, &faults[k]))
      continue;
    *relative = part;
    worst = &faults[k];
  }
  return worst;
}

/* INFINITY: it broke. */
static double badness_of(const comparison *c, const compare_run *run) {
  double relative;
  if (!is_taken(c, run)) return INFINITY;
  worst_fault(c, run, &relative);
  return relative;
}

/* s of the processor's for a second of the program's. */
static double cost_of(const compare_run *run) {
  double h =
      run->levels[0]->n_steps > 0 ? run->levels[0]->steps[0]->step_size : NAN;
  return run->figures.ms_processor / h;
}

typedef enum wanted { ANY, STOCK, OURS } wanted;

static bool is_wanted(const compare_run *run, wanted wanted) {
  return is_there(run) &&
         (wanted == ANY || compare_is_stock(run) == (wanted == STOCK));
}

/* The cheapest of those whose worst fault is at most `most`; NULL: none. */
static const compare_run *cheapest(const comparison *c, double most,
                                   wanted wanted) {
  const compare_run *chosen = NULL;
  for (int i = 0; i < c->n_runs; i++) {
    const compare_run *run = &c->runs[i];
    if (!is_wanted(run, wanted) || !(badness_of(c, run) <= most)) continue;
    if (chosen == NULL || cost_of(run) < cost_of(chosen)) chosen = run;
  }
  return chosen;
}

static double least_badness(const comparison *c) {
  double least = INFINITY;
  for (int i = 0; i < c->n_runs; i++)
    least = fmin(least, badness_of(c, &c->runs[i]));
  return least;
}

/* ---- the sentence ---- */

#define say(c, ...) add((c)->headline, sizeof(c)->headline, __VA_ARGS__)

static void put_fault(char *text, size_t size, const comparison *c,
                      const compare_run *run, const fault *fault, bool closed) {
  char number[32], part[32];
  add(text, size, "%s %s%s%s (%s %s%s", fault->says,
      short_number(value_of(run, fault), number),
      fault->unit[0] != '\0' ? " " : "", fault->unit,
      percent(relative_of(c, run, fault), part), name_of(fault->scale),
      closed ? ")" : "");
}

static void say_fault(comparison *c, const compare_run *run,
                      const fault *fault) {
  put_fault(c->headline, sizeof c->headline, c, run, fault, true);
}

/* "at 12 times the price of quick" */
static void say_cost(comparison *c, const compare_run *run,
                     const compare_run *than) {
  char number[32];
  double times = cost_of(run) / cost_of(than);
  if (times > 0.95 && times < 1.05)
    say(c, "at the price of %s", than->name);
  else
    say(c, "at %s times the price of %s", short_number(times, number),
        than->name);
}

static int kind_of(const compare_run *run) {
  if (compare_is_stock(run))
    return strcmp(run->name, "step") == 0 ? OF_STEP : OF_QUICK;
  return strncmp(run->name, "trapezoid", 9) == 0 ||
                 strcmp(run->name, "conserving") == 0
             ? OF_SECOND_ORDER
             : OF_FIRST_ORDER;
}

/* What helps the stepper; empty: nothing that is known. */
static const char *advice_for(const compare_run *run, const fault *fault,
                              bool alike) {
  const char *advice = fault->advice[kind_of(run)];
  const compare_figures *f = &run->figures;
  // it helps where limits in two directions are kept in place of a cone
  if (advice == direction &&
      (alike || !(f->aslant_error_p90 > f->friction_error_p90 / ALIKE)))
    advice = NULL;
  return advice == NULL ? "" : advice;
}

/* What helps against a fault that none is without; ode-mlcp's, where it ran. */
static void say_help(comparison *c, const compare_run *run,
                     const fault *fault) {
  const compare_run *our = cheapest(c, INFINITY, OURS);
  if (our != NULL) run = our;
  const char *advice = advice_for(run, fault, true);
  if (advice[0] != '\0')
    say(c, " (what helps under %s: %s)", run->name, advice);
}

/* What the cheapest of all loses. @return false: it is `than`, or it broke */
static bool say_cheaper(comparison *c, const compare_run *than) {
  double relative;
  const compare_run *cheap = cheapest(c, INFINITY, ANY);
  if (cheap == than || cheap == NULL || is_broken(cheap)) return false;
  say(c, "; ");
  say_cost(c, than, cheap);
  say(c, ", under which ");
  say_fault(c, cheap, worst_fault(c, cheap, &relative));
  return true;
}

/* None is without a fault: the cheapest of those that are as good as the least faulty,
 * and of those that keep what it loses the next; each with what the other keeps. */
static void say_trade(comparison *c) {
  double relative, best = INFINITY;
  char part[32];
  const compare_run *one = cheapest(c, ALIKE * least_badness(c), ANY);
  const compare_run *other = NULL;
  const fault *fault = worst_fault(c, one, &relative);
  for (int i = 0; i < c->n_runs; i++) {
    const compare_run *run = &c->runs[i];
    if (run == one || !is_taken(c, run)) continue;
    if (!(relative_of(c, run, fault) < relative / ALIKE) ||
        !(badness_of(c, run) < best))
      continue;
    best = badness_of(c, run);
    other = run;
  }
  say(c, "no stepper is without a fault. Take %s (a step takes %s ms)%s: ",
      one->name, short_number(one->figures.ms_processor, part),
      other == NULL ? ", the cheapest of the least faulty" : "");
  say_fault(c, one, fault);
  if (other == NULL) {
    say_help(c, one, fault);
    say_cheaper(c, one);
    say(c, ".");
    return;
  }
  double theirs;
  const struct fault *lost = worst_fault(c, other, &theirs);
  say(c, ". %s keeps that to %s, ", other->name,
      percent(relative_of(c, other, fault), part));
  say_cost(c, other, one);
  say(c, "; there ");
  say_fault(c, other, lost);
  say(c, ", under %s %s.", one->name, percent(relative_of(c, one, lost), part));
}

/* The largest fault that all have alike; NULL: none. */
static const fault *shared_fault(const comparison *c, const compare_run *run) {
  const fault *worst = NULL;
  double most = NOTICE;
  for (int k = 0; k < N_FAULTS; k++) {
    double part = relative_of(c, run, &faults[k]);
    if (faults[k].role != DECIDES || !is_alike(c, &faults[k]) || !(part > most))
      continue;
    most = part;
    worst = &faults[k];
  }
  return worst;
}

/* Take `best`; what the cheapest of all, or the best of ode-mlcp's where `best` is
 * of the host, is beside it. */
static void say_taken(comparison *c, const compare_run *best) {
  char number[32], part[32];
  double badness = badness_of(c, best);
  const struct fault *shared = shared_fault(c, best);
  say(c, "take %s (a step takes %s ms): ", best->name,
      short_number(best->figures.ms_processor, number));
  if (shared != NULL) {
    say(c, "it has no fault that others lack, all have this: ");
    say_fault(c, best, shared);
    say_help(c, best, shared);
  } else {
    say(c, "nothing is off by more than %s",
        percent(fmax(badness, 1e-4), part));
  }
  const compare_run *our = cheapest(c, NOTICE, OURS);
  if (!say_cheaper(c, best) && compare_is_stock(best) && our != NULL) {
    double times = cost_of(our) / cost_of(best);
    say(c, "; ode-mlcp (%s) is no better here and costs %s times as much",
        our->name, short_number(times, number));
  }
  say(c, ".");
}

static void write_headline(comparison *c, const char *program) {
  double relative;
  char number[32], part[32];
  uint32_t bodies = 0;
  int n_there = 0;
  const compare_run *one = NULL;
  for (int i = 0; i < c->n_runs; i++) {
    const compare_figures *f = &c->runs[i].figures;
    if (is_there(&c->runs[i])) one = &c->runs[i];
    n_there += is_there(&c->runs[i]);
    bodies = f->most_bodies > bodies ? f->most_bodies : bodies;
  }
  if (n_there == 0) {
    say(c, "No stepper took a step of %s.", program);
    return;
  }
  say(c, "On %s, ", program);
  if (bodies == 0) {
    say(c, "there was no body to step.");
    return;
  }
  if (!isfinite(least_badness(c))) {
    say(c, "no run is to be trusted.");
    return;
  }
  const compare_run *best = cheapest(c, NOTICE, ANY);
  const compare_run *stock = cheapest(c, NOTICE, STOCK);
  // what costs as much is no reason to leave the host's own
  if (stock != NULL && cost_of(stock) <= SAME * cost_of(best)) best = stock;
  if (n_there > 1 && best != NULL) {
    say_taken(c, best);
  } else if (n_there > 1) {
    say_trade(c);
  } else {
    const fault *fault = worst_fault(c, one, &relative);
    say(c, "under %s ", one->name);
    if (relative > NOTICE)
      say_fault(c, one, fault);
    else
      say(c, "nothing is off by more than %s",
          percent(fmax(relative, 1e-4), part));
    say(c, "; a step takes %s ms.",
        short_number(one->figures.ms_processor, number));
  }
}

/* ---- the lines ---- */

static verdict_line *next_line(verdict_line lines[], int *n) {
  verdict_line *line = &lines[(*n)++];
  *line = (verdict_line){.what = "", .unit = ""};
  return line;
}

static void add_troubles(comparison *c, verdict_line lines[], int *n) {
  for (int i = 0; i < c->n_runs; i++) {
    bool cut;
    const trouble *broke = trouble_of(&c->runs[i], &cut);
    if (broke == NULL) continue;
    verdict_line *line = next_line(lines, n);
    snprintf(line->stepper, sizeof line->stepper, "%s", c->runs[i].name);
    line->what = broke->what;
    line->figure = (double)c->runs[i].figures.steps;
    line->unit = "steps taken or tried";
    line->relative = line->badness = INFINITY;
    snprintf(line->advice, sizeof line->advice, "%s", broke->advice);
    snprintf(line->text, sizeof line->text, "%s: %s, after %ld steps.",
             c->runs[i].name, broke->what, c->runs[i].figures.steps);
  }
}

/* Who has most of a fault, and who least. */
static void add_fault(comparison *c, const fault *fault, verdict_line lines[],
                      int *n) {
  const compare_run *worst = NULL, *least = NULL;
  double most = 0, fewest = INFINITY;
  int known = 0;
  for (int i = 0; i < c->n_runs; i++) {
    const compare_run *run = &c->runs[i];
    double part = relative_of(c, run, fault);
    if (isnan(part)) continue;
    known++;
    if (part > most &&
        (fault->role != COMPARED || is_known_by_others(c, run, fault))) {
      most = part;
      worst = run;
    }
    if (part < fewest) {
      fewest = part;
      least = run;
    }
  }
  if (worst == NULL || !(most > NOTICE)) return;
  verdict_line *line = next_line(lines, n);
  snprintf(line->stepper, sizeof line->stepper, "%s", worst->name);
  line->what = fault->what;
  line->figure = value_of(worst, fault);
  line->unit = fault->unit;
  line->relative = most;
  // what other runs tell stands behind what a run's own steps do
  line->badness = fault->role == DECIDES ? 1 + most : most / (1 + most);
  bool alike = known > 1 && most <= ALIKE * fewest;
  snprintf(line->advice, sizeof line->advice, "%s",
           advice_for(worst, fault, alike));
  char part[32];
  add(line->text, sizeof line->text, "%s: ", worst->name);
  put_fault(line->text, sizeof line->text, c, worst, fault, false);
  if (alike)
    add(line->text, sizeof line->text, ", much the same under all).");
  else if (known > 1)
    add(line->text, sizeof line->text, ", %s: %s).", least->name,
        percent(fewest, part));
  else
    add(line->text, sizeof line->text, ").");
}

/* The text says once what helps a stepper against several of its faults. */
static void say_advice(verdict_line lines[], int n) {
  for (int i = 0; i < n; i++) {
    bool said = lines[i].advice[0] == '\0';
    for (int k = 0; k < i; k++)
      said |= strcmp(lines[i].stepper, lines[k].stepper) == 0 &&
              strcmp(lines[i].advice, lines[k].advice) == 0;
    if (!said)
      add(lines[i].text, sizeof lines[i].text, " Try this: %s.",
          lines[i].advice);
  }
}

static int by_badness(const void *a, const void *b) {
  double x = ((const verdict_line *)a)->badness;
  double y = ((const verdict_line *)b)->badness;
  return (x < y) - (x > y);
}

void judge_verdict(comparison *c) {
  verdict_line lines[N_FAULTS + COMPARE_RUNS];
  int n = 0;
  char called[120] = "";
  const char *slash = strrchr(c->program, '/');
  add(called, sizeof called, "%s", slash != NULL ? slash + 1 : c->program);
  for (int i = 0; c->arguments != NULL && c->arguments[i] != NULL; i++)
    if (strlen(called) + strlen(c->arguments[i]) < sizeof called / 2)
      add(called, sizeof called, " %s", c->arguments[i]);
  find_scales(c);
  c->headline[0] = '\0';
  write_headline(c, called);
  add_troubles(c, lines, &n);
  for (int k = 0; k < N_FAULTS; k++) add_fault(c, &faults[k], lines, &n);
  qsort(lines, (size_t)n, sizeof lines[0], by_badness);
  c->n_lines = n < VERDICT_LINES ? n : VERDICT_LINES;
  memcpy(c->lines, lines, (size_t)c->n_lines * sizeof lines[0]);
  say_advice(c->lines, c->n_lines);
}
