/* hash_space_program hash|simple: a box falls onto another that goes across z = 0, in
 * cells of a hash space of size 1. Prints how high it came to rest. */
#include <ode/ode.h>
#include <stdio.h>
#include <string.h>

static dWorldID world;
static dJointGroupID contacts;

static void near_geoms(void *data, dGeomID a, dGeomID b) {
  dContact found[4];
  const int n = dCollide(a, b, 4, &found[0].geom, sizeof found[0]);
  (void)data;
  for (int i = 0; i < n; i++) {
    memset(&found[i].surface, 0, sizeof found[i].surface);
    found[i].surface.mode = dContactApprox1;
    found[i].surface.mu = 0.5;
    dJointAttach(dJointCreateContact(world, contacts, &found[i]),
                 dGeomGetBody(a), dGeomGetBody(b));
  }
}

int main(int n_arguments, char **arguments) {
  const double side = 0.6;
  dMass mass;
  dInitODE2(0);
  world = dWorldCreate();
  contacts = dJointGroupCreate(0);
  dWorldSetGravity(world, 0, 0, -9.81);
  dSpaceID space = n_arguments > 1 && strcmp(arguments[1], "simple") == 0
                       ? dSimpleSpaceCreate(NULL)
                       : dHashSpaceCreate(NULL);
  dGeomSetPosition(dCreateBox(space, side, side, side), 0.5, 0.5, 0);
  dBodyID body = dBodyCreate(world);
  dMassSetBoxTotal(&mass, 2, side, side, side);
  dBodySetMass(body, &mass);
  dGeomSetBody(dCreateBox(space, side, side, side), body);
  dBodySetPosition(body, 0.5, 0.5, side + 0.05);
  for (int i = 0; i < 100; i++) {
    dSpaceCollide(space, NULL, near_geoms);
    dWorldStep(world, 0.01);
    dJointGroupEmpty(contacts);
  }
  printf("at rest %.4f m high\n", dBodyGetPosition(body)[2]);
  return 0;
}
