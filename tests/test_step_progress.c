/* A step that took long says so, through the host's message handler, the first time, the
 * 10th, the 100th ..; nothing of it bears on what is computed. */
#include <stdio.h>
#include <unistd.h>

#include "step_testing.h"

/* A force that takes its time to be told. */
static unsigned pause_us;

static void pull(void *context, dBodyID body, const ode_mlcp_body_state *state,
                 double force[6], double k_q[36], double k_v[36]) {
  (void)context, (void)body, (void)state, (void)k_q, (void)k_v;
  force[0] = 1;
  usleep(pause_us);
  pause_us = 0; /* it is called several times a step */
}

static dWorldID slow_world(dBodyID *ball) {
  ode_mlcp_options options = options_under(ODE_MLCP_SCHEME_ST);
  ode_mlcp_force *force;
  dWorldID world = create_world(9.81, &options);
  *ball = create_ball(world, 1, 0.5);
  joint_ball(world, *ball, NULL, 1, 0, 0);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_force_create(*ball, pull, NULL, &force),
                        ODE_MLCP_OK);
  return world;
}

static void test_a_slow_step_tells(void) {
  dBodyID ball, other;
  dWorldID world = slow_world(&ball), quick = slow_world(&other);
  listen_to_host("took");
  dWorldStep(world, 0.01);
  CU_ASSERT_EQUAL(n_heard, 0);
  pause_us = 1100000;
  dWorldStep(world, 0.01);
  CU_ASSERT_EQUAL(n_heard, 1);
  CU_ASSERT(strstr(last_heard, "step 2: took") != NULL);
  for (int i = 0; i < 3; i++) {
    pause_us = i == 0 ? 1050000 : 0;
    dWorldStep(world, 0.01);
  }
  CU_ASSERT_EQUAL(n_heard, 1);

  /* and computes what a quick one does */
  for (int i = 0; i < 5; i++) dWorldStep(quick, 0.01);
  CU_ASSERT_EQUAL(memcmp(dBodyGetPosition(ball), dBodyGetPosition(other),
                         3 * sizeof(dReal)),
                  0);
  dWorldDestroy(world);
  dWorldDestroy(quick);
}

int main(void) {
  const CU_TestInfo tests[] = {{"a slow step tells", test_a_slow_step_tells},
                               CU_TEST_INFO_NULL};
  return run_host_tests("progress of slow steps", tests);
}
