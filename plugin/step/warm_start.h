/* Last step's impulses, found again by what does not depend on addresses: the
 * bodies' serial numbers and where on them a contact is. */
#ifndef ODE_MLCP_STEP_WARM_START_H
#define ODE_MLCP_STEP_WARM_START_H

#include <stdbool.h>
#include <stdint.h>

#include "common/memory.h"

/** Which features of two bodies meet in a contact, in the bodies' order; zeros
 *  where that is not known. */
typedef struct contact_identity {
  uint32_t feature[2];
  int32_t part[2];
} contact_identity;

/** The impulses of one joint or contact. */
typedef struct warm_entry {
  unsigned long serial[2]; /* of the bodies, ascending; 0 the world */
  unsigned long joint;     /* the joint's serial; 0 for a contact */
  double local[2][3];      /* contact: position in the bodies' frames, in the
                              order of `serial` (world: world frame) */
  contact_identity identity; /* contact, in the order of `serial` */
  int n_rows;              /* joint: impulses in use */
  double impulses[6];      /* joint: per row; contact: normal, then rolling */
  double sliding[3];       /* contact: tangential impulse on the body that comes
                              second in `serial`, world frame */
  double slip[3];          /* contact: the slip's direction, world frame */
  bool overlap;            /* contact: pushed out by moving alone */
} warm_entry;

/** The entries of a step, those of the same bodies and joint in a run. Starts
 *  as zeros. */
typedef struct warm_start {
  warm_entry *entries; /* [count] */
  bool *used;          /* [count] given out */
  int count;
  int *slots; /* a table of runs by their hash: run + 1, 0 empty */
  size_t mask;
  int *run_of;    /* per entry while they are taken */
  int *run_first; /* [n_runs + 1] the runs' first entries, and the end */
  int n_runs;
  memory_block entry_block, used_block, slot_block, run_block;
} warm_start;

/** Make room to take `count` entries, and forget which were given out.
 *  @return false where memory runs out; what is held stays. */
bool warm_start_reserve(warm_start *start, const memory_source *source,
                        int count);

/** Hold copies of `entries` [count] in place of what is held: in runs, each in
 *  the order given. Room for them was reserved. */
void warm_start_take(warm_start *start, const warm_entry entries[], int count);

void warm_start_release(warm_start *start, const memory_source *source);

/**
 * Find an entry of the last step: the same joint, or the nearest contact of the
 * same bodies that was not given out before, of the same features if there is
 * one. Distance is the smaller of those in the two bodies' frames: a point that
 * slides over one body moves in the other's frame.
 *
 * @return the entry, which is given out with that, or NULL.
 */
const warm_entry *warm_start_find(const warm_start *start,
                                  const warm_entry *key);

/** Whether a contact of `key`'s bodies was an overlap in the last step. */
bool warm_start_overlap(const warm_start *start, const warm_entry *key);

#endif
