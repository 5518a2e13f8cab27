/* The conserving step: second order, with joints that end it on their surfaces;
 * momentum and angular momentum are exact, and energy does not grow where nothing
 * drives it (docs/formulation.md, eq. 40-46). */
#ifndef ODE_MLCP_SCHEMES_CONSERVING_H
#define ODE_MLCP_SCHEMES_CONSERVING_H

#include "schemes/second_order.h"

/** Sets s->unsettled where the rounds do not end: the step is too large. */
extern const step_rule conserving_rule;

/** Room for a step of the bodies of `home`, after second_order_reserve.
 *  @return false with the outcome's message. */
bool conserving_reserve(second_order *s);

/** The velocities at the end of the step tried become those that joints and contacts
 * that it pressed allow, with the least change measured by mass. Under a rule that
 * conserves it is remembered: most of it is undone when the next step begins (40).
 */
bool conserving_hold(second_order *s, double h, motion *to);

/** Joint errors that the next step takes away itself need no correction by
 *  moving. */
void conserving_leave_small_errors(world_snapshot *at);

#endif
