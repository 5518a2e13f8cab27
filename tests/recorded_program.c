/* recorded_program WHAT: a program of a few lines, of which it is known by hand what
 * `ode-mlcp compare` has to record.
 *
 *   debug    hears the host's debug message 7 by a handler of its own
 *   spin     a torque of 1 N m turns a body of 1 kg m^2 from 2 to 2.5 rad/s, which is
 *            damped above 3 rad/s
 *   ground   a box without a body that is moved by 1 cm before each of 200 steps
 *   clock    reads the clock three times before each of 7 steps
 *   balls    of radius 0.1 m and 0.3 m, 1 m apart
 *   two      a world of one body, and one of three
 *   one      the first of these alone
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ode/ode.h>

static const double h = 0.01; /* s */

static void hear(int number, const char *format, va_list arguments) {
  (void)format;
  (void)arguments;
  printf("heard %d\n", number);
  exit(0);
}

static dWorldID make_world(int n_bodies) {
  dWorldID world = dWorldCreate();
  for (int i = 0; i < n_bodies; i++)
    dBodySetPosition(dBodyCreate(world), i, 0, 0);
  return world;
}

static void step(dWorldID world, int count) {
  for (int i = 0; i < count; i++) dWorldStep(world, h);
}

static void spin(void) {
  dWorldID world = dWorldCreate();
  dBodyID body = dBodyCreate(world);
  dBodySetAngularVel(body, 0, 0, 2);
  dBodySetAngularDamping(body, 0.05);
  dBodySetAngularDampingThreshold(body, 3);
  for (int i = 0; i < 50; i++) {
    dBodyAddTorque(body, 0, 0, 1);
    step(world, 1);
  }
}

static void near_geoms(void *data, dGeomID one, dGeomID other) {
  (void)data;
  (void)one;
  (void)other;
}

static void move_ground(void) {
  dWorldID world = make_world(1);
  dSpaceID space = dSimpleSpaceCreate(NULL);
  dGeomID box = dCreateBox(space, 1, 1, 1);
  for (int i = 0; i < 200; i++) {
    dGeomSetPosition(box, 0.01 * i, 0, 0);
    dSpaceCollide(space, NULL, near_geoms);
    step(world, 1);
  }
}

static void read_clock(void) {
  dWorldID world = make_world(1);
  struct timespec now;
  for (int i = 0; i < 7; i++) {
    for (int k = 0; k < 3; k++) clock_gettime(CLOCK_MONOTONIC, &now);
    step(world, 1);
  }
}

static void show_balls(void) {
  dWorldID world = dWorldCreate();
  dSpaceID space = dSimpleSpaceCreate(NULL);
  for (int i = 0; i < 2; i++) {
    dBodyID body = dBodyCreate(world);
    dBodySetPosition(body, i, 0, 0);
    dGeomSetBody(dCreateSphere(space, i == 0 ? 0.1 : 0.3), body);
  }
  step(world, 10);
}

int main(int n_arguments, char **arguments) {
  const char *what = n_arguments > 1 ? arguments[1] : "";
  dInitODE2(0);
  if (strcmp(what, "debug") == 0) {
    dSetDebugHandler(hear);
    step(make_world(1), 3);
    dDebug(7, "of this program");
  } else if (strcmp(what, "spin") == 0) {
    spin();
  } else if (strcmp(what, "ground") == 0) {
    move_ground();
  } else if (strcmp(what, "clock") == 0) {
    read_clock();
  } else if (strcmp(what, "balls") == 0) {
    show_balls();
  } else if (strcmp(what, "one") == 0) {
    step(make_world(1), 10);
  } else if (strcmp(what, "two") == 0) {
    step(make_world(1), 10);
    step(make_world(3), 10);
  } else {
    return 99;
  }
  return 0;
}
