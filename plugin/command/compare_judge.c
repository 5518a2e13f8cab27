/* The figures of a comparison: docs/compare.md has the formulas. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/compare.h"

static double worse(double a, double b) { return b <= a ? a : b; }

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The value that the share `part` of them does not exceed; sorts them. */
static double quantile(double values[], size_t count, double part) {
  if (count == 0) return NAN;
  qsort(values, count, sizeof values[0], by_size);
  size_t at = (size_t)ceil(part * (double)count);
  return values[at > 0 ? at - 1 : 0];
}

/* ---- one run by itself ---- */

static void sum_steps(const recording *r, compare_figures *f) {
  f->contact_error_worst = f->cone_violation_worst = 0;
  f->penetration_worst = f->penetration_end = f->joint_error_worst = 0;
  f->energy_drift = f->contact_work = f->momentum_drift = 0;
  f->fastest_end = 0;
  for (size_t i = 0; i < r->n_steps; i++) {
    const recording_step *step = r->steps[i];
#define WORSE(field, value) f->field = worse(f->field, value)
    WORSE(contact_error_worst, step->contact_error);
    WORSE(cone_violation_worst, step->cone_violation);
    WORSE(penetration_worst, step->penetration);
    WORSE(joint_error_worst, step->joint_error);
    WORSE(energy_drift, fabs(step->energy_unexplained));
    WORSE(momentum_drift, step->momentum_unexplained);
#undef WORSE
    f->contact_work = step->contact_work;
    f->penetration_end = step->penetration;
    f->fastest_end = step->fastest;
    if (step->contacts > f->most_contacts) f->most_contacts = step->contacts;
    if (step->bodies > f->most_bodies) f->most_bodies = step->bodies;
  }
}

/* What never touches keeps no law of contact. */
static void forget_contacts(compare_figures *f) {
  f->contact_error_worst = f->contact_error_p90 = NAN;
  f->cone_violation_worst = f->penetration_worst = f->penetration_end = NAN;
  f->contact_work = NAN;
}

static void sum_times(const recording *r, compare_figures *f) {
  double *values = malloc((r->n_steps + 1) * sizeof *values);
  if (values == NULL) return;
  for (size_t i = 0; i < r->n_steps; i++)
    values[i] = r->steps[i]->contact_error;
  f->contact_error_p90 = quantile(values, r->n_steps, 0.9);
  for (size_t i = 0; i < r->n_steps; i++)
    values[i] = 1e3 * r->steps[i]->seconds;
  f->ms_step_median = quantile(values, r->n_steps, 0.5);
  f->ms_step_p99 = quantile(values, r->n_steps, 0.99);
  f->ms_step_worst = r->n_steps > 0 ? values[r->n_steps - 1] : NAN;
  free(values);
}

static void judge_alone(compare_run *run) {
  compare_figures *f = &run->figures;
  const recording *r = run->levels[0];
  *f = (compare_figures){.contact_error_worst = NAN,
                         .contact_error_p90 = NAN,
                         .cone_violation_worst = NAN,
                         .penetration_worst = NAN,
                         .penetration_end = NAN,
                         .joint_error_worst = NAN,
                         .energy_drift = NAN,
                         .contact_work = NAN,
                         .momentum_drift = NAN,
                         .fastest_end = NAN,
                         .reference_error = NAN,
                         .order = NAN,
                         .parted = NAN,
                         .ms_step_median = NAN,
                         .ms_step_p99 = NAN,
                         .ms_step_worst = NAN};
  if (r == NULL) return;
  f->steps = (long)r->head->steps;
  f->messages = (long)r->head->messages;
  f->failed_steps = (long)r->head->failed;
  f->degraded = (long)r->head->degraded;
  f->unsolved = (long)r->head->unsolved;
  f->impacts_by_set = (long)r->head->impacts_by_set;
  f->poisson_bounces = (long)r->head->poisson_bounces;
  f->poisson_unposed = (long)r->head->poisson_unposed;
  f->poisson_unfinished = (long)r->head->poisson_unfinished;
  f->not_finite = (long)r->head->not_finite;
  f->seconds = r->head->time;
  sum_steps(r, f);
  sum_times(r, f);
  if (f->most_contacts == 0) forget_contacts(f);
}

