/* One solution of a step by a compact Lemke path in contact space.
 *
 * Lemke's method with one row a contact direction instead of the five a planar
 * contact has in the LCP (I2): upper bounds (the cap on a normal impulse, the
 * friction cone for a tangent one) are met by turning a variable round,
 * x -> bound - x, instead of by rows of their own. */
#ifndef ODE_MLCP_IMPACTS_CONTACT_PATH_H
#define ODE_MLCP_IMPACTS_CONTACT_PATH_H

#include "impacts/contact_space.h"

size_t contact_path_scratch(const contact_space *space); /* in doubles */

/**
 * Find impulses of one step.
 *
 * @param c         [n_rows] contact velocities
 * @param caps      [m] > 0, N s; INFINITY for none (eq. I3)
 * @param covering  [n_rows] which path is followed: > 0 on normal rows, of any
 *                  sign on tangent rows; NULL for a fixed one, unequal numbers
 *                  in [1, 2) on normal rows and 0 on tangent rows
 * @param onward    [n_rows] as covering: from the solution found, go on by this
 *                  covering vector; where that leads back to a solution, it is
 *                  another one, which is taken. NULL: do not. Paths from the
 *                  outside meet only solutions of positive index (lift and
 *                  rest, not the slide between them); this meets the others.
 * @param scratch   contact_path_scratch numbers
 * @param lambda    [n_rows] out; all 0 unless true is returned
 * @param reached   [n_rows] out: contact velocities after the step
 * @param pivots    out: steps of the path
 * @return false when the path ends on a ray or does not end, or when its end
 *         does not meet the conditions
 */
bool contact_path_solve(const contact_space *space, const double c[],
                        const double caps[], const double covering[],
                        const double onward[], double scratch[],
                        double lambda[], double reached[], int *pivots);

/** Worst violation of a step's conditions, m/s; impulses by their weight. */
double contact_path_violation(const contact_space *space, const double caps[],
                              const double lambda[], const double reached[]);

#endif
