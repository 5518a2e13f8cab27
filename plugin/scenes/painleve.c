#include "scenes/painleve.h"

bool sliding_contact_solvable(const sliding_contact *contact, double *A,
                              double *b) {
  const double *r = contact->arm;
  double sign = contact->slip > 0 ? 1 : -1;
  // rows (0, 1, r_x) along the normal and (1, 0, -r_y) along the floor
  double normal = 1 / contact->mass + r[0] * r[0] / contact->inertia;
  double coupling = -r[0] * r[1] / contact->inertia;
  *A = normal - sign * contact->friction * coupling;
  *b = -contact->gravity - contact->turning * contact->turning * r[1];
  return *b >= 0 || *A > 0;
}
