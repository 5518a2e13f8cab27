#include "command/compare_measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/disjoint_sets.h"
#include "common/minmax.h"
#include "common/vec3.h"
#include "host/bodies.h"
#include "world/rotation.h"

/* ---- bodies ---- */

/* Kinetic energy of a body's turning, J, in its own frame. */
static double spin_energy(const measured_body *body, const double R[9],
                          const double w[3]) {
  double own_w[3], L[3];
  for (int i = 0; i < 3; i++)
    own_w[i] = R[i] * w[0] + R[3 + i] * w[1] + R[6 + i] * w[2];
  mat3_apply(L, body->told->kind.inertia, own_w);
  return vec3_dot(L, own_w) / 2;
}

static double kinetic_energy(const measured_body *body, const double R[9],
                             const double v[3], const double w[3]) {
  return body->told->kind.mass * vec3_dot(v, v) / 2 + spin_energy(body, R, w);
}

/* The angular velocity that turned the body by the host's own rule: a step along
 * the quaternion's rate, normalised, which turns by 2 atan(h w/2). */
static void turning_velocity(const measured_body *body, double h, double w[3]) {
  const double *q = body->told->before.quaternion;
  const double *now = body->told->after.quaternion;
  double s = now[0] * q[0] + now[1] * q[1] + now[2] * q[2] + now[3] * q[3];
  double x[3];
  x[0] = now[1] * q[0] - now[0] * q[1] - now[2] * q[3] + now[3] * q[2];
  x[1] = now[2] * q[0] - now[0] * q[2] - now[3] * q[1] + now[1] * q[3];
  x[2] = now[3] * q[0] - now[0] * q[3] - now[1] * q[2] + now[2] * q[1];
  double length = vec3_length(x);
  double half = atan2(length, fabs(s));
  double rate = body->told->kind.flags & TRAFFIC_FINITE_ROTATION
                    ? 2 * half / h
                    : 2 * tan(half) / h;
  double scale = length > 0 ? (s < 0 ? -rate : rate) / length : 0;
  for (int i = 0; i < 3; i++) w[i] = scale * x[i];
}

/* What the step solved for is its velocity where nothing was damped since; a
 * damped one is what moved the body. */
static void read_motion(measured_body *body, double h, bool moves_by_velocity) {
  const traffic_body *told = body->told;
  const traffic_state *now = &told->after;
  for (int i = 0; i < 3; i++)
    body->moved_v[i] = (now->position[i] - told->before.position[i]) / h;
  // of what moves by its velocity nobody asks how it turned
  if (!moves_by_velocity) turning_velocity(body, h, body->moved_w);

  double linear = told->kind.linear_damping,
         angular = told->kind.angular_damping;
  memcpy(body->solved_v, now->v, sizeof body->solved_v);
  memcpy(body->solved_w, now->w, sizeof body->solved_w);
  if (linear > 0 && linear < 1)
    for (int i = 0; i < 3; i++) {
      double undamped = body->solved_v[i] / (1 - linear);
      bool damped = moves_by_velocity
                        ? fabs(body->moved_v[i] - undamped) <
                              fabs(body->moved_v[i] - body->solved_v[i])
                        : vec3_length(now->v) > told->kind.linear_threshold;
      if (damped) body->solved_v[i] = undamped;
    }
  if (angular > 0 && angular < 1) {
    double undamped = vec3_length(body->solved_w) / (1 - angular);
    if (undamped > told->kind.angular_threshold)
      for (int i = 0; i < 3; i++) body->solved_w[i] /= 1 - angular;
  }
  double part = body->dynamic ? h / 2 : 0;
  for (int i = 0; i < 3; i++) {
    body->way[i] = (told->before.v[i] + body->solved_v[i]) * part;
    body->turn[i] = (told->before.w[i] + body->solved_w[i]) * part;
  }
}

