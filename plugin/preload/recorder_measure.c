#include "preload/recorder_measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/minmax.h"
#include "common/vec3.h"
#include "host/bodies.h"
#include "host/joints.h"

/* ---- contacts ---- */

/* In blocks that stay where they are: the host writes feedback into them. */
enum { A_BLOCK = 1024 };
static measured_contact **blocks;
static size_t n_blocks, n_contacts;

static measured_contact *contact_at(size_t index) {
  return &blocks[index / A_BLOCK][index % A_BLOCK];
}

void measure_contact_made(dJointID joint, dWorldID world, dJointGroupID group,
                          const dContact *asked) {
  if (joint == NULL) return;
  if (n_contacts == n_blocks * A_BLOCK) {
    measured_contact **more = realloc(blocks, (n_blocks + 1) * sizeof *blocks);
    if (more == NULL) return;
    blocks = more;
    blocks[n_blocks] = malloc(A_BLOCK * sizeof **blocks);
    if (blocks[n_blocks] == NULL) return;
    n_blocks++;
  }
  measured_contact *contact = contact_at(n_contacts++);
  contact->joint = joint;
  contact->world = world;
  contact->group = group;
  contact->asked = *asked;
}

/* Feedback of one that stays may point into a place that another one gets: it
 * is set anew before each step. */
static void keep_contacts(bool (*goes)(const measured_contact *, const void *),
                          const void *what) {
  size_t n = 0;
  for (size_t i = 0; i < n_contacts; i++) {
    measured_contact *contact = contact_at(i);
    if (goes(contact, what)) continue;
    if (n != i) {
      if (dJointGetFeedback(contact->joint) == &contact->own_force)
        dJointSetFeedback(contact->joint, NULL);
      *contact_at(n) = *contact;
    }
    n++;
  }
  n_contacts = n;
}

static bool is_in_group(const measured_contact *contact, const void *group) {
  return contact->group == group;
}

static bool is_joint(const measured_contact *contact, const void *joint) {
  return contact->joint == joint;
}

static bool is_in_world(const measured_contact *contact, const void *world) {
  return contact->world == world;
}

void measure_group_emptied(dJointGroupID group) {
  keep_contacts(is_in_group, group);
}

void measure_joint_gone(dJointID joint) { keep_contacts(is_joint, joint); }

static dWorldID last_world; /* in which a step was measured */

void measure_world_gone(dWorldID world) {
  keep_contacts(is_in_world, world);
  last_world = NULL;
}

size_t measure_contact_count(void) { return n_contacts; }

const measured_contact *measure_contact(size_t index) {
  return contact_at(index);
}

/* Those of the step's world, in the same order. */
static measured_contact **of_step;
static size_t n_of_step, of_step_size;

static bool list_contacts(dWorldID world) {
  n_of_step = 0;
  if (n_contacts > of_step_size) {
    free(of_step);
    of_step_size = 2 * n_contacts;
    of_step = malloc(of_step_size * sizeof *of_step);
    if (of_step == NULL) of_step_size = 0;
    if (of_step == NULL) return false;
  }
  for (size_t i = 0; i < n_contacts; i++)
    if (contact_at(i)->world == world) of_step[n_of_step++] = contact_at(i);
  return true;
}

measured_contact *const *measure_contacts_of_step(size_t *count) {
  *count = n_of_step;
  return of_step;
}

/* ---- bodies ---- */

static dBodyID *handles;
static measured_body *bodies;
static size_t n_bodies, bodies_size;
/* number of a body among those of the step by its serial number, + 1 */
static uint32_t *places;
static size_t places_size;

static bool room_for_bodies(size_t count) {
  if (count <= bodies_size) return true;
  free(handles);
  free(bodies);
  bodies_size = 2 * count;
  handles = malloc(bodies_size * sizeof *handles);
  bodies = malloc(bodies_size * sizeof *bodies);
  if (handles != NULL && bodies != NULL) return true;
  free(handles);
  free(bodies);
  handles = NULL;
  bodies = NULL;
  bodies_size = 0;
  return false;
}

