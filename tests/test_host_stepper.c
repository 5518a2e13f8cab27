/* The host's stepper interface (<ode/stepper.h>) by itself, with a stepper that
 * only lets bodies fall. */
#include <ode/stepper.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "host_rounding.h"
#include "step_testing.h"

static const double H = 0.01;

enum { MAX_ISLANDS = 32, MAX_BODIES = 64 };

typedef struct toy {
  char log[200];        /* P B S C E R, in the order of the calls */
  pthread_mutex_t lock; /* of the log and what solve notes */
  int fail_prepare, fail_begin;
  int fail_island; /* its index + 1 */
  int taken;       /* what end was told */
  size_t n_islands;
  unsigned n_bodies[MAX_ISLANDS], n_joints[MAX_ISLANDS];
  size_t next_commit; /* index that commit has to get */
  bool out_of_order, in_pool, commit_in_pool;
  pthread_t caller;
  dBodyID bodies[MAX_BODIES]; /* of all islands, in their order */
  int n_listed;
} toy;

static void note(toy *t, char call) {
  pthread_mutex_lock(&t->lock);
  size_t length = strlen(t->log);
  if (length + 1 < sizeof t->log) t->log[length] = call;
  pthread_mutex_unlock(&t->lock);
}

static int toy_prepare(void *context, dWorldID world, dReal h) {
  toy *t = context;
  (void)world;
  note(t, 'P');
  return h == (dReal)H && !t->fail_prepare;
}

static int toy_begin(void *context, dWorldID world, dReal h,
                     const dStepperIsland *islands, size_t n) {
  toy *t = context;
  note(t, 'B');
  t->n_islands = n;
  t->next_commit = 0;
  t->n_listed = 0;
  for (size_t i = 0; i < n && i < MAX_ISLANDS; i++) {
    t->n_bodies[i] = islands[i].bodies_count;
    t->n_joints[i] = islands[i].joints_count;
    if (islands[i].index != i || islands[i].world != world ||
        islands[i].stepsize != h)
      t->out_of_order = true;
    for (unsigned b = 0; b < islands[i].bodies_count; b++)
      if (t->n_listed < MAX_BODIES)
        t->bodies[t->n_listed++] = islands[i].bodies[b];
  }
  return !t->fail_begin;
}

static int toy_solve(void *context, const dStepperIsland *island) {
  toy *t = context;
  note(t, 'S');
  pthread_mutex_lock(&t->lock);
  if (!pthread_equal(pthread_self(), t->caller)) t->in_pool = true;
  pthread_mutex_unlock(&t->lock);
  return (int)island->index + 1 != t->fail_island;
}

static void toy_commit(void *context, const dStepperIsland *island) {
  toy *t = context;
  note(t, 'C');
  if (island->index != t->next_commit++) t->out_of_order = true;
  if (!pthread_equal(pthread_self(), t->caller)) t->commit_in_pool = true;
  dVector3 g;
  dWorldGetGravity(island->world, g);
  for (unsigned i = 0; i < island->bodies_count; i++) {
    dBodyID body = island->bodies[i];
    const dReal *v = dBodyGetLinearVel(body);
    double h = dBodyIsKinematic(body) ? 0 : island->stepsize;
    dBodySetLinearVel(body, v[0] + h * g[0], v[1] + h * g[1], v[2] + h * g[2]);
    dBodyStepperAdvance(body, island->stepsize);
  }
}

static void toy_end(void *context, dWorldID world, int taken) {
  (void)world;
  note(context, 'E');
  ((toy *)context)->taken = taken;
}

static void toy_release(void *context, dWorldID world) {
  (void)world;
  note(context, 'R');
}

static const dStepperFunctions TOY = {.struct_size = sizeof(dStepperFunctions),
                                      .prepare = toy_prepare,
                                      .begin = toy_begin,
                                      .solve = toy_solve,
                                      .commit = toy_commit,
                                      .end = toy_end,
                                      .release = toy_release};

/* A world on the toy stepper. */
static dWorldID create_toy_world(toy *t) {
  memset(t, 0, sizeof *t);
  pthread_mutex_init(&t->lock, NULL);
  t->caller = pthread_self();
  dWorldID world = dWorldCreate();
  dWorldSetGravity(world, 0, 0, -10);
  CU_ASSERT_FATAL(dWorldSetStepper(world, &TOY, t));
  return world;
}

