/* Position errors: bodies that overlap come apart without popping, joints close
 * without speed, what velocity may correct is left as it was. */
#include <stdbool.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "host_rounding.h"
#include "pile.h"

static const double STEP = 0.01;

static pile create_pile(double gravity, double mu, double max_correction) {
  ode_mlcp_options options = default_options();
  if (max_correction > 0) options.max_correction = max_correction;
  return pile_open(create_world(gravity, &options), mu);
}

static dBodyID add_box(pile *p, double x, double y, double z, double side) {
  return pile_box(p, 1000 * side * side * side, x, y, z, side, side, side);
}

static ode_mlcp_report step(pile *p) {
  const ode_mlcp_report report = pile_step(p, STEP);
  CU_ASSERT_EQUAL(report.degraded, 0);
  return report;
}

/* Sum of m x or m v over the bodies. */
static void moment(const pile *s, bool velocity, double sum[3]) {
  dMass mass;
  for (int k = 0; k < 3; k++) sum[k] = 0;
  for (int i = 0; i < s->n_bodies; i++) {
    dBodyGetMass(s->body[i], &mass);
    vec3_add_scaled(sum, mass.mass,
                    real3(velocity ? dBodyGetLinearVel(s->body[i])
                                   : dBodyGetPosition(s->body[i]))
                        .at);
  }
}

/* --- overlaps ------------------------------------------------------------ */

/* Boxes spawned into each other in empty space, whatever the friction. */
static void test_overlaps_come_apart_without_speed(void) {
  const double mus[] = {0, 0.5, 20, dInfinity};
  for (size_t m = 0; m < sizeof mus / sizeof mus[0]; m++)
    for (int soft = 0; soft < 2; soft++) {
      pile s = create_pile(0, mus[m], 0);
      if (soft) { /* friction then holds harder than the normals push */
        s.surface.mode |= dContactSoftCFM;
        s.surface.soft_cfm = 1e-4;
      }
      add_box(&s, 0, 0, 0, 0.5);
      add_box(&s, 0.21, 0.15, 0.12, 0.5);
      add_box(&s, -0.17, 0.2, 0.05, 0.5);
      dQuaternion turned = {0.9, 0.3, 0.2, 0.25};
      dBodySetQuaternion(s.body[1], turned);

      double before[3], after[3], momentum[3], most = 0;
      moment(&s, false, before);
      step(&s);
      CU_ASSERT(s.deepest > 0.2);
      for (int i = 0; i < 100; i++) {
        step(&s);
        most = fmax(most, pile_fastest(&s));
      }
      moment(&s, false, after);
      moment(&s, true, momentum);
      CU_ASSERT(s.deepest < 0.005);
      CU_ASSERT(most <= 0.5);
      /* 125 kg at 0.2 m, ten roundings in a hundred steps */
      const double rounded = 125 * 0.2 * 10;
      for (int k = 0; k < 3; k++) {
        CU_ASSERT_DOUBLE_EQUAL(after[k], before[k], of_host(1e-6, rounded));
        CU_ASSERT_DOUBLE_EQUAL(momentum[k], 0, of_host(1e-8, 1));
      }
      pile_close(&s);
    }
}

static double scale(test_random *random, double low, double high) {
  return low * pow(high / low, test_uniform(random, 0, 1));
}

static void add_drawn_box(pile *p, test_random *random, double size,
                          double mass, double heavier, double spread) {
  double side[3], at[3], axis[3];
  dMatrix3 turned;
  for (int k = 0; k < 3; k++) side[k] = size * test_uniform(random, 0.2, 1);
  mass *= scale(random, 1, heavier);
  at[2] = test_uniform(random, 0.4, 2) * size;
  for (int k = 1; k >= 0; k--) at[k] = test_uniform(random, -spread, spread);
  dBodyID body =
      pile_box(p, mass, at[0], at[1], at[2], side[0], side[1], side[2]);
  const double angle = test_uniform(random, 0, 6);
  for (int k = 2; k >= 0; k--) axis[k] = test_uniform(random, -1, 1);
  dRFromAxisAndAngle(turned, axis[0], axis[1], axis[2] + 1e-3, angle);
  dBodySetRotation(body, turned);
}

