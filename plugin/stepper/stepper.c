/* A world's stepper: attached to the host, it lets the world's scheme solve all
 * islands, then commits them in order. It knows no scheme by name. */
#define _GNU_SOURCE // fegetexcept

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/minmax.h"
#include "common/sized.h"
#include "common/traps.h"
#include "common/vec3.h"
#include "gap/real.h"
#include "host/patched_host.h"
#include "schemes/scheme.h"
#include "schemes/sweep.h"
#include "settings/settings.h"
#include "stepper/dump.h"
#include "stepper/process.h"
#include "world/pose.h"
#include "world/outcome.h"

/* --- the process ---------------------------------------------------------------- */

static process_settings of_process = {.memory = &memory_from_malloc};

const process_settings *process(void) { return &of_process; }

void process_set_memory(const memory_source *source) {
  of_process.memory = source;
}

void process_observe_solves(solve_observer *observer, void *context) {
  of_process.observe_solve = observer;
  of_process.solve_context = context;
}

void ode_mlcp_observe(ode_mlcp_observer *observer, void *context) {
  of_process.observe_step = observer;
  of_process.step_context = context;
}

void ode_mlcp_watch_geoms(ode_mlcp_geom_function *is_alive, void *context) {
  of_process.is_alive = is_alive;
  of_process.geom_context = context;
}

/* --- threads of the world's own --------------------------------------------------- */

/* On which the host solves its islands. All zero: none, the world keeps the threads that
 * its program gave it. */
typedef struct island_threads {
  int count;
  dThreadingImplementationID implementation;
  dThreadingThreadPoolID pool;
  pid_t process; /* whose they are */
} island_threads;

/* In a forked child the threads are gone and cannot be joined: their memory is
 * left where it is. */
static void stop_threads(island_threads *threads) {
  if (threads->process != getpid()) {
    *threads = (island_threads){0};
    return;
  }
  if (threads->implementation != NULL)
    dThreadingImplementationShutdownProcessing(threads->implementation);
  if (threads->pool != NULL) dThreadingFreeThreadPool(threads->pool);
  if (threads->implementation != NULL)
    dThreadingFreeImplementation(threads->implementation);
  *threads = (island_threads){0};
}

static bool start_threads(island_threads *threads, int count) {
  threads->count = count;
  threads->process = getpid();
  threads->implementation = dThreadingAllocateMultiThreadedImplementation();
  if (threads->implementation != NULL)
    threads->pool = dThreadingAllocateThreadPool((unsigned)count, 0,
                                                 dAllocateFlagBasicData, NULL);
  if (threads->pool == NULL) {
    stop_threads(threads);
    return false;
  }
  dThreadingThreadPoolServeMultiThreadedImplementation(threads->pool,
                                                       threads->implementation);
  return true;
}

/* Give the world `count` threads, in place of any it has. 0 takes back those that
 * came from here; the world has none then, whoever gave it some before or since.
 * Where none came from here, 0 changes nothing.
 *
 * A host that was built without threads, or a system that has no more of them, is
 * told by a message; islands are solved one after another then, to the same bits. */
static void set_threads(island_threads *threads, dWorldID world, int count) {
  if (threads->count == count) return;
  if (threads->count > 0)
    dWorldSetStepThreadingImplementation(world, NULL, NULL);
  stop_threads(threads);
  if (count == 0) return;
  if (start_threads(threads, count))
    dWorldSetStepThreadingImplementation(
        world, dThreadingImplementationGetFunctions(threads->implementation),
        threads->implementation);
  else
    dMessage(0,
             "ode-mlcp: no %d threads to be had: islands are solved one after "
             "another",
             count);
}

/* Before a step: in a forked child, which has none of its parent's threads, start as
 * many anew. */
static void follow_fork(island_threads *threads, dWorldID world) {
  int count = threads->count;
  if (count == 0 || threads->process == getpid()) return;
  set_threads(threads, world, 0);
  set_threads(threads, world, count);
}

/* --- a world's stepper ------------------------------------------------------------ */

/* Kinds of warnings, each limited on its own. */
typedef enum warning_kind {
  WARNING_FAILED,
  WARNING_REFUSED,
  WARNING_DEGRADED,
  WARNING_LEFT_OUT,
  WARNING_NESTED,
  WARNING_LEFT,
  WARNING_SLOW,
  N_WARNINGS
} warning_kind;

/* Results of an island. */
typedef struct island_result {
  size_t first_body, first_joint; /* into the step's results */
  int n_entries; /* what the next step starts from, from first_joint on */
  outcome out;
} island_result;

