#include "schemes/whole_step.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/vec3.h"
#include "schemes/events.h"
#include "schemes/sampled_impact.h"
#include "schemes/whole_step_parts.h"

/* Gaps up to this are touching (PAGT 7.1). */
static const double TOUCHING = 1e-12;       /* m: eps_a */
static const double NEARLY_TOUCHING = 1;    /* m/s^3: eps_b */

/* --- making and ending ---------------------------------------------------- */

whole_step *whole_step_create(const memory_source *source) {
  whole_step *w = memory_allocate_zero(source, sizeof *w);
  if (w == NULL) return NULL;
  w->source = source;
  w->s.form = world_form_create(source);
  if (w->s.form == NULL) {
    source->release(source->context, w, sizeof *w);
    return NULL;
  }
  return w;
}

void whole_step_destroy(whole_step *w) {
  if (w == NULL) return;
  const memory_source *source = w->source;
  memory_block *blocks[] = {
      &w->contact_memory_block, &w->body_memory_block, &w->lambda_block,
      &w->joint_force_block,    &w->match_block,
      &w->unchanged_block,      &w->share_block,       &w->watch_block,
      &w->collided_block,
      &w->value_block,          &w->probe_block,       &w->other_probe_block,
      &w->v_alpha_block};
  memory_blocks_release(blocks, sizeof blocks / sizeof blocks[0], source);
  form_view_release(&w->ahead, source);
  motion_release(&w->now, source);
  motion_release(&w->next, source);
  second_order_release(&w->s);
  world_form_destroy(w->s.form);
  source->release(source->context, w, sizeof *w);
}

bool whole_step_no_memory(whole_step *w) {
  island_result *result = w->s.form->result;
  snprintf(result->message, sizeof result->message, "memory ran out");
  return false;
}

/* --- what the last step left ---------------------------------------------- */

/* Bodies that are as the last step left them go on with their contacts and
 * need no check of their joints. */
static bool body_unchanged(const whole_step *w, const form_body *body) {
  const body_memory *memory = w->body_memory_block.data;
  int low = 0, high = w->n_body_memory;
  while (low < high) {
    int middle = (low + high) / 2;
    if (memory[middle].serial < body->serial)
      low = middle + 1;
    else
      high = middle;
  }
  return low < w->n_body_memory && memory[low].serial == body->serial &&
         memcmp(&memory[low].pose, &body->home, sizeof body->home) == 0 &&
         memcmp(memory[low].v, body->v, sizeof body->v) == 0;
}

static int compare_bodies(const void *left, const void *right) {
  const body_memory *a = left, *b = right;
  return (a->serial > b->serial) - (a->serial < b->serial);
}

void whole_step_committed(whole_step *w) {
  const world_form *form = w->s.form;
  body_memory *memory = w->body_memory_block.data;
  w->n_body_memory = 0;
  if (memory == NULL) return;
  for (int b = 0; b < form->n_bodies; b++) {
    dBodyID id = form->bodies[b].id;
    const dReal *x = dBodyGetPosition(id), *q = dBodyGetQuaternion(id);
    const dReal *v = dBodyGetLinearVel(id), *omega = dBodyGetAngularVel(id);
    body_memory *m = &memory[w->n_body_memory++];
    memset(m, 0, sizeof *m);
    m->serial = form->bodies[b].serial;
    vec3_copy(m->pose.position, x);
    for (int i = 0; i < 4; i++) m->pose.quaternion[i] = q[i];
    vec3_copy(m->v, v);
    vec3_copy(m->v + 3, omega);
  }
  if (w->n_body_memory > 1)
    qsort(memory, (size_t)w->n_body_memory, sizeof *memory, compare_bodies);
}

static bool contact_unchanged(const whole_step *w, const int body[2]) {
  for (int side = 0; side < 2; side++)
    if (body[side] >= 0 && !w->unchanged[body[side]]) return false;
  return true;
}

static unsigned long serial_of(const whole_step *w, int body) {
  return body >= 0 ? w->s.form->bodies[body].serial : 0;
}

