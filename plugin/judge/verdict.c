#include "judge/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a figure is to a user ---- */

typedef enum scale_kind {
  SPEED,
  FALL,
  LENGTH,
  ENERGY,
  STEPS,
  STEP_TIME
} scale_kind;

typedef struct fault {
  const char *what, *lets, *says, *unit, *means;
  const char *advice[2]; /* on the host's steppers, on ode-mlcp's */
  scale_kind scale;
  bool decides; /* which stepper to take */
  bool counted; /* a long, not a double */
  size_t offset;
} fault;

#define OF(field) offsetof(compare_figures, field)
static const char smaller_step[] = "take a smaller step";
static const fault faults[] = {
    {"contacts off their law",
     "pushes bodies into each other or off",
     "at worst contacts are off their law by",
     "m/s",
     "bodies sink into each other or are pushed off",
     {"more iterations (dWorldSetQuickStepNumIterations), or a smaller step",
      "a smaller step; --budget inf where answers are degraded"},
     SPEED,
     true,
     false,
     OF(contact_error_worst)},
    {"contacts off their law for long",
     "lets what is at rest creep",
     "in one step of ten contacts are off their law by more than",
     "m/s",
     "what is at rest creeps",
     {"more iterations (dWorldSetQuickStepNumIterations)",
      "--budget inf, or a smaller step"},
     FALL,
     true,
     false,
     OF(contact_error_p90)},
    {"friction off its law",
     "brakes bodies too hard, too little or aside",
     "at worst friction is off Coulomb's law by",
     "m/s",
     "a body brakes too hard, too little or aside",
     {"more iterations, or a smaller step; the host's friction pyramid has no "
      "setting",
      "--edges 8, or a smaller step"},
     SPEED,
     false,
     false,
     OF(friction_error_worst)},
    {"friction off its law for long",
     "lets bodies creep or slide wrongly",
     "in one step of ten friction is off Coulomb's law by more than",
     "m/s",
     "bodies stop at another place, or creep",
     {"dContactApprox1 and dContactFDir1 along the slip; else none",
      "--edges 8"},
     FALL,
     true,
     false,
     OF(friction_error_p90)},
    {"joints open",
     "lets joints open",
     "joints are off their place by",
     "m or rad",
     "what is joined comes apart",
     {"a smaller step, or a larger ERP (dWorldSetERP)",
      "a smaller step, or --scheme conserving"},
     LENGTH,
     true,
     false,
     OF(joint_error_worst)},
    {"bodies in each other",
     "lets bodies sink into each other",
     "bodies are in each other by",
     "m",
     "they sink in, or the program puts them there",
     {"a smaller step, a larger ERP, or more iterations",
      "a smaller step, or --scheme st"},
     LENGTH,
     true,
     false,
     OF(penetration_worst)},
    {"energy that contacts put in",
     "makes bodies pop",
     "contacts put in",
     "J",
     "bodies pop apart or never come to rest",
     {"a lower dWorldSetContactMaxCorrectingVel or ERP",
      "a lower --max-correction"},
     ENERGY,
     true,
     false,
     OF(contact_work)},
    {"energy that nothing explains",
     "gains or loses energy",
     "energy is off what forces explain by",
     "J",
     "it comes from the size of the step, or from moves without a force",
     {smaller_step, "a smaller step, or --scheme conserving"},
     ENERGY,
     true,
     false,
     OF(energy_drift)},
    {"bodies off the reference",
     "moves bodies elsewhere",
     "bodies are off the reference by",
     "m",
     "the motion is another one",
     {smaller_step, "a smaller step, or a scheme of second order"},
     LENGTH,
     true,
     false,
     OF(reference_error)},
    {"answers unsolved",
     "leaves answers unsolved",
     "answers that were not solved:",
     "",
     "those steps are not what the law asks for",
     {"", "--budget inf, or a smaller step"},
     STEPS,
     true,
     true,
     OF(unsolved)},
    {"time of a step",
     "is slow",
     "99 of 100 steps take up to",
     "ms",
     "the program falls behind the clock",
     {"fewer iterations (dWorldSetQuickStepNumIterations), or dWorldQuickStep",
      "--budget N, or --threads N"},
     STEP_TIME,
     false,
     false,
     OF(ms_step_p99)}};