typedef struct world_stepper {
  const memory_source *source;
  memory_pool pool; /* of what is not the states': no thread may use it */
  long number;      /* of the worlds attached, from 1 */
  ode_mlcp_options options;
  const scheme *scheme; /* of the options */
  pthread_mutex_t lock; /* of the states */
  scheme_state *states; /* of `scheme`: one, if it sees all islands at once */

  body_result *bodies; /* of all islands */
  joint_result *joints;
  contact_entry *entries; /* of this step, */
  contact_memory memory;  /* and of the last */
  island_result *islands;
  size_t n_islands, n_bodies;

  island_threads threads;
  contact_source contacts;
  force_list forces;
  step_sweep sweep;
  motion from, to; /* how bodies go straight, */
  double *start;   /* how fast they were before the step, */
  double *kept;    /* and what they keep where some are held, */
  double *shares;  /* and how far they go */
  int held;

  int under_way; /* steps: more than one where a callback asks for another */
  bool prepared; /* prepare did its work in this step */
  bool begun;    /* begin was reached in this step */
  bool left;     /* a callback left this step by longjmp or an exception */
  const dStepperIsland *host_islands; /* of the step in hand */
  bool swept;                         /* its commit has begun */
  double step_size, start_seconds, time;
  double kinetic_energy, potential_energy; /* of the bodies committed */
  double start_power; /* W: of the force functions at the step's start */
  long steps;
  ode_mlcp_report report;
  long warnings[N_WARNINGS];
} world_stepper;

static atomic_long n_worlds_attached;

/* --- states of the scheme -------------------------------------------------- */

/* @return NULL where memory ran out. */
static scheme_state *take_state(world_stepper *stepper) {
  pthread_mutex_lock(&stepper->lock);
  scheme_state *state = stepper->states;
  while (state != NULL && state->lent) state = state->next;
  if (state == NULL) {
    state = scheme_state_create(stepper->scheme, stepper->source);
    if (state != NULL) {
      state->next = stepper->states;
      stepper->states = state;
    }
  }
  if (state != NULL) state->lent = true;
  pthread_mutex_unlock(&stepper->lock);
  return state;
}

static void give_state_back(world_stepper *stepper, scheme_state *state) {
  pthread_mutex_lock(&stepper->lock);
  state->lent = false;
  pthread_mutex_unlock(&stepper->lock);
}

static void release_states(world_stepper *stepper, bool lent_alone) {
  scheme_state **place = &stepper->states;
  while (*place != NULL) {
    scheme_state *state = *place;
    if (lent_alone && !state->lent) {
      place = &state->next;
      continue;
    }
    *place = state->next;
    scheme_state_destroy(stepper->scheme, state);
  }
}

/* --- the phases of a step ---------------------------------------------------- */

/* Schemes with events look for themselves where they can ask for contacts. */
static bool sweeps(const world_stepper *stepper) {
  return stepper->options.sweep &&
         (stepper->scheme->event == NULL || !stepper->options.events ||
          stepper->contacts.function == NULL);
}

static bool reserve_results(world_stepper *stepper, size_t n_bodies,
                            size_t n_joints) {
  memory_pool *pool = &stepper->pool;
  return POOL_RESERVE(pool, stepper->bodies, n_bodies) &&
         POOL_RESERVE(pool, stepper->joints, n_joints) &&
         POOL_RESERVE(pool, stepper->entries, n_joints) &&
         contact_memory_reserve(&stepper->memory, pool, (int)n_joints) &&
         (!sweeps(stepper) ||
          (POOL_RESERVE(pool, stepper->from.poses, n_bodies) &&
           POOL_RESERVE(pool, stepper->to.poses, n_bodies) &&
           POOL_RESERVE(pool, stepper->from.v, 6 * n_bodies) &&
           POOL_RESERVE(pool, stepper->to.v, 6 * n_bodies) &&
           POOL_RESERVE(pool, stepper->start, 6 * n_bodies) &&
           POOL_RESERVE(pool, stepper->kept, 6 * n_bodies) &&
           POOL_RESERVE(pool, stepper->shares, n_bodies) &&
           step_sweep_open(&stepper->sweep)));
}

static int stepper_prepare(void *context, dWorldID world, dReal step_size) {
  HOLD_TRAPS;
  world_stepper *stepper = context;
  if (++stepper->under_way > 1) return 0; /* the other one's results are here */
  follow_fork(&stepper->threads, world);
  stepper->start_seconds = seconds_now();
  /* a margin of 0 is the host's own: what overlaps */
  const contact_request request = {
      .world = world,
      .step_size = step_size,
      .margin = stepper->options.margin,
      .keeps = stepper->scheme->keeps_contacts && stepper->options.margin != 0,
      .memory = &stepper->memory,
      .is_alive = process()->is_alive,
      .context = process()->geom_context};
  stepper->prepared = contact_source_start_step(&stepper->contacts, &request);
  return stepper->prepared;
}

static void clear_joints(joint_result joints[], const dStepperIsland *island) {
  for (unsigned j = 0; j < island->joints_count; j++)
    joints[j] = (joint_result){
        .forceless = dJointGetFeedback(island->joints[j]) == NULL};
}

