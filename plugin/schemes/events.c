#include "schemes/events.h"

#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "rows/hair.h"

/* --- collisions ----------------------------------------------------------- */

bool events_look_ahead(event_state *w, const motion *at, double h) {
  const world_contacts *known = &w->s.home.contacts;
  double fastest = 0;
  for (int k = 0; k < known->n; k++)
    fastest = fmax(fastest, known->items[k].point.surface.motion[2]);
  double come = fastest * (at->time - w->s.step->time);
  return second_order_look(&w->s, &w->ahead, at, h, HAIR_BESIDE + come);
}

/* When contact k of `ahead` came down to nothing: the root of the cubic through
 * its gaps and their rates at both ends (7.2). One that overlapped at the start
 * counts from where it was. */
static double collision_share(const event_state *w, int k, double h) {
  const world_contacts *ends = &w->ahead.contacts;
  double end_gap = ends->items[k].point.gap;
  int of = w->match[k];
  double end_rate = world_contact_rate(ends, k, w->led.v);
  double rate = world_contact_rate(ends, k, w->now.v);
  double gap = end_gap - h * 0.5 * (rate + end_rate);
  if (of >= 0) {
    const world_contacts *starts = &w->s.here->contacts;
    if (starts->items[of].active) return INFINITY;
    gap = starts->items[of].point.gap;
    rate = world_contact_rate(starts, of, w->now.v);
  } else if (w->s.rule->conserves && gap < 0 &&
             !(rate < -event_rate_tolerance(w))) {
    /* it was there, as another point: velocities at the end of a trial swing by what
     * rows give way by */
    return INFINITY;
  }
  double from = fmin(gap, 0);
  double least = hair_touch(ends->items[k].point.position);
  if (!(end_gap < from - least)) return INFINITY;
  return cubic_first_descent(gap - from, h * rate, end_gap - from,
                             h * end_rate);
}

static bool log_contact(event_state *w, int k, ode_mlcp_event_change change) {
  return event_log_contact(&w->log, w->s.step->pool, w->s.here, k, change) ||
         outcome_no_memory(w->s.step->out);
}

/* --- fast bodies ------------------------------------------------------------ */

static sweep_way way_of(event_state *w, double seconds) {
  return (sweep_way){.world = w->s.step->world,
                     .home = &w->s.home,
                     .n_bodies = w->s.home.n_bodies,
                     .bodies = w->ids,
                     .from = &w->now,
                     .to = &w->next,
                     .contacts = w->s.step->contacts,
                     .seconds = seconds};
}

static bool sweeps(const event_state *w) {
  return w->s.step->options->sweep && w->s.step->contacts->function != NULL;
}

bool events_look_for_fast(event_state *w) {
  /* what goes half as far already meets another side than the one it is found
   * over at the end, and its rates there say nothing of the way */
  const double EARLIER = 2;
  const sweep_way way = way_of(w, EARLIER * w->s.step->step_size);
  w->sweep.pool = w->s.step->pool;
  w->sweep.n_pairs = 0;
  return !sweeps(w) || !w->s.step->options->events ||
         step_sweep_find(&w->sweep, &way) || outcome_no_memory(w->s.step->out);
}

bool events_hold(event_state *w) {
  int n = w->s.home.n_bodies, n_held;
  const double h = w->next.time - w->now.time;
  motion from = w->now, to = w->next;
  sweep_way way = way_of(w, h);
  way.from = &from;
  way.to = &to;
  from.v = w->s.u;
  to.v = w->way_v;
  if (!sweeps(w)) return true;
  motion_lead(&from, &to, n, h);
  ode_mlcp_report *report = event_report(w);
  double left = w->s.step->options->budget - report->solver_work;
  if (!step_sweep_hold(&w->sweep, &way, NULL, left, w->held_shares, &n_held))
    return outcome_no_memory(w->s.step->out);
  step_sweep_report(&w->sweep, report);
  (void)step_sweep_keep(&way, w->held_shares, w->now.v, 0, (unsigned)n,
                        w->next.v);
  report->held += n_held;
  return true;
}

