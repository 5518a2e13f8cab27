/* The same world gives the same bits: on any number of threads, wherever its
 * objects are in memory, whatever other worlds do. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../demos/scenes/scene.h"
#include "host_rounding.h"
#include "step_testing.h"
#include "stepper/process.h"

enum { STEPS = 40 };
static const double H = 0.01;

typedef struct run {
  scene *scene;
  uint64_t hashes[STEPS]; /* of the state after each step */
  int steps;
} run;

/* Bodies that tumble into each other, and stacks aside: many islands, of which
 * some merge and some fall asleep. */
static run create_run(const ode_mlcp_options *options) {
  scene *s = scene_pit(18);
  for (int stack = 0; stack < 6; stack++)
    for (int i = 0; i < 3; i++) {
      dBodyID box =
          scene_add_box(s, 30 + 3 * stack, 0.02 * i, 0.499 + 0.999 * i, 1, 1, 1,
                        1000 + 100 * stack);
      dBodySetAutoDisableFlag(box, stack % 2);
    }
  dBodyID before = NULL;
  for (int i = 0; i < 4; i++) {
    dBodyID link = scene_add_capsule(s, 60 + i, 0, 5, 0.1, 0.5, 1000);
    joint_hinge(s->world, link, before, 59.5 + i, 0, 5, 0, 1, 0.1 * i);
    before = link;
  }
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(s->world, options), ODE_MLCP_OK);
  return (run){.scene = s};
}

static void take_step(run *r) {
  CU_ASSERT_EQUAL_FATAL(scene_step(r->scene, dWorldStep, H), 1);
  r->hashes[r->steps++] = hash_bodies(r->scene->bodies, r->scene->n_bodies);
}

static void finish(run *r) {
  while (r->steps < STEPS) take_step(r);
  scene_destroy(r->scene);
  r->scene = NULL;
}

static bool same(const run *a, const run *b) {
  return memcmp(a->hashes, b->hashes, sizeof a->hashes) == 0;
}

static run reference_run(void) {
  run r = create_run(NULL);
  finish(&r);
  return r;
}

/* --- one thread ---------------------------------------------------------- */

static void test_two_runs(void) {
  run first = reference_run(), second = reference_run();
  CU_ASSERT(same(&first, &second));
  for (int i = 1; i < STEPS; i++)
    CU_ASSERT_NOT_EQUAL(first.hashes[i], first.hashes[i - 1]);

  /* negative control: a nanometre per second is noticed, or what the host has of one */
  run third = create_run(NULL);
  take_step(&third);
  const dReal *v = dBodyGetLinearVel(third.scene->bodies[4]);
  dBodySetLinearVel(third.scene->bodies[4], v[0], v[1],
                    v[2] + of_host(1e-9, 1));
  finish(&third);
  CU_ASSERT_EQUAL(first.hashes[0], third.hashes[0]);
  CU_ASSERT_NOT_EQUAL(first.hashes[1], third.hashes[1]);
}

static void test_both_steppers_are_one(void) {
  run first = reference_run(), quick = create_run(NULL);
  for (int i = 0; i < STEPS; i++) {
    CU_ASSERT_EQUAL(scene_step(quick.scene, dWorldQuickStep, H), 1);
    quick.hashes[i] = hash_bodies(quick.scene->bodies, quick.scene->n_bodies);
  }
  CU_ASSERT(same(&first, &quick));
  scene_destroy(quick.scene);
}

static void test_measuring_changes_nothing(void) {
  ode_mlcp_options options = default_options();
  options.measure = 1;
  run first = reference_run(), measured = create_run(&options);
  finish(&measured);
  CU_ASSERT(same(&first, &measured));
}

static void test_worlds_do_not_meet(void) {
  run first = reference_run(), a = create_run(NULL), b = create_run(NULL);
  for (int i = 0; i < STEPS; i++) {
    take_step(&a);
    if (i % 3 != 0) take_step(&b);
  }
  finish(&a);
  finish(&b);
  CU_ASSERT(same(&first, &a));
  CU_ASSERT(same(&first, &b));
}

/* QuickStep draws from the host's random numbers; a program may do so, too. */
static void test_random_numbers_are_the_programs(void) {
  run r = create_run(NULL);
  dRandSetSeed(4711);
  finish(&r);
  CU_ASSERT_EQUAL(dRandGetSeed(), 4711);

  run stock = create_run(NULL);
  ode_mlcp_detach(stock.scene->world);
  for (int i = 0; i < 20; i++) scene_step(stock.scene, dWorldQuickStep, H);
  CU_ASSERT_NOT_EQUAL(dRandGetSeed(), 4711);
  scene_destroy(stock.scene);
}

