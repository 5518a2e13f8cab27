#include "schemes/event_driven.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/vec3.h"
#include "rows/hair.h"
#include "schemes/conserving.h"
#include "schemes/events.h"
#include "schemes/sampled_impact.h"
#include "schemes/step_end.h"

/* --- what the last step left ---------------------------------------------- */

/* Bodies that are as the last step left them go on with their contacts and
 * need no check of their joints. @return NULL: it is not. */
static const body_memory *find_unchanged(const event_state *w,
                                         const host_body *body) {
  const body_memory *found = event_find_body(w, body->serial);
  if (found == NULL) return NULL;
  world_pose pose = world_pose_of(body);
  bool same = memcmp(&found->pose, &pose, sizeof pose) == 0 &&
              memcmp(found->v, body->v, sizeof body->v) == 0;
  return same ? found : NULL;
}

static bool all_unchanged(const event_state *w, const int body[2]) {
  for (int side = 0; side < 2; side++)
    if (body[side] >= 0 && !w->unchanged[body[side]]) return false;
  return true;
}

static const double *told_axis(const event_state *w,
                               const world_contact *contact) {
  int told = w->s.home.joints[contact->joint].contact;
  return w->s.home.contacts.items[told].point.surface.axis;
}

/* A program gives a direction once a step; where it turns with a body, it goes on
 * turning. */
static void find_axis_rate(const event_state *w, world_contact *contact,
                           const double last[3]) {
  const double ALIKE = 0.7; /* product: it did not jump */
  const double *now = contact->point.surface.axis;
  if (!contact->asked || !contact->point.surface.has_axis ||
      !(vec3_dot(now, last) > ALIKE))
    return;
  vec3_subtract(contact->axis_rate, now, last);
  for (int i = 0; i < 3; i++) contact->axis_rate[i] /= w->s.step->step_size;
}

/* Note what `here` knows of its joints and contacts, to be found again. */
static bool remember(event_state *w) {
  const world_snapshot *here = w->s.here;
  const world_contacts *contacts = &here->contacts;
  w->n_entries = 0;
  if (!EVENT_RESERVE(w, entries, here->n_joint_rows + contacts->n))
    return false;
  for (int j = 0; j < here->n_joints; j++) {
    if (here->joints[j].rows < 0) continue;
    contact_entry *entry = &w->entries[w->n_entries++];
    world_joint_key(entry, here, j);
    assembly_remember_joint(w->s.base.assembly, j, entry);
  }
  for (int k = 0; k < contacts->n; k++) {
    const world_contact *contact = &contacts->items[k];
    if (!contact->held && !contact->overlaps_pair) continue;
    contact_entry *entry = &w->entries[w->n_entries++];
    world_contact_key(entry, w->s.here, contacts, k);
    if (contact->asked && contact->point.surface.has_axis)
      vec3_copy(entry->axis, told_axis(w, contact));
    entry->overlap = contact->overlaps_pair; /* where it parts, too */
    if (contact->active && w->s.middle_of[k] >= 0)
      assembly_remember_contact(w->s.base.assembly, w->s.middle_of[k], entry);
    entry->held = contact->held;
    entry->slipping = contact->slipping;
  }
  if (!contact_memory_reserve(&w->memory, w->s.step->pool, w->n_entries))
    return outcome_no_memory(w->s.step->out);
  contact_memory_take(&w->memory, w->entries, w->n_entries);
  return true;
}

/* Find contacts of `at` in a memory. `across` steps, only bodies and surfaces that
 * nothing else changed count. */
static bool recall(event_state *w, world_snapshot *at,
                   const contact_memory *memory, bool across) {
  double radius = motion_radius(&w->s.home, w->now.v, w->s.step->step_size);
  if (!across) contact_memory_unclaim(memory);
  if (!world_recall(&w->s.matcher, at, &at->contacts, memory,
                    across ? w->unchanged : NULL, radius))
    return outcome_no_memory(w->s.step->out);
  for (int k = 0; k < at->contacts.n; k++) {
    world_contact *contact = &at->contacts.items[k];
    const contact_entry *old = contact->known;
    const double *motion = contact->point.surface.motion;
    if (old == NULL) continue;
    if (across) find_axis_rate(w, contact, old->axis);
    if (across && memcmp(old->motion, motion, sizeof old->motion) != 0)
      continue;
    contact->held = old->held;
    contact->slipping = old->slipping;
  }
  return true;
}