/* Note what `here` knows of its contacts, to be found again by recall. */
static bool remember(whole_step *w) {
  const form_view *here = &w->s.here;
  contact_memory *memory =
      memory_block_reserve(&w->contact_memory_block, w->source,
                           (size_t)here->n_contacts, sizeof *memory);
  w->n_contact_memory = 0;
  if (memory == NULL) return whole_step_no_memory(w);
  for (int k = 0; k < here->n_contacts; k++) {
    const form_contact *contact = &here->contacts[k];
    if (!contact->held && isinf(contact->hit)) continue;
    contact_memory *m = &memory[w->n_contact_memory++];
    *m = (contact_memory){.joint = contact->stop >= 0
                                       ? dJointGetSerial(
                                             w->s.form->joints[contact->joint].id)
                                       : 0,
                          .stop = contact->stop,
                          .held = contact->held,
                          .slipping = contact->slipping,
                          .hit = contact->hit};
    int swapped = form_contact_swapped(contact);
    for (int i = 0; i < 3; i++)
      m->normal[i] = (swapped ? -1 : 1) * contact->reading.normal[i];
    for (int side = 0; side < 2; side++) {
      m->serial[side] = serial_of(w, contact->reading.body[side ^ swapped]);
      vec3_copy(m->local[side], contact->local[side ^ swapped]);
    }
  }
  return true;
}

/* Nearest first is not needed: what is close enough is the same contact or one
 * like it. `across` steps, only bodies that nothing else changed count. */
static void recall(whole_step *w, bool across, double radius) {
  form_view *here = &w->s.here;
  contact_memory *memory = w->contact_memory_block.data;
  for (int i = 0; i < w->n_contact_memory; i++) {
    const contact_memory *m = &memory[i];
    double nearest = radius;
    int found = -1;
    for (int k = 0; k < here->n_contacts; k++) {
      const form_contact *contact = &here->contacts[k];
      const int *body = contact->reading.body;
      int swapped = form_contact_swapped(contact);
      if (contact->held || contact->stop != m->stop ||
          serial_of(w, body[swapped]) != m->serial[0] ||
          serial_of(w, body[1 - swapped]) != m->serial[1] ||
          (across && !contact_unchanged(w, body)))
        continue;
      if (contact->stop < 0 &&
          (swapped ? -1 : 1) * vec3_dot(contact->reading.normal, m->normal) <
              FORM_SAME_NORMAL)
        continue; /* a corner can touch a floor and a wall */
      if (contact->stop >= 0 &&
          dJointGetSerial(w->s.form->joints[contact->joint].id) != m->joint)
        continue;
      double apart = INFINITY;
      for (int side = 0; side < 2 && contact->stop < 0; side++) {
        double way[3];
        vec3_subtract(way, contact->local[side ^ swapped], m->local[side]);
        apart = fmin(apart, vec3_length(way));
      }
      if (contact->stop >= 0) apart = 0;
      if (apart > nearest) continue;
      nearest = apart;
      found = k;
    }
    if (found < 0) continue;
    here->contacts[found].held = m->held;
    here->contacts[found].slipping = m->slipping;
    here->contacts[found].hit = m->hit;
  }
}

/* --- impulses over the step ----------------------------------------------- */

/* The impulses of the last solve on `view` count with `share`. */
static void tally(whole_step *w, const form_view *view, double share) {
  const form_answer *answer = &w->s.answer;
  const world_form *form = w->s.form;
  for (int j = 0; j < form->n_joints; j++) {
    const dStepperJointRows *rows = &view->readings[j].rows;
    for (unsigned r = 0; r < rows->count; r++) {
      double p = share * answer->joint_impulse[6 * j + (int)r];
      w->lambda[6 * j + (int)r] += p;
      for (int i = 0; i < 12; i++)
        w->joint_force[12 * j + i] += p * rows->J[r][i / 6][i % 6];
    }
  }
  for (int k = 0; k < view->n_contacts; k++) {
    int j = view->contacts[k].joint;
    if (j < 0) continue;
    for (int i = 0; i < 12; i++)
      w->joint_force[12 * j + i] +=
          share * answer->contact_force[k][i / 6][i % 6];
    for (int i = 0; i < 6 && view->contacts[k].stop < 0; i++)
      w->lambda[6 * j + i] += share * answer->contact_impulse[6 * k + i];
  }
}

