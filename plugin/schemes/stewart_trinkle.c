#include "schemes/stewart_trinkle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/vec3.h"
#include "schemes/motion.h"
#include "schemes/rotation.h"

/* m: an overlap of less is none */
static const double VIOLATED = 1e-9;
/* solves of one linear problem with a growing active set */
enum { ROUNDS_MAX = 10 };
/* m: bodies that move less between two passes have found their place */
static const double SETTLED = 1e-11;

/* A contact that pushed, or touched, in the last step. */
typedef struct contact_memory {
  unsigned long serial[2], joint;
  int stop;
  double local[2][3];
  double impulse[6];
} contact_memory;

struct stewart_trinkle {
  const memory_source *source;
  world_form *form;
  const force_list *forces;
  form_view here;    /* at the start: masses, joint rows, stops */
  form_view ahead;   /* where contacts are linearised */
  form_view check;   /* at the end */
  form_view problem; /* joints and stops of `here`, contacts of `ahead`; bodies
                        and readings are borrowed */
  form_answer answer;
  host_body *moved;  /* [n_bodies] with their forces */
  motion guess;      /* where the contacts are linearised, and its velocity */
  motion end;
  double *force;     /* [6 n_bodies] */
  double *x_free;
  double *impulse;   /* [6 n_contacts] guesses */
  int *match;
  bool *taken;
  form_view before;  /* contacts of the pass before */
  int n_memory;
  memory_block known_block, moved_block, force_block, free_block,
      impulse_block, match_block, taken_block;
};

static bool no_memory(stewart_trinkle *s) {
  island_result *result = s->form->result;
  snprintf(result->message, sizeof result->message, "memory ran out");
  return false;
}

stewart_trinkle *stewart_trinkle_create(const memory_source *source) {
  stewart_trinkle *s = memory_allocate_zero(source, sizeof *s);
  if (s == NULL) return NULL;
  s->source = source;
  s->form = world_form_create(source);
  if (s->form == NULL) {
    source->release(source->context, s, sizeof *s);
    return NULL;
  }
  return s;
}

void stewart_trinkle_destroy(stewart_trinkle *s) {
  if (s == NULL) return;
  const memory_source *source = s->source;
  memory_block *blocks[] = {&s->known_block,   &s->moved_block,
                            &s->force_block,   &s->free_block,
                            &s->impulse_block, &s->match_block,
                            &s->taken_block};
  memory_blocks_release(blocks, sizeof blocks / sizeof blocks[0], source);
  form_view_release(&s->here, source);
  form_view_release(&s->ahead, source);
  form_view_release(&s->check, source);
  form_view_release(&s->before, source);
  memory_block_release(&s->problem.contact_block, source);
  form_answer_release(&s->answer, source);
  motion_release(&s->guess, source);
  motion_release(&s->end, source);
  world_form_destroy(s->form);
  source->release(source->context, s, sizeof *s);
}

static bool reserve_bodies(stewart_trinkle *s) {
  size_t n = (size_t)s->form->n_bodies;
#define RESERVE(field, block, count)                                    \
  ((s->field = memory_block_reserve(&s->block, s->source, (count),      \
                                    sizeof *s->field)) != NULL)
  return (RESERVE(moved, moved_block, n) && RESERVE(force, force_block, 6 * n) &&
          RESERVE(x_free, free_block, 6 * n) &&
          motion_reserve(&s->guess, s->source, s->form->n_bodies) &&
          motion_reserve(&s->end, s->source, s->form->n_bodies)) ||
         no_memory(s);
}

/* Room for what goes with the contacts of a view. */
static bool reserve_contacts(stewart_trinkle *s, int count) {
  size_t n = (size_t)count;
  return (RESERVE(match, match_block, n) && RESERVE(taken, taken_block, n)) ||
         no_memory(s);
}
#undef RESERVE

/* --- motion --------------------------------------------------------------- */

