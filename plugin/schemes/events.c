#include "schemes/events.h"

#include <math.h>
#include <string.h>

#include "common/vec3.h"

/* --- collisions ----------------------------------------------------------- */

/* When contact k of `ahead` came down to nothing: the root of the cubic through
 * its gaps and their rates at both ends (7.2). One that overlapped at the start
 * counts from where it was. */
static double collision_share(const whole_step *w, int k, double h) {
  const double EPSILON = 1e-12; /* m */
  const form_contact *end = &w->ahead.contacts[k];
  int of = w->match[k];
  double end_rate = form_contact_rate(end, w->next.v);
  double rate = form_contact_rate(end, w->now.v);
  double gap = end->gap - h * 0.5 * (rate + end_rate);
  if (of >= 0) {
    const form_contact *start = &w->s.here.contacts[of];
    if (start->active) return INFINITY;
    gap = start->gap;
    rate = form_contact_rate(start, w->now.v);
  }
  double from = fmin(gap, 0);
  if (!(end->gap < from - EPSILON)) return INFINITY;
  return cubic_first_descent(gap - from, h * rate, end->gap - from,
                             h * end_rate);
}

/* When stop k of `here`, which is not among those still ahead, was passed: its
 * gap changes at the rates of both ends. A little earlier, so that it is still
 * there to be seen. */
static double stop_share(const whole_step *w, int k, double h) {
  const double EARLIER = 2e-12; /* m or rad */
  const form_contact *stop = &w->s.here.contacts[k];
  if (stop->stop < 0 || stop->active) return INFINITY;
  double rate = form_contact_rate(stop, w->now.v);
  double end_rate = form_contact_rate(stop, w->next.v);
  double gap = stop->gap - EARLIER;
  return cubic_first_descent(gap, h * rate, gap + 0.5 * h * (rate + end_rate),
                             h * end_rate);
}

/* The share of the step after which the first collision comes, INFINITY: none.
 * Those that come within the smallest substep of it are one event. */
static bool find_collision(whole_step *w, double h, double *first) {
  world_form *form = w->s.form;
  *first = INFINITY;
  w->n_collided = 0;
  if (!form_view_evaluate(form, &w->ahead, w->next.poses, w->next.v, h))
    return false;
  size_t n = (size_t)w->ahead.n_contacts, m = (size_t)w->s.here.n_contacts;
  w->match = memory_block_reserve(&w->match_block, w->source, n,
                                  sizeof *w->match);
  w->share = memory_block_reserve(&w->share_block, w->source, n,
                                  sizeof *w->share);
  bool *taken = memory_block_reserve(&w->value_block, w->source, m,
                                     sizeof *taken);
  w->collided = memory_block_reserve(&w->collided_block, w->source, n + m,
                                     sizeof *w->collided);
  if (w->match == NULL || w->share == NULL || taken == NULL ||
      w->collided == NULL)
    return whole_step_no_memory(w);
  form_view_match(&w->ahead, &w->s.here,
                  second_order_radius(&w->s, w->now.v, h), w->match, taken);
  for (int k = 0; k < w->ahead.n_contacts; k++) {
    w->share[k] = collision_share(w, k, h);
    *first = fmin(*first, w->share[k]);
  }
  for (int k = 0; k < w->s.here.n_contacts; k++)
    if (!taken[k]) *first = fmin(*first, stop_share(w, k, h));
  double together = form->options->min_substep * form->step_size / h;
  for (int k = 0; k < w->ahead.n_contacts; k++)
    if (w->share[k] <= *first + together && isfinite(w->share[k]))
      w->collided[w->n_collided++] = w->ahead.contacts[k];
  for (int k = 0; k < w->s.here.n_contacts && isfinite(*first); k++)
    if (!taken[k] && stop_share(w, k, h) <= *first + together)
      w->collided[w->n_collided++] = w->s.here.contacts[k];
  return true;
}

bool events_go_between(whole_step *w, double share) {
  int n = w->s.form->n_bodies;
  motion_between(&w->s.ahead, &w->now, &w->next, share, n);
  for (int b = 0; b < n; b++) /* these follow their velocities */
    if (w->s.form->bodies[b].kinematic)
      memcpy(w->s.ahead.v + 6 * b, w->now.v + 6 * b, 6 * sizeof(double));
  motion_copy(&w->now, &w->s.ahead, n);
  return true;
}

