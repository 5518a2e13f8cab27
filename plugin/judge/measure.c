#include "judge/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/minmax.h"
#include "common/vec3.h"
#include "gap/real.h"
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

/* The host damps what is faster than its threshold after it has moved the body. */
static void undamp(double v[3], double part, double threshold) {
  if (!(part > 0) || !(part < 1)) return;
  if (!(vec3_length(v) / (1 - part) > threshold)) return;
  for (int i = 0; i < 3; i++) v[i] /= 1 - part;
}

static void read_motion(measured_body *body, double h) {
  const traffic_body *told = body->told;
  const traffic_state *now = &told->after;
  for (int i = 0; i < 3; i++)
    body->moved_v[i] = (now->position[i] - told->before.position[i]) / h;
  turning_velocity(body, h, body->moved_w);
  vec3_copy(body->solved_v, now->v);
  vec3_copy(body->solved_w, now->w);
  undamp(body->solved_v, told->kind.linear_damping,
         told->kind.linear_threshold);
  undamp(body->solved_w, told->kind.angular_damping,
         told->kind.angular_threshold);
  for (int i = 0; i < 3; i++) {
    body->way[i] = (told->before.v[i] + body->solved_v[i]) * h / 2;
    body->turn[i] = (told->before.w[i] + body->solved_w[i]) * h / 2;
  }
}

/* The velocity that the body would have after the step by itself. */
static void find_free_velocity(const measurement *m, measured_body *body) {
  const traffic_body *told = body->told;
  double inverse[9], v_free[6];
  vec3_copy(body->free_v, told->before.v);
  vec3_copy(body->free_w, told->before.w);
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
  vec3_copy(body->free_v, v_free);
  vec3_copy(body->free_w, v_free + 3);
}

static void read_body(const measurement *m, measured_body *body,
                      const traffic_body *told) {
  double before[9];
  *body = (measured_body){.told = told};
  body->dynamic = told->kind.flags & TRAFFIC_DYNAMIC;
  body->awake = told->awake;
  body->awake_after = told->awake_after;
  quaternion_to_rotation(before, told->before.quaternion);
  quaternion_to_rotation(body->rotation, told->after.quaternion);
  body->energy = kinetic_energy(body, before, told->before.v, told->before.w);
  read_motion(body, m->h);
  find_free_velocity(m, body);
}

/* ---- what is kept of bodies ---- */

static bool room_for_bodies(measurement *m) {
  const traffic_body *told = (const void *)(m->step + 1);
  uint32_t world = m->step->world, last = 0;
  for (uint32_t i = 0; i < m->step->n_bodies; i++)
    last = told[i].kind.body > last ? told[i].kind.body : last;
  if (!POOL_GROW(&m->pool, m->worlds, world + 1)) return false;
  while (m->n_worlds <= world)
    m->worlds[m->n_worlds++] = (kept_world){.bodies = NULL};
  kept_world *of = &m->worlds[world];
  if (!POOL_GROW(&m->pool, of->bodies, (size_t)last + 1)) return false;
  while (of->n_bodies <= last)
    of->bodies[of->n_bodies++] = (kept_body){.v = {NAN}};
  return true;
}

static kept_body *keeper_of(const measurement *m, const measured_body *body) {
  return &m->worlds[m->step->world].bodies[body->told->kind.body];
}

static bool same_vector(const double a[3], const double b[3]) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* What joints take of a velocity that the program has set is its own doing. */
static void look_for_set(const measurement *m, measured_body *body) {
  kept_body *kept = keeper_of(m, body);
  const traffic_body *told = body->told;
  body->set = !same_vector(told->before.v, kept->v) ||
              !same_vector(told->before.w, kept->w);
  vec3_copy(kept->v, told->after.v);
  vec3_copy(kept->w, told->after.w);
}

/* ---- contacts ---- */

static bool has_mode(const measured_contact *contact, int mode) {
  return contact->told->asked.surface.mode & mode;
}

static real3_copy normal_of(const measured_contact *contact) {
  return real3(contact->told->asked.geom.normal);
}

static double depth_of(const measured_contact *contact) {
  return contact->told->asked.geom.depth;
}

