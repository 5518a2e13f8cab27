/* An ODE program that does what its arguments say, one after the other: what
 * `ode-mlcp run` is tested on. It knows nothing of ode-mlcp.
 *
 *   world            make a world with one falling body
 *   step N           step the newest world N times, 10 ms each
 *   touch N          the same, the body resting on the ground
 *   replaces         the ground, from here on, once the contacts of a step are known
 *   drop N           the same, the body falling on it; prints how deep it was in
 *   size M, mass KG  of the boxes to come
 *   tower N          N boxes on each other, not quite in line, for two seconds;
 *                    prints how far the top one got, in sizes
 *   entered N        ask for N points of a plate that is tilted by 0.15 rad and has one
 *                    lower edge in a cube of triangles; prints how many are deeper
 *                    than 0 and how many apart, how deep and far in sizes, and what
 *                    was written beyond the N
 *   lost N           step N times with a velocity that is none
 *   say WORD         print a word and a line end, buffered as usual
 *   exit N, _exit N, abort, fault, raise SIGNAL
 *   ignore SIGNAL, handle SIGNAL   (the handler ends with _exit 17)
 *   wait             print "ready" and sleep until a signal comes
 *   worlds M         as many threads, at most 64, for the next word, in place of 4
 *   threads N        step a world of its own N times in each; exit status 98 if they
 *                    do not end alike
 *   late N           step N times in an exit handler
 *   fork             go on in a child; the parent returns the child's status
 *   dlopen FILE      load a library as plugins are loaded
 *   dlclose last     and let go of it
 *   traps            trap invalid operations, from here on
 *   trapped          print which are trapped and which flags are set
 *   chdir FOLDER, close N
 *   daemon FILE      close all descriptors behind 2 and open FILE in their place
 *   commas FOLDER    speak a locale with decimal commas, built in the folder
 *   exec FILE        become FILE with the rest of the arguments
 */
#define _GNU_SOURCE // feenableexcept
#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ode/ode.h>

#include "comma_locale.h"

static dWorldID world;
static dSpaceID space;
static dBodyID body;
static dGeomID ground;
static int replaces;
static dJointGroupID contacts;
static int late_steps;
static void *library;
static volatile int *volatile nowhere;

static void make_world(void) {
  dMass mass;

  if (world == NULL) dInitODE2(0);
  world = dWorldCreate();
  space = dSimpleSpaceCreate(0);
  contacts = dJointGroupCreate(0);
  dWorldSetGravity(world, 0, 0, -9.81);
  ground = dCreatePlane(space, 0, 0, 1, 0);
  body = dBodyCreate(world);
  dMassSetBox(&mass, 1000, 1, 1, 1);
  dBodySetMass(body, &mass);
  dGeomID box = dCreateBox(space, 1, 1, 1);
  dGeomSetBody(box, body);
  dBodySetPosition(body, 0, 0, 100);
}

/* `group`: of the joints to be made. */
static void touch(void *group, dGeomID one, dGeomID other) {
  dContact points[8];
  dBodyID first = dGeomGetBody(one), second = dGeomGetBody(other);

  if (first != NULL && second != NULL && dAreConnected(first, second)) return;
  dWorldID where = dBodyGetWorld(first != NULL ? first : second);
  int n = dCollide(one, other, 8, &points[0].geom, sizeof points[0]);
  for (int k = 0; k < n; k++) {
    points[k].surface.mode = dContactApprox1;
    points[k].surface.mu = 0.5;
    dJointAttach(dJointCreateContact(where, group, &points[k]), first, second);
  }
}

/* From 0.2 m above the ground, not quite level. */
static void drop(int count) {
  dMatrix3 turn;
  dVector3 corner;
  double deepest = 0;

  make_world();
  dWorldSetCFM(world, 0);
  dRFromAxisAndAngle(turn, 1, 2, 0, 0.02);
  dBodySetRotation(body, turn);
  dBodySetPosition(body, 0, 0, 0.7);
  for (int k = 0; k < count; k++) {
    dSpaceCollide(space, contacts, touch);
    dWorldStep(world, 0.01);
    dJointGroupEmpty(contacts);
    for (int i = 0; i < 8; i++) {
      dBodyGetRelPointPos(body, i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5,
                          i & 4 ? 0.5 : -0.5, corner);
      if (-corner[2] > deepest) deepest = -corner[2];
    }
  }
  printf("%g\n", deepest);
}

static double box_size = 0.5, box_mass = 125;

static void tower(int count) {
  dMass mass;
  dBodyID top = NULL;
  const double size = box_size;

  make_world();
  dBodySetPosition(body, 100, 100, 0.5);
  for (int k = 0; k < count; k++) {
    top = dBodyCreate(world);
    dMassSetBoxTotal(&mass, box_mass, size, size, size);
    dBodySetMass(top, &mass);
    dBodySetPosition(top, 0.04 * size * (k % 3), 0.02 * size * (k % 2),
                     (0.51 + 1.001 * k) * size);
    dGeomSetBody(dCreateBox(space, size, size, size), top);
  }
  double at[3];
  for (int i = 0; i < 3; i++) at[i] = dBodyGetPosition(top)[i];
  for (int k = 0; k < 200; k++) {
    dSpaceCollide(space, contacts, touch);
    dWorldStep(world, 0.01);
    dJointGroupEmpty(contacts);
  }
  double square = 0;
  for (int i = 0; i < 3; i++) {
    double d = dBodyGetPosition(top)[i] - at[i];
    square += d * d;
  }
  printf("%g\n", sqrt(square) / size);
}

