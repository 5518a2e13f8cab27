/* How near is touching, and how deep is at rest (docs/formulation.md, eq. 8c).
 * All is relative: a structure of any size, under any gravity, in steps of any
 * length has the same contacts. */
#ifndef ODE_MLCP_ROWS_HAIR_H
#define ODE_MLCP_ROWS_HAIR_H

#include <math.h>

#include "common/minmax.h"
#include "gap/real.h"

/** m: what rounding of the host's poses does to a gap at a place in single precision.
 *  In double precision they are as exact as what is reckoned from them: 0. */
static inline double hair_rounding(const double at[3]) {
  if (sizeof(dReal) == sizeof(double)) return 0;
  double far = larger_of(larger_of(fabs(at[0]), fabs(at[1])), fabs(at[2]));
  return 8 * REAL_EPSILON * far;
}

/** m: what is open by no more touches but for rounding, and what overlaps by no more
 *  does not overlap. */
static inline double hair_touch(const double at[3]) {
  return larger_of(1e-9, hair_rounding(at));
}

/** m: what rests beside each other is open by no more: contacts are looked for up to
 *  that. */
static const double HAIR_BESIDE = 1e-6;

/** m: how deep rigid contacts rest, so that rounding does not part them: far above
 *  what an accepted residual moves a body, far below what is seen.
 *  @param way       m: what gravity moves in a step, g h^2
 *  @param rounding  m: hair_rounding of the furthest of the contacts that rest alike */
static inline double hair_rest_depth(double way, double rounding) {
  return way > 0 ? larger_of(1e-5 * way, 2 * rounding) : 0;
}

/** m: what is open by no more touches. A hundred times the rest depth, since
 *  bodies at rest on each other lie deeper and less deep by that, unless so much
 *  would be seen beside what is in touch.
 *  @param size  m: of what is in touch
 *  @param at    m: where it is */
static inline double hair_gap(double way, double size, const double at[3]) {
  double gap = smaller_of(1e-3 * way, 1e-5 * size);
  return way > 0 ? larger_of(gap, hair_rounding(at)) : gap;
}

#endif
