/* Poses of bodies, and how velocities lead from one to the next. */
#ifndef ODE_MLCP_WORLD_POSE_H
#define ODE_MLCP_WORLD_POSE_H

#include "host/bodies.h"

typedef struct world_pose {
  double position[3];
  double quaternion[4]; /* body to world, unit */
} world_pose;

/** The pose at which a body was read. */
world_pose world_pose_of(const host_body *body);

/** Where the host has a body now. */
world_pose world_pose_read(dBodyID id);

/** out = q moved by `velocity` [6] over h; exact for a constant turn. */
void world_pose_move(world_pose *out, const world_pose *q,
                     const double velocity[6], double h);

/** The same by the Cayley map, which turns by 2 atan(h |w| / 2) about w: an arm r
 *  then changes by h w x (r + r+) / 2, exactly. It is the host's rule where
 *  rotations are not finite. */
void world_pose_move_cayley(world_pose *out, const world_pose *q,
                            const double velocity[6], double h);

/** The pose to which the host's own rule moves body `id` from `from` with `velocity` in
 *  `h`: its angular speed is capped, and it turns by the rule that the program chose. */
void world_pose_advance(world_pose *out, dBodyID id, const world_pose *from,
                        const double velocity[6], double h);

/** Turn x as a body turns from one pose to another: what it has in the body's frame
 *  stays. */
void world_pose_turn_along(const world_pose *from, const world_pose *to,
                           double x[3]);

/** The velocity with which that rule moves it to `to` in `h`. */
void world_pose_velocity(double velocity[6], dBodyID id, const world_pose *from,
                         const world_pose *to, double h);

#endif
