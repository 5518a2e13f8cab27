/* The face, edge or corner with which a core meets another one. */
#ifndef ODE_MLCP_GAP_GAP_OUTLINE_H
#define ODE_MLCP_GAP_GAP_OUTLINE_H

#include "gap/gap_core.h"

enum {
  OUTLINE_ROOM = 32,
  /* a cylinder's cap is taken as this many fixed points of its rim */
  CAP_POINTS = 8
};

typedef struct gap_outline {
  /* 0: a face without end, through the first point; 1: a corner; 2: an edge; more: a
   * face, its corners counterclockwise as seen from outside */
  int count;
  double points[OUTLINE_ROOM][3];
  gap_feature corners[OUTLINE_ROOM];
  gap_feature edges[OUTLINE_ROOM]; /* from this point to the next */
  gap_feature face;
  double normal[3]; /* of a face: unit, outward; else 0 */
} gap_outline;

/**
 * What a core shows to the side `d` (unit): the face that looks that way
 * within 30 degrees, else the edge that lies across it as nearly, else a
 * corner.
 *
 * @param scale [m] size of the coordinates.
 */
void gap_outline_facing(const gap_core *core, const double d[3], double scale,
                        gap_outline *outline);

/** The feature that holds `count` (1 to 3) corners of a polytope. */
gap_feature gap_outline_feature(const gap_core *core, const int corners[],
                                int count);

#endif
