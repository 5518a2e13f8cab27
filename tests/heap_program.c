/* heap_program SEED: boxes that the program puts into each other over a plane, held by
 * friction without limit, of which most steps are locked. Prints how fast one gets in 300
 * steps, in parts of what a fall from the heap's top gives. The masses, sizes, steps and
 * the host's own settings are drawn by the seed. */
#include <math.h>
#include <ode/ode.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BOXES = 20, STEPS = 300, MOST_POINTS = 8 };
static const double GRAVITY = 9.81;

static dWorldID world;
static dSpaceID space;
static dJointGroupID contacts;
static bool soft;
static double softness;
static int n_points;

static uint64_t state;

/* splitmix64 */
static double between(double low, double high) {
  uint64_t z = (state += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  z ^= z >> 31;
  return low + (high - low) * ((double)(z >> 11) / 9007199254740992.0);
}

static double scale(double low, double high) {
  return low * pow(high / low, between(0, 1));
}

static void near_geoms(void *data, dGeomID a, dGeomID b) {
  dContact found[MOST_POINTS];
  dBodyID first = dGeomGetBody(a), second = dGeomGetBody(b);
  (void)data;
  const int n = dCollide(a, b, n_points, &found[0].geom, sizeof found[0]);
  for (int i = 0; i < n; i++) {
    dSurfaceParameters *surface = &found[i].surface;
    memset(surface, 0, sizeof *surface);
    surface->mu = dInfinity;
    if (soft) {
      surface->mode = dContactBounce | dContactSoftCFM;
      surface->bounce = surface->bounce_vel = 0.1;
      surface->soft_cfm = softness;
    }
    dJointAttach(dJointCreateContact(world, contacts, &found[i]), first,
                 second);
  }
}

static dBodyID add_box(double size, double mass, double heavier,
                       double spread) {
  double side[3], at[3], axis[3];
  dMatrix3 turned;
  dMass own;
  dBodyID body = dBodyCreate(world);
  for (int k = 0; k < 3; k++) side[k] = size * between(0.2, 1);
  dMassSetBoxTotal(&own, mass * scale(1, heavier), side[0], side[1], side[2]);
  dBodySetMass(body, &own);
  dGeomSetBody(dCreateBox(space, side[0], side[1], side[2]), body);
  at[2] = between(0.4, 2) * size;
  for (int k = 1; k >= 0; k--) at[k] = between(-spread, spread);
  dBodySetPosition(body, at[0], at[1], at[2]);
  const double angle = between(0, 6);
  for (int k = 2; k >= 0; k--) axis[k] = between(-1, 1);
  dRFromAxisAndAngle(turned, axis[0], axis[1], axis[2] + 1e-3, angle);
  dBodySetRotation(body, turned);
  return body;
}

static double length_of(const dReal v[3]) {
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  state = strtoull(argv[1], NULL, 10) * 7919 + 17;
  for (int i = 0; i < 8; i++) between(0, 1);
  dInitODE2(0);
  world = dWorldCreate();
  dWorldSetGravity(world, 0, 0, -GRAVITY);
  space = dHashSpaceCreate(NULL);
  contacts = dJointGroupCreate(0);
  dCreatePlane(space, 0, 0, 1, 0);

  const double size = scale(0.01, 10), mass = scale(0.01, 1e4);
  const double step = scale(0.001, 0.02), heavier = scale(1, 100);
  /* as deep as a hundredth of their size */
  softness = 0.2 * 0.01 * size / (mass * GRAVITY * step);
  soft = between(0, 1) < 0.3;
  n_points = between(0, 1) < 0.5 ? MOST_POINTS : MOST_POINTS / 2;
  if (between(0, 1) < 0.5) {
    dWorldSetContactMaxCorrectingVel(world, 0.1);
    dWorldSetContactSurfaceLayer(world, 0.001 * size);
  }
  const int n = 4 + (int)between(0, MOST_BOXES - 4);
  const double spread = scale(0.05, 1.5) * size;
  dBodyID boxes[MOST_BOXES];
  for (int i = 0; i < n; i++) boxes[i] = add_box(size, mass, heavier, spread);

  double fastest = 0;
  for (int i = 0; i < STEPS; i++) {
    dSpaceCollide(space, NULL, near_geoms);
    if (!dWorldStep(world, step)) fastest = INFINITY;
    dJointGroupEmpty(contacts);
    for (int k = 0; k < n; k++)
      fastest = fmax(fastest, length_of(dBodyGetLinearVel(boxes[k])));
  }
  /* what is pushed apart by position has max_correction, .5 m/s, of speed */
  printf("%.3g\n", fastest / (sqrt(2 * GRAVITY * 2 * size) + 0.5));
  dCloseODE();
  return 0;
}
