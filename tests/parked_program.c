/* parked_program plane|box|mesh SIZE H SPEED SLOPE: a car with locked wheels, four
 * cylinders on sprung axles, is set down at SPEED m/s on a slope of SLOPE rad. Prints
 * the fastest that a part of it moves in the last of eight seconds, in m/s.
 *
 * The mesh is as it is built, without the angles between its faces. */
#include <math.h>
#include <ode/ode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHEELS = 4, PARTS = WHEELS + 1, CELLS = 40 };
static const double SECONDS = 8, RADIUS = 0.35, GRAVITY = 9.81;

static dWorldID world;
static dSpaceID space;
static dJointGroupID contacts;
static double size;

static void near_geoms(void *data, dGeomID a, dGeomID b) {
  dContact found[16];
  dBodyID first = dGeomGetBody(a), second = dGeomGetBody(b);
  (void)data;
  if ((first == NULL) == (second == NULL)) return;
  const int n = dCollide(a, b, 16, &found[0].geom, sizeof found[0]);
  for (int i = 0; i < n; i++) {
    memset(&found[i].surface, 0, sizeof found[i].surface);
    found[i].surface.mode = dContactApprox1;
    found[i].surface.mu = 0.9;
    dJointAttach(dJointCreateContact(world, contacts, &found[i]), first,
                 second);
  }
}

static void lay_mesh(void) {
  static double corners[CELLS + 1][CELLS + 1][3];
  static dTriIndex faces[CELLS][CELLS][2][3];
  for (int i = 0; i <= CELLS; i++)
    for (int j = 0; j <= CELLS; j++) {
      corners[i][j][0] = size * (i - CELLS / 4);
      corners[i][j][1] = size * (j - CELLS / 2);
    }
  for (dTriIndex i = 0; i < CELLS; i++)
    for (dTriIndex j = 0; j < CELLS; j++) {
      const dTriIndex a = i * (CELLS + 1) + j, b = a + CELLS + 1;
      const dTriIndex cell[2][3] = {{a, b, b + 1}, {a, b + 1, a + 1}};
      memcpy(faces[i][j], cell, sizeof cell);
    }
  dTriMeshDataID data = dGeomTriMeshDataCreate();
  dGeomTriMeshDataBuildDouble(data, corners, sizeof corners[0][0],
                              (CELLS + 1) * (CELLS + 1), faces,
                              6 * CELLS * CELLS, 3 * sizeof(dTriIndex));
  dCreateTriMesh(space, data, NULL, NULL, NULL);
}

static void lay_ground(const char *kind) {
  if (strcmp(kind, "mesh") == 0)
    lay_mesh();
  else if (strcmp(kind, "box") == 0)
    dGeomSetPosition(dCreateBox(space, 500 * size, 50 * size, size), 0, 0,
                     -0.5 * size);
  else
    dCreatePlane(space, 0, 0, 1, 0);
}

static void hang_wheel(dBodyID car, dBodyID wheel, int i, double mass,
                       double step) {
  const dVector3 up = {0, 0, 1}, across = {0, 1, 0};
  const double x = size * (i < 2 ? 1.4 : -1.4), y = size * (i % 2 ? 0.8 : -0.8);
  dMass own;
  dMatrix3 lying;
  dMassSetCylinderTotal(&own, 0.0175 * mass, 3, RADIUS * size, 0.2 * size);
  dBodySetMass(wheel, &own);
  dGeomSetBody(dCreateCylinder(space, RADIUS * size, 0.2 * size), wheel);
  dBodySetPosition(wheel, x, y, RADIUS * size);
  dRFromAxisAndAngle(lying, 1, 0, 0, M_PI / 2);
  dBodySetRotation(wheel, lying);

  dJointID axle = dJointCreateHinge2(world, 0);
  dJointAttach(axle, car, wheel);
  dJointSetHinge2Anchor(axle, x, y, RADIUS * size);
  dJointSetHinge2Axes(axle, up, across);
  dJointSetHinge2Param(axle, dParamLoStop, 0);
  dJointSetHinge2Param(axle, dParamHiStop, 0);
  /* its quarter of the car presses it by a twentieth of the size */
  const double stiffness = 0.25 * mass * GRAVITY / (0.05 * size);
  const double damping = 0.7 * sqrt(0.25 * mass * stiffness);
  const double both = step * stiffness + damping;
  dJointSetHinge2Param(axle, dParamSuspensionERP, step * stiffness / both);
  dJointSetHinge2Param(axle, dParamSuspensionCFM, 1 / both);
  dJointSetHinge2Param(axle, dParamVel2, 0);
  dJointSetHinge2Param(axle, dParamFMax2, 3 * mass * GRAVITY * size);
}

int main(int argc, char **argv) {
  if (argc < 6) return 2;
  size = atof(argv[2]);
  const double step = atof(argv[3]), speed = atof(argv[4]);
  const double slope = atof(argv[5]), mass = 1200 * size * size * size;
  dInitODE2(0);
  world = dWorldCreate();
  dWorldSetGravity(world, -GRAVITY * sin(slope), 0, -GRAVITY * cos(slope));
  space = dHashSpaceCreate(NULL);
  contacts = dJointGroupCreate(0);
  lay_ground(argv[1]);

  dBodyID parts[PARTS];
  dMass own;
  for (int i = 0; i < PARTS; i++) {
    parts[i] = dBodyCreate(world);
    dBodySetLinearVel(parts[i], speed, 0, 0);
  }
  dBodyID car = parts[WHEELS];
  dMassSetBoxTotal(&own, 0.93 * mass, 4 * size, 1.8 * size, 0.6 * size);
  dBodySetMass(car, &own);
  dBodySetPosition(car, 0, 0, 0.7 * size);
  for (int i = 0; i < WHEELS; i++) hang_wheel(car, parts[i], i, mass, step);

  double fastest = 0;
  const int last = (int)lround((SECONDS - 1) / step);
  for (int n = 0; n < (int)lround(SECONDS / step); n++) {
    dSpaceCollide(space, NULL, near_geoms);
    dWorldStep(world, step);
    dJointGroupEmpty(contacts);
    for (int i = 0; i < PARTS && n >= last; i++) {
      const dReal *v = dBodyGetLinearVel(parts[i]);
      fastest = fmax(fastest, hypot(hypot(v[0], v[1]), v[2]));
    }
  }
  printf("%.3g\n", fastest);
  dCloseODE();
  return 0;
}
