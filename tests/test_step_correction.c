/* Position errors: bodies that overlap come apart without popping, joints close
 * without speed, what velocity may correct is left as it was. */
#include <stdbool.h>

#include "common/vec3.h"
#include "gap/real.h"
#include "host_rounding.h"
#include "step_testing.h"

static const double STEP = 0.01;

enum { MAX_BODIES = 24, MAX_CONTACTS = 32 };

/* A world whose contacts come from the host's collision. */
typedef struct scene {
  dWorldID world;
  dSpaceID space;
  dJointGroupID contacts;
  dSurfaceParameters surface;
  dBodyID body[MAX_BODIES];
  int n_bodies;
  double depth; /* the deepest contact of the last step, m */
} scene;

static scene create_scene(double gravity, double mu, double max_correction) {
  ode_mlcp_options options;
  ode_mlcp_default_options(&options);
  if (max_correction > 0) options.max_correction = max_correction;
  scene s = {.world = create_world(gravity, &options),
             .space = dSimpleSpaceCreate(0),
             .contacts = dJointGroupCreate(0),
             .surface = bare_surface(dContactApprox1, mu)};
  return s;
}

static void destroy_scene(scene *s) {
  dJointGroupDestroy(s->contacts);
  dSpaceDestroy(s->space);
  dWorldDestroy(s->world);
}

static dBodyID add_box(scene *s, double x, double y, double z, double side) {
  dBodyID body = create_box(s->world, s->space, 1000 * side * side * side, side,
                            side, side);
  dBodySetPosition(body, x, y, z);
  s->body[s->n_bodies++] = body;
  return body;
}

static void collide(void *data, dGeomID a, dGeomID b) {
  scene *s = data;
  dContactGeom found[MAX_CONTACTS];
  if (dGeomGetBody(a) == NULL && dGeomGetBody(b) == NULL) return;
  int count = dCollide(a, b, MAX_CONTACTS, found, sizeof found[0]);
  for (int i = 0; i < count; i++) {
    dContact contact = contact_at(&s->surface, 0, 0, 0, 0);
    contact.geom = found[i];
    s->depth = fmax(s->depth, found[i].depth);
    dJointAttach(dJointCreateContact(s->world, s->contacts, &contact),
                 dGeomGetBody(a), dGeomGetBody(b));
  }
}

static ode_mlcp_report step(scene *s) {
  ode_mlcp_report report;
  s->depth = 0;
  dSpaceCollide(s->space, s, collide);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s->world, STEP, &report), ODE_MLCP_OK);
  CU_ASSERT_EQUAL(report.degraded, 0);
  dJointGroupEmpty(s->contacts);
  return report;
}

static double speed(dBodyID body) {
  return vec3_length(real3(dBodyGetLinearVel(body)).at);
}

static double fastest(const scene *s) {
  double most = 0;
  for (int i = 0; i < s->n_bodies; i++) most = fmax(most, speed(s->body[i]));
  return most;
}

/* Sum of m x or m v over the bodies. */
static void moment(const scene *s, bool velocity, double sum[3]) {
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
      scene s = create_scene(0, mus[m], 0);
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
      CU_ASSERT(s.depth > 0.2);
      for (int i = 0; i < 100; i++) {
        step(&s);
        most = fmax(most, fastest(&s));
      }
      moment(&s, false, after);
      moment(&s, true, momentum);
      CU_ASSERT(s.depth < 0.005);
      CU_ASSERT(most <= 0.5);
      /* 125 kg at 0.2 m, ten roundings in a hundred steps */
      const double rounded = 125 * 0.2 * 10;
      for (int k = 0; k < 3; k++) {
        CU_ASSERT_DOUBLE_EQUAL(after[k], before[k], of_host(1e-6, rounded));
        CU_ASSERT_DOUBLE_EQUAL(momentum[k], 0, of_host(1e-8, 1));
      }
      destroy_scene(&s);
    }
}

/* A heap spawned into itself on the ground settles, and nothing is thrown. */
static void test_spawned_heap_settles(void) {
  const double mus[] = {0.5, dInfinity};
  for (size_t m = 0; m < 2; m++) {
    test_random random = {7};
    scene s = create_scene(9.81, mus[m], 0);
    dCreatePlane(s.space, 0, 0, 1, 0);
    for (int i = 0; i < 12; i++)
      add_box(&s, test_uniform(&random, -0.4, 0.4),
              test_uniform(&random, -0.4, 0.4), test_uniform(&random, 0.1, 1),
              test_uniform(&random, 0.2, 0.5));
    double most = 0, first_depth = 0;
    for (int i = 0; i < 300; i++) {
      step(&s);
      if (i == 0) first_depth = s.depth;
      most = fmax(most, fastest(&s));
    }
    CU_ASSERT(first_depth > 0.15);
    CU_ASSERT(s.depth < 0.02);
    CU_ASSERT(most < 5); /* falls of a metre and some */
    destroy_scene(&s);
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
    scene s = create_scene(0, 0.5, 0);
    ode_mlcp_options options;
    ode_mlcp_default_options(&options);
    options.scheme = schemes[k];
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(s.world, &options), ODE_MLCP_OK);
    dCreatePlane(s.space, 1, 0, 0, -0.2);
    dCreatePlane(s.space, -1, 0, 0, -0.2);
    dMass light;
    dMassSetBoxTotal(&light, 0.01, 0.5, 0.5, 0.5);
    dBodySetMass(add_box(&s, 0.03, 0, 0, 0.5), &light);
    for (int i = 0; i < 50; i++) {
      step(&s);
      CU_ASSERT(fastest(&s) < 0.5);
    }
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(s.body[0])[0], 0, 1e-3);
    destroy_scene(&s);
  }
}

