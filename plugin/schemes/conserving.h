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

/** Velocities that joints at `at`, which is at `to`, do not allow are taken out,
 *  with the least change measured by mass, where no active contact is: a trapezoid
 *  turns them round from step to step. */
bool conserving_hold_joints(second_order *s, world_snapshot *at, motion *to);

/** Joint errors that the next step takes away itself need no correction by
 *  moving. */
void conserving_leave_small_errors(world_snapshot *at);

#endif
