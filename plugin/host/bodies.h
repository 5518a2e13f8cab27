/* The bodies of an island as the step needs them: mass, velocity, forces. */
#ifndef ODE_MLCP_HOST_BODIES_H
#define ODE_MLCP_HOST_BODIES_H

#include <math.h>
#include <ode/ode.h>
#include <stdbool.h>
#include <stddef.h>

/** The CFM that the host gives its worlds: a softness that nobody asked for. */
static const double HOST_DEFAULT_CFM = 1e-10;

/** A CFM as it was asked for. In single precision the host gives its worlds a larger
 *  one, for a solver that reckons in float: heavy bodies would sink on it. Ours does
 *  not need it. A joint has it from its world when it is made: in a world that the
 *  program gave another, it is the program's own.
 *  @param of_world  the world's, as the host has it */
static inline double host_cfm(dReal given, dReal of_world) {
  const dReal hosts_own = sizeof(dReal) == sizeof(double) ? 1e-10 : 1e-5F;
  const dReal rounded = HOST_DEFAULT_CFM; /* as a program asks for it */
  bool untouched = given == hosts_own && of_world == hosts_own;
  return untouched || given == rounded ? HOST_DEFAULT_CFM : given;
}

static inline double host_world_cfm(dWorldID world) {
  dReal own = dWorldGetCFM(world);
  return host_cfm(own, own);
}

/** Numbers of the host's by name. */
typedef struct host_field {
  const char *name;
  const double *values;
  int count;
} host_field;

/** The name of the first field with a value that is not finite, that to `value`; or
 *  NULL. */
static inline const char *host_not_finite(const host_field fields[], int n,
                                          double *value) {
  for (int f = 0; f < n; f++)
    for (int k = 0; k < fields[f].count; k++) {
      *value = fields[f].values[k];
      if (!isfinite(*value)) return fields[f].name;
    }
  return NULL;
}

/** World frame, SI. Six-vectors are linear, then angular. */
typedef struct host_body {
  dBodyID id;
  unsigned long serial;
  bool kinematic;            /* moves as its velocity says, whatever pushes */
  bool gyroscopic;           /* the program left the gyroscopic torque on */
  double position[3];        /* centre of mass */
  double quaternion[4];      /* body to world, unit: w, x, y, z */
  double rotation[9];        /* the same as a matrix, row-major */
  double mass;               /* kg */
  double inertia[9];         /* kg m^2 */
  double inverse_inertia[9]; /* 0 where kinematic */
  double v[6];               /* velocity at the start of the step */
  double force[6];           /* program's, gravity's and gyroscopic */
} host_body;

/**
 * Read a body: pose, mass, velocity, accumulated force, gravity where the body
 * has it, and the gyroscopic torque in the host's implicit form where the body
 * has that. The body is not changed.
 *
 * @param step_size  s; 0 leaves the gyroscopic torque out
 * @param message [message_size] out: one line that names a value that is not
 *                finite, and the body by its serial.
 * @return false where the body cannot be stepped.
 */
bool host_body_read(host_body *body, dBodyID id, double step_size,
                    char *message, size_t message_size);

/** The velocity that a body has in the host now, and one that it is given there. */
void host_body_velocity(dBodyID id, double v[6]);
void host_body_set_velocity(dBodyID id, const double v[6]);

/** Add the gyroscopic torque in the host's implicit form to `force`. */
void host_body_add_gyroscopic_torque(host_body *body, double step_size);

/** J M^-1 J' of a row between two bodies, -1 for the world: how far it gives way to an
 *  impulse, in 1/kg of a row in metres. */
double host_row_mobility(const host_body bodies[], const int body[2],
                         const double J[2][6]);

/** True if a row of such a CFM gives way more than the bodies do. */
bool host_row_gives_way(const host_body bodies[], const int body[2],
                        const double J[2][6], double cfm, double step_size);

/** The body's 6 x 6 mass matrix in the world's frame. */
void host_body_mass(const host_body *body, double M[36]);

/** The velocity at the end of a step with no constraints, v + h M^-1 force;
 *  that of a kinematic body stays. */
void host_body_free_velocity(const host_body *body, double step_size,
                             double v_free[6]);

#endif
