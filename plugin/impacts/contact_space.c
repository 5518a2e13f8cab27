#include "impacts/contact_space.h"

#include <math.h>

double contact_space_bound_of_one(int n_tangents) {
  return n_tangents == 1   ? 1
         : n_tangents == 2 ? M_SQRT1_2
                           : sin(M_PI / (2 * n_tangents));
}

double contact_space_mu_of_one(int n_tangents) {
  return n_tangents == 2 ? M_SQRT2 : 1 / contact_space_bound_of_one(n_tangents);
}

void contact_space_direction(int n_tangents, int j, double direction[2]) {
  double angle = M_PI / 2 - M_PI * (2 * j + 1) / (2 * n_tangents);
  direction[0] = n_tangents == 2 ? M_SQRT1_2 : cos(angle);
  direction[1] =
      n_tangents == 2 ? (j == 0 ? M_SQRT1_2 : -M_SQRT1_2) : sin(angle);
}

void contact_space_slip(const contact_space *space, int contact,
                        const double rows[], double slip[2]) {
  int T = space->n_tangents;
  slip[0] = rows[0];
  slip[1] = 0;
  if (T == 1) return;
  if (T == 2 || space->bound[contact] == INFINITY) {
    slip[0] = (rows[0] + rows[1]) * M_SQRT1_2;
    slip[1] = (rows[0] - rows[1]) * M_SQRT1_2;
    return;
  }
  slip[0] = 0;
  for (int j = 0; j < T; j++) {
    double direction[2];
    contact_space_direction(T, j, direction);
    for (int k = 0; k < 2; k++) slip[k] += 2.0 / T * rows[j] * direction[k];
  }
  // what only the rounding of sines keeps from 0
  double size = larger(fabs(slip[0]), fabs(slip[1]));
  for (int k = 0; k < 2; k++)
    if (fabs(slip[k]) <= 1e-15 * size) slip[k] = 0;
}

bool contact_space_is_endless(const contact_space *space) {
  for (int i = 0; i < space->n_contacts; i++)
    if (space->bound[i] == INFINITY) return true;
  return false;
}

void contact_space_push(const contact_space *space, const double c[],
                        const double lambda[], double pushed[]) {
  int n = space->n_rows;
  for (int i = 0; i < n; i++) {
    double sum = c[i];
    for (int j = 0; j < n; j++) sum += space->A[i * n + j] * lambda[j];
    pushed[i] = sum;
  }
}

double contact_space_slowest(const contact_space *space, const double c[]) {
  double slowest = c[0];
  for (int i = 1; i < space->n_contacts; i++) {
    double speed = c[i * space->per_contact];
    if (speed < slowest) slowest = speed;
  }
  return slowest;
}
