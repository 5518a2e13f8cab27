#include "preload/recorder_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/six.h"
#include "gap/real.h"
#include "host/joints.h"
#include "preload/recorder_shapes.h"
#include "preload/recorder_traffic.h"

/* What is kept from step to step; begins as zeros. */
static memory_pool kept;

static void *allocate_zeros(void *context, size_t size) {
  (void)context;
  return calloc(1, size);
}

/* ---- bodies ---- */

/* The places of a body's state in the host, which stay as long as the body. */
typedef struct body_places {
  dBodyID body;
  unsigned long serial;
  const dReal *position, *quaternion, *v, *w, *force, *torque;
} body_places;

static dBodyID *handles;
static body_places *bodies;
static size_t n_bodies;
/* place of a body among those of the step by its serial number, from 1 */
static uint32_t *places;

static bool place_body(size_t serial, size_t index) {
  if (!POOL_GROW(&kept, places, serial + 1)) return false;
  places[serial] = (uint32_t)index + 1;
  return true;
}

/* Number of a body of the step's world, from 1; 0: no body. */
static uint32_t place_of(dBodyID body) {
  return body != NULL ? places[dBodyGetSerial(body)] : 0;
}

dBodyID const *state_bodies(size_t *count) {
  *count = n_bodies;
  return handles;
}

static void read_kind(traffic_kind *kind, dBodyID body) {
  dMass mass;
  dBodyGetMass(body, &mass);
  kind->mass = mass.mass;
  for (int i = 0; i < 3; i++)
    real_read(kind->inertia + 3 * i, mass.I + 4 * i, 3);
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
}

static bool list_bodies(dWorldID world) {
  n_bodies = 0;
  size_t count = dWorldGetBodies(world, NULL, 0);
  if (!POOL_RESERVE(&kept, handles, count) ||
      !POOL_RESERVE(&kept, bodies, count))
    return false;
  dWorldGetBodies(world, handles, count);
  for (size_t i = 0; i < count; i++) {
    dBodyID body = handles[i];
    unsigned long serial = dBodyGetSerial(body);
    if (!place_body(serial, i)) return false;
    if (bodies[i].body != body || bodies[i].serial != serial) {
      recorder_shapes_body_changed();
      read_places(&bodies[i], body);
    }
  }
  n_bodies = count;
  return true;
}

static void read_state(traffic_state *state, const body_places *body) {
  real_read(state->position, body->position, 3);
  real_read(state->quaternion, body->quaternion, 4);
  real_read(state->v, body->v, 3);
  real_read(state->w, body->w, 3);
}

static void read_before(traffic_body *out, const body_places *places) {
  read_kind(&out->kind, places->body);
  out->awake = dBodyIsEnabled(places->body) != 0;
  read_state(&out->before, places);
  real_read(out->force, places->force, 3);
  real_read(out->torque, places->torque, 3);
}

/* ---- joints ---- */

/* All of the step's world; then the contacts among them, and those of the others
 * that hold a body, each in order of creation. */
static dWorldJoint *all;
static const dWorldJoint **contacts, **joints;
static size_t n_contacts, n_joints;

static bool list_joints(dWorldID world) {
  n_contacts = n_joints = 0;
  size_t count = dWorldGetJoints(world, NULL, 0);
  if (!POOL_RESERVE(&kept, all, count) ||
      !POOL_RESERVE(&kept, contacts, count) ||
      !POOL_RESERVE(&kept, joints, count))
    return false;
  dWorldGetJoints(world, all, count);
  for (size_t i = 0; i < count; i++) {
    const dWorldJoint *joint = &all[i];
    bool holds = joint->body[0] != NULL || joint->body[1] != NULL;
    if (joint->contact != NULL)
      contacts[n_contacts++] = joint;
    else if (holds && joint->enabled)
      joints[n_joints++] = joint;
  }
  return true;
}

/* The host writes into the record that is being told, unless the program has a
 * place of its own. */
static void ask_for_force(const dWorldJoint *joint, dJointFeedback *told) {
  *told = (dJointFeedback){.f1 = {0}};
  if (joint->feedback == NULL) dJointSetFeedback(joint->joint, told);
}

static void take_force(const dWorldJoint *joint, dJointFeedback *told) {
  if (joint->feedback == NULL)
    dJointSetFeedback(joint->joint, NULL);
  else
    *told = *joint->feedback;
}

