#include "impacts/contact_space.h"

#include <math.h>

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
