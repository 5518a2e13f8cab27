/* The rocking block on stiff spring-dampers under its corners (Halm & Posa 2023,
 * sec. 5.4.1, eq. 88-90): what the rigid model's set stands for. */
#ifndef ODE_MLCP_TESTS_COMPLIANT_BLOCK_H
#define ODE_MLCP_TESTS_COMPLIANT_BLOCK_H

#include <stdbool.h>

/** The state, SI units. The horizontal position acts on nothing. SLIP is the
 *  horizontal velocity of the bottom's middle: friction acts within a
 *  micrometre a second of it, which a difference of larger speeds would lose. */
enum {
  COMPLIANT_Y,
  COMPLIANT_THETA,
  COMPLIANT_SLIP,
  COMPLIANT_VY,
  COMPLIANT_RATE,
  COMPLIANT_STATE
};

typedef struct compliant_block {
  double stiffness[2]; /* of the corners A (left) and B (right), N/m */
  double slip_width;   /* eq. 90's epsilon, m/s; the paper has 1e-10 */
} compliant_block;

/** The state q just before the impact of a block that was dropped by 1 cm and
 *  touches at `angle` (rad). */
void compliant_block_start(double angle, double q[COMPLIANT_STATE]);

/** d = dq/dt (eq. 88-90) and J, its derivative by q but for the turning of the
 *  arms, which is not stiff. */
void compliant_block_rates(const compliant_block *block,
                           const double q[COMPLIANT_STATE],
                           double d[COMPLIANT_STATE],
                           double J[COMPLIANT_STATE][COMPLIANT_STATE]);

/** Both corners have touched, and none that touches still approaches.
 *  @param touched  in and out: the corners that have */
bool compliant_block_is_over(const compliant_block *block,
                             const double q[COMPLIANT_STATE], bool touched[2]);

/** The corners' normal velocities, m/s. */
void compliant_block_speeds(const compliant_block *block,
                            const double q[COMPLIANT_STATE], double speeds[2]);

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
