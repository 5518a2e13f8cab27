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
  int order;               /* place among the entries of its step */
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

typedef struct warm_start {
  memory_block entries, used;
  int count;
} warm_start;

/** Sort `entries` [count] by bodies, joint and order, so that they can be
 *  found. */
void warm_start_sort(warm_entry entries[], int count);

/**
 * Find an entry of the last step: the same joint, or the nearest contact of the
 * same bodies that was not given out before, of the same features if there is
 * one. Distance is the smaller of those in the two bodies' frames: a point that
 * slides over one body moves in the other's frame.
 *
 * @param used  [count] marks given out; set to true for the entry found
 * @return the entry's index or -1.
 */
int warm_start_find(const warm_entry entries[], int count, bool used[],
                    const warm_entry *key);

/** Whether a contact of `key`'s bodies was an overlap in the last step. */
bool warm_start_overlap(const warm_entry entries[], int count,
                        const warm_entry *key);

#endif
