/* Bodies and contacts for tests. */
#ifndef ODE_MLCP_TESTS_BODY_TESTING_H
#define ODE_MLCP_TESTS_BODY_TESTING_H

#include <ode/ode.h>

/** A solid box at the origin; `space` NULL: without a geom. */
static inline dBodyID create_box(dWorldID world, dSpaceID space, double mass,
                                 double x, double y, double z) {
  dBodyID body = dBodyCreate(world);
  dMass box;
  dMassSetBoxTotal(&box, mass, x, y, z);
  dBodySetMass(body, &box);
  if (space != NULL) dGeomSetBody(dCreateBox(space, x, y, z), body);
  return body;
}

/** A solid sphere at the origin. */
static inline dBodyID create_ball(dWorldID world, double mass, double radius) {
  dBodyID body = dBodyCreate(world);
  dMass sphere;
  dMassSetSphereTotal(&sphere, mass, radius);
  dBodySetMass(body, &sphere);
  return body;
}

/** Of a body's motion, J. */
static inline double kinetic_energy(dBodyID body) {
  const dReal *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
  dMass mass;
  dVector3 spin;
  dBodyGetMass(body, &mass);
  dBodyVectorFromWorld(body, w[0], w[1], w[2], spin);
  double twice = 0;
  for (int i = 0; i < 3; i++) {
    twice += mass.mass * v[i] * v[i];
    for (int k = 0; k < 3; k++) twice += mass.I[4 * i + k] * spin[i] * spin[k];
  }
  return twice / 2;
}

/** A message handler. */
static inline void keep_quiet(int number, const char *text, va_list arguments) {
  (void)number;
  (void)text;
  (void)arguments;
}

/* Joints between bodies, of which the second may be NULL: the world. Places and axes are
 * the world's. */

static inline dJointID joint_ball(dWorldID world, dBodyID one, dBodyID other,
                                  double x, double y, double z) {
  dJointID joint = dJointCreateBall(world, NULL);
  dJointAttach(joint, one, other);
  dJointSetBallAnchor(joint, x, y, z);
  return joint;
}

static inline dJointID joint_hinge(dWorldID world, dBodyID one, dBodyID other,
                                   double x, double y, double z, double axis_x,
                                   double axis_y, double axis_z) {
  dJointID joint = dJointCreateHinge(world, NULL);
  dJointAttach(joint, one, other);
  dJointSetHingeAnchor(joint, x, y, z);
  dJointSetHingeAxis(joint, axis_x, axis_y, axis_z);
  return joint;
}

static inline dJointID joint_slider(dWorldID world, dBodyID one, dBodyID other,
                                    double axis_x, double axis_y,
                                    double axis_z) {
  dJointID joint = dJointCreateSlider(world, NULL);
  dJointAttach(joint, one, other);
  dJointSetSliderAxis(joint, axis_x, axis_y, axis_z);
  return joint;
}

static inline dJointID joint_fixed(dWorldID world, dBodyID one, dBodyID other) {
  dJointID joint = dJointCreateFixed(world, NULL);
  dJointAttach(joint, one, other);
  dJointSetFixed(joint);
  return joint;
}

/** Contact joints of all that dCollide finds.
 *  @return how many */
static inline int join_contacts_on(dWorldID world, dJointGroupID group,
                                   dGeomID one, dGeomID other,
                                   const dSurfaceParameters *surface) {
  enum { MOST = 8 };
  dContact contacts[MOST];
  int n = dCollide(one, other, MOST, &contacts[0].geom, sizeof *contacts);
  for (int i = 0; i < n; i++) {
    contacts[i].surface = *surface;
    dJointAttach(dJointCreateContact(world, group, &contacts[i]),
                 dGeomGetBody(one), dGeomGetBody(other));
  }
  return n;
}

/** The same, with friction `mu` of the push. */
static inline int join_contacts(dWorldID world, dJointGroupID group,
                                dGeomID one, dGeomID other, double mu) {
  const dSurfaceParameters surface = {.mode = dContactApprox1, .mu = (dReal)mu};
  return join_contacts_on(world, group, one, other, &surface);
}

#endif