enum {
  N_FAULTS = sizeof faults / sizeof faults[0],
  REFERENCE_FAULT = N_FAULTS - 3
};

/* Below this part of the scene's scale a figure is no fault; a step may take all
 * of its time. */
static const double NOTICE = 0.01;
/* Two figures are the same to a user within this factor. */
static const double ALIKE = 2;

static double notice_of(const fault *fault) {
  return fault->scale == STEP_TIME ? 1 : NOTICE;
}

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

/* The largest of all runs: one that brakes by itself is no measure of the others.
 * At rest it is the weight over a body's size. */
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
  // without weight there is no such scale: what lasts is as what is worst
  c->fall = weight > 0 && mass > 0 ? weight / mass * c->step_size : c->speed;
}

static double scale_of(const comparison *c, const compare_run *run,
                       scale_kind kind) {
  switch (kind) {
    case SPEED: return c->speed;
    case FALL: return c->fall;
    case LENGTH: return c->size;
    case ENERGY: return c->energy;
    case STEPS: return (double)run->figures.steps;
    default: return 1e3 * c->step_size;
  }
}

static const char *name_of(scale_kind kind) {
  switch (kind) {
    case SPEED: return "of the scene's speed";
    case FALL: return "of what weight gives in a step";
    case LENGTH: return "of a body's size";
    case ENERGY: return "of the scene's energy";
    case STEPS: return "of the steps";
    default: return "of the time that it stands for";
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
       "look for masses and forces that are "
       "none; take a smaller step"},
      {"steps were refused", "the first message says why"},
      {"the program ended with an error", "data/ has what it said"},
      {"the program was not run to its end", "more --limit or --megabytes"}};
  *cut = false;
  if (!is_there(run)) return NULL;
  const recording_head *head = run->levels[0]->head;
  if (run->figures.not_finite > 0) return &kinds[0];
  if (run->figures.failed_steps > 0) return &kinds[1];
  if (head->status > 0 && !head->stopped && !head->cut) return &kinds[2];
  *cut = head->cut || head->full || head->status < 0;
  return *cut ? &kinds[3] : NULL;
}

/* ---- which to take ---- */

/* The least that any run has of a fault; a run that is not to be trusted counts,
 * too, unless its figure is none. */
static double least_of(const comparison *c, const fault *fault) {
  double least = INFINITY;
  for (int i = 0; i < c->n_runs; i++) {
    double part = relative_of(c, &c->runs[i], fault);
    if (part < least) least = part;
  }
  return least;
}

static bool decides(const comparison *c, int k) {
  return c->is_scene ? k == REFERENCE_FAULT : faults[k].decides;
}

/* The fault by which a run is most behind another, or, where that is NULL, behind
 * the best of all in each; excess: by how much, 0 where it is behind in none. What
 * they have alike decides nothing. */
static const fault *worst_excess(const comparison *c, const compare_run *run,
                                 const compare_run *than, double *excess) {
  const fault *worst = NULL;
  *excess = 0;
  for (int k = 0; k < N_FAULTS; k++) {
    if (!decides(c, k)) continue;
    double part = relative_of(c, run, &faults[k]);
    double least = than != NULL ? relative_of(c, than, &faults[k])
                                : least_of(c, &faults[k]);
    if (!(part > ALIKE * least) || !(part - least > *excess)) continue;
    *excess = part - least;
    worst = &faults[k];
  }
  return worst;
}

