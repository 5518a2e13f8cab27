/* A scheme that the stepper has never heard of, all in this file: bodies keep
 * their velocities but for what joints leave of them, weight and forces do
 * nothing. */
#include <math.h>
#include <string.h>

#include "failing_memory.h"
#include "schemes/schemes.h"
#include "host_rounding.h"
#include "step_testing.h"
#include "stepper/process.h"

enum { DRIFT = 1000, DRIFT_ALONE };

static int n_committed, n_solved;

typedef struct drift {
  scheme_state base;
  world_snapshot world;
  double v[600];
} drift;

static bool drift_solve(void *state, scheme_step *step) {
  drift *s = state;
  n_solved++;
  const world_settings settings = scheme_settings(step);
  if (!world_read(&s->world, &settings, step->islands, step->n_islands,
                  step->out))
    return false;
  for (int i = 0; i < 6 * s->world.n_bodies; i++)
    s->v[i] = s->world.bodies[i / 6].v[i % 6];
  const assembly_request request = {
      .world = &s->world,
      .options = step->options,
      .level = JOINT_LEVEL_POSITION,
      .erp = s->world.erp,
      .step_size = step->step_size,
      .share = 1,
      .v = s->v,
      .x_free = s->v,
      .slip_floor = assembly_slip_floor(s->world.gravity, step->step_size)};
  if (!assembly_solve(s->base.assembly, &request, step->out)) return false;
  for (int b = 0; b < s->world.n_bodies; b++) {
    body_result *result = &step->bodies[b];
    memset(result, 0, sizeof *result);
    result->kinematic = s->world.bodies[b].kinematic;
    memcpy(result->v, assembly_x(s->base.assembly) + 6 * b, sizeof result->v);
    step->out->report.bodies++;
  }
  assembly_add_forces(s->base.assembly, step->step_size, step->joints);
  return true;
}

static void drift_committed(void *state) {
  (void)state;
  n_committed++;
}

static bool drift_v_alpha(const void *state, dBodyID body, double velocity[6]) {
  (void)state;
  (void)body;
  for (int i = 0; i < 6; i++) velocity[i] = 42;
  return true;
}

static const scheme SCHEME_DRIFT = {.id = DRIFT,
                                    .state_size = sizeof(drift),
                                    .solve = drift_solve,
                                    .committed = drift_committed,
                                    .v_alpha = drift_v_alpha};
static const scheme SCHEME_DRIFT_ALONE = {.id = DRIFT_ALONE,
                                          .by_island = true,
                                          .state_size = sizeof(drift),
                                          .solve = drift_solve};

/* A ball on a rod about the origin, and one alone. */
static dWorldID create_drifting_world(const char *name, dBodyID balls[2]) {
  char message[200];
  ode_mlcp_options options;
  ode_mlcp_default_options(&options);
  options.sweep = 0; // without memory for it a step is taken, and says so
  CU_ASSERT_EQUAL_FATAL(
      ode_mlcp_set_option(&options, "scheme", name, message, sizeof message),
      ODE_MLCP_OK);
  dWorldID world = create_world(9.81, &options);
  for (int b = 0; b < 2; b++) {
    balls[b] = create_ball(world, 2, 0.1);
    dBodySetPosition(balls[b], 1 + 2 * b, 0, 0);
    dBodySetLinearVel(balls[b], 1, 2, 0);
  }
  joint_ball(world, balls[0], NULL, 0, 0, 0);
  return world;
}

static void check_drift(const char *name, int n_solves) {
  dBodyID balls[2];
  failing_memory memory = {0};
  const memory_source *usual = process()->memory;
  const memory_source counted = failing_memory_source(&memory);
  process_set_memory(&counted);
  n_committed = n_solved = 0;
  dWorldID world = create_drifting_world(name, balls);
  ode_mlcp_report report;
  CU_ASSERT_EQUAL(ode_mlcp_step(world, 0.001, &report), ODE_MLCP_OK);
  CU_ASSERT_EQUAL(report.bodies, 2);
  CU_ASSERT_EQUAL(report.solves, 1);
  CU_ASSERT(report.residual < 1e-12);
  CU_ASSERT_EQUAL(n_solved, n_solves);

  /* no gravity for the one alone; the other's way along the rod is taken */
  const dReal *v = dBodyGetLinearVel(balls[1]);
  CU_ASSERT(v[0] == 1 && v[1] == 2 && v[2] == 0);
  v = dBodyGetLinearVel(balls[0]);
  const dReal *w = dBodyGetAngularVel(balls[0]);
  CU_ASSERT_DOUBLE_EQUAL(v[0], 0, 1e-6); /* the world's CFM */
  CU_ASSERT_DOUBLE_EQUAL(v[1], w[2], 1e-6);
  CU_ASSERT(memory.bytes_held > (long)sizeof(drift));
  dWorldDestroy(world);
  CU_ASSERT_EQUAL(memory.n_held, 0);
  process_set_memory(usual);
}

