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
  double normal[3];        /* contact: into the body that comes second in
                              `serial`, world frame */
  double sliding[3];       /* contact: tangential impulse on that body, world
                              frame */
  double slip[3];          /* contact: the slip's direction, world frame */
  bool overlap;            /* contact: pushed out by moving alone */
} warm_entry;

/** What a step makes of an entry of the last one. */
typedef struct warm_claim {
  int taker;     /* the key that took it, -1 for none */
  int first_key; /* if the entry is the first of its run: the run's first key in
                    this step, -1 for none */
} warm_claim;

/** What a joint or contact has of the last step. */
typedef struct warm_match {
  const warm_entry *old; /* NULL for none */
  bool other_features;   /* contact: than the entry's */
  double square;         /* contact: m^2, of its distance to the entry */
  int first;             /* contact: the first key of the same bodies */
  int next;              /* contact: another key of the same bodies, or -1 */
  int run, run_end;      /* the entries of the same key; none where equal */
} warm_match;

/** The entries of a step, those of the same bodies and joint in a run. Starts
 *  as zeros. */
typedef struct warm_start {
  warm_entry *entries; /* [count] */
  warm_claim *claims;  /* [count] */
  int count;
  int *slots; /* a table of runs by their hash: run + 1, 0 empty */
  size_t mask;
  int *run_of;    /* per entry while they are taken */
  int *run_first; /* [n_runs + 1] the runs' first entries, and the end */
  int n_runs;
  memory_block entry_block, claim_block, slot_block, run_block;
} warm_start;

/** Make room to take `count` entries, and forget who took which.
 *  @return false where memory runs out; what is held stays. */
bool warm_start_reserve(warm_start *start, const memory_source *source,
                        int count);

/** Hold copies of `entries` [count] in place of what is held: in runs, each in
 *  the order given. Room for them was reserved. */
void warm_start_take(warm_start *start, const warm_entry entries[], int count);

void warm_start_release(warm_start *start, const memory_source *source);

/**
 * Find keys among the entries of the last step: the same joint, or a contact of
 * the same bodies, of the same features before others, the nearest pairs first.
 * Distance is the smaller of those in the two bodies' frames: a point that
 * slides over one body moves in the other's frame. Keys of the same bodies come
 * in one call.
 *
 * @param keys     [count]
 * @param matches  [count] out
 */
void warm_start_match(const warm_start *start, const warm_entry keys[],
                      int count, warm_match matches[]);

#endif
