/* Stewart and Trinkle's position-level scheme: where it lands, what it adds
 * after a solve, its nonlinear version, its fallback. */
#include <stdbool.h>

#include "collision_scene.h"
#include "common/vec3.h"
#include "gap/real.h"
#include "host_rounding.h"
#include "step_testing.h"

static ode_mlcp_options st_options(int fixed_point) {
  ode_mlcp_options options;
  ode_mlcp_default_options(&options);
  options.scheme = ODE_MLCP_SCHEME_ST;
  options.fixed_point = fixed_point;
  return options;
}

static void create(scene *s, int fixed_point, double gravity) {
  ode_mlcp_options options = st_options(fixed_point);
  scene_open(s, dHashSpaceCreate(0), &options);
  dWorldSetGravity(s->world, 0, 0, -gravity);
  s->surface.parameters.mode = dContactApprox1;
  s->surface.parameters.mu = 0.5;
}

static dBodyID add_ball(scene *s, double mass, double radius, double x,
                        double y, double z) {
  dBodyID ball = create_ball(s->world, mass, radius);
  dGeomSetBody(dCreateSphere(s->space, radius), ball);
  dBodySetPosition(ball, x, y, z);
  return ball;
}

static ode_mlcp_report step(const scene *s, double h) {
  ode_mlcp_report report;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s->world, h, &report), ODE_MLCP_OK);
  CU_ASSERT_EQUAL(report.unsolved, 0);
  return report;
}

/* --- landing -------------------------------------------------------------- */

/* The step that would go through the ground ends on it, with the velocity that
 * leads there; the next one ends at rest (ST: the spike in fig. 4). */
static void test_lands_on_the_surface(void) {
  const double h = 0.01, speed = 20, above = 0.123;
  scene s;
  create(&s, 0, 0);
  dCreatePlane(s.space, 0, 0, 1, 0);
  dBodyID ball = add_ball(&s, 2, 0.5, 0, 0, 0.5 + above);
  dBodySetLinearVel(ball, 0, 0, -speed);
  step(&s, h);
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(ball)[2], 0.5, 1e-12);
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(ball)[2], -above / h,
                         of_host(1e-9, 0.5 / h));
  step(&s, h);
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(ball)[2], 0.5, 1e-12);
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(ball)[2], 0, of_host(1e-9, 0.5 / h));
  scene_close(&s);
}

static void test_box_lies_flat(void) {
  scene s;
  create(&s, 0, 9.81);
  dCreatePlane(s.space, 0, 0, 1, 0);
  dBodyID box = create_box(s.world, s.space, 1000, 1, 1, 1);
  dBodySetPosition(box, 0, 0, 1.2);
  double lowest = INFINITY;
  ode_mlcp_report report = {0};
  for (int i = 0; i < 100; i++) {
    report = step(&s, 1.0 / 60);
    lowest = fmin(lowest, dBodyGetPosition(box)[2]);
  }
  CU_ASSERT(lowest > 0.5 - 1e-10);
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(box)[2], 0.5, 1e-10);
  CU_ASSERT_EQUAL(report.contacts, 4);
  CU_ASSERT_EQUAL(report.contacts_new, 0);
  scene_close(&s);
}

/* --- the check after the solve -------------------------------------------- */

/* A ball hits a second one that is next to a third: the third is in no danger
 * until the second has been pushed. */
static void test_what_is_violated_is_added(void) {
  scene s;
  create(&s, 0, 0);
  s.surface.parameters.mu = 0;
  dBodyID balls[3];
  for (int i = 0; i < 3; i++) balls[i] = add_ball(&s, 1, 0.1, 0.201 * i, 0, 0);
  dBodySetLinearVel(balls[0], 2, 0, 0);
  ode_mlcp_report report = step(&s, 0.01);
  CU_ASSERT(report.rounds >= 2);
  CU_ASSERT_EQUAL(report.not_converged, 0);
  for (int i = 0; i < 2; i++)
    CU_ASSERT(dBodyGetPosition(balls[i + 1])[0] -
                  dBodyGetPosition(balls[i])[0] >
              0.2 - 1e-9);
  double momentum = 0;
  for (int i = 0; i < 3; i++) momentum += dBodyGetLinearVel(balls[i])[0];
  CU_ASSERT_DOUBLE_EQUAL(momentum, 2, of_host(1e-9, 2));
  scene_close(&s);
}