static bool place_body(dBodyID body, size_t index) {
  size_t serial = dBodyGetSerial(body);
  if (serial >= places_size) {
    size_t size = serial + 1024;
    uint32_t *more = realloc(places, size * sizeof *places);
    if (more == NULL) return false;
    memset(more + places_size, 0, (size - places_size) * sizeof *places);
    places = more;
    places_size = size;
  }
  places[serial] = (uint32_t)index + 1;
  return true;
}

static measured_body *find_body(dBodyID body) {
  if (body == NULL) return NULL;
  size_t serial = dBodyGetSerial(body);
  size_t place = serial < places_size ? places[serial] : 0;
  return place > 0 && place <= n_bodies && bodies[place - 1].body == body
             ? &bodies[place - 1]
             : NULL;
}

const measured_body *measure_bodies(size_t *count) {
  *count = n_bodies;
  return bodies;
}

/* Kinetic energy of a body's turning, J, in its own frame: there its inertia is
 * read once a step. */
static double spin_energy(const measured_body *body, const double w[3]) {
  const dReal *R = body->now.rotation;
  double own_w[3], L[3];
  for (int i = 0; i < 3; i++)
    own_w[i] = R[i] * w[0] + R[4 + i] * w[1] + R[8 + i] * w[2];
  mat3_apply(L, body->inertia, own_w);
  return vec3_dot(L, own_w) / 2;
}

static double kinetic_energy(const measured_body *body, const double v[3],
                             const double w[3]) {
  return body->mass * vec3_dot(v, v) / 2 + spin_energy(body, w);
}

static void read_body(measured_body *measured, dBodyID body) {
  dMass mass;
  dBodyGetMass(body, &mass);
  for (int i = 0; i < 9; i++)
    measured->inertia[i] = mass.I[4 * (i / 3) + i % 3];
  measured->body = body;
  // the host keeps these where they are as long as there is the body
  measured->now = (measured_state){
      dBodyGetPosition(body), dBodyGetQuaternion(body), dBodyGetRotation(body),
      dBodyGetLinearVel(body), dBodyGetAngularVel(body)};
  measured->n_contacts = 0;
  measured->dynamic = !dBodyIsKinematic(body);
  measured->awake = dBodyIsEnabled(body) != 0;
  measured->mass = mass.mass;
  memcpy(measured->position, measured->now.position, 3 * sizeof(double));
  memcpy(measured->quaternion, measured->now.quaternion, 4 * sizeof(double));
  memcpy(measured->v, measured->now.v, 3 * sizeof(double));
  memcpy(measured->w, measured->now.w, 3 * sizeof(double));
  memcpy(measured->force, dBodyGetForce(body), 3 * sizeof(double));
  memcpy(measured->torque, dBodyGetTorque(body), 3 * sizeof(double));
  measured->energy = kinetic_energy(measured, measured->v, measured->w);
  measured->free_known = false;
}

/* The angular velocity that turned `q` into `now` by the host's own rule: a
 * step along the quaternion's rate, normalised, which turns by 2 atan(h w/2). */
static void turning_velocity(const measured_body *body, const dReal *now,
                             double h, double w[3]) {
  const double *q = body->quaternion;
  double s = now[0] * q[0] + now[1] * q[1] + now[2] * q[2] + now[3] * q[3];
  double x[3];
  x[0] = now[1] * q[0] - now[0] * q[1] - now[2] * q[3] + now[3] * q[2];
  x[1] = now[2] * q[0] - now[0] * q[2] - now[3] * q[1] + now[1] * q[3];
  x[2] = now[3] * q[0] - now[0] * q[3] - now[1] * q[2] + now[2] * q[1];
  double length = vec3_length(x);
  double half = atan2(length, fabs(s));
  double rate =
      dBodyGetFiniteRotationMode(body->body) ? 2 * half / h : 2 * tan(half) / h;
  double scale = length > 0 ? (s < 0 ? -rate : rate) / length : 0;
  for (int i = 0; i < 3; i++) w[i] = scale * x[i];
}