/* Boxes put into each other over a plane, held by friction without limit, of which most
 * steps are locked. How fast one gets in 300 steps, in parts of a fall's speed from the
 * heap's top. */
static double fastest_of_heap(uint64_t seed, bool ours) {
  test_random random = {seed * 7919 + 17};
  for (int i = 0; i < 8; i++) test_uniform(&random, 0, 1);
  dWorldID world = dWorldCreate();
  dWorldSetGravity(world, 0, 0, -9.81);
  if (ours) CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(world, NULL), ODE_MLCP_OK);
  pile heap = pile_open(world, dInfinity);
  heap.surface.mode = 0;
  dCreatePlane(heap.space, 0, 0, 1, 0);
  const double size = scale(&random, 0.01, 10);
  const double mass = scale(&random, 0.01, 1e4);
  const double h = scale(&random, 0.001, 0.02);
  const double heavier = scale(&random, 1, 100);
  if (test_uniform(&random, 0, 1) < 0.3) {
    heap.surface.mode = dContactBounce | dContactSoftCFM;
    heap.surface.bounce = heap.surface.bounce_vel = 0.1;
    /* as deep as a hundredth of their size */
    heap.surface.soft_cfm = 0.2 * 0.01 * size / (mass * 9.81 * h);
  }
  if (test_uniform(&random, 0, 1) >= 0.5) heap.most_points /= 2;
  if (test_uniform(&random, 0, 1) < 0.5) {
    dWorldSetContactMaxCorrectingVel(world, 0.1);
    dWorldSetContactSurfaceLayer(world, 0.001 * size);
  }
  const int n = 4 + (int)test_uniform(&random, 0, 16);
  const double spread = scale(&random, 0.05, 1.5) * size;
  for (int i = 0; i < n; i++)
    add_drawn_box(&heap, &random, size, mass, heavier, spread);
  double most = 0;
  for (int i = 0; i < 300; i++) {
    pile_step(&heap, h);
    most = fmax(most, pile_fastest(&heap));
  }
  pile_close(&heap);
  /* what is pushed apart by position has max_correction, .5 m/s, of speed */
  return most / (sqrt(2 * 9.81 * 2 * size) + 0.5);
}

static void test_drawn_heaps_throw_nothing(void) {
  static const uint64_t seeds[] = {1, 2, 3, 4, 5, 6, 20, 125, 347};
  for (size_t k = 0; k < sizeof seeds / sizeof *seeds; k++)
    CU_ASSERT(fastest_of_heap(seeds[k], true) <= 1.5);
  CU_ASSERT(fastest_of_heap(125, false) > 10); /* stock throws it */
}

/* A heap spawned into itself on the ground settles. */
static void test_spawned_heap_settles(void) {
  const double mus[] = {0.5, dInfinity};
  for (size_t m = 0; m < 2; m++) {
    test_random random = {7};
    pile s = create_pile(9.81, mus[m], 0);
    dCreatePlane(s.space, 0, 0, 1, 0);
    for (int i = 0; i < 12; i++)
      add_box(&s, test_uniform(&random, -0.4, 0.4),
              test_uniform(&random, -0.4, 0.4), test_uniform(&random, 0.1, 1),
              test_uniform(&random, 0.2, 0.5));
    step(&s);
    CU_ASSERT(s.deepest > 0.15);
    for (int i = 0; i < 299; i++) {
      step(&s);
      CU_ASSERT(pile_fastest(&s) < 5); /* falls of a metre and some */
    }
    CU_ASSERT(s.deepest < 0.02);
    pile_close(&s);
  }
}