/* The pose to which the host moves a body. */
static void move_as_host(form_pose *out, const form_body *body,
                         const double velocity[6], double h) {
  double v[6];
  memcpy(v, velocity, sizeof v);
  double turning = vec3_length(v + 3), most = dBodyGetMaxAngularSpeed(body->id);
  if (turning > most)
    for (int i = 3; i < 6; i++) v[i] *= most / turning;
  if (dBodyGetFiniteRotationMode(body->id)) {
    form_pose_move(out, &body->home, v, h);
    return;
  }
  const double d[4] = {1, h / 2 * v[3], h / 2 * v[4], h / 2 * v[5]};
  vec3_copy(out->position, body->home.position);
  vec3_add_scaled(out->position, h, v);
  quaternion_multiply(out->quaternion, d, body->home.quaternion);
  quaternion_normalise(out->quaternion);
}

static void move_all(stewart_trinkle *s, motion *m) {
  for (int b = 0; b < s->form->n_bodies; b++)
    move_as_host(&m->poses[b], &s->form->bodies[b], m->v + 6 * b,
                 s->form->step_size);
}

/* Velocities without impulses: v + h M^-1 f, masses and gyroscopic torques
 * where the bodies of `at` are. */
static bool free_motion(stewart_trinkle *s, const form_view *at) {
  world_form *form = s->form;
  double h = form->step_size;
  size_t n = (size_t)form->n_bodies;
  memset(s->force, 0, 6 * n * sizeof *s->force);
  for (int b = 0; b < form->n_bodies; b++) {
    s->end.poses[b] = form->bodies[b].home;
    memcpy(s->end.v + 6 * b, form->bodies[b].v, sizeof form->bodies[b].v);
  }
  if (s->forces->first != NULL &&
      !forces_add(s->forces, form, form->time, s->end.poses, s->end.v, s->force,
                  NULL, NULL))
    return false;
  for (int j = 0; j < form->n_joints; j++)
    for (int side = 0; side < 2 && s->here.readings[j].rows.count > 0; side++)
      for (int i = 0; i < 6 && form->joints[j].body[side] >= 0; i++)
        s->force[6 * form->joints[j].body[side] + i] +=
            s->here.readings[j].rows.force[side][i];
  for (int b = 0; b < form->n_bodies; b++) {
    const form_body *body = &form->bodies[b];
    host_body *moved = &s->moved[b];
    *moved = at->bodies[b];
    memcpy(moved->v, body->v, sizeof moved->v);
    for (int i = 0; i < 6; i++)
      moved->force[i] = body->force[i] + s->force[6 * b + i];
    if (body->gyroscopic) host_body_add_gyroscopic_torque(moved, h);
    host_body_finish(moved, h);
    memcpy(s->x_free + 6 * b, moved->v_free, sizeof moved->v_free);
  }
  return true;
}

/* --- the problem's contacts ----------------------------------------------- */

static form_contact *add_contact(stewart_trinkle *s, const form_contact *from) {
  form_view *problem = &s->problem;
  form_contact *contacts =
      memory_block_grow(&problem->contact_block, s->source,
                        (size_t)problem->n_contacts + 1, sizeof *contacts);
  if (contacts == NULL) {
    no_memory(s);
    return NULL;
  }
  problem->contacts = contacts;
  form_contact *contact = &contacts[problem->n_contacts++];
  *contact = *from;
  contact->active = false;
  return contact;
}

/* The constraint as the row sees it, a gap at the step's start: the gap at
 * other poses less what h n'v has made of it, (25). Bounces, which events would
 * take, come back to the row. */
static void linearise(const stewart_trinkle *s, form_contact *contact,
                      const double v[]) {
  /* two bodies that overlap there will touch with their own surfaces */
  contact_reading *reading = &contact->reading;
  for (int side = 0; side < 2 && reading->body[1] >= 0; side++)
    vec3_add_scaled(reading->arm[side],
                    (side == 0 ? 0.5 : -0.5) * contact->gap, reading->normal);
  contact->gap -= s->form->step_size * form_contact_rate(contact, v);
  if (contact->stop >= 0) return;
  contact->contact.geom.depth = -contact->gap;
  if (contact->restitution > 0) contact->contact.surface.mode |= dContactBounce;
}

/* The array may have moved while it grew. */
static void point_at_contacts(form_view *view) {
  for (int k = 0; k < view->n_contacts; k++) {
    form_contact *contact = &view->contacts[k];
    contact->reading.contact = &contact->contact;
    contact->reading.polygon = contact->has_polygon ? &contact->polygon : NULL;
  }
}

