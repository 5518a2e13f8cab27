#include "world/told_contacts.h"

#include <math.h>
#include <stdlib.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "host/joints.h"

/* A contact between the bodies of its geoms, as dCollide told it; a program may
 * attach it to others. */
static bool describe(const dWorldJoint *joint, ode_mlcp_geom_function *is_alive,
                     void *context, inner_contact *entry) {
  const dContactGeom *told = &joint->contact->geom;
  if (told->g1 == NULL || told->g2 == NULL || !is_alive(context, told->g1) ||
      !is_alive(context, told->g2))
    return false;
  inner_contact_read(entry, told, joint->body, 0);
  for (int side = 0; side < 2; side++)
    if (dGeomGetBody(entry->geom[side]) != entry->body[side]) return false;
  return fabs(vec3_length(entry->normal) - 1) <= real_rounding(1e-6) &&
         isfinite(told->depth) && all_finite(entry->point[0], 3);
}

static bool find_voids(told_contacts *told, inner_search *search,
                       ode_mlcp_geom_function *is_alive, void *context) {
  int n = 0;
  if (!inner_contacts_reserve(search, (size_t)told->n) ||
      !POOL_RESERVE(told->pool, told->numbers, told->n))
    return false;
  for (int i = 0; i < told->n; i++)
    if (describe(&told->joints[i], is_alive, context, &search->contacts[n]))
      told->numbers[n++] = i;
  if (!inner_contacts_find(search, n)) return false;
  for (int i = 0; i < n; i++) {
    told->is_there[told->numbers[i]] = true;
    told->is_void[told->numbers[i]] = search->inner[i];
    told->n_voids += search->inner[i];
  }
  return true;
}

bool told_contacts_find(told_contacts *told, dWorldID world,
                        contact_source *source,
                        ode_mlcp_geom_function *is_alive, void *context) {
  size_t count = dWorldGetJoints(world, NULL, 0);
  told->n = told->n_voids = 0;
  if (!POOL_RESERVE(told->pool, told->joints, count) ||
      !POOL_RESERVE(told->pool, told->is_void, count) ||
      !POOL_RESERVE(told->pool, told->is_there, count))
    return false;
  dWorldGetJoints(world, told->joints, count);
  for (size_t i = 0; i < count; i++) {
    const dWorldJoint *joint = &told->joints[i];
    if (joint->contact != NULL && host_joint_steps(joint, false) &&
        contact_source_find(source, joint->joint) == NULL) {
      told->is_void[told->n] = told->is_there[told->n] = false;
      told->joints[told->n++] = *joint;
    }
  }
  return is_alive == NULL ||
         find_voids(told, &source->inner, is_alive, context);
}

/* The number of a joint; -1 where it is not listed. */
static int find(const told_contacts *told, dJointID joint) {
  unsigned long serial = dJointGetSerial(joint);
  int low = 0, high = told->n;
  while (low < high) {
    int middle = (low + high) / 2;
    unsigned long found = dJointGetSerial(told->joints[middle].joint);
    if (found == serial) return middle;
    if (found < serial)
      low = middle + 1;
    else
      high = middle;
  }
  return -1;
}

bool told_contacts_is_void(const told_contacts *told, dJointID joint) {
  if (told == NULL || told->n_voids == 0) return false;
  int i = find(told, joint);
  return i >= 0 && told->is_void[i];
}

const dWorldJoint *told_contacts_there(const told_contacts *told,
                                       dJointID joint) {
  int i = find(told, joint);
  return i >= 0 && told->is_there[i] ? &told->joints[i] : NULL;
}

void told_contacts_release(told_contacts *told) { told->n = told->n_voids = 0; }
