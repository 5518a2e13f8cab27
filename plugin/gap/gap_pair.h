/* The parts of gap_pair() that meshes use triangle by triangle. */
#ifndef ODE_MLCP_GAP_GAP_PAIR_H
#define ODE_MLCP_GAP_GAP_PAIR_H

#include "gap/gap_core.h"

/** A shape's core about `origin`; side 0 or 1 of a pair.
 *  @return GAP_OK or GAP_NO_MEMORY. */
int gap_pair_place(gap_scratch *scratch, const gap_shape *shape, int side,
                   const double origin[3], gap_core *core);

/** Contacts of two cores in their coordinates; B alone may be a half-space.
 *  @return their number. */
int gap_pair_meet(const gap_core *a, const gap_core *b, double margin,
                  gap_contact contacts[GAP_PAIR_ROOM]);

/** Contacts of (b, a) from those of (a, b), in place. */
void gap_contacts_turn(gap_contact contacts[], int count);

#endif