/* What the velocities would make of the next step is looked at, too. */
static bool check_body(const world_stepper *stepper, dBodyID id,
                       const body_result *result, outcome *out) {
  const double h = stepper->step_size;
  double next[6], motion[6];
  for (int i = 0; i < 6; i++) {
    next[i] = h * result->v[i];
    motion[i] = h * (result->v[i] + (result->moved ? result->motion[i] : 0));
  }
  return world_check_motion(id, motion, out) &&
         world_check_motion(id, next, out);
}

static bool check_joint(dJointID id, const joint_result *result, outcome *out) {
  bool finite = all_finite(result->lambda, 6) &&
                (result->forceless || all_finite(result->force[0], 12));
  return finite || outcome_fail(out, "the force of joint %lu is not finite",
                                dJointGetSerial(id));
}

static bool check_results(const world_stepper *stepper,
                          const scheme_step *step) {
  const body_result *body = step->bodies;
  const joint_result *joint = step->joints;
  for (size_t i = 0; i < step->n_islands; i++) {
    const dStepperIsland *island = &step->islands[i];
    for (unsigned b = 0; b < island->bodies_count; b++)
      if (!check_body(stepper, island->bodies[b], body++, step->out))
        return false;
    for (unsigned j = 0; j < island->joints_count; j++)
      if (!check_joint(island->joints[j], joint++, step->out)) return false;
  }
  return true;
}

/* Let the scheme solve islands that follow each other, with a state of its own. */
static bool solve_islands(world_stepper *stepper, const dStepperIsland *islands,
                          size_t n_islands) {
  island_result *result = &stepper->islands[islands[0].index];
  joint_result *joints = stepper->joints + result->first_joint;
  outcome *out = &result->out;
  scheme_step step = {
      .world = islands[0].world,
      .step_size = stepper->step_size,
      .time = stepper->time,
      .options = &stepper->options,
      .islands = islands,
      .n_islands = n_islands,
      .forces = &stepper->forces,
      .contacts = &stepper->contacts,
      .memory = &stepper->memory,
      .observer = process()->observe_solve,
      .observer_context = process()->solve_context,
      .bodies = stepper->bodies + result->first_body,
      .joints = joints,
      .remembered = {.entries = stepper->entries + result->first_joint,
                     .pool = &stepper->pool},
      .out = out};
  scheme_state *taken = take_state(stepper);
  if (taken == NULL) return outcome_no_memory(out);
  step.pool = &taken->pool;
  for (size_t i = 0; i < n_islands; i++) {
    clear_joints(joints, &islands[i]);
    joints += islands[i].joints_count;
  }
  bool solved =
      stepper->scheme->solve(taken, &step) && check_results(stepper, &step);
  give_state_back(stepper, taken);
  result->n_entries = step.remembered.n_entries;
  if (!stepper->scheme->by_island) stepper->entries = step.remembered.entries;
  return solved;
}

static int stepper_begin(void *context, dWorldID world, dReal step_size,
                         const dStepperIsland *islands, size_t n_islands) {
  HOLD_TRAPS;
  world_stepper *stepper = context;
  size_t n_bodies = 0, n_joints = 0;
  stepper->begun = true;
  stepper->step_size = step_size;
  stepper->n_islands = 0;
  stepper->swept = false;
  stepper->kinetic_energy = stepper->potential_energy = 0;
  if (!POOL_RESERVE(&stepper->pool, stepper->islands, n_islands)) return 0;
  for (size_t i = 0; i < n_islands; i++) {
    island_result *island = &stepper->islands[i];
    island->first_body = n_bodies;
    island->first_joint = n_joints;
    island->n_entries = 0;
    outcome_start(&island->out);
    n_bodies += islands[i].bodies_count;
    n_joints += islands[i].joints_count;
  }
  if (!reserve_results(stepper, n_bodies, n_joints) ||
      !forces_drop_gone(&stepper->forces, stepper->source, world))
    return 0;
  forces_hold(&stepper->forces);

  if (stepper->options.measure)
    stepper->start_power = forces_power(&stepper->forces, stepper->time);

  stepper->n_islands = n_islands;
  stepper->n_bodies = n_bodies;
  stepper->host_islands = islands;
  return n_islands == 0 || stepper->scheme->by_island ||
         solve_islands(stepper, islands, n_islands);
}

static int stepper_solve(void *context, const dStepperIsland *island) {
  HOLD_TRAPS;
  world_stepper *stepper = context;
  return !stepper->scheme->by_island || /* solved in begin */
         solve_islands(stepper, island, 1);
}