/* ---- two runs beside each other ---- */

static double distance(const recording_pose *a, const recording_pose *b) {
  double sum = 0;
  for (int i = 0; i < 3; i++) {
    double d = a->position[i] - b->position[i];
    sum += d * d;
  }
  return sqrt(sum);
}

/* Of two frames: the largest distance of a body from itself, or the root of
 * their mean square. Bodies that one of them lacks have no distance. */
static double frame_distance(const recording_frame *a, const recording_frame *b,
                             bool largest) {
  const recording_pose *poses = frame_poses(a);
  double most = 0, sum = 0;
  uint32_t n = 0;
  for (uint32_t i = 0; i < a->n_bodies; i++) {
    const recording_pose *other = frame_pose(b, poses[i].body);
    if (other == NULL) continue;
    double d = distance(&poses[i], other);
    if (!(d <= most)) most = d; /* a NaN stays */
    sum += d * d;
    n++;
  }
  return largest ? most : n > 0 ? sqrt(sum / n) : 0;
}

/* Walks the frames of the same step of two runs. */
typedef struct frame_pair {
  const recording *one, *other;
  size_t i, k;
} frame_pair;

static bool next_pair(frame_pair *at, const recording_frame **a,
                      const recording_frame **b) {
  while (at->i < at->one->n_frames && at->k < at->other->n_frames) {
    *a = at->one->frames[at->i];
    *b = at->other->frames[at->k];
    at->i += (*a)->number <= (*b)->number;
    at->k += (*b)->number <= (*a)->number;
    if ((*a)->number == (*b)->number) return true;
  }
  return false;
}

double compare_parting(const recording *one, const recording *other,
                       double apart) {
  frame_pair at = {one, other, 0, 0};
  const recording_frame *a, *b;
  while (next_pair(&at, &a, &b))
    if (!(frame_distance(a, b, true) <= apart)) return a->time;
  return INFINITY;
}

/* The largest root mean square distance before the time `end`; NAN where no frame
 * of both is. */
static double largest_distance(const recording *one, const recording *other,
                               double end) {
  frame_pair at = {one, other, 0, 0};
  const recording_frame *a, *b;
  double most = 0;
  bool any = false;
  while (next_pair(&at, &a, &b) && a->time < end) {
    double d = frame_distance(a, b, false);
    if (!(d <= most)) most = d;
    any = true;
  }
  return any ? most : NAN;
}

/* ---- the reference ---- */

/* Two bodies' runs are parted when they are a tenth of a body apart. */
static const double APART = 0.1;

static double extent(const recording_shape *shape) {
  const float *s = shape->sizes;
  switch (shape->kind) {
    case RECORDING_SPHERE: return 2 * s[0];
    case RECORDING_BOX: return fmaxf(s[0], fmaxf(s[1], s[2]));
    case RECORDING_CAPSULE: return s[1] + 2 * s[0];
    case RECORDING_CYLINDER: return fmaxf(s[1], 2 * s[0]);
    default: break;
  }
  const float(*vertices)[3] = (const void *)(shape + 1);
  double most = 0;
  for (uint32_t i = 0; i < shape->n_vertices; i++)
    for (int k = 0; k < 3; k++) most = fmax(most, 2 * fabsf(vertices[i][k]));
  return most;
}

static double median_size(const recording *r) {
  double *sizes = malloc((r->n_shapes + 1) * sizeof *sizes);
  size_t n = 0;
  for (size_t i = 0; sizes != NULL && i < r->n_shapes; i++)
    if (r->shapes[i]->body != 0) sizes[n++] = extent(r->shapes[i]);
  double median = n > 0 ? quantile(sizes, n, 0.5) : 1;
  free(sizes);
  return median > 0 ? median : 1;
}

