/* What a step did, measured from outside by the host's public functions: every
 * stepper is judged by the same code. docs/compare.md has the formulas. */
#ifndef ODE_MLCP_PRELOAD_RECORDER_MEASURE_H
#define ODE_MLCP_PRELOAD_RECORDER_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include <ode/ode.h>

#include "preload/recording.h"

/** By which law a stepper's contacts are judged. */
typedef enum recorder_law {
  LAW_OF_VELOCITY, /* stock: position errors become velocity, all of them */
  LAW_OF_MOTION,   /* ap, ah: what exceeds a speed moves the bodies */
  LAW_OF_GAP,      /* st: likewise, and an overlap may go in a single step */
  LAW_OF_IMPULSE   /* gap, trapezoids: events within the step */
} recorder_law;

/** Where the host keeps a body's state: what it is now. */
typedef struct measured_state {
  const dReal *position, *quaternion, *rotation, *v, *w;
} measured_state;

/** A body around one step. */
typedef struct measured_body {
  dBodyID body;
  measured_state now;
  bool dynamic, awake; /* as the step began */
  bool awake_after;
  int n_contacts; /* contact joints of the program's on it */
  double position[3], quaternion[4], v[3], w[3], force[3], torque[3];
  double mass, inertia[9];     /* of the body's own frame */
  double energy;               /* J: kinetic, before the step */
  double free_v[3], free_w[3]; /* what it would have after it by itself */
  bool free_known;
  double solved_v[3], solved_w[3]; /* after it, before damping */
  double moved_v[3], moved_w[3];   /* what moved it, where this may differ */
  double way[3], turn[3]; /* m, rad: by the mean of v and solved_v; 0 where it
                             is not dynamic */
} measured_body;

/** A contact joint that the program made. */
typedef struct measured_contact {
  dJointID joint;
  dWorldID world;
  dJointGroupID group;
  dContact asked;
  dJointFeedback own_force;
  const dJointFeedback *force; /* own_force or the program's */
  measured_body *bodies[2];    /* in the step; NULL: none */
  double levers[2][3];         /* on each body, of its normal */
  double before[2], alone[2]; /* m/s: each body's part of the opening, where the
                                 contact bounces; after the step, by itself */
  double normal_force, error;
} measured_contact;

/* ---- contacts ---- */

void measure_contact_made(dJointID joint, dWorldID world, dJointGroupID group,
                          const dContact *asked);
void measure_group_emptied(dJointGroupID group);
void measure_joint_gone(dJointID joint);
void measure_world_gone(dWorldID world);

/** The contacts of all worlds in the order they were made. Valid until the next
 *  call that adds or removes one. */
size_t measure_contact_count(void);
const measured_contact *measure_contact(size_t index);

/* ---- a step ---- */

/** Look at the world before a step. @return false without memory. */
bool measure_begin(dWorldID world, double step_size, recorder_law law);

/** And after it: fills all of `out` that is measured; the sums go on. */
void measure_end(dWorldID world, double step_size, recording_step *out);

/** Or, where the step failed: what was lent to the world is taken back. */
void measure_abandon(void);

/** Its contacts, of those above. */
measured_contact *const *measure_contacts_of_step(size_t *count);

/** Its bodies. */
const measured_body *measure_bodies(size_t *count);

#endif