static void add_body_energy(world_stepper *stepper, dBodyID id) {
  dMass mass;
  dVector3 turned, gravity;
  double v[6], inertia[9];
  dBodyGetMass(id, &mass);
  const dReal *w = dBodyGetAngularVel(id);
  dBodyVectorFromWorld(id, w[0], w[1], w[2], turned);
  real_read(v, dBodyGetLinearVel(id), 3);
  real_read(v + 3, turned, 3);
  for (int i = 0; i < 3; i++) real_read(inertia + 3 * i, mass.I + 4 * i, 3);
  stepper->kinetic_energy += 0.5 * mass_product(mass.mass, inertia, v, v);

  if (!dBodyGetGravityMode(id)) return;
  dWorldGetGravity(dBodyGetWorld(id), gravity);
  stepper->potential_energy -=
      mass.mass * vec3_dot(real3(gravity).at, real3(dBodyGetPosition(id)).at);
}

static void move_body(dBodyID body, double step_size,
                      const body_result *result) {
  if (!result->moved) {
    dBodyStepperAdvance(body, step_size);
    return;
  }
  /* one that is still moved must not be found idle */
  if (vec3_length(result->motion) > dBodyGetAutoDisableLinearThreshold(body) ||
      vec3_length(result->motion + 3) >
          dBodyGetAutoDisableAngularThreshold(body))
    dBodyEnable(body);

  dReal velocity[6];
  for (int i = 0; i < 6; i++)
    velocity[i] = (dReal)(result->v[i] + result->motion[i]);
  dBodyStepperMove(body, step_size, velocity);
}

/* The host has the bodies of all islands in one array. */
static dBodyID const *bodies_of(const world_stepper *stepper) {
  return stepper->host_islands[0].bodies;
}

static void set_velocities(world_stepper *stepper) {
  for (size_t b = 0; b < stepper->n_bodies; b++) {
    dBodyID body = bodies_of(stepper)[b];
    const body_result *result = &stepper->bodies[b];
    if (sweeps(stepper)) host_body_velocity(body, stepper->start + 6 * b);
    if (!result->kinematic) host_body_set_velocity(body, result->v);
  }
}

/* A body's way, by the host's rule. */
static void find_way(world_stepper *stepper, size_t b) {
  const body_result *result = &stepper->bodies[b];
  dBodyID id = bodies_of(stepper)[b];
  double *u = stepper->from.v + 6 * b;
  for (int k = 0; k < 6; k++)
    u[k] = result->v[k] + (result->moved ? result->motion[k] : 0);
  stepper->from.poses[b] = world_pose_read(id);
  world_pose_advance(&stepper->to.poses[b], id, &stepper->from.poses[b], u,
                     stepper->step_size);
}

static void hold_island(world_stepper *stepper, const sweep_way *way,
                        size_t first, unsigned count) {
  double *v = stepper->kept;
  for (size_t b = first; b < first + count; b++)
    memcpy(v + 6 * b, stepper->bodies[b].v, 6 * sizeof *v);
  if (!step_sweep_keep(way, stepper->shares, stepper->start, first, count, v))
    return;
  for (size_t b = first; b < first + count; b++) {
    body_result *result = &stepper->bodies[b];
    if (result->kinematic) continue;
    memcpy(result->v, v + 6 * b, sizeof result->v);
    scheme_move_body(result, way->bodies[b], &way->from->poses[b],
                     &way->to->poses[b], stepper->step_size);
    host_body_set_velocity(way->bodies[b], result->v);
  }
}

/* No body passes through another: what would is moved to where they meet, and the
 * next step finds the two in touch. */
static bool hold_what_would_pass(world_stepper *stepper) {
  for (size_t b = 0; b < stepper->n_bodies; b++) find_way(stepper, b);
  motion_lead(&stepper->from, &stepper->to, (int)stepper->n_bodies,
              stepper->step_size);
  const sweep_way way = {.world = stepper->host_islands[0].world,
                         .n_bodies = (int)stepper->n_bodies,
                         .bodies = bodies_of(stepper),
                         .from = &stepper->from,
                         .to = &stepper->to,
                         .contacts = &stepper->contacts,
                         .seconds = stepper->step_size};
  double spent = 0; /* by the island that took most, as it is reported */
  for (size_t i = 0; i < stepper->n_islands; i++)
    spent = fmax(spent, stepper->islands[i].out.report.solver_work);
  if (!step_sweep_hold(&stepper->sweep, &way, NULL,
                       stepper->options.budget - spent, stepper->shares,
                       &stepper->held))
    return false;
  for (size_t i = 0; i < stepper->n_islands && stepper->held > 0; i++)
    hold_island(stepper, &way, stepper->islands[i].first_body,
                stepper->host_islands[i].bodies_count);
  return true;
}

/* Before anything is moved: all islands are solved, and what one holds may be
 * met by another. */
static void start_commit(world_stepper *stepper) {
  stepper->swept = true;
  stepper->held = 0;
  set_velocities(stepper);
  if (!sweeps(stepper)) return;
  outcome *out = &stepper->islands[0].out;
  if (!hold_what_would_pass(stepper) && out->warning[0] == '\0')
    snprintf(out->warning, sizeof out->warning, "%s",
             "fast bodies may pass through others: memory ran out");
}

