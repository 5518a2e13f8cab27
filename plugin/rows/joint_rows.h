/* Rows of joints and of their stops (docs/formulation.md, eq. 6). */
#ifndef ODE_MLCP_ROWS_JOINT_ROWS_H
#define ODE_MLCP_ROWS_JOINT_ROWS_H

#include "host/joints.h"
#include "rows/row_set.h"

/** Which rows of a joint take part, and with which target. A rigid row is one
 *  with no more than the world's CFM that is not soft. */
typedef enum joint_level {
  JOINT_LEVEL_POSITION, /* all rows, position errors are corrected */
  JOINT_LEVEL_VELOCITY, /* all rows; rigid ones correct nothing and their stops
                           give nothing back: that is an impact's */
  JOINT_LEVEL_IMPACT,   /* the same of rigid rows without a finite limit */
  JOINT_LEVEL_MOVE      /* of these the corrections alone */
} joint_level;

/** The largest correction of a rigid row, m/s or rad/s, but for what the row's
 *  compliance makes of the impulse that it may carry, by the last step.
 *
 * @param carried  [6] N s, N m s; NULL: nothing */
double joint_rows_correction(const host_joint_rows *joint, double world_cfm,
                             double step_size, const double carried[]);

/**
 * Append the rows: J v+ + (cfm/h) p - rhs, with bounds h lo and h hi. Of the
 * correction of a rigid row the part frame->joint_excess is left out of its
 * target, as its excess.
 *
 * @param body  the joint's two bodies, -1 for the world
 * @param carried  see joint_rows_correction
 * @param row_of  [6] out: per row of the host its row in the set, -1: it takes
 *                no part
 */
void joint_rows_add(row_set *set, const row_frame *frame,
                    const host_joint_rows *joint, const int body[2],
                    double world_cfm, joint_level level, const double carried[],
                    int row_of[6]);

/** True if a stop that is not reached would be within two steps, at the
 *  velocities of the step's start or of free flight. */
bool joint_stop_near(const row_frame *frame, const host_stop *stop,
                     const int body[2]);

/**
 * Append the row of a stop that is not reached: J v+ + (cfm/h) p + gap/h >= 0,
 * or the stop's bounce where free flight would reach it.
 *
 * @param stop  its gap as a scheme linearises it
 * @param free_rate  m/s or rad/s of the gap at the end without the stop, NAN: in
 *                   free flight
 */
void joint_stop_add(row_set *set, const row_frame *frame, const host_stop *stop,
                    double free_rate, const int body[2]);

#endif
