/* The figures of a comparison: docs/compare.md has the formulas. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/judge.h"
#include "judge/tables.h"
#include "judge/verdict.h"
#include "judge/worse.h"

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
  f->friction_error_worst = f->crept = 0;
  f->penetration_worst = f->joint_error_worst = 0;
  f->energy_drift = f->contact_work = f->momentum_drift = 0;
  for (size_t i = 0; i < r->n_steps; i++) {
    const recording_step *step = r->steps[i];
#define WORSE(field, value) f->field = worse(f->field, value)
    WORSE(contact_error_worst, step->contact_error);
    WORSE(cone_violation_worst, step->cone_violation);
    WORSE(friction_error_worst, step->friction_error);
    WORSE(crept, step->crept);
    WORSE(penetration_worst, step->penetration);
    WORSE(joint_error_worst, step->joint_error);
    WORSE(energy_drift, fabs(step->energy_unexplained));
    WORSE(momentum_drift, step->momentum_unexplained);
#undef WORSE
    f->contact_work = step->contact_work;
    if (step->processor > step->step_size) f->late++;
    if (step->contacts > f->most_contacts) f->most_contacts = step->contacts;
    if (step->bodies > f->most_bodies) f->most_bodies = step->bodies;
  }
}

/* A run that never touches keeps no law of contact. */
static void forget_contacts(compare_figures *f) {
  f->contact_error_worst = f->contact_error_p90 = NAN;
  f->cone_violation_worst = f->penetration_worst = NAN;
  f->penetration_p90 = NAN;
  f->friction_error_worst = f->friction_error_p90 = f->crept = NAN;
  f->contact_work = NAN;
}

/* The quantile of a member of the steps from one on, in room for all of them. */
static double quantile_of(const recording *r, size_t from, size_t offset,
                          double part, double room[]) {
  for (size_t i = from; i < r->n_steps; i++)
    room[i - from] = *(const double *)((const char *)r->steps[i] + offset);
  return quantile(room, r->n_steps - from, part);
}

static bool sum_times(const recording *r, compare_figures *f) {
  double *room = malloc((r->n_steps + 1) * sizeof *room), processor = 0;
  if (room == NULL) return false;
#define QUANTILE(from, field, part)                                            \
  quantile_of(r, from, offsetof(recording_step, field), part, room)
  f->contact_error_p90 = QUANTILE(0, contact_error, 0.9);
  f->friction_error_p90 = QUANTILE(0, friction_error, 0.9);
  f->aslant_error_p90 = QUANTILE(0, aslant_error, 0.9);
  f->penetration_p90 = QUANTILE(0, penetration, 0.9);
  f->ms_step_median = 1e3 * QUANTILE(0, seconds, 0.5);
  f->ms_step_p99 = 1e3 * QUANTILE(0, seconds, 0.99);
  f->ms_step_worst = 1e3 * QUANTILE(0, seconds, 1);
  f->unrest = QUANTILE(r->n_steps - (r->n_steps + 9) / 10, fastest, 0.5);
#undef QUANTILE
  for (size_t i = 0; i < r->n_steps; i++) processor += r->steps[i]->processor;
  f->ms_processor = 1e3 * processor / (double)r->n_steps;
  free(room);
  return true;
}

