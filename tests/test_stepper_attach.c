/* A world's stepper from attaching to the end: threads that are not to be had, memory of
 * the host that goes back, what a report says of what was not measured. */
#define _GNU_SOURCE // RTLD_NEXT
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "host_testing.h"
#include "scheme_scene.h"

/* --- threads --------------------------------------------------------------------- */

typedef int create_thread(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);

static int n_threads, most_threads = 1000;

/* Stands before the C library's, for the host's library as for this program. */
__attribute__((visibility("default"))) int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
               void *(*start)(void *), void *argument) {
  create_thread *create = (create_thread *)dlsym(RTLD_NEXT, "pthread_create");
  if (n_threads >= most_threads) return EAGAIN;
  n_threads++;
  return create(thread, attributes, start, argument);
}

static void set_threads(dWorldID world, int threads) {
  ode_mlcp_options options = default_options();
  options.threads = threads;
  CU_ASSERT_EQUAL(ode_mlcp_attach(world, &options), ODE_MLCP_OK);
}

/* Of four threads two can be had: the world steps without, says so once, and has them
 * as soon as they are asked for when they are to be had. */
static void test_threads_that_cannot_be_had(void) {
  dWorldID world = dWorldCreate();
  dBodyCreate(world);
  listen_to_host("");
  most_threads = n_threads + 2;
  set_threads(world, 4);
  CU_ASSERT_PTR_NOT_NULL(strstr(last_heard, "no 4 threads to be had"));
  CU_ASSERT_EQUAL(dWorldStep(world, 0.01), 1);

  most_threads = 1000;
  n_threads = 0;
  set_threads(world, 4);
  CU_ASSERT_EQUAL(n_threads, 4);
  CU_ASSERT_EQUAL(dWorldStep(world, 0.01), 1);
  set_threads(world, 4); /* it has them */
  CU_ASSERT_EQUAL(n_threads, 4);
  dWorldDestroy(world);
}

/* --- memory of the host --------------------------------------------------------------- */

static long n_blocks; /* of the host's that are in use */

static void *allocate(dsizeint size) {
  n_blocks++;
  return malloc(size);
}

static void *reallocate(void *block, dsizeint old_size, dsizeint size) {
  (void)old_size;
  return realloc(block, size);
}

static void release(void *block, dsizeint size) {
  (void)size;
  n_blocks -= block != NULL;
  free(block);
}

/* A bullet meets a thin plate, found by the program's collision function or in its
 * space: what was made of the host to look for it goes with the world. */
static long blocks_left(const char *scheme, bool in_spaces) {
  char settings[40];
  scene s;
  long before = n_blocks;
  snprintf(settings, sizeof settings, "scheme=%s", scheme);
  open_scene(&s, settings, 0);
  if (in_spaces)
    CU_ASSERT_EQUAL(ode_mlcp_set_collision(s.world, NULL, NULL), ODE_MLCP_OK);
  dGeomID plate = dCreateBox(s.space, 0.01, 1, 1);
  dGeomSetPosition(plate, 3, 0, 0);
  dBodyID ball = add_ball(&s, 0, 0);
  dBodySetLinearVel(ball, 400, 0, 0);
  CU_ASSERT_EQUAL(dWorldStep(s.world, 0.01), 1);
  CU_ASSERT(dBodyGetPosition(ball)[0] < 3);
  scene_close(&s);
  return n_blocks - before;
}

static void test_the_hosts_memory_goes_back(void) {
  static const char *const schemes[] = {
      "ah", "ap", "st", "gap", "trapezoid-1", "trapezoid", "conserving"};
  blocks_left("ah", false); /* what the host keeps for all worlds */
  for (int k = 0; k < 7; k++)
    for (int in_spaces = 0; in_spaces < 2; in_spaces++)
      CU_ASSERT_EQUAL(blocks_left(schemes[k], in_spaces), 0);
}

/* --- what is not measured --------------------------------------------------------- */

static void test_what_is_not_measured_is_no_number(void) {
  for (int measures = 0; measures < 2; measures++) {
    ode_mlcp_options options;
    ode_mlcp_report report;
    ode_mlcp_default_options(&options);
    options.measure = measures;
    dWorldID world = dWorldCreate();
    dBodyCreate(world);
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(world, &options), ODE_MLCP_OK);
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(world, 0.01, &report), ODE_MLCP_OK);
    CU_ASSERT_EQUAL(!isnan(report.kinetic_energy), measures);
    CU_ASSERT_EQUAL(!isnan(report.potential_energy), measures);
    CU_ASSERT_EQUAL(!isnan(report.spring_energy), measures);
    CU_ASSERT_EQUAL(!isnan(report.force_work), measures);
    CU_ASSERT_EQUAL(!isnan(report.deepest_penetration), measures);
    CU_ASSERT_EQUAL(!isnan(report.worst_joint_error), measures);
    dWorldDestroy(world);
  }
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"threads that cannot be had", test_threads_that_cannot_be_had},
      {"the host's memory goes back", test_the_hosts_memory_goes_back},
      {"what is not measured is no number",
       test_what_is_not_measured_is_no_number},
      CU_TEST_INFO_NULL};
  dSetAllocHandler(allocate);
  dSetReallocHandler(reallocate);
  dSetFreeHandler(release);
  return run_host_tests("stepper: from attaching to the end", tests);
}
