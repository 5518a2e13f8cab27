/* A snapshot's collision as an impact problem on plain arrays. */
#ifndef ODE_MLCP_WORLD_IMPACT_PROBLEM_H
#define ODE_MLCP_WORLD_IMPACT_PROBLEM_H

#include "world/world.h"

/**
 * What collides, as ode_mlcp_impact_problem_of_world describes it.
 *
 * @param world   its contacts and stops that are active touch
 * @param v       [6 n_bodies] before the impact
 * @param out     its report counts the contacts that are left out so far
 * @param impact  out: NULL where nothing collides, and on failure; to be ended
 *                with ode_mlcp_world_impact_destroy
 * @return errors as those of ode_mlcp_impact_problem_of_world, with the message.
 */
ode_mlcp_error impact_problem_build(const world_snapshot *world,
                                    const double v[],
                                    const memory_source *source,
                                    ode_mlcp_world_impact **impact,
                                    outcome *out);

#endif
