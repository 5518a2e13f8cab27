/* A row of dominoes on the plain ODE API. The first one is pushed.
 *
 * It prints, once they are at rest, how many lie. Nothing in it names ode-mlcp.
 */
#include <stdio.h>

#include <ode/ode.h>

enum { DOMINOES = 12, POINTS = 8 };

static const dReal WIDTH = 0.05, DEPTH = 0.2, HEIGHT = 0.4; /* m */
static const dReal STEP = 0.005;                            /* s */

static dWorldID world;
static dJointGroupID contacts;

static void collide(void *unused, dGeomID one, dGeomID other) {
  (void)unused;
  dContact contact[POINTS];
  int n = dCollide(one, other, POINTS, &contact[0].geom, sizeof contact[0]);
  for (int i = 0; i < n; i++) {
    contact[i].surface.mode = dContactApprox1;
    contact[i].surface.mu = 0.4;
    dJointAttach(dJointCreateContact(world, contacts, &contact[i]),
                 dGeomGetBody(one), dGeomGetBody(other));
  }
}

static dBodyID add_domino(dSpaceID space, dReal x) {
  dBodyID body = dBodyCreate(world);
  dMass mass;
  dMassSetBox(&mass, 600, WIDTH, DEPTH, HEIGHT); /* wood, kg/m^3 */
  dBodySetMass(body, &mass);
  dBodySetPosition(body, x, 0, 0.5 * HEIGHT);
  dGeomSetBody(dCreateBox(space, WIDTH, DEPTH, HEIGHT), body);
  return body;
}

int main(void) {
  dInitODE2(0);
  world = dWorldCreate();
  dWorldSetGravity(world, 0, 0, -9.81);
  dSpaceID space = dSimpleSpaceCreate(0);
  contacts = dJointGroupCreate(0);
  dCreatePlane(space, 0, 0, 1, 0);

  dBodyID domino[DOMINOES];
  for (int i = 0; i < DOMINOES; i++) domino[i] = add_domino(space, 0.22 * i);
  dBodySetAngularVel(domino[0], 0, 5, 0);

  for (int k = 0; k < 800; k++) {
    dSpaceCollide(space, NULL, collide);
    dWorldStep(world, STEP);
    dJointGroupEmpty(contacts);
  }
  int lying = 0;
  for (int i = 0; i < DOMINOES; i++)
    lying += dBodyGetRotation(domino[i])[10] < 0.9; /* the long axis, up */
  printf("%d of %d dominoes lie\n", lying, DOMINOES);

  dSpaceDestroy(space);
  dWorldDestroy(world);
  dCloseODE();
  return 0;
}
