/* The last step's knowledge of a snapshot's joints and contacts, and the impulses that a
 * solve starts from: what they did then, turned into the rows that they have now. */
#ifndef ODE_MLCP_ASSEMBLY_RECALL_H
#define ODE_MLCP_ASSEMBLY_RECALL_H

#include "rows/contact_rows.h"
#include "world/world.h"

/** Starts as zeros; its memory is of the snapshot's pool. */
typedef struct recall {
  contact_entry *keys;    /* [n_keys] */
  contact_match *matches; /* [n_keys] */
  int n_keys;
  int *joint_key;   /* [n_joints] -1: none */
  int *contact_key; /* [contacts->n] -1: none */
  arena arena;
} recall;

/**
 * Find joints with rows and contacts in the memory of the last step. No entry of
 * it may have been claimed by other keys of the same bodies.
 *
 * @param contacts  NULL: the world's
 * @param stops     stops that are not reached, too
 * @param radius    m, as contact_memory_match
 * @return false when memory ran out.
 */
bool recall_find(recall *r, const contact_memory *memory,
                 const world_snapshot *world, const world_contacts *contacts,
                 bool stops, double radius);

/** What matches a contact; `old` is NULL where there is nothing, of a recall that is
 *  NULL, too. */
contact_match recall_contact(const recall *r, int k);

/** The memory of a joint, NULL for none. */
const contact_entry *recall_joint(const recall *r, int j);

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
