/* An impact within a step as one outcome of the set-valued law
 * (docs/impacts.md), instead of all contacts at once. */
#ifndef ODE_MLCP_SCHEMES_SAMPLED_IMPACT_H
#define ODE_MLCP_SCHEMES_SAMPLED_IMPACT_H

#include "schemes/event_state.h"

/**
 * Let the active contacts of `here` collide at the velocities of w->now, which
 * become those of an outcome.
 *
 * The options' impact_seed, the time of the step's start and the number of
 * impacts in the step so far say which. Caps are drawn as by h = 0. Where nothing
 * approaches, a contact gives back, joints contradict each other or the sample
 * does not end, nothing is changed; but for the first the step's report counts
 * it.
 *
 * @return false with the message where memory ran out.
 */
bool sampled_impact(event_state *w);

#endif