bool events_mark_collided(whole_step *w) {
  double radius = second_order_radius(&w->s, w->now.v, w->s.form->step_size);
  form_view given = {.contacts = w->collided, .n_contacts = w->n_collided};
  size_t n = (size_t)w->s.here.n_contacts;
  int *match = memory_block_reserve(&w->match_block, w->source,
                                    (size_t)w->n_collided, sizeof *match);
  bool *taken = memory_block_reserve(&w->value_block, w->source, n,
                                     sizeof *taken);
  if (match == NULL || taken == NULL) return whole_step_no_memory(w);
  form_view_match(&given, &w->s.here, radius, match, taken);
  for (int k = 0; k < w->n_collided; k++)
    if (match[k] >= 0) w->s.here.contacts[match[k]].active = true;
  return true;
}

/* --- friction and pressure at the end of a trial step --------------------- */

/* Friction against its limit, in units of the normal impulse where it is
 * proportional; < 0 beyond. INFINITY: it has none. */
static double friction_slack(const form_contact *contact,
                             const contact_rows *rows, double normal,
                             const double tangent[3], double h) {
  const dSurfaceParameters *surface = &contact->contact.surface;
  int mode = surface->mode, n = 0;
  bool proportional = mode & dContactApprox1_1;
  double sum = 0;
  double limits[2] = {surface->mu,
                      mode & dContactMu2 ? surface->mu2 : surface->mu};
  if (rows->n_sliding == 0 ||
      proportional != !!(mode & dContactApprox1_2))
    return INFINITY;
  for (int d = 0; d < 2; d++) {
    if (!(limits[d] > 0)) continue;
    double part = vec3_dot(tangent, rows->sliding_axis[n++]) / limits[d];
    sum += part * part;
  }
  double available =
      proportional ? normal : h * contact->reading.multiplicity;
  return available - sqrt(sum);
}

static const form_view *solved_view(const second_order *s) {
  return s->form->options->scheme == ODE_MLCP_SCHEME_GAP ? &s->here
                                                         : &s->middle;
}

static contact_probe probe_of(const second_order *s, int k, double tolerance) {
  contact_probe probe = {0};
  int m = s->middle_of[k];
  if (m < 0) return probe;
  const contact_rows *rows = &s->answer.contact_rows[m];
  const double *impulse = s->answer.contact_impulse + 6 * m;
  double sign = form_contact_swapped(&solved_view(s)->contacts[m]) ? -1 : 1;
  probe.normal = impulse[0];
  for (int d = 0; d < rows->n_sliding; d++)
    vec3_add_scaled(probe.tangent, sign * impulse[1 + d],
                    rows->sliding_axis[d]);
  probe.holds = probe.normal > 0 || s->answer.contact_w[m] <= tolerance;
  return probe;
}

bool events_at_limit(const second_order *s, int k) {
  int m = s->middle_of[k];
  if (m < 0) return false;
  contact_probe probe = probe_of(s, k, 0);
  const form_contact *contact = &solved_view(s)->contacts[m];
  double h = s->form->step_size;
  return friction_slack(contact, &s->answer.contact_rows[m], probe.normal,
                        probe.tangent, h) <= 1e-8 * (probe.normal + h);
}

/* --- what is watched ------------------------------------------------------ */

/* Sliding contacts are watched for the end of their slip, sticking ones for
 * its onset, those that were held before for the end of their pressure. */