/* --- impulses over the step ----------------------------------------------- */

/* A contact that the collision function found at the step's start has a joint of
 * its own: it is told the force of the same contact at other poses.
 * @param solved  the contacts of the last solve,
 * @param at      [here's contacts] and where there; NULL: they are here's */
static bool tally_found(event_state *w, double seconds,
                        const world_contacts *solved, const int at[]) {
  const world_snapshot *home = &w->s.home, *here = w->s.here;
  const world_contacts *contacts = &here->contacts;
  joint_result *joints = w->s.step->joints;
  int n = contacts->n;
  if (!EVENT_RESERVE(w, home_of, n)) return false;
  for (int k = 0; k < n; k++) w->home_of[k] = k;
  if (here != home &&
      !world_match(&w->s.matcher, here, contacts, home, &home->contacts,
                   motion_radius(home, w->now.v, w->s.step->step_size),
                   w->home_of))
    return outcome_no_memory(w->s.step->out);
  for (int k = 0; k < n; k++) {
    int m = at != NULL ? at[k] : k, of = w->home_of[k];
    if (m < 0 || of < 0 || solved->items[m].joint >= 0) continue;
    int joint = home->contacts.items[of].joint;
    if (joint >= 0 && home->contacts.items[of].found)
      assembly_add_contact(w->s.base.assembly, m, seconds, &joints[joint]);
  }
  return true;
}

/* The impulses of the last solve count with `share`. @return false with the
 * message where memory ran out. */
static bool tally(event_state *w, double share) {
  double seconds = w->s.step->step_size / share;
  assembly_add_forces(w->s.base.assembly, seconds, w->s.step->joints);
  if (w->s.rule->conserves)
    conserving_add_forces(&w->s, seconds, w->s.step->joints);
  return tally_found(w, seconds, &second_order_solved(&w->s)->contacts,
                     w->s.middle_of);
}

/* --- impacts -------------------------------------------------------------- */

/* m/s: what slips, parts or comes closer by no more does neither: forces undo it in a
 * small part of a step. */
static double slow(const event_state *w) {
  const double PART = 1e-2; /* of what weight gives in a step */
  return fmax(event_rate_tolerance(w),
              PART * w->s.home.gravity * w->s.step->step_size);
}

static double slip_speed(const world_contact *contact, const double v[]) {
  double slip[3];
  world_contact_slip(contact, v, slip);
  return vec3_length(slip);
}

/* True if a contact slides, of itself: a kinematic body that goes ever faster does so
 * in jumps, from step to step, and the slip that its last jump may have brought is to
 * be over when the step is. */
static bool slides(const event_state *w, const world_contact *contact) {
  world_contact still = *contact;
  still.point.surface.motion[0] = still.point.surface.motion[1] = 0;
  return slip_speed(contact, w->now.v) > slow(w) + slip_speed(&still, w->jump);
}

/* Add `impulse` along the contact's normal to v, with the masses of `here`. */
static void push_contact(const world_snapshot *here, int k, double impulse,
                         double v[]) {
  double J[2][6], turned[3];
  world_contact_jacobian(&here->contacts, k, J);
  for (int side = 0; side < 2; side++) {
    int b = here->contacts.items[k].point.body[side];
    if (!world_is_dynamic(here, b)) continue;
    const host_body *body = &here->bodies[b];
    vec3_add_scaled(v + 6 * b, impulse / body->mass, J[side]);
    mat3_apply(turned, body->inverse_inertia, J[side] + 3);
    vec3_add_scaled(v + 6 * b + 3, impulse, turned);
  }
}

/* True if kinematic bodies or surfaces that move may bring energy in. */
static bool is_driven(const world_snapshot *here) {
  for (int k = 0; k < here->contacts.n; k++)
    for (int i = 0; i < 3 && here->contacts.items[k].active; i++)
      if (here->contacts.items[k].point.surface.motion[i] != 0) return true;
  for (int b = 0; b < here->n_bodies; b++)
    for (int i = 0; i < 6 && here->bodies[b].kinematic; i++)
      if (here->bodies[b].v[i] != 0) return true;
  return false;
}

/* The share of a way along which the energy, a parabola of second coefficient `bend`,
 * goes from `low` to `end`, up to which it is at most `most`. */