static void read_body(measured_body *body, const traffic_body *told, double h,
                      bool moves_by_velocity) {
  double before[9];
  body->told = told;
  body->dynamic = told->kind.flags & TRAFFIC_DYNAMIC;
  body->awake = told->awake;
  body->awake_after = told->awake_after;
  body->free_known = false;
  quaternion_to_rotation(before, told->before.quaternion);
  quaternion_to_rotation(body->rotation, told->after.quaternion);
  body->energy = kinetic_energy(body, before, told->before.v, told->before.w);
  read_motion(body, h, moves_by_velocity);
}

/* ---- before the step ---- */

static double opening_of(const measured_contact *contact, int side,
                         const double v[3], const double w[3]) {
  double speed = vec3_dot(contact->told->asked.geom.normal, v) +
                 vec3_dot(contact->levers[side], w);
  return side == 0 ? speed : -speed;
}

/* Asked for only where a contact bounces: most bodies of most programs have
 * none that does. */
static void find_free_velocity(const measurement *m, measured_body *body) {
  const traffic_body *told = body->told;
  double inverse[9], v_free[6];
  if (body->free_known) return;
  body->free_known = true;
  memcpy(body->free_v, told->before.v, sizeof body->free_v);
  memcpy(body->free_w, told->before.w, sizeof body->free_w);
  if (!body->dynamic || !(told->kind.mass > 0) ||
      !mat3_invert(inverse, told->kind.inertia))
    return;
  host_body read = {.mass = told->kind.mass};
  quaternion_to_rotation(read.rotation, told->before.quaternion);
  mat3_rotate(read.inertia, read.rotation, told->kind.inertia);
  mat3_rotate(read.inverse_inertia, read.rotation, inverse);
  for (int i = 0; i < 3; i++) {
    read.v[i] = told->before.v[i];
    read.v[3 + i] = told->before.w[i];
    read.force[i] = told->force[i];
    read.force[3 + i] = told->torque[i];
    if (told->kind.flags & TRAFFIC_FALLS)
      read.force[i] += told->kind.mass * m->step->gravity[i];
  }
  if (told->kind.flags & TRAFFIC_GYROSCOPIC)
    host_body_add_gyroscopic_torque(&read, m->h);
  host_body_free_velocity(&read, m->h, v_free);
  memcpy(body->free_v, v_free, sizeof body->free_v);
  memcpy(body->free_w, v_free + 3, sizeof body->free_w);
}

static void read_contact(const measurement *m, measured_contact *contact,
                         const traffic_contact *told) {
  contact->told = told;
  contact->error = 0;
  contact->normal_force = 0;
  for (int side = 0; side < 2; side++) {
    uint32_t place = told->bodies[side];
    measured_body *body = place > 0 ? &m->bodies[place - 1] : NULL;
    contact->bodies[side] = body;
    contact->before[side] = contact->alone[side] = 0;
    if (body == NULL) continue;
    double arm[3];
    vec3_subtract(arm, told->asked.geom.pos, body->told->before.position);
    vec3_cross(contact->levers[side], arm, told->asked.geom.normal);
    if (!(told->asked.surface.mode & dContactBounce)) continue;
    find_free_velocity(m, body);
    const traffic_state *before = &body->told->before;
    contact->before[side] = opening_of(contact, side, before->v, before->w);
    contact->alone[side] =
        opening_of(contact, side, body->free_v, body->free_w);
  }
}

/* ---- the law of contact ---- */

static double normal_force(const measured_contact *contact) {
  // f1 is the second body's where the first is the world
  return fabs(
      vec3_dot(contact->told->force.f1, contact->told->asked.geom.normal));
}

/* What a newton changes in a step, m/s: of the centres alone. */
static double mobility_of(const measured_contact *contact, double h) {
  double mobility = 0;
  for (int side = 0; side < 2; side++)
    if (contact->bodies[side] != NULL && contact->bodies[side]->dynamic)
      mobility += h / contact->bodies[side]->told->kind.mass;
  return mobility;
}

/* The speed at which the program asks the contact to open, m/s: a correction
 * of what is left of its depth. What is apart may come as close as it is, but
 * for a stock stepper, to which it touches. */
