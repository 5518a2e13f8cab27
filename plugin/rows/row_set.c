#include "rows/row_set.h"

#include <math.h>

mlcp_row *row_set_add(row_set *set, mlcp_row_kind kind) {
  mlcp_row *row = &set->rows[set->n_rows];
  *row = (mlcp_row){.kind = kind, .low = -INFINITY, .high = INFINITY};
  set->corrections[set->n_rows++] = (row_correction){0};
  return row;
}

void row_set_place(row_set *set, const row_frame *frame, const int body[2]) {
  mlcp_row *row = &set->rows[set->n_rows - 1];
  for (int side = 0; side < 2; side++) {
    int b = body[side];
    row->body[side] = b >= 0 ? frame->problem_body[b] : -1;
    if (b >= 0 && row->body[side] < 0)
      row->bias += dot6(row->J[side], frame->v + 6 * b);
  }
}

double row_bounce_target(double part, double speed, double free_speed,
                         double gap, double step_size) {
  double change = free_speed - speed;  /* by the acceleration, in the step */
  double start = speed + 0.5 * change; /* the speed at that place */
  if (!(start < 0)) return part * -speed;
  /* no deeper than a step can have taken it */
  gap = fmax(gap, step_size * start);
  double work = 2 * change / step_size * gap;
  double up = part * part * (start * start - work) + work;
  return up > 0 ? 0.5 * change + sqrt(up) : -INFINITY;
}
