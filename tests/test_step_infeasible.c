/* Steps that nothing satisfies say so, and name what contradicts: report, list
 * and message, under every scheme; steps that can be satisfied never do. */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "host_rounding.h"
#include "step_testing.h"

static char said[2000];

static void hear(int number, const char *text, va_list arguments) {
  (void)number;
  char line[600];
  vsnprintf(line, sizeof line, text, arguments);
  if (strlen(said) + strlen(line) + 2 > sizeof said) return;
  strcat(said, line);
  strcat(said, "\n");
}

static const int schemes[] = {
    ODE_MLCP_SCHEME_AP,          ODE_MLCP_SCHEME_AH,        ODE_MLCP_SCHEME_GAP,
    ODE_MLCP_SCHEME_TRAPEZOID_1, ODE_MLCP_SCHEME_TRAPEZOID, ODE_MLCP_SCHEME_ST,
    ODE_MLCP_SCHEME_CONSERVING};
enum { N_SCHEMES = sizeof schemes / sizeof *schemes };

static dWorldID create(int scheme, double cfm) {
  ode_mlcp_options options;
  ode_mlcp_default_options(&options);
  options.scheme = scheme;
  dWorldID world = create_world(9.81, &options);
  dWorldSetCFM(world, cfm);
  said[0] = '\0';
  return world;
}

static dBodyID create_box(dWorldID world, double mass, double x, double y,
                          double z) {
  dBodyID body = dBodyCreate(world);
  dMass box;
  dMassSetBoxTotal(&box, mass, 1, 1, 1);
  dBodySetMass(body, &box);
  dBodySetPosition(body, x, y, z);
  return body;
}

static dJointID create_motor(dWorldID world, dBodyID body, double speed,
                             double most) {
  dJointID motor = dJointCreateLMotor(world, 0);
  dJointAttach(motor, body, 0);
  dJointSetLMotorNumAxes(motor, 1);
  dJointSetLMotorAxis(motor, 0, 0, 1, 0, 0);
  dJointSetLMotorParam(motor, dParamVel, speed);
  dJointSetLMotorParam(motor, dParamFMax, most);
  dJointSetLMotorParam(motor, dParamCFM, 0);
  return motor;
}

static ode_mlcp_report step(dWorldID world, double h) {
  ode_mlcp_report report;
  CU_ASSERT_EQUAL(dWorldStep(world, h), 1);
  CU_ASSERT_EQUAL(ode_mlcp_last_report(world, &report), ODE_MLCP_OK);
  return report;
}

/* Contents of the list: every joint and body is one of those given. */
static void expect_jams(dWorldID world, int n_least, const dJointID joints[],
                        int n_joints, dBodyID body) {
  ode_mlcp_jam jams[32];
  int n_jams = -1;
  CU_ASSERT_EQUAL(ode_mlcp_last_contradiction(world, jams, 32, &n_jams),
                  ODE_MLCP_OK);
  CU_ASSERT(n_jams >= n_least);
  for (int i = 0; i < n_jams && i < 32; i++) {
    bool known = joints == NULL;
    for (int j = 0; j < n_joints; j++) known |= jams[i].joint == joints[j];
    CU_ASSERT(known);
    CU_ASSERT(jams[i].body[0] == body || jams[i].body[1] == body);
  }
}

