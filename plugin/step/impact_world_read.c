#include <math.h>
#include <ode/stepper.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec3.h"
#include "step/impact_world.h"

/* m: further apart is not touching */
static const double TOUCHING = 1e-6;
/* m/s: an approach, as an impact's own tolerance */
static const double APPROACHING = 1e-8;
/* in place of an infinite coefficient */
static const double MU_INFINITE = 1e5;
/* m/s: a slip below has no direction */
static const double SLIP_FLOOR = 1e-9;

#define RESERVE(field, block, count)                                          \
  ((reading->field = memory_block_reserve(&reading->block, reading->source,   \
                                          (count), sizeof *reading->field)) != \
   NULL)

bool world_reading_reserve(world_reading *reading, size_t n_bodies,
                           size_t n_touches, size_t n_ties) {
  if (!RESERVE(bodies, body_block, n_bodies) ||
      !RESERVE(place, place_block, n_bodies) ||
      !RESERVE(part, part_block, n_bodies) ||
      !RESERVE(collides, collides_block, n_bodies) ||
      !RESERVE(touches, touch_block, n_touches) ||
      !RESERVE(ties, tie_block, n_ties))
    return false;
  reading->n_bodies = (int)n_bodies;
  return true;
}

/* --- bodies -------------------------------------------------------------- */

static ode_mlcp_error read_bodies(world_reading *reading, dWorldID world) {
  size_t count = dWorldGetBodies(world, NULL, 0);
  memory_block ids_block = {NULL, 0};
  dBodyID *ids = memory_block_reserve(&ids_block, reading->source, count,
                                      sizeof *ids);
  ode_mlcp_error error = ODE_MLCP_OK;
  if (ids == NULL || !world_reading_reserve(reading, count, 0, 0))
    error = ODE_MLCP_NO_MEMORY;
  else
    dWorldGetBodies(world, ids, count);
  for (size_t b = 0; error == ODE_MLCP_OK && b < count; b++) {
    /* the step size matters to forces only, and those are not used */
    if (!host_body_read(&reading->bodies[b], ids[b], 1, reading->message,
                        reading->message_size))
      error = ODE_MLCP_BAD_ARGUMENT;
  }
  memory_block_release(&ids_block, reading->source);
  return error;
}

