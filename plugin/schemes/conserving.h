/* What a step adds that conserves: joints that end it on their
 * surfaces; momentum and angular momentum are exact, and energy does not grow where
 * nothing drives it (docs/formulation.md, eq. 40-46). */
#ifndef ODE_MLCP_SCHEMES_CONSERVING_H
#define ODE_MLCP_SCHEMES_CONSERVING_H

#include "schemes/step_rule.h"

/** Rows of the middle of a step, before its rounds. @return false with the outcome's
 *  message. */
bool conserving_prepare(second_order *s, const motion *from, double h);

/** Put rows of joints between both ends, of which `to` is the last round's, in the place
 *  of those at the middle. @return false with the outcome's message. */
bool conserving_renew_joints(second_order *s, const motion *from,
                             const motion *to, double h);

/** The next round's compliances count from the impulses of the last. But rows that say the
 *  same contradict each other by the square of what a round changes: while that is more
 *  than they give way by, what they press against each other with is no load, and would
 *  lift contacts off (the wheels of a cart in turns, test_step_guess).
 *  @param change  of the round, of the fastest velocity */
void conserving_keep_impulses(second_order *s, double change);

/** Add to the forces of all joints [n_joints] what the last round's rows, of a kept matrix,
 *  lack of them, over `seconds`. */
void conserving_add_forces(const second_order *s, double seconds,
                           joint_result results[]);

/** The energy that a step whose rounds did not settle may end with: what it began with and
 *  the work of forces, motors and friction, but none that rows which hold brought. */
double conserving_energy(const second_order *s, const motion *from);

/** The compliance of a row that may say the same as others, as a part of its diagonal. A
 *  round's counts from the impulse of the round before (conserving_keep_impulses), so that
 *  none is left in the end. */
double conserving_compliance(const second_order *s, const int body[2],
                             const double J[2][6]);

/** Joint errors that the next step takes away itself need no correction by
 *  moving. */
void conserving_leave_small_errors(world_snapshot *at);

#endif