/* Contacts of the program's joints and stops as they are at the start; those of
 * the collision function as they are at the guess. */
static bool gather_contacts(stewart_trinkle *s) {
  form_view *problem = &s->problem;
  problem->n_contacts = 0;
  for (int k = 0; k < s->here.n_contacts; k++) {
    const form_contact *contact = &s->here.contacts[k];
    if (contact->joint < 0) continue;
    form_contact *added = add_contact(s, contact);
    if (added == NULL) return false;
    if (added->stop < 0 && added->restitution > 0)
      added->contact.surface.mode |= dContactBounce;
    added->active = true;
  }
  for (int k = 0; k < s->ahead.n_contacts; k++) {
    const form_contact *contact = &s->ahead.contacts[k];
    if (contact->joint >= 0) continue;
    bool violated = contact->gap <= VIOLATED;
    form_contact *added = add_contact(s, contact);
    if (added == NULL) return false;
    linearise(s, added, s->guess.v);
    added->active = violated;
  }
  problem->readings = s->here.readings;
  problem->bodies = s->moved;
  problem->linearised = s->here.linearised;
  point_at_contacts(problem);
  return true;
}

/* --- the last step's contacts --------------------------------------------- */

/* How far apart the contacts of two poses may be and still be the same. */
static double match_radius(const stewart_trinkle *s) {
  double fastest = s->form->gravity * s->form->step_size;
  for (int b = 0; b < s->form->n_bodies; b++)
    fastest = fmax(fastest, vec3_length(s->form->bodies[b].v));
  return 1e-3 + 4 * s->form->step_size * fastest;
}

static unsigned long serial_of(const stewart_trinkle *s, int body) {
  return body >= 0 ? s->form->bodies[body].serial : 0;
}

static unsigned long joint_serial(const stewart_trinkle *s,
                                  const form_contact *contact) {
  return contact->stop >= 0
             ? dJointGetSerial(s->form->joints[contact->joint].id)
             : 0;
}

static double distance(const form_contact *contact, const contact_memory *m) {
  double nearest = INFINITY;
  for (int side = 0; side < 2 && contact->stop < 0; side++) {
    double apart[3];
    vec3_subtract(apart, contact->local[side], m->local[side]);
    nearest = fmin(nearest, vec3_length(apart));
  }
  return contact->stop < 0 ? nearest : 0;
}

/* What was active stays so, and starts from the impulses it had. */
static bool recall(stewart_trinkle *s) {
  const form_view *problem = &s->problem;
  const contact_memory *memory = s->known_block.data;
  double radius = match_radius(s);
  size_t n = (size_t)problem->n_contacts;
  s->impulse = memory_block_reserve(&s->impulse_block, s->source, 6 * n,
                                    sizeof *s->impulse);
  if (s->impulse == NULL || !reserve_contacts(s, problem->n_contacts))
    return no_memory(s);
  for (size_t i = 0; i < 6 * n; i++) s->impulse[i] = NAN;
  for (size_t k = 0; k < n; k++) s->taken[k] = false;

  for (int i = 0; i < s->n_memory; i++) {
    const contact_memory *m = &memory[i];
    double nearest = radius;
    int found = -1;
    for (int k = 0; k < problem->n_contacts; k++) {
      const form_contact *contact = &problem->contacts[k];
      if (s->taken[k] || contact->stop != m->stop ||
          serial_of(s, contact->reading.body[0]) != m->serial[0] ||
          serial_of(s, contact->reading.body[1]) != m->serial[1] ||
          joint_serial(s, contact) != m->joint)
        continue;
      double apart = distance(contact, m);
      if (apart > nearest) continue;
      nearest = apart;
      found = k;
    }
    if (found < 0) continue;
    s->taken[found] = true;
    problem->contacts[found].active = true;
    memcpy(s->impulse + 6 * found, m->impulse, sizeof m->impulse);
  }
  return true;
}

