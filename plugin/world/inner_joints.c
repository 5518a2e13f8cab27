#include "world/inner_joints.h"

#include <math.h>
#include <stdlib.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "host/joints.h"

/* A contact between the bodies of its geoms, as dCollide told it; a program may
 * attach it to others. */
static bool describe(const contact_source *source, dJointID joint,
                     ode_mlcp_geom_function *is_alive, void *context,
                     inner_contact *entry) {
  if (dJointGetType(joint) != dJointTypeContact ||
      contact_source_find(source, joint) != NULL)
    return false;
  const dContact *told = dJointGetStepperContact(joint);
  if (told == NULL || told->geom.g1 == NULL || told->geom.g2 == NULL ||
      !is_alive(context, told->geom.g1) || !is_alive(context, told->geom.g2))
    return false;
  *entry = (inner_contact){
      .geom = {told->geom.g1, told->geom.g2},
      .body = {dJointGetBody(joint, 0), dJointGetBody(joint, 1)}};
  real_read(entry->normal, told->geom.normal, 3);
  double length = vec3_length(entry->normal);
  if (dGeomGetBody(entry->geom[0]) != entry->body[0] ||
      dGeomGetBody(entry->geom[1]) != entry->body[1] ||
      !(fabs(length - 1) <= real_rounding(1e-6)) ||
      !isfinite(told->geom.depth) || !all_finite(real3(told->geom.pos).at, 3))
    return false;
  for (int side = 0; side < 2; side++) {
    real_read(entry->point[side], told->geom.pos, 3);
    vec3_add_scaled(entry->point[side],
                    (side == 0 ? -0.5 : 0.5) * told->geom.depth, entry->normal);
  }
  return true;
}

static bool list_contacts(inner_joints *joints, dWorldID world,
                          const contact_source *source,
                          ode_mlcp_geom_function *is_alive, void *context) {
  size_t n_bodies = dWorldGetBodies(world, NULL, 0);
  joints->n_contacts = 0;
  if (!POOL_RESERVE(joints->pool, joints->bodies, n_bodies)) return false;
  dWorldGetBodies(world, joints->bodies, n_bodies);
  for (size_t b = 0; b < n_bodies; b++) {
    dBodyID body = joints->bodies[b];
    if (!dBodyIsEnabled(body)) continue;
    int n_joints = dBodyGetNumJoints(body), n = joints->n_contacts;
    if (!POOL_GROW(joints->pool, joints->contacts, n + n_joints) ||
        !POOL_GROW(joints->pool, joints->serials, n + n_joints) ||
        !POOL_GROW(joints->pool, joints->inner, n + n_joints))
      return false;
    for (int j = 0; j < n_joints; j++) {
      dJointID joint = dBodyGetJoint(body, j);
      if (!host_joint_is_listed_by(joint, body, false) ||
          !describe(source, joint, is_alive, context, &joints->contacts[n]))
        continue;
      joints->serials[n++] = dJointGetSerial(joint);
    }
    joints->n_contacts = n;
  }
  return true;
}

static int compare_serials(const void *left, const void *right) {
  unsigned long a = *(const unsigned long *)left,
                b = *(const unsigned long *)right;
  return (a > b) - (a < b);
}

bool inner_joints_find(inner_joints *joints, dWorldID world,
                       const contact_source *source,
                       ode_mlcp_geom_function *is_alive, void *context) {
  joints->n = 0;
  if (is_alive == NULL) return true;
  if (!list_contacts(joints, world, source, is_alive, context)) return false;
  if (joints->gaps == NULL)
    joints->gaps = gap_context_create(&joints->pool->source);
  joints->search.pool = joints->pool;
  if (joints->gaps == NULL ||
      !POOL_RESERVE(joints->pool, joints->found, joints->n_contacts) ||
      !inner_contacts_find(&joints->search, joints->gaps, joints->contacts,
                           joints->n_contacts, joints->inner))
    return false;
  for (int i = 0; i < joints->n_contacts; i++)
    if (joints->inner[i]) joints->found[joints->n++] = joints->serials[i];
  if (joints->n > 1)
    qsort(joints->found, (size_t)joints->n, sizeof *joints->found,
          compare_serials);
  return true;
}

bool inner_joints_has(const inner_joints *joints, dJointID joint) {
  if (joints == NULL || joints->n == 0) return false;
  unsigned long serial = dJointGetSerial(joint);
  return bsearch(&serial, joints->found, (size_t)joints->n,
                 sizeof *joints->found, compare_serials) != NULL;
}

void inner_joints_release(inner_joints *joints) {
  inner_contacts_release(&joints->search);
  gap_context_destroy(joints->gaps);
  joints->gaps = NULL;
  joints->n = joints->n_contacts = 0;
}
