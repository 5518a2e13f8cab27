#include "assembly/recall.h"

#include <math.h>

#include "common/vec3.h"

double recall_sign(const world_snapshot *world, const host_contact *point) {
  return world_serial(world, point->body[0]) >
                 world_serial(world, point->body[1])
             ? 1
             : -1;
}

void recall_joint_impulses(double guess[], int n_rows,
                           const contact_entry *old) {
  /* where a stop was reached or left, the rows before its own are the same */
  for (int i = 0; i < n_rows; i++)
    guess[i] = old != NULL && i < old->n_rows ? old->impulses[i] : NAN;
}

void recall_contact_impulses(double guess[], const contact_rows *rows,
                             const contact_entry *old, double sign) {
  for (int i = 0; i < rows->n_rows; i++) {
    if (old == NULL)
      guess[i] = NAN;
    else if (i >= 1 && i <= rows->n_sliding)
      guess[i] = sign * vec3_dot(rows->sliding_axis[i - 1], old->sliding);
    else
      guess[i] = old->impulses[i > 0 ? i - rows->n_sliding : 0];
  }
}