static double correction_asked(const measurement *m,
                               const measured_contact *contact) {
  const traffic_step *world = m->step;
  const dSurfaceParameters *surface = &contact->told->asked.surface;
  double erp = surface->mode & dContactSoftERP ? surface->soft_erp : world->erp;
  double depth = contact->told->asked.geom.depth - world->layer;
  double motion = surface->mode & dContactMotionN ? surface->motionN : 0;
  double approach = m->law == LAW_OF_VELOCITY
                        ? 0
                        : larger_of(0, -contact->told->asked.geom.depth) / m->h;
  return smaller_of(erp / m->h * larger_of(0, depth) + motion, world->fastest) -
         approach;
}

/* Whether a contact that bounces is left to the next step: it is apart, and the
 * bodies by themselves would not close it in this one. */
static bool waits(const measurement *m, const measured_contact *contact) {
  double h = m->h;
  const dSurfaceParameters *surface = &contact->told->asked.surface;
  double gap = -contact->told->asked.geom.depth;
  double alone = contact->alone[0] + contact->alone[1];
  // these move by the mean of the velocities at both ends
  if (m->law == LAW_OF_IMPULSE)
    alone = (alone + contact->before[0] + contact->before[1]) / 2;
  return m->law != LAW_OF_VELOCITY && surface->mode & dContactBounce &&
         surface->bounce > 0 && gap > larger_of(0, surface->bounce_vel) * h &&
         gap + h * alone > 0;
}

/* By how much of the approach the bodies part again: the host's rule. */
static double bounce_asked(const measured_contact *contact, double before) {
  const dSurfaceParameters *surface = &contact->told->asked.surface;
  double motion = surface->mode & dContactMotionN ? surface->motionN : 0;
  double incoming = motion - before;
  if (!(surface->mode & dContactBounce) || surface->bounce_vel < 0 ||
      incoming <= surface->bounce_vel)
    return -INFINITY;
  return surface->bounce * incoming + motion;
}

/* The same where the bodies are hit, on their way through the step: with the
 * acceleration that they have by themselves they rise as high as the bounce
 * says. The surface was met in this step, so no further off than the bodies
 * come in it. */
static double bounce_on_the_way(const measured_contact *contact, double h,
                                double before, double alone) {
  const dSurfaceParameters *surface = &contact->told->asked.surface;
  double motion = surface->mode & dContactMotionN ? surface->motionN : 0;
  double by_rule = bounce_asked(contact, before);
  double gain = alone - before;              /* m/s in the step */
  double speed = before - motion + gain / 2; /* in the middle of it */
  if (!isfinite(by_rule) || speed >= 0) return by_rule;
  double way = larger_of(-contact->told->asked.geom.depth, h * speed);
  double lost = 2 * gain / h * way; /* (m/s)^2, up to the surface */
  double square =
      surface->bounce * surface->bounce * (speed * speed - lost) + lost;
  return square > 0 ? gain / 2 + sqrt(square) + motion : -INFINITY;
}

/* The same where the step is cut when they meet: with a constant acceleration until
 * then and from there on. */
static double bounce_at_event(const measured_contact *contact, double h,
                              double before, double alone) {
  double gap = larger_of(-contact->told->asked.geom.depth, 0);
  double gain = (alone - before) / h; /* m/s^2 */
  double square = before * before - 2 * gain * gap;
  if (square < 0) return -INFINITY;
  double met = -sqrt(square); /* m/s: what closes is below 0 */
  double when = gain != 0 ? (met - before) / gain : gap / -before;
  double parts = bounce_asked(contact, met);
  return when <= h ? parts + gain * (h - larger_of(when, 0)) : -INFINITY;
}

static double opening(const measured_contact *contact, bool moved) {
  double sum = 0;
  for (int side = 0; side < 2; side++) {
    const measured_body *body = contact->bodies[side];
    if (body != NULL)
      sum += opening_of(contact, side, moved ? body->moved_v : body->solved_v,
                        moved ? body->moved_w : body->solved_w);
  }
  return sum;
}

/* How far `left` >= 0, `pushed` >= 0, one of them 0 is missed. */
static double complementarity(double left, double pushed) {
  return fabs(smaller_of(left, pushed));
}