double events_longest(event_state *w) {
  const double MOST = 0.5; /* rad: further, a turn is not known by its ends */
  if (w->sweep.n_pairs == 0) return INFINITY;
  const sweep_way way = way_of(w, 0);
  double longest = MOST / step_sweep_turning(&w->sweep, &way);
  return fmax(longest, 1e-3 * w->s.step->step_size);
}

/* Contacts of fast pairs collide when the sweep says so. */
static sweep_sight seen(const event_state *w, const world_contact *contact) {
  return contact->found
             ? step_sweep_saw(&w->sweep, contact->geom[0], contact->geom[1])
             : (sweep_sight){false, false};
}

/* The trial step's way. A step that conserves turns by 2 atan(h w / 2): of a size a little
 * larger it ends further by w / (1 + (h w / 2)^2) each second, less than its velocity. */
static void lead_trial(event_state *w, double h) {
  const double half = w->s.rule->conserves ? h / 2 : 0;
  w->led = (motion){w->next.time, w->next.poses, w->way_v};
  for (int b = 0; b < w->s.home.n_bodies; b++) {
    const double *v = w->next.v + 6 * b, *u = w->s.u + 6 * b + 3;
    double slower = 1 / (1 + half * half * vec3_dot(u, u));
    for (int i = 0; i < 6; i++)
      w->way_v[6 * b + i] = i < 3 ? v[i] : slower * v[i];
  }
}

/* What spins past a mesh would be asked about for ever: half of the budget is what all
 * trials may take. */
static bool sweep_fast(event_state *w, double *share) {
  sweep_way way = way_of(w, 0);
  way.to = &w->led;
  ode_mlcp_report *report = event_report(w);
  double left = 0.5 * w->s.step->options->budget - report->solver_work;
  if (!step_sweep_first(&w->sweep, &way, &w->s.here->contacts, left, share))
    return outcome_no_memory(w->s.step->out);
  w->crowded |= w->sweep.work >= left;
  step_sweep_report(&w->sweep, report);
  return true;
}

/* The contacts of what the sweep says meets. */
static bool mark_met(event_state *w, bool *any) {
  world_contacts *contacts = &w->s.here->contacts;
  double least = INFINITY;
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < contacts->n; k++) {
      world_contact *contact = &contacts->items[k];
      if (!seen(w, contact).meets) continue;
      if (pass == 0) {
        least = fmin(least, contact->point.gap);
      } else if (contact->point.gap <=
                     least + hair_touch(contact->point.position) &&
                 !contact->held) {
        contact->active = *any = true;
        if (!log_contact(w, k, ODE_MLCP_EVENT_CHANGE_HIT)) return false;
      }
    }
  return true;
}

/* The share of the step after which the first collision comes, INFINITY: none.
 * Those that come within the shortest part of a step of it are one event. */
static bool find_collision(event_state *w, double h, double *first) {
  const scheme_step *step = w->s.step;
  const world_snapshot *here = w->s.here;
  w->n_collided = 0;
  w->ahead_size = h;
  if (!events_look_ahead(w, &w->next, h)) return false;
  int n = w->ahead.contacts.n;
  if (!EVENT_RESERVE(w, match, n) || !EVENT_RESERVE(w, share, n) ||
      !EVENT_RESERVE(w, collided, n))
    return false;
  if (!world_match(&w->s.matcher, &w->ahead, &w->ahead.contacts, here,
                   &here->contacts, motion_radius(&w->s.home, w->now.v, h),
                   w->match))
    return outcome_no_memory(step->out);
  double least = SHORTEST_PART * step->step_size / h;
  lead_trial(w, h);
  if (!sweep_fast(w, first)) return false;
  w->sweep_share = *first;
  for (int k = 0; k < n; k++) {
    w->share[k] = seen(w, &w->ahead.contacts.items[k]).apart
                      ? INFINITY
                      : collision_share(w, k, h);
    *first = fmin(*first, w->share[k]);
  }
  w->meets = w->sweep_share <= *first + least;
  const int *last = NULL;
  int n_later = 0;
  for (int k = 0; k < n; k++) {
    if (!isfinite(w->share[k])) continue;
    if (w->share[k] <= *first + least)
      world_contact_key(&w->collided[w->n_collided++], &w->ahead,
                        &w->ahead.contacts, k);
    else
      n_later += event_is_other_pair(&last, &w->ahead.contacts.items[k]);
  }
  if (isfinite(*first)) event_note_crowd(w, 1 + n_later);
  return true;
}

