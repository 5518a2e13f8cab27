#include "rows/row_set.h"

#include <math.h>
#include <string.h>

#include "common/six.h"

mlcp_row *row_set_add(row_set *set, const row_frame *frame, mlcp_row_kind kind,
                      const int body[2], const double J[2][6], double bias,
                      double compliance) {
  mlcp_row *row = &set->rows[set->n_rows++];
  row->kind = kind;
  row->bias = bias;
  row->compliance = compliance;
  row->low = -INFINITY;
  row->high = INFINITY;
  row_set_correct(set, 0, 0, 0);
  for (int side = 0; side < 2; side++) {
    int b = body[side];
    row->body[side] = b >= 0 ? frame->problem_body[b] : -1;
    if (row->body[side] >= 0) {
      memcpy(row->J[side], J[side], sizeof row->J[side]);
      continue;
    }
    if (b >= 0) row->bias += dot6(J[side], frame->v + 6 * b);
    memset(row->J[side], 0, sizeof row->J[side]);
  }
  return row;
}

void row_set_correct(row_set *set, double velocity, double excess,
                     double bounce) {
  set->corrections[set->n_rows - 1] =
      (row_correction){velocity, excess, bounce, false};
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
