/* recorded_program WHAT: a program of a few lines, of which it is known by hand what
 * `ode-mlcp compare` has to record.
 *
 *   debug    hears the host's debug message 7 by a handler of its own
 *   spin     a torque of 1 N m turns a body of 1 kg m^2 from 2 to 2.5 rad/s, which is
 *            damped above 3 rad/s
 *   fall     a body of 1 kg falls 20 steps from rest beside one that sleeps
 *   ground   a box without a body that is moved by 1 cm before each of 200 steps, and
 *   ground2  the same, its space collided with another geom
 *   clock    reads the clock three times before each of 7 steps; prints the time first
 *   threads  asks for threads for its steps that abort when they are asked anything
 *   random   prints a random number before a step and one after it
 *   convex   a body that is a tetrahedron
 *   balls    of radius 0.1 m and 0.3 m, 1 m apart
 *   slide    on a plane without friction a ball of 1 kg and 0.1 m slides from (1, 2, 0.1)
 *            at (3, 0, 0) m/s; a box without gravity goes from (-1, 0.5, 4) at (1, -2, 0.5)
 *            m/s and turns by 2 rad/s about z; of two bodies far away one goes after
 *            half a second, when the other comes. A second, under 10 m/s^2
 *   solids   a capsule, a cylinder and a box, of 0.2 m and 1 m, at y = -3, 0 and 3 m
 *   boxes    100 of 1 m, each 4 m behind the one before along x
 *   two      a world of one body, and one of three
 *   one      the first of these alone
 */
#include <stdbool.h>
#include <stddef.h>
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

static void fall(void) {
  dWorldID world = make_world(1);
  dWorldSetGravity(world, 0, 0, -10);
  dBodyID asleep = dBodyCreate(world);
  dBodySetPosition(asleep, 9, 0, 0);
  dBodyDisable(asleep);
  step(world, 20);
}

static void near_geoms(void *data, dGeomID one, dGeomID other) {
  (void)data;
  (void)one;
  (void)other;
}

static void move_ground(bool beside_other) {
  dWorldID world = make_world(1);
  dSpaceID space = dSimpleSpaceCreate(NULL);
  dGeomID box = dCreateBox(space, 1, 1, 1), other = dCreateSphere(NULL, 1);
  dGeomSetBody(other, dBodyCreate(world));
  for (int i = 0; i < 200; i++) {
    dGeomSetPosition(box, 0.01 * i, 0, 0);
    if (beside_other)
      dSpaceCollide2((dGeomID)space, other, NULL, near_geoms);
    else
      dSpaceCollide(space, NULL, near_geoms);
    step(world, 1);
  }
}

static void read_clock(void) {
  dWorldID world = make_world(1);
  struct timespec now;
  time_t told, returned = time(&told);
  printf("%ld %ld\n", (long)told, (long)returned);
  for (int i = 0; i < 7; i++) {
    for (int k = 0; k < 3; k++) clock_gettime(CLOCK_MONOTONIC, &now);
    step(world, 1);
  }
}

static void ask_for_threads(void) {
  dWorldID world = make_world(1);
  dThreadingFunctionsInfo functions = {.struct_size = sizeof functions};
  void (*const end)(void) = abort;
  for (size_t at = offsetof(dThreadingFunctionsInfo, alloc_mutex_group);
       at < sizeof functions; at += sizeof end)
    memcpy((char *)&functions + at, &end, sizeof end);
  dWorldSetStepThreadingImplementation(world, &functions, (void *)&functions);
  step(world, 5);
  puts("5 steps");
}

static void draw_numbers(void) {
  dRandSetSeed(42);
  printf("%lu\n", dRand());
  step(make_world(1), 1);
  printf("%lu\n", dRand());
}