static dBodyID body_at(dWorldID world, double x) {
  dBodyID body = create_ball(world, 1, 0.1);
  dBodySetPosition(body, x, 0, 0);
  return body;
}

static dJointID tie(dWorldID world, dBodyID a, dBodyID b) {
  dJointID joint = dJointCreateBall(world, 0);
  dJointAttach(joint, a, b);
  return joint;
}

/* --- a step's course ----------------------------------------------------- */

static void test_calls_come_in_order(void) {
  toy t;
  dWorldID world = create_toy_world(&t);
  dBodyID pair[2] = {body_at(world, 0), body_at(world, 1)};
  tie(world, pair[0], pair[1]);
  body_at(world, 5);
  body_at(world, 6);
  CU_ASSERT_EQUAL(dWorldStep(world, H), 1);
  CU_ASSERT_STRING_EQUAL(t.log, "PBSSSCCCE");
  CU_ASSERT(t.taken);
  CU_ASSERT_FALSE(t.out_of_order);
  CU_ASSERT_FALSE(t.commit_in_pool);
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(pair[1])[2], -10 * H,
                         of_host(1e-15, 1));
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(pair[1])[2], -10 * H * H,
                         of_host(1e-15, 1));

  memset(t.log, 0, sizeof t.log);
  CU_ASSERT_EQUAL(dWorldQuickStep(world, H), 1);
  CU_ASSERT_STRING_EQUAL(t.log, "PBSSSCCCE");
  dWorldDestroy(world);
  CU_ASSERT_STRING_EQUAL(t.log, "PBSSSCCCER");
}

static void test_an_empty_world_steps(void) {
  toy t;
  dWorldID world = create_toy_world(&t);
  CU_ASSERT_EQUAL(dWorldStep(world, H), 1);
  CU_ASSERT_STRING_EQUAL(t.log, "PBE");
  CU_ASSERT_EQUAL(t.n_islands, 0);
  CU_ASSERT(t.taken);
  dWorldDestroy(world);
}

static bool listed(const toy *t, dBodyID body) {
  int times = 0;
  for (int i = 0; i < t->n_listed; i++) times += t->bodies[i] == body;
  CU_ASSERT(times <= 1);
  return times > 0;
}

static void test_islands(void) {
  toy t;
  dWorldID world = create_toy_world(&t);
  dBodyID b[9];
  for (int i = 0; i < 9; i++) b[i] = body_at(world, i);
  tie(world, b[0], b[1]);
  tie(world, b[1], b[2]);
  dJointDisable(tie(world, b[2], b[3])); /* ties nothing */
  tie(world, b[3], NULL);
  dJointCreateBall(world, 0); /* not attached */
  dBodyDisable(b[4]);         /* alone: stays asleep */
  dBodyDisable(b[5]);         /* woken by b[6] */
  tie(world, b[5], b[6]);
  dBodySetKinematic(b[7]);
  dBodySetKinematic(b[8]);
  tie(world, b[7], b[8]); /* of no use */
  CU_ASSERT_EQUAL(dWorldStep(world, H), 1);

  CU_ASSERT_FALSE(listed(&t, b[4]));
  CU_ASSERT_FALSE(dBodyIsEnabled(b[4]));
  CU_ASSERT(listed(&t, b[5]));
  CU_ASSERT(dBodyIsEnabled(b[5]));
  for (int i = 0; i < 9; i++)
    if (i != 4) CU_ASSERT(listed(&t, b[i]));
  unsigned bodies = 0, joints = 0;
  for (size_t i = 0; i < t.n_islands; i++) {
    bodies += t.n_bodies[i];
    joints += t.n_joints[i];
  }
  CU_ASSERT_EQUAL(bodies, 8);
  CU_ASSERT_EQUAL(joints, 4);
  dWorldDestroy(world);
}

/* --- steps that fail ----------------------------------------------------- */

