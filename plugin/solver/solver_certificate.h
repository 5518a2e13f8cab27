/* Proof that a mixed LCP has no solution: rows that contradict each other.
 *
 * A row without compliance and friction asks of the velocities alone that
 * J v + bias is 0 (free impulse), at least 0 (impulse bounded below) or at most 0
 * (bounded above). With weights y, any of free rows, >= 0 and <= 0 of the others,
 * every solution has
 *
 *   0 <= y'(J v + bias) = (J'y)'v + bias'y
 *
 * so that where bias'y < 0 and J'y = 0 there is none (Farkas), and where J'y is
 * not 0 by rounding one has a velocity of at least -bias'y / sum |J'y|.
 *
 * Such y are the impulses of a problem of these rows alone that gives way a
 * little, w = J v + bias + share A (p - p_last): they settle to the least violation,
 * and p - p_last to multiples of it, which balance.
 */
#ifndef ODE_MLCP_SOLVER_SOLVER_CERTIFICATE_H
#define ODE_MLCP_SOLVER_SOLVER_CERTIFICATE_H

#include "common/arena.h"
#include "mlcp/mlcp.h"
#include "solver/solver_variants.h"

/** Whether there are rows that could contradict each other: two at least that
 *  ask something of velocities alone. */
bool solver_certificate_is_possible(const mlcp_problem *problem);

/** The problem that gives way. Rows keep their places; those that ask nothing of
 *  velocities alone have impulses of 0.
 *  @param p  [n_rows] impulses of the last such problem, or NULL
 *  @return false when memory runs out. */
bool solver_certificate_relax(solver_variant *variant, arena *arena,
                              const mlcp_problem *problem, const double p[]);

/**
 * Whether y, put right where that is a matter of rounding, is a proof.
 *
 * @param y      [n_rows] in: impulses as above; out: the weights, 0 of the rows
 *               that are not needed; 1 is the largest in impulses times A_ii
 * @param speed  out: every solution has a component of velocity of at least this,
 *               m/s or rad/s; INFINITY where J'y is exactly 0
 * @param proof  out: y is one: `speed` is at least 1e6 times
 *               mlcp_velocity_scale, and bias'y below -1e-9 of what it is added
 *               up from
 * @return false when memory ran out
 */
bool solver_certificate_check(const mlcp_problem *problem, double y[],
                              arena *arena, double *speed, bool *proof);

#endif
