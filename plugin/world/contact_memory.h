/* Contacts and joints found again, in the next step or at other poses, by what
 * does not depend on addresses: the bodies' serial numbers and where on them a
 * contact is. */
#ifndef ODE_MLCP_WORLD_CONTACT_MEMORY_H
#define ODE_MLCP_WORLD_CONTACT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/memory.h"

/** A joint or contact: what it is known by, and what a step left of it. */
typedef struct contact_entry {
  unsigned long serial[2]; /* of the bodies, 0 the world: ascending, a joint's
                                in its own order */
  unsigned long joint;     /* the joint's serial; 0 for a contact */
  int stop;                /* 1 + number of a stop in its joint; 0: none */
  unsigned long
      told; /* contact: the program's joint for it, which is of no other
                         as long as it is there; 0: none */
  double local[2][3]; /* contact: position in the bodies' frames, in the
                              order of `serial` (world: world frame) */
  double normal[3];   /* contact: into the body that comes second in
                              `serial`, world frame */
  double motion[3];   /* contact: of its surface, m/s */
  double axis[3];     /* contact that is asked again: direction 0 as the
                                program gave it, or 0 */
  int number;         /* the caller's */
  /* of the last step */
  double seconds;      /* contact: that the impulses acted over */
  int n_rows;          /* joint: impulses in use */
  double impulses[6];  /* joint: per row; contact: normal, then rolling */
  double sliding[3];   /* contact: tangential impulse on that body, world
                              frame */
  double slip[3];      /* contact: the slip's direction, world frame, */
  bool guided;         /* and true if free flight's is another */
  bool overlap;        /* contact: corrected by moving alone */
  bool held, slipping; /* contact, stop: see world_contact */
} contact_entry;

/** The match of an entry of the last step. */
typedef struct contact_claim {
  int taker; /* the key that took it, -1 for none */
  int next;  /* the entry after the one that was found last by its joint, */
  bool overlapped; /* and true if one of the run was an overlap */
} contact_claim;

/** The memory of a joint or contact from the last step. */
typedef struct contact_match {
  const contact_entry *old; /* NULL for none */
  bool by_joint;            /* contact: the entry is of the same joint */
  double square;            /* contact: m^2, of its distance to the entry */
  int run, run_end;         /* the entries of the same key; none where equal */
  bool overlapped;          /* contact: one of them was an overlap */
} contact_match;

/** The entries of a step, those of the same bodies and joint in a run. Starts
 *  as zeros. */
typedef struct contact_memory {
  contact_entry *entries; /* [count] */
  contact_claim *claims;  /* [count] */
  int count;
  unsigned long newest;        /* of the joints that contacts were told of by */
  const contact_entry **order; /* while they are taken */
} contact_memory;

/** Make room to take `count` entries, and forget who claimed which.
 *  @return false where memory runs out; what is held stays. */
bool contact_memory_reserve(contact_memory *memory, memory_pool *pool,
                            int count);

/** Forget who claimed which entry: keys may be matched anew. */
void contact_memory_unclaim(const contact_memory *memory);

/** Hold copies of `entries` [count] in place of what is held: in runs, each in
 *  the order given, unclaimed. Room for them was reserved. */
void contact_memory_take(contact_memory *memory, const contact_entry entries[],
                         int count);

/**
 * Find keys among the entries of the last step: the same joint or stop, the contact
 * of the same joint, or one of the same bodies, the nearest pairs first. Distance is the smaller of those in the two bodies' frames: a
 * point that slides over one body moves in the other's frame. Keys of the same
 * bodies come in one call.
 *
 * Contacts whose normals are more than some 45 degrees apart are others: a corner can
 * touch a floor and a wall.
 *
 * @param keys     [count]
 * @param radius   m: contacts further apart are others; may be infinite
 * @param matches  [count] out
 */
void contact_memory_match(const contact_memory *memory,
                          const contact_entry keys[], int count, double radius,
                          contact_match matches[]);

#endif