static void test_a_scheme_of_its_own(void) {
  char message[200];
  ode_mlcp_options options;
  ode_mlcp_default_options(&options);
  options.scheme = (ode_mlcp_scheme)DRIFT;
  dWorldID world = dWorldCreate();
  CU_ASSERT_EQUAL(ode_mlcp_attach(world, &options), ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(
      ode_mlcp_set_option(&options, "scheme", "drift", message, sizeof message),
      ODE_MLCP_BAD_ARGUMENT);
  dWorldDestroy(world);

  CU_ASSERT_FATAL(scheme_register(&SCHEME_DRIFT, "drift"));
  CU_ASSERT_FATAL(scheme_register(&SCHEME_DRIFT_ALONE, "drift-alone"));
  CU_ASSERT_FALSE(scheme_register(&SCHEME_DRIFT, "again"));
  CU_ASSERT_FALSE(scheme_register(&SCHEME_AH, "ah"));
  check_drift("drift", 1);
  CU_ASSERT_EQUAL(n_committed, 1);
  check_drift("drift-alone", 2);
  CU_ASSERT_EQUAL(n_committed, 0);
}

static void test_worlds_change_their_scheme(void) {
  dBodyID balls[2];
  double v_alpha[6];
  failing_memory memory = {0};
  const memory_source *usual = process()->memory;
  const memory_source counted = failing_memory_source(&memory);
  process_set_memory(&counted);
  dWorldID world = create_drifting_world("drift", balls);
  CU_ASSERT_EQUAL(dWorldStep(world, 0.001), 1);
  ode_mlcp_body_v_alpha(balls[0], v_alpha);
  CU_ASSERT_EQUAL(v_alpha[0], 42);
  long held = memory.bytes_held;
  CU_ASSERT_EQUAL(ode_mlcp_attach(world, NULL), ODE_MLCP_OK); /* ah */
  CU_ASSERT(memory.bytes_held < held - (long)sizeof(drift));
  CU_ASSERT_EQUAL(dWorldStep(world, 0.001), 1);
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(balls[1])[2], -0.00981,
                         of_host(1e-12, 1));
  ode_mlcp_body_v_alpha(balls[1], v_alpha);
  CU_ASSERT_EQUAL(v_alpha[0], 1);
  dWorldDestroy(world);
  process_set_memory(usual);
}

/* Its failures are the stepper's: nothing moves. */
static void test_memory_runs_out(void) {
  failing_memory memory = {0};
  const memory_source *usual = process()->memory;
  const memory_source scarce = failing_memory_source(&memory);
  process_set_memory(&scarce);
  dSetMessageHandler(keep_quiet);
  bool taken = false;
  long n_failed = 0;
  for (; !taken && n_failed < 5000; n_failed += !taken) {
    dBodyID balls[2];
    fail_no_allocation(&memory);
    dWorldID world = create_drifting_world("drift", balls);
    uint64_t before = hash_bodies(balls, 2);
    fail_allocation(&memory, n_failed);
    taken = dWorldStep(world, 0.001);
    CU_ASSERT_EQUAL(taken, !an_allocation_failed(&memory));
    CU_ASSERT(taken || hash_bodies(balls, 2) == before);
    fail_no_allocation(&memory);
    if (!taken) CU_ASSERT_EQUAL(dWorldStep(world, 0.001), 1);
    dWorldDestroy(world);
    CU_ASSERT_EQUAL(memory.n_held, 0);
  }
  CU_ASSERT(n_failed >= 4 && n_failed < 5000);
  dSetMessageHandler(0);
  process_set_memory(usual);
}

int main(void) {
  dInitODE2(0);
  const CU_TestInfo tests[] = {
      {"a scheme of its own", test_a_scheme_of_its_own},
      {"worlds change their scheme", test_worlds_change_their_scheme},
      {"memory runs out", test_memory_runs_out},
      CU_TEST_INFO_NULL};
  int status = run_tests("schemes: a toy", tests);
  dCloseODE();
  return status;
}
