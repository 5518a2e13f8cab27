/* The textbook way: lexicographic Lemke on the whole LCP (I2), dense. The
 * guarantee behind the faster ways, and what they are compared with. */
#ifndef ODE_MLCP_IMPACTS_IMPACT_LEMKE_H
#define ODE_MLCP_IMPACTS_IMPACT_LEMKE_H

#include "impacts/contact_space.h"

/** Variables of the LCP (I2): cap, normal, 2 T edges and gamma a contact. */
int impact_lemke_size(const contact_space *space);
size_t impact_lemke_scratch(const contact_space *space); /* in doubles */

/**
 * The LCP itself: w = W z + q, z = [b; lambda_n; lambda_D; gamma].
 *
 * @param stride  from a row of W to the next, and from an entry of q to the
 *                next; >= n
 */
void impact_lemke_problem(const contact_space *space, const double c[],
                          const double caps[], int stride, double W[],
                          double q[]);

/**
 * As contact_path_solve.
 *
 * @param covering  [impact_lemke_size] > 0, or NULL for ones
 */
bool impact_lemke_solve(const contact_space *space, const double c[],
                        const double caps[], const double covering[],
                        double scratch[], double lambda[], double reached[],
                        int *pivots);

#endif
