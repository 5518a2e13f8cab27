/* Contacts of a program's own contact joints with what neighbours cover: the rule of
 * world/inner_contacts.h for programs that know nothing of it.
 *
 * A contact joint says which geoms it is of, and they may be gone when the step
 * begins. So it is looked at only where somebody knows that both are there
 * (ode_mlcp_watch_geoms).
 */
#ifndef ODE_MLCP_WORLD_INNER_JOINTS_H
#define ODE_MLCP_WORLD_INNER_JOINTS_H

#include "world/contact_source.h"
#include "world/inner_contacts.h"

/** Starts as zeros with `pool` set. */
typedef struct inner_joints {
  memory_pool *pool;
  gap_context *gaps;
  inner_search search;
  dBodyID *bodies;         /* of the world */
  inner_contact *contacts; /* [n_contacts] of joints whose geoms are there, */
  unsigned long *serials;  /* their joints, */
  bool *inner;             /* and true for those that are void */
  int n_contacts;
  unsigned long *found; /* [n] joints whose contacts are void in this step, by
                           serial */
  int n;
} inner_joints;

/**
 * Look at the contact joints of a world's enabled bodies.
 *
 * @param source    joints of its function are left alone: they are looked at there
 * @param is_alive  NULL: no joint is looked at
 * @return false where memory ran out.
 */
bool inner_joints_find(inner_joints *joints, dWorldID world,
                       const contact_source *source,
                       ode_mlcp_geom_function *is_alive, void *context);

/** True if the joint's contact was found void; `joints` may be NULL. */
bool inner_joints_has(const inner_joints *joints, dJointID joint);

/** Forget all; may be used again, or its pool be released. */
void inner_joints_release(inner_joints *joints);

#endif