/* What the step solved for is its velocity where nothing was damped since; a
 * damped one is what moved the body. */
static void read_motion(measured_body *body, double h, bool moves_by_velocity) {
  for (int i = 0; i < 3; i++)
    body->moved_v[i] = (body->now.position[i] - body->position[i]) / h;
  // of what moves by its velocity nobody asks how it turned
  if (!moves_by_velocity)
    turning_velocity(body, body->now.quaternion, h, body->moved_w);

  double linear = dBodyGetLinearDamping(body->body);
  double angular = dBodyGetAngularDamping(body->body);
  memcpy(body->solved_v, body->now.v, 3 * sizeof(double));
  memcpy(body->solved_w, body->now.w, 3 * sizeof(double));
  if (linear > 0 && linear < 1)
    for (int i = 0; i < 3; i++) {
      double undamped = body->solved_v[i] / (1 - linear);
      bool damped = moves_by_velocity
                        ? fabs(body->moved_v[i] - undamped) <
                              fabs(body->moved_v[i] - body->solved_v[i])
                        : vec3_length(body->now.v) >
                              dBodyGetLinearDampingThreshold(body->body);
      if (damped) body->solved_v[i] = undamped;
    }
  if (angular > 0 && angular < 1) {
    double undamped = vec3_length(body->solved_w) / (1 - angular);
    if (undamped > dBodyGetAngularDampingThreshold(body->body))
      for (int i = 0; i < 3; i++) body->solved_w[i] /= 1 - angular;
  }
  body->awake_after = dBodyIsEnabled(body->body) != 0;
  double part = body->dynamic ? h / 2 : 0;
  for (int i = 0; i < 3; i++) {
    body->way[i] = (body->v[i] + body->solved_v[i]) * part;
    body->turn[i] = (body->w[i] + body->solved_w[i]) * part;
  }
}

/* ---- joints ---- */

/* Those of the step that the program has no feedback for get one of ours, for
 * the step. */
typedef struct measured_joint {
  dJointID joint;
  dJointFeedback own;
  bool lent;
} measured_joint;

static measured_joint *joints;
static size_t n_joints, joints_size;

static bool add_joint(dJointID joint) {
  if (n_joints == joints_size) {
    // nothing points into the old block: feedback is lent when all are known
    size_t size = joints_size == 0 ? 64 : 2 * joints_size;
    measured_joint *more = realloc(joints, size * sizeof *joints);
    if (more == NULL) return false;
    joints = more;
    joints_size = size;
  }
  joints[n_joints++] = (measured_joint){.joint = joint};
  return true;
}

static void list_joints(void) {
  n_joints = 0;
  for (size_t i = 0; i < n_bodies; i++) {
    dBodyID body = bodies[i].body;
    int count = dBodyGetNumJoints(body);
    // the host walks a list for each: where all are contacts, none is looked at
    if (count == bodies[i].n_contacts) continue;
    for (int k = 0; k < count; k++) {
      dJointID joint = dBodyGetJoint(body, k);
      dBodyID first = dJointGetBody(joint, 0);
      if (first == NULL) first = dJointGetBody(joint, 1);
      if (first == body && dJointGetType(joint) != dJointTypeContact &&
          dJointIsEnabled(joint) && !add_joint(joint))
        return;
    }
  }
}