/* A force that gives way by more than this part of what it moves. */
static const double SOFT = 1e-3;

typedef struct law_case {
  double opening, moved; /* m/s: velocity, and what moved the bodies */
  double correction, bounce, softness; /* m/s; softness: CFM times force */
  double overlap;                      /* m/s: all of the depth in this step */
  double apart;  /* m: at the end; told of what was apart at the start */
  double driven; /* m/s: dContactMotionN */
  bool is_soft;
  double pushed; /* m/s: the force as the velocity that it gives */
} law_case;

/* How far a value is above a range, or, below 0, below it. */
static double beyond(double value, double from, double to) {
  return value > to ? value - to : smaller_of(value - from, 0);
}

/* Of a contact that closes within a step with events: it ends no deeper than
 * touching, and has a force only if it was met, from which it parts as it bounces. */
static double event_gap(const measurement *m, const law_case *c) {
  if (c->apart > 0 && c->pushed == 0) return 0;
  double parts = larger_of(c->bounce, c->driven);
  return larger_of(complementarity(c->opening - parts, c->pushed),
                   -c->apart / m->h);
}

static double law_gap(const measurement *m, const law_case *c) {
  double asked = larger_of(c->correction, c->bounce);
  if (m->law == LAW_OF_IMPULSE && c->overlap < 0 && !c->is_soft)
    return event_gap(m, c);
  if (m->law == LAW_OF_VELOCITY)
    return complementarity(c->opening + c->softness - asked, c->pushed);

  // of a correction, any part may be motion without velocity: the velocity is
  // anywhere between none of it and all, and what is moved makes up for it
  double still = larger_of(smaller_of(c->correction, 0), c->bounce);
  double most = m->law == LAW_OF_GAP ? larger_of(asked, c->overlap) : asked;
  double gap =
      complementarity(beyond(c->opening + c->softness, still, most), c->pushed);
  if (c->is_soft) {
    // bodies that were put into each other have no spring between them until
    // they are apart; and one gives way under the push that moves its bodies,
    // which nobody is told
    return smaller_of(
        gap, complementarity(beyond(c->opening, still, most), c->pushed));
  }
  if (m->law == LAW_OF_IMPULSE) asked = still;
  double lag =
      asked - larger_of(c->moved + c->softness, c->opening + c->softness);
  return larger_of(gap, lag);
}

static bool may_sleep(const measured_body *body) {
  return body != NULL && body->told->kind.flags & TRAFFIC_MAY_SLEEP;
}

static bool is_awake(const measured_body *body) {
  return body != NULL && body->dynamic && body->awake_after;
}

/* A body that the host puts to sleep as the step begins, only to wake it for
 * its neighbours, has lost its velocity, which cannot be seen from here: the
 * bounce asked for is the one that fits best with or without it. */
static double gap_of(const measurement *m, const measured_contact *contact,
                     double force) {
  const traffic_step *world = m->step;
  const dSurfaceParameters *surface = &contact->told->asked.surface;
  double cfm = surface->mode & dContactSoftCFM ? surface->soft_cfm : world->cfm;
  double mobility = mobility_of(contact, m->h);
  if (waits(m, contact)) return mobility * force;
  law_case c = {
      .opening = opening(contact, false),
      .moved = m->law == LAW_OF_VELOCITY ? 0 : opening(contact, true),
      .correction = correction_asked(m, contact),
      .softness = cfm * force,
      .overlap = contact->told->asked.geom.depth / m->h,
      .driven = surface->mode & dContactMotionN ? surface->motionN : 0,
      .is_soft = cfm > SOFT * mobility,
      .pushed = mobility * force};
  c.apart = m->h * (c.moved - c.overlap);
  bool bounces = surface->mode & dContactBounce;
  double least = INFINITY;
  for (int choice = 0; choice < (bounces ? 8 : 1); choice++) {
    bool first = choice & 1, second = choice & 2, on_the_way = choice & 4;
    if ((first && !may_sleep(contact->bodies[0])) ||
        (second && !may_sleep(contact->bodies[1])) ||
        (on_the_way && m->law == LAW_OF_VELOCITY))
      continue;
    double before =
        (first ? 0 : contact->before[0]) + (second ? 0 : contact->before[1]);
    // of one that has fallen asleep the gain is what it would get awake
    double alone = before + contact->alone[0] - contact->before[0] +
                   contact->alone[1] - contact->before[1];
    c.bounce = !on_the_way ? bounce_asked(contact, before)
               : m->law == LAW_OF_IMPULSE
                   ? bounce_at_event(contact, m->h, before, alone)
                   : bounce_on_the_way(contact, m->h, before, alone);
    double gap = law_gap(m, &c);
    if (!(gap >= least)) least = gap; /* a NaN stays */
  }
  return least;
}

