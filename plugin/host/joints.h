/* The rows of a joint, as the host's own getInfo1 and getInfo2 give them. */
#ifndef ODE_MLCP_HOST_JOINTS_H
#define ODE_MLCP_HOST_JOINTS_H

#include <ode/ode.h>
#include <ode/stepper.h>
#include <stdbool.h>

#include "host/bodies.h"

/** As the host's dStepperJointRows, in double; the bodies are the joint's. */
typedef struct host_rows {
  unsigned count;
  double J[6][2][6]; /* J v = rhs + cfm force, low <= force <= high */
  double rhs[6], cfm[6], lo[6], hi[6];
  double force[2][6]; /* that the joint adds to its bodies */
} host_rows;

/** A stop of a joint as a gap, reached or not: as the host's dStepperJointStop, in
 *  double. */
typedef struct host_stop {
  double J[2][6]; /* J v is the rate of the gap */
  double gap;     /* m or rad; less than 0 past the stop */
  double erp, cfm, bounce;
  int number; /* within its joint, below dStepperJointStopsMax */
  bool turns; /* the gap is an angle: what a whole turn adds to it is the same
                 pose */
} host_stop;

/** A joint read at the bodies' present poses. */
typedef struct host_joint_rows {
  host_rows rows;
  double correction[6]; /* m/s, rad/s, signed: the part of rhs that corrects a
                           position error */
  bool soft[6]; /* so soft that it gives way more than the bodies do: a spring,
                   as in host_contact_is_soft */
} host_joint_rows;

/** True if row i holds the bodies both ways and stiffly: softened by `cfm`, the
 *  world's, at most. */
bool host_row_holds(const host_joint_rows *joint, unsigned i, double cfm);

/**
 * Why the joint has no rows where its bodies are, in words, or NULL: directions
 * that it needs are none there, for which the host ends the program.
 */
const char *host_joint_degenerate(dJointID id);

/**
 * Read a joint's rows; not of one that is degenerate.
 *
 * @param erp  ODE_MLCP_ERP_HOST, or the ERP of rows that have no spring of
 *             their own (the paper's gamma)
 * @return false when the host ran out of memory.
 */
bool host_joint_read(host_joint_rows *joint, dJointID id, double step_size,
                     double erp);

/** As host_joint_read, of the joint without its stops: none of its rows is theirs,
 *  and a motor's row stays what it is where a stop is reached. */
bool host_joint_read_free(host_joint_rows *joint, dJointID id, double step_size,
                          double erp);

/**
 * Read all stops of a joint but those of an axis that is locked. The host measures
 * angles within half a turn: one that is past a stop is counted from the nearer
 * of both.
 *
 * @param open   those alone that are not reached, without their ERP, which is NAN
 * @param stops  room for dStepperJointStopsMax
 * @return their number, or -1 where memory ran out.
 */
int host_joint_read_stops(dJointID id, bool open, host_stop stops[]);

/** Read with an ERP of 1 in all rows, those of stops and suspensions, which keep
 *  one of their own, too: a row's correction is then minus its position error
 *  over the step. */
bool host_joint_read_errors(host_joint_rows *joint, dJointID id,
                            double step_size);

/** Find which rows are so soft, between `body` [2] of `bodies`, -1 for the world. */
void host_joint_find_soft(host_joint_rows *joint, const host_body bodies[],
                          const int body[2], double step_size);

/** The largest position error of a joint's rows, m or rad; 0 where the host ran
 *  out of memory. */
double host_joint_error(dJointID joint, double step_size);

/** The error of each row, and the rows as of a step so short that nothing else counts
 *  in `rhs`. @return false: there are none */
bool host_joint_rows_and_errors(dJointID joint, double step_size,
                                host_rows *rows, double errors[6]);

/** True if a step has the joint: it is enabled, and one of its bodies is. */
bool host_joint_steps(const dWorldJoint *joint);

/** The first value that is not finite where it must be, by name, or NULL. */
const char *host_joint_bad_value(const host_joint_rows *joint, double *value);

#endif
