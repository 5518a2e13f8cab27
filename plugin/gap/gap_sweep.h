/* When two moving geoms first come as near as a threshold: conservative
 * advancement. From a signed gap and bounds on speed follows a time until which
 * nothing can happen; there the gap is measured again. */
#ifndef ODE_MLCP_GAP_GAP_SWEEP_H
#define ODE_MLCP_GAP_GAP_SWEEP_H

#include "gap/gap_ode.h"

/** A body's pose after a share of its way, 0 .. 1. */
typedef void gap_sweep_pose(const void *context, double share,
                            double position[3], double rotation[9]);

/** A body on its way, whose speed per share of it is bounded. */
typedef struct gap_mover {
  gap_sweep_pose *pose; /* NULL: it stands where its geoms are */
  const void *context;
  double start_position[3], start_rotation[9]; /* where its geoms are placed */
  /* m a share: at any time its centre's velocity is in the convex hull of
   * these; all alike for a constant one */
  double linear[3][3];
  double turning; /* rad a share: it never turns faster */
  double bending; /* m a share^2: nor does its centre's velocity change more, */
  double twisting; /* rad a share^2: or its angular one */
  double stops;    /* 0 .. 1: the share from which on it stands still */
} gap_mover;

/** How large a geom is to a sweep. */
typedef struct gap_extent {
  double
      inner; /* m: half of its least thickness; of a mesh, whose thickness is not
                   known, a part of its size; INFINITY: a plane */
  double reach; /* m: no point that turns with the body is further from it; a
                   sphere's surface does not */
  double size;  /* m: about how large it is; INFINITY: a plane */
} gap_extent;

/** @param about  the centre of the geom's body. @return gap_status. */
int gap_extent_find(gap_context *context, dGeomID geom, const double about[3],
                    gap_extent *extent);

/** The geoms of a sweep and what is asked of it. */
typedef struct gap_sweep_request {
  dGeomID geom[2];
  gap_mover mover[2]; /* of their bodies */
  gap_extent extent[2];
  double depth;     /* m: what is looked for is a gap that is lower by this than
                       at the start, or than 0 where they are apart there */
  double tolerance; /* m: of that gap; > 0 */
  double most;      /* work that ends it, see gap_sweep_result */
} gap_sweep_request;

typedef struct gap_sweep_result {
  bool hits;
  double share;     /* where the gap is that low for the first time, */
  double normal[3]; /* unit, into the first geom: along this */
  double start_gap; /* m; of what is far as much as was looked for */
  int queries;      /* of gaps */
  double work;      /* pairs of convex pieces that these compared */
  bool
      ran_out; /* that, or 200 queries, did not do: up to `share` nothing hits */
} gap_sweep_result;

/** @return gap_status; GAP_OK also where nothing hits. */
int gap_sweep(gap_context *context, const gap_sweep_request *request,
              gap_sweep_result *result);

#endif
