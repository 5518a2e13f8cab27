/* What touches in a world, read for an impact problem. */
#ifndef ODE_MLCP_STEP_IMPACT_WORLD_H
#define ODE_MLCP_STEP_IMPACT_WORLD_H

#include "common/memory.h"
#include "ode_mlcp.h"
#include "rows/contact_rows.h"
#include "rows/joint_rows.h"

/** A contact, or a joint stop that has been reached. */
typedef struct world_touch {
  contact_reading reading; /* contact == NULL: a stop */
  dJointID joint;          /* NULL: given */
  int body[2];             /* into the reading's bodies, -1 the world */
  double J[3][2][6];       /* normal, two tangents (0 of a stop) */
  double surface[3];       /* m/s, added to J V */
  double mu[2];            /* of the tangents */
} world_touch;

/** A joint row that is obeyed exactly: J V = target. */
typedef struct world_tie {
  int body[2];
  double J[2][6];
  double target;
} world_tie;

/** Everything in the world, then (world_reading_select) what collides. */
typedef struct world_reading {
  const memory_source *source;
  char *message; /* [message_size] */
  size_t message_size;
  host_body *bodies; /* all of the world, in order of creation */
  int *place;        /* per body: among those that may move, or -1 */
  int *part;         /* per body: the first body it is tied to */
  bool *collides;    /* per part's first body */
  world_touch *touches;
  world_tie *ties;
  int n_bodies, n_moved, n_touches, n_ties;
  int left_out;
  memory_block body_block, place_block, part_block, collides_block, joint_block,
      touch_block, tie_block;
} world_reading;

/** Room for so many; bodies, ties and touches are to be filled.
 *  @return false where memory runs out. */
bool world_reading_reserve(world_reading *reading, size_t n_bodies,
                           size_t n_touches, size_t n_ties);

/** Add a contact that was read: joint, body and reading of `touch` are set. */
void world_reading_add_contact(world_reading *reading,
                               const world_touch *touch);

/** Add the rows of a joint (not of a contact) that an impact knows. */
void world_reading_add_joint(world_reading *reading, dJointID joint,
                             const int body[2], const joint_reading *rows,
                             double world_cfm);

/** Read bodies, joints and contacts; as ode_mlcp_impact_problem_of_world. */
ode_mlcp_error world_reading_fill(world_reading *reading, dWorldID world,
                                  const dContact contacts[], int n_contacts);

/** Keep only the bodies, touches and ties that are tied to an approaching
 *  touch, and number the moved bodies. */
void world_reading_select(world_reading *reading);

/** What was selected, as a problem in *impact; NULL where nothing is. Errors as
 *  those of ode_mlcp_impact_problem_of_world; changes the reading. */
ode_mlcp_error world_reading_build(world_reading *reading,
                                   ode_mlcp_world_impact **impact);

void world_reading_release(world_reading *reading);

/** Relative velocity of `body[0]` and `body[1]` along J from the kinematic
 *  bodies alone, or from all. */
double world_reading_speed(const world_reading *reading, const int body[2],
                           const double J[2][6], bool kinematic_only);

#endif