static bool remember(stewart_trinkle *s) {
  const form_view *problem = &s->problem;
  contact_memory *memory =
      memory_block_reserve(&s->known_block, s->source,
                           (size_t)problem->n_contacts, sizeof *memory);
  s->n_memory = 0;
  if (memory == NULL) return no_memory(s);
  for (int k = 0; k < problem->n_contacts; k++) {
    const form_contact *contact = &problem->contacts[k];
    const double *impulse = s->answer.contact_impulse + 6 * k;
    bool touches = impulse[0] > 0 ||
                   s->form->step_size * s->answer.contact_w[k] <= VIOLATED;
    if (!contact->active || !touches ||
        (contact->joint >= 0 && contact->stop < 0))
      continue;
    contact_memory *m = &memory[s->n_memory++];
    *m = (contact_memory){.joint = joint_serial(s, contact),
                          .stop = contact->stop};
    memcpy(m->impulse, impulse, sizeof m->impulse);
    for (int side = 0; side < 2; side++) {
      m->serial[side] = serial_of(s, contact->reading.body[side]);
      vec3_copy(m->local[side], contact->local[side]);
    }
  }
  return true;
}

/* --- solving -------------------------------------------------------------- */

static bool solve_once(stewart_trinkle *s) {
  world_form *form = s->form;
  form_request request = {
      .rows = FORM_STEP,
      .position_level = true,
      .step_size = form->step_size,
      .scale = 1,
      .x_free = s->x_free,
      .guess = s->impulse,
      .slip_floor = fmax(1e-3 * form->gravity * form->step_size, 1e-9)};
  return form_solve(form, &s->problem, &request, &s->answer);
}

/* With rows n'v+ >= 0 there is a solution, whatever the gaps: bodies that
 * overlap are not pushed apart (ST 3.3). */
static bool solve_at_velocity_level(stewart_trinkle *s) {
  for (int k = 0; k < s->problem.n_contacts; k++) {
    form_contact *contact = &s->problem.contacts[k];
    if (contact->gap >= 0) continue;
    contact->gap = 0;
    contact->contact.geom.depth = 0;
  }
  s->form->result->report.fallbacks++;
  return solve_once(s);
}

static bool solve(stewart_trinkle *s) {
  ode_mlcp_report *report = &s->form->result->report;
  int unsolved = report->unsolved, degraded = report->degraded;
  double residual = report->residual;
  if (!solve_once(s)) return false;
  if (report->unsolved > unsolved) {
    /* what counts is how the problem that is kept was solved */
    report->unsolved = unsolved;
    report->degraded = degraded + 1;
    report->residual = residual;
    if (!solve_at_velocity_level(s)) return false;
  }
  memcpy(s->end.v, s->answer.x,
         6 * (size_t)s->form->n_bodies * sizeof *s->end.v);
  move_all(s, &s->end);
  return true;
}

/* Guesses go on from the last solve. */
static bool keep_guesses(stewart_trinkle *s, int n_before) {
  size_t n = (size_t)s->problem.n_contacts;
  s->impulse = memory_block_reserve(&s->impulse_block, s->source, 6 * n,
                                    sizeof *s->impulse);
  if (s->impulse == NULL) return no_memory(s);
  for (int k = 0; k < s->problem.n_contacts; k++)
    for (int i = 0; i < 6; i++)
      s->impulse[6 * k + i] =
          k < n_before && s->problem.contacts[k].active
              ? s->answer.contact_impulse[6 * k + i]
              : NAN;
  return true;
}

/* Add what is violated where the bodies come to. @return how many, -1 where the
 * step cannot be taken. */
static int add_violated(stewart_trinkle *s) {
  if (!form_view_evaluate(s->form, &s->check, s->end.poses, s->end.v,
                          s->form->step_size))
    return -1;
  form_view *problem = &s->problem;
  int most = problem->n_contacts > s->check.n_contacts ? problem->n_contacts
                                                       : s->check.n_contacts;
  if (!reserve_contacts(s, most)) return -1;
  form_view_match(&s->check, problem, match_radius(s), s->match, s->taken);
  int n_before = problem->n_contacts, added = 0;
  for (int k = 0; k < s->check.n_contacts; k++) {
    const form_contact *found = &s->check.contacts[k];
    if (found->joint >= 0 || !(found->gap < -VIOLATED)) continue;
    if (s->match[k] >= 0) {
      form_contact *known = &problem->contacts[s->match[k]];
      added += !known->active;
      known->active = true;
      continue;
    }
    form_contact *contact = add_contact(s, found);
    if (contact == NULL) return -1;
    linearise(s, contact, s->end.v);
    contact->active = true;
    added++;
  }
  point_at_contacts(problem);
  return added > 0 && !keep_guesses(s, n_before) ? -1 : added;
}