/* The order p of e = C h^p, of three runs of one stepper: by how much the
 * differences between neighbours shrink. */
static double find_order(const compare_run *run, double apart, int refine) {
  recording *const *r = run->levels;
  if (r[0] == NULL || r[1] == NULL || r[2] == NULL) return NAN;
  double end = fmin(compare_parting(r[0], r[1], apart),
                    compare_parting(r[1], r[2], apart));
  double coarse = largest_distance(r[0], r[1], end);
  double fine = largest_distance(r[1], r[2], end);
  const double ROUNDING = 1e-11; /* m */
  if (!(coarse > ROUNDING) || !(fine > ROUNDING)) return NAN;
  return log(coarse / fine) / log(refine);
}

static void judge_against_reference(comparison *c) {
  if (c->reference < 0) return;
  recording *const *levels = c->runs[c->reference].levels;
  double apart = APART * c->size;
  c->chaos = compare_parting(levels[1], levels[2], apart);
  for (int i = 0; i < c->n_runs; i++) {
    compare_run *run = &c->runs[i];
    if (run->levels[0] == NULL) continue;
    run->figures.reference_error =
        largest_distance(run->levels[0], levels[2], c->chaos);
    run->figures.order = find_order(run, apart, c->refine);
  }
}

static bool is_stock(const compare_run *run) {
  return strcmp(run->name, "step") == 0 || strncmp(run->name, "quick", 5) == 0;
}

/* Of ode-mlcp's schemes, or of the host's steppers where there is none, the one
 * that changed least from R substeps to R^2. */
static int choose_reference(const comparison *c) {
  int chosen = -1;
  double least = INFINITY;
  bool stock = true;
  for (int i = 0; i < c->n_runs; i++) {
    const compare_run *run = &c->runs[i];
    if (run->levels[1] == NULL || run->levels[2] == NULL) continue;
    double change = largest_distance(run->levels[1], run->levels[2], INFINITY);
    bool better = is_stock(run) == stock ? change < least : stock;
    if (chosen >= 0 && !better) continue;
    chosen = i;
    least = change;
    stock = is_stock(run);
  }
  return chosen;
}

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
static void write_verdict(comparison *c) {
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

/* All show the world that the first run shows. */
static void show_one_world(comparison *c, const recording *first,
                           recording *again) {
  for (int i = 0; i < c->n_runs; i++)
    for (int k = 0; k < COMPARE_LEVELS; k++)
      if (c->runs[i].levels[k] != NULL)
        recording_show(c->runs[i].levels[k], first->world);
  if (again != NULL) recording_show(again, first->world);
}

void compare_judge(comparison *c, recording *again) {
  const recording *first = NULL;
  c->size = 1;
  for (int i = 0; i < c->n_runs; i++) {
    judge_alone(&c->runs[i]);
    if (first == NULL) first = c->runs[i].levels[0];
  }
  if (first != NULL) show_one_world(c, first, again);
  if (first != NULL) c->worlds = (int)first->head->worlds;
  if (first != NULL) c->size = median_size(first);
  for (int i = 0; i < c->n_runs; i++)
    if (c->runs[i].levels[0] != NULL)
      c->runs[i].figures.parted =
          compare_parting(first, c->runs[i].levels[0], APART * c->size);
  for (int i = 0; i < c->n_runs && c->is_scene; i++) {
    // frames of other step sizes are not of the same steps
    compare_figures *f = &c->runs[i].figures;
    f->parted = NAN;
    // nor are their contacts joints of the program, which could be measured
    forget_contacts(f);
    f->energy_drift = f->momentum_drift = NAN;
    f->reference_error = c->runs[i].known_error;
    f->order = c->runs[i].known_order;
  }
  c->reference = c->refine > 0 ? choose_reference(c) : -1;
  c->chaos = INFINITY;
  judge_against_reference(c);
  c->differs = NAN;
  if (again != NULL && c->repeated >= 0)
    c->differs = compare_parting(c->runs[c->repeated].levels[0], again, 0);
  write_verdict(c);
}