static bool set_watches(whole_step *w, bool *any) {
  const form_view *here = &w->s.here;
  double tolerance = whole_step_rate_tolerance(w);
  w->watch = memory_block_reserve(&w->watch_block, w->source,
                                  (size_t)here->n_contacts, sizeof *w->watch);
  w->probe = memory_block_reserve(&w->probe_block, w->source,
                                  (size_t)here->n_contacts, sizeof *w->probe);
  w->other_probe =
      memory_block_reserve(&w->other_probe_block, w->source,
                           (size_t)here->n_contacts, sizeof *w->other_probe);
  if (w->watch == NULL || w->probe == NULL || w->other_probe == NULL)
    return whole_step_no_memory(w);
  *any = false;
  for (int k = 0; k < here->n_contacts; k++) {
    const form_contact *contact = &here->contacts[k];
    contact_watch *watch = &w->watch[k];
    int m = w->s.middle_of[k];
    memset(watch, 0, sizeof *watch);
    if (!contact->active || m < 0 || whole_step_is_stiff(w, contact)) continue;
    if (contact->held) watch->kinds = WATCH_LEAVE;
    if (w->s.answer.contact_rows[m].n_sliding > 0) {
      form_contact_slip(contact, w->now.v, watch->direction);
      watch->speed = vec3_length(watch->direction);
      if (!contact->slipping)
        watch->kinds |= WATCH_SLIP;
      else if (watch->speed > tolerance)
        watch->kinds |= WATCH_STOP;
    }
    *any |= watch->kinds != 0;
  }
  return true;
}

static bool probe_all(whole_step *w, double h, contact_probe probes[]) {
  if (!second_order_take(&w->s, &w->now, h, &w->next)) return false;
  double tolerance = whole_step_rate_tolerance(w);
  for (int k = 0; k < w->s.here.n_contacts; k++)
    probes[k] = probe_of(&w->s, k, tolerance);
  return true;
}

/* The forces at the end of a step of size h are the rate at which the impulses
 * of a step in the same mode grow with its size. */
static void watch_forces(whole_step *w, int k, double between) {
  contact_watch *watch = &w->watch[k];
  int m = w->s.middle_of[k];
  const contact_probe *longer = &w->probe[k], *shorter = &w->other_probe[k];
  if (m < 0 || !longer->holds) {
    watch->value[1] = watch->value[2] = -1;
    return;
  }
  double normal = (longer->normal - shorter->normal) / between, tangent[3];
  vec3_subtract(tangent, longer->tangent, shorter->tangent);
  for (int i = 0; i < 3; i++) tangent[i] /= between;
  const contact_rows *rows = &w->s.answer.contact_rows[m];
  const form_contact *contact = &solved_view(&w->s)->contacts[m];
  double size = fabs(normal) + 1e-300;
  watch->value[2] = normal / size + 1e-9;
  watch->value[1] =
      fmin(friction_slack(contact, rows, normal, tangent, 1) / size, 1);

  /* at its limit all through: it slips already */
  double tolerance = whole_step_rate_tolerance(w);
  double slip[3];
  form_contact_slip(contact, w->next.v, slip);
  if (events_at_limit(&w->s, k) && vec3_length(slip) > tolerance)
    watch->value[1] = fmin(watch->value[1], -1e-9);
}

/* Slides end where this part of the slip at their start is left. Most schemes
 * turn a slip that ends around; those that hold the end velocity itself make it
 * nought but for rounding. */
static double slip_of_nought(const whole_step *w, double speed) {
  const ode_mlcp_options *options = w->s.form->options;
  bool stops = options->scheme == ODE_MLCP_SCHEME_TRAPEZOID_1 ||
               (options->scheme == ODE_MLCP_SCHEME_GAP && options->alpha == 1);
  double rounding = stops ? 0.1 * whole_step_rate_tolerance(w) / speed : 0;
  return fmax(1e-10, rounding);
}

/* Try a step of size h and set the watches' values. @return the least of all,
 * in *least; leaves the step in w->next. */
static bool measure(whole_step *w, double h, double *least) {
  const double DELTA = 1e-4;
  bool forces = false;
  for (int k = 0; k < w->s.here.n_contacts; k++)
    forces |= w->watch[k].kinds & (WATCH_SLIP | WATCH_LEAVE);
  if (forces && (!probe_all(w, h * (1 + DELTA), w->probe) ||
                 !probe_all(w, h * (1 - DELTA), w->other_probe)))
    return false;
  if (!second_order_take(&w->s, &w->now, h, &w->next)) return false;

  *least = INFINITY;
  for (int k = 0; k < w->s.here.n_contacts; k++) {
    contact_watch *watch = &w->watch[k];
    int m = w->s.middle_of[k];
    if (watch->kinds & WATCH_STOP) {
      double slip[3];
      form_contact_slip(m >= 0 ? &solved_view(&w->s)->contacts[m]
                               : &w->s.here.contacts[k],
                        w->next.v, slip);
      watch->value[0] =
          vec3_dot(slip, watch->direction) / (watch->speed * watch->speed) -
          slip_of_nought(w, watch->speed);
    }
    if (watch->kinds & (WATCH_SLIP | WATCH_LEAVE))
      watch_forces(w, k, 2 * DELTA * h);
    for (int kind = 0; kind < 3; kind++)
      if (watch->kinds & 1 << kind) *least = fmin(*least, watch->value[kind]);
  }
  return true;
}

