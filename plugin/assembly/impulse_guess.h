/* The impulses that a solve starts from: what joints and contacts did in the last
 * step, turned into the rows that they have in this one. NAN is a row that did
 * nothing. */
#ifndef ODE_MLCP_ASSEMBLY_IMPULSE_GUESS_H
#define ODE_MLCP_ASSEMBLY_IMPULSE_GUESS_H

#include "assembly/recall.h"

/** The side of a contact's body that comes second in its entry. */
int impulse_guess_second_side(const world_snapshot *world,
                              const host_contact *point);

/** @param old  NULL: nothing is known */
void impulse_guess_joint(double guess[], int n_rows, const contact_entry *old);

/** @param side  see impulse_guess_second_side */
void impulse_guess_contact(double guess[], const contact_rows *rows,
                           const contact_entry *old, int side);

#endif