/* Out of a kinematic body that moves: with it, and no faster. */
static void test_overlap_with_a_moving_kinematic_body(void) {
  scene s = create_scene(0, 0.5, 0);
  dBodyID platform = add_box(&s, 0, 0, 0, 1), box = add_box(&s, 0, 0, 0.6, 0.5);
  dBodySetKinematic(platform);
  dBodySetLinearVel(platform, 0, 0, 2);
  for (int i = 0; i < 100; i++) step(&s);
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(platform)[2], 2, of_host(1e-9, 1));
  CU_ASSERT(speed(box) >= 2 - 1e-9);
  CU_ASSERT(speed(box) < 2.1);
  CU_ASSERT(s.depth < 0.005);
  destroy_scene(&s);
}

/* A body that a projection still moves is not found idle. */
static void test_pushed_bodies_stay_awake(void) {
  scene s = create_scene(0, dInfinity, 0);
  dWorldSetAutoDisableFlag(s.world, 1);
  dWorldSetAutoDisableSteps(s.world, 3);
  dWorldSetAutoDisableTime(s.world, 0);
  dWorldSetContactMaxCorrectingVel(s.world, 0.1);
  add_box(&s, 0, 0, 0, 0.5);
  add_box(&s, 0.3, 0.05, 0, 0.5);
  for (int i = 0; i < 300; i++) step(&s);
  CU_ASSERT(s.depth < 0.01);
  destroy_scene(&s);
}

/* A ball that falls on two points that hold it fast: no velocities bounce from
 * both of them and stick. */
static void test_bounce_that_friction_jams_is_left_out(void) {
  scene s = create_scene(9.81, 10, 0);
  s.surface.mode |= dContactBounce;
  s.surface.bounce = 0.2;
  s.surface.bounce_vel = 0;
  dBodyID ball = create_ball(s.world, 0.027, 0.35);
  s.body[s.n_bodies++] = ball;
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
  CU_ASSERT(speed(ball) < 3.5);
  destroy_scene(&s);
}

/* --- joints -------------------------------------------------------------- */

/* A ball joint torn apart by a metre. */
static void test_joint_closes_without_speed(void) {
  scene s = create_scene(0, 0, 0);
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
    CU_ASSERT(fastest(&s) <= 0.5 + 1e-9);
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
  destroy_scene(&s);
}

/* A closed loop with errors at its joints that fit together: cut one by one
 * they would not, and ask for high speeds. */
static void test_loop_of_joints_closes_without_speed(void) {
  test_random random = {3};
  for (int trial = 0; trial < 20; trial++) {
    scene s = create_scene(0, 0, 0.05);
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
      CU_ASSERT(fastest(&s) < 0.5);
    }
    destroy_scene(&s);
  }
}

/* --- what stays as it was ------------------------------------------------ */

/* The states of a stack with light overlaps, over a second. */
static uint64_t stack_hash(double max_correction, double depth, int flags,
                           int *pushes) {
  scene s = create_scene(9.81, 0.5, max_correction);
  s.surface.mode |= flags;
  s.surface.soft_erp = 0.3;
  s.surface.soft_cfm = 1e-4;
  dCreatePlane(s.space, 0, 0, 1, 0);
  for (int i = 0; i < 4; i++)
    add_box(&s, 0.02 * i, 0, 0.25 + (0.5 - depth) * i - depth, 0.5);
  *pushes = 0;
  for (int i = 0; i < 100; i++) *pushes += step(&s).pushes;
  uint64_t hash = hash_bodies(s.body, s.n_bodies);
  destroy_scene(&s);
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
  scene s = create_scene(0, 0.5, 0);
  ode_mlcp_options options;
  ode_mlcp_default_options(&options);
  options.scheme = ODE_MLCP_SCHEME_AP;
  CU_ASSERT_EQUAL(ode_mlcp_attach(s.world, &options), ODE_MLCP_OK);
  add_box(&s, 0, 0, 0, 0.5);
  add_box(&s, 0.3, 0, 0, 0.5);
  for (int i = 0; i < 10; i++) CU_ASSERT_EQUAL(step(&s).pushes, 0);
  CU_ASSERT_EQUAL(dBodyGetPosition(s.body[1])[0], (dReal)0.3);
  destroy_scene(&s);
}

/* A moving body keeps its velocity through a position projection. */
static void test_a_position_correction_adds_no_energy(void) {
  test_random random = {11};
  for (int trial = 0; trial < 30; trial++) {
    scene s = create_scene(0, trial % 2 == 0 ? 0.5 : dInfinity, 0);
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
      energy += 0.5 * 125 * speed(s.body[i]) * speed(s.body[i]);
    ode_mlcp_options options;
    ode_mlcp_default_options(&options);
    options.measure = 1;
    ode_mlcp_attach(s.world, &options);
    ode_mlcp_report report = step(&s);
    CU_ASSERT(report.kinetic_energy < energy);
    destroy_scene(&s);
  }
}

/* Speed at which a box that strikes the ground leaves it, m/s. */
static double rebound(uint64_t seed, double mu, ode_mlcp_solver solver,
                      double tolerance) {
  test_random random = {seed};
  scene s = create_scene(0, mu, 0);
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
  ode_mlcp_options options;
  ode_mlcp_default_options(&options);
  options.solver = solver;
  options.tolerance = tolerance;
  options.budget = INFINITY;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(s.world, &options), ODE_MLCP_OK);
  dSpaceCollide(s.space, &s, collide);
  ode_mlcp_report report;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s.world, STEP, &report), ODE_MLCP_OK);
  double up = dBodyGetLinearVel(s.body[0])[2];
  destroy_scene(&s);
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
  dInitODE2(0);
  int result = run_tests("position correction", tests);
  dCloseODE();
  return result;
}
