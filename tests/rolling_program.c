/* rolling_program plane|mesh|field H SECONDS: a ball whose centre of mass is off its own
 * rolls without slip over level ground. Prints where it comes to, and the most that its
 * energy has risen, as a part of what it was. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "body_testing.h"

static const double RADIUS = 0.2, OFF = 0.05, GRAVITY = 9.81; /* m, m/s^2 */
static const double INERTIA[3] = {0.012, 0.014, 0.015};
static dWorldID world;
static dJointGroupID contacts;

static void near_geoms(void *data, dGeomID a, dGeomID b) {
  (void)data;
  join_contacts(world, contacts, a, b, 2);
}

static double energy(dBodyID ball) {
  return kinetic_energy(ball) + GRAVITY * dBodyGetPosition(ball)[2];
}

static dGeomID lay_ground(dSpaceID space, const char *kind) {
  static const float corners[4][3] = {
      {-40, -40, 0}, {40, -40, 0}, {40, 40, 0}, {-40, 40, 0}};
  static const dTriIndex triangles[6] = {0, 1, 2, 0, 2, 3};
  static const float heights[4];
  dMatrix3 upright;
  if (strcmp(kind, "plane") == 0) return dCreatePlane(space, 0, 0, 1, 0);
  if (strcmp(kind, "mesh") == 0) {
    dTriMeshDataID mesh = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildSingle(mesh, corners, sizeof corners[0], 4, triangles,
                                6, 3 * sizeof triangles[0]);
    return dCreateTriMesh(space, mesh, NULL, NULL, NULL);
  }
  dHeightfieldDataID field = dGeomHeightfieldDataCreate();
  dGeomHeightfieldDataBuildSingle(field, heights, 0, 80, 80, 2, 2, 1, 0, 1, 0);
  dGeomID geom = dCreateHeightfield(space, field, 1);
  dRFromAxisAndAngle(upright, 1, 0, 0, M_PI / 2);
  dGeomSetRotation(geom, upright);
  return geom;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  const double h = atof(arguments[2]), seconds = atof(arguments[3]);
  dMatrix3 pose;
  dMass mass;
  dInitODE2(0);
  world = dWorldCreate();
  contacts = dJointGroupCreate(0);
  dWorldSetGravity(world, 0, 0, -GRAVITY);
  dSpaceID space = dSimpleSpaceCreate(0);
  lay_ground(space, arguments[1]);

  dBodyID ball = dBodyCreate(world);
  dMassSetParameters(&mass, 1, 0, 0, 0, INERTIA[0], INERTIA[1], INERTIA[2], 0,
                     0, 0);
  dBodySetMass(ball, &mass);
  dGeomID geom = dCreateSphere(space, RADIUS);
  dGeomSetBody(geom, ball);
  dGeomSetOffsetPosition(geom, 0, 0, OFF);
  dRFromAxisAndAngle(pose, 1, 0.3, 0, 2.5);
  dBodySetRotation(ball, pose);
  /* from the centre of mass to what touches the ground */
  const double w[3] = {1, 3, 2};
  const double arm[3] = {pose[2] * OFF, pose[6] * OFF, pose[10] * OFF - RADIUS};
  dBodySetPosition(ball, 0, 0, -arm[2]);
  dBodySetAngularVel(ball, w[0], w[1], w[2]);
  dBodySetLinearVel(ball, w[2] * arm[1] - w[1] * arm[2],
                    w[0] * arm[2] - w[2] * arm[0],
                    w[1] * arm[0] - w[0] * arm[1]);

  const double start = energy(ball);
  double most = 0;
  for (int i = 0; i < (int)lround(seconds / h); i++) {
    dSpaceCollide(space, NULL, near_geoms);
    dWorldStep(world, h);
    dJointGroupEmpty(contacts);
    most = fmax(most, energy(ball) - start);
  }
  const dReal *at = dBodyGetPosition(ball);
  printf("%.10f %.10f %.10f %.3e\n", at[0], at[1], at[2], most / start);
  dCloseODE();
  return 0;
}
