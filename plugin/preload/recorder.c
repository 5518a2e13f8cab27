/* ode_mlcp_recorder.so: writes down what an ODE program's worlds do, on any
 * stepper, for `ode-mlcp compare`; and chooses between the host's own steppers.
 * What it tells (preload/traffic.h) is judged by the command, in its own process.
 *
 * Preloaded before the patched host, behind ode_mlcp_preload.so where the
 * program runs on ode-mlcp. What it asks of the program's surroundings is the
 * same for every stepper: the stepper's random numbers are a stream of their
 * own, the clock goes with the steps, and the program's step threads, with which
 * QuickStep is not reproducible, are left out.
 */
#define _GNU_SOURCE // RTLD_NEXT

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ode/ode.h>

#include "ode_mlcp.h"
#include "preload/next.h"
#include "preload/recorder_clock.h"
#include "preload/recorder_shapes.h"
#include "preload/recorder_state.h"
#include "preload/recorder_substeps.h"
#include "preload/recorder_traffic.h"

/* ---- what was asked for ---- */

typedef enum chosen_stepper { OF_THE_PROGRAM, STEP, QUICKSTEP } chosen_stepper;

static char path[4096];
static chosen_stepper chosen;
static int iterations; /* of QuickStep; 0: the program's */
static unsigned refine = 1;
static int64_t last_step; /* 0: none */

/* ---- state ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* calls that are ours or the host's own; preloaded, so that a place for it is
 * there from the start: then it costs no call to look */
static _Thread_local int inside __attribute__((tls_model("initial-exec")));
static bool tried;
static unsigned long stepper_seed;

static _Atomic int64_t n_steps; /* read without the lock, too */
static uint32_t n_messages;     /* since the last step */

static void read_settings(void) {
  const char *value = getenv(RECORDING_TRAFFIC);
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
  value = getenv(RECORDING_SCHEME);
  if (value != NULL &&
      (strncmp(value, "trapezoid", 9) == 0 || strcmp(value, "conserving") == 0))
    state_rows_halfway();
  value = getenv(RECORDING_CLOCK);
  if (value != NULL && strcmp(value, "steps") == 0) recorder_clock_set();
}

static void start_child(void) {
  pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
  lock = free_lock;
  traffic_forget();
  tried = true; /* what is told is the parent's */
}

/* A process that never stepped leaves the telling to its children. */
static void fork_child(void) {
  if (traffic() != NULL) start_child();
}

__attribute__((constructor)) static void start(void) {
  read_settings();
  pthread_atfork(NULL, NULL, fork_child);
}

/* ---- messages ---- */

static dMessageFunction *program_handlers[3];