static void tell_joint(dJointID id, const joint_result *result) {
  dReal lambda[6], force[2][6] = {{0}};
  real_write(lambda, result->lambda, 6);
  if (!result->forceless) real_write(force[0], result->force[0], 12);
  dJointSetStepperResult(id, result->count, lambda, (const dReal(*)[6])force);
}

static void stepper_commit(void *context, const dStepperIsland *island) {
  HOLD_TRAPS;
  world_stepper *stepper = context;
  if (!stepper->swept) start_commit(stepper);
  const island_result *result = &stepper->islands[island->index];
  const body_result *bodies = stepper->bodies + result->first_body;
  const joint_result *joints = stepper->joints + result->first_joint;

  for (unsigned j = 0; j < island->joints_count; j++)
    tell_joint(island->joints[j], &joints[j]);
  for (unsigned b = 0; b < island->bodies_count; b++)
    move_body(island->bodies[b], island->stepsize, &bodies[b]);
  if (stepper->options.measure)
    for (unsigned b = 0; b < island->bodies_count; b++)
      if (!bodies[b].kinematic) add_body_energy(stepper, island->bodies[b]);
}

/* --- the end of a step --------------------------------------------------------- */

/* The islands' memories, one after the other, are what the next step finds. */
static void keep_entries(world_stepper *stepper) {
  contact_entry *entries = stepper->entries;
  int count = 0;
  for (size_t i = 0; i < stepper->n_islands; i++) {
    const island_result *island = &stepper->islands[i];
    if ((size_t)count < island->first_joint)
      memmove(entries + count, entries + island->first_joint,
              (size_t)island->n_entries * sizeof *entries);
    count += island->n_entries;
  }
  if (!contact_memory_reserve(&stepper->memory, &stepper->pool, count))
    count = 0; /* the next step starts from nothing */
  contact_memory_take(&stepper->memory, entries, count);
}

static void sum_reports(world_stepper *stepper) {
  ode_mlcp_report *sum = &stepper->report;
  for (size_t i = 0; i < stepper->n_islands; i++)
    report_add(sum, &stepper->islands[i].out.report, false);
  sum->islands = (int)stepper->n_islands;
  if (stepper->swept) {
    step_sweep_report(&stepper->sweep, sum);
    sum->held += stepper->held;
  }
}

static void warn(world_stepper *stepper, warning_kind kind, const char *what,
                 const char *detail) {
  if (!worth_saying(&stepper->warnings[kind])) return;
  dMessage(0, "ode-mlcp: step %ld: %s%s%s (%ld so far)", stepper->steps, what,
           detail[0] != '\0' ? ": " : "", detail, stepper->warnings[kind]);
}

static void give_warnings(world_stepper *stepper) {
  const double SLOW_STEP = 1; /* s */
  ode_mlcp_report *report = &stepper->report;
  char detail[80];
  if (report->step_seconds > SLOW_STEP) {
    snprintf(detail, sizeof detail, "%.1f s", report->step_seconds);
    warn(stepper, WARNING_SLOW, "took", detail);
  }
  if (stepper->left) {
    warn(stepper, WARNING_LEFT, "left by a callback",
         "longjmp or an exception; what was moved until then stays so");
    return;
  }
  if (!report->taken) {
    /* the host's own memory may have run out before it asked us anything */
    const char *why = "memory ran out";
    if (!stepper->prepared && stepper->contacts.list.message[0] != '\0')
      why = stepper->contacts.list.message;
    for (size_t i = stepper->n_islands; i-- > 0;)
      if (stepper->islands[i].out.message[0] != '\0')
        why = stepper->islands[i].out.message;
    if (report->refused)
      warn(stepper, WARNING_REFUSED, "refused, nothing was changed", why);
    else
      warn(stepper, WARNING_FAILED, "failed, nothing was changed", why);
    return;
  }
  for (size_t i = 0; i < stepper->n_islands; i++)
    if (stepper->islands[i].out.warning[0] != '\0') {
      warn(stepper, WARNING_LEFT_OUT, stepper->islands[i].out.warning, "");
      break;
    }
  if (report->degraded > 0) {
    /* projections are problems as well */
    snprintf(detail, sizeof detail, "%d of %d problems, residual %.3g",
             report->degraded, report->solves + report->pushes,
             report->residual);
    warn(stepper, WARNING_DEGRADED, "solved approximately", detail);
  }
}

static void measure_forces(const world_stepper *stepper,
                           ode_mlcp_report *report) {
  const force_list *forces = &stepper->forces;
  report->spring_energy = forces_energy(forces, stepper->time);
  if (report->taken)
    report->force_work =
        0.5 * stepper->step_size *
        (stepper->start_power + forces_power(forces, stepper->time));
}

