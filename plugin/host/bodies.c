#include "host/bodies.h"

#include <ode/stepper.h>
#include <stdio.h>
#include <string.h>

#include "common/vec3.h"
#include "gap/real.h"

/* ODE's matrices have rows of four. */
static void read_matrix(double out[9], const dReal in[12]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[3 * i + j] = in[4 * i + j];
}

static bool read_mass(host_body *body) {
  dMass mass;
  double inertia[9], inverse[9];
  dBodyGetMass(body->id, &mass);
  body->mass = mass.mass;
  read_matrix(inertia, mass.I);
  mat3_rotate(body->inertia, body->rotation, inertia);

  if (body->kinematic) {
    memset(body->inverse_inertia, 0, sizeof body->inverse_inertia);
    return true;
  }
  if (!(mass.mass > 0) || !isfinite(mass.mass) ||
      !mat3_invert(inverse, inertia))
    return false;
  mat3_rotate(body->inverse_inertia, body->rotation, inverse);
  return true;
}

/* 0, or NaN where a value is not finite. */
static double not_finite(const double values[], int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += 0 * values[i];
  return sum;
}

static bool check(const host_body *body, const double values[], int count,
                  const char *what, char *message, size_t message_size) {
  for (int i = 0; i < count; i++) {
    if (isfinite(values[i])) continue;
    snprintf(message, message_size, "body %lu: %s is %g", body->serial, what,
             values[i]);
    return false;
  }
  return true;
}

/* @return false */
static bool name_bad_value(const host_body *body, char *message,
                           size_t message_size) {
  return check(body, body->position, 3, "position", message, message_size) &&
         check(body, body->rotation, 9, "rotation", message, message_size) &&
         check(body, body->v, 3, "linear velocity", message, message_size) &&
         check(body, body->v + 3, 3, "angular velocity", message,
               message_size) &&
         check(body, body->force, 3, "force", message, message_size) &&
         check(body, body->force + 3, 3, "torque", message, message_size);
}

bool host_body_read(host_body *body, dBodyID id, double step_size,
                    char *message, size_t message_size) {
  body->id = id;
  body->serial = dBodyGetSerial(id);
  body->kinematic = dBodyIsKinematic(id);
  body->gyroscopic = !body->kinematic && dBodyGetGyroscopicMode(id);
  const dReal *position = dBodyGetPosition(id), *force = dBodyGetForce(id);
  const dReal *torque = dBodyGetTorque(id), *lvel = dBodyGetLinearVel(id);
  const dReal *avel = dBodyGetAngularVel(id);
  for (int i = 0; i < 3; i++) {
    body->position[i] = position[i];
    body->v[i] = lvel[i];
    body->v[3 + i] = avel[i];
    body->force[i] = force[i];
    body->force[3 + i] = torque[i];
  }
  const dReal *quaternion = dBodyGetQuaternion(id);
  for (int i = 0; i < 4; i++) body->quaternion[i] = quaternion[i];
  read_matrix(body->rotation, dBodyGetRotation(id));

  if (not_finite(body->position, 3) + not_finite(body->rotation, 9) +
          not_finite(body->v, 6) + not_finite(body->force, 6) !=
      0)
    return name_bad_value(body, message, message_size);
  if (!read_mass(body)) {
    snprintf(message, message_size,
             "body %lu: mass %g or its inertia is not positive and finite",
             body->serial, body->mass);
    return false;
  }
  if (body->kinematic) return true;

  if (dBodyGetGravityMode(id)) {
    dVector3 given;
    dWorldGetGravity(dBodyGetWorld(id), given);
    double gravity[3];
    real_read(gravity, given, 3);
    if (!check(body, gravity, 3, "gravity", message, message_size))
      return false;
    vec3_add_scaled(body->force, body->mass, gravity);
  }
  if (step_size > 0 && body->gyroscopic)
    host_body_add_gyroscopic_torque(body, step_size);
  return true;
}