/* Wedged in between walls that leave too little room: in the middle, at rest. What
 * cannot be had asks for no impulses in whose rounding an answer is lost: those of a
 * light body (step). */
static void test_wedged_body_stays_in_the_middle(void) {
  static const ode_mlcp_scheme schemes[] = {ODE_MLCP_SCHEME_AH,
                                            ODE_MLCP_SCHEME_TRAPEZOID,
                                            ODE_MLCP_SCHEME_CONSERVING};
  for (int k = 0; k < 3; k++) {
    ode_mlcp_options options = options_under(schemes[k]);
    pile s = pile_open(create_world(0, &options), 0.5);
    dCreatePlane(s.space, 1, 0, 0, -0.2);
    dCreatePlane(s.space, -1, 0, 0, -0.2);
    pile_box(&s, 0.01, 0.03, 0, 0, 0.5, 0.5, 0.5);
    for (int i = 0; i < 50; i++) {
      step(&s);
      CU_ASSERT(pile_fastest(&s) < 0.5);
    }
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(s.body[0])[0], 0, 1e-3);
    pile_close(&s);
  }
}

/* Out of a kinematic body that moves: with it, and no faster. */
static void test_overlap_with_a_moving_kinematic_body(void) {
  pile s = create_pile(0, 0.5, 0);
  dBodyID platform = add_box(&s, 0, 0, 0, 1), box = add_box(&s, 0, 0, 0.6, 0.5);
  dBodySetKinematic(platform);
  dBodySetLinearVel(platform, 0, 0, 2);
  for (int i = 0; i < 100; i++) step(&s);
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(platform)[2], 2, of_host(1e-9, 1));
  CU_ASSERT(speed_of(box) >= 2 - 1e-9);
  CU_ASSERT(speed_of(box) < 2.1);
  CU_ASSERT(s.deepest < 0.005);
  pile_close(&s);
}

/* A body that a projection still moves is not found idle. */
static void test_pushed_bodies_stay_awake(void) {
  pile s = create_pile(0, dInfinity, 0);
  dWorldSetAutoDisableFlag(s.world, 1);
  dWorldSetAutoDisableSteps(s.world, 3);
  dWorldSetAutoDisableTime(s.world, 0);
  dWorldSetContactMaxCorrectingVel(s.world, 0.1);
  add_box(&s, 0, 0, 0, 0.5);
  add_box(&s, 0.3, 0.05, 0, 0.5);
  for (int i = 0; i < 300; i++) step(&s);
  CU_ASSERT(s.deepest < 0.01);
  pile_close(&s);
}

/* A ball that falls on two points that hold it fast: no velocities bounce from
 * both of them and stick. */
static void test_bounce_that_friction_jams_is_left_out(void) {
  pile s = create_pile(9.81, 10, 0);
  s.surface.mode |= dContactBounce;
  s.surface.bounce = 0.2;
  s.surface.bounce_vel = 0;
  dBodyID ball = create_ball(s.world, 0.027, 0.35);
  dBodySetLinearVel(ball, 0, 0, -3.5);
  for (int i = 0; i < 2; i++) {
    const double normal[3] = {-0.171, i == 0 ? 0.174 : -0.174, 0.97};
    dContact contact = contact_at(&s.surface, 0, 0, 0, 0);
    for (int k = 0; k < 3; k++) {
      contact.geom.normal[k] = normal[k] / vec3_length(normal);
      contact.geom.pos[k] = -0.35 * contact.geom.normal[k];
    }
    dJointAttach(dJointCreateContact(s.world, s.contacts, &contact), ball, 0);
  }
  ode_mlcp_report report = step(&s);
  CU_ASSERT_EQUAL(report.degraded, 0);
  CU_ASSERT(report.residual < 1e-7); // what is accepted
  CU_ASSERT(speed_of(ball) < 3.5);
  pile_close(&s);
}

/* --- joints -------------------------------------------------------------- */