static void stepper_end(void *context, dWorldID world, int taken) {
  HOLD_TRAPS;
  world_stepper *stepper = context;
  ode_mlcp_report *report = &stepper->report;
  stepper->left = taken < 0;
  if (stepper->left) {
    /* nothing of it comes back: what was borrowed is half-written */
    taken = 0;
    stepper->under_way = 1;
    contact_source_end_hiding(&stepper->contacts);
    release_states(stepper, true);
  }
  if (stepper->under_way > 1) {
    stepper->under_way--;
    warn(stepper, WARNING_NESTED, "refused, nothing was changed",
         "a callback of a step asked for another step of its world");
    return;
  }
  memset(report, 0, sizeof *report);
  report->struct_size = sizeof *report;
  stepper->steps++;
  if (!stepper->begun) {
    stepper->n_islands = 0;
    stepper->swept = false;
    stepper->step_size = NAN;
  }
  sum_reports(stepper);
  if (taken) keep_entries(stepper);
  contact_source_end_step(&stepper->contacts, taken);
  if (taken) {
    stepper->time += stepper->step_size;
    if (stepper->n_islands > 0 && stepper->scheme->committed != NULL)
      stepper->scheme->committed(stepper->states);
  }
  report->taken = taken;
  report->step = stepper->steps;
  report->time = stepper->time;
  report->step_size = stepper->step_size;
  report->step_seconds = seconds_now() - stepper->start_seconds;
  if (stepper->options.measure) {
    report->kinetic_energy = stepper->kinetic_energy;
    report->potential_energy = stepper->potential_energy;
    measure_forces(stepper, report);
  } else {
    report->kinetic_energy = report->potential_energy = NAN;
    report->spring_energy = report->force_work = NAN;
    report->deepest_penetration = report->worst_joint_error = NAN;
  }
  forces_let_go(&stepper->forces);
  give_warnings(stepper);
  stepper->begun = false;
  if (process()->observe_step != NULL)
    process()->observe_step(process()->step_context, world, report);
  dump_end_step(world, stepper->number, report);
  stepper->under_way = 0;
}

static void stepper_release(void *context, dWorldID world) {
  world_stepper *stepper = context;
  set_threads(&stepper->threads, world, 0);
  const memory_source *source = stepper->source;
  release_states(stepper, false);
  contact_source_release(&stepper->contacts);
  step_sweep_release(&stepper->sweep);
  forces_release(&stepper->forces);
  memory_pool_release(&stepper->pool);
  pthread_mutex_destroy(&stepper->lock);
  source->release(source->context, stepper, sizeof *stepper);
}

/* --- the public face ------------------------------------------------------------- */

static const dStepperFunctions STEPPER = {
    .struct_size = sizeof(dStepperFunctions),
    .prepare = stepper_prepare,
    .begin = stepper_begin,
    .solve = stepper_solve,
    .commit = stepper_commit,
    .end = stepper_end,
    .release = stepper_release};

const char *ode_mlcp_error_text(ode_mlcp_error error) {
  switch (error) {
    case ODE_MLCP_OK: return "done";
    case ODE_MLCP_BAD_ARGUMENT: return "an argument is out of its range";
    case ODE_MLCP_NO_MEMORY: return "memory ran out";
    case ODE_MLCP_WRONG_HOST: {
      const char *fault = patched_host_fault();
      return fault != NULL ? fault : "another ODE library than the patched one";
    }
    case ODE_MLCP_NOT_ATTACHED: return "the world does not step on ode-mlcp";
    case ODE_MLCP_STEP_FAILED: return "the step was not taken";
    case ODE_MLCP_IN_STEP: return "a step of the world is under way";
  }
  return "unknown error";
}

static world_stepper *attached_stepper(dWorldID world) {
  if (world == NULL || patched_host_fault() != NULL ||
      dWorldGetStepper(world) != &STEPPER)
    return NULL;
  return dWorldGetStepperContext(world);
}

static dWorldID world_of(dBodyID body) {
  return body != NULL ? dBodyGetWorld(body) : NULL;
}

/* The stepper of a world that a call of the public face is about, which `changes` it or
 * does not; `good`: its other arguments are. */
static ode_mlcp_error find_stepper(dWorldID world, bool good, bool changes,
                                   world_stepper **stepper) {
  if (world == NULL || !good) return ODE_MLCP_BAD_ARGUMENT;
  *stepper = attached_stepper(world);
  return *stepper == NULL                       ? ODE_MLCP_NOT_ATTACHED
         : changes && (*stepper)->under_way > 0 ? ODE_MLCP_IN_STEP
                                                : ODE_MLCP_OK;
}

/* A bad option is told as the host tells its own errors: few programs look at
 * more than whether a call worked. */
static bool read_options(const ode_mlcp_options *given, ode_mlcp_options *own) {
  char message[SETTING_LINE];
  if (settings_read(given, own, message, sizeof message)) return true;
  dMessage(0, "ode-mlcp: bad options: %s", message);
  return false;
}