static bool same_pair(const measured_contact *a, const measured_contact *b) {
  return a->bodies[0] == b->bodies[0] && a->bodies[1] == b->bodies[1];
}

static bool same_point(const measured_contact *a, const measured_contact *b) {
  const double APART = 1e-4; /* m */
  double square = 0;
  for (int i = 0; i < 3; i++) {
    double d = a->told->asked.geom.pos[i] - b->told->asked.geom.pos[i];
    if (fabs(d) > APART) return false; // so are most, by their first number
    square += d * d;
  }
  return square <= APART * APART;
}

/* Points of one pair that are as good as one: which of them is told the force
 * that they share is the stepper's choice. A pair's contacts are made one after
 * the other. */
static double shared_force(const measurement *m, size_t at) {
  enum { NEIGHBOURS = 16 };
  const measured_contact *contact = &m->contacts[at], *other;
  double sum = contact->normal_force;
  int sharing = 1;
  for (size_t i = at; i > 0 && at - i < NEIGHBOURS; i--) {
    if (!same_pair(other = &m->contacts[i - 1], contact)) break;
    if (!same_point(other, contact)) continue;
    sum += other->normal_force;
    sharing++;
  }
  for (size_t i = at + 1; i < m->step->n_contacts && i - at <= NEIGHBOURS;
       i++) {
    if (!same_pair(other = &m->contacts[i], contact)) break;
    if (!same_point(other, contact)) continue;
    sum += other->normal_force;
    sharing++;
  }
  return sum / sharing;
}

/* By how much friction exceeds what the normal force allows, as the velocity
 * that the excess gives, m/s. */
static double cone_excess(const measured_contact *contact, double h) {
  const dSurfaceParameters *surface = &contact->told->asked.surface;
  const dReal *n = contact->told->asked.geom.normal;
  if (!(surface->mu < dInfinity)) return 0;
  double tangential[3];
  vec3_copy(tangential, contact->told->force.f1);
  vec3_add_scaled(tangential, -vec3_dot(tangential, n), n);
  double friction = vec3_length(tangential), limit;
  double mu = surface->mu;
  if (surface->mode & dContactMu2) {
    // the larger of the two: an ellipse's or a box's own excess is not less
    if (!(surface->mu2 < dInfinity)) return 0;
    mu = larger_of(mu, surface->mu2);
  }
  if (surface->mode & dContactApprox1_1)
    limit = mu * contact->normal_force;
  else
    limit = M_SQRT2 * mu; /* a force, N, in each of two directions */
  return mobility_of(contact, h) * larger_of(0, friction - limit);
}

/* places: of two bodies among the step's, from 1; what does not move ties nothing. */
static void tie(const measurement *m, const uint32_t places[2], bool counts) {
  int moving[2], n = 0;
  for (int side = 0; side < 2; side++)
    if (places[side] > 0 && m->bodies[places[side] - 1].dynamic)
      moving[n++] = (int)places[side] - 1;
  if (counts && n > 0) m->group_ties[set_of(m->groups, moving[0])]++;
  if (!counts && n == 2) unite_sets(m->groups, moving[0], moving[1]);
}

/* Bodies that joints, and contacts with a force, tie together: m->groups, with how many
 * of those each has. */
