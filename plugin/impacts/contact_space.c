#include "impacts/contact_space.h"

#include <math.h>

double contact_space_bound_of_one(int n_tangents) {
  return n_tangents == 1 ? 1 : M_SQRT1_2;
}

void contact_space_turn(int n_tangents, const double from[], double to[]) {
  double first = from[0];
  to[0] = n_tangents == 1 ? first : (first + from[1]) * M_SQRT1_2;
  if (n_tangents == 2) to[1] = (first - from[1]) * M_SQRT1_2;
}

bool contact_space_is_endless(const contact_space *space) {
  for (int i = 0; i < space->n_contacts; i++)
    if (space->bound[i] == INFINITY) return true;
  return false;
}

bool contact_space_is_same(const contact_space *space, const double a[],
                           const double b[]) {
  double worst = 0;
  for (int i = 0; i < space->n_rows; i++)
    worst = larger(worst, fabs(a[i] - b[i]));
  return worst <= IMPACT_SAME * space->scale;
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

/* Friction without limit: it has an impulse only while the contact is closed,
 * against the slip; what slips has no push and the largest friction impulse. */
static double endless_violation(const contact_space *space, int normal,
                                const double lambda[], const double reached[]) {
  int T = space->n_tangents;
  double worst = 0, largest = 0;
  for (int row = normal + 1; row <= normal + T; row++)
    largest = larger(largest, fabs(lambda[row]));
  for (int row = normal + 1; row <= normal + T; row++) {
    double s = lambda[row], slip = reached[row], weight = space->weight[row];
    double against = slip > 0 ? largest + s : largest - s;
    worst = larger(worst, smaller(weight * fabs(s), reached[normal]));
    worst = larger(worst, smaller(weight * against, fabs(slip)));
    worst = larger(worst,
                   smaller(space->weight[normal] * lambda[normal], fabs(slip)));
  }
  return worst;
}

double contact_space_violation(const contact_space *space, const double caps[],
                               const double lambda[], const double reached[]) {
  double worst = 0;
  for (int contact = 0; contact < space->n_contacts; contact++) {
    int normal = contact * space->per_contact;
    double weight = space->weight[normal], push = lambda[normal];
    double room = caps[contact] - push;
    // an impulse and separation, room below the cap and approach: one is 0
    worst = larger(worst, smaller(weight * push, reached[normal]));
    worst = larger(worst, smaller(weight * room, -reached[normal]));
    if (space->bound[contact] == INFINITY) {
      worst = larger(worst, endless_violation(space, normal, lambda, reached));
      continue;
    }
    for (int t = 1; t <= space->n_tangents; t++) {
      int row = normal + t;
      double limit = space->bound[contact] * push, slip = reached[row];
      double against = slip > 0 ? limit + lambda[row] : limit - lambda[row];
      worst = larger(worst, smaller(space->weight[row] * against, fabs(slip)));
    }
  }
  return worst;
}