static void test_a_failed_step_changes_nothing(void) {
  const char *const logs[] = {"PE", "PBE", "PBSE", "PBSSSE"};
  for (int way = 0; way < 4; way++) {
    toy t;
    dWorldID world = create_toy_world(&t);
    dBodyID b[4];
    for (int i = 0; i < 4; i++) b[i] = body_at(world, i);
    dBodyDisable(b[3]);
    tie(world, b[2], b[3]); /* to be woken */
    dBodyAddForce(b[0], 1, 2, 3);
    dBodyAddTorque(b[1], 1, 2, 3);
    t.fail_prepare = way == 0;
    t.fail_begin = way == 1;
    uint64_t before = hash_bodies(b, 4);
    t.fail_island = way == 2 ? 1 : way == 3 ? 3 : 0;
    t.taken = -1;
    CU_ASSERT_EQUAL(dWorldStep(world, H), 0);
    CU_ASSERT_STRING_EQUAL(t.log, logs[way]);
    CU_ASSERT_EQUAL(t.taken, 0);
    CU_ASSERT_EQUAL(hash_bodies(b, 4), before);
    CU_ASSERT_FALSE(dBodyIsEnabled(b[3]));

    t.fail_prepare = t.fail_begin = t.fail_island = 0;
    CU_ASSERT_EQUAL(dWorldStep(world, H), 1);
    CU_ASSERT(dBodyIsEnabled(b[3]));
    CU_ASSERT_EQUAL(dBodyGetForce(b[0])[0], 0);
    dWorldDestroy(world);
  }
}

/* The step at which a slow body falls asleep, `failures` of each step failing
 * first. */
static int steps_until_asleep(int failures, double threshold_time) {
  toy t;
  dWorldID world = create_toy_world(&t);
  dWorldSetGravity(world, 0, 0, 0);
  dBodyID sleeper = body_at(world, 0), other = body_at(world, 1);
  tie(world, sleeper, NULL);
  dBodySetAutoDisableFlag(sleeper, 1);
  dBodySetAutoDisableAverageSamplesCount(sleeper, 3);
  dBodySetAutoDisableSteps(sleeper, threshold_time > 0 ? 0 : 6);
  dBodySetAutoDisableTime(sleeper, threshold_time);
  dBodySetLinearVel(sleeper, 0.02, 0, 0);
  int step = 0;
  while (dBodyIsEnabled(sleeper) && step < 50) {
    dBodyID bodies[2] = {sleeper, other};
    uint64_t before = hash_bodies(bodies, 2);
    t.fail_island = 1;
    for (int i = 0; i < failures; i++) {
      CU_ASSERT_EQUAL(dWorldStep(world, H), 0);
      CU_ASSERT_EQUAL(hash_bodies(bodies, 2), before);
    }
    t.fail_island = 0;
    /* slow from the fifth step on */
    if (step == 4) dBodySetLinearVel(sleeper, 1e-3, 0, 0);
    CU_ASSERT_EQUAL(dWorldStep(world, H), 1);
    step++;
  }
  CU_ASSERT_EQUAL(dBodyGetLinearVel(sleeper)[0], 0);
  dWorldDestroy(world);
  return step;
}

static void test_failed_steps_do_not_count_for_sleep(void) {
  const double times[] = {0, 0.055};
  for (int i = 0; i < 2; i++) {
    int steps = steps_until_asleep(0, times[i]);
    CU_ASSERT(steps > 8 && steps < 20);
    for (int failures = 1; failures <= 5; failures++)
      CU_ASSERT_EQUAL(steps_until_asleep(failures, times[i]), steps);
  }
}

/* --- memory -------------------------------------------------------------- */

static long n_blocks, n_allocations, fail_from;

static void *count_allocation(dsizeint size) {
  if (n_allocations++ >= fail_from) return NULL;
  n_blocks++;
  return malloc(size);
}
static void *count_shrinking(void *block, dsizeint size, dsizeint smaller) {
  (void)size;
  (void)smaller;
  return block;
}
static void count_release(void *block, dsizeint size) {
  (void)size;
  n_blocks--;
  free(block);
}
static const dWorldStepMemoryFunctionsInfo COUNTING = {
    sizeof COUNTING, count_allocation, count_shrinking, count_release};

static void reset_memory(long first_failing) {
  n_blocks = n_allocations = 0;
  fail_from = first_failing;
}

