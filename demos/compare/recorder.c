/* A recorder, preloaded into an ODE program: it writes down what the bodies do,
 * for the pictures of the comparison, and can send the program's
 * dWorldQuickStep to dWorldStep.
 *
 *   RECORDER_SERIES   file for a line a step: step, bodies, the highest centre
 *                     (m), the highest speed of a centre (m/s), and how many
 *                     bodies are awake
 *   RECORDER_SOLIDS   file for the shapes and poses after the latest step
 *                     divisible by 50
 *   RECORDER_STEPPER  "step": dWorldQuickStep steps by dWorldStep
 *
 * Columns of RECORDER_SOLIDS: kind (box, sphere, capsule, cylinder), three
 * sizes, position, 12 numbers of rotation (3 x 4 by rows), speed.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ode/ode.h>

enum { STEPS_A_SNAPSHOT = 50 };

static dBodyID *bodies;
static size_t n_bodies, bodies_room;
static long n_steps;

static void stop(const char *what) {
  fprintf(stderr, "recorder: %s\n", what);
  abort();
}

/* A conversion from void * to a function is not ISO C: the bits are copied. */
static void find_host_function(void *slot, const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (function == NULL) stop(name);
  memcpy(slot, &function, sizeof function);
}

/* Declares next, the host's own function of this name. */
#define HOST(name)                \
  static __typeof__(name) *next; \
  if (next == NULL) find_host_function(&next, #name)

/* --- which bodies there are --------------------------------------------------- */

dBodyID dBodyCreate(dWorldID world) {
  HOST(dBodyCreate);
  if (n_bodies == bodies_room) {
    bodies_room = bodies_room > 0 ? 2 * bodies_room : 256;
    bodies = realloc(bodies, bodies_room * sizeof bodies[0]);
    if (bodies == NULL) stop("memory ran out");
  }
  return bodies[n_bodies++] = next(world);
}

void dBodyDestroy(dBodyID body) {
  HOST(dBodyDestroy);
  size_t n_left = 0;
  for (size_t i = 0; i < n_bodies; i++)
    if (bodies[i] != body) bodies[n_left++] = bodies[i];
  n_bodies = n_left;
  next(body);
}

void dWorldDestroy(dWorldID world) {
  HOST(dWorldDestroy);
  size_t n_left = 0;
  for (size_t i = 0; i < n_bodies; i++)
    if (dBodyGetWorld(bodies[i]) != world) bodies[n_left++] = bodies[i];
  n_bodies = n_left;
  next(world);
}

/* --- what they do --------------------------------------------------------------- */

static double speed_of(dBodyID body) {
  const dReal *v = dBodyGetLinearVel(body);
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void write_series(dWorldID world) {
  static FILE *file;
  const char *name = getenv("RECORDER_SERIES");
  if (name == NULL) return;
  if (file == NULL && (file = fopen(name, "w")) == NULL) stop(name);

  int count = 0, awake = 0;
  double top = -INFINITY, fastest = 0;
  for (size_t i = 0; i < n_bodies; i++) {
    if (dBodyGetWorld(bodies[i]) != world) continue;
    double height = dBodyGetPosition(bodies[i])[2];
    double speed = speed_of(bodies[i]);
    if (!(height <= top)) top = height; /* a NaN shows */
    if (!(speed <= fastest)) fastest = speed;
    awake += dBodyIsEnabled(bodies[i]);
    count++;
  }
  fprintf(file, "%ld %d %.17g %.17g %d\n", n_steps, count,
          count > 0 ? top : NAN, fastest, awake);
  fflush(file);
}

/* @return the kind's name, NULL for a shape that is not drawn. */
static const char *kind_and_sizes(dGeomID geom, dReal sizes[4]) {
  switch (dGeomGetClass(geom)) {
    case dBoxClass:
      dGeomBoxGetLengths(geom, sizes);
      return "box";
    case dSphereClass:
      sizes[0] = dGeomSphereGetRadius(geom);
      return "sphere";
    case dCapsuleClass:
      dGeomCapsuleGetParams(geom, &sizes[0], &sizes[1]);
      return "capsule";
    case dCylinderClass:
      dGeomCylinderGetParams(geom, &sizes[0], &sizes[1]);
      return "cylinder";
    default:
      return NULL;
  }
}

static void write_solid(FILE *file, dGeomID geom, double speed) {
  dReal sizes[4] = {0};
  const char *kind = kind_and_sizes(geom, sizes);
  if (kind == NULL) return;
  const dReal *position = dGeomGetPosition(geom);
  const dReal *rotation = dGeomGetRotation(geom);
  fprintf(file, "%s %.9g %.9g %.9g", kind, sizes[0], sizes[1], sizes[2]);
  for (int i = 0; i < 3; i++) fprintf(file, " %.9g", position[i]);
  for (int i = 0; i < 12; i++) fprintf(file, " %.9g", rotation[i]);
  fprintf(file, " %.9g\n", speed);
}

static void write_solids(dWorldID world) {
  const char *name = getenv("RECORDER_SOLIDS");
  if (name == NULL) return;
  FILE *file = fopen(name, "w");
  if (file == NULL) stop(name);
  for (size_t i = 0; i < n_bodies; i++) {
    if (dBodyGetWorld(bodies[i]) != world) continue;
    double speed = speed_of(bodies[i]);
    for (dGeomID geom = dBodyGetFirstGeom(bodies[i]); geom != NULL;
         geom = dBodyGetNextGeom(geom))
      write_solid(file, geom, speed);
  }
  if (fclose(file) != 0) stop(name);
}

static void record_step(dWorldID world) {
  n_steps++;
  write_series(world);
  if (n_steps % STEPS_A_SNAPSHOT == 0) write_solids(world);
}

/* --- steps ------------------------------------------------------------------------ */

int dWorldStep(dWorldID world, dReal step_size) {
  HOST(dWorldStep);
  int taken = next(world, step_size);
  record_step(world);
  return taken;
}

int dWorldQuickStep(dWorldID world, dReal step_size) {
  const char *stepper = getenv("RECORDER_STEPPER");
  if (stepper != NULL && strcmp(stepper, "step") == 0)
    return dWorldStep(world, step_size);
  HOST(dWorldQuickStep);
  int taken = next(world, step_size);
  record_step(world);
  return taken;
}
