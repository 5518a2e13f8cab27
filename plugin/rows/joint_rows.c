#include "rows/joint_rows.h"

#include <math.h>
#include <string.h>

/* A row with a compliance of its own is a spring: its ERP is physics. */
static bool is_rigid(const host_joint_rows *joint, unsigned i,
                     double world_cfm) {
  return joint->rows.cfm[i] <= world_cfm && !joint->soft[i];
}

static double rigid_correction(const host_joint_rows *joint, unsigned i,
                               double world_cfm, double step_size,
                               const double carried[]) {
  if (!is_rigid(joint, i, world_cfm)) return 0;
  double correction = joint->correction[i];
  if (carried == NULL) return correction;
  double spring = joint->rows.cfm[i] / step_size * carried[i];
  if (!(spring * correction > 0)) return correction;
  return fabs(spring) < fabs(correction) ? correction - spring : 0;
}

double joint_rows_correction(const host_joint_rows *joint, double world_cfm,
                             double step_size, const double carried[]) {
  double worst = 0;
  for (unsigned i = 0; i < joint->rows.count; i++)
    worst = fmax(
        worst, fabs(rigid_correction(joint, i, world_cfm, step_size, carried)));
  return worst;
}

static bool one_sided_or_free(double low, double high) {
  return (low == 0 || isinf(low)) && (high == 0 || isinf(high));
}

/* The target velocity of row i but for its correction.
 * @return false where the row takes no part. */
static bool choose_row(const host_joint_rows *joint, unsigned i,
                       double world_cfm, joint_level level, double *rhs) {
  const host_rows *host = &joint->rows;
  *rhs = host->rhs[i];
  if (level == JOINT_LEVEL_POSITION) return true;
  bool rigid = is_rigid(joint, i, world_cfm);
  bool stop = (host->lo[i] == 0) != (host->hi[i] == 0);
  *rhs = !rigid ? host->rhs[i] : stop ? 0 : host->rhs[i] - joint->correction[i];
  if (level == JOINT_LEVEL_VELOCITY) return true;
  if (level == JOINT_LEVEL_MOVE) *rhs = joint->correction[i];
  return rigid && one_sided_or_free(host->lo[i], host->hi[i]);
}

void joint_rows_add(row_set *set, const row_frame *frame,
                    const host_joint_rows *joint, const int body[2],
                    double world_cfm, joint_level level, const double carried[],
                    int row_of[6]) {
  const host_rows *host = &joint->rows;
  double h = frame->step_size;
  int first = set->n_rows;
  /* A joint that has a stiff spring holds velocities at the step's end in all of
   * its rows: rows that hold the mean of both ends throw what the spring takes out
   * at one back at the other, and a car's wheels never come to rest. */
  bool stiff = false;
  for (int i = 0; i < 6; i++) row_of[i] = -1;
  for (unsigned i = 0; i < host->count; i++) {
    double rhs, correction = 0, excess = 0;
    if (!choose_row(joint, i, world_cfm, level, &rhs)) continue;
    if (level == JOINT_LEVEL_POSITION) {
      correction = rigid_correction(joint, i, world_cfm, h, carried);
      if (frame->joint_excess > 0) {
        excess = frame->joint_excess * correction;
        correction -= excess;
        rhs -= excess;
      }
    }
    double cfm = host->cfm[i];
    /* without its ERP a compliance would creep */
    if (level != JOINT_LEVEL_POSITION && is_rigid(joint, i, world_cfm))
      cfm = fmin(cfm, HOST_DEFAULT_CFM);
    row_of[i] = set->n_rows;
    mlcp_row *row = row_set_add(set, MLCP_ROW_JOINT);
    memcpy(row->J, host->J[i], sizeof row->J);
    row->bias = -rhs;
    row->compliance = cfm / h;
    row->low = h * host->lo[i];
    row->high = h * host->hi[i];
    set->corrections[row_of[i]].velocity = correction;
    set->corrections[row_of[i]].excess = excess;
    row_set_place(set, frame, body);
    stiff |= host->cfm[i] > world_cfm && !joint->soft[i];
  }
  for (int r = first; r < set->n_rows; r++) set->corrections[r].stiff = stiff;
}

bool joint_stop_near(const row_frame *frame, const host_stop *stop,
                     const int body[2]) {
  double rate = fmin(row_rate(stop->J, body, frame->v),
                     row_rate(stop->J, body, frame->v_free));
  return stop->gap + 2 * frame->step_size * fmin(rate, 0) <= 0;
}

void joint_stop_add(row_set *set, const row_frame *frame, const host_stop *stop,
                    double free_rate, const int body[2]) {
  double h = frame->step_size, gap = stop->gap, target = -gap / h;
  double rate = row_rate(stop->J, body, frame->v);
  if (isnan(free_rate)) free_rate = row_rate(stop->J, body, frame->v_free);
  if (gap + h * free_rate <= 0 && stop->bounce > 0 && rate < 0)
    target =
        fmax(target, row_bounce_target(stop->bounce, rate, free_rate, gap, h));
  mlcp_row *row = row_set_add(set, MLCP_ROW_JOINT);
  memcpy(row->J, stop->J, sizeof row->J);
  row->bias = -target;
  row->compliance = stop->cfm / h;
  row->low = 0;
  row_set_place(set, frame, body);
}
