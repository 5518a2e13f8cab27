/* One step of the second-order schemes, of any size and from any state: masses and forces
 * of docs/formulation.md (20-23). The rows of conserving.h are added at their place. */
#ifndef ODE_MLCP_SCHEMES_SECOND_ORDER_H
#define ODE_MLCP_SCHEMES_SECOND_ORDER_H

#include "schemes/step_rule.h"

extern const step_rule gap_rule, trapezoid_1_rule, trapezoid_rule,
    conserving_rule;

/** Anitescu and Potra's step, which takes the place of a second-order one where events
 *  crowd or rounds do not end: contacts of `here` within reach and joints as they are at
 *  its start, forces at its end. It corrects no positions and brings no energy: what
 *  meets in it gives nothing back. */
extern const step_rule first_order_rule;

/** alpha of v_alpha: 1/2 for the trapezoids. */
double second_order_alpha(const second_order *s);

/** True if rows hold the velocity at the end itself, not the mean. */
bool second_order_holds_end(const second_order *s);

/** Take what depends on the number of bodies of `home` from the step's arena. */
bool second_order_reserve(second_order *s);

/** The world at other poses and a time of the step, for a step of size h from
 *  there; `margin` as world_read_at's. @return false with the outcome's message. */
bool second_order_look(const second_order *s, world_snapshot *world,
                       const motion *at, double h, double margin);

/** A request for x = `level`'s unknown at `at`. */
assembly_request second_order_request(const second_order *s,
                                      const world_snapshot *at,
                                      joint_level level, double h);

/** Where joints turn a body by more than half a radian in h, by the forces of the last step,
 *  the rule becomes the conserving one, which ends on their surfaces. @return true if it
 *  did. */
bool second_order_choose(second_order *s, double h);

/** A step of size h. `here` is at `from`. The rule becomes the conserving one where this
 *  step's own forces turn a body so far, too. Sets s->unsettled where rounds of that do not
 *  end: the step is too large.
 *  @param to  out, may not be `from`
 *  @return false with the outcome's message. */
bool second_order_take(second_order *s, const motion *from, double h,
                       motion *to);

/** The snapshot that the last step's problem was made of. */
const world_snapshot *second_order_solved(const second_order *s);

#endif