/* A contact's new mode after the event of `kind`. */
static void flip(form_contact *contact, contact_watch *watch, int kind) {
  watch->kinds &= ~(1 << kind);
  if (1 << kind == WATCH_STOP) contact->slipping = false;
  if (1 << kind == WATCH_SLIP) contact->slipping = true;
}

/* Watches that are past their event after the smallest step: their contacts
 * change at once, and are watched no more. */
static bool flip_at_once(whole_step *w, double shortest) {
  double least;
  if (!measure(w, shortest, &least)) return false;
  for (int k = 0; k < w->s.here.n_contacts; k++)
    for (int kind = 0; kind < 3; kind++)
      if ((w->watch[k].kinds & 1 << kind) && w->watch[k].value[kind] < 0)
        flip(&w->s.here.contacts[k], &w->watch[k], kind);
  return true;
}

bool events_flip(whole_step *w) {
  const double AT_EVENT = 1e-6;
  for (int k = 0; k < w->s.here.n_contacts; k++)
    for (int kind = 0; kind < 3; kind++)
      if ((w->watch[k].kinds & 1 << kind) &&
          w->watch[k].value[kind] < AT_EVENT) {
        flip(&w->s.here.contacts[k], &w->watch[k], kind);
        if (1 << kind == WATCH_LEAVE) w->s.here.contacts[k].held = false;
      }
  return true;
}

/* The step size at which the least value is 0, between `low` (above 0) and
 * `high` (below): regula falsi of Illinois, halving wherever that is slow. */
static bool find_root(whole_step *w, double low, double at_low, double high,
                      double at_high, double *root) {
  double smallest = 1e-12 * w->s.form->step_size;
  double weight_low = at_low, weight_high = at_high;
  for (int i = 0; i < 80 && high - low > smallest; i++) {
    double middle =
        low + (high - low) * weight_low / (weight_low - weight_high);
    if (i % 3 == 2 || !(middle > low && middle < high))
      middle = 0.5 * (low + high);
    double value;
    if (!measure(w, middle, &value)) return false;
    if (fabs(value) < 1e-12) {
      low = high = middle;
    } else if (value > 0) {
      low = middle;
      weight_low = value;
      weight_high /= 2;
    } else {
      high = middle;
      weight_high = value;
      weight_low /= 2;
    }
  }
  *root = 0.5 * (low + high);
  double least;
  return measure(w, *root, &least);
}

/* INFINITY: the modes stay what they are over the step. */
static bool find_transition(whole_step *w, double h, double *when) {
  const world_form *form = w->s.form;
  double least, shortest = form->options->min_substep * form->step_size;
  bool any = false;
  *when = INFINITY;
  if (!set_watches(w, &any)) return false;
  if (!any || h <= shortest) return true;
  if (!measure(w, h, &least)) return false;
  if (least >= 0) return true;
  double at_low, at_high;
  if (!flip_at_once(w, shortest) || !measure(w, shortest, &at_low) ||
      !measure(w, h, &at_high))
    return false;
  if (at_high >= 0) return true;
  if (!(at_low > 0)) return true;
  return find_root(w, shortest, at_low, h, at_high, when);
}

bool events_find(whole_step *w, double h, event *found) {
  double share, transition;
  found->kind = EVENT_NONE;
  if (!find_collision(w, h, &share) || !find_transition(w, h, &transition))
    return false;
  if (isinf(share) && isinf(transition)) return true;
  if (transition < share * h) {
    *found = (event){EVENT_TRANSITION, transition};
    return true;
  }
  *found = (event){EVENT_COLLISION, share * h};
  if (isinf(transition)) return true; /* the trial step is there still */
  return second_order_take(&w->s, &w->now, h, &w->next);
}