static double way_below(double low, double end, double bend, double most) {
  double slope = end - low - bend, room = fmax(most - low, 0);
  double root = sqrt(slope * slope + 4 * bend * room);
  return slope + root > 0 ? fmin(2 * room / (slope + root), 1) : 0;
}

/* v becomes the furthest point on the way from `from` to it with no more energy than
 * `most` at the poses of `at`. @return the share of that way. */
static double bound_energy(const event_state *w, const motion *at,
                           const double from[], double most, double v[]) {
  const int n = 6 * w->s.home.n_bodies;
  const double end = motion_energy(&w->s.home, at, v);
  if (!(end > most)) return 1;
  const double low = motion_energy(&w->s.home, at, from);
  for (int i = 0; i < n; i++) v[i] -= from[i];
  double share = way_below(low, end, motion_energy(&w->s.home, at, v), most);
  for (int i = 0; i < n; i++) v[i] = from[i] + share * v[i];
  return share;
}

/* What bodies are given new velocities has nothing undone. */
static void end_carry(event_state *w) {
  memset(w->s.carry, 0, 6 * (size_t)w->s.home.n_bodies * sizeof *w->s.carry);
}

/* Give back what of the last projection was undone for the whole step. */
static void undo_nothing(event_state *w) {
  for (int i = 0; i < 6 * w->s.home.n_bodies; i++) w->now.v[i] += w->s.carry[i];
  end_carry(w);
}

/* @param pressed  [here's contacts] N s of each that is in v already; or NULL */
static bool solve_impact(event_state *w, const double v[],
                         const double pressed[]) {
  const scheme_step *step = w->s.step;
  assembly_request request = scheme_request(step, w->s.here);
  request.level = JOINT_LEVEL_IMPACT;
  request.step_size = 1; /* s: no force limits here, and CFM only where rows are
                            redundant */
  request.v = request.x_free = v;
  request.second_order = true;
  request.replaced = true;
  request.pressed = pressed;
  request.allowed = event_rate_tolerance(w);
  if (!assembly_solve(w->s.base.assembly, &request, step->out)) return false;
  event_note_budget(w);
  return true;
}

/* As `tally`, of the last impact. */
static bool tally_impact(event_state *w, double share) {
  double seconds = w->s.step->step_size / share;
  assembly_add_forces(w->s.base.assembly, seconds, w->s.step->joints);
  return tally_found(w, seconds, &w->s.here->contacts, NULL);
}

/* An impact acts on all that touches: what parts before it may be driven together. */
static void choose_struck(event_state *w) {
  world_contacts *contacts = &w->s.here->contacts;
  for (int k = 0; k < contacts->n; k++) {
    const host_contact *point = &contacts->items[k].point;
    contacts->items[k].active |=
        fabs(point->gap) <= hair_touch(point->position);
  }
}

/* True if a contact that touches parts, and is to be met again: it bounces, or rows of
 * the end's velocity would hold it back. Those of the mean one let it come back within the
 * step to where it was. */
static bool flies(const event_state *w, const world_contact *contact,
                  double rate) {
  return rate > event_rate_tolerance(w) &&
         (contact->point.surface.bounces || second_order_holds_end(&w->s));
}

/* Compression and, where contacts give back, decompression (PAGT 7.3, 7.4) of
 * the active contacts and the joints where `now` is. Friction acts through both: what
 * decompression pushes with bounds it, too (Anitescu and Potra 1997). */