static double joint_error(double h) {
  double worst = 0;
  for (size_t i = 0; i < n_joints; i++) {
    double error = host_joint_error(joints[i].joint, h);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

/* As a step begins joints are where the last one left them, unless there are
 * others: read once, after each step, and before the first with these. */
static double first_error(dWorldID world, double h) {
  static size_t last_count;
  if (world == last_world && n_joints == last_count) return 0;
  last_world = world;
  last_count = n_joints;
  return joint_error(h);
}

/* ---- before a step ---- */

static recorder_law judged_by;
static double first_joint_error;

static double opening_of(const measured_contact *contact, int side,
                         const double v[3], const double w[3]) {
  double speed = vec3_dot(contact->asked.geom.normal, v) +
                 vec3_dot(contact->levers[side], w);
  return side == 0 ? speed : -speed;
}

/* Asked for only where a contact bounces: most bodies of most programs have
 * none that does. */
static void find_free_velocity(measured_body *body, double h) {
  host_body read;
  char message[200];
  double free[6];
  if (body->free_known) return;
  body->free_known = true;
  memcpy(body->free_v, body->v, sizeof body->free_v);
  memcpy(body->free_w, body->w, sizeof body->free_w);
  if (!host_body_read(&read, body->body, h, message, sizeof message)) return;
  host_body_free_velocity(&read, h, free);
  memcpy(body->free_v, free, sizeof body->free_v);
  memcpy(body->free_w, free + 3, sizeof body->free_w);
}

static void begin_contact(measured_contact *contact, double h) {
  contact->error = 0;
  contact->normal_force = 0;
  for (int side = 0; side < 2; side++) {
    measured_body *body = find_body(dJointGetBody(contact->joint, side));
    contact->bodies[side] = body;
    contact->before[side] = contact->alone[side] = 0;
    if (body == NULL) continue;
    body->n_contacts++;
    double arm[3];
    vec3_subtract(arm, contact->asked.geom.pos, body->position);
    vec3_cross(contact->levers[side], arm, contact->asked.geom.normal);
    if (!(contact->asked.surface.mode & dContactBounce)) continue;
    find_free_velocity(body, h);
    contact->before[side] = opening_of(contact, side, body->v, body->w);
    contact->alone[side] =
        opening_of(contact, side, body->free_v, body->free_w);
  }
  dJointFeedback *force = dJointGetFeedback(contact->joint);
  if (force == NULL) {
    memset(&contact->own_force, 0, sizeof contact->own_force);
    dJointSetFeedback(contact->joint, &contact->own_force);
    force = &contact->own_force;
  }
  contact->force = force;
}

bool measure_begin(dWorldID world, double step_size, recorder_law law) {
  judged_by = law;
  n_bodies = 0;
  n_of_step = 0;
  n_joints = 0;
  size_t count = dWorldGetBodies(world, NULL, 0);
  if (!room_for_bodies(count)) return false;
  dWorldGetBodies(world, handles, count);
  for (size_t i = 0; i < count; i++) {
    if (!place_body(handles[i], i)) return false;
    read_body(&bodies[i], handles[i]);
  }
  n_bodies = count;
  if (!list_contacts(world)) return false;
  for (size_t i = 0; i < n_of_step; i++) begin_contact(of_step[i], step_size);
  list_joints();
  first_joint_error = first_error(world, step_size);
  for (size_t i = 0; i < n_joints; i++)
    if (dJointGetFeedback(joints[i].joint) == NULL) {
      dJointSetFeedback(joints[i].joint, &joints[i].own);
      joints[i].lent = true;
    }
  return true;
}

/* ---- the law of contact ---- */

static double normal_force(const measured_contact *contact) {
  if (contact->force == NULL) return 0;
  // f1 is the second body's where the first is the world
  return fabs(vec3_dot(contact->force->f1, contact->asked.geom.normal));
}

/* What a newton changes in a step, m/s: of the centres alone. */
static double mobility_of(const measured_contact *contact, double h) {
  double mobility = 0;
  for (int side = 0; side < 2; side++)
    if (contact->bodies[side] != NULL && contact->bodies[side]->dynamic)
      mobility += h / contact->bodies[side]->mass;
  return mobility;
}

/* What a world says of all its contacts, and the size of the step. */
typedef struct world_law {
  double h, erp, cfm, layer, fastest;
} world_law;

/* The speed at which the program asks the contact to open, m/s: a correction
 * of what is left of its depth. What is apart may come as close as it is, but
 * for a stock stepper, to which it touches. */
static double correction_asked(const measured_contact *contact,
                               const world_law *world) {
  const dSurfaceParameters *surface = &contact->asked.surface;
  double erp = surface->mode & dContactSoftERP ? surface->soft_erp : world->erp;
  double depth = contact->asked.geom.depth - world->layer;
  double motion = surface->mode & dContactMotionN ? surface->motionN : 0;
  double approach = judged_by == LAW_OF_VELOCITY
                        ? 0
                        : larger_of(0, -contact->asked.geom.depth) / world->h;
  return smaller_of(erp / world->h * larger_of(0, depth) + motion,
                    world->fastest) -
         approach;
}

/* Whether a contact that bounces is left to the next step: it is apart, and the
 * bodies by themselves would not close it in this one. */
static bool waits(const measured_contact *contact, double h) {
  const dSurfaceParameters *surface = &contact->asked.surface;
  double gap = -contact->asked.geom.depth;
  double alone = contact->alone[0] + contact->alone[1];
  return judged_by != LAW_OF_VELOCITY && surface->mode & dContactBounce &&
         surface->bounce > 0 && gap > larger_of(0, surface->bounce_vel) * h &&
         gap + h * alone > 0;
}

/* By how much of the approach the bodies part again: the host's rule. */
static double bounce_asked(const measured_contact *contact, double before) {
  const dSurfaceParameters *surface = &contact->asked.surface;
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
  const dSurfaceParameters *surface = &contact->asked.surface;
  double motion = surface->mode & dContactMotionN ? surface->motionN : 0;
  double by_rule = bounce_asked(contact, before);
  double gain = alone - before;              /* m/s in the step */
  double speed = before - motion + gain / 2; /* in the middle of it */
  if (!isfinite(by_rule) || speed >= 0) return by_rule;
  double way = larger_of(-contact->asked.geom.depth, h * speed);
  double lost = 2 * gain / h * way; /* (m/s)^2, up to the surface */
  double square =
      surface->bounce * surface->bounce * (speed * speed - lost) + lost;
  return square > 0 ? gain / 2 + sqrt(square) + motion : -INFINITY;
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
  bool is_soft;
  double pushed; /* m/s: the force as the velocity that it gives */
} law_case;

/* How far a value is above a range, or, below 0, below it. */
static double beyond(double value, double from, double to) {
  return value > to ? value - to : smaller_of(value - from, 0);
}

static double law_gap(const law_case *c) {
  double asked = larger_of(c->correction, c->bounce);
  if (judged_by == LAW_OF_VELOCITY)
    return complementarity(c->opening + c->softness - asked, c->pushed);

  // of a correction, any part may be motion without velocity: the velocity is
  // anywhere between none of it and all, and what is moved makes up for it
  double still = larger_of(smaller_of(c->correction, 0), c->bounce);
  double most = judged_by == LAW_OF_GAP ? larger_of(asked, c->overlap) : asked;
  double gap =
      complementarity(beyond(c->opening + c->softness, still, most), c->pushed);
  if (c->is_soft) {
    // bodies that were put into each other have no spring between them until
    // they are apart; and one gives way under the push that moves its bodies,
    // which nobody is told
    return smaller_of(
        gap, complementarity(beyond(c->opening, still, most), c->pushed));
  }
  if (judged_by == LAW_OF_IMPULSE) asked = still;
  double lag =
      asked - larger_of(c->moved + c->softness, c->opening + c->softness);
  return larger_of(gap, lag);
}

static bool may_sleep(const measured_body *body) {
  return body != NULL && dBodyGetAutoDisableFlag(body->body) != 0;
}

static bool is_awake(const measured_body *body) {
  return body != NULL && body->dynamic && body->awake_after;
}

/* A body that the host puts to sleep as the step begins, only to wake it for
 * its neighbours, has lost its velocity, which cannot be seen from here: the
 * bounce asked for is the one that fits best with or without it. */
static double gap_of(const measured_contact *contact, const world_law *world,
                     double force) {
  const dSurfaceParameters *surface = &contact->asked.surface;
  double cfm = surface->mode & dContactSoftCFM ? surface->soft_cfm : world->cfm;
  double mobility = mobility_of(contact, world->h);
  if (waits(contact, world->h)) return mobility * force;
  law_case c = {
      .opening = opening(contact, false),
      .moved = judged_by == LAW_OF_VELOCITY ? 0 : opening(contact, true),
      .correction = correction_asked(contact, world),
      .softness = cfm * force,
      .overlap = contact->asked.geom.depth / world->h,
      .is_soft = cfm > SOFT * mobility,
      .pushed = mobility * force};
  bool bounces = surface->mode & dContactBounce;
  double least = INFINITY;
  for (int choice = 0; choice < (bounces ? 8 : 1); choice++) {
    bool first = choice & 1, second = choice & 2, on_the_way = choice & 4;
    if ((first && !may_sleep(contact->bodies[0])) ||
        (second && !may_sleep(contact->bodies[1])) ||
        (on_the_way && judged_by == LAW_OF_VELOCITY))
      continue;
    double before =
        (first ? 0 : contact->before[0]) + (second ? 0 : contact->before[1]);
    // of one that has fallen asleep the gain is what it would get awake
    double alone = before + contact->alone[0] - contact->before[0] +
                   contact->alone[1] - contact->before[1];
    c.bounce = on_the_way ? bounce_on_the_way(contact, world->h, before, alone)
                          : bounce_asked(contact, before);
    double gap = law_gap(&c);
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
    double d = a->asked.geom.pos[i] - b->asked.geom.pos[i];
    if (fabs(d) > APART) return false; // so are most, by their first number
    square += d * d;
  }
  return square <= APART * APART;
}

/* Points of one pair that are as good as one: which of them is told the force
 * that they share is the stepper's choice. A pair's contacts are made one after
 * the other. */
static double shared_force(size_t at) {
  enum { NEIGHBOURS = 16 };
  const measured_contact *contact = of_step[at], *other;
  double sum = contact->normal_force;
  int sharing = 1;
  for (size_t i = at; i > 0 && at - i < NEIGHBOURS; i--) {
    if (!same_pair(other = of_step[i - 1], contact)) break;
    if (!same_point(other, contact)) continue;
    sum += other->normal_force;
    sharing++;
  }
  for (size_t i = at + 1; i < n_of_step && i - at <= NEIGHBOURS; i++) {
    if (!same_pair(other = of_step[i], contact)) break;
    if (!same_point(other, contact)) continue;
    sum += other->normal_force;
    sharing++;
  }
  return sum / sharing;
}

/* By how much friction exceeds what the normal force allows, as the velocity
 * that the excess gives, m/s. */
static double cone_excess(const measured_contact *contact, double h) {
  const dSurfaceParameters *surface = &contact->asked.surface;
  const dReal *n = contact->asked.geom.normal;
  if (contact->force == NULL || !(surface->mu < dInfinity)) return 0;
  double tangential[3];
  vec3_copy(tangential, contact->force->f1);
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

static void measure_contacts(dWorldID world, double h, recording_step *out) {
  const double NOTHING = 1e-9; /* m/s: below it no second reading is tried */
  const world_law law = {h, dWorldGetERP(world), dWorldGetCFM(world),
                         dWorldGetContactSurfaceLayer(world),
                         dWorldGetContactMaxCorrectingVel(world)};
  for (size_t i = 0; i < n_of_step; i++)
    of_step[i]->normal_force = normal_force(of_step[i]);
  for (size_t i = 0; i < n_of_step; i++) {
    measured_contact *contact = of_step[i];
    if (contact->bodies[0] == NULL && contact->bodies[1] == NULL) continue;
    out->contacts++;
    double depth = contact->asked.geom.depth;
    if (!(depth <= out->penetration)) out->penetration = depth;
    if (!is_awake(contact->bodies[0]) && !is_awake(contact->bodies[1]))
      continue;
    double error = gap_of(contact, &law, contact->normal_force);
    if (error > NOTHING) {
      double shared = shared_force(i);
      if (shared != contact->normal_force)
        error = smaller_of(error, gap_of(contact, &law, shared));
    }
    contact->error = error;
    if (!(error <= out->contact_error)) out->contact_error = error;
    double excess = cone_excess(contact, h);
    if (!(excess <= out->cone_violation)) out->cone_violation = excess;
  }
}

/* ---- energy and momentum ---- */

static double energy_sum, contact_work_sum;

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

static void measure_energy(dWorldID world, double h, recording_step *out) {
  dVector3 gravity;
  dWorldGetGravity(world, gravity);
  double change = 0, explained = 0, by_contacts = 0;
  double momentum[3] = {0}, impulse[3] = {0};
  for (size_t i = 0; i < n_bodies; i++) {
    measured_body *body = &bodies[i];
    if (!body->dynamic) continue;
    double g[3] = {0};
    if (dBodyGetGravityMode(body->body)) vec3_copy(g, gravity);
    double potential = -body->mass * vec3_dot(g, body->now.position);
    double kinetic = kinetic_energy(body, body->solved_v, body->solved_w);
    out->potential += potential;
    out->kinetic += kinetic;
    double speed = vec3_length(body->solved_v);
    if (!(speed <= out->fastest)) out->fastest = speed;
    if (!body->awake_after || !body->awake) continue;

    double fallen = -body->mass * vec3_dot(g, body->position);
    change += kinetic + potential - body->energy - fallen;
    double nothing[3] = {0};
    explained += work_on(body, body->force, body->torque, h, nothing);
    for (int k = 0; k < 3; k++)
      momentum[k] += body->mass * (body->solved_v[k] - body->v[k] - h * g[k]) -
                     h * body->force[k];
  }
  for (size_t i = 0; i < n_of_step; i++) {
    const measured_contact *contact = of_step[i];
    if (contact->force != NULL)
      by_contacts += work_of(contact->bodies[0], contact->bodies[1],
                             contact->force, h, impulse);
  }
  for (size_t i = 0; i < n_joints; i++) {
    dJointID joint = joints[i].joint;
    const dJointFeedback *force = dJointGetFeedback(joint);
    if (force != NULL)
      explained +=
          work_of(find_body(dJointGetBody(joint, 0)),
                  find_body(dJointGetBody(joint, 1)), force, h, impulse);
  }
  vec3_add_scaled(momentum, -1, impulse);
  if (by_contacts > 0) contact_work_sum += by_contacts;
  energy_sum += change - explained - by_contacts;
  out->energy_unexplained = energy_sum;
  out->contact_work = contact_work_sum;
  out->momentum_unexplained = vec3_length(momentum);
}

void measure_abandon(void) {
  for (size_t i = 0; i < n_joints; i++)
    if (joints[i].lent) dJointSetFeedback(joints[i].joint, NULL);
}

void measure_end(dWorldID world, double h, recording_step *out) {
  for (size_t i = 0; i < n_bodies; i++) {
    read_motion(&bodies[i], h, judged_by == LAW_OF_VELOCITY);
    out->bodies++;
    out->awake += bodies[i].awake_after;
  }
  measure_contacts(world, h, out);
  measure_energy(world, h, out);
  measure_abandon();
  double error = joint_error(h);
  out->joint_error = error > first_joint_error ? error : first_joint_error;
}