/* Adds a body's part of the velocity of the first body relative to the second. */
static void add_velocity(const measured_contact *contact, int side,
                         const double v[3], const double w[3],
                         double relative[3]) {
  double arm[3], turned[3], sign = side == 0 ? 1 : -1;
  vec3_subtract(arm, real3(contact->told->asked.geom.pos).at,
                contact->bodies[side]->told->before.position);
  vec3_cross(turned, w, arm);
  vec3_add_scaled(relative, sign, v);
  vec3_add_scaled(relative, sign, turned);
}

static void read_contact(const measurement *m, measured_contact *contact,
                         const traffic_contact *told) {
  *contact = (measured_contact){.told = told};
  for (int side = 0; side < 2; side++) {
    uint32_t place = told->bodies[side];
    if (place == 0) continue;
    measured_body *body = contact->bodies[side] = &m->bodies[place - 1];
    add_velocity(contact, side, body->told->before.v, body->told->before.w,
                 contact->before);
    add_velocity(contact, side, body->moved_v, body->moved_w, contact->moved);
    add_velocity(contact, side, body->solved_v, body->solved_w, contact->after);
  }
  // f1 is the second body's where the first is the world
  double sign = contact->bodies[0] != NULL ? 1 : -1;
  vec3_add_scaled(contact->force, sign, real3(told->force.f1).at);
  contact->normal_force =
      larger_of(0, vec3_dot(contact->force, normal_of(contact).at));
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
static void share_forces(const measurement *m) {
  size_t n = m->step->n_contacts, i = 0;
  while (i < n) {
    measured_contact *first = &m->contacts[i];
    double sum = first->normal_force;
    size_t end = i + 1;
    while (end < n && m->contacts[end].bodies[0] == first->bodies[0] &&
           m->contacts[end].bodies[1] == first->bodies[1] &&
           same_point(&m->contacts[end], first))
      sum += m->contacts[end++].normal_force;
    double shared = sum / (double)(end - i);
    for (; i < end; i++) m->contacts[i].normal_force = shared;
  }
}

/* The change of speed by a newton in a step, m/s: of the centres alone. */
static double mobility_of(const measured_contact *contact, double h) {
  double mobility = 0;
  for (int side = 0; side < 2; side++)
    if (contact->bodies[side] != NULL && contact->bodies[side]->dynamic)
      mobility += h / contact->bodies[side]->told->kind.mass;
  return mobility;
}

/* ---- the law of contact ---- */

/* How far `left` >= 0, `pushed` >= 0, one of them 0 is missed. */
static double complementarity(double left, double pushed) {
  return fabs(smaller_of(left, pushed));
}

/* How far a value is above a range, or, below 0, below it. */
static double beyond(double value, double from, double to) {
  return value > to ? value - to : smaller_of(value - from, 0);
}

/* A force that gives way by more than this part of what it moves is a spring's. */
static const double SOFT = 1e-3;

typedef struct contact_law {
  double mobility, pushed; /* m/s a newton; m/s: what the force gives */
  double softness;         /* m/s: CFM times force */
  double driven;           /* m/s: dContactMotionN */
  double touching;         /* m/s: the motion that ends at the surface */
  double asked;            /* m/s: the motion that the program asks for */
  bool struck;             /* it was apart, and was met on the way */
  bool bounces;            /* it touched, and closed fast enough */
  double gain;       /* m/s: along n, that its bodies have by themselves */
  double rebound[2]; /* m/s: least and most */
} contact_law;

/* How a contact that closes gives back. One that is apart at first is met, by
 * itself or as others throw it, at a time and a place that nobody outside is told:
 * of it is asked where it ends. What
 * touches was met before or is in the step: with the acceleration that the bodies
 * have by themselves it may rise as from the surface, or give back what it had as
 * the step began or ended. Of several that are struck together it is not told how
 * much each gives back. */
static void read_impact(const measured_contact *contact, double h,
                        contact_law *law) {
  const dSurfaceParameters *surface = &contact->told->asked.surface;
  const real3_copy n = normal_of(contact);
  double alone[3] = {0}, depth = depth_of(contact);
  bool others = false;
  for (int side = 0; side < 2; side++) {
    const measured_body *body = contact->bodies[side];
    if (body == NULL) continue;
    add_velocity(contact, side, body->free_v, body->free_w, alone);
    others |= body->dynamic && body->n_pushed > 1;
  }
  double incoming[2] = {law->driven - vec3_dot(contact->before, n.at),
                        law->driven - vec3_dot(alone, n.at)};
  double fastest = larger_of(incoming[0], incoming[1]);
  double gain = law->gain = incoming[0] - incoming[1];
  law->struck = depth < 0 && contact->normal_force > 0 &&
                (others || -depth < h * fastest);
  if (depth < 0 || !has_mode(contact, dContactBounce) ||
      surface->bounce_vel < 0 || fastest <= surface->bounce_vel)
    return;
  // the step's velocity is that of its middle: half the gain is at its start
  double at_depth = incoming[0] - gain / 2;
  // (m/s)^2, from the surface, which was passed in the step before
  double e = surface->bounce;
  double climb = -2 * smaller_of(depth, h * larger_of(0, at_depth)) * gain / h;
  double met = larger_of(0, at_depth * at_depth - climb);
  double parts[2] = {0, 0};
  for (int end = 0; end < 2; end++)
    if (incoming[end] > surface->bounce_vel) parts[end] = e * incoming[end];
  double rises =
      parts[0] > 0 ? sqrt(larger_of(0, e * e * met + climb)) + gain / 2 : 0;
  law->bounces = true;
  law->rebound[0] = law->driven + smaller_of(parts[0] + smaller_of(gain, 0),
                                             smaller_of(parts[1], rises));
  law->rebound[1] = law->driven + larger_of(parts[0] + larger_of(gain, 0),
                                            larger_of(parts[1], rises));
  if (others) {
    // apart again, they may be on their way back
    bool apart = h * vec3_dot(contact->moved, n.at) > depth;
    law->rebound[0] =
        apart ? -INFINITY : smaller_of(law->rebound[0], law->driven);
    law->rebound[1] = INFINITY;
  }
}

static contact_law read_law(const measurement *m,
                            const measured_contact *contact) {
  const traffic_step *world = m->step;
  const dSurfaceParameters *surface = &contact->told->asked.surface;
  double h = m->h, depth = depth_of(contact);
  double cfm =
      has_mode(contact, dContactSoftCFM) ? surface->soft_cfm : world->cfm;
  double erp =
      has_mode(contact, dContactSoftERP) ? surface->soft_erp : world->erp;
  contact_law law = {.mobility = mobility_of(contact, h)};
  law.pushed = law.mobility * contact->normal_force;
  law.softness = cfm * contact->normal_force;
  law.driven = has_mode(contact, dContactMotionN) ? surface->motionN : 0;
  law.touching = law.driven + smaller_of(depth, 0) / h;
  double correction = erp / h * larger_of(0, depth - world->layer);
  law.asked = smaller_of(correction + law.driven, world->fastest) - law.driven +
              law.touching;
  read_impact(contact, h, &law);
  return law;
}

/* The law of every stepper: 0 <= force, 0 <= motion + CFM force - asked, one of
 * them 0; of what bounces, the velocity at the end within its range as well. */
static double law_error(const measured_contact *contact,
                        const contact_law *law) {
  const real3_copy n = normal_of(contact);
  double motion = vec3_dot(contact->moved, n.at) + law->softness;
  if (law->struck) return larger_of(0, law->touching - motion);
  if (!law->bounces) return complementarity(motion - law->asked, law->pushed);
  // what is asked for may be asked of the velocity, too
  double left = beyond(vec3_dot(contact->after, n.at) + law->softness,
                       law->rebound[0], larger_of(law->rebound[1], law->asked));
  return larger_of(complementarity(left, law->pushed), law->asked - motion);
}

/* ---- friction ---- */

typedef struct friction_law {
  double axes[2][3];                  /* on the first body of the contact */
  double slip[2], force[2], limit[2]; /* m/s, N, N */
  double motion[2];                   /* m/s: that the program drives */
  double missed[2], boxed[2];         /* N: too much, or too little */
  bool cone; /* limits of both directions are one ellipse; else a box */
} friction_law;

/* Two directions across a unit normal: dPlaneSpace, which is the host's. */
static void span_plane(const double n[3], double p[3], double q[3]) {
  if (fabs(n[2]) > M_SQRT1_2) {
    double a = n[1] * n[1] + n[2] * n[2], k = 1 / sqrt(a);
    vec3_copy(p, (const double[]){0, -n[2] * k, n[1] * k});
    vec3_copy(q, (const double[]){a * k, -n[0] * p[2], n[0] * p[1]});
  } else {
    double a = n[0] * n[0] + n[1] * n[1], k = 1 / sqrt(a);
    vec3_copy(p, (const double[]){-n[1] * k, n[0] * k, 0});
    vec3_copy(q, (const double[]){-n[2] * p[1], n[2] * p[0], a * k});
  }
}

/* Directions as the host takes them: by the normal that points into its first
 * body, which is the program's second where the first is the world. */
static friction_law read_friction(const measured_contact *contact) {
  const dContact *asked = &contact->told->asked;
  const dSurfaceParameters *surface = &asked->surface;
  int mode = surface->mode;
  double sign = contact->bodies[0] != NULL ? 1 : -1;
  double n[3] = {0}, axis[2][3] = {{0}};
  vec3_add_scaled(n, sign, real3(asked->geom.normal).at);
  if (mode & dContactFDir1) {
    real_read(axis[0], asked->fdir1, 3);
    vec3_cross(axis[1], n, axis[0]);
  } else {
    span_plane(n, axis[0], axis[1]);
  }
  friction_law law = {
      .axes = {{0}},
      .cone = (mode & dContactApprox1) == dContactApprox1,
      .motion = {mode & dContactMotion1 ? surface->motion1 : 0,
                 mode & dContactMotion2 ? surface->motion2 : 0}};
  double mu[2] = {surface->mu, mode & dContactMu2 ? surface->mu2 : surface->mu};
  double slips[2] = {mode & dContactSlip1 ? surface->slip1 : 0,
                     mode & dContactSlip2 ? surface->slip2 : 0};
  bool by_normal[2] = {mode & dContactApprox1_1, mode & dContactApprox1_2};
  for (int i = 0; i < 2; i++) {
    vec3_add_scaled(law.axes[i], sign, axis[i]);
    law.force[i] = vec3_dot(contact->force, law.axes[i]);
    law.slip[i] = vec3_dot(contact->moved, law.axes[i]) - law.motion[i] +
                  slips[i] * law.force[i];
    law.limit[i] = by_normal[i] && mu[i] < dInfinity
                       ? mu[i] * contact->normal_force
                       : mu[i];
  }
  return law;
}

/* How far friction is from what opposes the slip with all that it may: nothing is
 * missed where force = nearest allowed (force - slip / mobility). Directions are
 * scaled by their limits, which makes a disc of the ellipse. */
static void find_missed(friction_law *law, double mobility) {
  double wanted[2];
  bool bounded = law->limit[0] < dInfinity && law->limit[1] < dInfinity;
  if (!(mobility > 0)) return;
  double scale = larger_of(law->limit[0], law->limit[1]);
  double size = 0;
  for (int i = 0; i < 2; i++) {
    double part = law->cone && bounded && scale > 0 ? law->limit[i] / scale : 1;
    wanted[i] = law->force[i] - part * part * law->slip[i] / mobility;
    double in_units = law->limit[i] > 0 ? wanted[i] / law->limit[i] : 0;
    size += in_units * in_units;
  }
  double shrink = law->cone && bounded && size > 1 ? 1 / sqrt(size) : 1;
  for (int i = 0; i < 2; i++) {
    double limit = law->limit[i];
    double allowed = middle_of(-limit, wanted[i], limit);
    if (law->cone && bounded) allowed = limit > 0 ? shrink * wanted[i] : 0;
    law->missed[i] = law->force[i] - allowed;
    law->boxed[i] =
        law->force[i] -
        middle_of(-limit, law->force[i] - law->slip[i] / mobility, limit);
  }
}

/* True if bodies hardly slip: slower than forces bring them to in a step. */
static bool is_slow(const measured_contact *contact, double slip) {
  double slow = 0;
  for (int side = 0; side < 2; side++) {
    const measured_body *body = contact->bodies[side];
    if (body == NULL || !body->dynamic) continue;
    double gained[3];
    vec3_subtract(gained, body->free_v, body->told->before.v);
    slow += vec3_length(gained);
  }
  return slip <= slow;
}

/* True if bodies that hardly slip would be held by friction that is left unused. */
static bool creeps(const friction_law *law, double slip) {
  const double UNUSED = 0.01; /* of the limit */
  double braked = 0, most = 0;
  if (!(slip > 0)) return false;
  for (int i = 0; i < 2; i++) {
    braked -= law->force[i] * law->slip[i] / slip;
    most += law->limit[i] > 0   ? pow(law->slip[i] / slip / law->limit[i], 2)
            : law->slip[i] != 0 ? INFINITY
                                : 0;
  }
  return braked * sqrt(most) < 1 - UNUSED;
}

/* A body's part in what is missed and in slips; `sign`: as the contact's second. */
static void add_friction(const measured_contact *contact,
                         const friction_law *law) {
  double missed[3] = {0}, aslant[3] = {0}, slip[3] = {0};
  double speed = hypot(law->slip[0], law->slip[1]);
  bool can_hold = law->limit[0] > 0 || law->limit[1] > 0;
  bool slow = is_slow(contact, speed);
  bool slips = can_hold && slow && creeps(law, speed);
  for (int i = 0; i < 2; i++) {
    vec3_add_scaled(missed, law->missed[i], law->axes[i]);
    if (!slow)
      vec3_add_scaled(aslant, law->missed[i] - law->boxed[i], law->axes[i]);
    if (slips) vec3_add_scaled(slip, law->slip[i], law->axes[i]);
  }
  for (int side = 0; side < 2; side++) {
    measured_body *body = contact->bodies[side];
    double arm[3], turn[3], sign = side == 0 ? 1 : -1;
    if (body == NULL) continue;
    vec3_subtract(arm, real3(contact->told->asked.geom.pos).at,
                  body->told->before.position);
    vec3_cross(turn, arm, missed);
    vec3_add_scaled(body->missed, sign, missed);
    vec3_add_scaled(body->missed_turn, sign, turn);
    vec3_add_scaled(body->aslant, sign, aslant);
    vec3_add_scaled(body->slip, sign, slip);
    body->arm = larger_of(body->arm, vec3_length(arm));
    body->n_touching += can_hold && contact->normal_force > 0;
  }
}

/* By how much friction exceeds what the normal force allows, as the velocity
 * that the excess gives, m/s. */
static double cone_excess(const friction_law *law, double mobility) {
  // the larger of the two: an ellipse's or a box's own excess is not less
  double limit = larger_of(law->limit[0], law->limit[1]);
  if (!(limit < dInfinity)) return 0;
  if (!law->cone) limit *= M_SQRT2;
  return mobility * larger_of(0, hypot(law->force[0], law->force[1]) - limit);
}

/* ---- contacts that last ---- */

static int by_pair(const void *a, const void *b) {
  const kept_contact *one = a, *other = b;
  return (one->pair > other->pair) - (one->pair < other->pair);
}

static uint64_t pair_of(const measured_contact *contact) {
  uint64_t numbers[2];
  for (int side = 0; side < 2; side++)
    numbers[side] = contact->bodies[side] != NULL
                        ? contact->bodies[side]->told->kind.body
                        : 0;
  return numbers[0] < numbers[1] ? numbers[0] << 32 | numbers[1]
                                 : numbers[1] << 32 | numbers[0];
}

/* True if the pair had a contact with a force in the step before, as near as its
 * bodies can carry a point in a step. */
static bool did_last(const measurement *m, const measured_contact *contact) {
  const kept_contact wanted = {.pair = pair_of(contact)};
  const real3_copy at = real3(contact->told->asked.geom.pos);
  double reach = 0;
  for (int side = 0; side < 2; side++) {
    const measured_body *body = contact->bodies[side];
    if (body == NULL) continue;
    const traffic_state *was = &body->told->before;
    double arm[3];
    vec3_subtract(arm, at.at, was->position);
    reach +=
        m->h * (vec3_length(was->v) + vec3_length(was->w) * vec3_length(arm));
  }
  size_t from = 0, to = m->n_kept;
  while (from < to) {
    size_t middle = (from + to) / 2;
    if (m->kept[middle].pair < wanted.pair)
      from = middle + 1;
    else
      to = middle;
  }
  for (; from < m->n_kept && m->kept[from].pair == wanted.pair; from++) {
    double way[3];
    vec3_subtract(way, at.at, m->kept[from].at);
    if (vec3_length(way) <= 1.01 * reach) return true; // but for rounding
  }
  return false;
}

static void keep_contacts(measurement *m) {
  const double ROUNDING = 1e-6; /* of the velocity that the force gives */
  m->n_kept = 0;
  m->world = m->step->world;
  for (size_t i = 0; i < m->step->n_contacts && m->kept != NULL; i++) {
    const measured_contact *contact = &m->contacts[i];
    // one that still closes goes on to strike in the next step
    double closes = -vec3_dot(contact->after, normal_of(contact).at);
    if (!(contact->normal_force > 0) ||
        closes > ROUNDING * mobility_of(contact, m->h) * contact->normal_force)
      continue;
    kept_contact *kept = &m->kept[m->n_kept++];
    kept->pair = pair_of(contact);
    vec3_copy(kept->at, real3(contact->told->asked.geom.pos).at);
  }
  if (m->n_kept > 0) qsort(m->kept, m->n_kept, sizeof *m->kept, by_pair);
}

/* The work of a contact's force along what the program drives, and of a normal
 * force that lasts and can do none: it neither bounces nor gives way. When an impact
 * is in the step is not told: by the mean velocity its work is known to this. */
static void find_work(const measurement *m, measured_contact *contact,
                      const contact_law *law, const friction_law *friction) {
  const real3_copy n = normal_of(contact);
  double h = m->h, pushed = vec3_dot(contact->force, n.at);
  double unknown =
      law->struck || law->bounces ? fabs(pushed * law->gain) / 2 : 0;
  contact->driven_work = h * (pushed * law->driven + unknown +
                              friction->force[0] * friction->motion[0] +
                              friction->force[1] * friction->motion[1]);
  if (has_mode(contact, dContactBounce) || law->struck ||
      law->softness > SOFT * law->pushed || m->world != m->step->world ||
      !did_last(m, contact))
    return;
  double mean =
      (vec3_dot(contact->before, n.at) + vec3_dot(contact->after, n.at)) / 2;
  contact->lasting_work = h * pushed * (mean - law->driven);
}

/* ---- all contacts ---- */

static bool is_awake(const measured_body *body) {
  return body != NULL && body->dynamic && body->awake_after;
}

static void count_pushes(const measurement *m, const traffic_joint *joints) {
  for (size_t i = 0; i < m->step->n_joints; i++)
    for (int side = 0; side < 2; side++)
      if (joints[i].bodies[side] > 0)
        m->bodies[joints[i].bodies[side] - 1].n_pushed++;
  for (size_t i = 0; i < m->step->n_contacts; i++)
    for (int side = 0; side < 2; side++)
      if (m->contacts[i].normal_force > 0 &&
          m->contacts[i].bodies[side] != NULL)
        m->contacts[i].bodies[side]->n_pushed++;
}

#define WORSE(value, field)                                                    \
  if (!((value) <= (field))) (field) = (value) /* a NaN stays */

static void measure_contacts(const measurement *m, const traffic_joint *joints,
                             recording_step *out) {
  share_forces(m);
  count_pushes(m, joints);
  for (size_t i = 0; i < m->step->n_contacts; i++) {
    measured_contact *contact = &m->contacts[i];
    if (contact->bodies[0] == NULL && contact->bodies[1] == NULL) continue;
    out->contacts++;
    WORSE(depth_of(contact), out->penetration);
    if (!is_awake(contact->bodies[0]) && !is_awake(contact->bodies[1]))
      continue;
    contact_law law = read_law(m, contact);
    friction_law friction = read_friction(contact);
    contact->error = law_error(contact, &law);
    find_work(m, contact, &law, &friction);
    WORSE(contact->error, out->contact_error);
    WORSE(cone_excess(&friction, law.mobility), out->cone_violation);
    // the slip of an impact within the step is not that of the step
    if (law.struck) continue;
    find_missed(&friction, law.mobility);
    add_friction(contact, &friction);
  }
}

/* Friction is said of a body: of single contacts what is missed may cancel. */
static void measure_friction(const measurement *m, recording_step *out) {
  for (size_t i = 0; i < m->step->n_bodies; i++) {
    const measured_body *body = &m->bodies[i];
    if (!is_awake(body)) continue;
    const traffic_kind *kind = &body->told->kind;
    double force = vec3_length(body->missed);
    double turn = vec3_length(body->missed_turn);
    if (body->arm > 0) force = larger_of(force, turn / body->arm);
    WORSE(m->h * force / kind->mass, out->friction_error);
    WORSE(m->h * vec3_length(body->aslant) / kind->mass, out->aslant_error);
  }
}

/* A way is a sum of vectors: noise that goes to and fro is none. */
static void measure_creeping(measurement *m, recording_step *out) {
  for (size_t i = 0; i < m->step->n_bodies; i++) {
    const measured_body *body = &m->bodies[i];
    if (!is_awake(body) || body->n_touching == 0) continue;
    double *way = keeper_of(m, body)->crept;
    vec3_add_scaled(way, m->h / body->n_touching, body->slip);
    m->most_crept = larger_of(m->most_crept, vec3_length(way));
  }
  out->crept = m->most_crept;
}

/* ---- energy and momentum ---- */

/* The work of a force on a body in the step, J, by the mean of the velocities
 * before and after it: so an impulse's is exact. */
static double work_on(const measured_body *body, const double force[3],
                      const double torque[3]) {
  return vec3_dot(force, body->way) + vec3_dot(torque, body->turn);
}

typedef struct joint_work {
  double on_bodies;  /* J: on bodies that it can move */
  double of_its_own; /* J: on both, so that what carries them has no part */
} joint_work;

static joint_work work_of(const measured_body *const bodies[2],
                          const dJointFeedback *force) {
  // a joint between the world and a body reports the body's as the first
  const measured_body *first = bodies[0] != NULL ? bodies[0] : bodies[1];
  const measured_body *second = bodies[0] != NULL ? bodies[1] : NULL;
  joint_work work = {0, 0};
  double by[2] = {0, 0};
  if (first != NULL)
    by[0] = work_on(first, real3(force->f1).at, real3(force->t1).at);
  if (second != NULL)
    by[1] = work_on(second, real3(force->f2).at, real3(force->t2).at);
  work.of_its_own = by[0] + by[1];
  if (first != NULL && first->dynamic) work.on_bodies += by[0];
  if (second != NULL && second->dynamic) work.on_bodies += by[1];
  return work;
}

static void add_impulse(const measured_body *const bodies[2],
                        const dJointFeedback *force, double h,
                        double impulse[3]) {
  const measured_body *first = bodies[0] != NULL ? bodies[0] : bodies[1];
  if (first != NULL && first->dynamic)
    vec3_add_scaled(impulse, h, real3(force->f1).at);
  if (bodies[0] != NULL && bodies[1] != NULL && bodies[1]->dynamic)
    vec3_add_scaled(impulse, h, real3(force->f2).at);
}

/* The potential energy, J, that a move without a velocity gives: by how much the body
 * is higher than any of its velocities in the step takes it. Where in the step it
 * changes its velocity is the stepper's choice. */
static double lifted(const measured_body *body, const double g[3], double h) {
  const traffic_body *told = body->told;
  double way[3];
  vec3_subtract(way, told->after.position, told->before.position);
  double along = vec3_dot(g, way), ends[2] = {h * vec3_dot(g, told->before.v),
                                              h * vec3_dot(g, body->solved_v)};
  double nearest = middle_of(smaller_of(ends[0], ends[1]), along,
                             larger_of(ends[0], ends[1]));
  return told->kind.mass * (nearest - along);
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
    if (told->kind.flags & TRAFFIC_FALLS) real_read(g, m->step->gravity, 3);
    double potential = -told->kind.mass * vec3_dot(g, told->after.position);
    double kinetic =
        kinetic_energy(body, body->rotation, body->solved_v, body->solved_w);
    out->potential += potential;
    out->kinetic += kinetic;
    double speed = vec3_length(body->solved_v);
    if (!(speed <= out->fastest)) out->fastest = speed;
    if (!body->awake_after || !body->awake) continue;

    change += kinetic - body->energy - told->kind.mass * vec3_dot(g, body->way);
    change += lifted(body, g, h);
    explained += work_on(body, told->force, told->torque);
    for (int k = 0; k < 3; k++)
      momentum[k] +=
          told->kind.mass * (body->solved_v[k] - told->before.v[k] - h * g[k]) -
          h * told->force[k];
  }
  for (size_t i = 0; i < m->step->n_contacts; i++) {
    const measured_contact *contact = &m->contacts[i];
    const measured_body *const bodies[2] = {contact->bodies[0],
                                            contact->bodies[1]};
    joint_work work = work_of(bodies, &contact->told->force);
    explained += work.on_bodies;
    by_contacts += work.of_its_own - contact->driven_work;
    m->lasting += contact->lasting_work;
    add_impulse(bodies, &contact->told->force, h, impulse);
  }
  for (size_t i = 0; i < m->step->n_joints; i++) {
    const measured_body *bodies[2];
    for (int side = 0; side < 2; side++) {
      uint32_t place = joints[i].bodies[side];
      bodies[side] = place > 0 ? &m->bodies[place - 1] : NULL;
    }
    // what its other rows do of their own is no work that they may do
    joint_work all = work_of(bodies, &joints[i].force);
    joint_work allowed = work_of(bodies, &joints[i].working);
    bool set = (bodies[0] != NULL && bodies[0]->set) ||
               (bodies[1] != NULL && bodies[1]->set);
    explained += all.on_bodies;
    if (!set) explained -= all.of_its_own - allowed.of_its_own;
    add_impulse(bodies, &joints[i].force, h, impulse);
  }
  vec3_add_scaled(momentum, -1, impulse);
  if (by_contacts > 0) m->contact_work += by_contacts;
  m->energy += change - explained;
  // what is put in by contacts that last is told as such
  out->energy_unexplained = m->energy + smaller_of(m->lasting, 0);
  out->contact_work = m->contact_work;
  out->momentum_unexplained = vec3_length(momentum);
}

