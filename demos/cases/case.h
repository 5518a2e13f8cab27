/* Shared by the cases: a world with contacts, made by the plain ODE API.
 *
 * A case is run as `NAME step` or `NAME quick`, which say the host's stepper; under
 * `ode-mlcp run` either is ode-mlcp's. It prints a line a figure:
 *   what <tab> value <tab> right value <tab> unit
 */
#ifndef ODE_MLCP_DEMOS_CASE_H
#define ODE_MLCP_DEMOS_CASE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ode/ode.h>

static const double G = 9.81; /* m/s^2 */

static dWorldID world;
static dSpaceID space;
static dJointGroupID contacts;
static dSurfaceParameters surface; /* of all pairs */
static dVector3 direction;         /* fdir1, with dContactFDir1 */
static int quick;

static inline void case_collide(void *unused, dGeomID one, dGeomID other) {
  enum { POINTS = 16 };
  dBodyID a = dGeomGetBody(one), b = dGeomGetBody(other);
  dContact contact[POINTS];
  (void)unused;
  if (a == b || (a != NULL && b != NULL &&
                 dAreConnectedExcluding(a, b, dJointTypeContact)))
    return;
  int n = dCollide(one, other, POINTS, &contact[0].geom, sizeof contact[0]);
  for (int i = 0; i < n; i++) {
    contact[i].surface = surface;
    for (int k = 0; k < 3; k++) contact[i].fdir1[k] = direction[k];
    dJointAttach(dJointCreateContact(world, contacts, &contact[i]), a, b);
  }
}

static inline void case_begin(int n_arguments, char *argument[]) {
  if (n_arguments != 2 ||
      (strcmp(argument[1], "step") != 0 && strcmp(argument[1], "quick") != 0)) {
    fprintf(stderr, "usage: %s step|quick\n", argument[0]);
    exit(2);
  }
  quick = argument[1][0] == 'q';
  dInitODE2(0);
  dRandSetSeed(1); /* QuickStep orders its rows at random */
  world = dWorldCreate();
  dWorldSetGravity(world, 0, 0, -G);
  space = dSimpleSpaceCreate(0);
  contacts = dJointGroupCreate(0);
  surface.mode = dContactApprox1;
  surface.mu = 0.5;
}

static inline void case_step(double h) {
  dSpaceCollide(space, NULL, case_collide);
  if (quick)
    dWorldQuickStep(world, h);
  else
    dWorldStep(world, h);
  dJointGroupEmpty(contacts);
}

static inline int case_end(void) {
  dJointGroupDestroy(contacts);
  dSpaceDestroy(space);
  dWorldDestroy(world);
  dCloseODE();
  return 0;
}

static inline void tell(const char *what, double value, double right,
                        const char *unit) {
  printf("%s\t%.4g\t%.4g\t%s\n", what, value, right, unit);
}

static inline dBodyID add_body(dGeomID geom, const dMass *mass, double x,
                               double y, double z) {
  dBodyID body = dBodyCreate(world);
  dBodySetMass(body, mass);
  dGeomSetBody(geom, body);
  dBodySetPosition(body, x, y, z);
  return body;
}

static inline dBodyID add_box(double lx, double ly, double lz, double kg,
                              double x, double y, double z) {
  dMass mass;
  dMassSetBoxTotal(&mass, kg, lx, ly, lz);
  return add_body(dCreateBox(space, lx, ly, lz), &mass, x, y, z);
}

static inline dBodyID add_ball(double radius, double kg, double x, double y,
                               double z) {
  dMass mass;
  dMassSetSphereTotal(&mass, kg, radius);
  return add_body(dCreateSphere(space, radius), &mass, x, y, z);
}

#endif