/* Two motors, each as strong as it takes; a free body beside it is left out. */
static void test_motors(void) {
  for (int s = 0; s < N_SCHEMES; s++)
    for (int big = 0; big < 2; big++) {
      dWorldID world = create(schemes[s], 0);
      dBodyID body = create_box(world, big ? 1e4 : 1e-2, 0, 0, 0);
      create_box(world, 1, 5, 5, 5);
      dJointID motors[2] = {create_motor(world, body, 1, dInfinity),
                            create_motor(world, body, -1, dInfinity)};
      ode_mlcp_report report = step(world, big ? 0.02 : 0.001);
      CU_ASSERT(report.infeasible > 0 && report.infeasible <= report.degraded);
      CU_ASSERT(report.infeasible_joint_rows >= 2);
      CU_ASSERT_EQUAL(report.infeasible_contacts, 0);
      expect_jams(world, 2, motors, 2, body);
      CU_ASSERT_PTR_NOT_NULL(strstr(said, "no velocities meet what these ask"));
      for (int k = 0; k < 2; k++) {
        char name[60];
        snprintf(name, sizeof name, "joint %lu of body %lu",
                 dJointGetSerial(motors[k]), dBodyGetSerial(body));
        CU_ASSERT_PTR_NOT_NULL(strstr(said, name));
      }
      // a joint is everywhere, and there are four of them at most
      CU_ASSERT_PTR_NULL(strstr(said, " at ("));
      // in single precision a scheme may solve more problems of them in a step
      CU_ASSERT(host_is_single() || strstr(said, " more") == NULL);

      // with a limit one wins; the list is of the last step
      dJointSetLMotorParam(motors[1], dParamFMax, 5);
      report = step(world, 0.01);
      CU_ASSERT_EQUAL(report.infeasible, 0);
      int n_jams;
      CU_ASSERT_EQUAL(ode_mlcp_last_contradiction(world, NULL, 0, &n_jams),
                      ODE_MLCP_OK);
      CU_ASSERT_EQUAL(n_jams, 0);
      dWorldDestroy(world);
    }
}

static void attach_contact(dWorldID world, dJointGroupID group, dBodyID a,
                           dBodyID b, double x, double y, double z,
                           double normal_x, double normal_z) {
  dSurfaceParameters surface = bare_surface(dContactApprox1, 0.5);
  dContact contact = contact_at(&surface, x, y, z, 1e-5);
  contact.geom.normal[0] = normal_x;
  contact.geom.normal[2] = normal_z;
  dJointAttach(dJointCreateContact(world, group, &contact), a, b);
}

static void attach_face(dWorldID world, dJointGroupID group, dBodyID a,
                        dBodyID b, double x, double sign) {
  for (int i = 0; i < 4; i++)
    attach_contact(world, group, a, b, x, i % 2 - 0.5, i / 2 - 0.5, sign, 0);
}

/* Four contacts are named, by their bodies and place; of the others it is said how
 * many they are. */
static void expect_first_four_said(dWorldID world) {
  ode_mlcp_jam jams[128];
  int n_jams = 0;
  CU_ASSERT_EQUAL(ode_mlcp_last_contradiction(world, jams, 128, &n_jams),
                  ODE_MLCP_OK);
  CU_ASSERT_FATAL(n_jams > 4);
  char text[400] = "";
  for (int i = 0; i < 4; i++) {
    size_t length = strlen(text);
    // corners of unit faces between boxes that stand at whole numbers
    for (int k = 0; k < 3; k++)
      CU_ASSERT_DOUBLE_EQUAL(fabs(remainder(jams[i].position[k], 1)), 0.5,
                             1e-6);
    snprintf(text + length, sizeof text - length,
             "contact of bodies %lu and %lu at (%g %g %g); ",
             dBodyGetSerial(jams[i].body[0]), dBodyGetSerial(jams[i].body[1]),
             jams[i].position[0], jams[i].position[1], jams[i].position[2]);
  }
  size_t length = strlen(text);
  snprintf(text + length, sizeof text - length, "and %d more", n_jams - 4);
  CU_ASSERT_PTR_NOT_NULL(strstr(said, text));
}

/* Kinematic walls close on a row of boxes on a floor: the faces are named, the
 * floor is not. */