static const form_view *solved_view(const whole_step *w) {
  return w->s.form->options->scheme == ODE_MLCP_SCHEME_GAP ? &w->s.here
                                                           : &w->s.middle;
}

bool whole_step_is_stiff(const whole_step *w, const form_contact *contact) {
  for (int side = 0; side < 2; side++)
    if (contact->reading.body[side] >= 0 &&
        w->s.stiff[contact->reading.body[side]])
      return true;
  return false;
}

/* --- impacts -------------------------------------------------------------- */

double whole_step_rate_tolerance(const whole_step *w) {
  double fastest = w->s.form->gravity * w->s.form->step_size;
  for (int b = 0; b < w->s.form->n_bodies; b++)
    fastest = fmax(fastest, vec3_length(w->now.v + 6 * b));
  return 1e-8 * fmax(fastest, 1e-6);
}

static double slip_speed(const form_contact *contact, const double v[]) {
  double slip[3];
  form_contact_slip(contact, v, slip);
  return vec3_length(slip);
}

/* Add `impulse` along the contact's normal to v, with the masses of `here`. */
static void push(const form_view *view, const form_contact *contact,
                 double impulse, double v[]) {
  double J[2][6], turned[3];
  form_contact_jacobian(contact, J);
  for (int side = 0; side < 2; side++) {
    int b = contact->reading.body[side];
    if (b < 0 || view->bodies[b].kinematic) continue;
    vec3_add_scaled(v + 6 * b, impulse / view->bodies[b].mass, J[side]);
    mat3_apply(turned, view->bodies[b].inverse_inertia, J[side] + 3);
    vec3_add_scaled(v + 6 * b + 3, impulse, turned);
  }
}

static bool solve_impact(whole_step *w, const double v[]) {
  double h = w->s.form->step_size;
  form_request request = {
      .rows = FORM_IMPACT,
      .step_size = 1, /* s: no force limits here, and CFM only where rows are
                         redundant */
      .scale = 1,
      .x_free = v,
      .slip_floor = fmax(1e-3 * w->s.form->gravity * h, 1e-9)};
  if (!form_solve(w->s.form, &w->s.here, &request, &w->s.answer)) return false;
  tally(w, &w->s.here, 1);
  return true;
}

/* Compression and, where contacts give back, decompression (PAGT 7.3, 7.4) of
 * the active contacts and the joints where `now` is. */
static bool impact(whole_step *w) {
  form_view *here = &w->s.here;
  int n_v = 6 * w->s.form->n_bodies;
  if (w->s.form->options->impact == ODE_MLCP_IMPACT_LAW_SET &&
      !sampled_impact(w))
    return false;
  w->s.form->result->report.impacts++;
  if (!solve_impact(w, w->now.v)) return false;

  bool gives_back = false;
  double *v = w->s.x_free;
  memcpy(v, w->s.answer.x, (size_t)n_v * sizeof *v);
  for (int k = 0; k < here->n_contacts; k++) {
    form_contact *contact = &here->contacts[k];
    double pressed = w->s.answer.contact_impulse[6 * k];
    if (!contact->active) continue;
    double incoming = -form_contact_rate(contact, w->now.v);
    double e = incoming > contact->bounce_speed ? contact->restitution : 0;
    if (pressed > 0) {
      if (w->now.time - contact->hit <
          w->s.form->options->min_substep * w->s.form->step_size) {
        if (e > 0) w->s.form->result->report.zeno = 1;
        e = 0;
      }
      contact->hit = w->now.time;
    }
    if (!(e * pressed > 0)) continue;
    gives_back = true;
    push(here, contact, e * pressed, v);
  }
  if (gives_back && !solve_impact(w, v)) return false;
  memcpy(w->now.v, w->s.answer.x, (size_t)n_v * sizeof *v);

  double tolerance = whole_step_rate_tolerance(w);
  for (int k = 0; k < here->n_contacts; k++) {
    form_contact *contact = &here->contacts[k];
    if (!contact->active) continue;
    /* under a stiff force one that parts is kept for the rest of the step, as
     * in PAGT sec. 8: where it will be in between is not known */
    contact->held = contact->active =
        form_contact_rate(contact, w->now.v) <= tolerance ||
        whole_step_is_stiff(w, contact);
    contact->slipping = slip_speed(contact, w->now.v) > tolerance;
  }
  return true;
}