/* A contact that the step leaves open by a hair or more is no reason to solve again. */
static void test_what_stays_open_is_not_added(void) {
  for (double gap = 1e-4; gap < 2; gap *= 10) {
    const double h = 0.01;
    scene s;
    create(&s, 0, 0);
    dCreatePlane(s.space, 0, 0, 1, 0);
    dBodyID ball = add_ball(&s, 1, 0.1, 0, 0, 0.1 + 0.011 + gap);
    dBodySetLinearVel(ball, 3, 0, -0.011 / h);
    ode_mlcp_report report = step(&s, h);
    CU_ASSERT_EQUAL(report.rounds, 1);
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(ball)[2], 0.1 + gap,
                           of_host(1e-12, 1));
    scene_close(&s);
  }
}

/* A program has put a ball 0.3 m off its joint. What corrects that is no velocity, and
 * takes it to where another ball is, which is in no danger until then. */
static void test_corrections_are_looked_at_behind(void) {
  for (int k = 0; k < 3; k++) {
    const double size = pow(10, k - 1);
    scene s;
    create(&s, 0, 0);
    s.surface.parameters.mu = 0;
    dBodyID ball = add_ball(&s, 1, 0.1 * size, 0, 0, 0);
    dBodyID other = add_ball(&s, 1, 0.1 * size, 0.05 * size, 0, 0);
    joint_ball(s.world, ball, NULL, 0, 0, 0);
    dBodySetPosition(ball, 0.3 * size, 0, 0);
    for (int i = 0; i < 20; i++) {
      step(&s, 0.01);
      double apart = dBodyGetPosition(ball)[0] - dBodyGetPosition(other)[0];
      /* the world's CFM gives way by a millionth of the way */
      CU_ASSERT(apart > (0.2 - 1e-6) * size);
    }
    scene_close(&s);
  }
}

/* --- the nonlinear version ------------------------------------------------ */

/* The deepest overlap of a ball that rolls off a fixed one. */
static double roll_off(int fixed_point, double h, int *not_converged,
                       int *passes) {
  scene s;
  create(&s, fixed_point, 9.81);
  dCreateSphere(s.space, 1);
  dBodyID ball = add_ball(&s, 1, 0.5, 0.3, 0, sqrt(1.5 * 1.5 - 0.3 * 0.3));
  double deepest = 0;
  *not_converged = *passes = 0;
  for (double t = 0; t < 0.5; t += h) {
    ode_mlcp_report report = step(&s, h);
    *not_converged |= report.not_converged;
    *passes = report.fixed_point_passes > *passes ? report.fixed_point_passes
                                                  : *passes;
    deepest =
        fmax(deepest, 1.5 - vec3_length(real3(dBodyGetPosition(ball)).at));
  }
  scene_close(&s);
  return deepest;
}

static void test_fixed_point_meets_the_surface(void) {
  int not_converged, passes;
  double linear = roll_off(0, 0.02, &not_converged, &passes);
  CU_ASSERT_EQUAL(passes, 0);
  double nonlinear = roll_off(40, 0.02, &not_converged, &passes);
  CU_ASSERT_EQUAL(not_converged, 0);
  CU_ASSERT(passes >= 2 && passes <= 40);
  CU_ASSERT(nonlinear < of_host(1e-10, 1));
  CU_ASSERT(linear < 1e-3);
  CU_ASSERT(linear > 100 * nonlinear || linear == 0);

  /* too few passes are said to be too few */
  roll_off(1, 0.02, &not_converged, &passes);
  CU_ASSERT_EQUAL(not_converged, 1);
}

/* --- no solution ---------------------------------------------------------- */