static void find_groups(const measurement *m, const traffic_joint *joints) {
  const traffic_step *step = m->step;
  for (uint32_t b = 0; b < step->n_bodies; b++) {
    m->groups[b] = (int)b;
    m->group_ties[b] = 0;
  }
  // first whom they tie, then how often
  for (int counts = 0; counts < 2; counts++) {
    for (size_t i = 0; i < step->n_joints; i++)
      tie(m, joints[i].bodies, counts);
    for (size_t i = 0; i < step->n_contacts; i++)
      if (m->contacts[i].normal_force > 0)
        tie(m, m->contacts[i].told->bodies, counts);
  }
}

/* Whether a contact that was apart, or closed faster than bodies at rest do, was struck
 * in the step and parted again as others or joints of its bodies would have it: only
 * of one that is struck alone is known how fast it should part. */
static bool parted_by_others(const measurement *m,
                             const measured_contact *contact) {
  const double APART = 1e-3; // of what bodies fall in a step
  double fall = m->h * vec3_length(m->step->gravity), before = 0;
  double depth = contact->told->asked.geom.depth;
  bool others = false;
  for (int side = 0; side < 2; side++) {
    const measured_body *body = contact->bodies[side];
    if (body == NULL) continue;
    before +=
        opening_of(contact, side, body->told->before.v, body->told->before.w);
    int group = set_of(m->groups, (int)(body - m->bodies));
    others |= body->dynamic && m->group_ties[group] > 1;
  }
  return others && contact->normal_force > 0 &&
         (before < -fall || depth < -APART * m->h * fall) &&
         m->h * opening(contact, true) - depth > 0;
}

static void measure_contacts(const measurement *m, const traffic_joint *joints,
                             recording_step *out) {
  const double NOTHING = 1e-9; /* m/s: below it no second reading is tried */
  for (size_t i = 0; i < m->step->n_contacts; i++)
    m->contacts[i].normal_force = normal_force(&m->contacts[i]);
  if (m->law == LAW_OF_IMPULSE) find_groups(m, joints);
  for (size_t i = 0; i < m->step->n_contacts; i++) {
    measured_contact *contact = &m->contacts[i];
    if (contact->bodies[0] == NULL && contact->bodies[1] == NULL) continue;
    out->contacts++;
    double depth = contact->told->asked.geom.depth;
    if (!(depth <= out->penetration)) out->penetration = depth;
    if (!is_awake(contact->bodies[0]) && !is_awake(contact->bodies[1]))
      continue;
    double error = gap_of(m, contact, contact->normal_force);
    if (error > NOTHING) {
      double shared = shared_force(m, i);
      if (shared != contact->normal_force)
        error = smaller_of(error, gap_of(m, contact, shared));
    }
    if (error > NOTHING && m->law == LAW_OF_IMPULSE &&
        parted_by_others(m, contact))
      error = 0;
    contact->error = error;
    if (!(error <= out->contact_error)) out->contact_error = error;
    double excess = cone_excess(contact, m->h);
    if (!(excess <= out->cone_violation)) out->cone_violation = excess;
  }
}

/* ---- energy and momentum ---- */

/* Work, J, and impulse, N s, of a joint on one of its bodies, by the mean of
 * the velocities before and after the step: so an impulse's work is exact. */
static double work_on(const measured_body *body, const double force[3],
                      const double torque[3], double h, double impulse[3]) {
  if (body == NULL || !body->dynamic) return 0;
  vec3_add_scaled(impulse, h, force);
  return vec3_dot(force, body->way) + vec3_dot(torque, body->turn);
}

static double work_of(const measured_body *first, const measured_body *second,
                      const dJointFeedback *force, double h,
                      double impulse[3]) {
  // a joint between the world and a body reports the body's as the first
  if (first == NULL) return work_on(second, force->f1, force->t1, h, impulse);
  return work_on(first, force->f1, force->t1, h, impulse) +
         work_on(second, force->f2, force->t2, h, impulse);
}

static const measured_body *body_at(const measurement *m, uint32_t place) {
  return place > 0 ? &m->bodies[place - 1] : NULL;
}