void events_go_between(event_state *w, double share) {
  int n = w->s.home.n_bodies;
  motion_between(&w->s.ahead, &w->now, &w->next, share, n);
  /* the cubic's rate has its share of the impulses where poses follow from the mean
   * velocity alone */
  bool by_mean = second_order_alpha(&w->s) == 0.5;
  for (int i = 0; i < 6 * n && !by_mean; i++)
    w->s.ahead.v[i] = w->now.v[i] + share * (w->next.v[i] - w->now.v[i]);
  for (int b = 0; b < n; b++) /* these follow their velocities */
    if (w->s.home.bodies[b].kinematic)
      memcpy(w->s.ahead.v + 6 * b, w->now.v + 6 * b, 6 * sizeof(double));
  motion_copy(&w->now, &w->s.ahead, n);
}

/* match[k]: the contact here that collided[k] is, -1 for none. */
static bool match_collided(event_state *w) {
  world_snapshot *here = w->s.here;
  double radius = motion_radius(&w->s.home, w->now.v, w->s.step->step_size);
  if (!EVENT_RESERVE(w, match, w->n_collided)) return false;
  return world_match_keys(&w->s.matcher, w->collided, w->n_collided, here,
                          &here->contacts, radius, w->match) ||
         outcome_no_memory(w->s.step->out);
}

bool events_mark_collided(event_state *w, bool *any) {
  world_snapshot *here = w->s.here;
  *any = false;
  if (!match_collided(w)) return false;
  for (int k = 0; k < w->n_collided; k++) {
    if (w->match[k] < 0) continue;
    world_contact *contact = &here->contacts.items[w->match[k]];
    contact->active = *any = true;
    if (!log_contact(w, w->match[k], ODE_MLCP_EVENT_CHANGE_HIT)) return false;
  }
  return !w->meets || mark_met(w, any);
}

/* --- slips that end within a trial step ----------------------------------- */

/* Contacts that slide when the step begins, with their slip then. A contact that
 * begins to slip, or parts, within a step changes forces and no velocity: an error
 * of second order, once. A slip that turns round is one of first order. */
static bool find_slides(event_state *w, bool *any) {
  const world_contacts *contacts = &w->s.here->contacts;
  if (!EVENT_RESERVE(w, slides, contacts->n)) return false;
  *any = false;
  for (int k = 0; k < contacts->n; k++) {
    const world_contact *contact = &contacts->items[k];
    contact_slide *slide = &w->slides[k];
    int m = w->s.middle_of[k];
    memset(slide, 0, sizeof *slide);
    if (!contact->active || !contact->slipping || m < 0 ||
        event_is_stiff(w, contact) ||
        assembly_contact_rows(w->s.base.assembly, m)->n_sliding == 0)
      continue;
    world_contact_slip(contact, w->now.v, slide->direction);
    slide->speed = vec3_length(slide->direction);
    slide->watched = *any = true;
  }
  return true;
}

/* What is left of a slide at w->next, as a part of what it was. */
static double slip_left(const event_state *w, int k) {
  const contact_slide *slide = &w->slides[k];
  int m = w->s.middle_of[k];
  double slip[3];
  if (m < 0) return 1;
  world_contact_slip(&second_order_solved(&w->s)->contacts.items[m], w->next.v,
                     slip);
  return vec3_dot(slip, slide->direction) / (slide->speed * slide->speed);
}

/* True if friction holds what stopped within the trial step of size h. What it gave
 * beyond what stopped the slide is what it holds with over a step: a slide that is turned
 * round takes more than the limit. What is held has missed where it comes to rest by an
 * error of second order, once: the place is looked for once in a step, and not on what
 * gives way. */