/* Bodies are in order of their serial numbers. -1: the world. */
static int find_body(const world_reading *reading, dBodyID id) {
  if (id == NULL) return -1;
  unsigned long serial = dBodyGetSerial(id);
  int low = 0, high = reading->n_bodies - 1;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (reading->bodies[middle].serial < serial)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool is_dynamic(const world_reading *reading, int body) {
  return body >= 0 && !reading->bodies[body].kinematic;
}

double world_reading_speed(const world_reading *reading, const int body[2],
                           const double J[2][6], bool kinematic_only) {
  double sum = 0;
  for (int side = 0; side < 2; side++) {
    if (body[side] < 0) continue;
    const host_body *b = &reading->bodies[body[side]];
    if (kinematic_only && !b->kinematic) continue;
    for (int i = 0; i < 6; i++) sum += J[side][i] * b->v[i];
  }
  return sum;
}

/* --- contacts ------------------------------------------------------------ */

/* The coefficient of a direction: see ode_mlcp_impact_problem_of_world. */
static double coefficient(const dSurfaceParameters *surface, int direction) {
  bool second = direction == 1 && (surface->mode & dContactMu2);
  double mu = second ? surface->mu2 : surface->mu;
  int proportional = direction == 0 ? dContactApprox1_1 : dContactApprox1_2;
  int viscous = direction == 0 ? dContactSlip1 : dContactSlip2;
  if (surface->mode & viscous) return 0;
  if (isinf(mu) && mu > 0) return MU_INFINITE;
  if (!(surface->mode & proportional)) return 0;
  return fmin(fmax(mu, 0), MU_INFINITE);
}

/* Turn the axes so that the first is along the slip. */
static void align_with_slip(const world_reading *reading,
                            const world_touch *touch, const double motion[2],
                            double axis[2][3]) {
  double slip[2], first[3] = {0, 0, 0};
  for (int d = 0; d < 2; d++) {
    double J[2][6];
    contact_rows_jacobian(J, &touch->reading, axis[d]);
    slip[d] = world_reading_speed(reading, touch->body, J, false) - motion[d];
  }
  double size = hypot(slip[0], slip[1]);
  if (!(size > SLIP_FLOOR)) return;
  for (int d = 0; d < 2; d++) vec3_add_scaled(first, slip[d] / size, axis[d]);
  vec3_copy(axis[0], first);
  vec3_cross(axis[1], touch->reading.normal, axis[0]);
}

static void fill_touch(const world_reading *reading, world_touch *touch) {
  const dSurfaceParameters *surface = &touch->reading.contact->surface;
  const double motion[2] = {
      surface->mode & dContactMotion1 ? surface->motion1 : 0,
      surface->mode & dContactMotion2 ? surface->motion2 : 0};
  double axis[2][3];
  contact_rows_axes(axis, &touch->reading);
  /* a moving surface's directions are those of the program */
  if (!(surface->mode &
        (dContactFDir1 | dContactMu2 | dContactMotion1 | dContactMotion2)))
    align_with_slip(reading, touch, motion, axis);

  contact_rows_jacobian(touch->J[0], &touch->reading, touch->reading.normal);
  touch->surface[0] =
      surface->mode & dContactMotionN ? -surface->motionN : 0;
  for (int d = 0; d < 2; d++) {
    contact_rows_jacobian(touch->J[1 + d], &touch->reading, axis[d]);
    touch->surface[1 + d] = -motion[d];
    touch->mu[d] = coefficient(surface, d);
  }
}

/* Whether the last touch is one of those before; that takes the deeper. */
static bool merge(world_reading *reading) {
  const world_touch *last = &reading->touches[reading->n_touches];
  for (int i = 0; i < reading->n_touches; i++) {
    world_touch *other = &reading->touches[i];
    if (other->reading.contact == NULL || other->body[0] != last->body[0] ||
        other->body[1] != last->body[1] ||
        !contact_rows_same_point(&other->reading, &last->reading))
      continue;
    if (last->reading.contact->geom.depth > other->reading.contact->geom.depth)
      *other = *last;
    return true;
  }
  return false;
}

void world_reading_add_contact(world_reading *reading,
                               const world_touch *touch) {
  world_touch *added = &reading->touches[reading->n_touches];
  *added = *touch;
  fill_touch(reading, added);
  if (merge(reading))
    reading->left_out++;
  else
    reading->n_touches++;
}

/* `owner` is the joint, or NULL: then the contact is the number-th given. */
static ode_mlcp_error add_contact(world_reading *reading,
                                  const dContact *contact, dBodyID first,
                                  dBodyID second, dJointID owner, int number) {
  world_touch *touch = &reading->touches[reading->n_touches];
  *touch = (world_touch){.joint = owner};
  bool reversed = first == NULL;
  touch->body[0] = find_body(reading, reversed ? second : first);
  touch->body[1] = find_body(reading, reversed ? NULL : second);
  if (!is_dynamic(reading, touch->body[0]) &&
      !is_dynamic(reading, touch->body[1]))
    return ODE_MLCP_OK;

  const char *bad_name;
  double bad_value;
  switch (contact_rows_read(&touch->reading, contact, reversed, touch->body,
                            reading->bodies, &bad_name, &bad_value)) {
    case CONTACT_USABLE:
      break;
    case CONTACT_NO_NORMAL:
      reading->left_out++;
      return ODE_MLCP_OK;
    default:
      snprintf(reading->message, reading->message_size, "%s %lu: %s is %g",
               owner != NULL ? "contact joint" : "contact",
               owner != NULL ? dJointGetSerial(owner)
                             : (unsigned long)number + 1,
               bad_name, bad_value);
      return ODE_MLCP_BAD_ARGUMENT;
  }
  if (contact->geom.depth < -TOUCHING) return ODE_MLCP_OK;
  const world_touch read = *touch;
  world_reading_add_contact(reading, &read);
  return ODE_MLCP_OK;
}

static ode_mlcp_error add_given(world_reading *reading, dWorldID world,
                                const dContact contacts[], int n_contacts) {
  ode_mlcp_error error = ODE_MLCP_OK;
  for (int i = 0; i < n_contacts && error == ODE_MLCP_OK; i++) {
    const dGeomID geoms[2] = {contacts[i].geom.g1, contacts[i].geom.g2};
    dBodyID body[2];
    for (int side = 0; side < 2; side++) {
      body[side] = geoms[side] != NULL ? dGeomGetBody(geoms[side]) : NULL;
      if (body[side] == NULL || dBodyGetWorld(body[side]) == world) continue;
      snprintf(reading->message, reading->message_size,
               "contact %d: a body of another world", i + 1);
      return ODE_MLCP_BAD_ARGUMENT;
    }
    error = add_contact(reading, &contacts[i], body[0], body[1], NULL, i);
  }
  return error;
}

/* --- joints -------------------------------------------------------------- */

/* In an impact a finite force is none: a bound is 0 or infinite. */
static void add_row(world_reading *reading, dJointID joint, const int body[2],
                    const joint_reading *rows, unsigned i, double world_cfm) {
  const dStepperJointRows *host = &rows->rows;
  bool pushes = isinf(host->hi[i]), pulls = isinf(host->lo[i]);
  /* a compliance of its own makes a spring, and that is a finite force */
  if ((!pushes && !pulls) || host->cfm[i] > world_cfm) return;
  if (pushes && pulls) {
    world_tie *tie = &reading->ties[reading->n_ties++];
    *tie = (world_tie){.body = {body[0], body[1]},
                       .target = host->rhs[i] - rows->correction[i]};
    memcpy(tie->J, host->J[i], sizeof tie->J);
    return;
  }
  world_touch *touch = &reading->touches[reading->n_touches++];
  *touch = (world_touch){.joint = joint, .body = {body[0], body[1]}};
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < 6; k++)
      touch->J[0][side][k] = pushes ? host->J[i][side][k]
                                    : -host->J[i][side][k];
}

