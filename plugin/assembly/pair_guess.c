#include "assembly/pair_guess.h"

#include <math.h>
#include <string.h>

#include "common/matrix6.h"
#include "common/six.h"
#include "common/vec3.h"

void pair_guess_begin(pair_guess *pair) { memset(pair, 0, sizeof *pair); }

void pair_guess_add_old(pair_guess *pair, const contact_entry *entry,
                        const double rotation[9]) {
  double force[3], arm[3], torque[3];
  vec3_copy(force, entry->sliding);
  vec3_add_scaled(force, entry->impulses[0], entry->normal);
  mat3_apply(arm, rotation, entry->local[1]);
  vec3_cross(torque, arm, force);
  for (int i = 0; i < 3; i++) {
    pair->missing[i] += force[i];
    pair->missing[3 + i] += torque[i];
    pair->size += fabs(force[i]) + fabs(torque[i]);
  }
}

/* The second body's part of the Jacobian of a contact's normal row (i = 0) or
 * of a sliding one. */
static void jacobian(double J[6], const host_contact *contact,
                     const contact_rows *rows, int side, int i) {
  const double *axis = i == 0 ? contact->normal : rows->sliding_axis[i - 1];
  vec3_copy(J, axis);
  if (side == 1) vec3_negate(J, axis);
  vec3_cross(J + 3, contact->arm[side], J);
}

void pair_guess_take(pair_guess *pair, const host_contact *contact,
                     const contact_rows *rows, int side, double guess[]) {
  for (int i = 0; i < rows->n_rows; i++) {
    double *p = &guess[rows->first_row + i], J[6];
    if (isnan(*p)) *p = 0;
    if (i > rows->n_sliding) continue;
    jacobian(J, contact, rows, side, i);
    for (int k = 0; k < 6; k++) {
      pair->missing[k] -= J[k] * *p;
      add_row(pair->sums + 6 * k, J[k], J);
    }
  }
}

bool pair_guess_balance(pair_guess *pair) {
  const double small = 1e-9, possible = 1e-3;
  double missing = 0, left = 0, made[6];
  for (int k = 0; k < 6; k++) missing += fabs(pair->missing[k]);
  if (!(missing > small * pair->size)) return false;
  matrix6_solve(pair->change, pair->sums, pair->missing);

  // fewer points may be unable to pass on what more did
  matrix6_apply(made, pair->sums, pair->change);
  for (int k = 0; k < 6; k++) left += fabs(pair->missing[k] - made[k]);
  return left <= possible * pair->size;
}

void pair_guess_move(const pair_guess *pair, const host_contact *contact,
                     const contact_rows *rows, int side, double guess[]) {
  for (int i = 0; i <= rows->n_sliding; i++) {
    double J[6];
    jacobian(J, contact, rows, side, i);
    for (int k = 0; k < 6; k++)
      guess[rows->first_row + i] += J[k] * pair->change[k];
  }
}
