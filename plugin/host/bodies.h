/* The bodies of an island as the step needs them: mass, velocity, forces. */
#ifndef ODE_MLCP_HOST_BODIES_H
#define ODE_MLCP_HOST_BODIES_H

#include <ode/ode.h>
#include <stdbool.h>
#include <stddef.h>

/** World frame, SI. Six-vectors are linear, then angular. */
typedef struct host_body {
  dBodyID id;
  unsigned long serial;
  bool kinematic;            /* moves as its velocity says, whatever pushes */
  double position[3];        /* centre of mass */
  double rotation[9];        /* body to world */
  double mass;               /* kg */
  double inertia[9];         /* kg m^2 */
  double inverse_inertia[9]; /* 0 where kinematic */
  double v[6];               /* velocity at the start of the step */
  double force[6];           /* program's, gravity's and gyroscopic */
  double v_free[6];          /* velocity at the end of a step with no
                                constraints: v + h M^-1 force */
} host_body;

/**
 * Read a body: pose, mass, velocity, accumulated force, gravity where the body
 * has it, and the gyroscopic torque in the host's implicit form where the body
 * has that. The body is not changed; v_free is set by host_body_finish.
 *
 * @param step_size  s; 0 leaves the gyroscopic torque out
 * @param message [message_size] out: one line that names a value that is not
 *                finite, and the body by its serial.
 * @return false where the body cannot be stepped.
 */
bool host_body_read(host_body *body, dBodyID id, double step_size,
                    char *message, size_t message_size);

/** Add the gyroscopic torque in the host's implicit form to `force`. */
void host_body_add_gyroscopic_torque(host_body *body, double step_size);

/** Set v_free once all forces are summed. */
void host_body_finish(host_body *body, double step_size);

#endif
