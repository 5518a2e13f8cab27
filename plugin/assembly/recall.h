/* The last step's knowledge of a snapshot's joints and contacts. */
#ifndef ODE_MLCP_ASSEMBLY_RECALL_H
#define ODE_MLCP_ASSEMBLY_RECALL_H

#include "world/world.h"

/** Starts as zeros; its memory is of the snapshot's pool. */
typedef struct recall {
  const contact_memory *memory;
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

/** The memory of a contact, NULL for none. */
const contact_entry *recall_contact(const recall *r, int k);

#endif
