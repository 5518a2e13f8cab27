#include "schemes/events.h"

#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "rows/hair.h"

/* --- collisions ----------------------------------------------------------- */

/* When contact k of `ahead` came down to nothing: the root of the cubic through
 * its gaps and their rates at both ends (7.2). One that overlapped at the start
 * counts from where it was. */
static double collision_share(const event_state *w, int k, double h) {
  const double EPSILON = 1e-12; /* m */
  const world_contacts *ends = &w->ahead.contacts;
  double end_gap = ends->items[k].point.gap;
  int of = w->match[k];
  double end_rate = world_contact_rate(ends, k, w->next.v);
  double rate = world_contact_rate(ends, k, w->now.v);
  double gap = end_gap - h * 0.5 * (rate + end_rate);
  if (of >= 0) {
    const world_contacts *starts = &w->s.here->contacts;
    if (starts->items[of].active) return INFINITY;
    gap = starts->items[of].point.gap;
    rate = world_contact_rate(starts, of, w->now.v);
  }
  double from = fmin(gap, 0);
  double least = EPSILON + hair_rounding(ends->items[k].point.position);
  if (!(end_gap < from - least)) return INFINITY;
  return cubic_first_descent(gap - from, h * rate, end_gap - from,
                             h * end_rate);
}

static bool log_contact(event_state *w, int k, ode_mlcp_event_change change) {
  return event_log_contact(&w->log, w->s.step->pool, w->s.here, k, change) ||
         outcome_no_memory(w->s.step->out);
}

/* --- fast bodies ------------------------------------------------------------ */

static sweep_way way_of(const event_state *w) {
  return (sweep_way){.home = &w->s.home,
                     .from = &w->now,
                     .to = &w->next,
                     .contacts = w->s.step->contacts,
                     .step_size = w->s.step->step_size};
}

bool events_look_for_fast(event_state *w) {
  const sweep_way way = way_of(w);
  w->sweep.pool = w->s.step->pool;
  w->sweep.n_pairs = 0;
  return !w->s.step->options->sweep || !w->s.step->options->events ||
         way.contacts->function == NULL || step_sweep_start(&w->sweep, &way) ||
         outcome_no_memory(w->s.step->out);
}

double events_longest(const event_state *w) {
  const double MOST = 0.5; /* rad: further, a turn is not known by its ends */
  const double MANY = 500; /* questions a pair */
  if (w->sweep.n_pairs == 0) return INFINITY;
  const sweep_way way = way_of(w);
  double longest = MOST / step_sweep_turning(&w->sweep, &way);
  /* what spins past a mesh is asked about for ever: the more, the longer */
  double asked = fmax(1, w->sweep.queries / (MANY * w->sweep.n_pairs));
  return fmax(longest, 1e-3 * asked * w->s.step->step_size);
}

double events_correction(event_state *w) {
  if (w->sweep.n_pairs == 0) return 0;
  const sweep_way way = way_of(w);
  return -step_sweep_lateness(&w->sweep, &way, &w->next);
}

static bool is_held(const void *context, const int body[2]) {
  const event_state *w = context;
  const world_contacts *contacts = &w->s.here->contacts;
  for (int k = 0; k < contacts->n; k++) {
    const int *of = contacts->items[k].point.body;
    if (contacts->items[k].active && contacts->items[k].stop < 0 &&
        ((of[0] == body[0] && of[1] == body[1]) ||
         (of[0] == body[1] && of[1] == body[0])))
      return true;
  }
  return false;
}

/* The geoms of a contact of the collision function's; false where they are not
 * known. */
static bool geoms_of(const event_state *w, const world_snapshot *world, int k,
                     dGeomID geoms[2]) {
  const world_contact *contact = &world->contacts.items[k];
  const ode_mlcp_contact_list *list =
      world == &w->s.home ? &w->s.step->contacts->list : &world->list;
  if (contact->found < 0 || contact->found >= list->n_contacts) return false;
  const dContactGeom *geom = &list->contacts[contact->found].contact.geom;
  geoms[0] = geom->g1;
  geoms[1] = geom->g2;
  return true;
}