static void test_memory_manager(void) {
  toy t;
  dWorldID world = create_toy_world(&t);
  reset_memory(1000000);
  CU_ASSERT(dWorldSetStepMemoryManager(world, &COUNTING));
  for (int i = 0; i < 5; i++) {
    dBodyID body = body_at(world, i);
    if (i > 2) tie(world, body, body_at(world, 10 + i));
  }
  CU_ASSERT_EQUAL(dWorldStep(world, H), 1);
  CU_ASSERT(n_allocations > 0);
  dWorldCleanupWorkingMemory(world);
  CU_ASSERT_EQUAL(dWorldStep(world, H), 1);
  dWorldStepReserveInfo policy = {sizeof policy, 1.5f, 500000};
  CU_ASSERT(dWorldSetStepMemoryReservationPolicy(world, &policy));
  CU_ASSERT_EQUAL(dWorldStep(world, H), 1);

  void *block = dWorldStepperAlloc(world, 100);
  long with_block = n_blocks;
  dWorldStepperFree(world, block, 100);
  CU_ASSERT_EQUAL(n_blocks, with_block - 1);
  dWorldDestroy(world);
  CU_ASSERT_EQUAL(n_blocks, 0);
}

static void test_shared_working_memory(void) {
  toy t[2];
  dWorldID worlds[2] = {create_toy_world(&t[0]), create_toy_world(&t[1])};
  reset_memory(1000000);
  CU_ASSERT(dWorldSetStepMemoryManager(worlds[0], &COUNTING));
  CU_ASSERT(dWorldUseSharedWorkingMemory(worlds[1], worlds[0]));
  for (int w = 0; w < 2; w++)
    for (int i = 0; i < 3; i++) body_at(worlds[w], i);
  for (int i = 0; i < 3; i++)
    for (int w = 0; w < 2; w++) CU_ASSERT_EQUAL(dWorldStep(worlds[w], H), 1);
  dWorldDestroy(worlds[0]);
  CU_ASSERT_EQUAL(dWorldStep(worlds[1], H), 1); /* keeps what they shared */
  dWorldDestroy(worlds[1]);
  CU_ASSERT_EQUAL(n_blocks, 0);
}

static void test_memory_fails(void) {
  int n_failed = 0;
  for (bool taken = false; !taken && n_failed < 100;) {
    toy t;
    dWorldID world = create_toy_world(&t);
    reset_memory(n_failed);
    CU_ASSERT(dWorldSetStepMemoryManager(world, &COUNTING));
    dBodyID b[3];
    for (int i = 0; i < 3; i++) b[i] = body_at(world, i);
    dBodyDisable(b[2]);
    tie(world, b[1], b[2]);
    uint64_t before = hash_bodies(b, 3);
    taken = dWorldStep(world, H);
    CU_ASSERT_EQUAL(t.taken, taken);
    if (!taken) {
      n_failed++;
      CU_ASSERT_EQUAL(hash_bodies(b, 3), before);
      CU_ASSERT_EQUAL(t.log[strlen(t.log) - 1], 'E');
      CU_ASSERT_PTR_NULL(strchr(t.log, 'C'));
      fail_from = 1000000;
      CU_ASSERT_EQUAL(dWorldStep(world, H), 1);
    }
    dWorldDestroy(world);
    CU_ASSERT_EQUAL(n_blocks, 0);
  }
  CU_ASSERT(n_failed >= 3 && n_failed < 100);
}

/* --- threads ------------------------------------------------------------- */

static void test_threads(void) {
  const unsigned counts[] = {1, 3};
  for (int c = 0; c < 2; c++) {
    toy t;
    dWorldID world = create_toy_world(&t);
    dThreadingImplementationID threading =
        dThreadingAllocateMultiThreadedImplementation();
    dThreadingThreadPoolID pool = dThreadingAllocateThreadPool(
        counts[c], 0, dAllocateFlagBasicData, NULL);
    dThreadingThreadPoolServeMultiThreadedImplementation(pool, threading);
    dWorldSetStepThreadingImplementation(
        world, dThreadingImplementationGetFunctions(threading), threading);
    dBodyID b[20];
    for (int i = 0; i < 20; i++) b[i] = body_at(world, i);
    CU_ASSERT_EQUAL(dWorldStep(world, H), 1);
    CU_ASSERT_STRING_EQUAL(t.log,
                           "PBSSSSSSSSSSSSSSSSSSSS"
                           "CCCCCCCCCCCCCCCCCCCCE");
    CU_ASSERT(t.in_pool);
    CU_ASSERT_FALSE(t.commit_in_pool);
    CU_ASSERT_FALSE(t.out_of_order);

    /* an island that fails fails the step for all */
    uint64_t before = hash_bodies(b, 20);
    t.fail_island = 7;
    CU_ASSERT_EQUAL(dWorldStep(world, H), 0);
    CU_ASSERT_EQUAL(hash_bodies(b, 20), before);
    t.fail_island = 0;
    CU_ASSERT_EQUAL(dWorldStep(world, H), 1);
    dWorldDestroy(world);
    dThreadingImplementationShutdownProcessing(threading);
    dThreadingFreeThreadPool(pool);
    dThreadingFreeImplementation(threading);
  }
}