/* The linear scheme at the present guess. */
static bool solve_linear(stewart_trinkle *s, bool look_back) {
  ode_mlcp_report *report = &s->form->result->report;
  for (int round = 1;; round++) {
    if (!solve(s)) return false;
    if (round > report->rounds) report->rounds = round;
    if (!look_back) return true;
    int added = add_violated(s);
    if (added <= 0) return added == 0;
    if (round == ROUNDS_MAX) {
      report->not_converged = 1;
      return true;
    }
  }
}

/* --- the nonlinear version ------------------------------------------------ */

/* Contacts that were active in the pass before stay so. */
static bool carry_over(stewart_trinkle *s) {
  form_view *problem = &s->problem;
  int most = problem->n_contacts > s->before.n_contacts ? problem->n_contacts
                                                        : s->before.n_contacts;
  if (!reserve_contacts(s, most)) return false;
  form_view_match(problem, &s->before, match_radius(s), s->match, s->taken);
  for (int k = 0; k < problem->n_contacts; k++) {
    if (s->match[k] < 0 || !s->before.contacts[s->match[k]].active) continue;
    problem->contacts[k].active = true;
    for (int i = 0; i < 6; i++)
      s->impulse[6 * k + i] = s->answer.contact_impulse[6 * s->match[k] + i];
  }
  return true;
}

static bool keep_contacts(stewart_trinkle *s) {
  size_t n = (size_t)s->problem.n_contacts;
  s->before.contacts = memory_block_reserve(
      &s->before.contact_block, s->source, n, sizeof *s->before.contacts);
  if (s->before.contacts == NULL) return no_memory(s);
  if (n > 0)
    memcpy(s->before.contacts, s->problem.contacts,
           n * sizeof *s->before.contacts);
  s->before.n_contacts = (int)n;
  return true;
}

/* How far bodies end from where the contacts were taken, m or rad. */
static double distance_from_guess(const stewart_trinkle *s) {
  double most = 0;
  for (int i = 0; i < 6 * s->form->n_bodies; i++)
    most = fmax(most,
                s->form->step_size * fabs(s->end.v[i] - s->guess.v[i]));
  return most;
}

/* See what the guess brings into touch. */
static bool look(stewart_trinkle *s) {
  move_all(s, &s->guess);
  return form_view_evaluate(s->form, &s->ahead, s->guess.poses, s->guess.v,
                            s->form->step_size);
}

static bool iterate(stewart_trinkle *s) {
  ode_mlcp_report *report = &s->form->result->report;
  int passes = s->form->options->fixed_point;
  for (int pass = 0;; pass++) {
    /* the first pass takes masses and forces where the bodies are */
    if (!look(s) || !free_motion(s, pass == 0 ? &s->here : &s->ahead) ||
        !gather_contacts(s) || !recall(s) || (pass > 0 && !carry_over(s)) ||
        !solve_linear(s, passes == 0))
      return false;
    double change = distance_from_guess(s);
    if (passes == 0) return true;
    report->fixed_point_passes = pass + 1;
    report->fixed_point_change = change;
    if (pass > 0 && change <= SETTLED) return true;
    if (pass == passes) {
      report->not_converged = 1;
      return true;
    }
    memcpy(s->guess.v, s->end.v,
           6 * (size_t)s->form->n_bodies * sizeof *s->guess.v);
    if (!keep_contacts(s)) return false;
  }
}

/* --- a step --------------------------------------------------------------- */

static void add_contact_force(const stewart_trinkle *s, int k,
                              joint_result *out) {
  double h = s->form->step_size;
  for (int i = 0; i < 12; i++)
    out->force[i / 6][i % 6] += s->answer.contact_force[k][i / 6][i % 6] / h;
  if (s->problem.contacts[k].stop >= 0) return;
  out->count = (unsigned)s->answer.contact_rows[k].n_rows;
  for (unsigned i = 0; i < out->count; i++)
    out->lambda[i] = s->answer.contact_impulse[6 * k + (int)i] / h;
}

