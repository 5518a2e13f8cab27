/* floor_program tiles|slabs|mixed|plane SIZE H TILT: five bodies slide without friction
 * over a floor, level with its frame, that is made of pieces of SIZE m, in steps of
 * H s. Prints the most that one differs from how it began, over its speed, and the
 * fastest across the floor; the capsule, of which the host tells a point at a time
 * where it lies on a box, has a line of its own.
 *
 * With a fifth argument one piece is replaced between dSpaceCollide and dWorldStep of
 * each step: contact joints name a geom that is gone. */
#include <math.h>
#include <ode/ode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 6, ALONG = 14, ACROSS = 2 * BODIES };
static const char *const NAMES[] = {"box",   "ball",  "puck",
                                    "wheel", "wedge", "capsule"};

static dWorldID world;
static dSpaceID space;
static dJointGroupID contacts;
static dMatrix3 frame;
static double size;

/* Pairs come in either order, as from a space that sweeps and prunes. */
static void near_geoms(void *data, dGeomID one, dGeomID other) {
  static int calls;
  const dGeomID a = calls % 2 == 0 ? one : other;
  const dGeomID b = calls++ % 2 == 0 ? other : one;
  dContact found[32];
  dBodyID first = dGeomGetBody(a), second = dGeomGetBody(b);
  if (first == second) return;
  const int n = dCollide(a, b, 32, &found[0].geom, sizeof found[0]);
  (void)data;
  for (int i = 0; i < n; i++) {
    memset(&found[i].surface, 0, sizeof found[i].surface);
    found[i].surface.mode = dContactApprox1;
    dJointAttach(dJointCreateContact(world, contacts, &found[i]), first,
                 second);
  }
}

static void turn(double x, double y, double z, dVector3 out) {
  const dVector3 in = {size * x, size * y, size * z};
  dMultiply0_331(out, frame, in);
}

static dGeomID lay(dGeomID geom, double x, double y, double z) {
  dVector3 at;
  turn(x, y, z, at);
  dGeomSetPosition(geom, at[0], at[1], at[2]);
  dGeomSetRotation(geom, frame);
  return geom;
}

/* The box of these sides as a convex body; the host keeps the arrays. */
static dGeomID create_convex(double x, double y, double z) {
  static const unsigned FACES[] = {4, 0, 1, 3, 2, 4, 4, 6, 7, 5, 4, 0, 4, 5, 1,
                                   4, 2, 3, 7, 6, 4, 0, 2, 6, 4, 4, 1, 5, 7, 3};
  const double side[] = {x, y, z};
  dReal *planes = calloc(24, sizeof *planes);
  dReal *corners = calloc(24, sizeof *corners);
  for (int c = 0; c < 8; c++)
    for (int i = 0; i < 3; i++)
      corners[3 * c + i] = (c >> (2 - i) & 1 ? 0.5 : -0.5) * side[i];
  for (int f = 0; f < 6; f++) {
    planes[4 * f + f / 2] = f % 2 == 0 ? -1 : 1;
    planes[4 * f + 3] = 0.5 * side[f / 2];
  }
  return dCreateConvex(space, planes, 6, corners, 8, FACES);
}

/* A square of two triangles. */
static dGeomID create_square(void) {
  static double corner[4][3];
  static const dTriIndex UP[] = {0, 1, 3, 0, 3, 2};
  static dTriMeshDataID mesh;
  for (int c = 0; c < 4; c++) {
    corner[c][0] = (c & 1 ? 0.5 : -0.5) * size;
    corner[c][1] = (c & 2 ? 0.5 : -0.5) * size;
  }
  if (mesh == NULL) {
    mesh = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildDouble(mesh, corner, sizeof corner[0], 4, UP, 6,
                                3 * sizeof(dTriIndex));
    dGeomTriMeshDataPreprocess2(
        mesh, 1u << dTRIDATAPREPROCESS_BUILD_FACE_ANGLES, NULL);
  }
  return dCreateTriMesh(space, mesh, NULL, NULL, NULL);
}