/* 2 boxes wide; its top is at height 0, its triangles wind outwards. */
static dGeomID make_mesh_cube(void) {
  static float corners[8][3];
  static const dTriIndex triangles[12][3] = {
      {0, 3, 1}, {0, 2, 3}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
      {2, 7, 3}, {2, 6, 7}, {0, 6, 2}, {0, 4, 6}, {1, 3, 7}, {1, 7, 5}};
  for (int k = 0; k < 8; k++) {
    corners[k][0] = (float)(2 * box_size * (k & 1 ? 1 : -1));
    corners[k][1] = (float)(2 * box_size * (k & 2 ? 1 : -1));
    corners[k][2] = (float)(k & 4 ? 0 : -4 * box_size);
  }
  dTriMeshDataID data = dGeomTriMeshDataCreate();
  dGeomTriMeshDataBuildSingle(data, corners, sizeof corners[0], 8, triangles,
                              36, sizeof triangles[0]);
  return dCreateTriMesh(space, data, NULL, NULL, NULL);
}

static void enter(int room) {
  enum { MOST = 64 };
  dContactGeom points[MOST], untouched;
  int n_deep = 0, n_near = 0, n_beyond = 0;
  double deepest = 0, farthest = 0;
  dGeomID cube = make_mesh_cube();
  dGeomID plate = dCreateBox(space, 2 * box_size, 2 * box_size, 0.8 * box_size);
  dQuaternion tilted;
  dGeomSetBody(plate, dBodyCreate(world));
  dQFromAxisAndAngle(tilted, 0, 1, 0, 0.15);
  dGeomSetQuaternion(plate, tilted);
  dGeomSetPosition(plate, 0, 0, 0.4 * box_size);
  memset(points, 0x55, sizeof points);
  memset(&untouched, 0x55, sizeof untouched);
  int n = dCollide(plate, cube, room, points, sizeof points[0]);
  for (int k = 0; k < MOST; k++) {
    double depth = points[k].depth / box_size;
    if (k >= room)
      n_beyond += memcmp(&points[k], &untouched, sizeof untouched) != 0;
    else if (k < n) {
      n_deep += depth > 1e-6;
      n_near += depth < -1e-6;
      deepest = fmax(deepest, depth);
      farthest = fmax(farthest, -depth);
    }
  }
  printf("%d %d %.4f %.4f %d\n", n_deep, n_near, deepest, farthest, n_beyond);
}

static void step(int count, int touching) {
  if (world == NULL) make_world();
  if (touching) dBodySetPosition(body, 0, 0, 0.499); // all corners below
  for (int k = 0; k < count; k++) {
    if (touching) dSpaceCollide(space, contacts, touch);
    if (replaces) {
      dGeomDestroy(ground);
      ground = dCreatePlane(space, 0, 0, 1, 0);
    }
    // both entrances of the host
    if (k % 2 == 0)
      dWorldStep(world, 0.01);
    else
      dWorldQuickStep(world, 0.01);
    dJointGroupEmpty(contacts);
  }
}

static void lose(int count) {
  if (world == NULL) make_world();
  dBodySetLinearVel(body, NAN, 0, 0);
  step(count, 0);
  dBodySetLinearVel(body, 0, 0, 0);
}

static void step_late(void) { step(late_steps, 0); }

static int n_threads = 4;

typedef struct own_world {
  int n_steps;
  dReal end[3]; /* where its last body is then */
} own_world;

/* Two boxes on a hinge fall onto a third that stands, by the host's default
 * threading. */
static void *step_own_world(void *context) {
  own_world *own = context;
  dAllocateODEDataForThread(dAllocateMaskAll);
  dWorldID fall = dWorldCreate();
  dSpaceID room = dSimpleSpaceCreate(0);
  dBodyID boxes[3];
  dJointGroupID group = dJointGroupCreate(0);
  dWorldSetGravity(fall, 0, 0, -9.81);
  for (int k = 0; k < 3; k++) {
    boxes[k] = dBodyCreate(fall);
    dBodySetPosition(boxes[k], 0.3 * (k > 0) + 0.5 * (k > 1), 0,
                     k == 0 ? 0 : 1);
    dGeomSetBody(dCreateBox(room, 0.5, 0.5, 0.5), boxes[k]);
  }
  dJointAttach(dJointCreateHinge(fall, 0), boxes[1], boxes[2]);
  dJointAttach(dJointCreateFixed(fall, 0), boxes[0], 0);
  for (int k = 0; k < own->n_steps; k++) {
    dSpaceCollide(room, group, touch);
    dWorldStep(fall, 0.01);
    dJointGroupEmpty(group);
  }
  memcpy(own->end, dBodyGetPosition(boxes[2]), sizeof own->end);
  dSpaceDestroy(room);
  dJointGroupDestroy(group);
  dWorldDestroy(fall);
  dCleanupODEAllDataForThread();
  return NULL;
}