static bool impact(event_state *w) {
  world_contacts *contacts = &w->s.here->contacts;
  const scheme_step *step = w->s.step;
  ode_mlcp_report *report = event_report(w);
  int n_v = 6 * w->s.home.n_bodies;
  if (step->options->impact == ODE_MLCP_IMPACT_LAW_SET && !sampled_impact(w))
    return false;
  report->impacts++;
  undo_nothing(w);
  choose_struck(w);
  if (!EVENT_RESERVE(w, given_back, contacts->n) ||
      !solve_impact(w, w->now.v, NULL))
    return false;
  if (w->crowded) return true;
  if (!tally_impact(w, 1)) return false;

  bool gives_back = false;
  double *v = w->struck, *compressed = w->compressed;
  memcpy(v, assembly_x(w->s.base.assembly), (size_t)n_v * sizeof *v);
  memcpy(compressed, v, (size_t)n_v * sizeof *v);
  for (int k = 0; k < contacts->n; k++) {
    world_contact *contact = &contacts->items[k];
    double pressed = assembly_normal_impulse(w->s.base.assembly, k);
    w->given_back[k] = 0;
    if (!contact->active) continue;
    double e = event_restitution(w, k);
    if (!(e * pressed > 0)) continue;
    gives_back = true;
    w->given_back[k] = e * pressed;
    push_contact(w->s.here, k, e * pressed, v);
  }
  if (gives_back && !solve_impact(w, v, w->given_back)) return false;
  if (w->crowded) {
    memcpy(v, compressed, (size_t)n_v * sizeof *v);
  } else if (gives_back) {
    memcpy(v, assembly_x(w->s.base.assembly), (size_t)n_v * sizeof *v);
    /* with friction, Poisson's law may end with more energy than it began with: on
     * the way from the end of compression what closes and is held is as good */
    double most = motion_energy(&w->s.home, &w->now, w->now.v), share = 1;
    if (!is_driven(w->s.here))
      share = bound_energy(w, &w->now, compressed, most, v);
    for (int k = 0; k < contacts->n; k++)
      assembly_add_normal_impulse(w->s.base.assembly, k, w->given_back[k]);
    if (!tally_impact(w, share)) return false;
  }
  memcpy(w->now.v, v, (size_t)n_v * sizeof *v);

  double tolerance = event_rate_tolerance(w);
  for (int k = 0; k < contacts->n; k++) {
    world_contact *contact = &contacts->items[k];
    if (!contact->active) continue;
    double rate = world_contact_rate(contacts, k, w->now.v);
    /* under a stiff force one that parts is kept for the rest of the step, as
     * in PAGT sec. 8: where it will be in between is not known */
    contact->held = rate <= tolerance || event_is_stiff(w, contact);
    contact->active = contact->held || !flies(w, contact, rate);
    contact->slipping = slides(w, contact);
  }
  return events_look_for_fast(w); /* what was slow may have become fast */
}

/* --- the start of a substep ----------------------------------------------- */

/* Which contacts take part: those that were held, those that touch and do not fly.
 * @return whether one of these comes closer and was not held. */
static bool choose_active(event_state *w) {
  world_contacts *contacts = &w->s.here->contacts;
  double tolerance = event_rate_tolerance(w);
  /* rows of the mean velocity let what is slow land within the step */
  double struck = second_order_holds_end(&w->s) ? tolerance : slow(w);
  bool approaches = false;
  for (int k = 0; k < contacts->n; k++) {
    world_contact *contact = &contacts->items[k];
    double rate = world_contact_rate(contacts, k, w->now.v);
    double gap = contact->point.gap;
    double touching = hair_touch(contact->point.position);
    contact->active =
        contact->held || (gap <= touching && !flies(w, contact, rate));
    if (!contact->active) continue;
    approaches |= !contact->held && rate < -struck;
    contact->slipping =
        (contact->slipping || !contact->held) && slides(w, contact);
  }
  return approaches;
}

/* True if the program gave a joint velocities that it does not allow, or `all` may have
 * such. */
static bool joints_approach(const event_state *w, bool all) {
  const world_snapshot *here = w->s.here;
  double tolerance = fmax(event_rate_tolerance(w), 1e-8);
  for (int j = 0; j < here->n_joints; j++) {
    const world_joint *joint = &here->joints[j];
    if (joint->rows < 0 || (!all && all_unchanged(w, joint->body))) continue;
    const host_joint_rows *read = &here->joint_rows[joint->rows];
    const host_rows *rows = &read->rows;
    for (unsigned r = 0; r < rows->count; r++) {
      if (!host_row_holds(read, r, here->cfm)) continue;
      double rate = read->correction[r] - rows->rhs[r] +
                    row_rate(rows->J[r], joint->body, w->now.v);
      if (fabs(rate) > tolerance) return true;
    }
  }
  return false;
}

/* Look at the world where `now` is, within the step. */
static bool arrive(event_state *w, double h) {
  w->s.here = &w->s.moved;
  return second_order_look(&w->s, w->s.here, &w->now, h,
                           w->s.home.settings.margin) &&
         recall(w, w->s.here, &w->memory, false);
}

/* --- substeps ------------------------------------------------------------- */

/* A gap that has closed in a step of first order has the speed with which it did: the
 * next step begins with an impact. */
static bool still_closes(const event_state *w, int k, double tolerance) {
  return world_contact_rate(&w->s.here->contacts, k, w->next.v) < -tolerance;
}