static void measure_energy(measurement *m, const traffic_joint *joints,
                           recording_step *out) {
  double h = m->h, change = 0, explained = 0, by_contacts = 0;
  double momentum[3] = {0}, impulse[3] = {0};
  for (size_t i = 0; i < m->step->n_bodies; i++) {
    const measured_body *body = &m->bodies[i];
    const traffic_body *told = body->told;
    if (!body->dynamic) continue;
    double g[3] = {0};
    if (told->kind.flags & TRAFFIC_FALLS) vec3_copy(g, m->step->gravity);
    double potential = -told->kind.mass * vec3_dot(g, told->after.position);
    double kinetic =
        kinetic_energy(body, body->rotation, body->solved_v, body->solved_w);
    out->potential += potential;
    out->kinetic += kinetic;
    double speed = vec3_length(body->solved_v);
    if (!(speed <= out->fastest)) out->fastest = speed;
    if (!body->awake_after || !body->awake) continue;

    double fallen = -told->kind.mass * vec3_dot(g, told->before.position);
    change += kinetic + potential - body->energy - fallen;
    double nothing[3] = {0};
    explained += work_on(body, told->force, told->torque, h, nothing);
    for (int k = 0; k < 3; k++)
      momentum[k] +=
          told->kind.mass * (body->solved_v[k] - told->before.v[k] - h * g[k]) -
          h * told->force[k];
  }
  for (size_t i = 0; i < m->step->n_contacts; i++) {
    const measured_contact *contact = &m->contacts[i];
    by_contacts += work_of(contact->bodies[0], contact->bodies[1],
                           &contact->told->force, h, impulse);
  }
  for (size_t i = 0; i < m->step->n_joints; i++)
    explained +=
        work_of(body_at(m, joints[i].bodies[0]),
                body_at(m, joints[i].bodies[1]), &joints[i].force, h, impulse);
  vec3_add_scaled(momentum, -1, impulse);
  if (by_contacts > 0) m->contact_work += by_contacts;
  m->energy += change - explained - by_contacts;
  out->energy_unexplained = m->energy;
  out->contact_work = m->contact_work;
  out->momentum_unexplained = vec3_length(momentum);
}

/* ---- the step ---- */

static void *room(void *items, size_t n, size_t *size, size_t item) {
  if (n <= *size) return items;
  free(items);
  *size = 2 * n;
  items = malloc(*size * item);
  if (items == NULL) *size = 0;
  return items;
}

bool measure_step(measurement *m, const traffic_step *step, measured_law law,
                  recording_step *out) {
  m->step = step;
  m->law = law;
  m->h = step->step_size;
  m->bodies =
      room(m->bodies, step->n_bodies, &m->bodies_size, sizeof *m->bodies);
  m->contacts = room(m->contacts, step->n_contacts, &m->contacts_size,
                     sizeof *m->contacts);
  m->groups =
      room(m->groups, step->n_bodies, &m->groups_size, sizeof *m->groups);
  m->group_ties = room(m->group_ties, step->n_bodies, &m->counts_size,
                       sizeof *m->group_ties);
  if (((m->bodies == NULL || m->groups == NULL || m->group_ties == NULL) &&
       step->n_bodies > 0) ||
      (m->contacts == NULL && step->n_contacts > 0))
    return false;
  const traffic_body *bodies = (const void *)(step + 1);
  const traffic_contact *contacts = (const void *)(bodies + step->n_bodies);
  const traffic_joint *joints = (const void *)(contacts + step->n_contacts);
  for (uint32_t i = 0; i < step->n_bodies; i++) {
    read_body(&m->bodies[i], &bodies[i], m->h, law == LAW_OF_VELOCITY);
    out->bodies++;
    out->awake += m->bodies[i].awake_after;
  }
  for (uint32_t i = 0; i < step->n_contacts; i++)
    read_contact(m, &m->contacts[i], &contacts[i]);
  measure_contacts(m, joints, out);
  measure_energy(m, joints, out);
  out->joint_error = step->joint_error;
  return true;
}

void measure_free(measurement *m) {
  free(m->bodies);
  free(m->contacts);
  free(m->groups);
  free(m->group_ties);
  *m = (measurement){.bodies = NULL};
}
