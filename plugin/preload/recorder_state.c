#include "preload/recorder_state.h"

#include <stdlib.h>
#include <string.h>

#include "host/joints.h"
#include "preload/recorder_shapes.h"
#include "preload/recorder_traffic.h"

/* ---- contacts ---- */

/* In blocks that stay where they are: the host writes feedback into them. */
enum { A_BLOCK = 1024 };
static seen_contact **blocks;
static size_t n_blocks, n_contacts;

static seen_contact *contact_at(size_t index) {
  return &blocks[index / A_BLOCK][index % A_BLOCK];
}

void state_contact_made(dJointID joint, dWorldID world, dJointGroupID group,
                        const dContact *asked) {
  if (joint == NULL) return;
  if (n_contacts == n_blocks * A_BLOCK) {
    seen_contact **more = realloc(blocks, (n_blocks + 1) * sizeof *blocks);
    if (more == NULL) return;
    blocks = more;
    blocks[n_blocks] = malloc(A_BLOCK * sizeof **blocks);
    if (blocks[n_blocks] == NULL) return;
    n_blocks++;
  }
  seen_contact *contact = contact_at(n_contacts++);
  contact->joint = joint;
  contact->world = world;
  contact->group = group;
  contact->asked = *asked;
}

/* Feedback of one that stays may point into a place that another one gets: it
 * is set anew before each step. */