/* A ball joint torn apart by a metre. */
static void test_joint_closes_without_speed(void) {
  pile s = create_pile(0, 0, 0);
  add_box(&s, 0, 0, 0, 0.5);
  add_box(&s, 1, 0, 0, 0.5);
  dJointID joint = joint_ball(s.world, s.body[0], s.body[1], 0.5, 0, 0);
  dGeomDisable(dBodyGetFirstGeom(s.body[0]));
  dBodySetPosition(s.body[1], 2, 0.1, 0);

  double before[3], after[3], momentum[3];
  moment(&s, false, before);
  ode_mlcp_report report = {0};
  for (int i = 0; i < 60; i++) {
    report = step(&s);
    CU_ASSERT(pile_fastest(&s) <= 0.5 + 1e-9);
    if (i == 0) CU_ASSERT_EQUAL(report.pushes, 1);
  }
  dVector3 one, other;
  dJointGetBallAnchor(joint, one);
  dJointGetBallAnchor2(joint, other);
  for (int k = 0; k < 3; k++) one[k] -= other[k];
  CU_ASSERT(vec3_length(real3(one).at) < 1e-3);
  CU_ASSERT_EQUAL(report.pushes, 0);
  moment(&s, false, after);
  moment(&s, true, momentum);
  for (int k = 0; k < 3; k++) {
    CU_ASSERT_DOUBLE_EQUAL(after[k], before[k], of_host(1e-7, 125 * 0.5 * 10));
    CU_ASSERT_DOUBLE_EQUAL(momentum[k], 0, 1e-7);
  }
  pile_close(&s);
}

/* A closed loop with errors at its joints that fit together: cut one by one
 * they would not, and ask for high speeds. */
static void test_loop_of_joints_closes_without_speed(void) {
  test_random random = {3};
  for (int trial = 0; trial < 20; trial++) {
    pile s = create_pile(0, 0, 0.05);
    enum { LINKS = 6 };
    for (int i = 0; i < LINKS; i++)
      add_box(&s, cos(2 * M_PI * i / LINKS), sin(2 * M_PI * i / LINKS), 0, 0.2);
    for (int i = 0; i < LINKS; i++) {
      double angle = 2 * M_PI * (i + 0.5) / LINKS;
      joint_hinge(s.world, s.body[i], s.body[(i + 1) % LINKS], cos(angle),
                  sin(angle), 0, 0, 0, 1);
    }
    for (int i = 0; i < LINKS; i++) {
      const dReal *x = dBodyGetPosition(s.body[i]);
      dBodySetPosition(s.body[i], x[0] + test_uniform(&random, -0.1, 0.1),
                       x[1] + test_uniform(&random, -0.1, 0.1),
                       x[2] + test_uniform(&random, -0.1, 0.1));
    }
    for (int i = 0; i < 100; i++) {
      step(&s);
      CU_ASSERT(pile_fastest(&s) < 0.5);
    }
    pile_close(&s);
  }
}

/* --- what stays as it was ------------------------------------------------ */

/* The states of a stack with light overlaps, over a second. */
static uint64_t stack_hash(double max_correction, double depth, int flags,
                           int *pushes) {
  pile s = create_pile(9.81, 0.5, max_correction);
  s.surface.mode |= flags;
  s.surface.soft_erp = 0.3;
  s.surface.soft_cfm = 1e-4;
  dCreatePlane(s.space, 0, 0, 1, 0);
  for (int i = 0; i < 4; i++)
    add_box(&s, 0.02 * i, 0, 0.25 + (0.5 - depth) * i - depth, 0.5);
  *pushes = 0;
  for (int i = 0; i < 100; i++) *pushes += step(&s).pushes;
  uint64_t hash = hash_bodies(s.body, s.n_bodies);
  pile_close(&s);
  return hash;
}