/* Wedged in deeper than it can leave: neither side can be satisfied. */
static void test_falls_back_to_velocities(void) {
  scene s;
  create(&s, 0, 9.81);
  dCreatePlane(s.space, 1, 0, 0, -0.45);
  dCreatePlane(s.space, -1, 0, 0, -0.45);
  dBodyID ball = add_ball(&s, 1, 0.5, 0.01, 0, 0);
  ode_mlcp_report report = step(&s, 0.01);
  CU_ASSERT_EQUAL(report.fallbacks, 1);
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(ball)[0], 0, 1e-9);
  CU_ASSERT(fabs(dBodyGetLinearVel(ball)[2]) <= 9.81 * 0.01 + 1e-12);
  scene_close(&s);
}

/* A ball that falls on two points that hold it fast: no velocities bounce from both of
 * them and stick. One solve without the bounce takes its place. */
static void test_falls_back_to_no_bounce(void) {
  for (int bounces = 0; bounces < 2; bounces++) {
    ode_mlcp_options options = st_options(0);
    dWorldID world = create_world(9.81, &options);
    dWorldSetCFM(world, 0);
    dBodyID ball = create_ball(world, 0.027, 0.35);
    dBodySetLinearVel(ball, 0, 0, -3.5);
    dSurfaceParameters surface = bare_surface(dContactApprox1, 10);
    if (bounces) surface.mode |= dContactBounce;
    surface.bounce = 0.2;
    surface.bounce_vel = 0;
    for (int i = 0; i < 2; i++) {
      double normal[3] = {-0.171, i == 0 ? 0.174 : -0.174, 0.97};
      double length = vec3_length(normal);
      dContact contact = contact_at(&surface, 0, 0, 0, 0);
      for (int k = 0; k < 3; k++) {
        contact.geom.normal[k] = normal[k] / length;
        contact.geom.pos[k] = -0.35 * contact.geom.normal[k];
      }
      dJointAttach(dJointCreateContact(world, 0, &contact), ball, 0);
    }
    ode_mlcp_report report;
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(world, 0.01, &report), ODE_MLCP_OK);
    CU_ASSERT_EQUAL(report.degraded, 0);
    CU_ASSERT_EQUAL(report.fallbacks, bounces);
    dWorldDestroy(world);
  }
}

/* --- frozen contacts ------------------------------------------------------ */

/* A program's own contact joints are linearised where they are. */
static void test_contact_joints_are_frozen(void) {
  ode_mlcp_options options = st_options(0);
  dWorldID world = create_world(9.81, &options);
  dWorldSetCFM(world, 0);
  dBodyID ball = create_ball(world, 2, 0.5);
  dSurfaceParameters surface = bare_surface(dContactApprox1, 0.3);
  dBodySetLinearVel(ball, 10, 0, -3);
  dContact contact = contact_at(&surface, 0, 0, -0.5, -0.01);
  dJointID joint = dJointCreateContact(world, 0, &contact);
  dJointFeedback feedback;
  dJointAttach(joint, ball, 0);
  dJointSetFeedback(joint, &feedback);
  ode_mlcp_report report;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(world, 0.01, &report), ODE_MLCP_OK);
  CU_ASSERT_EQUAL(report.linearised, 1);
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(ball)[2], -0.01, of_host(1e-12, 1));
  CU_ASSERT_DOUBLE_EQUAL(feedback.f1[2], 2 * (2 + 0.0981) / 0.01,
                         of_host(1e-6, 500));
  CU_ASSERT_DOUBLE_EQUAL(feedback.f1[0], -0.3 * feedback.f1[2],
                         of_host(1e-6, 500));
  dWorldDestroy(world);
}

int main(void) {
  dInitODE2(0);
  static const CU_TestInfo tests[] = {
      {"lands on the surface", test_lands_on_the_surface},
      {"a box lies flat", test_box_lies_flat},
      {"what is violated is added", test_what_is_violated_is_added},
      {"what stays open is not added", test_what_stays_open_is_not_added},
      {"corrections are looked at behind",
       test_corrections_are_looked_at_behind},
      {"the fixed point meets the surface", test_fixed_point_meets_the_surface},
      {"falls back to velocities", test_falls_back_to_velocities},
      {"falls back to no bounce", test_falls_back_to_no_bounce},
      {"contact joints are frozen", test_contact_joints_are_frozen},
      CU_TEST_INFO_NULL};
  int status = run_tests("Stewart-Trinkle", tests);
  dCloseODE();
  return status;
}