/* Which contacts the accepted step's velocities hold, and how. */
static void note_held(event_state *w) {
  double tolerance = event_rate_tolerance(w);
  for (int k = 0; k < w->s.here->contacts.n; k++) {
    world_contact *contact = &w->s.here->contacts.items[k];
    int m = w->s.middle_of[k];
    if (!contact->active) continue;
    if (m < 0) {
      contact->held = false;
      continue;
    }
    contact->held = assembly_contact_w(w->s.base.assembly, m) <= tolerance &&
                    !(w->s.rule->first && still_closes(w, k, tolerance));
    contact->slipping = slip_speed(contact, w->next.v) > slow(w);
  }
}

static void keep_v_alpha(event_state *w) {
  double alpha = second_order_alpha(&w->s);
  for (int i = 0; i < 6 * w->s.home.n_bodies; i++)
    w->v_alpha[i] = (1 - alpha) * w->now.v[i] + alpha * w->next.v[i];
}

/* True if no more than rounding remains of the host's step. */
static bool is_over(const event_state *w, double remaining) {
  return remaining <= 1e-12 * w->s.step->step_size;
}

static bool accept(event_state *w, double *remaining, double h) {
  event_report(w)->substeps++;
  if (!tally(w, 1)) return false;
  note_held(w);
  if (!remember(w)) return false;
  keep_v_alpha(w);
  motion_copy(&w->now, &w->next, w->s.home.n_bodies);
  end_carry(w);
  *remaining -= h;
  return true;
}

/* Take a trial that no event ends: go on from there, or where the host's step is over take
 * out the velocities that rows do not allow. What does not settle in one part has that done
 * at the end of each, and nothing undone: stiff springs would gain by it. */
static bool pass(event_state *w, double *remaining, double h) {
  const bool over = is_over(w, *remaining - h), cut = w->n_failed > 0;
  double *undone = w->compressed;
  memcpy(undone, w->s.carry, 6 * (size_t)w->s.home.n_bodies * sizeof *undone);
  if (!accept(w, remaining, h)) return false;
  if (w->s.rule->holds && (over || cut) &&
      !step_end_hold(&w->s, undone, &w->now))
    return false;
  if (cut) end_carry(w);
  return over || arrive(w, *remaining);
}

static bool try_step(event_state *w, double *size);

/* A step to an event may settle no better than any other: where it was cut shorter,
 * it is a step as those without an event are.
 * @param short_of  out: whether it does not get there */
static bool step_to_event(event_state *w, double *way, bool *short_of) {
  double size = *way;
  if (!try_step(w, &size)) return false;
  *short_of = size < *way;
  *way = size;
  return true;
}

/* Go to where the trial step of size h collides, and let it. */
static bool collide(event_state *w, double h, const event *found,
                    double *remaining) {
  double way = found->when;
  bool steps = way > 0 && w->s.rule->conserves, short_of = false;
  if (steps && !step_to_event(w, &way, &short_of)) return false;
  if (w->crowded) return true;
  if (short_of) return pass(w, remaining, way);
  event_report(w)->collisions++;
  if (way > 0) {
    if (steps) {
      if (!accept(w, remaining, way)) return false;
    } else {
      event_report(w)->substeps++;
      if (!tally(w, way / h)) return false;
      note_held(w);
      if (!remember(w)) return false;
      events_go_between(w, way / h);
      keep_v_alpha(w);
      *remaining -= way;
    }
    if (!arrive(w, *remaining > 0 ? *remaining : h)) return false;
  }
  if (!event_log_event(&w->log, w->s.step->pool, ODE_MLCP_EVENT_COLLISION,
                       w->now.time))
    return outcome_no_memory(w->s.step->out);
  bool any = choose_active(w), marked;
  if (!events_mark_collided(w, &marked)) return false;
  if (!any && !marked) {
    /* it is not there: the rest is a step as those without events are */
    w->crowded = true;
    event_report(w)->zeno = 1;
    return true;
  }
  return impact(w);
}

static bool transit(event_state *w, const event *found, double *remaining) {
  double way = found->when;
  bool short_of = false;
  if (w->s.unsettled && !step_to_event(w, &way, &short_of)) return false;
  if (w->crowded) return true;
  if (short_of) return pass(w, remaining, way);
  event_report(w)->transitions++;
  if (!event_log_event(&w->log, w->s.step->pool, ODE_MLCP_EVENT_TRANSITION,
                       w->now.time + found->when))
    return outcome_no_memory(w->s.step->out);
  if (!accept(w, remaining, found->when)) return false;
  return events_flip(w) && remember(w) && arrive(w, *remaining);
}