static void test_crusher(void) {
  for (int s = 0; s < N_SCHEMES; s++)
    for (int closing = 1; closing >= -1; closing -= 2) {
      int n = s == 1 ? 5 : 1;
      dWorldID world = create(schemes[s], 0);
      dJointGroupID group = dJointGroupCreate(0);
      dBodyID left = create_box(world, 1, -1, 0, 0), body = left;
      dBodyID right = create_box(world, 1, n, 0, 0);
      dBodySetKinematic(left);
      dBodySetKinematic(right);
      dBodySetLinearVel(left, closing, 0, 0);
      dBodySetLinearVel(right, -closing, 0, 0);
      for (int k = 0; k <= n; k++) {
        dBodyID next =
            k < n ? create_box(world, 1 + 10 * (k % 2), k, 0, 0) : right;
        attach_face(world, group, next, body, k - 0.5, 1);
        for (int i = 0; i < 4 && k < n; i++)
          attach_contact(world, group, next, 0, k + i % 2 - 0.5, i / 2 - 0.5,
                         -0.5, 0, 1);
        body = next;
      }
      ode_mlcp_report report = step(world, 0.01);
      CU_ASSERT_EQUAL(report.infeasible > 0, closing > 0);
      if (closing > 0) {
        CU_ASSERT(report.infeasible_contacts >= n + 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(said, "contact of bodies"));
        CU_ASSERT_PTR_NULL(strstr(said, "contact of body"));
        expect_first_four_said(world);
      } else {
        CU_ASSERT_EQUAL(report.infeasible_contacts, 0);
        CU_ASSERT_PTR_NULL(strstr(said, "no velocities"));
      }
      dJointGroupDestroy(group);
      dWorldDestroy(world);
    }
}

static int frictionless(void *context, dGeomID a, dGeomID b,
                        ode_mlcp_surface *surface) {
  (void)context, (void)a, (void)b;
  surface->parameters = bare_surface(dContactApprox1, 0);
  return 1;
}

static int collide_space(void *space, dWorldID world,
                         ode_mlcp_contact_list *list) {
  (void)world;
  return ode_mlcp_collide_space(list, space, frictionless, NULL) == ODE_MLCP_OK;
}

/* The same by a collision function: its contacts are named without joints, which are
 * gone with the step. */
static void test_crusher_of_a_collision_function(void) {
  for (int s = 0; s < N_SCHEMES; s++) {
    dWorldID world = create(schemes[s], 0);
    dSpaceID space = dSimpleSpaceCreate(0);
    CU_ASSERT_EQUAL(ode_mlcp_set_collision(world, collide_space, space),
                    ODE_MLCP_OK);
    dWorldSetGravity(world, 0, 0, 0);
    for (int k = -1; k <= 1; k++) {
      dBodyID body = create_box(world, 1, k * (1 - 1e-6), 0, 0);
      dGeomSetBody(dCreateBox(space, 1, 1, 1), body);
      if (k == 0) continue;
      dBodySetKinematic(body);
      dBodySetLinearVel(body, -k, 0, 0);
    }
    ode_mlcp_report report = step(world, 0.01);
    CU_ASSERT(report.infeasible > 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "contact of bodies"));
    ode_mlcp_jam jams[32];
    int n_jams = 0;
    CU_ASSERT_EQUAL(ode_mlcp_last_contradiction(world, jams, 32, &n_jams),
                    ODE_MLCP_OK);
    CU_ASSERT(n_jams >= 2);
    for (int i = 0; i < n_jams && i < 32; i++)
      CU_ASSERT_PTR_NULL(jams[i].joint);
    dSpaceDestroy(space);
    dWorldDestroy(world);
  }
}

/* Hinges on one axis that turn at two speeds; with the host's own softness they
 * give way, and it is not infeasible. */