/* Contacts of fast pairs collide when the sweep says so. */
static bool is_swept(const event_state *w, const world_snapshot *world, int k) {
  dGeomID geoms[2];
  return w->sweep.n_pairs > 0 && geoms_of(w, world, k, geoms) &&
         step_sweep_covers(&w->sweep, geoms[0], geoms[1]);
}

static bool sweep_fast(event_state *w, double together, double *share) {
  *share = INFINITY;
  if (w->sweep.n_pairs == 0) return true;
  const sweep_way way = way_of(w);
  int before = w->sweep.queries;
  if (!step_sweep_first(&w->sweep, &way, is_held, w, together, share))
    return outcome_no_memory(w->s.step->out);
  event_report(w)->sweep_queries += w->sweep.queries - before;
  return true;
}

/* The contacts of what the sweep says meets. */
static bool mark_met(event_state *w, bool *any) {
  const double SAME = 1e-9; /* m: of one touch */
  world_contacts *contacts = &w->s.here->contacts;
  double least = INFINITY;
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < contacts->n; k++) {
      world_contact *contact = &contacts->items[k];
      dGeomID geoms[2];
      if (contact->stop >= 0 || !geoms_of(w, w->s.here, k, geoms) ||
          !step_sweep_meets(&w->sweep, geoms[0], geoms[1]))
        continue;
      if (pass == 0) {
        least = fmin(least, contact->point.gap);
      } else if (contact->point.gap <=
                     least + SAME + hair_rounding(contact->point.position) &&
                 !contact->held) {
        contact->active = *any = true;
        if (!log_contact(w, k, ODE_MLCP_EVENT_CHANGE_HIT)) return false;
      }
    }
  return true;
}

/* The part of the step within which a collision of contact k is one event with the
 * first. */
static double together(const event_state *w, const world_contacts *contacts,
                       int k, double h) {
  const host_surface *surface = &contacts->items[k].point.surface;
  double bounce = surface->bounces ? surface->bounce : 0;
  return step_budget_window(&w->s.budget, bounce) / h;
}

/* The share of the step after which the first collision comes, INFINITY: none.
 * Those that come within the window of it are one event. */