/* True if what is moved at the end depends on what rows carried. */
static bool moves_soft(const event_state *w) {
  if (w->ahead.cfm > HOST_DEFAULT_CFM) return true;
  for (int k = 0; k < w->ahead.contacts.n; k++)
    if (w->ahead.contacts.items[k].point.soft) return true;
  return false;
}

/* A joint that a stop holds rests at it: what lies between, of the error with which
 * an impact is found, is taken away. */
static bool close_stops(event_state *w) {
  world_contacts *contacts = &w->ahead.contacts;
  if (!recall(w, &w->ahead, &w->memory, false)) return false;
  for (int k = 0; k < contacts->n; k++)
    contacts->items[k].held &= contacts->items[k].stop >= 0;
  return true;
}

/* The end of the trial that was accepted has been looked at already, unless joint
 * rows were read for another size of step. */
static bool correct(event_state *w, double last) {
  bool read = last == w->s.step->step_size && w->ahead_size == last;
  if (!read && !events_look_ahead(w, &w->now, w->s.step->step_size))
    return false;
  if (w->ahead.erp > 0) {
    if (!close_stops(w)) return false;
    if (moves_soft(w)) step_end_load(&w->s, &w->ahead);
  }
  return step_end_correct(&w->s, &w->ahead, &w->now);
}

/* Find bodies on joints, whose rows may have brought energy.
 * @return true if joints hold bodies that move alone, which then keep their momentum */
static bool find_jointed(event_state *w) {
  const world_snapshot *home = &w->s.home;
  bool any = false, is_free = true;
  memset(w->jointed, 0, (size_t)home->n_bodies * sizeof *w->jointed);
  for (int j = 0; j < home->n_joints; j++) {
    if (home->joints[j].rows < 0) continue;
    any = true;
    for (int side = 0; side < 2; side++) {
      int b = home->joints[j].body[side];
      if (b >= 0) w->jointed[b] = true;
      is_free &= world_is_dynamic(home, b);
    }
  }
  return any && is_free;
}

/* Take what did not settle, less what rows brought, which the bodies on them have to give:
 * the furthest point from their velocities at the start to their own with no more energy
 * than there may be. @return false: they have not so much. */
static bool cut_energy(event_state *w) {
  const double ROUNDING = 1e-9, most = (1 + ROUNDING) * w->s.allowed;
  double *from = w->struck; /* as they turn with their bodies */
  double *v = w->next.v;
  if (motion_energy(&w->s.home, &w->next, v) <= most) return true;
  for (int i = 0; i < 6 * w->s.home.n_bodies; i++)
    from[i] = w->jointed[i / 6] ? 0 : v[i];
  double others = motion_energy(&w->s.home, &w->next, from);
  if (others > most) return false;
  for (int b = 0; b < w->s.home.n_bodies; b++) {
    if (!w->jointed[b]) continue;
    memcpy(from + 6 * b, w->now.v + 6 * b, 6 * sizeof *from);
    world_pose_turn_along(&w->now.poses[b], &w->next.poses[b],
                          from + 6 * b + 3);
  }
  double low = motion_energy(&w->s.home, &w->next, from) - others;
  double slower = low > 0 ? sqrt(fmin((most - others) / low, 1)) : 1;
  for (int i = 0; i < 6 * w->s.home.n_bodies; i++)
    if (w->jointed[i / 6]) from[i] *= slower;
  (void)bound_energy(w, &w->next, from, w->s.allowed, v);
  return true;
}

static bool touches(const event_state *w) {
  for (int k = 0; k < w->s.here->contacts.n; k++)
    if (w->s.here->contacts.items[k].active) return true;
  return false;
}

/* A step of the size; or in flight, to conserve what it does, of half, a quarter .. of it:
 * one that settles. Else the rest of the host's step is one of first order, but what moves
 * alone or touches is left as it is, less energy that rows brought. */