static void test_hinges(void) {
  for (int soft = 0; soft < 2; soft++) {
    dWorldID world = create(ODE_MLCP_SCHEME_AH, soft ? 1e-10 : 0);
    dBodyID body = create_box(world, 1, 0, 0, 0);
    dJointID hinges[2];
    for (int k = 0; k < 2; k++) {
      hinges[k] = dJointCreateHinge(world, 0);
      dJointAttach(hinges[k], body, 0);
      dJointSetHingeAnchor(hinges[k], 0, 0, 0);
      dJointSetHingeAxis(hinges[k], 0, 0, 1);
      dJointSetHingeParam(hinges[k], dParamVel, 1 + k);
      dJointSetHingeParam(hinges[k], dParamFMax, dInfinity);
      dJointSetHingeParam(hinges[k], dParamCFM, soft ? 1e-10 : 0);
    }
    ode_mlcp_report report = step(world, 0.01);
    CU_ASSERT_EQUAL(report.infeasible, soft ? 0 : 1);
    if (!soft) expect_jams(world, 2, hinges, 2, body);
    dWorldDestroy(world);
  }
}

/* Chains, closed loops, doubled joints and tight channels without softness: all
 * of them move with the velocity that they were given. */
static void test_feasible_worlds(void) {
  test_random random = {5};
  for (int trial = 0; trial < 60; trial++) {
    dWorldID world = create(schemes[trial % 2], 0);
    dWorldSetGravity(world, 0, 0, 0);
    dJointGroupID group = dJointGroupCreate(0);
    double v[3];
    for (int i = 0; i < 3; i++) v[i] = test_uniform(&random, -5, 5);
    int n = 2 + trial % 5;
    dBodyID body[8];
    for (int k = 0; k < n; k++) {
      double mass = pow(10, test_uniform(&random, -3, 3));
      body[k] = create_box(world, mass, k, 0, 0);
      dBodySetLinearVel(body[k], v[0], v[1], v[2]);
    }
    for (int k = 1; k < n; k++)
      for (int doubled = 0; doubled < 2; doubled++) {
        dJointID joint = (trial + k + doubled) % 3 == 0
                             ? dJointCreateBall(world, 0)
                             : dJointCreateFixed(world, 0);
        dJointAttach(joint, body[k], body[k - 1]);
        if (dJointGetType(joint) == dJointTypeBall)
          dJointSetBallAnchor(joint, k - 0.5, 0, 0);
        else
          dJointSetFixed(joint);
      }
    // walls that move along, with nothing to spare
    for (int side = -1; side < 2; side += 2) {
      dBodyID wall = create_box(world, 1, side < 0 ? -1 : n, 0, 0);
      dBodySetKinematic(wall);
      dBodySetLinearVel(wall, v[0], v[1], v[2]);
      attach_face(world, group, body[side < 0 ? 0 : n - 1], wall,
                  side < 0 ? -0.5 : n - 0.5, -side);
    }
    ode_mlcp_report report = step(world, 0.01);
    CU_ASSERT_EQUAL(report.infeasible, 0);
    dJointGroupDestroy(group);
    dWorldDestroy(world);
  }
}

static void test_bad_arguments(void) {
  int n_jams;
  ode_mlcp_jam jam;
  dWorldID world = dWorldCreate();
  CU_ASSERT_EQUAL(ode_mlcp_last_contradiction(world, &jam, 1, &n_jams),
                  ODE_MLCP_NOT_ATTACHED);
  CU_ASSERT_EQUAL(ode_mlcp_last_contradiction(NULL, &jam, 1, &n_jams),
                  ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(ode_mlcp_last_contradiction(world, NULL, 1, &n_jams),
                  ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(ode_mlcp_last_contradiction(world, &jam, 1, NULL),
                  ODE_MLCP_BAD_ARGUMENT);
  dWorldDestroy(world);
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"motors", test_motors},
      {"crusher", test_crusher},
      {"crusher of a collision function", test_crusher_of_a_collision_function},
      {"hinges", test_hinges},
      {"feasible worlds", test_feasible_worlds},
      {"bad arguments", test_bad_arguments},
      CU_TEST_INFO_NULL};
  dInitODE2(0);
  dSetMessageHandler(hear);
  int failed = run_tests("steps that nothing satisfies", tests);
  dCloseODE();
  return failed;
}
