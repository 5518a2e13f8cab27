/* One solution of a step by Lemke's method on the LCP (I2), for collisions of too many
 * contacts to meet all solutions of. */
#ifndef ODE_MLCP_IMPACTS_CONTACT_PATH_H
#define ODE_MLCP_IMPACTS_CONTACT_PATH_H

#include "common/arena.h"
#include "impacts/contact_space.h"

/** Variables of the LCP. */
int contact_path_size(const contact_space *space);

/**
 * Find impulses of one step.
 *
 * @param c         [n_rows] contact velocities
 * @param caps      [m] > 0, N s; INFINITY for none (eq. I3)
 * @param covering  [contact_path_size] > 0, which path is followed; NULL: ones
 * @param arena     scratch, started here
 * @param lambda    [n_rows] out, where true is returned
 * @param reached   [n_rows] out: contact velocities after the step
 * @return false where the path ends on a ray, or its end does not meet the
 *         conditions, or memory runs out
 */
bool contact_path_solve(const contact_space *space, const double c[],
                        const double caps[], const double covering[],
                        arena *arena, double lambda[], double reached[]);

#endif