static bool holds_stopped(const event_state *w, int k, double h) {
  const contact_slide *slide = &w->slides[k];
  const world_snapshot *at = second_order_solved(&w->s);
  int m = w->s.middle_of[k];
  const contact_rows *rows = assembly_contact_rows(w->s.base.assembly, m);
  const double *p = assembly_contact_impulses(w->s.base.assembly, m);
  const host_contact *point = &at->contacts.items[m].point;
  const host_surface *surface = &point->surface;
  double along[3], axis[2][3], J[2][6], hold[3] = {0}, sum = 0;
  for (int i = 0; i < 3; i++) along[i] = slide->direction[i] / slide->speed;
  host_contact_jacobian(J, point, along);
  for (int i = 0; i < rows->n_sliding; i++)
    vec3_add_scaled(hold, p[1 + i], rows->sliding_axis[i]);
  vec3_add_scaled(hold, slide->speed / world_row_mobility(at, point->body, J),
                  along);
  host_contact_axes(axis, point);
  for (int d = 0; d < 2; d++) {
    double unit = surface->proportional[d] ? p[0] : h * point->multiplicity;
    double share = vec3_dot(hold, axis[d]) / (surface->limit[d] * unit);
    /* what slips in proportion to its force goes on, ever slower */
    if (!surface->viscous[d]) sum += share * share;
  }
  return sum <= 1;
}

/* Slides of which no more than this is left have ended. */
static const double ENDED = 1e-3;

bool events_flip(event_state *w) {
  for (int k = 0; k < w->s.here->contacts.n; k++) {
    if (!w->slides[k].watched || !w->slides[k].ends) continue;
    w->s.here->contacts.items[k].slipping = false;
    if (!log_contact(w, k, ODE_MLCP_EVENT_CHANGE_STICK)) return false;
  }
  return true;
}

/* When the first slide that ends in the trial step does so before `end`: the step so
 * far is then left in w->next. INFINITY: none does. Slides slow down at the rate at
 * which they begin to, which the shortest substep shows (of less, what a solve misses
 * would be seen as well): what that is off by is a small part of a slip, once.
 * @param looked  out: true if w->next is not the trial step as it was */
static bool find_stop(event_state *w, double end, double *when, bool *looked) {
  const double TOGETHER = 0.05; /* of a slide is left where another ends */
  const scheme_step *step = w->s.step;
  double shortest = SHORTEST_PART * step->step_size;
  bool any = false;
  *when = INFINITY;
  *looked = false;
  if (end <= shortest) return true;
  if (!find_slides(w, &any)) return false;
  if (!any) return true;
  const world_contacts *contacts = &w->s.here->contacts;
  int n = contacts->n;
  any = false;
  for (int k = 0; k < n; k++) {
    contact_slide *slide = &w->slides[k];
    slide->watched = slide->watched && slip_left(w, k) < ENDED &&
                     !((w->looked || contacts->items[k].point.soft) &&
                       holds_stopped(w, k, end));
    any |= slide->watched;
  }
  if (!any) return true;
  *looked = w->looked = true;
  if (!event_try(w, shortest)) return false;
  for (int k = 0; k < n; k++) {
    if (!w->slides[k].watched) continue;
    double lost = 1 - slip_left(w, k);
    if (lost > 0) *when = fmin(*when, fmax(shortest / lost, shortest));
  }
  if (!(*when < end)) {
    *when = INFINITY;
    return true;
  }
  if (!event_try(w, *when)) return false;
  for (int k = 0; k < n; k++)
    w->slides[k].ends = w->slides[k].watched && slip_left(w, k) < TOGETHER;
  return true;
}

bool events_find(event_state *w, double h, event *found) {
  double share, stop;
  bool looked;
  w->meets = false;
  *found = (event){EVENT_NONE, 0, false};
  if (!find_collision(w, h, &share)) return false;
  bool collides = isfinite(share);
  if (w->crowded) return true;
  if (!find_stop(w, collides ? share * h : h, &stop, &looked)) return false;
  if (isfinite(stop)) {
    *found = (event){EVENT_TRANSITION, stop, false};
    event_note_crowd(w, 1);
  } else if (collides) {
    /* the conserving scheme's way there is a step of its own */
    *found =
        (event){EVENT_COLLISION, share * h, looked && !w->s.rule->conserves};
  } else {
    found->again = looked;
  }
  return true;
}