ode_mlcp_error ode_mlcp_attach(dWorldID world, const ode_mlcp_options *given) {
  ode_mlcp_options options;
  if (world == NULL || !read_options(given, &options))
    return ODE_MLCP_BAD_ARGUMENT;
  if (patched_host_fault() != NULL) return ODE_MLCP_WRONG_HOST;

  const scheme *scheme = scheme_find(options.scheme);
  if (scheme == NULL) return ODE_MLCP_BAD_ARGUMENT;
  world_stepper *stepper = attached_stepper(world);
  if (stepper != NULL) {
    if (stepper->under_way > 0) return ODE_MLCP_IN_STEP;
    if (stepper->scheme != scheme) release_states(stepper, false);
    contact_source_forget_step(&stepper->contacts);
    stepper->scheme = scheme;
    stepper->options = options;
    set_threads(&stepper->threads, world, options.threads);
    return ODE_MLCP_OK;
  }
  const memory_source *source = process()->memory;
  stepper = memory_allocate_zero(source, sizeof *stepper);
  if (stepper == NULL) return ODE_MLCP_NO_MEMORY;
  stepper->source = source;
  memory_pool_open(&stepper->pool, source);
  stepper->number = 1 + atomic_fetch_add(&n_worlds_attached, 1);
  stepper->options = options;
  stepper->scheme = scheme;
  stepper->contacts.pool = stepper->contacts.inner.pool = &stepper->pool;
  stepper->sweep.pool = &stepper->pool;
  pthread_mutex_init(&stepper->lock, NULL);
  if (!dWorldSetStepper(world, &STEPPER, stepper)) {
    stepper_release(stepper, world);
    return ODE_MLCP_WRONG_HOST;
  }
  set_threads(&stepper->threads, world, options.threads);
  return ODE_MLCP_OK;
}

ode_mlcp_error ode_mlcp_detach(dWorldID world) {
  world_stepper *stepper;
  ode_mlcp_error error = find_stepper(world, true, true, &stepper);
  if (error != ODE_MLCP_OK) return error;
  dWorldSetStepper(world, NULL, NULL);
  return ODE_MLCP_OK;
}

ode_mlcp_error ode_mlcp_set_collision(dWorldID world,
                                      ode_mlcp_collision *function,
                                      void *context) {
  world_stepper *stepper;
  ode_mlcp_error error = find_stepper(world, true, true, &stepper);
  if (error != ODE_MLCP_OK) return error;
  stepper->contacts.n_found = 0; /* the last step's are another's */
  stepper->contacts.function = function;
  stepper->contacts.context = context;
  return ODE_MLCP_OK;
}

/* Islands that are solved each for itself know nothing of a force that ties them
 * together. */
static bool takes_forces(const world_stepper *stepper) {
  if (!stepper->scheme->by_island) return true;
  dMessage(0,
           "ode-mlcp: scheme %s takes no springs and force functions: "
           "conserving, trapezoid, trapezoid-1, gap and st do",
           settings_scheme_name(stepper->scheme->id));
  return false;
}

ode_mlcp_error ode_mlcp_spring_create(dWorldID world,
                                      const ode_mlcp_spring *spring,
                                      ode_mlcp_force **force) {
  world_stepper *stepper;
  ode_mlcp_error error = find_stepper(world, force != NULL, true, &stepper);
  if (error != ODE_MLCP_OK) return error;
  if (!takes_forces(stepper)) return ODE_MLCP_BAD_ARGUMENT;
  return forces_add_spring(&stepper->forces, stepper->source, world, spring,
                           force);
}

ode_mlcp_error ode_mlcp_force_create(dBodyID body, ode_mlcp_force_function *f,
                                     void *context, ode_mlcp_force **force) {
  world_stepper *stepper;
  ode_mlcp_error error =
      find_stepper(world_of(body), f != NULL && force != NULL, true, &stepper);
  if (error != ODE_MLCP_OK) return error;
  if (!takes_forces(stepper)) return ODE_MLCP_BAD_ARGUMENT;
  return forces_add_function(&stepper->forces, stepper->source, body, f,
                             context, force);
}

double ode_mlcp_spring_energy(dWorldID world) {
  world_stepper *stepper = attached_stepper(world);
  if (stepper == NULL) return 0;
  if (!forces_drop_gone(&stepper->forces, stepper->source, world)) return NAN;
  return forces_energy(&stepper->forces, stepper->time);
}

ode_mlcp_error ode_mlcp_body_v_alpha(dBodyID body, double velocity[6]) {
  world_stepper *stepper;
  ode_mlcp_error error =
      find_stepper(world_of(body), velocity != NULL, false, &stepper);
  if (error != ODE_MLCP_OK) return error;
  if (stepper->scheme->v_alpha == NULL) {
    host_body_velocity(body, velocity);
    return ODE_MLCP_OK;
  }
  const void *state = stepper->states;
  return state != NULL && stepper->scheme->v_alpha(state, body, velocity)
             ? ODE_MLCP_OK
             : ODE_MLCP_BAD_ARGUMENT;
}

