/* Impacts within a step by the set-valued law: the rocking block of Halm &
 * Posa (2023, table 4) strikes a floor flat, and rollouts spread. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "collision_scene.h"
#include "failing_memory.h"
#include "stepper/process.h"
#include "host_rounding.h"

static const double START = 0.442944692; /* m/s: sqrt(2 g 0.01) */

typedef struct block_scene {
  scene scene;
  dBodyID block;
} block_scene;

/* A block 1 wide and 2 high, kept in a plane, on its way down to a floor 1 cm
 * below; no gravity, so that what it has after the impact it keeps. */
static void open_scene(block_scene *s, const char *law, int seed,
                       double bounce) {
  ode_mlcp_options options;
  ode_mlcp_default_options(&options);
  options.scheme = ODE_MLCP_SCHEME_TRAPEZOID;
  options.impact_seed = seed;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_set_option(&options, "impact", law, NULL, 0),
                        ODE_MLCP_OK);
  scene_open(&s->scene, dSimpleSpaceCreate(0), &options);
  dSurfaceParameters *surface = &s->scene.surface.parameters;
  surface->mode = dContactApprox1 | dContactBounce;
  surface->mu = 1;
  surface->bounce = bounce;
  surface->bounce_vel = 0.01;

  dWorldID world = s->scene.world;
  dSpaceID space = s->scene.space;
  dCreatePlane(space, 0, 1, 0, 0);
  s->block = dBodyCreate(world);
  dMass mass;
  dMassSetParameters(&mass, 1, 0, 0, 0, 5.0 / 12, 5.0 / 12, 5.0 / 12, 0, 0, 0);
  dBodySetMass(s->block, &mass);
  dBodySetPosition(s->block, 0, 1.01, 0);
  dBodySetLinearVel(s->block, 0, -START, 0);
  dGeomSetBody(dCreateBox(space, 1, 2, 1), s->block);
  dJointAttach(dJointCreatePlane2D(world, 0), s->block, 0);
}

/* Velocity of a point of the block, corner -1 (left) or 1, along the normal. */
static double corner_speed(const block_scene *s, int side) {
  dVector3 v;
  dBodyGetRelPointVel(s->block, 0.5 * side, -1, 0, v);
  return v[1];
}

/* what the last strike's step reported */
static ode_mlcp_report report;

static double strike(const char *law, int seed, double bounce, double *spin) {
  block_scene s;
  open_scene(&s, law, seed, bounce);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s.scene.world, 0.023, &report),
                        ODE_MLCP_OK);
  CU_ASSERT(report.impacts >= 1);
  CU_ASSERT(report.residual < 1e-8);
  const dReal *v = dBodyGetLinearVel(s.block);
  const dReal *w = dBodyGetAngularVel(s.block);
  double energy = (v[0] * v[0] + v[1] * v[1] + 5.0 / 12 * w[2] * w[2]) / 2;
  CU_ASSERT(energy < START * START / 2);
  CU_ASSERT(fabs(v[2]) < 1e-12 && fabs(w[0]) < 1e-12 && fabs(w[1]) < 1e-12);
  CU_ASSERT(corner_speed(&s, -1) > -1e-8 && corner_speed(&s, 1) > -1e-8);
  double lift = fmax(corner_speed(&s, -1), corner_speed(&s, 1));
  *spin = w[2];
  scene_close(&s.scene);
  return lift;
}

static void test_rollouts_spread(void) {
  double spin, lowest = 0, highest = 0, most = 0.21 * START;
  CU_ASSERT(fabs(strike("poisson", 1, 0, &spin)) < 1e-9); /* it stays */
  CU_ASSERT_EQUAL(report.impacts_by_set, 0);
  int lefts = 0, rights = 0;
  for (int seed = 1; seed <= 120; seed++) {
    double lift = strike("set", seed, 0, &spin), again;
    CU_ASSERT(lift > -1e-8 && lift < most + 1e-6);
    CU_ASSERT_EQUAL(report.impacts_by_set, 1);
    CU_ASSERT_EQUAL(report.poisson_bounces + report.poisson_unposed +
                        report.poisson_unfinished,
                    0);
    lefts += spin > 1e-3;
    rights += spin < -1e-3;
    lowest = fmin(lowest, spin);
    highest = fmax(highest, spin);
    strike("set", seed, 0, &again);
    CU_ASSERT_EQUAL(again, spin); /* the same seed: the same outcome */
  }
  /* it rocks to either side, by up to the set's extent (w = lift / 1 m) */
  CU_ASSERT(lefts > 10 && rights > 10);
  CU_ASSERT(lowest < -0.4 * most && highest > 0.4 * most);
  CU_ASSERT(lowest > -most - 1e-6 && highest < most + 1e-6);
}

/* Restitution is not in the law: what bounces, bounces. */
static void test_bouncing_is_poissons(void) {
  double spin;
  double lift = strike("set", 1, 0.5, &spin);
  CU_ASSERT(fabs(lift - 0.5 * START) < 1e-6);
  CU_ASSERT(fabs(spin) < 1e-9);
  CU_ASSERT_EQUAL(report.impacts_by_set, 0);
  CU_ASSERT_EQUAL(report.poisson_bounces, report.impacts);
}