/* ---- rows of joints that may do work ---- */

/* A joint's rows as its step began; count 0: nothing that it tells is of rows that
 * may do work. */
typedef struct working_rows {
  unsigned count;
  bool works[6];
  double J[6][12]; /* of both bodies' linear and angular velocity */
} working_rows;

static working_rows *rows_of_joints;
static bool halfway;

void state_rows_halfway(void) { halfway = true; }

/* The change of a row's speed by a newton, 1/kg: of turning by the mean of the
 * inertia's axes, for a comparison of sizes. */
static double row_mobility(const double J[12], const dWorldJoint *joint) {
  double mobility = 0;
  // a joint between a body and the world has its body first
  dBodyID ends[2] = {joint->body[0], joint->body[1]};
  if (ends[0] == NULL) ends[0] = ends[1], ends[1] = NULL;
  for (int side = 0; side < 2; side++) {
    dMass mass;
    const double *j = J + 6 * side;
    if (ends[side] == NULL || dBodyIsKinematic(ends[side])) continue;
    dBodyGetMass(ends[side], &mass);
    mobility += (j[0] * j[0] + j[1] * j[1] + j[2] * j[2]) / mass.mass +
                3 * (j[3] * j[3] + j[4] * j[4] + j[5] * j[5]) /
                    (mass.I[0] + mass.I[5] + mass.I[10]);
  }
  return mobility;
}

/* A row that gives way by more than this part of what it moves is a spring. */
static const double SOFT = 1e-3;

/* @return the joint's position error, m or rad: how far a spring of its own CFM has
 *  given way is none */
static double read_working_rows(working_rows *out, const dWorldJoint *joint,
                                double h) {
  host_rows rows;
  double errors[6], worst = 0;
  out->count = 0;
  if (!host_joint_rows_and_errors(joint->joint, h, &rows, errors)) return 0;
  // a stepper that sees stops before they are reached tells of them, too
  dBodyID body = joint->body[0] != NULL ? joint->body[0] : joint->body[1];
  dWorldID world = dBodyGetWorld(body);
  bool any = dWorldGetStepper(world) != NULL;
  for (unsigned i = 0; i < rows.count; i++) {
    memcpy(out->J[i], rows.J[i], sizeof out->J[i]);
    bool soft = rows.cfm[i] > HOST_DEFAULT_CFM &&
                rows.cfm[i] / h > SOFT * row_mobility(out->J[i], joint);
    out->works[i] = rows.lo[i] > -INFINITY || rows.hi[i] < INFINITY || soft;
    any |= out->works[i];
    if (!soft || rows.cfm[i] <= dWorldGetCFM(world))
      worst = fmax(worst, errors[i]);
  }
  if (any) out->count = rows.count;
  return worst;
}

/* Of a stepper that takes rows halfway: the mean of both ends of the step. */
static void move_halfway(working_rows *rows, const dWorldJoint *joint,
                         double h) {
  working_rows end;
  if (!halfway || rows->count == 0) return;
  read_working_rows(&end, joint, h);
  for (unsigned i = 0; i < rows->count && end.count == rows->count; i++)
    for (int k = 0; k < 12; k++)
      rows->J[i][k] = (rows->J[i][k] + end.J[i][k]) / 2;
}

/* The part of a joint's force that may do work: all but that of rows which can do
 * none. The rows' forces are those whose sum is nearest to what it told; what is left
 * is of stops that were met within the step. */
