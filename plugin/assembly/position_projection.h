/* Position errors that velocity does not correct, corrected by moving (split
 * impulse).
 *
 * What a row's target velocity leaves of its position error (its `excess`) is
 * made up by a motion u, m/s and rad/s, that moves the bodies over the step
 * together with their velocity but is not kept (docs/formulation.md, eq. 10):
 *
 *   min 1/2 u'M u + 1/2 p'd p   so that   J u + d p >= excess - w
 *
 * on normal rows and one-sided joint rows, = on two-sided ones, where w is what
 * the velocities have left there. There is no friction in it: what friction
 * locks comes apart, and such a motion always exists.
 */
#ifndef ODE_MLCP_ASSEMBLY_POSITION_PROJECTION_H
#define ODE_MLCP_ASSEMBLY_POSITION_PROJECTION_H

#include "common/arena.h"
#include "rows/row_set.h"

/** d of row r where it moves bodies, eq. (10). */
double position_compliance(const mlcp_problem *problem, int r);

typedef struct position_projection {
  mlcp_problem problem;   /* its solution's v is u */
  mlcp_solution solution; /* room for it */
} position_projection;

/**
 * Build the projection that belongs to a step's velocities.
 *
 * @param projection   out; its problem has no rows where none asks for a motion
 * @param arena        what its arrays are taken from
 * @param solution     of `problem`: v and p are read
 * @param corrections  [n_rows]; those of friction rows are not read
 * @return false when memory ran out.
 */
bool position_projection_build(position_projection *projection, arena *arena,
                               const mlcp_problem *problem,
                               const mlcp_solution *solution,
                               const row_correction corrections[]);

#endif