/* --- the start of a substep ----------------------------------------------- */

/* Which contacts take part: those that were held, those that touch and do not
 * part. @return whether one of these comes closer and was not held. */
static bool choose_active(whole_step *w, double h) {
  double tolerance = whole_step_rate_tolerance(w);
  double near = fmax(TOUCHING, NEARLY_TOUCHING * h * h * h);
  bool approaches = false;
  for (int k = 0; k < w->s.here.n_contacts; k++) {
    form_contact *contact = &w->s.here.contacts[k];
    double rate = form_contact_rate(contact, w->now.v);
    contact->active = contact->held ||
                      (contact->gap <= TOUCHING && rate <= tolerance) ||
                      (contact->gap <= near && fabs(rate) <= tolerance);
    if (contact->held || !contact->active) continue;
    approaches |= rate < -tolerance;
    contact->slipping = slip_speed(contact, w->now.v) > tolerance;
  }
  return approaches;
}

/* Whether a joint is given velocities that it does not allow: by the program,
 * or by reaching a stop. */
static bool joints_approach(const whole_step *w) {
  const world_form *form = w->s.form;
  double tolerance = fmax(whole_step_rate_tolerance(w), 1e-8);
  for (int j = 0; j < form->n_joints; j++) {
    const joint_reading *reading = &w->s.here.readings[j];
    const dStepperJointRows *rows = &reading->rows;
    bool unchanged = contact_unchanged(w, form->joints[j].body);
    for (unsigned r = 0; r < rows->count; r++) {
      bool low = isinf(rows->lo[r]), high = isinf(rows->hi[r]);
      bool stop = (low && rows->hi[r] == 0) || (high && rows->lo[r] == 0);
      if (rows->cfm[r] > form->world_cfm || !((low && high) || stop) ||
          (unchanged && !stop))
        continue;
      double rate = stop ? 0 : reading->correction[r] - rows->rhs[r];
      for (int side = 0; side < 2; side++)
        for (int i = 0; i < 6 && form->joints[j].body[side] >= 0; i++)
          rate += rows->J[r][side][i] *
                  w->now.v[6 * form->joints[j].body[side] + i];
      if (stop ? (low ? rate : -rate) > tolerance : fabs(rate) > tolerance)
        return true;
    }
  }
  return false;
}

/* Look at the world where `now` is. */
static bool arrive(whole_step *w, const form_pose poses[], double h,
                   bool across) {
  if (!form_view_evaluate(w->s.form, &w->s.here, poses, w->now.v, h))
    return false;
  recall(w, across, second_order_radius(&w->s, w->now.v, w->s.form->step_size));
  return true;
}

/* --- substeps ------------------------------------------------------------- */

/* Which contacts the accepted step's velocities hold, and how. */
static void note_modes(whole_step *w) {
  double tolerance = whole_step_rate_tolerance(w);
  for (int k = 0; k < w->s.here.n_contacts; k++) {
    form_contact *contact = &w->s.here.contacts[k];
    int m = w->s.middle_of[k];
    if (!contact->active) continue;
    if (m < 0) {
      contact->held = false;
      continue;
    }
    contact->held = w->s.answer.contact_impulse[6 * m] > 0 ||
                    w->s.answer.contact_w[m] <= tolerance;
    contact->slipping = events_at_limit(&w->s, k) &&
                        slip_speed(contact, w->next.v) > tolerance;
  }
}

static bool accept(whole_step *w, double *remaining, double h) {
  w->s.form->result->report.substeps++;
  tally(w, solved_view(w), 1);
  note_modes(w);
  if (!remember(w)) return false;
  keep_v_alpha(w);
  motion_copy(&w->now, &w->next, w->s.form->n_bodies);
  *remaining -= h;
  return true;
}

static void note_event(whole_step *w, ode_mlcp_event_kind kind, double time) {
  if (w->n_events == WHOLE_STEP_EVENTS) return;
  w->events[w->n_events++] = (ode_mlcp_event){.kind = kind, .time = time};
}