static bool try_step(event_state *w, double *size) {
  const bool is_free = find_jointed(w);
  const bool flies = !touches(w);
  const int MOST_FAILED = is_free ? 20 : 10; /* sizes of the host's step */
  while (!w->crowded) {
    if (!event_try(w, *size)) return false;
    if (w->crowded || !w->s.unsettled) return true;
    if (flies && w->n_failed++ < MOST_FAILED) {
      undo_nothing(w);
      *size /= 2;
      continue;
    }
    event_report(w)->not_converged = 1;
    w->s.unsettled = false;
    w->crowded = (flies && !is_free) || !cut_energy(w);
    return true;
  }
  return true;
}

/* How many pairs that were apart a step of first order closes. */
static int count_closed(const event_state *w) {
  const world_contacts *contacts = &w->s.here->contacts;
  const double tolerance = event_rate_tolerance(w);
  const int *last = NULL;
  int n = 0;
  for (int k = 0; k < contacts->n; k++) {
    const host_contact *point = &contacts->items[k].point;
    if (point->gap > hair_touch(point->position) &&
        still_closes(w, k, tolerance))
      n += event_is_other_pair(&last, &contacts->items[k]);
  }
  return n;
}

static bool rest_in_first_order(event_state *w, double *remaining) {
  const step_rule *rule = w->s.rule;
  undo_nothing(w);
  w->s.rule = &first_order_rule;
  bool taken = event_try(w, *remaining) && events_hold(w);
  event_note_crowd(w, taken ? count_closed(w) : 0);
  taken = taken && pass(w, remaining, *remaining);
  w->s.rule = rule;
  w->ahead_size = 0;
  return taken;
}

static bool run_substeps(event_state *w) {
  const scheme_step *step = w->s.step;
  if (!events_look_for_fast(w)) return false;
  const ode_mlcp_options *options = step->options;
  double remaining = step->step_size;
  forces_find_stiff(step->forces, &w->s.home,
                    second_order_alpha(&w->s) * step->step_size, w->stiff);
  double last = 0; /* size of the last substep */
  double size = INFINITY;
  for (bool first = true; !is_over(w, remaining); first = false) {
    /* gap's velocities may be such as joints do not allow */
    bool turns = second_order_choose(&w->s, remaining) && !w->own->holds;
    bool approach =
        choose_active(w) || ((first || turns) && joints_approach(w, turns));
    if (!w->crowded && approach && !impact(w)) return false;
    size = fmin(fmin(2 * size, remaining), events_longest(w));
    size = fmin(size, w->longest);
    if (!try_step(w, &size)) return false;

    event found = {EVENT_NONE, 0, false};
    w->ahead_size = 0;
    if (!w->crowded && options->events && !events_find(w, size, &found))
      return false;
    if (found.again && !try_step(w, &size)) return false;
    last = size;
    w->n_events += found.kind != EVENT_NONE;
    bool done = w->crowded                 ? rest_in_first_order(w, &remaining)
                : found.kind == EVENT_NONE ? pass(w, &remaining, size)
                : found.kind == EVENT_COLLISION
                    ? collide(w, size, &found, &remaining)
                    : transit(w, &found, &remaining);
    if (found.kind != EVENT_NONE) w->ahead_size = 0;
    if (!done) return false;
  }
  return correct(w, last);
}

/* --- a step --------------------------------------------------------------- */

static bool reserve_bodies(event_state *w) {
  int n = w->s.home.n_bodies;
  return second_order_reserve(&w->s) &&
         ((ARENA_TAKE(&w->s.base.arena, w->unchanged, n) &&
           ARENA_TAKE(&w->s.base.arena, w->ids, n) &&
           ARENA_TAKE(&w->s.base.arena, w->held_shares, n) &&
           ARENA_TAKE(&w->s.base.arena, w->way_v, 6 * n) &&
           ARENA_TAKE(&w->s.base.arena, w->jump, 6 * n) &&
           ARENA_TAKE(&w->s.base.arena, w->stiff, n) &&
           ARENA_TAKE(&w->s.base.arena, w->jointed, n) &&
           ARENA_TAKE(&w->s.base.arena, w->compressed, 6 * n) &&
           ARENA_TAKE(&w->s.base.arena, w->struck, 6 * n) &&
           ARENA_TAKE(&w->s.base.arena, w->v_alpha, 6 * n) &&
           motion_take(&w->now, &w->s.base.arena, n) &&
           motion_take(&w->next, &w->s.base.arena, n)) ||
          outcome_no_memory(w->s.step->out));
}

/* This part of what the projection at the end of the host's step did to the velocities is
 * undone at the start of the next: 1 keeps the energy where it is, 0 damps most (40). */
