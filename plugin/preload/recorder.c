/* ode_mlcp_recorder.so: writes down what an ODE program's worlds do, on any
 * stepper, for `ode-mlcp compare`; and chooses between the host's own steppers.
 *
 * Preloaded before the patched host, behind ode_mlcp_preload.so where the
 * program runs on ode-mlcp. What it asks of the program's surroundings is the
 * same for every stepper: the stepper's random numbers are a stream of their
 * own, the clock goes with the steps, and the program's step threads, with which
 * QuickStep is not reproducible, are left out.
 */
#define _GNU_SOURCE // RTLD_NEXT

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ode/ode.h>

#include "ode_mlcp.h"
#include "preload/recorder_clock.h"
#include "preload/recorder_file.h"
#include "preload/recorder_measure.h"
#include "preload/recorder_shapes.h"
#include "preload/recorder_substeps.h"

#define VISIBLE __attribute__((visibility("default")))

/* Declares next, the host's own function of this name. */
#define HOST(name)                                                             \
  static __typeof__(name) *next;                                               \
  if (next == NULL) *(void **)&next = host_function(#name)

static void *host_function(const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (function != NULL) return function;
  fprintf(stderr, "ode-mlcp: the recorder has no %s behind it\n", name);
  abort();
}

/* ---- what was asked for ---- */

typedef enum chosen_stepper { OF_THE_PROGRAM, STEP, QUICKSTEP } chosen_stepper;

static char path[4096];
static chosen_stepper chosen;
static int iterations; /* of QuickStep; 0: the program's */
static unsigned refine = 1;
static int64_t last_step; /* 0: none */
static uint64_t most_bytes = UINT64_C(256) << 20;

/* ---- state ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* calls that are ours or the host's own; preloaded, so that a place for it is
 * there from the start: then it costs no call to look */
static _Thread_local int inside __attribute__((tls_model("initial-exec")));
static bool tried;
static unsigned long stepper_seed;
static bool threads_left_out;

/* Sums over the steps since the last record, for a sampled recording. */
static recording_step pending;
static uint64_t next_thinning;

static void read_settings(void) {
  const char *value = getenv(RECORDING_FILE);
  if (value != NULL) snprintf(path, sizeof path, "%s", value);
  value = getenv(RECORDING_STEPPER);
  if (value != NULL && strcmp(value, "step") == 0) chosen = STEP;
  if (value != NULL && strncmp(value, "quick", 5) == 0) {
    chosen = QUICKSTEP;
    if (value[5] == ':') iterations = atoi(value + 6);
  }
  value = getenv(RECORDING_REFINE);
  if (value != NULL && atoi(value) > 1) refine = (unsigned)atoi(value);
  value = getenv(RECORDING_STEPS);
  if (value != NULL) last_step = atoll(value);
  value = getenv(RECORDING_MEGABYTES);
  if (value != NULL && atoll(value) > 0)
    most_bytes = (uint64_t)atoll(value) << 20;
  value = getenv(RECORDING_CLOCK);
  if (value != NULL && strcmp(value, "steps") == 0) recorder_clock_set();
}

static void start_child(void) {
  pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
  lock = free_lock;
  recorder_file_forget();
  tried = true; /* the file is the parent's */
}

/* A process that never stepped leaves the file to its children. */
static void fork_child(void) {
  if (recorder_file_head() != NULL) start_child();
}

__attribute__((constructor)) static void start(void) {
  read_settings();
  pthread_atfork(NULL, NULL, fork_child);
}

/* ---- messages ---- */

static dMessageFunction *program_handlers[3];

static void note_message(const char *kind, int number, const char *format,
                         va_list arguments) {
  recording_head *head = recorder_file_head();
  if (head == NULL) return;
  pending.messages++;
  if (head->messages++ > 0) return;
  va_list copy;
  va_copy(copy, arguments);
  int used =
      snprintf(head->message, sizeof head->message, "%s %d: ", kind, number);
  vsnprintf(head->message + used, sizeof head->message - (size_t)used, format,
            copy);
  va_end(copy);
}

/* As the host would: the program's handler, or a line on standard error. */
static void pass_message(int kind, const char *name, int number,
                         const char *format, va_list arguments) {
  note_message(name, number, format, arguments);
  if (program_handlers[kind] != NULL) {
    program_handlers[kind](number, format, arguments);
    return;
  }
  fflush(stdout);
  fprintf(stderr, number == 0 ? "\n%s: " : "\n%s %d: ", name, number);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  fflush(stderr);
}

static void on_error(int number, const char *format, va_list arguments) {
  pass_message(0, "ODE Error", number, format, arguments);
  exit(1);
}

static void on_debug(int number, const char *format, va_list arguments) {
  pass_message(1, "ODE INTERNAL ERROR", number, format, arguments);
  abort();
}

static void on_message(int number, const char *format, va_list arguments) {
  pass_message(2, "ODE Message", number, format, arguments);
}

static void hear_messages(void) {
  static __typeof__(dSetErrorHandler) *set_error, *set_debug, *set_message;
  if (set_error != NULL) return;
  *(void **)&set_error = host_function("dSetErrorHandler");
  *(void **)&set_debug = host_function("dSetDebugHandler");
  *(void **)&set_message = host_function("dSetMessageHandler");
  set_error(on_error);
  set_debug(on_debug);
  set_message(on_message);
}

VISIBLE void dSetErrorHandler(dMessageFunction *handler) {
  program_handlers[0] = handler;
}
VISIBLE void dSetDebugHandler(dMessageFunction *handler) {
  program_handlers[1] = handler;
}
VISIBLE void dSetMessageHandler(dMessageFunction *handler) {
  program_handlers[2] = handler;
}
VISIBLE dMessageFunction *dGetErrorHandler(void) { return program_handlers[0]; }
VISIBLE dMessageFunction *dGetDebugHandler(void) { return program_handlers[1]; }
VISIBLE dMessageFunction *dGetMessageHandler(void) {
  return program_handlers[2];
}

/* ---- the lock ---- */

#ifdef __GLIBC__
#include <sys/single_threaded.h>
#else
enum { __libc_single_threaded = 0 };
#endif

/* While there is one thread nobody else can be meant: a lock and its release cost
 * as much as a contact's record. */
static bool hold(void) {
  if (__libc_single_threaded) return false;
  pthread_mutex_lock(&lock);
  return true;
}

static void release(bool held) {
  if (held) pthread_mutex_unlock(&lock);
}

/* ---- contacts, as the program makes them ---- */

VISIBLE dJointID dJointCreateContact(dWorldID world, dJointGroupID group,
                                     const dContact *contact) {
  HOST(dJointCreateContact);
  dJointID joint = next(world, group, contact);
  if (inside > 0) return joint;
  bool held = hold();
  measure_contact_made(joint, world, group, contact);
  release(held);
  return joint;
}

VISIBLE void dJointGroupEmpty(dJointGroupID group) {
  HOST(dJointGroupEmpty);
  if (inside == 0) {
    bool held = hold();
    measure_group_emptied(group);
    release(held);
  }
  next(group);
}

VISIBLE void dJointGroupDestroy(dJointGroupID group) {
  HOST(dJointGroupDestroy);
  if (inside == 0) {
    bool held = hold();
    measure_group_emptied(group);
    release(held);
  }
  next(group);
}

VISIBLE void dJointDestroy(dJointID joint) {
  HOST(dJointDestroy);
  if (inside == 0 && joint != NULL &&
      dJointGetType(joint) == dJointTypeContact) {
    bool held = hold();
    measure_joint_gone(joint);
    release(held);
  }
  next(joint);
}

VISIBLE void dWorldDestroy(dWorldID world) {
  HOST(dWorldDestroy);
  bool held = hold();
  measure_world_gone(world);
  recorder_world_gone(world);
  release(held);
  next(world);
}

/* ---- geoms ---- */

static void see_space(dSpaceID space) {
  static unsigned calls;
  enum { OFTEN = 16, SELDOM = 64 };
  if (inside > 0 || space == NULL) return;
  if (calls++ >= OFTEN && calls % SELDOM != 0) return;
  bool held = hold();
  recorder_shapes_see_space(space);
  release(held);
}

VISIBLE void dSpaceCollide(dSpaceID space, void *data,
                           dNearCallback *callback) {
  HOST(dSpaceCollide);
  see_space(space);
  next(space, data, callback);
}

VISIBLE void dSpaceCollide2(dGeomID one, dGeomID other, void *data,
                            dNearCallback *callback) {
  HOST(dSpaceCollide2);
  if (one != NULL && dGeomIsSpace(one)) see_space((dSpaceID)one);
  if (other != NULL && dGeomIsSpace(other)) see_space((dSpaceID)other);
  next(one, other, data, callback);
}

VISIBLE int dCollide(dGeomID one, dGeomID other, int flags,
                     dContactGeom *contacts, int skip) {
  HOST(dCollide);
  int count = next(one, other, flags, contacts, skip);
  if (count <= 0 || inside > 0) return count;
  // geoms in a space are seen there
  bool alone = dGeomGetSpace(one) == NULL || dGeomGetSpace(other) == NULL;
  if (refine == 1 && !alone) return count;
  bool held = hold();
  if (refine > 1) substeps_pair(one, other, flags);
  if (dGeomGetSpace(one) == NULL) recorder_shapes_see(one);
  if (dGeomGetSpace(other) == NULL) recorder_shapes_see(other);
  release(held);
  return count;
}

VISIBLE void dGeomDestroy(dGeomID geom) {
  HOST(dGeomDestroy);
  // within a step, which has geoms of its own, the thread has the lock
  bool held = inside == 0 && hold();
  recorder_shapes_forget(geom);
  release(held);
  next(geom);
}

/* ---- the program's surroundings ---- */

VISIBLE void dRandSetSeed(unsigned long seed) {
  HOST(dRandSetSeed);
  if (inside == 0) stepper_seed = seed;
  next(seed);
}

VISIBLE void dWorldSetStepThreadingImplementation(
    dWorldID world, const dThreadingFunctionsInfo *functions,
    dThreadingImplementationID implementation) {
  HOST(dWorldSetStepThreadingImplementation);
  threads_left_out |= implementation != NULL;
  recording_head *head = recorder_file_head();
  if (head != NULL) head->threads_left_out = threads_left_out;
  (void)functions;
  next(world, NULL, NULL);
}

/* ---- records ---- */

static void name_stepper(recording_head *head) {
  const char *stock = getenv(RECORDING_STEPPER);
  const char *scheme = getenv(RECORDING_SCHEME);
  if (stock == NULL || *stock == '\0') stock = scheme;
  if (stock == NULL || *stock == '\0') stock = "ah";
  snprintf(head->stepper, sizeof head->stepper, "%s", stock);
}

static void open_recording(void) {
  tried = true;
  if (path[0] == '\0' || !recorder_file_open(path)) return;
  recording_head *head = recorder_file_head();
  head->refine = refine;
  head->interval = 1;
  head->hash = UINT64_C(0xcbf29ce484222325);
  head->status = -1;
  head->threads_left_out = threads_left_out;
  snprintf(head->program, sizeof head->program, "%s",
           program_invocation_short_name);
  name_stepper(head);
  next_thinning = most_bytes / 2;
}

/* A sampled recording: each time that half of the room left is used up, half as
 * many frames are written from there on. */
static void thin_out(recording_head *head) {
  if (head->used < next_thinning || head->interval > 1u << 20) return;
  next_thinning += (most_bytes - next_thinning) / 2;
  head->interval *= 2;
}

/* FNV-1a by words; a product alone would let high bits change no low ones. */
static bool hash_bits(uint64_t *hash, const dReal *values, size_t count) {
  bool finite = true;
  for (size_t i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    *hash = (*hash ^ bits) * UINT64_C(0x100000001b3);
    *hash ^= *hash >> 32;
    if (!isfinite(values[i])) finite = false;
  }
  return finite;
}

static void hash_states(recording_head *head) {
  size_t count;
  const measured_body *bodies = measure_bodies(&count);
  bool finite = true;
  for (size_t i = 0; i < count; i++) {
    const measured_state *now = &bodies[i].now;
    finite &= hash_bits(&head->hash, now->position, 3);
    finite &= hash_bits(&head->hash, now->quaternion, 4);
    finite &= hash_bits(&head->hash, now->v, 3);
    finite &= hash_bits(&head->hash, now->w, 3);
  }
  head->not_finite += !finite;
}

static double worse(double a, double b) { return b <= a ? a : b; }

static void add_to_pending(const recording_step *step) {
  recording_step sum = *step;
  if (pending.steps > 0) {
    sum.steps += pending.steps;
    sum.failed += pending.failed;
    sum.degraded += pending.degraded;
#define WORSE(field) sum.field = worse(pending.field, sum.field);
    WORSE(seconds)
    WORSE(contact_error)
    WORSE(cone_violation)
    WORSE(penetration)
    WORSE(joint_error)
    WORSE(momentum_unexplained)
    WORSE(fastest)
    WORSE(residual)
#undef WORSE
  }
  sum.messages = pending.messages;
  pending = sum;
}

static void write_step(void) {
  recording_step *out = recorder_file_begin(RECORDING_STEP, sizeof *out);
  if (out != NULL) {
    recording_record record = out->record;
    *out = pending;
    out->record = record;
    recorder_file_end();
  }
  memset(&pending, 0, sizeof pending);
}

static void write_pose(recording_pose *pose, const measured_body *body) {
  const measured_state *now = &body->now;
  memcpy(pose->position, now->position, sizeof pose->position);
  for (int i = 0; i < 4; i++) pose->quaternion[i] = (float)now->quaternion[i];
  for (int i = 0; i < 3; i++) {
    pose->velocity[i] = (float)now->v[i];
    pose->angular[i] = (float)now->w[i];
  }
  pose->body = (uint32_t)dBodyGetSerial(body->body);
  pose->awake = body->awake_after;
}

static void write_contact(recording_contact *out,
                          const measured_contact *contact) {
  // the feedback's first body is the one that the normal points into, but where
  // that is the world
  double sign = contact->bodies[0] != NULL ? 1 : -1;
  for (int i = 0; i < 3; i++) {
    out->position[i] = (float)contact->asked.geom.pos[i];
    out->force[i] =
        contact->force != NULL ? (float)(sign * contact->force->f1[i]) : 0;
  }
  out->depth = (float)contact->asked.geom.depth;
  out->error = (float)contact->error;
}

static void write_frame(const recording_step *step, bool has_contacts) {
  size_t n_bodies, n_contacts;
  const measured_body *bodies = measure_bodies(&n_bodies);
  measured_contact *const *of_step = measure_contacts_of_step(&n_contacts);
  if (!has_contacts) n_contacts = 0;
  for (size_t i = 0; i < n_bodies; i++)
    recorder_shapes_of_body(step->world, bodies[i].body);
  recorder_shapes_of_none(step->number);

  recording_frame *frame = recorder_file_begin(
      RECORDING_FRAME, sizeof *frame + n_bodies * sizeof(recording_pose) +
                           n_contacts * sizeof(recording_contact));
  if (frame == NULL) return;
  frame->world = step->world;
  frame->number = step->number;
  frame->time = step->time;
  frame->n_bodies = (uint32_t)n_bodies;
  frame->n_contacts = (uint32_t)n_contacts;
  recording_pose *poses = (void *)(frame + 1);
  for (size_t i = 0; i < n_bodies; i++) write_pose(&poses[i], &bodies[i]);
  recording_contact *contacts = (void *)(poses + n_bodies);
  for (size_t i = 0; i < n_contacts; i++)
    write_contact(&contacts[i], of_step[i]);
  recorder_file_end();
}

/* ---- steps ---- */

static recorder_law law_of(dWorldID world) {
  const char *scheme = getenv(RECORDING_SCHEME);
  if (dWorldGetStepper(world) == NULL) return LAW_OF_VELOCITY;
  if (scheme != NULL && strcmp(scheme, "st") == 0) return LAW_OF_GAP;
  bool first_order = scheme == NULL || *scheme == '\0' ||
                     strcmp(scheme, "ah") == 0 || strcmp(scheme, "ap") == 0;
  return first_order ? LAW_OF_MOTION : LAW_OF_IMPULSE;
}

/* What ode-mlcp says of its last step; nothing where it is not there. */
static void add_report(dWorldID world, recording_head *head,
                       recording_step *step) {
  typedef ode_mlcp_error function(dWorldID, ode_mlcp_report *, size_t);
  static function *last_report;
  static bool looked;
  if (!looked)
    *(void **)&last_report = dlsym(RTLD_DEFAULT, "ode_mlcp_last_report_sized");
  looked = true;
  ode_mlcp_report report;
  memset(&report, 0, sizeof report);
  if (last_report == NULL || dWorldGetStepper(world) == NULL ||
      last_report(world, &report, sizeof report) != ODE_MLCP_OK)
    return;
  step->degraded = (uint32_t)report.degraded;
  step->residual = report.residual;
  head->degraded += report.degraded;
  head->unsolved += report.unsolved;
}

/* Times of the worlds: each goes by its own steps. */
static double world_time(uint32_t world, double step_size) {
  static double *times;
  static uint32_t n_times;
  if (world > n_times) {
    double *more = realloc(times, world * sizeof *times);
    if (more == NULL) return 0;
    times = more;
    while (n_times < world) times[n_times++] = 0;
  }
  return world > 0 ? times[world - 1] += step_size : 0;
}

/* The program is ended as by itself, but without its exit handlers. */
static void stop_program(recording_head *head) {
  head->stopped = 1;
  inside++;
  if (ftrylockfile(stdout) == 0) {
    fflush_unlocked(stdout);
    funlockfile(stdout);
  }
  _exit(0);
}

static int take(step_function *step, dWorldID world, dReal step_size) {
  return refine > 1 ? substeps_take(step, world, step_size, refine)
                    : step(world, step_size);
}

/* The stepper draws from a stream of its own. */
static int take_with_own_stream(step_function *step, dWorldID world,
                                dReal step_size, recording_step *out) {
  recording_head *head = recorder_file_head();
  unsigned long program_seed = dRandGetSeed();
  dRandSetSeed(stepper_seed);
  recorder_clock_real(true);
  double start = recorder_clock_seconds();
  int taken = take(step, world, step_size);
  out->seconds = recorder_clock_seconds() - start;
  recorder_clock_real(false);
  head->drawn += dRandGetSeed() != stepper_seed;
  stepper_seed = dRandGetSeed();
  dRandSetSeed(program_seed);
  return taken;
}

static int record_step(step_function *step, dWorldID world, dReal step_size) {
  recording_head *head = recorder_file_head();
  recording_step measured = {.world = recorder_world_number(world),
                             .steps = 1,
                             .step_size = step_size};
  bool watched = measure_begin(world, step_size, law_of(world));
  int taken = take_with_own_stream(step, world, step_size, &measured);
  measured.number = ++head->steps;
  measured.failed = !taken;
  head->failed += !taken;
  head->seconds += measured.seconds;
  if (measured.world > head->worlds) head->worlds = measured.world;
  if (taken) {
    measured.time = world_time(measured.world, step_size);
    head->time += step_size;
  }
  if (watched && taken) {
    measure_end(world, step_size, &measured);
    hash_states(head);
  } else {
    measure_abandon();
  }
  add_report(world, head, &measured);
  add_to_pending(&measured);
  if (head->steps % head->interval == 0 || head->steps == last_step) {
    write_step();
    if (watched && taken) write_frame(&measured, refine == 1);
    head = recorder_file_head(); // it moves as the file grows
    thin_out(head);
  }
  recorder_clock_advance(step_size);
  head->clock_reads = recorder_clock_reads();
  if (head->steps == last_step) stop_program(head);
  return taken;
}

static int step_and_record(step_function *step, dWorldID world,
                           dReal step_size) {
  if (inside > 0) return step(world, step_size);
  pthread_mutex_lock(&lock);
  inside++;
  if (!tried) open_recording();
  hear_messages();
  int taken = recorder_file_head() != NULL ? record_step(step, world, step_size)
                                           : take(step, world, step_size);
  inside--;
  pthread_mutex_unlock(&lock);
  return taken;
}

static int step_stock(dWorldID world, dReal step_size) {
  static step_function *next;
  if (next == NULL) *(void **)&next = host_function("dWorldStep");
  return step_and_record(next, world, step_size);
}

static int step_quick(dWorldID world, dReal step_size) {
  static step_function *next;
  if (next == NULL) *(void **)&next = host_function("dWorldQuickStep");
  if (iterations > 0) dWorldSetQuickStepNumIterations(world, iterations);
  return step_and_record(next, world, step_size);
}

VISIBLE int dWorldStep(dWorldID world, dReal step_size) {
  return chosen == QUICKSTEP ? step_quick(world, step_size)
                             : step_stock(world, step_size);
}

VISIBLE int dWorldQuickStep(dWorldID world, dReal step_size) {
  return chosen == STEP ? step_stock(world, step_size)
                        : step_quick(world, step_size);
}
