/* The impulses that a solve starts from: what joints and contacts did in the last step,
 * turned into the rows that they have now. */
#ifndef ODE_MLCP_ASSEMBLY_RECALL_H
#define ODE_MLCP_ASSEMBLY_RECALL_H

#include "rows/contact_rows.h"
#include "world/world.h"

/** A contact's impulse is remembered as on the body that comes second in its entry:
 *  -1 where that is the second of the contact's own, else 1. */
double recall_sign(const world_snapshot *world, const host_contact *point);

/** The impulses of a joint's rows; NAN is a row that did nothing.
 *  @param old  NULL: nothing is known; so of a contact */
void recall_joint_impulses(double guess[], int n_rows,
                           const contact_entry *old);

/** The impulses of a contact's rows.
 *  @param sign  see recall_sign */
void recall_contact_impulses(double guess[], const contact_rows *rows,
                             const contact_entry *old, double sign);

#endif
