/* The contact joints that a program made for a step, and which of them are void.
 *
 * What neighbours cover is void (world/inner_contacts.h). A contact joint says which
 * geoms it is of, and they may be gone when the step begins. So it is looked at only
 * where somebody knows that both are there (ode_mlcp_watch_geoms).
 */
#ifndef ODE_MLCP_WORLD_TOLD_CONTACTS_H
#define ODE_MLCP_WORLD_TOLD_CONTACTS_H

#include <ode/stepper.h>

#include "world/contact_source.h"

/** Starts as zeros with `pool` set. */
typedef struct told_contacts {
  memory_pool *pool;
  dWorldJoint *joints; /* [n] enabled, of enabled bodies, by serial */
  bool *is_void;       /* [n] */
  bool *is_there;      /* [n] its geoms are, of its bodies */
  int n, n_voids;
  int *numbers; /* of those whose geoms are there */
} told_contacts;

/**
 * List the contact joints on a world's enabled bodies.
 *
 * @param source    joints of its function are left out: they are looked at there;
 *                  its search for inner contacts is used
 * @param is_alive  NULL: none is void
 * @return false where memory ran out.
 */
bool told_contacts_find(told_contacts *told, dWorldID world,
                        contact_source *source,
                        ode_mlcp_geom_function *is_alive, void *context);

/** True if the joint's contact was found void; `told` may be NULL. */
bool told_contacts_is_void(const told_contacts *told, dJointID joint);

/** A joint whose geoms are there; NULL for others. */
const dWorldJoint *told_contacts_there(const told_contacts *told,
                                       dJointID joint);

/** Forget all; may be used again, or its pool be released. */
void told_contacts_release(told_contacts *told);

#endif
