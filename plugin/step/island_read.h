/* Reading an island: bodies, joints, contacts with close points merged, and
 * the parts it falls into when kinematic bodies no longer tie it together. */
#ifndef ODE_MLCP_STEP_ISLAND_READ_H
#define ODE_MLCP_STEP_ISLAND_READ_H

#include "step/island.h"

/** A joint's stop that is not reached. */
typedef struct island_stop {
  dStepperJointStop stop;
  int row; /* in its part's problem, -1 while it is left out */
} island_stop;

/** Arrays for the island in hand, grown as needed. */
typedef struct island_arrays {
  int n_bodies, n_joints, n_readings, n_contacts, n_parts, n_stops;
  host_body *bodies;
  island_joint *joints;       /* in the host's order */
  joint_reading *readings;    /* of role JOINT_ROWS */
  contact_reading *contacts;  /* of role JOINT_CONTACT, and merged ones */
  island_stop *stops;
  int *problem_body;          /* per body: index in its part, -1 kinematic */
  int *part;                  /* per body: its part, -1 kinematic */
  int *next_body;             /* per body: next of its part, -1 at the end */
  int *part_first_body;       /* per part */
  int *part_first_joint;      /* per part, -1 for none */
  int *part_n_bodies;         /* per part */
  memory_block body_block, joint_block, reading_block, contact_block,
      problem_body_block, part_block, part_first_block, part_count_block,
      next_body_block, part_first_body_block, index_block, group_block,
      stop_block;
} island_arrays;

/**
 * Read everything of `island`. Forces that joints add to bodies are summed and
 * v_free is set.
 *
 * @param contacts  the source that some of the contact joints come from
 * @return false with result->message where it cannot be stepped.
 */
bool island_read(island_arrays *arrays, const memory_source *source,
                 const dStepperIsland *island, const ode_mlcp_options *options,
                 const contact_source *contacts, island_result *result);

void island_arrays_release(island_arrays *arrays, const memory_source *source);

#endif
