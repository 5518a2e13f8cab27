/* The position errors of joints where a step would take their bodies, by the host's
 * own rows: what a projection is checked with. */
#ifndef ODE_MLCP_SCHEMES_JOINT_CHECK_H
#define ODE_MLCP_SCHEMES_JOINT_CHECK_H

#include "assembly/assembly.h"

/** kg m^2: how far the rows of joint j that hold are from their places in `at`, with the
 *  masses of `home`, as (10b) weighs it; ERP's share of each. */
double joint_check_errors(const world_snapshot *home, const world_snapshot *at,
                          int j);

/** Starts as zeros; its memory ends with the pool of `home`. */
typedef struct joint_check {
  const world_snapshot *home;
  world_snapshot at; /* joints alone */
  arena arena;
} joint_check;

/** An `assembly_request.measure`, with a joint_check for its context. */
joint_errors joint_check_measure;

#endif