static void step_in_threads(int count) {
  pthread_t threads[64];
  own_world worlds[64];
  dInitODE2(0);
  for (int k = 0; k < n_threads; k++) {
    worlds[k] = (own_world){.n_steps = count};
    pthread_create(&threads[k], NULL, step_own_world, &worlds[k]);
  }
  for (int k = 0; k < n_threads; k++) {
    pthread_join(threads[k], NULL);
    if (memcmp(worlds[k].end, worlds[0].end, sizeof worlds[0].end) == 0)
      continue;
    fprintf(stderr, "world %d goes another way\n", k);
    exit(98);
  }
}

static void end_at_once(int number) {
  (void)number;
  _exit(17);
}

static void fork_and_wait(void) {
  int status;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) return;
  waitpid(child, &status, 0);
  exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void load(const char *file) {
  library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library != NULL) return;
  fprintf(stderr, "%s\n", dlerror());
  exit(99);
}

static void wait_for_signal(void) {
  puts("ready");
  fflush(stdout);
  for (;;) pause();
}

static void open_in_place_of_all(const char *file) {
  for (int k = 3; k < 1024; k++) close(k);
  for (int k = 3; k < 16; k++)
    if (open(file, O_WRONLY | O_CREAT, 0600) < 0) exit(99);
}

/* Does a deed without a value. @return 0: there is no such deed */
static int do_plain(const char *deed) {
  if (strcmp(deed, "world") == 0)
    make_world();
  else if (strcmp(deed, "uninitialised") == 0)
    dWorldStep(dWorldCreate(), 0.01);
  else if (strcmp(deed, "replaces") == 0)
    replaces = 1;
  else if (strcmp(deed, "abort") == 0)
    abort();
  else if (strcmp(deed, "fault") == 0)
    *nowhere = 1;
  else if (strcmp(deed, "fork") == 0)
    fork_and_wait();
#ifdef __GLIBC__
  else if (strcmp(deed, "traps") == 0)
    feenableexcept(FE_INVALID);
  else if (strcmp(deed, "trapped") == 0)
    printf("%d %d\n", fegetexcept() == FE_INVALID, fetestexcept(FE_INVALID));
#endif
  else if (strcmp(deed, "wait") == 0)
    wait_for_signal();
  else
    return 0;
  return 1;
}

static int do_with_number(const char *deed, int value) {
  if (strcmp(deed, "step") == 0)
    step(value, 0);
  else if (strcmp(deed, "touch") == 0)
    step(value, 1);
  else if (strcmp(deed, "lost") == 0)
    lose(value);
  else if (strcmp(deed, "drop") == 0)
    drop(value);
  else if (strcmp(deed, "tower") == 0)
    tower(value);
  else if (strcmp(deed, "entered") == 0)
    enter(value);
  else if (strcmp(deed, "worlds") == 0)
    n_threads = value < 64 ? value : 64;
  else if (strcmp(deed, "threads") == 0)
    step_in_threads(value);
  else if (strcmp(deed, "exit") == 0)
    exit(value);
  else if (strcmp(deed, "_exit") == 0)
    _exit(value);
  else if (strcmp(deed, "raise") == 0)
    raise(value);
  else if (strcmp(deed, "ignore") == 0)
    signal(value, SIG_IGN);
  else if (strcmp(deed, "handle") == 0)
    signal(value, end_at_once);
  else if (strcmp(deed, "close") == 0)
    close(value);
  else if (strcmp(deed, "late") == 0) {
    late_steps = value;
    atexit(step_late);
  } else
    return 0;
  return 1;
}

static int do_with_word(const char *deed, const char *value) {
  if (strcmp(deed, "size") == 0)
    box_size = atof(value);
  else if (strcmp(deed, "mass") == 0)
    box_mass = atof(value);
  else if (strcmp(deed, "say") == 0)
    puts(value);
  else if (strcmp(deed, "dlopen") == 0)
    load(value);
  else if (strcmp(deed, "daemon") == 0)
    open_in_place_of_all(value);
  else if (strcmp(deed, "dlclose") == 0)
    return dlclose(library) == 0;
  else if (strcmp(deed, "chdir") == 0)
    return chdir(value) == 0;
  else if (strcmp(deed, "commas") == 0)
    return use_comma_locale(value);
  else
    return 0;
  return 1;
}

int main(int argc, char **argv) {
  for (int k = 1; k < argc; k++) {
    if (do_plain(argv[k])) continue;
    if (k + 1 < argc && strcmp(argv[k], "exec") == 0)
      return execv(argv[k + 1], argv + k + 1);
    if (k + 1 < argc && (do_with_number(argv[k], atoi(argv[k + 1])) ||
                         do_with_word(argv[k], argv[k + 1]))) {
      k++;
      continue;
    }
    fprintf(stderr, "what is '%s'?\n", argv[k]);
    return 99;
  }
  return 0;
}
