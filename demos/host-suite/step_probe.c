// A step probe: preloaded into an ODE program, before or without a stepper of
// ours, it watches every dWorldStep and dWorldQuickStep from outside and sums
// up what can be seen through the public interface alone. It is the judge of
// the demo suite, the same for the stock steppers and for ode-mlcp.
//
// Settings:
//   STEP_PROBE_REPORT      file that always holds the report line up to now;
//                          without it only the settings below act
//   STEP_PROBE_STREAMS     1: the stepper draws from a stream of dRand of its
//                          own, so that programs that spawn at random places
//                          spawn alike whatever the stepper draws
//   STEP_PROBE_SEED        number that replaces every seed the program sets
//                          (some demos take theirs from the clock)
//   STEP_PROBE_SWAP        1: dWorldStep and dWorldQuickStep change places
//   STEP_PROBE_ONE_THREAD  1: the program's own thread pools are not installed
//                          (QuickStep with threads is not reproducible)
// The report is one line of name=value pairs:
//   steps      calls of dWorldStep and dWorldQuickStep
//   quick      how many of them dWorldQuickStep
//   failed     calls that returned 0
//   changed    how many of them left a body's state other than it was
//   nan        steps after which a body's state was not finite
//   bodies     most bodies alive in a step
//   contacts   most contact joints made for one step
//   degenerate contact joints made with a normal that is not of length one
//   depth_end  deepest overlap among the contacts of the last step, m
//   approach   worst speed, after a step, at which two bodies still close in
//              at one of the step's contacts, m/s (by the poses before it)
//   speed      highest speed of a body after a step, m/s
//   rand       steps that moved the program's dRand stream on
//   hash       FNV-1a of the exact bits of every body's state after each step
//   seconds    wall clock within the calls
//   host       the file that the step function behind the probe comes from
#define _GNU_SOURCE // RTLD_NEXT
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ode/ode.h>

enum { report_width = 767 };

// a body alive; position: where it was before the step
typedef struct {
  dBodyID body;
  dWorldID world;
  double position[3];
} watched_body;

// a contact joint made since the last step
typedef struct {
  dJointID joint;
  dWorldID world;
  double position[3], normal[3], depth;
} watched_contact;

static watched_body *bodies;
static size_t n_bodies, bodies_room;
static watched_contact *contacts;
static size_t n_contacts, contacts_room;

static long n_steps, n_quick_steps, n_failed, n_not_finite, n_rand_steps;
static long n_changed, n_degenerate;
static size_t bodies_most, contacts_most;
static double depth_end, approach_worst, speed_most, step_seconds;
static const uint64_t empty_hash = UINT64_C(0xcbf29ce484222325);
static uint64_t state_hash = UINT64_C(0xcbf29ce484222325);
static unsigned long stepper_seed;
static const char *host_file = "-";

// ---- the host behind the probe ---------------------------------------------

// A conversion from void * to a function is not ISO C: the bits are copied.
static void find_host_function(void *slot, const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (!function) {
    fprintf(stderr, "step probe: no %s behind it\n", name);
    abort();
  }
  memcpy(slot, &function, sizeof function);

  Dl_info info;
  if (strstr(name, "Step") && dladdr(function, &info))
    host_file = info.dli_fname;
}