static void test_light_overlaps_are_left_to_velocity(void) {
  int pushes;
  CU_ASSERT_EQUAL(stack_hash(0, 0.002, 0, &pushes),
                  stack_hash(INFINITY, 0.002, 0, &pushes));
  stack_hash(0, 0.002, 0, &pushes);
  CU_ASSERT_EQUAL(pushes, 0);

  /* deep ones are not, unless they are springs */
  const int spring = dContactSoftERP | dContactSoftCFM;
  CU_ASSERT_NOT_EQUAL(stack_hash(0, 0.1, 0, &pushes),
                      stack_hash(INFINITY, 0.1, 0, &pushes));
  CU_ASSERT_EQUAL(stack_hash(0, 0.1, spring, &pushes),
                  stack_hash(INFINITY, 0.1, spring, &pushes));
}

/* m/s: what a step of a ball that is `depth` m in the ground leaves it; its contact is
 * half a metre from its centre, and comes up as far as it does. */
static double leave_ground(dBodyID ball, double *depth) {
  const dSurfaceParameters surface = bare_surface(0, 0);
  const double z = dBodyGetPosition(ball)[2];
  dContact contact = contact_at(&surface, 0, 0, z - 0.5, *depth);
  dJointID joint = dJointCreateContact(dBodyGetWorld(ball), NULL, &contact);
  dJointAttach(joint, ball, NULL);
  CU_ASSERT_EQUAL_FATAL(dWorldStep(dBodyGetWorld(ball), 0.01), 1);
  dJointDestroy(joint);
  *depth -= dBodyGetPosition(ball)[2] - z;
  return dBodyGetLinearVel(ball)[2];
}

/* From a tenth of the arm on an overlap is moved away, until it is down to a
 * hundredth; what is left, and what begins below a tenth, is left to velocity. */
static void test_overlaps_are_moved_from_a_tenth_to_a_hundredth(void) {
  for (int deep = 0; deep < 2; deep++) {
    dWorldID world = create_world(0, NULL);
    dBodyID ball = create_ball(world, 1, 0.5);
    double depth = (deep ? 0.101 : 0.099) * 0.5, before = depth;
    double speed = leave_ground(ball, &depth);
    CU_ASSERT(deep ? fabs(speed) < 1e-9 : speed > 0.1);
    for (int i = 0; i < 60 && deep && before > 0.01 * 0.5; i++) {
      before = depth;
      speed = leave_ground(ball, &depth);
      CU_ASSERT((fabs(speed) < 1e-9) == (before > 0.01 * 0.5));
    }
    CU_ASSERT(!deep || speed > 0.01);
    dWorldDestroy(world);
  }
}

static void test_velocity_level_scheme_pushes_nothing(void) {
  pile s = create_pile(0, 0.5, 0);
  ode_mlcp_options options = options_under(ODE_MLCP_SCHEME_AP);
  CU_ASSERT_EQUAL(ode_mlcp_attach(s.world, &options), ODE_MLCP_OK);
  add_box(&s, 0, 0, 0, 0.5);
  add_box(&s, 0.3, 0, 0, 0.5);
  for (int i = 0; i < 10; i++) CU_ASSERT_EQUAL(step(&s).pushes, 0);
  CU_ASSERT_EQUAL(dBodyGetPosition(s.body[1])[0], (dReal)0.3);
  pile_close(&s);
}

/* A moving body keeps its velocity through a position projection. */
static void test_a_position_correction_adds_no_energy(void) {
  test_random random = {11};
  for (int trial = 0; trial < 30; trial++) {
    pile s = create_pile(0, trial % 2 == 0 ? 0.5 : dInfinity, 0);
    for (int i = 0; i < 5; i++) {
      dBodyID body = add_box(&s, test_uniform(&random, -0.4, 0.4),
                             test_uniform(&random, -0.4, 0.4),
                             test_uniform(&random, -0.4, 0.4), 0.5);
      dBodySetLinearVel(body, test_uniform(&random, -3, 3),
                        test_uniform(&random, -3, 3),
                        test_uniform(&random, -3, 3));
    }
    double energy = 0;
    for (int i = 0; i < s.n_bodies; i++)
      energy += 0.5 * 125 * speed_of(s.body[i]) * speed_of(s.body[i]);
    ode_mlcp_options options = default_options();
    options.measure = 1;
    ode_mlcp_attach(s.world, &options);
    ode_mlcp_report report = step(&s);
    CU_ASSERT(report.kinetic_energy < energy);
    pile_close(&s);
  }
}