static const double CARRIED = 0.99;

/* What the last step's projection did has no momentum in all: it is undone where all that
 * were in it are together and unchanged. */
static void undo_projection(event_state *w) {
  const world_snapshot *home = &w->s.home;
  const body_memory *first = NULL;
  for (int b = 0; b < home->n_bodies; b++) {
    const body_memory *last = find_unchanged(w, &home->bodies[b]);
    w->unchanged[b] = last != NULL;
    if (b == 0) first = last;
    if (last == NULL || first == NULL || last->island != first->island ||
        last->n_with != home->n_bodies)
      first = NULL;
    else
      memcpy(w->s.carry + 6 * b, last->carry, sizeof last->carry);
  }
  if (first == NULL) end_carry(w);
  for (int i = 0; i < 6 * home->n_bodies; i++) {
    w->s.carry[i] *= CARRIED;
    w->now.v[i] -= w->s.carry[i];
  }
}

/* Some second's: where outcomes are searched for that long, it is among contacts
 * that are opposed or say the same, and Poisson's law takes their place. */
static const double DRAW_WORK = 3e8;

static void start_step(event_state *w) {
  const world_snapshot *home = &w->s.home;
  w->s.rule = w->own;
  w->now.time = w->s.step->time;
  w->n_entries = 0;
  w->n_events = w->n_failed = 0;
  w->crowded = w->crowd = w->looked = false;
  w->draw_work = DRAW_WORK;
  for (int b = 0; b < home->n_bodies; b++) {
    const host_body *body = &home->bodies[b];
    const body_memory *known = event_find_body(w, body->serial);
    for (int i = 0; i < 6; i++)
      w->jump[6 * b + i] =
          body->kinematic ? body->v[i] - (known != NULL ? known->v[i] : 0) : 0;
    w->crowded |= w->tries_first && known != NULL && known->crowd;
    w->ids[b] = body->id;
    w->now.poses[b] = world_pose_of(body);
    memcpy(w->now.v + 6 * b, body->v, sizeof body->v);
    event_report(w)->bodies += !body->kinematic;
  }
  w->tries_first &= w->crowded;
  undo_projection(w);
}

static void fill_report(event_state *w) {
  ode_mlcp_report *report = event_report(w);
  report->contacts = 0;
  for (int k = 0; k < w->s.here->contacts.n; k++)
    report->contacts += w->s.here->contacts.items[k].active &&
                        w->s.here->contacts.items[k].stop < 0;
  for (int k = 0; k < w->s.home.contacts.n; k++) {
    const world_contact *contact = &w->s.home.contacts.items[k];
    report->linearised |= contact->joint >= 0 && contact->stop < 0 &&
                          !contact->found && !contact->asked;
  }
}

static void hand_over(event_state *w) {
  const scheme_step *step = w->s.step;
  fill_report(w);
  for (int b = 0; b < w->s.home.n_bodies; b++) {
    body_result *out = &step->bodies[b];
    const host_body *body = &w->s.home.bodies[b];
    out->kinematic = body->kinematic;
    memcpy(out->v, w->now.v + 6 * b, sizeof out->v);
    out->moved = false;
    if (out->kinematic) continue;
    const world_pose from = world_pose_of(body);
    scheme_move_body(out, body->id, &from, &w->now.poses[b], step->step_size);
  }
}

/* A contact is looked at again where it has just closed: its gap is nothing, but
 * for rounding, and is to be seen. */
static world_settings settings_of(event_state *w) {
  const scheme_step *step = w->s.step;
  world_settings settings = scheme_settings(step);
  double margin = settings.margin;
  if (step->contacts->function != NULL &&
      settings.margin != ODE_MLCP_MARGIN_AUTO)
    settings.margin = fmax(settings.margin, HAIR_BESIDE);
  settings.source_complete = settings.margin == margin;
  settings.stops = true;
  settings.asker = &w->s.matcher;
  return settings;
}

bool event_driven_solve(event_state *w) {
  const scheme_step *step = w->s.step;
  const world_settings settings = settings_of(w);
  w->s.here = &w->s.home;
  if (!world_read(&w->s.home, &settings, step->islands, step->n_islands,
                  step->out) ||
      !reserve_bodies(w))
    return false;
  start_step(w);
  if (!recall(w, &w->s.home, step->memory, true) || !run_substeps(w))
    return false;
  hand_over(w);
  return true;
}
