/* How near is touching, and how deep is at rest (docs/formulation.md, eq. 8c).
 * All is relative: a structure of any size, under any gravity, in steps of any
 * length has the same contacts. */
#ifndef ODE_MLCP_WORLD_HAIR_H
#define ODE_MLCP_WORLD_HAIR_H

#include "common/minmax.h"

/** m: how deep rigid contacts rest, so that rounding does not part them: far above
 *  what an accepted residual moves a body, far below what is seen.
 *  @param way  m: what gravity moves in a step, g h^2 */
static inline double hair_rest_depth(double way) { return 1e-5 * way; }

/** m: what is open by no more touches. A hundred times the rest depth, since
 *  bodies at rest on each other lie deeper and less deep by that, unless so much
 *  would be seen beside what is in touch.
 *  @param size  m: of what is in touch */
static inline double hair_gap(double way, double size) {
  return smaller_of(1e-3 * way, 1e-5 * size);
}

#endif