/* @return false where memory ran out */
static bool judge_alone(compare_run *run) {
  compare_figures *f = &run->figures;
  const recording *r = run->levels[0];
  *f = (compare_figures){.steps = 0};
  figures_forget(f);
  if (r == NULL) return true;
  f->steps = (long)r->head->steps;
  f->messages = (long)r->head->messages;
  f->failed_steps = (long)r->head->failed;
  f->degraded = (long)r->head->degraded;
  f->unsolved = (long)r->head->unsolved;
  f->not_finite = (long)r->head->not_finite;
  f->seconds = r->head->time;
  sum_steps(r, f);
  bool whole = sum_times(r, f);
  if (f->most_contacts == 0) forget_contacts(f);
  return whole;
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

double frame_distance(const recording_frame *a, const recording_frame *b,
                      bool largest) {
  const recording_pose *poses = frame_poses(a);
  double most = 0, sum = 0;
  uint32_t n = 0;
  for (uint32_t i = 0; i < a->n_bodies; i++) {
    const recording_pose *other = frame_pose(b, poses[i].body);
    if (other == NULL) continue;
    double d = distance(&poses[i], other);
    most = worse(most, d);
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
    most = worse(most, frame_distance(a, b, false));
    any = true;
  }
  return any ? most : NAN;
}

/* The middle of a body's place in all runs that have it at a time. */
static int middle_of_runs(const comparison *c, double time, uint32_t body,
                          double middle[3]) {
  double values[3][COMPARE_RUNS];
  int n = 0;
  for (int i = 0; i < c->n_runs; i++) {
    const recording *r = c->runs[i].levels[0];
    if (r == NULL || r->n_frames == 0) continue;
    const recording_pose *pose = frame_pose(recording_frame_at(r, time), body);
    if (pose == NULL) continue;
    for (int k = 0; k < 3; k++) values[k][n] = pose->position[k];
    n++;
  }
  for (int k = 0; k < 3; k++) middle[k] = quantile(values[k], (size_t)n, 0.5);
  return n;
}

/* Of three runs or more one that is apart from the others is known by that: at the
 * end of the shortest. */
static void count_strayed(comparison *c) {
  double end = INFINITY;
  for (int i = 0; i < c->n_runs; i++) {
    const recording *r = c->runs[i].levels[0];
    if (r != NULL && r->n_frames > 0)
      end = fmin(end, r->frames[r->n_frames - 1]->time);
  }
  for (int i = 0; i < c->n_runs; i++) {
    const recording *r = c->runs[i].levels[0];
    if (r == NULL || r->n_frames == 0) continue;
    const recording_frame *frame = recording_frame_at(r, end);
    for (uint32_t k = 0; k < frame->n_bodies; k++) {
      const recording_pose *pose = &frame_poses(frame)[k];
      recording_pose middle = *pose;
      if (middle_of_runs(c, end, pose->body, middle.position) > 2)
        c->runs[i].figures.strayed += !(distance(pose, &middle) <= c->size);
    }
  }
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

static double median_size(const recording *r, bool *short_of_memory) {
  double *sizes = malloc((r->n_shapes + 1) * sizeof *sizes);
  size_t n = 0;
  if (sizes == NULL) *short_of_memory = true;
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

bool compare_is_stock(const compare_run *run) {
  return strcmp(run->name, "step") == 0 || strncmp(run->name, "quick", 5) == 0;
}

/* The reference changed least from R substeps to R^2 of ode-mlcp's schemes, or of
 * the host's steppers where there is no scheme. */
static int choose_reference(const comparison *c) {
  int chosen = -1;
  double least = INFINITY;
  bool stock = true;
  for (int i = 0; i < c->n_runs; i++) {
    const compare_run *run = &c->runs[i];
    if (run->levels[1] == NULL || run->levels[2] == NULL) continue;
    double change = largest_distance(run->levels[1], run->levels[2], INFINITY);
    bool better = compare_is_stock(run) == stock ? change < least : stock;
    if (chosen >= 0 && !better) continue;
    chosen = i;
    least = change;
    stock = compare_is_stock(run);
  }
  return chosen;
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
    if (!judge_alone(&c->runs[i])) c->short_of_memory = true;
    if (first == NULL) first = c->runs[i].levels[0];
  }
  if (first != NULL) show_one_world(c, first, again);
  if (first != NULL) c->worlds = (int)first->head->worlds;
  if (first != NULL) c->size = median_size(first, &c->short_of_memory);
  for (int i = 0; i < c->n_runs; i++)
    if (c->runs[i].levels[0] != NULL)
      c->runs[i].figures.parted =
          compare_parting(first, c->runs[i].levels[0], APART * c->size);
  count_strayed(c);
  c->reference = c->refine > 0 ? choose_reference(c) : -1;
  c->chaos = INFINITY;
  judge_against_reference(c);
  c->differs = NAN;
  if (again != NULL && c->repeated >= 0)
    c->differs = compare_parting(c->runs[c->repeated].levels[0], again, 0);
  judge_verdict(c);
}