// Declares next, the host's own function of this name.
#define HOST(name)                                                             \
  static __typeof__(name) *next;                                               \
  if (!next) find_host_function(&next, #name)

static bool is_set(const char *name) {
  const char *value = getenv(name);
  return value && *value && strcmp(value, "0") != 0;
}

// ---- bookkeeping -----------------------------------------------------------

static void *room_for_one(void *items, size_t n, size_t *room, size_t size) {
  if (n < *room) return items;
  *room = *room ? 2 * *room : 256;
  items = realloc(items, *room * size);
  if (!items) {
    fprintf(stderr, "step probe: no memory\n");
    abort();
  }
  return items;
}

dBodyID dBodyCreate(dWorldID world) {
  HOST(dBodyCreate);
  dBodyID body = next(world);
  bodies = room_for_one(bodies, n_bodies, &bodies_room, sizeof bodies[0]);
  bodies[n_bodies++] = (watched_body){.body = body, .world = world};
  return body;
}

void dBodyDestroy(dBodyID body) {
  HOST(dBodyDestroy);
  for (size_t i = 0; i < n_bodies; i++) {
    if (bodies[i].body != body) continue;
    n_bodies--;
    memmove(&bodies[i], &bodies[i + 1], (n_bodies - i) * sizeof bodies[0]);
    break;
  }
  next(body);
}

void dWorldDestroy(dWorldID world) {
  HOST(dWorldDestroy);
  size_t n_left = 0;
  for (size_t i = 0; i < n_bodies; i++)
    if (bodies[i].world != world) bodies[n_left++] = bodies[i];
  n_bodies = n_left;
  n_contacts = 0;
  next(world);
}

dJointID dJointCreateContact(dWorldID world, dJointGroupID group,
                             const dContact *contact) {
  HOST(dJointCreateContact);
  dJointID joint = next(world, group, contact);

  contacts =
      room_for_one(contacts, n_contacts, &contacts_room, sizeof contacts[0]);
  watched_contact *watched = &contacts[n_contacts++];
  watched->joint = joint;
  watched->world = world;
  watched->depth = contact->geom.depth;
  double length = 0;
  for (int i = 0; i < 3; i++) {
    watched->position[i] = contact->geom.pos[i];
    watched->normal[i] = contact->geom.normal[i];
    length += contact->geom.normal[i] * contact->geom.normal[i];
  }
  if (!(fabs(length - 1) < 1e-3)) n_degenerate++;
  return joint;
}

// A joint that goes before any step was made for nothing (a paused program):
// forget all rather than keep one that is gone.
void dJointDestroy(dJointID joint) {
  HOST(dJointDestroy);
  n_contacts = 0;
  next(joint);
}

void dJointGroupEmpty(dJointGroupID group) {
  HOST(dJointGroupEmpty);
  n_contacts = 0;
  next(group);
}

void dJointGroupDestroy(dJointGroupID group) {
  HOST(dJointGroupDestroy);
  n_contacts = 0;
  next(group);
}

static void set_seed(unsigned long seed) {
  HOST(dRandSetSeed);
  next(seed);
}

void dRandSetSeed(unsigned long seed) {
  const char *pinned = getenv("STEP_PROBE_SEED");
  if (pinned && *pinned) seed = strtoul(pinned, NULL, 10);
  set_seed(seed);
}

void dWorldSetStepThreadingImplementation(
    dWorldID world, const dThreadingFunctionsInfo *functions,
    dThreadingImplementationID implementation) {
  HOST(dWorldSetStepThreadingImplementation);
  if (is_set("STEP_PROBE_ONE_THREAD")) {
    functions = NULL;
    implementation = NULL;
  }
  next(world, functions, implementation);
}

// ---- what a step did -------------------------------------------------------

static void remember_positions(dWorldID world) {
  for (size_t i = 0; i < n_bodies; i++) {
    if (bodies[i].world != world) continue;
    const dReal *position = dBodyGetPosition(bodies[i].body);
    for (int k = 0; k < 3; k++) bodies[i].position[k] = position[k];
  }
}

static const watched_body *find_body(dBodyID body) {
  for (size_t i = 0; i < n_bodies; i++)
    if (bodies[i].body == body) return &bodies[i];
  return NULL;
}

// Speed along the normal of the body's point at the contact, m/s.
static double normal_speed(const watched_contact *contact, dBodyID body) {
  const watched_body *watched = body ? find_body(body) : NULL;
  if (!watched) return 0;
  const dReal *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
  double arm[3], speed = 0;
  for (int i = 0; i < 3; i++)
    arm[i] = contact->position[i] - watched->position[i];
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    speed += contact->normal[i] * (v[i] + w[j] * arm[k] - w[k] * arm[j]);
  }
  return speed;
}

static void measure_contacts(dWorldID world) {
  depth_end = 0;
  // find_body is a linear search: a pile too large for it is only counted
  bool measured = n_bodies * n_contacts < 4000000;
  for (size_t i = 0; i < n_contacts; i++) {
    const watched_contact *contact = &contacts[i];
    if (contact->world != world) continue;
    if (contact->depth > depth_end) depth_end = contact->depth;
    if (!measured) continue;
    double opening = normal_speed(contact, dJointGetBody(contact->joint, 0)) -
                     normal_speed(contact, dJointGetBody(contact->joint, 1));
    if (-opening > approach_worst) approach_worst = -opening;
  }
}

static bool hash_values(uint64_t *hash, const dReal *values, size_t n) {
  const unsigned char *bytes = (const unsigned char *)values;
  for (size_t i = 0; i < n * sizeof values[0]; i++)
    *hash = (*hash ^ bytes[i]) * UINT64_C(0x100000001b3);
  bool finite = true;
  for (size_t i = 0; i < n; i++)
    if (!isfinite(values[i])) finite = false;
  return finite;
}