static dGeomID lay_piece(const char *kind, int i, int j) {
  int which = strcmp(kind, "mixed") == 0   ? (i + 2 * j) % 3
              : strcmp(kind, "slabs") == 0 ? 1
                                           : 0;
  if (which == 2) return lay(create_square(), i, j, 0);
  dGeomID piece = which == 1 ? create_convex(size, size, 0.5 * size)
                             : dCreateBox(space, size, size, 0.5 * size);
  return lay(piece, i, j, -0.25);
}

static dBodyID put_body(int k) {
  dMatrix3 side, rotation, aside;
  dVector3 at, v;
  dMass mass;
  dGeomID geom = NULL;
  double up = 0.2;
  dRSetIdentity(side);
  switch (k) {
    case 0:
      geom = dCreateBox(space, 0.8 * size, 0.6 * size, 2 * up * size);
      break;
    case 1: geom = dCreateSphere(space, up * size); break;
    case 2: geom = dCreateCylinder(space, 0.4 * size, 2 * up * size); break;
    case 3: geom = dCreateCylinder(space, up * size, 0.2 * size); break;
    case 4: geom = create_convex(0.5 * size, 0.7 * size, 2 * up * size); break;
    default: geom = dCreateCapsule(space, up * size, 0.6 * size);
  }
  if (k == 3 || k == 5) dRFromAxisAndAngle(side, k == 3, k == 5, 0, 0.5 * M_PI);
  dBodyID body = dBodyCreate(world);
  dMassSetBox(&mass, 500, 0.6 * size, 0.6 * size, 0.6 * size);
  dBodySetMass(body, &mass);
  dGeomSetBody(geom, body);
  /* across the joints of the floor, not along them */
  dRFromAxisAndAngle(aside, 0, 0, 1, 1.3);
  dMultiply0_333(rotation, aside, side);
  dMultiply0_333(side, frame, rotation);
  dBodySetRotation(body, side);
  turn(0.87, 2 * k + 0.57, up, at);
  dBodySetPosition(body, at[0], at[1], at[2]);
  turn(5, 0.3, 0, v);
  dBodySetLinearVel(body, v[0], v[1], v[2]);
  return body;
}

int main(int n_arguments, char **arguments) {
  if (n_arguments < 5) return 2;
  const char *kind = arguments[1];
  size = atof(arguments[2]);
  double h = atof(arguments[3]), off = 0, hop = 0, of_capsule = 0;
  dInitODE2(0);
  world = dWorldCreate();
  space = dHashSpaceCreate(NULL);
  contacts = dJointGroupCreate(0);
  dRFromAxisAndAngle(frame, 0.6, 0.7, 0.2, atof(arguments[4]));
  dVector3 g;
  turn(0, 0, -9.81 / size, g);
  dWorldSetGravity(world, g[0], g[1], g[2]);
  dGeomID replaced = NULL;
  if (strcmp(kind, "plane") == 0)
    dCreatePlane(space, frame[2], frame[6], frame[10], 0);
  else
    for (int i = 0; i < ALONG; i++)
      for (int j = -1; j <= ACROSS; j++) replaced = lay_piece(kind, i, j);
  dBodyID bodies[BODIES];
  for (int k = 0; k < BODIES; k++) bodies[k] = put_body(k);
  for (int i = 0; i < (int)lround(2 / h); i++) {
    dSpaceCollide(space, NULL, near_geoms);
    if (n_arguments > 5) {
      dGeomDestroy(replaced);
      replaced = lay_piece("tiles", i % ALONG, i % ACROSS);
    }
    if (!dWorldStep(world, h)) return 1;
    dJointGroupEmpty(contacts);
    for (int k = 0; k < BODIES; k++) {
      dVector3 v;
      dMultiply1_331(v, frame, dBodyGetLinearVel(bodies[k]));
      double worst = fmax(fabs(v[0] / size - 5), fabs(v[1] / size - 0.3)) / 5;
      if (k == BODIES - 1)
        of_capsule = fmax(of_capsule, worst);
      else
        off = fmax(off, worst);
      if (k < BODIES - 1) hop = fmax(hop, fabs(v[2] / size) / 5);
      if (getenv("FLOOR_NAMES") != NULL && worst > 1e-6)
        fprintf(stderr, "%d %s %g\n", i, NAMES[k], worst);
    }
  }
  printf("off %.3e hop %.3e\ncapsule %.3e\n", off, hop, of_capsule);
  return 0;
}