bool whole_step_event(const whole_step *w, int index, ode_mlcp_event *event) {
  if (index < 0 || index >= w->n_events) return false;
  *event = w->events[index];
  return true;
}

/* Go to where the trial step of size h collides, and let it. */
static bool collide(whole_step *w, double h, const event *found,
                    double *remaining) {
  double way = found->when;
  w->s.form->result->report.collisions++;
  if (way > 0) {
    w->s.form->result->report.substeps++;
    tally(w, solved_view(w), way / h);
    note_modes(w);
    if (!remember(w) || !events_go_between(w, way / h)) return false;
    keep_v_alpha(w);
    *remaining -= way;
    if (!arrive(w, w->now.poses, *remaining > 0 ? *remaining : h, false))
      return false;
  }
  note_event(w, ODE_MLCP_EVENT_COLLISION, w->now.time);
  choose_active(w, h);
  if (!events_mark_collided(w)) return false;
  return impact(w);
}

static bool transit(whole_step *w, const event *found, double *remaining) {
  w->s.form->result->report.transitions++;
  note_event(w, ODE_MLCP_EVENT_TRANSITION, w->now.time + found->when);
  if (!second_order_take(&w->s, &w->now, found->when, &w->next)) return false;
  bool accepted = accept(w, remaining, found->when);
  return accepted && events_flip(w) && remember(w) &&
         arrive(w, w->now.poses, *remaining, false);
}

static bool run(whole_step *w, bool detect) {
  world_form *form = w->s.form;
  const ode_mlcp_options *options = form->options;
  double step = form->step_size, remaining = step;
  int n_events = 0;
  second_order_find_stiff(&w->s, &w->now, step);
  w->s.count_jams = true;
  for (bool first = true; remaining > 1e-12 * step; first = false) {
    bool approach =
        choose_active(w, remaining) || (first && joints_approach(w));
    if (approach && options->approach && !impact(w)) return false;
    if (!second_order_take(&w->s, &w->now, remaining, &w->next)) return false;

    event found = {EVENT_NONE, 0};
    if (detect && !events_find(w, remaining, &found)) return false;
    if (found.kind != EVENT_NONE && ++n_events > options->max_events) {
      detect = false;
      form->result->report.zeno = 1;
      found.kind = EVENT_NONE;
    }
    bool done = found.kind == EVENT_NONE
                    ? accept(w, &remaining, remaining)
                    : found.kind == EVENT_COLLISION
                          ? collide(w, remaining, &found, &remaining)
                          : transit(w, &found, &remaining);
    if (!done) return false;
  }
  return true;
}

/* --- a step --------------------------------------------------------------- */

static bool reserve(whole_step *w) {
  const world_form *form = w->s.form;
  size_t nb = (size_t)form->n_bodies, nj = (size_t)form->n_joints;
#define RESERVE(field, block, count)                                    \
  ((w->field = memory_block_reserve(&w->block, w->source, (count),      \
                                    sizeof *w->field)) != NULL)
  return (RESERVE(lambda, lambda_block, 6 * nj) &&
          RESERVE(joint_force, joint_force_block, 12 * nj) &&
          RESERVE(unchanged, unchanged_block, nb) &&
          RESERVE(v_alpha, v_alpha_block, nb) &&
          motion_reserve(&w->now, w->source, form->n_bodies) &&
          motion_reserve(&w->next, w->source, form->n_bodies)) ||
         whole_step_no_memory(w);
#undef RESERVE
}

static void start(whole_step *w) {
  const world_form *form = w->s.form;
  memset(w->lambda, 0, 6 * (size_t)form->n_joints * sizeof *w->lambda);
  memset(w->joint_force, 0,
         12 * (size_t)form->n_joints * sizeof *w->joint_force);
  w->now.time = form->time;
  w->n_events = 0;
  for (int b = 0; b < form->n_bodies; b++) {
    const form_body *body = &form->bodies[b];
    w->unchanged[b] = body_unchanged(w, body);
    w->now.poses[b] = body->home;
    memcpy(w->now.v + 6 * b, body->v, sizeof body->v);
  }
}