/* --- setting and releasing ----------------------------------------------- */

static void test_setting_and_releasing(void) {
  toy t, next = {.lock = PTHREAD_MUTEX_INITIALIZER};
  dWorldID world = create_toy_world(&t);
  CU_ASSERT_PTR_EQUAL(dWorldGetStepper(world), &TOY);
  CU_ASSERT_PTR_EQUAL(dWorldGetStepperContext(world), &t);

  /* what is not usable changes nothing */
  dStepperFunctions bad = TOY;
  bad.struct_size--;
  CU_ASSERT_EQUAL(dWorldSetStepper(world, &bad, &next), 0);
  bad = TOY;
  bad.commit = NULL;
  CU_ASSERT_EQUAL(dWorldSetStepper(world, &bad, &next), 0);
  CU_ASSERT_PTR_EQUAL(dWorldGetStepperContext(world), &t);
  CU_ASSERT_STRING_EQUAL(t.log, "");

  CU_ASSERT(dWorldSetStepper(world, &TOY, &next));
  CU_ASSERT_STRING_EQUAL(t.log, "R");
  CU_ASSERT_PTR_EQUAL(dWorldGetStepperContext(world), &next);
  CU_ASSERT(dWorldSetStepper(world, NULL, NULL));
  CU_ASSERT_STRING_EQUAL(next.log, "R");
  CU_ASSERT_PTR_NULL(dWorldGetStepper(world));

  /* the library's own steppers are back */
  dBodyID body = body_at(world, 0);
  CU_ASSERT_EQUAL(dWorldStep(world, H), 1);
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(body)[2], -10 * H,
                         of_host(1e-15, 1));
  dWorldDestroy(world);
  CU_ASSERT_STRING_EQUAL(next.log, "R");

  /* only commit has to be there */
  world = create_toy_world(&t);
  dStepperFunctions least = {.struct_size = sizeof least, .commit = toy_commit};
  CU_ASSERT(dWorldSetStepper(world, &least, &t));
  body = body_at(world, 0);
  CU_ASSERT_EQUAL(dWorldStep(world, H), 1);
  CU_ASSERT_STRING_EQUAL(t.log, "RC");
  dWorldDestroy(world);
}

static void attach_toy(void *context, dWorldID world) {
  dWorldSetStepper(world, &TOY, context);
}

static void test_worlds_to_come(void) {
  toy t = {.lock = PTHREAD_MUTEX_INITIALIZER};
  dSetStepperWorldCreatedFunction(attach_toy, &t);
  dWorldID ours = dWorldCreate();
  dSetStepperWorldCreatedFunction(NULL, NULL);
  dWorldID stock = dWorldCreate();
  CU_ASSERT_PTR_EQUAL(dWorldGetStepperContext(ours), &t);
  CU_ASSERT_PTR_NULL(dWorldGetStepper(stock));
  dWorldDestroy(ours);
  dWorldDestroy(stock);
  CU_ASSERT_STRING_EQUAL(t.log, "R");
}

/* --- services ------------------------------------------------------------ */

static void test_serials_are_not_used_again(void) {
  dWorldID world = dWorldCreate();
  unsigned long last = 0;
  for (int i = 0; i < 100; i++) {
    dBodyID body = dBodyCreate(world);
    CU_ASSERT(dBodyGetSerial(body) > last);
    last = dBodyGetSerial(body);
    dJointID joint = tie(world, body, NULL);
    CU_ASSERT(dJointGetSerial(joint) > last);
    last = dJointGetSerial(joint);
    dJointDestroy(joint);
    if (i % 3 != 0) dBodyDestroy(body);
  }
  dWorldDestroy(world);

  /* each world counts for itself */
  world = dWorldCreate();
  CU_ASSERT_EQUAL(dBodyGetSerial(dBodyCreate(world)), 1);
  dWorldDestroy(world);
}

