#include "assembly/impulse_guess.h"

#include <math.h>

#include "common/vec3.h"

int impulse_guess_second_side(const world_snapshot *world,
                              const host_contact *point) {
  return world_serial(world, point->body[0]) >
                 world_serial(world, point->body[1])
             ? 0
             : 1;
}

void impulse_guess_joint(double guess[], int n_rows, const contact_entry *old) {
  /* where a stop was reached or left, the rows before its own are the same */
  for (int i = 0; i < n_rows; i++)
    guess[i] = old != NULL && i < old->n_rows ? old->impulses[i] : NAN;
}

void impulse_guess_contact(double guess[], const contact_rows *rows,
                           const contact_entry *old, int side) {
  double sign = side == 0 ? 1 : -1;
  for (int i = 0; i < rows->n_rows; i++) {
    if (old == NULL)
      guess[i] = NAN;
    else if (i >= 1 && i <= rows->n_sliding)
      guess[i] = sign * vec3_dot(rows->sliding_axis[i - 1], old->sliding);
    else
      guess[i] = old->impulses[i > 0 ? i - rows->n_sliding : 0];
  }
}
