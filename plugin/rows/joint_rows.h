/* Rows of joints, as the host's own getInfo1 and getInfo2 give them. */
#ifndef ODE_MLCP_ROWS_JOINT_ROWS_H
#define ODE_MLCP_ROWS_JOINT_ROWS_H

#include <ode/stepper.h>

#include "rows/row_set.h"

/** A joint read at the current poses. */
typedef struct joint_reading {
  dStepperJointRows rows;
  double correction[6]; /* m/s, rad/s, signed: the part of rhs that corrects a
                           position error */
} joint_reading;

/**
 * Read a joint's rows.
 *
 * @param erp  ODE_MLCP_ERP_HOST, or the ERP of rows that have no spring of
 *             their own (the paper's gamma)
 * @return false when the host ran out of memory.
 */
bool joint_rows_read(joint_reading *reading, dJointID joint, double step_size,
                     double erp);

/** The largest position error of a joint's rows, m or rad; 0 where the host ran
 *  out of memory. */
double joint_rows_error(dJointID joint, double step_size);

/** The first value that is not finite where it must be, by name, or NULL. */
const char *joint_rows_bad_value(const joint_reading *reading, double *value);

/** The largest correction of a rigid row, m/s or rad/s. */
double joint_rows_correction(const joint_reading *reading, double world_cfm);

/**
 * Append the rows: J v+ + (cfm/h) p - rhs (docs/formulation.md, eq. 6), with
 * bounds h lo and h hi. Of the correction of a rigid row (the world's own CFM)
 * the part frame->joint_excess is left out of its target, as its excess.
 *
 * @param body  the joint's two bodies in the island, -1 for the world
 * @return the index of the first row; the rest follow in the host's order.
 */
int joint_rows_add(row_set *set, const row_frame *frame,
                   const joint_reading *reading, const int body[2],
                   double world_cfm);

/** Whether a stop that is not reached would be within two steps, at the
 *  velocities of the step's start or of free flight. */
bool joint_stop_near(const row_frame *frame, const dStepperJointStop *stop,
                     const int body[2]);

/**
 * Append the row of a stop that is not reached: J v+ + (cfm/h) p + gap/h >= 0,
 * or the stop's bounce where free flight would reach it.
 */
void joint_stop_add(row_set *set, const row_frame *frame,
                    const dStepperJointStop *stop, const int body[2]);

#endif