/* Two sliders that turn one body different ways: no velocity obeys both, so there is
 * no set of outcomes. */
static void test_joints_against_each_other_are_poissons(void) {
  block_scene s;
  open_scene(&s, "set", 1, 0);
  dWorldID world = s.scene.world;
  for (int k = 0; k < 2; k++) {
    dBodyID guide = dBodyCreate(world);
    const dReal *at = dBodyGetPosition(s.block);
    dBodySetKinematic(guide);
    dBodySetPosition(guide, at[0], at[1], at[2]);
    dBodySetAngularVel(guide, 0, 0, 0.1 * k);
    joint_slider(world, s.block, guide, 0, 1, 0);
  }
  CU_ASSERT_EQUAL(ode_mlcp_step(s.scene.world, 0.023, &report), ODE_MLCP_OK);
  CU_ASSERT(report.impacts >= 1);
  CU_ASSERT_EQUAL(report.impacts_by_set, 0);
  CU_ASSERT_EQUAL(report.poisson_unposed, 1);
  CU_ASSERT(corner_speed(&s, -1) > -1e-6 && corner_speed(&s, 1) > -1e-6);
  scene_close(&s.scene);
}

/* Whichever allocation of the step fails, nothing has changed. */
static void test_memory_failures(void) {
  failing_memory memory = {0};
  const memory_source failing = failing_memory_source(&memory);
  const memory_source *usual = process()->memory;
  process_set_memory(&failing);
  block_scene s;
  open_scene(&s, "set", 3, 0);
  dSetMessageHandler(keep_quiet);
  int n_failed = 0;
  for (long n = 0; n < 5000; n++) {
    fail_allocations_from(&memory, n);
    if (ode_mlcp_step(s.scene.world, 0.023, &report) == ODE_MLCP_OK) break;
    n_failed++;
    CU_ASSERT_EQUAL(dBodyGetLinearVel(s.block)[1], (dReal)-START);
    CU_ASSERT_EQUAL(dBodyGetPosition(s.block)[1], (dReal)1.01);
  }
  CU_ASSERT(n_failed > 10 && n_failed < 5000);
  double spin;
  double kept = dBodyGetAngularVel(s.block)[2];
  dSetMessageHandler(NULL);
  scene_close(&s.scene);
  process_set_memory(usual);
  strike("set", 3, 0, &spin); /* the same as without failures before it */
  CU_ASSERT_EQUAL(kept, spin);
}

/* A ball that bounces aslant, with spin: friction acts through the whole impact, takes
 * what slip it can and no more. Coulomb's and Poisson's laws give where it goes. */
static void test_friction_acts_while_a_ball_is_given_back(void) {
  static const struct {
    double radius, mass, e, mu, speed[2], spin, h;
  } cases[] = {{0.1, 1, 1, 0.1, {6, -3}, 0, 0.01},
               {0.1, 1, 1, 0.1, {6, -3}, 0, 0.0023},
               {0.02, 0.05, 0.5, 0.3, {3, -2}, 40, 0.004},
               {0.5, 200, 0.9, 0.2, {-5, -1}, 3, 0.03},
               {0.11, 0.6, 0.8, 2, {2, -4}, -90, 0.01}, /* rolls off */
               {0.3, 7, 0.7, dInfinity, {1, -2}, 12, 0.005},
               {0.1, 1, 0, 0.15, {4, -2}, 0, 0.01}};
  static const char *const schemes[] = {"gap", "trapezoid-1", "trapezoid",
                                        "conserving"};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int k = 0; k < 4; k++) {
      double r = cases[i].radius, e = cases[i].e, down = -cases[i].speed[1];
      scene s;
      char settings[100];
      snprintf(settings, sizeof settings, "scheme=%s", schemes[k]);
      ode_mlcp_options options;
      ode_mlcp_default_options(&options);
      CU_ASSERT_EQUAL_FATAL(
          ode_mlcp_set_option(&options, "scheme", schemes[k], NULL, 0),
          ODE_MLCP_OK);
      scene_open(&s, dSimpleSpaceCreate(0), &options);
      s.surface.parameters.mode = dContactApprox1 | dContactBounce;
      s.surface.parameters.mu = cases[i].mu;
      s.surface.parameters.bounce = e;
      s.surface.parameters.bounce_vel = 0;
      dCreatePlane(s.space, 0, 1, 0, 0);
      dBodyID ball = dBodyCreate(s.world);
      dMass mass;
      dMassSetSphereTotal(&mass, cases[i].mass, r);
      dBodySetMass(ball, &mass);
      dGeomSetBody(dCreateSphere(s.space, r), ball);
      dBodySetPosition(ball, 0, r + 2.4 * cases[i].h * down, 0);
      dBodySetLinearVel(ball, cases[i].speed[0], -down, 0);
      dBodySetAngularVel(ball, 0, 0, cases[i].spin);
      for (int step = 0; step < 4; step++)
        CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s.world, cases[i].h, &report),
                              ODE_MLCP_OK);
      double slip = cases[i].speed[0] + r * cases[i].spin;
      double change = -copysign(
          fmin(cases[i].mu * (1 + e) * down, 2.0 / 7 * fabs(slip)), slip);
      const dReal *v = dBodyGetLinearVel(ball);
      double x = cases[i].speed[0] + change;
      CU_ASSERT(fabs(v[0] - x) < of_host(1e-9, 1) * fabs(cases[i].speed[0]));
      CU_ASSERT(fabs(v[1] - e * down) < of_host(1e-9, 1) * down);
      CU_ASSERT(fabs(r * (dBodyGetAngularVel(ball)[2] - cases[i].spin) -
                     2.5 * change) < of_host(1e-8, 1) * fabs(change));
      scene_close(&s);
    }
}

