#include "preload/recorder_substeps.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* ---- pairs ---- */

typedef struct pair {
  dGeomID one, other;
  int flags;
} pair;

/* The last calls of dCollide that found something, by a hash of the pair. */
enum { SLOTS = 1 << 14 };
static pair pairs[SLOTS];

static pair *slot_of(dGeomID one, dGeomID other) {
  uint64_t key = (uint64_t)(size_t)one * 31 + (uint64_t)(size_t)other;
  return &pairs[key * UINT64_C(0x9e3779b97f4a7c15) >> 50];
}

void substeps_pair(dGeomID one, dGeomID other, int flags) {
  *slot_of(one, other) = (pair){one, other, flags};
}

/* Geoms of a contact are used only where the host has just seen them: a program
 * may fill in a contact itself. */
static const pair *find_pair(const dContactGeom *geom) {
  const pair *found = slot_of(geom->g1, geom->g2);
  if (found->one == geom->g1 && found->other == geom->g2) return found;
  found = slot_of(geom->g2, geom->g1);
  return found->one == geom->g2 && found->other == geom->g1 ? found : NULL;
}

/* ---- what the program made for the step ---- */

/* A pair with the program's contacts, as they stand before the first substep. */
typedef struct held_pair {
  pair geoms;
  dContact asked;
  dBodyID bodies[2];
} held_pair;

static held_pair *held;
static size_t n_held;
static dJointID *resting;
static size_t n_resting;
static memory_pool pool; /* of all that is kept */

static void hold_contact(const dWorldJoint *joint) {
  if (joint->contact == NULL || !joint->enabled) return;
  const pair *found = find_pair(&joint->contact->geom);
  if (found == NULL) return;
  if (!POOL_GROW(&pool, resting, n_resting + 1)) abort();
  resting[n_resting++] = joint->joint;
  // a pair's contacts are made one after the other
  if (n_held > 0 && held[n_held - 1].geoms.one == found->one &&
      held[n_held - 1].geoms.other == found->other)
    return;
  if (!POOL_GROW(&pool, held, n_held + 1)) abort();
  held[n_held++] =
      (held_pair){*found, *joint->contact, {joint->body[0], joint->body[1]}};
}

static void hold_contacts(dWorldID world) {
  static dWorldJoint *all;
  size_t count = dWorldGetJoints(world, NULL, 0);
  if (!POOL_RESERVE(&pool, all, count)) abort();
  dWorldGetJoints(world, all, count);
  n_held = n_resting = 0;
  for (size_t i = 0; i < count; i++) hold_contact(&all[i]);
}

/* The normals of the program's contacts point into the geom that it collided
 * first, whose body it attached first, or the other way round: so do ours. */
static void collide_again(dWorldID world, dJointGroupID group,
                          const held_pair *pair) {
  enum { MOST = 64 };
  static dContactGeom found[MOST];
  int most = pair->geoms.flags & 0xffff;
  int flags = (pair->geoms.flags & ~0xffff) | (most < MOST ? most : MOST);
  int count = dCollide(pair->geoms.one, pair->geoms.other, flags, found,
                       sizeof found[0]);
  for (int i = 0; i < count; i++) {
    dContact contact = pair->asked;
    contact.geom = found[i];
    dJointAttach(dJointCreateContact(world, group, &contact), pair->bodies[0],
                 pair->bodies[1]);
  }
}

/* ---- forces and damping ---- */

/* Forces that the program gave a body for the step, where there are any. */
typedef struct held_body {
  dBodyID body;
  dVector3 force, torque;
  dReal linear, angular; /* damping, a part of the velocity in a step */
} held_body;

static held_body *bodies;
static size_t n_bodies;

static void hold_body(dBodyID body) {
  held_body held = {.body = body,
                    .linear = dBodyGetLinearDamping(body),
                    .angular = dBodyGetAngularDamping(body)};
  memcpy(held.force, dBodyGetForce(body), 3 * sizeof(dReal));
  memcpy(held.torque, dBodyGetTorque(body), 3 * sizeof(dReal));
  bool any = held.linear != 0 || held.angular != 0;
  for (int k = 0; k < 3; k++) any |= held.force[k] != 0 || held.torque[k] != 0;
  if (!any) return;
  if (!POOL_GROW(&pool, bodies, n_bodies + 1)) abort();
  bodies[n_bodies++] = held;
}

static void hold_bodies(dWorldID world) {
  static dBodyID *all;
  size_t count = dWorldGetBodies(world, NULL, 0);
  if (!POOL_RESERVE(&pool, all, count)) abort();
  dWorldGetBodies(world, all, count);
  n_bodies = 0;
  for (size_t i = 0; i < count; i++) hold_body(all[i]);
}

static void add_forces(void) {
  for (size_t i = 0; i < n_bodies; i++) {
    const held_body *b = &bodies[i];
    dBodySetForce(b->body, b->force[0], b->force[1], b->force[2]);
    dBodySetTorque(b->body, b->torque[0], b->torque[1], b->torque[2]);
  }
}

/* Damping is a part of the velocity, by the step: of a shorter step, as much less
 * of it that as many steps leave the same. */
static void set_damping(unsigned count) {
  for (size_t i = 0; i < n_bodies; i++) {
    const held_body *b = &bodies[i];
    if (b->linear != 0)
      dBodySetLinearDamping(b->body, 1 - pow(1 - b->linear, 1.0 / count));
    if (b->angular != 0)
      dBodySetAngularDamping(b->body, 1 - pow(1 - b->angular, 1.0 / count));
  }
}

static void restore_damping(void) {
  for (size_t i = 0; i < n_bodies; i++) {
    const held_body *b = &bodies[i];
    if (b->linear != 0) dBodySetLinearDamping(b->body, b->linear);
    if (b->angular != 0) dBodySetAngularDamping(b->body, b->angular);
  }
}

int substeps_take(step_function *step, dWorldID world, dReal step_size,
                  unsigned count) {
  if (pool.from == NULL) memory_pool_open(&pool, &memory_from_malloc);
  hold_contacts(world);
  hold_bodies(world);
  set_damping(count);
  dJointGroupID group = dJointGroupCreate(0);
  int taken = 1;
  for (unsigned k = 0; k < count && taken; k++) {
    if (k == 1)
      for (size_t i = 0; i < n_resting; i++) dJointDisable(resting[i]);
    if (k > 0) {
      add_forces();
      dJointGroupEmpty(group);
      for (size_t i = 0; i < n_held; i++) collide_again(world, group, &held[i]);
    }
    taken = step(world, step_size / count);
  }
  dJointGroupDestroy(group);
  restore_damping();
  for (size_t i = 0; i < n_resting; i++) dJointEnable(resting[i]);
  return taken;
}