/* A motor that runs into its stops, on the library's own stepper. */
static uint64_t run_motor(bool read_rows) {
  dWorldID world = dWorldCreate();
  dWorldSetGravity(world, 0, 0, -10);
  dBodyID b[2] = {body_at(world, 0), body_at(world, 1)};
  dJointID hinge = dJointCreateHinge(world, 0);
  dJointAttach(hinge, b[0], b[1]);
  dJointSetHingeAxis(hinge, 0, 1, 0);
  dJointSetHingeParam(hinge, dParamLoStop, -0.1);
  dJointSetHingeParam(hinge, dParamHiStop, 0.1);
  dJointSetHingeParam(hinge, dParamVel, 3);
  dJointSetHingeParam(hinge, dParamFMax, 0.2);
  dJointSetHingeParam(hinge, dParamFudgeFactor, 0.3);
  dJointFeedback feedback = {{0}}; /* its fourth numbers are nobody's */
  dJointSetFeedback(hinge, &feedback);
  uint64_t hash = 0;
  unsigned most_rows = 0;
  for (int step = 0; step < 60; step++) {
    for (int i = 0; read_rows && i < 3; i++) {
      dStepperJointRows rows;
      CU_ASSERT(dJointGetStepperRows(hinge, 100.0 * i + 1, 0.3 * i, &rows));
      CU_ASSERT_PTR_EQUAL(rows.body[0], b[0]);
      most_rows = rows.count > most_rows ? rows.count : most_rows;
    }
    dWorldStep(world, H);
    hash = hash * 31 + hash_bodies(b, 2);
    const unsigned char *bytes = (const unsigned char *)&feedback;
    for (size_t i = 0; i < sizeof feedback.f1; i++) hash = hash * 31 + bytes[i];
  }
  CU_ASSERT_EQUAL(most_rows, read_rows ? 6 : 0); /* it was at a stop */
  dWorldDestroy(world);
  return hash;
}

static void test_reading_rows_leaves_no_trace(void) {
  CU_ASSERT_EQUAL(run_motor(true), run_motor(false));
}

static void test_contacts_and_results(void) {
  dWorldID world = dWorldCreate();
  dBodyID body = body_at(world, 0);
  dSurfaceParameters surface = bare_surface(dContactApprox1, 0.25);
  dContact contact = contact_at(&surface, 1, 2, 3, 0.5);
  dJointID touch = dJointCreateContact(world, 0, &contact);
  dJointAttach(touch, body, 0);
  const dContact *read = dJointGetStepperContact(touch);
  CU_ASSERT_PTR_NOT_NULL_FATAL(read);
  CU_ASSERT_EQUAL(read->geom.depth, 0.5);
  CU_ASSERT_EQUAL(read->surface.mu, 0.25);
  CU_ASSERT_PTR_NULL(dJointGetStepperContact(tie(world, body, NULL)));

  dJointFeedback feedback;
  dJointSetFeedback(touch, &feedback);
  const dReal lambda[1] = {3};
  const dReal force[2][6] = {{1, 2, 3, 4, 5, 6}, {-1, -2, -3, 7, 8, 9}};
  dJointSetStepperResult(touch, 1, lambda, force);
  for (int i = 0; i < 3; i++) {
    CU_ASSERT_EQUAL(feedback.f1[i], force[0][i]);
    CU_ASSERT_EQUAL(feedback.t1[i], force[0][3 + i]);
    CU_ASSERT_EQUAL(feedback.f2[i], force[1][i]);
    CU_ASSERT_EQUAL(feedback.t2[i], force[1][3 + i]);
  }
  dWorldDestroy(world);
}

static int n_moved;
static double moved_to, moved_at_speed;

static void on_moved(dBodyID body) {
  n_moved++;
  moved_to = dBodyGetPosition(body)[0];
  moved_at_speed = dBodyGetLinearVel(body)[0];
}

/* --- moving bodies ------------------------------------------------------- */

/* A stepper that moves the bodies by the velocity that is its context; NULL: by
 * their own. */
static void move(void *context, const dStepperIsland *island) {
  for (unsigned i = 0; i < island->bodies_count; i++) {
    if (context == NULL)
      dBodyStepperAdvance(island->bodies[i], island->stepsize);
    else
      dBodyStepperMove(island->bodies[i], island->stepsize, context);
  }
}