static ode_mlcp_options new_world_options;

static void attach_new_world(void *context, dWorldID world) {
  ode_mlcp_error error = ode_mlcp_attach(world, context);
  if (error != ODE_MLCP_OK)
    dMessage(0, "ode-mlcp: a new world keeps the stock steppers: %s",
             ode_mlcp_error_text(error));
}

ode_mlcp_error ode_mlcp_attach_new_worlds(const ode_mlcp_options *given) {
  ode_mlcp_options options;
  if (!read_options(given, &options)) return ODE_MLCP_BAD_ARGUMENT;
  if (patched_host_fault() != NULL) return ODE_MLCP_WRONG_HOST;
  if (given == NULL) {
    dSetStepperWorldCreatedFunction(NULL, NULL);
    return ODE_MLCP_OK;
  }
  new_world_options = options;
  dSetStepperWorldCreatedFunction(attach_new_world, &new_world_options);
  return ODE_MLCP_OK;
}

ode_mlcp_error ode_mlcp_step_sized(dWorldID world, dReal step_size,
                                   ode_mlcp_report *report,
                                   size_t report_size) {
  world_stepper *stepper;
  ode_mlcp_error error =
      find_stepper(world, step_size > 0 && isfinite(step_size), true, &stepper);
  if (error != ODE_MLCP_OK) return error;
  int taken = dWorldStep(world, step_size);
  if (report != NULL)
    sized_give(report, report_size, &stepper->report, sizeof stepper->report);
  return taken ? ODE_MLCP_OK : ODE_MLCP_STEP_FAILED;
}

ode_mlcp_error ode_mlcp_last_report_sized(dWorldID world,
                                          ode_mlcp_report *report,
                                          size_t report_size) {
  world_stepper *stepper;
  ode_mlcp_error error = find_stepper(world, report != NULL, false, &stepper);
  if (error != ODE_MLCP_OK) return error;
  sized_give(report, report_size, &stepper->report, sizeof stepper->report);
  return ODE_MLCP_OK;
}

ode_mlcp_error ode_mlcp_last_contact_sized(dWorldID world, int index,
                                           ode_mlcp_contact *contact,
                                           size_t contact_size) {
  world_stepper *stepper;
  ode_mlcp_error error = find_stepper(world, contact != NULL, false, &stepper);
  if (error != ODE_MLCP_OK) return error;
  const contact_source *source = &stepper->contacts;
  if (index < 0 || index >= source->n_found) return ODE_MLCP_BAD_ARGUMENT;

  const source_contact *found = &source->list.contacts[index];
  const dJointFeedback *feedback = &source->feedback[index];
  ode_mlcp_contact own;
  memset(&own, 0, sizeof own);
  own.geom = found->contact.geom;
  own.part[0] = own.geom.side1;
  own.part[1] = own.geom.side2;
  for (int k = 0; k < 2; k++) {
    own.body[k] = found->body[k];
    own.feature[k] = found->feature[k];
  }
  for (int i = 0; i < 3; i++) own.force[i] = feedback->f1[i];
  sized_give(contact, contact_size, &own, sizeof own);
  return ODE_MLCP_OK;
}

/* The state that knows the last step's events, NULL where there are none. */
static const void *event_state_of(const world_stepper *stepper) {
  bool any = stepper->scheme->event != NULL && stepper->report.taken &&
             stepper->report.substeps > 0;
  return any ? stepper->states : NULL;
}

ode_mlcp_error ode_mlcp_last_event_sized(dWorldID world, int index,
                                         ode_mlcp_event *event,
                                         size_t event_size) {
  ode_mlcp_event own;
  world_stepper *stepper;
  ode_mlcp_error error = find_stepper(world, event != NULL, false, &stepper);
  if (error != ODE_MLCP_OK) return error;
  const void *state = event_state_of(stepper);
  if (state == NULL || !stepper->scheme->event(state, index, &own))
    return ODE_MLCP_BAD_ARGUMENT;
  sized_give(event, event_size, &own, sizeof own);
  return ODE_MLCP_OK;
}

ode_mlcp_error
ode_mlcp_last_event_contact_sized(dWorldID world, int index, int k,
                                  ode_mlcp_event_contact *contact,
                                  size_t contact_size) {
  ode_mlcp_event_contact own;
  world_stepper *stepper;
  ode_mlcp_error error = find_stepper(world, contact != NULL, false, &stepper);
  if (error != ODE_MLCP_OK) return error;
  const void *state = event_state_of(stepper);
  if (state == NULL || stepper->scheme->event_contact == NULL ||
      !stepper->scheme->event_contact(state, index, k, &own))
    return ODE_MLCP_BAD_ARGUMENT;
  sized_give(contact, contact_size, &own, sizeof own);
  return ODE_MLCP_OK;
}
