/* The state of a world around a step, told as it is: preload/traffic.h. */
#ifndef ODE_MLCP_PRELOAD_RECORDER_STATE_H
#define ODE_MLCP_PRELOAD_RECORDER_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include <ode/ode.h>

#include "preload/traffic.h"

/* ---- contacts ---- */

/** A contact joint that the program made. */
typedef struct seen_contact {
  dJointID joint;
  dWorldID world;
  dJointGroupID group;
  uint32_t bodies[2];          /* in a step: places among its bodies from 1 */
  const dJointFeedback *force; /* own_force or the program's */
  dContact asked;
  dJointFeedback own_force;
} seen_contact;

void state_contact_made(dJointID joint, dWorldID world, dJointGroupID group,
                        const dContact *asked);
void state_group_emptied(dJointGroupID group);
void state_joint_gone(dJointID joint);
void state_world_gone(dWorldID world);

/** The contacts of all worlds in the order they were made. Valid until the next
 *  call that adds or removes one. */
size_t state_contact_count(void);
const seen_contact *state_contact(size_t index);

/* ---- a step ---- */

/** A body may have got another mass or mode. */
void state_bodies_changed(void);

/** Look at the world before a step, and have the forces of its joints noted.
 *  @return the record that is being told; NULL without memory. */
traffic_step *state_begin(dWorldID world, double step_size);

/** And after it: all of the record is filled that is the world's. Where the
 *  step failed, what was lent to the world is taken back all the same. */
void state_end(dWorldID world, double step_size, traffic_step *step);

/** Bodies of the step. */
dBodyID const *state_bodies(size_t *count);

#endif
