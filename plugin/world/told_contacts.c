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
  *entry = (inner_contact){.geom = {told->g1, told->g2},
                           .body = {joint->body[0], joint->body[1]}};
  real_read(entry->normal, told->normal, 3);
  double length = vec3_length(entry->normal);
  if (dGeomGetBody(entry->geom[0]) != entry->body[0] ||
      dGeomGetBody(entry->geom[1]) != entry->body[1] ||
      !(fabs(length - 1) <= real_rounding(1e-6)) || !isfinite(told->depth) ||
      !all_finite(real3(told->pos).at, 3))
    return false;
  for (int side = 0; side < 2; side++) {
    real_read(entry->point[side], told->pos, 3);
    vec3_add_scaled(entry->point[side], (side == 0 ? -0.5 : 0.5) * told->depth,
                    entry->normal);
  }
  return true;
}

static bool find_voids(told_contacts *told, ode_mlcp_geom_function *is_alive,
                       void *context) {
  int n = 0;
  if (!POOL_RESERVE(told->pool, told->contacts, told->n) ||
      !POOL_RESERVE(told->pool, told->serials, told->n) ||
      !POOL_RESERVE(told->pool, told->inner, told->n) ||
      !POOL_RESERVE(told->pool, told->voids, told->n))
    return false;
  for (int i = 0; i < told->n; i++)
    if (describe(&told->joints[i], is_alive, context, &told->contacts[n]))
      told->serials[n++] = dJointGetSerial(told->joints[i].joint);
  if (told->gaps == NULL) told->gaps = gap_context_create(&told->pool->source);
  told->search.pool = told->pool;
  if (told->gaps == NULL ||
      !inner_contacts_find(&told->search, told->gaps, told->contacts, n,
                           told->inner))
    return false;
  for (int i = 0; i < n; i++)
    if (told->inner[i]) told->voids[told->n_voids++] = told->serials[i];
  return true;
}

bool told_contacts_find(told_contacts *told, dWorldID world,
                        const contact_source *source,
                        ode_mlcp_geom_function *is_alive, void *context) {
  size_t count = dWorldGetJoints(world, NULL, 0);
  told->n = told->n_voids = 0;
  if (!POOL_RESERVE(told->pool, told->joints, count)) return false;
  dWorldGetJoints(world, told->joints, count);
  for (size_t i = 0; i < count; i++) {
    const dWorldJoint *joint = &told->joints[i];
    if (joint->contact != NULL && host_joint_steps(joint, false) &&
        contact_source_find(source, joint->joint) == NULL)
      told->joints[told->n++] = *joint;
  }
  return is_alive == NULL || find_voids(told, is_alive, context);
}

static int compare_serials(const void *left, const void *right) {
  unsigned long a = *(const unsigned long *)left,
                b = *(const unsigned long *)right;
  return (a > b) - (a < b);
}

bool told_contacts_is_void(const told_contacts *told, dJointID joint) {
  if (told == NULL || told->n_voids == 0) return false;
  unsigned long serial = dJointGetSerial(joint);
  return bsearch(&serial, told->voids, (size_t)told->n_voids,
                 sizeof *told->voids, compare_serials) != NULL;
}

void told_contacts_release(told_contacts *told) {
  inner_contacts_release(&told->search);
  gap_context_destroy(told->gaps);
  told->gaps = NULL;
  told->n = told->n_voids = 0;
}
