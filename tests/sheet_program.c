/* sheet_program SHEET SHAPE TURN H [KB]: bodies of 5 cm fall, one after the other, onto a sheet
 * of triangles that look up (TURN 0) or down (1), in steps of H s for 1.5 s. Prints the
 * deepest contact in lengths of the body, the most energy gained over that at the start,
 * and how many went through. With KB all is done on a thread with a stack of that. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "body_testing.h"

enum { DROPS = 12, CELLS = 24 };
static const double LENGTH = 0.05, REACH = 0.4;

static dWorldID world;
static dSpaceID space;
static dJointGroupID contacts;
static double deepest;

static void near_geoms(void *data, dGeomID a, dGeomID b) {
  dContact found[32];
  const int n = dCollide(a, b, 32, &found[0].geom, sizeof found[0]);
  (void)data;
  for (int i = 0; i < n; i++) {
    memset(&found[i].surface, 0, sizeof found[i].surface);
    found[i].surface.mode = dContactApprox1;
    found[i].surface.mu = 0.4;
    deepest = fmax(deepest, found[i].geom.depth / LENGTH);
    dJointAttach(dJointCreateContact(world, contacts, &found[i]),
                 dGeomGetBody(a), dGeomGetBody(b));
  }
}

/* m: the sheet over a place: a funnel with a flat bottom, a trough, or a terrain. */
static double height(const char *sheet, double x, double y) {
  if (strcmp(sheet, "funnel") == 0) return fmax(0, hypot(x, y) - 0.06);
  if (strcmp(sheet, "trough") == 0) return 0.8 * fabs(x);
  return 0.04 * sin(18 * x) * cos(14 * y);
}

static void lay(const char *sheet, int turned) {
  static dReal corner[3 * (CELLS + 1) * (CELLS + 1)];
  static dTriIndex triangle[6 * CELLS * CELLS];
  int n = 0;
  for (int i = 0; i <= CELLS; i++)
    for (int j = 0; j <= CELLS; j++) {
      dReal *at = corner + 3 * ((CELLS + 1) * i + j);
      at[0] = REACH * (2.0 * i / CELLS - 1);
      at[1] = REACH * (2.0 * j / CELLS - 1);
      at[2] = height(sheet, at[0], at[1]);
    }
  for (int i = 0; i < CELLS; i++)
    for (int j = 0; j < CELLS; j++) {
      const int a = (CELLS + 1) * i + j, b = a + CELLS + 1;
      const int of[] = {a, b, b + 1, a, b + 1, a + 1};
      for (int k = 0; k < 6; k++)
        triangle[n++] = (dTriIndex)of[turned ? k / 3 * 3 + 2 - k % 3 : k];
    }
  dTriMeshDataID data = dGeomTriMeshDataCreate();
  const int stride = 3 * sizeof(dReal), count = (CELLS + 1) * (CELLS + 1);
  if (sizeof(dReal) == sizeof(double))
    dGeomTriMeshDataBuildDouble(data, corner, stride, count, triangle, n,
                                3 * sizeof(dTriIndex));
  else
    dGeomTriMeshDataBuildSingle(data, corner, stride, count, triangle, n,
                                3 * sizeof(dTriIndex));
  dGeomTriMeshDataPreprocess2(data, 1u << dTRIDATAPREPROCESS_BUILD_FACE_ANGLES,
                              NULL);
  dCreateTriMesh(space, data, NULL, NULL, NULL);
}

static dBodyID drop(const char *shape, int k) {
  dBodyID body = dBodyCreate(world);
  dGeomID geom = NULL;
  dMass mass;
  dMatrix3 rotation;
  const double L = LENGTH;
  dMassSetBoxTotal(&mass, 0.05, L, 0.8 * L, 0.6 * L);
  if (strcmp(shape, "box") == 0)
    geom = dCreateBox(space, L, 0.8 * L, 0.6 * L);
  else if (strcmp(shape, "plate") == 0)
    geom = dCreateBox(space, L, 0.8 * L, 0.06 * L);
  else if (strcmp(shape, "ball") == 0)
    geom = dCreateSphere(space, 0.4 * L);
  else if (strcmp(shape, "capsule") == 0)
    geom = dCreateCapsule(space, 0.25 * L, 0.6 * L);
  else
    geom = dCreateCylinder(space, 0.35 * L, 0.7 * L);
  dGeomSetBody(geom, body);
  dBodySetMass(body, &mass);
  dRFromAxisAndAngle(rotation, cos(3.7 * k), sin(2.3 * k), cos(1.1 * k + 2),
                     1.9 * k);
  dBodySetRotation(body, rotation);
  dBodySetPosition(body, 0.12 * sin(5.3 * k), 0.12 * cos(7.9 * k), 0.25);
  return body;
}

static double energy(dBodyID body) {
  return kinetic_energy(body) + 0.05 * 9.81 * dBodyGetPosition(body)[2];
}

static void *run(void *arguments) {
  char **argv = arguments;
  const double h = atof(argv[4]);
  double gained = 0;
  int through = 0;
  dAllocateODEDataForThread(dAllocateMaskAll);
  world = dWorldCreate();
  space = dHashSpaceCreate(0);
  contacts = dJointGroupCreate(0);
  dWorldSetGravity(world, 0, 0, -9.81);
  lay(argv[1], atoi(argv[3]));
  for (int k = 0; k < DROPS; k++) {
    dBodyID body = drop(argv[2], k);
    const double start = energy(body);
    for (int i = 0; i < 1.5 / h; i++) {
      dSpaceCollide(space, NULL, near_geoms);
      dWorldStep(world, h);
      dJointGroupEmpty(contacts);
      gained = fmax(gained, energy(body) / start - 1);
    }
    const dReal *at = dBodyGetPosition(body);
    through += fabs(at[0]) < REACH && fabs(at[1]) < REACH &&
               at[2] < height(argv[1], at[0], at[1]);
    dGeomDestroy(dBodyGetFirstGeom(body));
    dBodyDestroy(body);
  }
  printf("deepest %.4f gained %.4f through %d\n", deepest, gained, through);
  dCleanupODEAllDataForThread();
  return NULL;
}

int main(int argc, char **argv) {
  pthread_attr_t small;
  pthread_t thread;
  if (argc < 5) return 2;
  dInitODE2(0);
  pthread_attr_init(&small);
  if (argc > 5)
    pthread_attr_setstacksize(&small, strtoul(argv[5], 0, 10) << 10);
  if (pthread_create(&thread, &small, run, argv) != 0) return 3;
  pthread_join(thread, NULL);
  dCloseODE();
  return 0;
}