/* --- memory the host shares ---------------------------------------------- */

static void test_shared_working_memory(void) {
  run first = reference_run(), a = create_run(NULL), b = create_run(NULL);
  dWorldStepReserveInfo policy = {sizeof policy, 1.1f, 1000};
  CU_ASSERT(dWorldSetStepMemoryReservationPolicy(a.scene->world, &policy));
  CU_ASSERT(dWorldUseSharedWorkingMemory(b.scene->world, a.scene->world));
  for (int i = 0; i < STEPS / 2; i++) {
    take_step(&a);
    take_step(&b);
    if (i % 7 == 0) dWorldCleanupWorkingMemory(a.scene->world);
  }
  finish(&a); /* and the other goes on with what they shared */
  finish(&b);
  CU_ASSERT(same(&first, &a));
  CU_ASSERT(same(&first, &b));
}

/* --- addresses ----------------------------------------------------------- */

static void test_addresses_do_not_matter(void) {
  enum { N = 200 };
  run first = reference_run();
  for (int round = 0; round < 4; round++) {
    /* holes in memory, freed in another order each time, for what comes */
    dWorldID other = dWorldCreate();
    dBodyID bodies[N];
    void *blocks[N];
    for (int i = 0; i < N; i++) {
      bodies[i] = dBodyCreate(other);
      blocks[i] = malloc((size_t)(40 + 37 * (i * round % 50)));
    }
    for (int i = 0; i < N; i++) {
      int k = (i * (2 * round + 3)) % N;
      if (round % 2 != 0) k = N - 1 - i;
      if (bodies[k] != NULL) dBodyDestroy(bodies[k]);
      bodies[k] = NULL;
      if (k % 2 != 0) {
        free(blocks[k]);
        blocks[k] = NULL;
      }
    }
    run next = create_run(NULL);
    finish(&next);
    CU_ASSERT(same(&first, &next));
    for (int i = 0; i < N; i++) free(blocks[i]);
    dWorldDestroy(other);
  }
}

/* Bodies and joints that come and go leave no trace in those that stay. */
static void test_reused_addresses(void) {
  uint64_t hashes[2][STEPS];
  for (int way = 0; way < 2; way++) {
    scene *s = scene_stack(4, 1);
    ode_mlcp_attach(s->world, NULL);
    for (int i = 0; i < STEPS; i++) {
      dBodyID guest = dBodyCreate(s->world);
      dBodySetPosition(guest, 50, 50, 50);
      if (way == 1) {
        /* one more in between, so that the next is elsewhere */
        dBodyID passing = dBodyCreate(s->world);
        dBodyDestroy(guest);
        guest = passing;
        dBodySetPosition(guest, 50, 50, 50);
      }
      CU_ASSERT_EQUAL_FATAL(scene_step(s, dWorldStep, H), 1);
      hashes[way][i] = hash_bodies(s->bodies, s->n_bodies);
      dBodyDestroy(guest);
    }
    scene_destroy(s);
  }
  CU_ASSERT_EQUAL(memcmp(hashes[0], hashes[1], sizeof hashes[0]), 0);
}

static void test_many_worlds(void) {
  uint64_t first = 0;
  for (int i = 0; i < 2001; i++) {
    scene *s = scene_stack(2, 1);
    ode_mlcp_attach(s->world, NULL);
    for (int step = 0; step < 3; step++) scene_step(s, dWorldStep, H);
    uint64_t hash = hash_bodies(s->bodies, s->n_bodies);
    if (i == 0) first = hash;
    CU_ASSERT_EQUAL(hash, first);
    scene_destroy(s);
  }
}

/* --- threads ------------------------------------------------------------- */

/* A source that notes whether a thread of the pool asked for memory. */
static pthread_t main_thread;
static bool pool_worked;

static void *allocate_noting_thread(void *context, size_t size) {
  (void)context;
  if (!pthread_equal(pthread_self(), main_thread))
    __atomic_store_n(&pool_worked, true, __ATOMIC_RELAXED);
  return malloc(size);
}
static void release(void *context, void *block, size_t size) {
  (void)context;
  (void)size;
  free(block);
}
static const memory_source noting_memory = {allocate_noting_thread, release,
                                            NULL};