static void find_working(const working_rows *rows, traffic_joint *joint) {
  double A[36] = {0}, along[6] = {0}, forces[6], told[12], sum[12] = {0};
  joint->working = (dJointFeedback){.f1 = {0}};
  if (rows->count == 0) return;
  dReal *told_parts[] = {joint->force.f1, joint->force.t1, joint->force.f2,
                         joint->force.t2};
  dReal *parts[] = {joint->working.f1, joint->working.t1, joint->working.f2,
                    joint->working.t2};
  for (int k = 0; k < 12; k++) told[k] = told_parts[k / 3][k % 3];
  // one that is the world's has no part in it
  int size = joint->bodies[0] > 0 && joint->bodies[1] > 0 ? 12 : 6;
  for (unsigned i = 0; i < rows->count; i++) {
    for (int k = 0; k < size; k++) along[i] += rows->J[i][k] * told[k];
    for (unsigned j = 0; j < rows->count; j++)
      for (int k = 0; k < size; k++)
        A[6 * i + j] += rows->J[i][k] * rows->J[j][k];
  }
  matrix6_solve(forces, A, along); // rows that repeat others get nothing
  memcpy(sum, told, (size_t)size * sizeof *sum);
  for (unsigned i = 0; i < rows->count; i++)
    for (int k = 0; k < size && !rows->works[i]; k++)
      sum[k] -= rows->J[i][k] * forces[i];
  for (int k = 0; k < 12; k++) parts[k / 3][k % 3] = (dReal)sum[k];
}

/* ---- a step ---- */

static traffic_body *bodies_of(traffic_step *step) {
  return (traffic_body *)(step + 1);
}

static traffic_contact *contacts_of(traffic_step *step) {
  return (traffic_contact *)(bodies_of(step) + n_bodies);
}

static traffic_joint *joints_of(traffic_step *step) {
  return (traffic_joint *)(contacts_of(step) + n_contacts);
}

static void tell_contact(traffic_contact *out, const dWorldJoint *contact) {
  for (int side = 0; side < 2; side++)
    out->bodies[side] = place_of(contact->body[side]);
  out->asked = *contact->contact;
  ask_for_force(contact, &out->force);
}

static void tell_joint(traffic_joint *out, const dWorldJoint *joint) {
  for (int side = 0; side < 2; side++)
    out->bodies[side] = place_of(joint->body[side]);
  ask_for_force(joint, &out->force);
}

traffic_step *state_begin(dWorldID world, double step_size) {
  static memory_source zeros;
  zeros = memory_from_malloc;
  zeros.allocate = allocate_zeros;
  if (kept.from == NULL) memory_pool_open(&kept, &zeros);
  n_contacts = n_joints = 0;
  if (!list_bodies(world) || !list_joints(world) ||
      !POOL_RESERVE(&kept, rows_of_joints, n_joints))
    return NULL;
  traffic_step *step = traffic_begin(
      TRAFFIC_STEP, sizeof *step + n_bodies * sizeof(traffic_body) +
                        n_contacts * sizeof(traffic_contact) +
                        n_joints * sizeof(traffic_joint));
  if (step == NULL) return NULL;
  step->n_bodies = (uint32_t)n_bodies;
  step->n_contacts = (uint32_t)n_contacts;
  step->n_joints = (uint32_t)n_joints;
  for (size_t i = 0; i < n_bodies; i++)
    read_before(&bodies_of(step)[i], &bodies[i]);
  step->joint_error = 0;
  for (size_t i = 0; i < n_contacts; i++)
    tell_contact(&contacts_of(step)[i], contacts[i]);
  for (size_t i = 0; i < n_joints; i++) {
    tell_joint(&joints_of(step)[i], joints[i]);
    double error = read_working_rows(&rows_of_joints[i], joints[i], step_size);
    if (!(error <= step->joint_error)) step->joint_error = error;
  }
  return step;
}

void state_end(dWorldID world, double step_size, traffic_step *step) {
  traffic_body *told = bodies_of(step);
  for (size_t i = 0; i < n_bodies; i++) {
    read_state(&told[i].after, &bodies[i]);
    told[i].awake_after = dBodyIsEnabled(handles[i]) != 0;
  }
  for (size_t i = 0; i < n_contacts; i++)
    take_force(contacts[i], &contacts_of(step)[i].force);
  for (size_t i = 0; i < n_joints; i++) {
    take_force(joints[i], &joints_of(step)[i].force);
    move_halfway(&rows_of_joints[i], joints[i], step_size);
    find_working(&rows_of_joints[i], &joints_of(step)[i]);
  }
  step->erp = dWorldGetERP(world);
  // each stepper is judged by the CFM that it steps with
  step->cfm = dWorldGetStepper(world) != NULL ? host_world_cfm(world)
                                              : dWorldGetCFM(world);
  step->layer = dWorldGetContactSurfaceLayer(world);
  step->fastest = dWorldGetContactMaxCorrectingVel(world);
  dWorldGetGravity(world, step->gravity);
}