/* The largest fault of a run, whatever others have; NULL: none. */
static const fault *worst_fault(const comparison *c, const compare_run *run,
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

static double score_of(const comparison *c, const compare_run *run) {
  bool cut;
  double excess;
  const trouble *broke = trouble_of(run, &cut);
  if (!is_there(run) || (broke != NULL && !cut)) return INFINITY;
  worst_excess(c, run, NULL, &excess);
  return excess;
}

static double cost_of(const compare_run *run) {
  return run->figures.ms_step_median;
}

/* The fastest of those that are as good as the best; NULL: none. */
static const compare_run *choose(const comparison *c, bool stock_too) {
  double least = INFINITY;
  const compare_run *chosen = NULL;
  for (int i = 0; i < c->n_runs; i++)
    if (stock_too || !compare_is_stock(&c->runs[i]))
      least = fmin(least, score_of(c, &c->runs[i]));
  if (!isfinite(least)) return NULL;
  for (int i = 0; i < c->n_runs; i++) {
    const compare_run *run = &c->runs[i];
    if (!stock_too && compare_is_stock(run)) continue;
    if (!(score_of(c, run) <= fmax(NOTICE, ALIKE * least))) continue;
    if (chosen == NULL || cost_of(run) < cost_of(chosen)) chosen = run;
  }
  return chosen;
}

static const compare_run *fastest(const comparison *c) {
  const compare_run *fast = NULL;
  for (int i = 0; i < c->n_runs; i++)
    if (is_there(&c->runs[i]) &&
        (fast == NULL || cost_of(&c->runs[i]) < cost_of(fast)))
      fast = &c->runs[i];
  return fast;
}

/* ---- the sentence ---- */

#define say(c, ...) add((c)->headline, sizeof(c)->headline, __VA_ARGS__)

/* "ode-mlcp's ah", "quick" */
static void say_name(comparison *c, const compare_run *run) {
  say(c, !compare_is_stock(run) && !c->is_scene ? "ode-mlcp `%s`" : "%s",
      run->name);
}

static void say_fault(comparison *c, const compare_run *run,
                      const fault *fault) {
  char number[32], part[32];
  say(c, "%s (%s %s %s, %s %s)", fault->lets, fault->says,
      short_number(value_of(run, fault), number), fault->unit,
      percent(relative_of(c, run, fault), part), name_of(fault->scale));
}

static void say_cost(comparison *c, const compare_run *run,
                     const compare_run *than) {
  char number[32];
  double times = cost_of(run) / cost_of(than);
  if (times > 1.05)
    say(c, "a step costs %s times as much", short_number(times, number));
  else if (times < 0.95)
    say(c, "a step costs %s of it", percent(times, number));
  else
    say(c, "a step costs as much");
}

/* How a run stands by itself, after its name. */
static void say_state(comparison *c, const compare_run *run) {
  char part[32];
  double relative;
  const fault *worst = worst_fault(c, run, &relative);
  if (worst != NULL && relative > NOTICE)
    say_fault(c, run, worst);
  else
    say(c, "is nowhere off by more than %s of the scene",
        percent(fmax(relative, 1e-4), part));
}

/* `better` in place of `run`, which has the fault. */
static void say_instead(comparison *c, const compare_run *run,
                        const fault *fault, const compare_run *better) {
  char part[32];
  double excess;
  say_name(c, run);
  say(c, " ");
  say_fault(c, run, fault);
  say(c, "; ");
  say_name(c, better);
  say(c, " keeps that to %s, and ",
      percent(relative_of(c, better, fault), part));
  say_cost(c, better, run);
  const struct fault *own = worst_excess(c, better, NULL, &excess);
  if (own != NULL && excess > NOTICE) {
    say(c, "; it ");
    say_fault(c, better, own);
  }
}

/* The best stepper of the host beside the best of ode-mlcp's. Faults of two kinds
 * are no trade that can be made for a user: where each keeps what the other does
 * not, both are said. Else ode-mlcp loses, as the host's does as well and is faster,
 * or does better. */
static void say_stock(comparison *c, const compare_run *best,
                      const compare_run *our) {
  double excess, own_excess;
  const fault *fault = worst_excess(c, our, NULL, &excess);
  const struct fault *own = worst_excess(c, best, our, &own_excess);
  bool behind =
      fault != NULL && excess > fmax(NOTICE, ALIKE * score_of(c, best));
  if (!behind && own != NULL && own_excess > NOTICE) {
    say(c, "neither is ahead: ");
    say_instead(c, best, own, our);
    return;
  }
  say(c, "ode-mlcp loses: ");
  if (behind) {
    say_instead(c, our, fault, best);
    return;
  }
  say(c, "%s does as well as `%s`, of which ", best->name, our->name);
  say_cost(c, our, best);
  say(c, "; it ");
  say_state(c, best);
}

static void write_headline(comparison *c, const char *program) {
  const compare_run *best = choose(c, true), *fast = fastest(c);
  const compare_run *our = choose(c, false);
  double excess;
  char number[32];
  uint32_t bodies = 0, contacts = 0;
  int n_there = 0;
  for (int i = 0; i < c->n_runs; i++) {
    const compare_figures *f = &c->runs[i].figures;
    n_there += is_there(&c->runs[i]);
    bodies = f->most_bodies > bodies ? f->most_bodies : bodies;
    contacts = f->most_contacts > contacts ? f->most_contacts : contacts;
  }
  if (fast == NULL) {
    say(c, "No stepper took a step of %s.", program);
    return;
  }
  say(c, "On %s, ", program);
  if (bodies == 0) {
    say(c, "there was no body to step.");
    return;
  }
  if (contacts == 0 && !c->is_scene) say(c, "no contact was made, and ");
  if (best == NULL) {
    say(c, "no run is to be trusted.");
    return;
  }
  const fault *fault = worst_excess(c, fast, NULL, &excess);
  if (n_there == 1) {
    say_name(c, best);
    say(c, " ");
    say_state(c, best);
    say(c, "; a step takes %s ms", short_number(cost_of(best), number));
  } else if (compare_is_stock(best) && our != NULL) {
    say_stock(c, best, our);
  } else if (best == fast) {
    say(c, "take ");
    say_name(c, best);
    say(c, ": it is the fastest (%s ms a step) and ",
        short_number(cost_of(best), number));
    say_state(c, best);
  } else if (score_of(c, fast) == INFINITY || fault == NULL) {
    say(c, "take ");
    say_name(c, best);
    say(c, ": it ");
    say_state(c, best);
  } else {
    say_instead(c, fast, fault, best);
  }
  say(c, ".");
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
    snprintf(line->text, sizeof line->text,
             "%s: %s, after %ld steps. To do: %s.", c->runs[i].name,
             broke->what, c->runs[i].figures.steps, broke->advice);
  }
}