/* Speed at which a box that strikes the ground leaves it, m/s. */
static double rebound(uint64_t seed, double mu, ode_mlcp_solver solver,
                      double tolerance) {
  test_random random = {seed};
  pile s = create_pile(0, mu, 0);
  s.surface.mode |= dContactBounce;
  s.surface.bounce = 0.5;
  s.surface.bounce_vel = 0;
  dCreatePlane(s.space, 0, 0, 1, 0);
  double side = test_uniform(&random, 0.05, 2);
  add_box(&s, 0, 0, 0.499 * side, side);
  dBodySetLinearVel(s.body[0], test_uniform(&random, -1, 1),
                    test_uniform(&random, -1, 1),
                    test_uniform(&random, -5, -3));
  dBodySetAngularVel(s.body[0], test_uniform(&random, -0.1, 0.1) / side,
                     test_uniform(&random, -0.1, 0.1) / side, 0);
  ode_mlcp_options options = default_options();
  options.solver = solver;
  options.tolerance = tolerance;
  options.budget = INFINITY;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(s.world, &options), ODE_MLCP_OK);
  pile_collide(&s);
  ode_mlcp_report report;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s.world, STEP, &report), ODE_MLCP_OK);
  double up = dBodyGetLinearVel(s.body[0])[2];
  pile_close(&s);
  return up;
}

/* A solve that comes to rounding but not to the tolerance gives up no bounce:
 * an exact answer to a problem without it would be metres a second off. */
static void test_missed_tolerance_gives_up_no_bounce(void) {
  static const ode_mlcp_solver solvers[] = {ODE_MLCP_SOLVER_FAST,
                                            ODE_MLCP_SOLVER_LEMKE};
  for (uint64_t seed = 1; seed <= 20; seed++) {
    double mu = seed % 4 == 0 ? 0 : 0.1 * (double)seed;
    double asked = rebound(seed, mu, ODE_MLCP_SOLVER_FAST, 1e-10);
    CU_ASSERT(asked > 0.5);
    for (int k = 0; k < 2; k++)
      CU_ASSERT_DOUBLE_EQUAL(rebound(seed, mu, solvers[k], 1e-300), asked,
                             1e-3);
  }
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"overlaps come apart without speed",
       test_overlaps_come_apart_without_speed},
      {"a spawned heap settles", test_spawned_heap_settles},
      {"drawn heaps throw nothing", test_drawn_heaps_throw_nothing},
      {"a wedged body stays in the middle",
       test_wedged_body_stays_in_the_middle},
      {"overlap with a moving kinematic body",
       test_overlap_with_a_moving_kinematic_body},
      {"a bounce that friction jams is left out",
       test_bounce_that_friction_jams_is_left_out},
      {"a missed tolerance gives up no bounce",
       test_missed_tolerance_gives_up_no_bounce},
      {"pushed bodies stay awake", test_pushed_bodies_stay_awake},
      {"a joint closes without speed", test_joint_closes_without_speed},
      {"a loop of joints closes without speed",
       test_loop_of_joints_closes_without_speed},
      {"light overlaps are left to velocity",
       test_light_overlaps_are_left_to_velocity},
      {"overlaps are moved from a tenth to a hundredth",
       test_overlaps_are_moved_from_a_tenth_to_a_hundredth},
      {"the velocity-level scheme pushes nothing",
       test_velocity_level_scheme_pushes_nothing},
      {"a position correction adds no energy",
       test_a_position_correction_adds_no_energy},
      CU_TEST_INFO_NULL};
  return run_host_tests("position correction", tests);
}