static const dStepperFunctions MOVER = {
    .struct_size = sizeof(dStepperFunctions), .commit = move};

static dWorldID create_mover_world(dReal velocity[6]) {
  dWorldID world = dWorldCreate();
  CU_ASSERT(dWorldSetStepper(world, &MOVER, velocity));
  return world;
}

static void test_moving_by_another_velocity(void) {
  dReal velocity[6] = {5, 1, 0, 0, 0, -3};
  dWorldID world = create_mover_world(velocity);
  dSpaceID space = dSimpleSpaceCreate(0);
  dBodyID body = body_at(world, 1);
  dGeomID geom = dCreateSphere(space, 0.5);
  dGeomSetBody(geom, body);
  dReal box[6];
  dGeomGetAABB(geom, box); /* to be made anew */
  dBodySetLinearVel(body, 2, 0, 0);
  dBodySetAngularVel(body, 0, 0, 4);
  dBodySetLinearDamping(body, 0.1);
  dBodySetAngularDamping(body, 0.2);
  dBodySetMovedCallback(body, on_moved);
  dBodyAddForce(body, 1, 1, 1);
  dBodyAddTorque(body, 1, 1, 1);
  n_moved = 0;
  CU_ASSERT_EQUAL(dWorldStep(world, 0.1), 1);

  const dReal *x = dBodyGetPosition(body), *R = dBodyGetRotation(body);
  CU_ASSERT_DOUBLE_EQUAL(x[0], 1.5, 1e-15);
  CU_ASSERT_DOUBLE_EQUAL(x[1], 0.1, of_host(1e-15, 1));
  /* q+ = q + h dq, normalised: the tangent of the half angle is h w / 2 */
  CU_ASSERT_DOUBLE_EQUAL(atan2(R[4], R[0]), -2 * atan(0.15), of_host(1e-12, 1));
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(body)[0], 2 * 0.9,
                         of_host(1e-15, 1));
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetAngularVel(body)[2], 4 * 0.8,
                         of_host(1e-15, 1));
  CU_ASSERT_EQUAL(n_moved, 1);
  CU_ASSERT_DOUBLE_EQUAL(moved_to, 1.5, 1e-15);
  CU_ASSERT_EQUAL(moved_at_speed, 2); /* before damping */
  dGeomGetAABB(geom, box);
  CU_ASSERT_DOUBLE_EQUAL(box[0], 1, 1e-12);
  for (int i = 0; i < 3; i++) {
    CU_ASSERT_EQUAL(dBodyGetForce(body)[i], 0);
    CU_ASSERT_EQUAL(dBodyGetTorque(body)[i], 0);
  }
  dSpaceDestroy(space);
  dWorldDestroy(world);
}

static void test_moving_caps_both_spins(void) {
  dReal velocity[6] = {0, 0, 0, 0, 0, -10};
  dWorldID world = create_mover_world(velocity);
  dBodyID body = body_at(world, 0);
  dBodySetAngularVel(body, 0, 0, 8);
  dBodySetMaxAngularSpeed(body, 2);
  CU_ASSERT_EQUAL(dWorldStep(world, 0.1), 1);
  const dReal *R = dBodyGetRotation(body);
  CU_ASSERT_DOUBLE_EQUAL(atan2(R[4], R[0]), -2 * atan(0.1), of_host(1e-12, 1));
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetAngularVel(body)[2], 2, 1e-12);
  dWorldDestroy(world);
}

/* By its own velocity it is dBodyStepperAdvance, in every rotation mode. */
static void test_moving_by_the_own_velocity(void) {
  dReal velocity[6] = {1, 2, 3, 4, -5, 6};
  for (int mode = 0; mode < 3; mode++) {
    dWorldID worlds[2] = {create_mover_world(NULL),
                          create_mover_world(velocity)};
    dBodyID b[2];
    for (int i = 0; i < 2; i++) {
      b[i] = create_ball(worlds[i], 1, 0.1);
      dBodySetLinearVel(b[i], 1, 2, 3);
      dBodySetAngularVel(b[i], 4, -5, 6);
      dBodySetFiniteRotationMode(b[i], mode > 0);
      if (mode == 2) dBodySetFiniteRotationAxis(b[i], 0, 1, 0);
      for (int step = 0; step < 20; step++)
        CU_ASSERT_EQUAL(dWorldStep(worlds[i], 0.02), 1);
    }
    CU_ASSERT_EQUAL(hash_bodies(&b[0], 1), hash_bodies(&b[1], 1));
    CU_ASSERT(fabs(dBodyGetQuaternion(b[0])[1]) > 0.1);
    for (int i = 0; i < 2; i++) dWorldDestroy(worlds[i]);
  }
}