/* Who has most of a fault, and what the others have. */
static void add_fault(comparison *c, const fault *fault, verdict_line lines[],
                      int *n) {
  const compare_run *worst = NULL, *least = NULL;
  double most = 0, fewest = INFINITY;
  int known = 0;
  for (int i = 0; i < c->n_runs; i++) {
    double part = relative_of(c, &c->runs[i], fault);
    if (isnan(part)) continue;
    known++;
    if (part > most) {
      most = part;
      worst = &c->runs[i];
    }
    if (part < fewest) {
      fewest = part;
      least = &c->runs[i];
    }
  }
  if (worst == NULL || !(most > notice_of(fault))) return;
  bool all = known > 1 && most <= ALIKE * fewest;
  verdict_line *line = next_line(lines, n);
  snprintf(line->stepper, sizeof line->stepper, "%s", worst->name);
  line->what = fault->what;
  line->figure = value_of(worst, fault);
  line->unit = fault->unit;
  line->relative = most;
  line->badness = most / notice_of(fault);
  snprintf(line->advice, sizeof line->advice, "%s",
           fault->advice[!compare_is_stock(worst)]);
  char number[32], part[32];
  add(line->text, sizeof line->text, "%s: %s %s %s, %s %s", worst->name,
      fault->says, short_number(line->figure, number), fault->unit,
      percent(most, part), name_of(fault->scale));
  if (all)
    add(line->text, sizeof line->text, " (much the same under all)");
  else if (known > 1)
    add(line->text, sizeof line->text, " (least: %s, %s)", least->name,
        percent(fewest, part));
  add(line->text, sizeof line->text, ": %s. To do: %s.", fault->means,
      line->advice);
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
  for (int k = 0; k < N_FAULTS; k++)
    if (!c->is_scene || k == REFERENCE_FAULT)
      add_fault(c, &faults[k], lines, &n);
  qsort(lines, (size_t)n, sizeof lines[0], by_badness);
  c->n_lines = n < VERDICT_LINES ? n : VERDICT_LINES;
  memcpy(c->lines, lines, (size_t)c->n_lines * sizeof lines[0]);
}