static void run_on_threads(run *r, unsigned threads) {
  dThreadingImplementationID threading =
      dThreadingAllocateMultiThreadedImplementation();
  dThreadingThreadPoolID pool =
      dThreadingAllocateThreadPool(threads, 0, dAllocateFlagBasicData, NULL);
  CU_ASSERT_PTR_NOT_NULL_FATAL(threading);
  CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
  dThreadingThreadPoolServeMultiThreadedImplementation(pool, threading);

  main_thread = pthread_self();
  pool_worked = false;
  process_set_memory(&noting_memory);
  *r = create_run(NULL);
  process_set_memory(&memory_from_malloc);
  dWorldSetStepThreadingImplementation(
      r->scene->world, dThreadingImplementationGetFunctions(threading),
      threading);
  dWorldSetStepIslandsProcessingMaxThreadCount(r->scene->world, threads);
  finish(r);
  CU_ASSERT(pool_worked);

  dThreadingImplementationShutdownProcessing(threading);
  dThreadingFreeThreadPool(pool);
  dThreadingFreeImplementation(threading);
}

static void test_threads(void) {
  run first = reference_run(), threaded;
  const unsigned counts[] = {1, 2, 4};
  for (int i = 0; i < 3; i++)
    for (int round = 0; round < 3; round++) {
      run_on_threads(&threaded, counts[i]);
      CU_ASSERT(same(&first, &threaded));
    }
}

/* The world's own threads, by its settings, which may change on the way. */
static void test_threads_by_setting(void) {
  run first = reference_run(), threaded;
  const int counts[] = {1, 2, 5};
  ode_mlcp_options options = default_options();
  for (int i = 0; i < 3; i++) {
    options.threads = counts[i];
    main_thread = pthread_self();
    pool_worked = false;
    process_set_memory(&noting_memory);
    threaded = create_run(&options);
    process_set_memory(&memory_from_malloc);
    while (threaded.steps < STEPS / 3) take_step(&threaded);
    CU_ASSERT(pool_worked);
    options.threads = 3 - counts[i] % 2 * 3; // other ones, or none
    CU_ASSERT_EQUAL(ode_mlcp_attach(threaded.scene->world, &options), 0);
    while (threaded.steps < STEPS * 2 / 3) take_step(&threaded);
    CU_ASSERT_EQUAL(ode_mlcp_detach(threaded.scene->world), 0);
    CU_ASSERT_EQUAL(ode_mlcp_attach(threaded.scene->world, NULL), 0);
    while (threaded.steps < STEPS) take_step(&threaded);
    scene_destroy(threaded.scene);
    CU_ASSERT_EQUAL(memcmp(threaded.hashes, first.hashes,
                           sizeof *first.hashes * (STEPS * 2 / 3)),
                    0); // a detached world forgets what contacts did
  }
}

static void *finish_in_thread(void *r) {
  dAllocateODEDataForThread(dAllocateMaskAll);
  finish(r);
  dCleanupODEAllDataForThread();
  return NULL;
}

/* A world for each thread of the program. The host's default threading is one
 * for all worlds and bears no second thread, so each has its own. */
static void test_worlds_in_parallel(void) {
  run first = reference_run(), r[3];
  pthread_t threads[3];
  dThreadingImplementationID threading[3];
  for (int i = 0; i < 3; i++) {
    r[i] = create_run(NULL);
    threading[i] = dThreadingAllocateSelfThreadedImplementation();
    dWorldSetStepThreadingImplementation(
        r[i].scene->world, dThreadingImplementationGetFunctions(threading[i]),
        threading[i]);
  }
  for (int i = 0; i < 3; i++)
    CU_ASSERT_EQUAL(pthread_create(&threads[i], NULL, finish_in_thread, &r[i]),
                    0);
  for (int i = 0; i < 3; i++) {
    pthread_join(threads[i], NULL);
    CU_ASSERT(same(&first, &r[i]));
    dThreadingFreeImplementation(threading[i]);
  }
}

/* With an argument only the tests of threads run. */
int main(int argc, char **argv) {
  (void)argv;
  dInitODE2(0);
  dAllocateODEDataForThread(dAllocateMaskAll);
  const CU_TestInfo tests[] = {
      {"two runs", test_two_runs},
      {"dWorldStep and dWorldQuickStep", test_both_steppers_are_one},
      {"measuring changes nothing", test_measuring_changes_nothing},
      {"worlds do not meet", test_worlds_do_not_meet},
      {"random numbers are the program's",
       test_random_numbers_are_the_programs},
      {"shared working memory", test_shared_working_memory},
      {"addresses do not matter", test_addresses_do_not_matter},
      {"reused addresses", test_reused_addresses},
      {"2001 worlds", test_many_worlds},
      {"threads", test_threads},
      {"threads by a setting", test_threads_by_setting},
      {"worlds in parallel", test_worlds_in_parallel},
      CU_TEST_INFO_NULL};
  const CU_TestInfo *of_threads = tests;
  while (of_threads->pTestFunc != test_threads) of_threads++;
  int status = run_tests("step: determinism", argc > 1 ? of_threads : tests);
  dCloseODE();
  return status;
}