// True if the body's state is finite.
static bool hash_body(uint64_t *hash, dBodyID body) {
  bool finite = hash_values(hash, dBodyGetPosition(body), 3);
  finite &= hash_values(hash, dBodyGetQuaternion(body), 4);
  finite &= hash_values(hash, dBodyGetLinearVel(body), 3);
  finite &= hash_values(hash, dBodyGetAngularVel(body), 3);
  return finite;
}

static uint64_t hash_of_world(dWorldID world) {
  uint64_t hash = empty_hash;
  for (size_t i = 0; i < n_bodies; i++)
    if (bodies[i].world == world) hash_body(&hash, bodies[i].body);
  return hash;
}

static void measure_bodies(dWorldID world) {
  size_t n_in_world = 0;
  bool finite = true;
  for (size_t i = 0; i < n_bodies; i++) {
    if (bodies[i].world != world) continue;
    n_in_world++;
    finite &= hash_body(&state_hash, bodies[i].body);
    const dReal *v = dBodyGetLinearVel(bodies[i].body);
    double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (speed > speed_most) speed_most = speed;
  }
  if (!finite) n_not_finite++;
  if (n_in_world > bodies_most) bodies_most = n_in_world;
}

// One write of fixed width: whenever the process dies, the file is whole.
static void write_report(void) {
  static int file = -1;
  if (file < 0) {
    const char *name = getenv("STEP_PROBE_REPORT");
    if (!name || !*name) return;
    file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) {
      fprintf(stderr, "step probe: %s: %s\n", name, strerror(errno));
      abort();
    }
  }
  char line[report_width + 1];
  int length = snprintf(
      line, sizeof line,
      "probe steps=%ld quick=%ld failed=%ld changed=%ld nan=%ld bodies=%zu"
      " contacts=%zu degenerate=%ld depth_end=%.3e approach=%.3e speed=%.4g"
      " rand=%ld hash=%016llx seconds=%.6f host=%s",
      n_steps, n_quick_steps, n_failed, n_changed, n_not_finite, bodies_most,
      contacts_most, n_degenerate, depth_end, approach_worst, speed_most,
      n_rand_steps, (unsigned long long)state_hash, step_seconds, host_file);
  if (length > report_width) length = report_width; // a very long path
  memset(line + length, ' ', sizeof line - (size_t)length);
  line[report_width] = '\n';
  if (pwrite(file, line, sizeof line, 0) < 0) abort();
}

static double wall_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef int step_function(dWorldID, dReal);

static int watch_step(step_function *step, dWorldID world, dReal step_size) {
  bool own_stream = is_set("STEP_PROBE_STREAMS");
  remember_positions(world);
  if (n_contacts > contacts_most) contacts_most = n_contacts;
  if (n_steps == 0) write_report(); // should the first step not come back

  uint64_t hash_before = hash_of_world(world);
  unsigned long program_seed = dRandGetSeed();
  if (own_stream) set_seed(stepper_seed);
  unsigned long seed_before = dRandGetSeed();
  double start = wall_clock();
  int done = step(world, step_size);
  step_seconds += wall_clock() - start;
  if (dRandGetSeed() != seed_before) n_rand_steps++;
  stepper_seed = dRandGetSeed();
  if (own_stream) set_seed(program_seed);

  n_steps++;
  if (!done) {
    n_failed++;
    if (hash_of_world(world) != hash_before) n_changed++;
  }
  measure_bodies(world);
  measure_contacts(world);
  n_contacts = 0;
  write_report();
  return done;
}

static int call_step(dWorldID world, dReal step_size) {
  HOST(dWorldStep);
  return watch_step(next, world, step_size);
}

static int call_quick_step(dWorldID world, dReal step_size) {
  HOST(dWorldQuickStep);
  n_quick_steps++;
  return watch_step(next, world, step_size);
}

int dWorldStep(dWorldID world, dReal step_size) {
  return is_set("STEP_PROBE_SWAP") ? call_quick_step(world, step_size)
                                   : call_step(world, step_size);
}

int dWorldQuickStep(dWorldID world, dReal step_size) {
  return is_set("STEP_PROBE_SWAP") ? call_step(world, step_size)
                                   : call_quick_step(world, step_size);
}