static void hand_over(whole_step *w, body_result bodies[],
                      joint_result joints[]) {
  const world_form *form = w->s.form;
  double h = form->step_size;
  for (int b = 0; b < form->n_bodies; b++) {
    body_result *out = &bodies[b];
    const form_body *body = &form->bodies[b];
    memset(out, 0, sizeof *out);
    out->kinematic = body->kinematic;
    memcpy(out->v, w->now.v + 6 * b, sizeof out->v);
    out->pushed = !body->kinematic;
    if (!out->pushed) continue;
    form_pose_velocity(out->push_out, body, &w->now.poses[b], h);
    for (int i = 0; i < 6; i++) out->push_out[i] -= out->v[i];
  }
  for (int j = 0; j < form->n_joints; j++) {
    joint_result *out = &joints[j];
    memset(out, 0, sizeof *out);
    out->count = form->joints[j].contact ? 6 : w->s.here.readings[j].rows.count;
    for (unsigned i = 0; i < out->count; i++)
      out->lambda[i] = w->lambda[6 * j + (int)i] / h;
    for (int i = 0; i < 12; i++)
      out->force[i / 6][i % 6] = w->joint_force[12 * j + i] / h;
  }
}

/* What the step found: the errors that measure asks for. */
static void measure_errors(whole_step *w) {
  const world_form *form = w->s.form;
  ode_mlcp_report *report = &form->result->report;
  for (int k = 0; k < w->s.here.n_contacts; k++)
    if (w->s.here.contacts[k].stop < 0)
      report->deepest_penetration =
          fmax(report->deepest_penetration, -w->s.here.contacts[k].gap);
  for (int j = 0; j < form->n_joints; j++)
    if (!form->joints[j].contact)
      report->worst_joint_error =
          fmax(report->worst_joint_error,
               joint_rows_error(form->joints[j].id, form->step_size));
}

static void fill_report(whole_step *w) {
  ode_mlcp_report *report = &w->s.form->result->report;
  const form_view *here = &w->s.here;
  report->contacts = 0;
  for (int k = 0; k < here->n_contacts; k++)
    report->contacts += here->contacts[k].active;
  report->linearised = here->linearised;
}

bool whole_step_solve(whole_step *w, dWorldID world, double step_size,
                      double time, const dStepperIsland *islands,
                      size_t n_islands, const ode_mlcp_options *options,
                      const force_list *forces, contact_source *contacts,
                      body_result bodies[], joint_result joints[],
                      island_result *result) {
  w->s.forces = forces;
  w->s.form->contacts = contacts;
  w->n_v_alpha = 0;
  if (!world_form_read(w->s.form, world, step_size, time, islands, n_islands,
                       options, result) ||
      !reserve(w) || !second_order_reserve(&w->s))
    return false;
  start(w);
  w->n_body_memory = 0;
  if (!arrive(w, NULL, step_size, true)) return false;
  if (options->measure) measure_errors(w);
  if (!run(w, options->events) ||
      !second_order_correct(&w->s, &w->ahead, &w->now))
    return false;
  if (memory_block_reserve(&w->body_memory_block, w->source,
                           (size_t)w->s.form->n_bodies,
                           sizeof(body_memory)) == NULL)
    return whole_step_no_memory(w);
  fill_report(w);
  hand_over(w, bodies, joints);
  return true;
}

/* --- v_alpha -------------------------------------------------------------- */

void keep_v_alpha(whole_step *w) {
  double alpha = second_order_alpha(w->s.form->options);
  w->n_v_alpha = w->s.form->n_bodies;
  for (int b = 0; b < w->n_v_alpha; b++) {
    w->v_alpha[b].serial = w->s.form->bodies[b].serial;
    for (int i = 0; i < 6; i++)
      w->v_alpha[b].v[i] =
          (1 - alpha) * w->now.v[6 * b + i] + alpha * w->next.v[6 * b + i];
  }
}

bool whole_step_v_alpha(const whole_step *w, dBodyID body,
                        double velocity[6]) {
  unsigned long serial = dBodyGetSerial(body);
  for (int b = 0; b < w->n_v_alpha; b++) {
    if (w->v_alpha[b].serial != serial) continue;
    memcpy(velocity, w->v_alpha[b].v, sizeof w->v_alpha[b].v);
    return true;
  }
  return false;
}