/* ---- the step ---- */

bool measure_step(measurement *m, const traffic_step *step,
                  recording_step *out) {
  m->step = step;
  m->h = step->step_size;
  if (m->pool.from == NULL) memory_pool_open(&m->pool, &memory_from_malloc);
  if (!POOL_RESERVE(&m->pool, m->bodies, step->n_bodies) ||
      !POOL_RESERVE(&m->pool, m->contacts, step->n_contacts) ||
      !room_for_bodies(m))
    return false;
  const traffic_body *bodies = (const void *)(step + 1);
  const traffic_contact *contacts = (const void *)(bodies + step->n_bodies);
  const traffic_joint *joints = (const void *)(contacts + step->n_contacts);
  for (uint32_t i = 0; i < step->n_bodies; i++) {
    read_body(m, &m->bodies[i], &bodies[i]);
    look_for_set(m, &m->bodies[i]);
    out->bodies++;
    out->awake += m->bodies[i].awake_after;
  }
  for (uint32_t i = 0; i < step->n_contacts; i++)
    read_contact(m, &m->contacts[i], &contacts[i]);
  measure_contacts(m, joints, out);
  measure_friction(m, out);
  measure_creeping(m, out);
  measure_energy(m, joints, out);
  (void)POOL_RESERVE(&m->pool, m->kept, step->n_contacts); // or NULL
  keep_contacts(m);
  out->joint_error = step->joint_error;
  return true;
}

void measure_free(measurement *m) {
  memory_pool_release(&m->pool);
  *m = (measurement){.bodies = NULL};
}
