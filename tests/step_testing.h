/* Worlds that step on ode-mlcp, and bodies that touch without collision
 * detection. */
#ifndef ODE_MLCP_TESTS_STEP_TESTING_H
#define ODE_MLCP_TESTS_STEP_TESTING_H

#include <math.h>
#include <string.h>

#include "body_testing.h"
#include "hash.h"
#include "ode_mlcp.h"
#include "host_testing.h"

/** A world under gravity along -z; `options` NULL: defaults. */
static inline dWorldID create_world(double gravity,
                                    const ode_mlcp_options *options) {
  dWorldID world = dWorldCreate();
  dWorldSetGravity(world, 0, 0, -gravity);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(world, options), ODE_MLCP_OK);
  return world;
}

/** A surface with every field that needs a flag left as NaN, as real programs
 *  do. */
static inline dSurfaceParameters bare_surface(int mode, double mu) {
  return (dSurfaceParameters){.mode = mode,
                              .mu = mu,
                              .mu2 = NAN,
                              .rho = NAN,
                              .rho2 = NAN,
                              .rhoN = NAN,
                              .bounce = NAN,
                              .bounce_vel = NAN,
                              .soft_erp = NAN,
                              .soft_cfm = NAN,
                              .motion1 = NAN,
                              .motion2 = NAN,
                              .motionN = NAN,
                              .slip1 = NAN,
                              .slip2 = NAN};
}

/** A contact at (x, y, z) that pushes up. */
static inline dContact contact_at(const dSurfaceParameters *surface, double x,
                                  double y, double z, double depth) {
  dContact contact;
  memset(&contact, 0, sizeof contact);
  contact.surface = *surface;
  contact.geom.pos[0] = x;
  contact.geom.pos[1] = y;
  contact.geom.pos[2] = z;
  contact.geom.normal[2] = 1;
  contact.geom.depth = depth;
  for (int i = 0; i < 3; i++) contact.fdir1[i] = NAN;
  return contact;
}

/** Of all that bodies show: pose, velocity, forces, whether they are enabled. */
static inline hash hash_of_bodies(const dBodyID bodies[], int count) {
  hash of = hash_start();
  for (int i = 0; i < count; i++) {
    dBodyID body = bodies[i];
    const int is_enabled = dBodyIsEnabled(body);
    const struct {
      const dReal *values;
      size_t count;
    } parts[] = {{dBodyGetPosition(body), 3},   {dBodyGetQuaternion(body), 4},
                 {dBodyGetRotation(body), 12},  {dBodyGetLinearVel(body), 3},
                 {dBodyGetAngularVel(body), 3}, {dBodyGetForce(body), 3},
                 {dBodyGetTorque(body), 3}};
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
      hash_bytes(&of, parts[p].values, parts[p].count * sizeof(dReal));
    hash_bytes(&of, &is_enabled, sizeof is_enabled);
  }
  return of;
}

static inline uint64_t hash_bodies(const dBodyID bodies[], int count) {
  return hash_of_bodies(bodies, count).value;
}

#endif
