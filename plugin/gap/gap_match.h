/* Which contact of this step is which of the last one. */
#ifndef ODE_MLCP_GAP_GAP_MATCH_H
#define ODE_MLCP_GAP_GAP_MATCH_H

#include "gap/gap.h"

/** Where a body is: rotation row-major, body to world. */
typedef struct gap_pose {
  double position[3], rotation[9];
} gap_pose;

/**
 * Find the contacts of one pair of geoms again.
 *
 * Contacts of the same features and triangles are the same. Of those left
 * over, the ones nearest to each other are, seen from the body from which they
 * are nearer: a box that slides over a floor of triangles, a cylinder that
 * rolls. Each old contact is given once; of equals the lower number.
 *
 * @param poses_then, poses_now [2] of the bodies of the pair's two geoms.
 * @param radius [m] further apart no two are the same. A rolling body needs
 *        more than step size x speed.
 * @param match [n_now] out: number of the old contact, or -1.
 * @return number of contacts of now that have none.
 */
int gap_match(const gap_contact then[], int n_then,
              const gap_pose poses_then[2], const gap_contact now[],
              int n_now, const gap_pose poses_now[2], double radius,
              int match[]);

#endif
