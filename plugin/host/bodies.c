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

void host_body_velocity(dBodyID id, double v[6]) {
  real_read(v, dBodyGetLinearVel(id), 3);
  real_read(v + 3, dBodyGetAngularVel(id), 3);
}

void host_body_set_velocity(dBodyID id, const double v[6]) {
  dBodySetLinearVel(id, v[0], v[1], v[2]);
  dBodySetAngularVel(id, v[3], v[4], v[5]);
}

bool host_body_read(host_body *body, dBodyID id, double step_size,
                    char *message, size_t message_size) {
  body->id = id;
  body->serial = dBodyGetSerial(id);
  body->kinematic = dBodyIsKinematic(id);
  body->gyroscopic = !body->kinematic && dBodyGetGyroscopicMode(id);
  const dReal *position = dBodyGetPosition(id), *force = dBodyGetForce(id);
  const dReal *torque = dBodyGetTorque(id);
  host_body_velocity(id, body->v);
  for (int i = 0; i < 3; i++) {
    body->position[i] = position[i];
    body->force[i] = force[i];
    body->force[3 + i] = torque[i];
  }
  const dReal *quaternion = dBodyGetQuaternion(id);
  for (int i = 0; i < 4; i++) body->quaternion[i] = quaternion[i];
  read_matrix(body->rotation, dBodyGetRotation(id));

  dVector3 given = {0};
  double gravity[3], value;
  bool falls = !body->kinematic && dBodyGetGravityMode(id);
  if (falls) dWorldGetGravity(dBodyGetWorld(id), given);
  real_read(gravity, given, 3);
  host_field fields[] = {
      {"position", body->position, 3}, {"rotation", body->rotation, 9},
      {"linear velocity", body->v, 3}, {"angular velocity", body->v + 3, 3},
      {"force", body->force, 3},       {"torque", body->force + 3, 3},
      {"gravity", gravity, 3}};
  const char *bad =
      host_not_finite(fields, sizeof fields / sizeof *fields, &value);
  if (bad != NULL) {
    snprintf(message, message_size, "body %lu: %s is %g", body->serial, bad,
             value);
    return false;
  }
  if (!read_mass(body)) {
    snprintf(message, message_size,
             "body %lu: mass %g or its inertia is not positive and finite",
             body->serial, body->mass);
    return false;
  }
  if (falls) vec3_add_scaled(body->force, body->mass, gravity);
  if (step_size > 0 && body->gyroscopic)
    host_body_add_gyroscopic_torque(body, step_size);
  return true;
}