static void note_message(const char *kind, int number, const char *format,
                         va_list arguments) {
  traffic_head *head = traffic();
  if (head == NULL) return;
  n_messages++;
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
  *(void **)&set_error = dlsym(RTLD_NEXT, "dSetErrorHandler");
  *(void **)&set_debug = dlsym(RTLD_NEXT, "dSetDebugHandler");
  *(void **)&set_message = dlsym(RTLD_NEXT, "dSetMessageHandler");
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

/* ---- worlds ---- */

VISIBLE void dWorldDestroy(dWorldID world) {
  NEXT(dWorldDestroy)
  pthread_mutex_lock(&lock);
  recorder_world_gone(world);
  pthread_mutex_unlock(&lock);
  next(world);
}

/* ---- geoms ---- */

/* Geoms without a body are looked at before each of the first steps, and seldom
 * later. */
static bool is_time_to_see(void) {
  enum { FIRST = 16, SELDOM = 64 };
  return inside == 0 && (n_steps < FIRST || n_steps % SELDOM == 0);
}

static void see_space(dSpaceID space) {
  if (space == NULL || !is_time_to_see()) return;
  pthread_mutex_lock(&lock);
  recorder_shapes_see_space(space);
  pthread_mutex_unlock(&lock);
}

VISIBLE void dSpaceCollide(dSpaceID space, void *data,
                           dNearCallback *callback) {
  NEXT(dSpaceCollide)
  see_space(space);
  next(space, data, callback);
}

VISIBLE void dSpaceCollide2(dGeomID one, dGeomID other, void *data,
                            dNearCallback *callback) {
  NEXT(dSpaceCollide2)
  if (one != NULL && dGeomIsSpace(one)) see_space((dSpaceID)one);
  if (other != NULL && dGeomIsSpace(other)) see_space((dSpaceID)other);
  next(one, other, data, callback);
}

/* The plugin, whose dCollide stands before this one, calls it for pairs whose points it
 * measured itself. */
VISIBLE void ode_mlcp_recorder_see_pair(dGeomID one, dGeomID other, int flags) {
  if (inside > 0) return;
  if (refine == 1 && !is_time_to_see()) return;
  pthread_mutex_lock(&lock);
  if (refine > 1) substeps_pair(one, other, flags);
  // geoms in a space are seen there
  if (dGeomGetSpace(one) == NULL) recorder_shapes_see(one);
  if (dGeomGetSpace(other) == NULL) recorder_shapes_see(other);
  pthread_mutex_unlock(&lock);
}

VISIBLE int dCollide(dGeomID one, dGeomID other, int flags,
                     dContactGeom *contacts, int skip) {
  NEXT(dCollide)
  int count = next(one, other, flags, contacts, skip);
  if (count > 0) ode_mlcp_recorder_see_pair(one, other, flags);
  return count;
}

VISIBLE void dGeomDestroy(dGeomID geom) {
  NEXT(dGeomDestroy)
  // within a step, which has geoms of its own, the thread has the lock
  if (inside == 0) pthread_mutex_lock(&lock);
  recorder_shapes_forget(geom);
  if (inside == 0) pthread_mutex_unlock(&lock);
  next(geom);
}

VISIBLE void dGeomSetBody(dGeomID geom, dBodyID body) {
  NEXT(dGeomSetBody)
  if (inside == 0) recorder_shapes_body_changed();
  next(geom, body);
}

/* ---- the program's surroundings ---- */

VISIBLE void dRandSetSeed(unsigned long seed) {
  NEXT(dRandSetSeed)
  if (inside == 0) stepper_seed = seed;
  next(seed);
}

VISIBLE void dWorldSetStepThreadingImplementation(
    dWorldID world, const dThreadingFunctionsInfo *functions,
    dThreadingImplementationID implementation) {
  NEXT(dWorldSetStepThreadingImplementation)
  (void)functions, (void)implementation;
  next(world, NULL, NULL);
}

/* ---- steps ---- */

static void open_traffic(void) {
  tried = true;
  if (path[0] == '\0' || !traffic_open(path)) return;
  traffic_head *head = traffic();
  snprintf(head->program, sizeof head->program, "%s",
           program_invocation_short_name);
}

/* ode-mlcp's report of its last step; nothing where it is not there. */
static void add_report(dWorldID world, traffic_step *step) {
  typedef ode_mlcp_error function(dWorldID, ode_mlcp_report *, size_t);
  static function *last_report;
  static bool looked;
  if (!step->attached) return;
  if (!looked)
    *(void **)&last_report = dlsym(RTLD_DEFAULT, "ode_mlcp_last_report_sized");
  looked = true;
  ode_mlcp_report report;
  memset(&report, 0, sizeof report);
  if (last_report == NULL ||
      last_report(world, &report, sizeof report) != ODE_MLCP_OK)
    return;
  step->degraded = (uint32_t)report.degraded;
  step->unsolved = (uint32_t)report.unsolved;
  step->residual = report.residual;
}

/* The program is ended as by itself, but without its exit handlers. */
static void stop_program(void) {
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

/* The stepper draws from a stream of its own. @return whether it was taken */
static int take_with_own_stream(step_function *step, dWorldID world,
                                dReal step_size, double *seconds,
                                double *processor) {
  unsigned long program_seed = dRandGetSeed();
  dRandSetSeed(stepper_seed);
  recorder_clock_real(true);
  double began = recorder_clock_processor(), start = recorder_clock_seconds();
  int taken = take(step, world, step_size);
  *seconds = recorder_clock_seconds() - start;
  *processor = recorder_clock_processor() - began;
  recorder_clock_real(false);
  stepper_seed = dRandGetSeed();
  dRandSetSeed(program_seed);
  return taken;
}

/* Times and counts are told by themselves of a step whose record had no
 * room. */
static traffic_step *begin_blind(void) {
  traffic_step *told = traffic_begin(TRAFFIC_STEP, sizeof *told);
  if (told != NULL) told->n_bodies = told->n_contacts = told->n_joints = 0;
  return told;
}

static void tell_shapes(uint32_t world) {
  size_t count;
  dBodyID const *bodies = state_bodies(&count);
  static uint32_t last_world;
  // of several worlds each is asked again when it is its turn
  if (recorder_shapes_any_changed() || world != last_world)
    for (size_t i = 0; i < count; i++)
      recorder_shapes_of_body(world, bodies[i]);
  recorder_shapes_known();
  last_world = world;
  recorder_shapes_of_none(n_steps);
}

static int record_step(step_function *step, dWorldID world, dReal step_size) {
  double seconds, processor;
  traffic_head *head = traffic();
  traffic_step *told = state_begin(world, step_size);
  int taken =
      take_with_own_stream(step, world, step_size, &seconds, &processor);
  bool watched = told != NULL;
  if (watched) state_end(world, step_size, told);
  if (!watched) told = begin_blind();
  bool last = ++n_steps == last_step;
  uint32_t number = recorder_world_number(world);
  if (last) head->stopped = 1;
  if (told != NULL) {
    told->world = number;
    told->step_size = step_size;
    told->seconds = seconds;
    told->processor = processor;
    told->taken = taken != 0;
    told->watched = watched;
    told->attached = dWorldGetStepper(world) != NULL;
    told->last = last;
    told->messages = n_messages;
    told->degraded = told->unsolved = 0;
    told->residual = 0;
    add_report(world, told);
    n_messages = 0;
    traffic_end();
    if (watched && taken && (last || n_steps % head->interval == 0))
      tell_shapes(number);
  }
  recorder_clock_advance(step_size);
  if (last) stop_program();
  return taken;
}

static int step_and_record(step_function *step, dWorldID world,
                           dReal step_size) {
  if (inside > 0) return step(world, step_size);
  pthread_mutex_lock(&lock);
  inside++;
  if (!tried) open_traffic();
  hear_messages();
  int taken = traffic() != NULL ? record_step(step, world, step_size)
                                : take(step, world, step_size);
  inside--;
  pthread_mutex_unlock(&lock);
  return taken;
}

static int step_stock(dWorldID world, dReal step_size) {
  NEXT(dWorldStep)
  return step_and_record(next, world, step_size);
}

static int step_quick(dWorldID world, dReal step_size) {
  NEXT(dWorldQuickStep)
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