void world_reading_add_joint(world_reading *reading, dJointID joint,
                             const int body[2], const joint_reading *rows,
                             double world_cfm) {
  for (unsigned i = 0; i < rows->rows.count; i++)
    add_row(reading, joint, body, rows, i, world_cfm);
}

static ode_mlcp_error add_joint(world_reading *reading, dJointID joint) {
  dBodyID first = dJointGetBody(joint, 0), second = dJointGetBody(joint, 1);
  if (dJointGetType(joint) == dJointTypeContact)
    return add_contact(reading, dJointGetStepperContact(joint), first, second,
                       joint, 0);
  if (first == NULL) {
    first = second;
    second = NULL;
  }
  const int body[2] = {find_body(reading, first), find_body(reading, second)};
  if (!is_dynamic(reading, body[0]) && !is_dynamic(reading, body[1]))
    return ODE_MLCP_OK;

  joint_reading rows;
  if (!joint_rows_read(&rows, joint, 1, 0)) return ODE_MLCP_NO_MEMORY;
  double bad_value;
  const char *bad_name = joint_rows_bad_value(&rows, &bad_value);
  if (bad_name != NULL) {
    snprintf(reading->message, reading->message_size, "joint %lu: %s is %g",
             dJointGetSerial(joint), bad_name, bad_value);
    return ODE_MLCP_BAD_ARGUMENT;
  }
  world_reading_add_joint(reading, joint, body, &rows,
                          dWorldGetCFM(dBodyGetWorld(first)));
  return ODE_MLCP_OK;
}

static int by_serial(const void *left, const void *right) {
  unsigned long a = dJointGetSerial(*(const dJointID *)left);
  unsigned long b = dJointGetSerial(*(const dJointID *)right);
  return (a > b) - (a < b);
}

/* The enabled joints, each once, in order of creation; NULL: no memory. */
static dJointID *list_joints(world_reading *reading, int *n_joints) {
  size_t room = 0;
  for (int b = 0; b < reading->n_bodies; b++)
    room += (size_t)dBodyGetNumJoints(reading->bodies[b].id);
  dJointID *joints = memory_block_reserve(&reading->joint_block,
                                          reading->source, room,
                                          sizeof *joints);
  if (joints == NULL) return NULL;

  *n_joints = 0;
  for (int b = 0; b < reading->n_bodies; b++) {
    dBodyID id = reading->bodies[b].id;
    for (int k = 0; k < dBodyGetNumJoints(id); k++) {
      dJointID joint = dBodyGetJoint(id, k);
      dBodyID owner = dJointGetBody(joint, 0);
      if (owner == NULL) owner = dJointGetBody(joint, 1);
      if (owner == id && dJointIsEnabled(joint)) joints[(*n_joints)++] = joint;
    }
  }
  qsort(joints, (size_t)*n_joints, sizeof *joints, by_serial);
  return joints;
}