static double drawn(unsigned *state, double low, double high) {
  *state = *state * 1664525u + 1013904223u;
  return low + (high - low) * (*state >> 8) / 16777216.0;
}

/* Boxes that strike a floor aslant with spin: Poisson's law with friction may give
 * back more energy than there was, which the schemes do not. */
static void test_impacts_give_no_energy(void) {
  static const char *const schemes[] = {"gap", "trapezoid-1", "trapezoid",
                                        "conserving"};
  unsigned state = 7;
  for (int i = 0; i < 60; i++) {
    ode_mlcp_options options;
    ode_mlcp_default_options(&options);
    ode_mlcp_set_option(&options, "scheme", schemes[i % 4], NULL, 0);
    scene s;
    scene_open(&s, dSimpleSpaceCreate(0), &options);
    s.surface.parameters.mode = dContactApprox1 | dContactBounce;
    s.surface.parameters.mu = drawn(&state, 0.05, 1.5);
    s.surface.parameters.bounce = drawn(&state, 0.3, 1);
    s.surface.parameters.bounce_vel = 0;
    dCreatePlane(s.space, 0, 1, 0, 0);
    double size = drawn(&state, 0.02, 1), sides[3], speed = 4;
    dQuaternion q;
    dBodyID box = dBodyCreate(s.world);
    dMass mass;
    for (int k = 0; k < 3; k++) sides[k] = size * drawn(&state, 0.05, 1);
    for (int k = 0; k < 4; k++) q[k] = drawn(&state, -1, 1);
    dMassSetBoxTotal(&mass, drawn(&state, 0.1, 30), sides[0], sides[1],
                     sides[2]);
    dBodySetMass(box, &mass);
    dGeomSetBody(dCreateBox(s.space, sides[0], sides[1], sides[2]), box);
    dBodySetQuaternion(box, q);
    dBodySetPosition(box, 0, size, 0);
    dBodySetLinearVel(box, drawn(&state, -speed, speed), -speed, 0);
    dBodySetAngularVel(box, drawn(&state, -2, 2) / size,
                       drawn(&state, -2, 2) / size,
                       drawn(&state, -2, 2) / size);
    double before = kinetic_energy(box);
    int impacts = 0;
    for (int step = 0; step < 40; step++) {
      CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s.world, 0.01 * size, &report),
                            ODE_MLCP_OK);
      impacts += report.impacts;
      CU_ASSERT(kinetic_energy(box) <= (1 + 1e-3) * before);
    }
    CU_ASSERT(impacts > 0);
    scene_close(&s);
  }
}

static void test_options(void) {
  ode_mlcp_options options;
  char message[100];
  ode_mlcp_default_options(&options);
  CU_ASSERT_EQUAL(options.impact, ODE_MLCP_IMPACT_LAW_POISSON);
  CU_ASSERT_EQUAL(ode_mlcp_set_option(&options, "impact", "random", message,
                                      sizeof message),
                  ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_PTR_NOT_NULL(strstr(message, "poisson or set"));
  CU_ASSERT_EQUAL(ode_mlcp_set_option(&options, "impact-seed", "7", message,
                                      sizeof message),
                  ODE_MLCP_OK);
  CU_ASSERT_EQUAL(options.impact_seed, 7);
  options.impact = (ode_mlcp_impact_law)5;
  dWorldID world = dWorldCreate();
  CU_ASSERT_EQUAL(ode_mlcp_attach(world, &options), ODE_MLCP_BAD_ARGUMENT);
  dWorldDestroy(world);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"rollouts spread over the outcomes", test_rollouts_spread},
      {"bouncing is Poisson's", test_bouncing_is_poissons},
      {"joints against each other are Poisson's",
       test_joints_against_each_other_are_poissons},
      {"friction acts while a ball is given back",
       test_friction_acts_while_a_ball_is_given_back},
      {"impacts give no energy", test_impacts_give_no_energy},
      {"memory failures", test_memory_failures},
      {"options", test_options},
      CU_TEST_INFO_NULL};
  dInitODE2(0);
  int result = run_tests("schemes: impacts", tests);
  dCloseODE();
  return result;
}