static bool is_joint(const dWorldJoint *told, dJointID joint, dBodyID first,
                     dBodyID second) {
  return told->joint == joint && told->body[0] == first &&
         told->body[1] == second && told->body[0] == dJointGetBody(joint, 0) &&
         told->body[1] == dJointGetBody(joint, 1) &&
         told->feedback == dJointGetFeedback(joint) &&
         told->enabled == dJointIsEnabled(joint);
}

/* In order of creation, whatever went in between. */
static void test_joints_of_a_world(void) {
  dWorldID world = dWorldCreate();
  dBodyID one = create_ball(world, 1, 0.1), two = create_ball(world, 2, 0.3);
  dWorldJoint told[6];
  CU_ASSERT_EQUAL(dWorldGetJoints(world, NULL, 0), 0);

  dContact contact = {.surface = {.mode = dContactBounce, .bounce = 0.25},
                      .geom = {.normal = {0, 0, 1}, .depth = 0.125}};
  dJointFeedback force;
  dJointID joints[] = {
      dJointCreateHinge(world, NULL), dJointCreateFixed(world, NULL),
      dJointCreateContact(world, NULL, &contact), dJointCreateBall(world, NULL),
      dJointCreateSlider(world, NULL)};
  dJointAttach(joints[0], one, two);
  dJointDestroy(joints[1]);
  dJointAttach(joints[2], NULL, two); // the host holds it the other way round
  dJointSetFeedback(joints[2], &force);
  dJointAttach(joints[4], two, NULL);
  dJointDisable(joints[4]);

  CU_ASSERT_EQUAL(dWorldGetJoints(world, told, 6), 4);
  CU_ASSERT(is_joint(&told[0], joints[0], one, two));
  CU_ASSERT(is_joint(&told[1], joints[2], NULL, two));
  CU_ASSERT(is_joint(&told[2], joints[3], NULL, NULL));
  CU_ASSERT(is_joint(&told[3], joints[4], two, NULL));
  CU_ASSERT_FALSE(told[3].enabled);
  CU_ASSERT_PTR_EQUAL(told[1].feedback, &force);
  CU_ASSERT_PTR_NULL(told[0].contact);
  CU_ASSERT_PTR_EQUAL(told[1].contact, dJointGetStepperContact(joints[2]));
  CU_ASSERT_EQUAL(told[1].contact->surface.bounce, 0.25);
  CU_ASSERT_EQUAL(told[1].contact->geom.depth, 0.125);

  told[2].joint = NULL; // room for the first two alone
  CU_ASSERT_EQUAL(dWorldGetJoints(world, told, 2), 4);
  CU_ASSERT(is_joint(&told[1], joints[2], NULL, two));
  CU_ASSERT_PTR_NULL(told[2].joint);
  dWorldDestroy(world);
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"calls come in order", test_calls_come_in_order},
      {"an empty world steps", test_an_empty_world_steps},
      {"islands", test_islands},
      {"a failed step changes nothing", test_a_failed_step_changes_nothing},
      {"failed steps and sleep", test_failed_steps_do_not_count_for_sleep},
      {"memory manager", test_memory_manager},
      {"shared working memory", test_shared_working_memory},
      {"memory fails", test_memory_fails},
      {"threads", test_threads},
      {"setting and releasing", test_setting_and_releasing},
      {"worlds to come", test_worlds_to_come},
      {"serials are not used again", test_serials_are_not_used_again},
      {"reading rows leaves no trace", test_reading_rows_leaves_no_trace},
      {"contacts and results", test_contacts_and_results},
      {"moving by another velocity", test_moving_by_another_velocity},
      {"moving caps both spins", test_moving_caps_both_spins},
      {"moving by the own velocity", test_moving_by_the_own_velocity},
      {"joints of a world", test_joints_of_a_world},
      CU_TEST_INFO_NULL};
  return run_host_tests("host: stepper interface", tests);
}