static void show_convex(void) {
  static const dReal d = 0.14433756729740643; // a quarter over the root of 3
  static const dReal planes[] = {-1, 0, 0,  0.25, 0,     -1,    0,     0.25,
                                 0,  0, -1, 0.25, 4 * d, 4 * d, 4 * d, d};
  static const dReal points[] = {-0.25, -0.25, -0.25, 0.75,  -0.25, -0.25,
                                 -0.25, 0.75,  -0.25, -0.25, -0.25, 0.75};
  static const unsigned polygons[] = {3, 0, 3, 2, 3, 0, 1, 3,
                                      3, 0, 2, 1, 3, 1, 2, 3};
  dWorldID world = make_world(0);
  dGeomSetBody(dCreateConvex(NULL, planes, 4, points, 4, polygons),
               dBodyCreate(world));
  step(world, 3);
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

static void show_boxes(void) {
  dWorldID world = dWorldCreate();
  dSpaceID space = dSimpleSpaceCreate(NULL);
  for (int i = 0; i < 100; i++) {
    dBodyID body = dBodyCreate(world);
    dBodySetPosition(body, -4 * i, 0, 0);
    dGeomSetBody(dCreateBox(space, 1, 1, 1), body);
  }
  step(world, 2);
}

static dWorldID world;
static dJointGroupID contacts;

static void touch(void *data, dGeomID one, dGeomID other) {
  dContact contact = {.surface = {.mode = dContactApprox1, .mu = 0}};
  (void)data;
  if (dCollide(one, other, 1, &contact.geom, sizeof contact) > 0)
    dJointAttach(dJointCreateContact(world, contacts, &contact),
                 dGeomGetBody(one), dGeomGetBody(other));
}

static dBodyID make_body(double x, double y, double z, dGeomID geom) {
  dBodyID body = dBodyCreate(world);
  dBodySetPosition(body, x, y, z);
  if (geom != NULL) dGeomSetBody(geom, body);
  return body;
}

static void show_slide(void) {
  world = dWorldCreate();
  contacts = dJointGroupCreate(0);
  dSpaceID space = dSimpleSpaceCreate(NULL);
  dWorldSetGravity(world, 0, 0, -10);
  dCreatePlane(space, 0, 0, 1, 0);
  dBodyID ball = make_body(1, 2, 0.1, dCreateSphere(space, 0.1));
  dBodySetLinearVel(ball, 3, 0, 0);
  dBodyID box = make_body(-1, 0.5, 4, dCreateBox(space, 0.2, 0.4, 0.6));
  dBodySetGravityMode(box, 0);
  dBodySetLinearVel(box, 1, -2, 0.5);
  dBodySetAngularVel(box, 0, 0, 2);
  dBodyID far = make_body(0, 9, 9, NULL);
  for (int i = 0; i < 100; i++) {
    if (i == 50) {
      dBodyDestroy(far);
      far = make_body(0, -9, 9, NULL);
    }
    dBodySetGravityMode(far, 0);
    dSpaceCollide(space, NULL, touch);
    step(world, 1);
    dJointGroupEmpty(contacts);
  }
}

static void show_solids(void) {
  world = dWorldCreate();
  make_body(0, -3, 0, dCreateCapsule(NULL, 0.2, 1));
  make_body(0, 0, 0, dCreateCylinder(NULL, 0.2, 1));
  make_body(0, 3, 0, dCreateBox(NULL, 0.2, 0.2, 1));
  step(world, 2);
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
  } else if (strcmp(what, "fall") == 0) {
    fall();
  } else if (strcmp(what, "ground") == 0) {
    move_ground(false);
  } else if (strcmp(what, "ground2") == 0) {
    move_ground(true);
  } else if (strcmp(what, "threads") == 0) {
    ask_for_threads();
  } else if (strcmp(what, "random") == 0) {
    draw_numbers();
  } else if (strcmp(what, "convex") == 0) {
    show_convex();
  } else if (strcmp(what, "clock") == 0) {
    read_clock();
  } else if (strcmp(what, "balls") == 0) {
    show_balls();
  } else if (strcmp(what, "slide") == 0) {
    show_slide();
  } else if (strcmp(what, "solids") == 0) {
    show_solids();
  } else if (strcmp(what, "boxes") == 0) {
    show_boxes();
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
