/* Patches: the points of one pair of bodies that lie in a plane. */
#ifndef ODE_MLCP_WORLD_PATCH_H
#define ODE_MLCP_WORLD_PATCH_H

#include "common/arena.h"
#include "world/contact.h"

/**
 * Leave out the points of a pair that others of it imply: between them, with their
 * normal and surface, and with the gap that they make of it there. Whatever such a
 * point may push, in the normal's direction and along the surface, its neighbours
 * can push in its place. The host's polygons have some whose place is up to
 * rounding, and they wander from step to step.
 *
 * What slides over a floor in pieces needs it (tests/test_step_inner.c): points at seams
 * have the normal of what slides, which leans as deep as its points rest unlike, and
 * bodies change their speed by twice a millionth of it in a second where that is to be
 * none. Of work it saves a twentieth, of brick walls' a tenth.
 *
 * Springs push each for itself, and so do limits of friction in N: they stay.
 *
 * @param cfm       of contacts without one of their own
 * @param way       m: what gravity moves in a step, see rows/hair.h
 * @param contacts  [n] of two bodies: what others imply is no longer active
 * @param left_out  counts them
 * @return false where memory ran out.
 */
bool patch_thin_out(double cfm, double way, world_contact *const contacts[],
                    int n, arena *scratch, int *left_out);

#endif