/* What the collision function found at the start of the step has a joint of its
 * own: it is told the force of the same contact in the problem. */
static bool tell_found_contacts(stewart_trinkle *s, joint_result joints[]) {
  const world_form *form = s->form;
  const source_contact *list = form->contacts->list.contacts;
  int most = s->here.n_contacts > s->problem.n_contacts ? s->here.n_contacts
                                                        : s->problem.n_contacts;
  if (!reserve_contacts(s, most)) return false;
  form_view_match(&s->here, &s->problem, match_radius(s), s->match, s->taken);
  for (int j = 0; j < form->n_joints; j++) {
    if (!form->joints[j].from_source) continue;
    const source_contact *found =
        contact_source_find(form->contacts, form->joints[j].id);
    for (int k = 0; k < s->here.n_contacts; k++) {
      if (s->here.contacts[k].found != found - list) continue;
      if (s->match[k] >= 0) add_contact_force(s, s->match[k], &joints[j]);
      break;
    }
  }
  return true;
}

static void hand_over(const stewart_trinkle *s, body_result bodies[],
                      joint_result joints[]) {
  const world_form *form = s->form;
  double h = form->step_size;
  for (int b = 0; b < form->n_bodies; b++) {
    memset(&bodies[b], 0, sizeof bodies[b]);
    bodies[b].kinematic = form->bodies[b].kinematic;
    memcpy(bodies[b].v, s->end.v + 6 * b, sizeof bodies[b].v);
  }
  for (int j = 0; j < form->n_joints; j++) {
    const dStepperJointRows *rows = &s->here.readings[j].rows;
    joint_result *out = &joints[j];
    memset(out, 0, sizeof *out);
    out->count = rows->count;
    for (unsigned r = 0; r < rows->count; r++) {
      out->lambda[r] = s->answer.joint_impulse[6 * j + (int)r] / h;
      for (int i = 0; i < 12; i++)
        out->force[i / 6][i % 6] += out->lambda[r] * rows->J[r][i / 6][i % 6];
    }
  }
  for (int k = 0; k < s->problem.n_contacts; k++) {
    const form_contact *contact = &s->problem.contacts[k];
    if (contact->joint < 0) continue;
    add_contact_force(s, k, &joints[contact->joint]);
  }
}

static void fill_report(stewart_trinkle *s) {
  ode_mlcp_report *report = &s->form->result->report;
  report->linearised = s->problem.linearised;
  report->contacts = report->contacts_new = 0;
  double radius = match_radius(s);
  const contact_memory *memory = s->known_block.data;
  for (int k = 0; k < s->problem.n_contacts; k++) {
    const form_contact *contact = &s->problem.contacts[k];
    if (!contact->active || contact->stop >= 0) continue;
    report->contacts++;
    bool known = false;
    for (int i = 0; i < s->n_memory && !known; i++)
      known = memory[i].stop < 0 &&
              memory[i].serial[0] == serial_of(s, contact->reading.body[0]) &&
              memory[i].serial[1] == serial_of(s, contact->reading.body[1]) &&
              distance(contact, &memory[i]) <= radius;
    report->contacts_new += !known;
  }
}

bool stewart_trinkle_solve(stewart_trinkle *s, dWorldID world, double step_size,
                           double time, const dStepperIsland *islands,
                           size_t n_islands, const ode_mlcp_options *options,
                           const force_list *forces, contact_source *contacts,
                           body_result bodies[], joint_result joints[],
                           island_result *result) {
  s->forces = forces;
  s->form->contacts = contacts;
  if (!world_form_read(s->form, world, step_size, time, islands, n_islands,
                       options, result) ||
      !reserve_bodies(s) ||
      !form_view_evaluate(s->form, &s->here, NULL, NULL, step_size))
    return false;
  for (int b = 0; b < s->form->n_bodies; b++)
    memcpy(s->guess.v + 6 * b, s->form->bodies[b].v,
           sizeof s->form->bodies[b].v);
  if (!iterate(s)) return false;
  fill_report(s);
  if (!remember(s)) return false;
  hand_over(s, bodies, joints);
  return tell_found_contacts(s, joints);
}
