/* How a body turns over a step of a known mean velocity: in its own frame that is the mean
 * of the velocities at both ends, so that torques do exactly the work that the energy gains
 * (docs/formulation.md, eq. 41). */
#ifndef ODE_MLCP_SCHEMES_TURNING_H
#define ODE_MLCP_SCHEMES_TURNING_H

#include "world/pose.h"
#include "world/world.h"

/**
 * The change of momentum over a step of size h that goes with the mean velocity u.
 *
 * @param change  out: N s, N m s
 * @param mass    out: its Jacobian by u, positive
 * @param body    the masses, at a pose of its own
 * @param from,to where the step has it, u turning it from the one to the other
 * @param v       velocities at `from`
 * @return false where the Jacobian would not be positive, and `mass` leaves a part out.
 */
bool turning_change(double change[6], double mass[36], const host_body *body,
                    const world_pose *from, const world_pose *to,
                    const double v[6], const double u[6], double h);

/** rad/s: the angular velocity at `to` that goes with w at `from` and the mean u. */
void turning_end(double w_plus[3], const host_body *body,
                 const world_pose *from, const world_pose *to,
                 const double w[3], const double u[3]);

#endif