ode_mlcp_error world_reading_fill(world_reading *reading, dWorldID world,
                                  const dContact contacts[], int n_contacts) {
  ode_mlcp_error error = read_bodies(reading, world);
  if (error != ODE_MLCP_OK) return error;
  int n_joints;
  const dJointID *joints = list_joints(reading, &n_joints);
  /* six rows a joint, and one more touch than there are to try it */
  size_t room = 6 * (size_t)n_joints + (size_t)n_contacts + 1;
  if (joints == NULL || !RESERVE(touches, touch_block, room) ||
      !RESERVE(ties, tie_block, room))
    return ODE_MLCP_NO_MEMORY;

  for (int i = 0; i < n_joints && error == ODE_MLCP_OK; i++)
    error = add_joint(reading, joints[i]);
  return error != ODE_MLCP_OK
             ? error : add_given(reading, world, contacts, n_contacts);
}

/* --- what collides ------------------------------------------------------- */

static int find_root(int parent[], int b) {
  while (parent[b] != b) b = parent[b] = parent[parent[b]];
  return b;
}

static void unite(const world_reading *reading, int parent[],
                  const int body[2]) {
  if (!is_dynamic(reading, body[0]) || !is_dynamic(reading, body[1])) return;
  int a = find_root(parent, body[0]), b = find_root(parent, body[1]);
  parent[a > b ? a : b] = a > b ? b : a;
}

static int some_dynamic(const world_reading *reading, const int body[2]) {
  return body[is_dynamic(reading, body[0]) ? 0 : 1];
}

/* Whether what ties `body` together collides. */
static bool takes_part(const world_reading *reading, const int body[2]) {
  return reading->collides[reading->part[some_dynamic(reading, body)]];
}

void world_reading_select(world_reading *reading) {
  int *part = reading->part;
  for (int b = 0; b < reading->n_bodies; b++) part[b] = b;
  for (int i = 0; i < reading->n_ties; i++)
    unite(reading, part, reading->ties[i].body);
  for (int i = 0; i < reading->n_touches; i++)
    unite(reading, part, reading->touches[i].body);
  for (int b = 0; b < reading->n_bodies; b++) {
    part[b] = find_root(part, b);
    reading->collides[b] = false;
    reading->place[b] = -1;
  }
  for (int i = 0; i < reading->n_touches; i++) {
    const world_touch *touch = &reading->touches[i];
    double speed = touch->surface[0] + world_reading_speed(
                       reading, touch->body, touch->J[0], false);
    if (speed < -APPROACHING)
      reading->collides[part[some_dynamic(reading, touch->body)]] = true;
  }

  reading->n_moved = 0;
  for (int b = 0; b < reading->n_bodies; b++)
    if (is_dynamic(reading, b) && reading->collides[part[b]])
      reading->place[b] = reading->n_moved++;
  int n_touches = 0, n_ties = 0;
  for (int i = 0; i < reading->n_touches; i++)
    if (takes_part(reading, reading->touches[i].body))
      reading->touches[n_touches++] = reading->touches[i];
  for (int i = 0; i < reading->n_ties; i++)
    if (takes_part(reading, reading->ties[i].body))
      reading->ties[n_ties++] = reading->ties[i];
  reading->n_touches = n_touches;
  reading->n_ties = n_ties;
}

void world_reading_release(world_reading *reading) {
  memory_block *blocks[] = {&reading->body_block,     &reading->place_block,
                            &reading->part_block,     &reading->collides_block,
                            &reading->joint_block,    &reading->touch_block,
                            &reading->tie_block};
  memory_blocks_release(blocks, sizeof blocks / sizeof blocks[0],
                        reading->source);
}
