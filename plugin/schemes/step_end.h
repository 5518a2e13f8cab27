/* What is left to do where a step ends: velocities that rows do not allow are taken out,
 * and poses corrected. */
#ifndef ODE_MLCP_SCHEMES_STEP_END_H
#define ODE_MLCP_SCHEMES_STEP_END_H

#include "schemes/second_order.h"

/** The velocities where the host's step ends become those that joints and contacts that
 * its last substep pressed allow, with the least change measured by mass. Under a rule
 * that conserves it is remembered: most of it is undone when the next step begins (40).
 * But where it takes back most of what was undone, bodies swing about their rows, unseen, as
 * wheels do that came off a kerb's edge; or where it jumps by much of the energy: it stands
 * then.
 *
 * @param undone  [6 n_bodies] where the step began, m/s
 */
bool step_end_hold(second_order *s, const double undone[], motion *to);

/**
 * Where the world's CFM is no mere rounding, rows that give way less than their
 * bodies are rigid for the velocities. But they rest where their spring carries
 * them: what it gives way under the load of the last substep is no error, and
 * what carries a load is moved there from either side.
 *
 * @param at  the world where step_end_correct is to correct it; known of its
 *            joints and contacts is what the last substep left
 */
void step_end_load(second_order *s, world_snapshot *at);

/**
 * Poses corrected by moving: x is the least motion, measured by mass, that takes away
 * ERP's share of joint errors and overlaps at `to`. With the errors of third order
 * that a step makes, so is the correction. Angular velocities go with their bodies, so
 * that the move brings no energy of motion; what it lifts against weights, it does.
 *
 * @param at  the world at `to`
 */
bool step_end_correct(second_order *s, world_snapshot *at, motion *to);

#endif
