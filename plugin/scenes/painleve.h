/* Painleve's configurations: a body slides on one contact, and no accelerations
 * obey Coulomb's law. */
#ifndef ODE_MLCP_SCENES_PAINLEVE_H
#define ODE_MLCP_SCENES_PAINLEVE_H

#include <stdbool.h>

/** A planar body that slides on one point of a level floor. */
typedef struct sliding_contact {
  double mass, inertia; /* kg, kg m^2 about the centre */
  double arm[2];        /* m: from the centre to the contact */
  double slip;          /* m/s along x, not 0 */
  double turning;       /* rad/s */
  double friction, gravity;
} sliding_contact;

/**
 * The acceleration-level LCP of a sliding contact,
 *
 *   0 <= f  perp  a(f) = A f + b >= 0,   friction -sign(slip) friction f
 *
 * with f the normal force and a the contact's normal acceleration.
 *
 * @return whether it has a solution. A < 0 and b < 0: none.
 */
bool sliding_contact_solvable(const sliding_contact *contact, double *A,
                              double *b);

#endif