static void keep_contacts(bool (*goes)(const seen_contact *, const void *),
                          const void *what) {
  size_t n = 0;
  for (size_t i = 0; i < n_contacts; i++) {
    seen_contact *contact = contact_at(i);
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

static bool is_in_group(const seen_contact *contact, const void *group) {
  return contact->group == group;
}

static bool is_joint(const seen_contact *contact, const void *joint) {
  return contact->joint == joint;
}

static bool is_in_world(const seen_contact *contact, const void *world) {
  return contact->world == world;
}

void state_group_emptied(dJointGroupID group) {
  keep_contacts(is_in_group, group);
}

void state_joint_gone(dJointID joint) { keep_contacts(is_joint, joint); }

static dWorldID last_world; /* in which a step was seen */

void state_world_gone(dWorldID world) {
  keep_contacts(is_in_world, world);
  last_world = NULL;
}

size_t state_contact_count(void) { return n_contacts; }

const seen_contact *state_contact(size_t index) { return contact_at(index); }

/* Those of the step's world, in the same order. */
static seen_contact **of_step;
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

/* ---- bodies ---- */

/* Where the host keeps a body's state, as long as there is the body, and what it
 * is like, which is read anew only where a program changed it. */
typedef struct body_places {
  dBodyID body;
  unsigned long serial;
  const dReal *position, *quaternion, *v, *w, *force, *torque;
  unsigned read_at; /* of n_changes */
  traffic_kind kind;
} body_places;

static unsigned n_changes;

void state_bodies_changed(void) { n_changes++; }

static dBodyID *handles;
static body_places *bodies;
static size_t n_bodies, bodies_size;
/* place of a body among those of the step by its serial number, from 1 */
static uint32_t *places;
static size_t places_size;

static bool room_for_bodies(size_t count) {
  if (count <= bodies_size) return true;
  free(handles);
  free(bodies);
  bodies_size = 2 * count;
  handles = malloc(bodies_size * sizeof *handles);
  bodies = calloc(bodies_size, sizeof *bodies);
  if (handles != NULL && bodies != NULL) return true;
  free(handles);
  free(bodies);
  handles = NULL;
  bodies = NULL;
  bodies_size = 0;
  return false;
}

static bool place_body(size_t serial, size_t index) {
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

/* Of a body of the step's world, from 1; 0: no body. */
static uint32_t place_of(dBodyID body) {
  return body != NULL ? places[dBodyGetSerial(body)] : 0;
}

dBodyID const *state_bodies(size_t *count) {
  *count = n_bodies;
  return handles;
}

static void read_kind(body_places *places, dBodyID body) {
  dMass mass;
  traffic_kind *kind = &places->kind;
  places->read_at = n_changes;
  dBodyGetMass(body, &mass);
  kind->mass = mass.mass;
  for (int i = 0; i < 3; i++)
    memcpy(kind->inertia + 3 * i, mass.I + 4 * i, 3 * sizeof(double));
  kind->body = (uint32_t)dBodyGetSerial(body);
  kind->flags =
      (dBodyIsKinematic(body) ? 0U : (unsigned)TRAFFIC_DYNAMIC) |
      (dBodyGetGravityMode(body) ? TRAFFIC_FALLS : 0U) |
      (dBodyGetGyroscopicMode(body) ? TRAFFIC_GYROSCOPIC : 0U) |
      (dBodyGetFiniteRotationMode(body) ? TRAFFIC_FINITE_ROTATION : 0U) |
      (dBodyGetAutoDisableFlag(body) ? TRAFFIC_MAY_SLEEP : 0U);
  kind->linear_damping = dBodyGetLinearDamping(body);
  kind->linear_threshold = dBodyGetLinearDampingThreshold(body);
  kind->angular_damping = dBodyGetAngularDamping(body);
  kind->angular_threshold = dBodyGetAngularDampingThreshold(body);
}

static void read_places(body_places *places, dBodyID body) {
  places->body = body;
  places->serial = dBodyGetSerial(body);
  places->position = dBodyGetPosition(body);
  places->quaternion = dBodyGetQuaternion(body);
  places->v = dBodyGetLinearVel(body);
  places->w = dBodyGetAngularVel(body);
  places->force = dBodyGetForce(body);
  places->torque = dBodyGetTorque(body);
  read_kind(places, body);
}

static bool list_bodies(dWorldID world) {
  n_bodies = 0;
  size_t count = dWorldGetBodies(world, NULL, 0);
  if (!room_for_bodies(count)) return false;
  dWorldGetBodies(world, handles, count);
  for (size_t i = 0; i < count; i++) {
    dBodyID body = handles[i];
    unsigned long serial = dBodyGetSerial(body);
    if (!place_body(serial, i)) return false;
    if (bodies[i].body != body || bodies[i].serial != serial) {
      recorder_shapes_body_changed();
      read_places(&bodies[i], body);
    } else if (bodies[i].read_at != n_changes) {
      read_kind(&bodies[i], body);
    }
  }
  n_bodies = count;
  return true;
}

static void read_state(traffic_state *state, const body_places *body) {
  memcpy(state->position, body->position, sizeof state->position);
  memcpy(state->quaternion, body->quaternion, sizeof state->quaternion);
  memcpy(state->v, body->v, sizeof state->v);
  memcpy(state->w, body->w, sizeof state->w);
}

static void read_before(traffic_body *out, const body_places *places) {
  out->kind = places->kind;
  out->awake = dBodyIsEnabled(places->body) != 0;
  read_state(&out->before, places);
  memcpy(out->force, places->force, sizeof out->force);
  memcpy(out->torque, places->torque, sizeof out->torque);
}

/* ---- joints ---- */

/* Those of the step that the program has no feedback for get one of ours, for
 * the step. */
typedef struct seen_joint {
  dJointID joint;
  dJointFeedback own;
  bool lent;
} seen_joint;

static seen_joint *joints;
static size_t n_joints, joints_size;

static bool add_joint(dJointID joint) {
  if (n_joints == joints_size) {
    // nothing points into the old block: feedback is lent when all are known
    size_t size = joints_size == 0 ? 64 : 2 * joints_size;
    seen_joint *more = realloc(joints, size * sizeof *joints);
    if (more == NULL) return false;
    joints = more;
    joints_size = size;
  }
  joints[n_joints++].joint = joint;
  return true;
}

/* `on_body` [n_bodies]: contact joints on each. */
static void list_joints(const int on_body[]) {
  n_joints = 0;
  for (size_t i = 0; i < n_bodies; i++) {
    dBodyID body = handles[i];
    int count = dBodyGetNumJoints(body);
    // the host walks a list for each: where all are contacts, none is looked at
    if (count == on_body[i]) continue;
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

static void lend_feedback(void) {
  for (size_t i = 0; i < n_joints; i++) {
    seen_joint *joint = &joints[i];
    joint->lent = dJointGetFeedback(joint->joint) == NULL;
    if (!joint->lent) continue;
    memset(&joint->own, 0, sizeof joint->own);
    dJointSetFeedback(joint->joint, &joint->own);
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

/* The host works a joint's error out of all its rows, which costs as much as a
 * tenth of a step of a chain: read after one step in four, and after each while
 * it rises towards the worst so far; and before the first with these joints. */
enum { JOINT_STEPS = 4 };
static const double NEAR = 0.8;        /* of the worst */
static double last_error, worst_error; /* of those read */
static unsigned until_read;

static void read_first_error(dWorldID world, double h) {
  static size_t last_count;
  if (world == last_world && n_joints == last_count) return;
  last_world = world;
  last_count = n_joints;
  last_error = worst_error = joint_error(h);
  until_read = 0;
}

static double error_after(double h) {
  if (n_joints == 0) return 0;
  if (until_read > 0) {
    until_read--;
    return last_error;
  }
  double error = joint_error(h);
  bool rises = error > last_error && error > NEAR * worst_error;
  if (!(error <= worst_error)) worst_error = error;
  until_read = rises ? 0 : JOINT_STEPS - 1;
  return last_error = error;
}

/* ---- a step ---- */

static int *on_body;
static size_t on_body_size;

static bool count_contacts_on_bodies(void) {
  if (n_bodies > on_body_size) {
    free(on_body);
    on_body_size = 2 * n_bodies;
    on_body = malloc(on_body_size * sizeof *on_body);
    if (on_body == NULL) on_body_size = 0;
    if (on_body == NULL) return false;
  }
  memset(on_body, 0, n_bodies * sizeof *on_body);
  for (size_t i = 0; i < n_of_step; i++)
    for (int side = 0; side < 2; side++) {
      uint32_t place = place_of(dJointGetBody(of_step[i]->joint, side));
      of_step[i]->bodies[side] = place;
      if (place > 0) on_body[place - 1]++;
    }
  return true;
}

static void note_forces(void) {
  for (size_t i = 0; i < n_of_step; i++) {
    seen_contact *contact = of_step[i];
    contact->force = dJointGetFeedback(contact->joint);
    if (contact->force != NULL && contact->force != &contact->own_force)
      continue;
    memset(&contact->own_force, 0, sizeof contact->own_force);
    dJointSetFeedback(contact->joint, &contact->own_force);
    contact->force = &contact->own_force;
  }
}

static traffic_body *bodies_of(traffic_step *step) {
  return (traffic_body *)(step + 1);
}

traffic_step *state_begin(dWorldID world, double step_size) {
  n_of_step = n_joints = 0;
  if (!list_bodies(world) || !list_contacts(world) ||
      !count_contacts_on_bodies())
    return NULL;
  list_joints(on_body);
  traffic_step *step = traffic_begin(
      TRAFFIC_STEP, sizeof *step + n_bodies * sizeof(traffic_body) +
                        n_of_step * sizeof(traffic_contact) +
                        n_joints * sizeof(traffic_joint));
  if (step == NULL) return NULL;
  step->n_bodies = (uint32_t)n_bodies;
  step->n_contacts = (uint32_t)n_of_step;
  step->n_joints = (uint32_t)n_joints;
  for (size_t i = 0; i < n_bodies; i++)
    read_before(&bodies_of(step)[i], &bodies[i]);
  read_first_error(world, step_size);
  step->joint_error = last_error;
  note_forces();
  lend_feedback();
  return step;
}

static void tell_contacts(traffic_contact *out) {
  for (size_t i = 0; i < n_of_step; i++, out++) {
    const seen_contact *contact = of_step[i];
    memcpy(out->bodies, contact->bodies, sizeof out->bodies);
    out->asked = contact->asked;
    out->force = *contact->force;
  }
}

static void tell_joints(traffic_joint *out) {
  for (size_t i = 0; i < n_joints; i++, out++) {
    dJointID joint = joints[i].joint;
    for (int side = 0; side < 2; side++)
      out->bodies[side] = place_of(dJointGetBody(joint, side));
    out->force = *dJointGetFeedback(joint);
    if (joints[i].lent) dJointSetFeedback(joint, NULL);
  }
}

void state_end(dWorldID world, double step_size, traffic_step *step) {
  traffic_body *told = bodies_of(step);
  for (size_t i = 0; i < n_bodies; i++) {
    read_state(&told[i].after, &bodies[i]);
    told[i].awake_after = dBodyIsEnabled(handles[i]) != 0;
  }
  traffic_contact *contacts = (traffic_contact *)(told + n_bodies);
  tell_contacts(contacts);
  tell_joints((traffic_joint *)(contacts + n_of_step));
  step->erp = dWorldGetERP(world);
  step->cfm = dWorldGetCFM(world);
  step->layer = dWorldGetContactSurfaceLayer(world);
  step->fastest = dWorldGetContactMaxCorrectingVel(world);
  dWorldGetGravity(world, step->gravity);
  double error = error_after(step_size);
  if (error > step->joint_error) step->joint_error = error;
}
