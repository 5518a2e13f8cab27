#include "rows/joint_rows.h"

#include <math.h>

#include "common/vec3.h"
#include "ode_mlcp.h"

/* The ERP of a joint that keeps one of its own; the others use the one they
 * are given. A stop keeps its own, too, but that belongs to its spring. */
static double own_erp(dJointID joint, double world_erp) {
  switch (dJointGetType(joint)) {
    case dJointTypeBall:
      return dJointGetBallParam(joint, dParamERP);
    case dJointTypeFixed:
      return dJointGetFixedParam(joint, dParamERP);
    case dJointTypeDBall:
      return dJointGetDBallParam(joint, dParamERP);
    case dJointTypeDHinge:
      return dJointGetDHingeParam(joint, dParamERP);
    default:
      return world_erp;
  }
}

/* The part of rows->rhs[i] that grows with the rate: a position error enters as
 * fps erp error, so what twice the rate adds is the correction. */
static double correction_part(const dStepperJointRows *rows,
                              const dStepperJointRows *faster, unsigned i) {
  double correction = faster->rhs[i] - rows->rhs[i];
  if (correction * rows->rhs[i] <= 0) return 0;
  return fabs(correction) > fabs(rows->rhs[i]) ? rows->rhs[i] : correction;
}

double joint_rows_error(dJointID joint, double step_size) {
  dStepperJointRows rows, faster;
  if (!dJointGetStepperRows(joint, 1 / step_size, 1, &rows) ||
      !dJointGetStepperRows(joint, 2 / step_size, 1, &faster))
    return 0;

  double own = own_erp(joint, 1), worst = 0;
  for (unsigned i = 0; i < rows.count && own > 0; i++)
    worst = fmax(worst, fabs(correction_part(&rows, &faster, i)) * step_size /
                            own);
  return worst;
}

bool joint_rows_read(joint_reading *reading, dJointID joint, double step_size,
                     double erp) {
  dWorldID world = dBodyGetWorld(
      dJointGetBody(joint, 0) ? dJointGetBody(joint, 0)
                              : dJointGetBody(joint, 1));
  double world_erp = dWorldGetERP(world), fps = 1 / step_size;
  double used_erp = erp == ODE_MLCP_ERP_HOST ? world_erp : erp;
  dStepperJointRows *rows = &reading->rows, faster;

  if (!dJointGetStepperRows(joint, fps, used_erp, rows) ||
      !dJointGetStepperRows(joint, 2 * fps, used_erp, &faster))
    return false;

  double own = own_erp(joint, used_erp);
  double scale = own > 0 && erp != ODE_MLCP_ERP_HOST ? erp / own : 1;
  for (unsigned i = 0; i < rows->count; i++) {
    double correction = correction_part(rows, &faster, i);
    if (scale != 1) rows->rhs[i] += (scale - 1) * correction;
    reading->correction[i] = scale * correction;
  }
  return true;
}

const char *joint_rows_bad_value(const joint_reading *reading, double *value) {
  const dStepperJointRows *rows = &reading->rows;
  for (unsigned i = 0; i < rows->count; i++) {
    const struct {
      const double *values;
      int count;
      const char *name;
    } fields[] = {{rows->J[i][0], 12, "a constraint row"},
                  {&rows->rhs[i], 1, "a target velocity or a position error"},
                  {&rows->cfm[i], 1, "CFM"}};
    for (int f = 0; f < 3; f++)
      for (int k = 0; k < fields[f].count; k++)
        if (!isfinite(fields[f].values[k])) {
          *value = fields[f].values[k];
          return fields[f].name;
        }
    if (isnan(rows->lo[i]) || isnan(rows->hi[i])) {
      *value = NAN;
      return "a force limit";
    }
    if (rows->cfm[i] < 0) {
      *value = rows->cfm[i];
      return "CFM";
    }
    if (rows->lo[i] > rows->hi[i]) {
      *value = rows->hi[i];
      return "a force limit";
    }
  }
  for (int k = 0; k < 12; k++)
    if (!isfinite(rows->force[k / 6][k % 6])) {
      *value = rows->force[k / 6][k % 6];
      return "a motor's force";
    }
  return NULL;
}

/* A row with a compliance of its own is a spring: its ERP is physics. */
static double rigid_correction(const joint_reading *reading, unsigned i,
                               double world_cfm) {
  return reading->rows.cfm[i] <= world_cfm ? reading->correction[i] : 0;
}

double joint_rows_correction(const joint_reading *reading, double world_cfm) {
  double worst = 0;
  for (unsigned i = 0; i < reading->rows.count; i++)
    worst = fmax(worst, fabs(rigid_correction(reading, i, world_cfm)));
  return worst;
}

int joint_rows_add(row_set *set, const row_frame *frame,
                   const joint_reading *reading, const int body[2],
                   double world_cfm) {
  const dStepperJointRows *host = &reading->rows;
  double h = frame->step_size;
  int first = set->n_rows;

  for (unsigned i = 0; i < host->count; i++) {
    double rhs = host->rhs[i], excess = 0;

    double correction = rigid_correction(reading, i, world_cfm);
    if (frame->joint_excess > 0) {
      excess = frame->joint_excess * correction;
      correction -= excess;
      rhs -= excess;
    }
    mlcp_row *row = row_set_add(set, frame, MLCP_ROW_JOINT, body, host->J[i],
                                -rhs, host->cfm[i] / h);
    row->low = h * host->lo[i];
    row->high = h * host->hi[i];
    row_set_correct(set, correction, excess, 0);
  }
  return first;
}

/* J v, with the velocities at the start of the step or free. */
static double stop_rate(const row_frame *frame, const dStepperJointStop *stop,
                        const int body[2], bool free) {
  double rate = 0;
  for (int side = 0; side < 2; side++) {
    if (body[side] < 0) continue;
    const host_body *b = &frame->bodies[body[side]];
    const double *v = free ? b->v_free : b->v;
    for (int k = 0; k < 6; k++) rate += stop->J[side][k] * v[k];
  }
  return rate;
}

bool joint_stop_near(const row_frame *frame, const dStepperJointStop *stop,
                     const int body[2]) {
  const double TOUCH = 1e-9;
  double rate = fmin(stop_rate(frame, stop, body, false),
                     stop_rate(frame, stop, body, true));
  return stop->gap + 2 * frame->step_size * fmin(rate, 0) <= TOUCH;
}

void joint_stop_add(row_set *set, const row_frame *frame,
                    const dStepperJointStop *stop, const int body[2]) {
  double h = frame->step_size, target = -stop->gap / h;
  bool reached = stop->gap + h * stop_rate(frame, stop, body, true) <= 0;
  if (reached && stop->bounce > 0)
    target = fmax(target,
                  -stop->bounce * stop_rate(frame, stop, body, false));
  mlcp_row *row = row_set_add(set, frame, MLCP_ROW_JOINT, body, stop->J,
                              -target, stop->cfm / h);
  row->low = 0;
}
