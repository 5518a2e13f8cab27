/* The rocking block on stiff spring-dampers under its corners (Halm & Posa 2023,
 * sec. 5.4.1, eq. 88-90): what the rigid model's set stands for. */
#ifndef ODE_MLCP_IMPACTS_COMPLIANT_BLOCK_H
#define ODE_MLCP_IMPACTS_COMPLIANT_BLOCK_H

#include <stdbool.h>

/** Drop it by 1 cm.
 *
 *  @param stiffness  N/m, of the corners A (left) and B (right)
 *  @param angle      rad, at which it touches
 *  @param speeds     out: the corners' normal velocities when both have touched
 *                    and neither approaches any more, m/s
 *  @return false: that did not come to pass, or the steps became too small */
bool compliant_block_collide(const double stiffness[2], double angle,
                             double speeds[2]);

#endif