static bool find_collision(event_state *w, double h, double *first) {
  const scheme_step *step = w->s.step;
  const world_snapshot *here = w->s.here;
  *first = INFINITY;
  w->n_collided = 0;
  w->ahead_size = h;
  if (!second_order_look(&w->s, &w->ahead, &w->next, h)) return false;
  int n = w->ahead.contacts.n;
  if (!EVENT_RESERVE(w, match, n) || !EVENT_RESERVE(w, share, n) ||
      !EVENT_RESERVE(w, collided, n))
    return false;
  if (!world_match(&w->s.matcher, &w->ahead, &w->ahead.contacts, here,
                   &here->contacts, motion_radius(&w->s.home, w->now.v, h),
                   w->match))
    return outcome_no_memory(step->out);
  double least = SHORTEST_PART * step->step_size / h;
  if (!sweep_fast(w, least, first)) return false;
  w->sweep_share = *first;
  for (int k = 0; k < n; k++) {
    w->share[k] =
        is_swept(w, &w->ahead, k) ? INFINITY : collision_share(w, k, h);
    *first = fmin(*first, w->share[k]);
  }
  w->meets = w->sweep_share <= *first + least;
  for (int k = 0; k < n; k++)
    if (isfinite(w->share[k]) &&
        w->share[k] <= *first + together(w, &w->ahead.contacts, k, h))
      world_contact_key(&w->collided[w->n_collided++], &w->ahead,
                        &w->ahead.contacts, k);
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

/* Contact k of `here` comes down to nothing soon after the trial step of size h, if
 * not in it. */
static bool is_to_collide(const event_state *w, int k, double h) {
  const world_contacts *contacts = &w->s.here->contacts;
  const double SOON = 2; /* trial steps */
  double rate = fmin(world_contact_rate(contacts, k, w->now.v),
                     world_contact_rate(contacts, k, w->next.v));
  return contacts->items[k].stop < 0 &&
         contacts->items[k].point.gap + SOON * h * rate < 0;
}

bool events_hold_back(event_state *w, double h, bool all, bool *any) {
  world_snapshot *here = w->s.here;
  *any = false;
  if (!match_collided(w)) return false;
  for (int k = 0; k < w->n_collided; k++) {
    if (w->match[k] < 0) continue;
    world_contact *contact = &here->contacts.items[w->match[k]];
    *any |= contact->hits <= HITS_APART;
    contact->hits = HITS_APART + 1;
  }
  for (int k = 0; all && k < here->contacts.n; k++) {
    world_contact *contact = &here->contacts.items[k];
    if (contact->hits > HITS_APART || !is_to_collide(w, k, h)) continue;
    *any |= !contact->active;
    contact->hits = HITS_APART + 1;
  }
  return true;
}

bool events_mark_collided(event_state *w, bool *any) {
  world_snapshot *here = w->s.here;
  *any = false;
  if (!match_collided(w)) return false;
  for (int k = 0; k < w->n_collided; k++) {
    if (w->match[k] < 0) continue;
    world_contact *contact = &here->contacts.items[w->match[k]];
    contact->active = *any = true;
    contact->hits += !(event_restitution(w, w->match[k]) > 0);
    if (!log_contact(w, w->match[k], ODE_MLCP_EVENT_CHANGE_HIT)) return false;
  }
  return !w->meets || mark_met(w, any);
}

/* --- friction and pressure at the end of a trial step --------------------- */

/* Friction against its limit, in units of the normal impulse where it is
 * proportional; < 0 beyond. INFINITY: it has none. */
static double friction_slack(const host_contact *point,
                             const contact_rows *rows, double normal,
                             const double tangent[3], double h) {
  const host_surface *surface = &point->surface;
  double sum = 0;
  int n = 0;
  if (rows->n_sliding == 0 ||
      surface->proportional[0] != surface->proportional[1])
    return INFINITY;
  for (int d = 0; d < 2; d++) {
    if (!(surface->limit[d] > 0)) continue;
    double share =
        vec3_dot(tangent, rows->sliding_axis[n++]) / surface->limit[d];
    sum += share * share;
  }
  double available =
      surface->proportional[0] ? normal : h * point->multiplicity;
  return available - sqrt(sum);
}

static const world_contact *solved_contact(const second_order *s, int m) {
  return &second_order_solved(s)->contacts.items[m];
}

static contact_probe probe_of(const second_order *s, int k, double tolerance) {
  contact_probe probe = {0};
  int m = s->middle_of[k];
  if (m < 0) return probe;
  const contact_rows *rows = assembly_contact_rows(s->base.assembly, m);
  const double *impulse = assembly_contact_impulses(s->base.assembly, m);
  double sign = world_contact_swapped(solved_contact(s, m)) ? -1 : 1;
  if (impulse != NULL) probe.normal = impulse[0];
  for (int d = 0; d < rows->n_sliding && impulse != NULL; d++)
    vec3_add_scaled(probe.tangent, sign * impulse[1 + d],
                    rows->sliding_axis[d]);
  probe.holds =
      probe.normal > 0 || assembly_contact_w(s->base.assembly, m) <= tolerance;
  return probe;
}

bool events_at_limit(const second_order *s, int k) {
  int m = s->middle_of[k];
  if (m < 0) return false;
  contact_probe probe = probe_of(s, k, 0);
  double h = s->step->step_size;
  return friction_slack(&solved_contact(s, m)->point,
                        assembly_contact_rows(s->base.assembly, m),
                        probe.normal, probe.tangent,
                        h) <= 1e-8 * (probe.normal + h);
}

/* --- what is watched ------------------------------------------------------ */

/* Sliding contacts are watched for the end of their slip, sticking ones for
 * its onset, those that were held before for the end of their pressure. */
static bool set_watches(event_state *w, bool *any) {
  const world_contacts *contacts = &w->s.here->contacts;
  double tolerance = event_rate_tolerance(w);
  if (!EVENT_RESERVE(w, watch, contacts->n) ||
      !EVENT_RESERVE(w, probe, contacts->n) ||
      !EVENT_RESERVE(w, other_probe, contacts->n))
    return false;
  *any = false;
  for (int k = 0; k < contacts->n; k++) {
    const world_contact *contact = &contacts->items[k];
    contact_watch *watch = &w->watch[k];
    int m = w->s.middle_of[k];
    memset(watch, 0, sizeof *watch);
    if (!contact->active || m < 0 || event_is_stiff(w, contact)) continue;
    if (contact->held) watch->kinds = WATCH_LEAVE;
    if (assembly_contact_rows(w->s.base.assembly, m)->n_sliding > 0) {
      world_contact_slip(contact, w->now.v, watch->direction);
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

static bool probe_all(event_state *w, double h, contact_probe probes[]) {
  if (!event_try(w, h)) return false;
  double tolerance = event_rate_tolerance(w);
  for (int k = 0; k < w->s.here->contacts.n; k++)
    probes[k] = probe_of(&w->s, k, tolerance);
  return true;
}

/* Mass of the lighter body of contact k of `here`. */
static double lighter_mass(const event_state *w, int k) {
  const world_snapshot *here = w->s.here;
  double least = INFINITY;
  for (int side = 0; side < 2; side++) {
    int b = here->contacts.items[k].point.body[side];
    if (world_is_dynamic(here, b)) least = fmin(least, here->bodies[b].mass);
  }
  return isfinite(least) ? least : 1;
}

/* The largest force of what is watched, by the mass that it acts on. */
static double largest_push(const event_state *w, double between) {
  double most = 0;
  for (int k = 0; k < w->s.here->contacts.n; k++)
    if ((w->watch[k].kinds & WATCH_FORCES) && w->probe[k].holds)
      most = fmax(most, fabs(w->probe[k].normal - w->other_probe[k].normal) /
                            (between * lighter_mass(w, k)));
  return most;
}

/* The forces at the end of a step of size h are the rate at which the impulses
 * of a step in the same mode grow with its size.
 * @param push  largest_push */
static void watch_forces(event_state *w, int k, double between, double push,
                         double tolerance) {
  const double NOISE = 1e-9; /* of the largest: friction of such is any */
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
  const contact_rows *rows = assembly_contact_rows(w->s.base.assembly, m);
  const world_contact *contact = solved_contact(&w->s, m);
  double size = fabs(normal) + 1e-300;
  double scale = push * lighter_mass(w, k) + 1e-300;
  watch->value[2] = normal / scale + NOISE;
  watch->value[1] = 1;
  if (size > NOISE * scale)
    watch->value[1] = fmin(
        friction_slack(&contact->point, rows, normal, tangent, 1) / size, 1);

  /* at its limit all through: it slips already */
  double slip[3];
  world_contact_slip(contact, w->next.v, slip);
  if (events_at_limit(&w->s, k) && vec3_length(slip) > tolerance)
    watch->value[1] = fmin(watch->value[1], -1e-9);
}

/* Slides end where this part of the slip at their start is left. Most schemes
 * turn a slip that ends around; those that hold the end velocity itself make it
 * nought but for rounding. */
static double slip_of_nought(const event_state *w, double speed,
                             double tolerance) {
  bool stops = second_order_holds_end(&w->s);
  return fmax(1e-10, stops ? 0.1 * tolerance / speed : 0);
}

static void watch_slip(event_state *w, int k, double tolerance) {
  contact_watch *watch = &w->watch[k];
  int m = w->s.middle_of[k];
  double slip[3];
  world_contact_slip(
      m >= 0 ? solved_contact(&w->s, m) : &w->s.here->contacts.items[k],
      w->next.v, slip);
  watch->value[0] =
      vec3_dot(slip, watch->direction) / (watch->speed * watch->speed) -
      slip_of_nought(w, watch->speed, tolerance);
}

/* True if anything is watched of these kinds. */
static bool watches(const event_state *w, int kinds) {
  for (int k = 0; k < w->s.here->contacts.n; k++)
    if (w->watch[k].kinds & kinds) return true;
  return false;
}

static double least_value(const event_state *w, int kinds) {
  double least = INFINITY;
  for (int k = 0; k < w->s.here->contacts.n; k++)
    for (int kind = 0; kind < 3; kind++)
      if (w->watch[k].kinds & kinds & 1 << kind)
        least = fmin(least, w->watch[k].value[kind]);
  return least;
}

/* The values of watches for the end of a slip, at w->next. */
static void look_at_slips(event_state *w) {
  double tolerance = event_rate_tolerance(w);
  for (int k = 0; k < w->s.here->contacts.n; k++)
    if (w->watch[k].kinds & WATCH_STOP) watch_slip(w, k, tolerance);
}

/* The least value of watches after a step of size h. It is tried: once for the
 * ends of slips, which leaves it in w->next, and a little longer and shorter for
 * forces. */
typedef bool watch_look(event_state *w, double h, double *least);

static bool slips_after(event_state *w, double h, double *least) {
  w->s.budget.n_looks++;
  if (!event_try(w, h)) return false;
  look_at_slips(w);
  *least = least_value(w, WATCH_STOP);
  return true;
}

static bool forces_after(event_state *w, double h, double *least) {
  /* for a difference; one over less of the host's step is noise */
  const double APART = 1e-4, MOST = 0.25; /* of the host's step; of h */
  w->s.budget.n_looks++;
  double apart = fmin(APART * w->s.step->step_size, MOST * h);
  if (!probe_all(w, h + apart, w->probe) ||
      !probe_all(w, h - apart, w->other_probe))
    return false;
  double tolerance = event_rate_tolerance(w);
  double push = largest_push(w, 2 * apart);
  for (int k = 0; k < w->s.here->contacts.n; k++)
    if (w->watch[k].kinds & WATCH_FORCES)
      watch_forces(w, k, 2 * apart, push, tolerance);
  *least = least_value(w, WATCH_FORCES);
  return true;
}

/* True if the forces of contact k stay within their limits over the trial step, by
 * what the trial alone shows: its mean forces are, and would be if they went on to
 * change as they did since the step before for longer than the step lasts. */
static bool is_steady(event_state *w, int k) {
  const double AHEAD = 1.5; /* steps; half of one is to come */
  const double SLACK = 0.2; /* of the normal force, that friction leaves */
  const contact_entry *known = w->s.known[k];
  int m = w->s.middle_of[k];
  if (known == NULL || !(known->seconds > 0)) return false;

  contact_entry now = {.n_rows = 0};
  assembly_remember_contact(w->s.base.assembly, m, &now);
  double normal = now.impulses[0] / now.seconds, sliding[3], later[3];
  double change = normal - known->impulses[0] / known->seconds;
  double least = normal + AHEAD * fmin(change, 0);
  if (!(least >= SLACK * normal)) return false;
  if (!(w->watch[k].kinds & WATCH_SLIP)) return true;
  for (int i = 0; i < 3; i++) {
    sliding[i] = now.sliding[i] / now.seconds;
    later[i] =
        sliding[i] + AHEAD * (sliding[i] - known->sliding[i] / known->seconds);
  }
  const host_contact *point = &solved_contact(&w->s, m)->point;
  const contact_rows *rows = assembly_contact_rows(w->s.base.assembly, m);
  return fmin(friction_slack(point, rows, least, sliding, 1),
              friction_slack(point, rows, least, later, 1)) >= SLACK * normal;
}

/* Forces that are all steady need not be watched. */
static void drop_steady(event_state *w) {
  int n = w->s.here->contacts.n;
  for (int k = 0; k < n; k++)
    if ((w->watch[k].kinds & WATCH_FORCES) && !is_steady(w, k)) return;
  for (int k = 0; k < n; k++) w->watch[k].kinds &= ~WATCH_FORCES;
}

/* The bound of a watch at its event. */
static const double AT_EVENT = 1e-6;

/* A contact's new mode after the event of `kind`. */
static void flip(world_contact *contact, contact_watch *watch, int kind) {
  watch->kinds &= ~(1 << kind);
  if (1 << kind == WATCH_STOP) contact->slipping = false;
  if (1 << kind == WATCH_SLIP) contact->slipping = true;
}

/* Watches that are past their event after the smallest step: their contacts
 * change at once, and are watched no more. Nor are contacts that touch without a
 * push, whose end is nothing that happens. */
static void flip_at_once(event_state *w, int kinds) {
  for (int k = 0; k < w->s.here->contacts.n; k++)
    for (int kind = 0; kind < 3; kind++)
      if ((w->watch[k].kinds & kinds & 1 << kind) &&
          w->watch[k].value[kind] < (1 << kind == WATCH_LEAVE ? AT_EVENT : 0))
        flip(&w->s.here->contacts.items[k], &w->watch[k], kind);
}

bool events_flip(event_state *w) {
  static const ode_mlcp_event_change CHANGES[3] = {ODE_MLCP_EVENT_CHANGE_STICK,
                                                   ODE_MLCP_EVENT_CHANGE_SLIP,
                                                   ODE_MLCP_EVENT_CHANGE_PART};
  for (int k = 0; k < w->s.here->contacts.n; k++)
    for (int kind = 0; kind < 3; kind++)
      if ((w->watch[k].kinds & 1 << kind) &&
          w->watch[k].value[kind] < AT_EVENT) {
        flip(&w->s.here->contacts.items[k], &w->watch[k], kind);
        if (1 << kind == WATCH_LEAVE) w->s.here->contacts.items[k].held = false;
        if (!log_contact(w, k, CHANGES[kind])) return false;
      }
  return true;
}

/* Sizes between which the least value changes its sign. */
typedef struct bracket {
  double low, at_low;   /* at_low > 0 */
  double high, at_high; /* at_high < 0 */
} bracket;

/* Make `high` the size at which the least value is 0, and look there: regula
 * falsi of Illinois, which forgets half of an end that stays; by the middle
 * wherever a step, after the first few, did not halve the bracket. Forces are
 * differences and not known as well as slips; where they jump, as something else
 * changes there, it is enough to know the smallest substep.
 * @param first  where to look first, if it is in between */
static bool find_root(event_state *w, watch_look *look, bracket *in,
                      double first) {
  enum { MOST = 80, FEW = 3 };
  const double NOUGHT = 1e-12, FORCE_NOUGHT = 5e-10; /* less than what tells
                                                        sliding from sticking */
  const double JUMP = 1e-3;                          /* of the normal force */
  const double EXACT = 1e-12, FORCE_EXACT = 1e-9;    /* of the host's step */
  bool forces = look == forces_after, halved = true;
  double weight_low = in->at_low, weight_high = in->at_high, value = INFINITY;
  int last = 0;
  const step_budget *budget = &w->s.budget;
  for (int i = 0; i < MOST && budget->n_looks < step_budget_looks(budget);
       i++) {
    double width = in->high - in->low;
    bool jumps = forces && i > FEW && fmin(in->at_low, -in->at_high) > JUMP;
    double share = jumps ? SHORTEST_PART : forces ? FORCE_EXACT : EXACT;
    if (width <= share * w->s.step->step_size) break;
    double middle =
        i == 0 && first > in->low && first < in->high
            ? first
            : in->low + width * weight_low / (weight_low - weight_high);
    if (!halved || !(middle > in->low && middle < in->high))
      middle = 0.5 * (in->low + in->high);
    if (!look(w, middle, &value)) return false;
    if (fabs(value) < (forces ? FORCE_NOUGHT : NOUGHT)) {
      in->high = middle;
      return true;
    }
    if (value > 0) {
      in->low = middle;
      in->at_low = weight_low = value;
      if (last > 0) weight_high /= 2;
      last = 1;
    } else {
      in->high = middle;
      in->at_high = weight_high = value;
      if (last < 0) weight_low /= 2;
      last = -1;
    }
    halved = i < FEW || in->high - in->low <= 0.5 * width;
  }
  return value < 0 || look(w, in->high, &value);
}

/* Cut a step of size *end where the least value of some watches, which was looked
 * at there, is 0. @param looked  set where other sizes were looked at */
static bool cut_at_root(event_state *w, watch_look *look, int kinds,
                        double shortest, double *end, bool *looked) {
  bracket in = {
      .low = shortest, .high = *end, .at_high = least_value(w, kinds)};
  if (!(in.at_high < 0)) return true;
  *looked = true;
  if (!look(w, shortest, &in.at_low)) return false;
  if (in.at_low < AT_EVENT) {
    flip_at_once(w, kinds);
    in.at_low = least_value(w, kinds);
    if (isinf(in.at_low)) return true;
    if (!look(w, *end, &in.at_high)) return false;
    if (!(in.at_high < 0)) return true;
  }
  if (!(in.at_low > 0)) return true;
  /* a slip ends at the rate at which it began to */
  double first = kinds == WATCH_STOP ? shortest / (1 - in.at_low) : NAN;
  if (!find_root(w, look, &in, first)) return false;
  *end = in.high;
  return true;
}

/* When the first mode changes before `end`, up to the size h of the trial step: the
 * step so far is then left in w->next. INFINITY: they stay what they are.
 * @param looked  out: whether other sizes than h were looked at, so that w->next
 *                is not the trial step as it was */
static bool find_transition(event_state *w, double h, double end, double *when,
                            bool *looked) {
  const scheme_step *step = w->s.step;
  double shortest = SHORTEST_PART * step->step_size;
  double least, limit = end;
  bool any = false;
  *when = INFINITY;
  *looked = false;
  if (end <= shortest || !step_budget_searches(&w->s.budget)) return true;
  if (!set_watches(w, &any)) return false;
  if (!any) return true;
  drop_steady(w);
  look_at_slips(w);
  if (end < h && least_value(w, WATCH_STOP) < 0) {
    *looked = true;
    if (!slips_after(w, end, &least)) return false;
  }
  if (!cut_at_root(w, slips_after, WATCH_STOP, shortest, &end, looked))
    return false;
  if (watches(w, WATCH_FORCES)) {
    *looked = true;
    if (!forces_after(w, end, &least) ||
        !cut_at_root(w, forces_after, WATCH_FORCES, shortest, &end, looked))
      return false;
  }
  if (!(end < limit)) return true;
  *when = end;
  return slips_after(w, end, &least);
}

bool events_find(event_state *w, double h, event *found) {
  double share, transition;
  bool looked;
  w->meets = false;
  found->kind = EVENT_NONE;
  if (!find_collision(w, h, &share)) return false;
  bool collides = isfinite(share);
  if (!find_transition(w, h, collides ? share * h : h, &transition, &looked))
    return false;
  if (isfinite(transition))
    *found = (event){EVENT_TRANSITION, transition};
  else if (collides)
    *found = (event){EVENT_COLLISION, share * h};
  /* way of the conserving scheme to a collision is a step of its own */
  bool done = !looked || isfinite(transition) ||
              (collides && share > 0 && w->s.rule->conserves);
  return done || event_try(w, h);
}
