/* Joint stops are gaps: rows before they are reached, so that none is overshot.
 */
#include <ode/stepper.h>
#include <stdbool.h>
#include <stdlib.h>

#include "step_testing.h"

static const double STEP = 0.01;

typedef struct stop_case {
  const char *name;
  dJointID (*create)(dWorldID world, dBodyID a, dBodyID b);
  void (*set)(dJointID joint, int parameter, dReal value);
  double (*position)(dJointID joint);
  int group;                    /* of the parameters: dParamGroup1, .. */
  double linear[3], angular[3]; /* velocity of the first body along the axis */
} stop_case;

/* Joints at the origin, their first body to the right of it, the second (which
 * is heavy) to the left. */
#define ATTACHED(type)                                                         \
  dJointID joint = dJointCreate##type(world, 0);                               \
  dJointAttach(joint, a, b)

static dJointID hinge(dWorldID world, dBodyID a, dBodyID b) {
  ATTACHED(Hinge);
  dJointSetHingeAnchor(joint, 0, 0, 0);
  dJointSetHingeAxis(joint, 0, 0, 1);
  return joint;
}

static dJointID slider(dWorldID world, dBodyID a, dBodyID b) {
  ATTACHED(Slider);
  dJointSetSliderAxis(joint, 1, 0, 0);
  return joint;
}

static dJointID universal(dWorldID world, dBodyID a, dBodyID b) {
  ATTACHED(Universal);
  dJointSetUniversalAnchor(joint, 0, 0, 0);
  dJointSetUniversalAxis1(joint, 0, 0, 1);
  dJointSetUniversalAxis2(joint, 0, 1, 0);
  return joint;
}

static dJointID hinge2(dWorldID world, dBodyID a, dBodyID b) {
  ATTACHED(Hinge2);
  dJointSetHinge2Anchor(joint, 0, 0, 0);
  dVector3 axis1 = {0, 0, 1}, axis2 = {0, 1, 0};
  dJointSetHinge2Axes(joint, axis1, axis2);
  return joint;
}

static dJointID pr(dWorldID world, dBodyID a, dBodyID b) {
  ATTACHED(PR);
  dJointSetPRAnchor(joint, 0, 0, 0);
  dJointSetPRAxis1(joint, 1, 0, 0);
  dJointSetPRAxis2(joint, 0, 0, 1);
  return joint;
}

static dJointID pu(dWorldID world, dBodyID a, dBodyID b) {
  ATTACHED(PU);
  dJointSetPUAnchor(joint, 0, 0, 0);
  dJointSetPUAxis1(joint, 0, 1, 0);
  dJointSetPUAxis2(joint, 0, 0, 1);
  dJointSetPUAxis3(joint, 1, 0, 0);
  return joint;
}

static dJointID piston(dWorldID world, dBodyID a, dBodyID b) {
  ATTACHED(Piston);
  dJointSetPistonAnchor(joint, 0, 0, 0);
  dJointSetPistonAxis(joint, 1, 0, 0);
  return joint;
}

static dJointID amotor(dWorldID world, dBodyID a, dBodyID b) {
  dJointID ball = dJointCreateBall(world, 0);
  dJointAttach(ball, a, b);
  dJointSetBallAnchor(ball, 0, 0, 0);
  ATTACHED(AMotor);
  dJointSetAMotorMode(joint, dAMotorEuler);
  dJointSetAMotorAxis(joint, 0, 1, 0, 0, 1);
  dJointSetAMotorAxis(joint, 2, 2, 1, 0, 0);
  return joint;
}

static double amotor_angle(dJointID joint) {
  return dJointGetAMotorAngle(joint, 0);
}

#define ABOUT_Y                                                                \
  {0, 0, -1}, { 0, 1, 0 }
#define ABOUT_Z                                                                \
  {0, 1, 0}, { 0, 0, 1 }
#define ABOUT_X                                                                \
  {0, 0, 0}, { 1, 0, 0 }
#define ALONG_X                                                                \
  {1, 0, 0}, { 0, 0, 0 }

static const stop_case CASES[] = {
    {"hinge", hinge, dJointSetHingeParam, dJointGetHingeAngle, 0, ABOUT_Z},
    {"slider", slider, dJointSetSliderParam, dJointGetSliderPosition, 0,
     ALONG_X},
    {"universal, axis 1", universal, dJointSetUniversalParam,
     dJointGetUniversalAngle1, 0, ABOUT_Z},
    {"universal, axis 2", universal, dJointSetUniversalParam,
     dJointGetUniversalAngle2, dParamGroup2, ABOUT_Y},
    {"hinge2", hinge2, dJointSetHinge2Param, dJointGetHinge2Angle1, 0, ABOUT_Z},
    {"pr, position", pr, dJointSetPRParam, dJointGetPRPosition, 0, ALONG_X},
    {"pr, angle", pr, dJointSetPRParam, dJointGetPRAngle, dParamGroup2,
     ABOUT_Z},
    {"pu, axis 1", pu, dJointSetPUParam, dJointGetPUAngle1, 0, ABOUT_Y},
    {"pu, axis 2", pu, dJointSetPUParam, dJointGetPUAngle2, dParamGroup2,
     ABOUT_Z},
    {"pu, position", pu, dJointSetPUParam, dJointGetPUPosition, dParamGroup3,
     ALONG_X},
    {"piston, position", piston, dJointSetPistonParam, dJointGetPistonPosition,
     0, ALONG_X},
    {"piston, angle", piston, dJointSetPistonParam, dJointGetPistonAngle,
     dParamGroup2, ABOUT_X},
    {"amotor", amotor, dJointSetAMotorParam, amotor_angle, 0, ABOUT_Z}};

enum { N_CASES = sizeof CASES / sizeof CASES[0] };

typedef struct scene {
  dWorldID world;
  dBodyID body[2];
  dJointID joint;
} scene;

/* `speed` of the position's growth. */
static void create(scene *s, const stop_case *of, double speed,
                   bool second_body) {
  s->world = create_world(0, NULL);
  dWorldSetCFM(s->world, 0);
  s->body[0] = create_ball(s->world, 1, 0.4);
  dBodySetPosition(s->body[0], 1, 0, 0);
  s->body[1] = NULL;
  if (second_body) {
    s->body[1] = create_ball(s->world, 3, 0.7);
    dBodySetPosition(s->body[1], -1, 0, 0);
  }
  s->joint = of->create(s->world, s->body[0], s->body[1]);
  dBodySetLinearVel(s->body[0], speed * of->linear[0], speed * of->linear[1],
                    speed * of->linear[2]);
  dBodySetAngularVel(s->body[0], speed * of->angular[0], speed * of->angular[1],
                     speed * of->angular[2]);
}

/* Towards a stop at either side: it is met, and not overshot. What turns about
 * the world stays there; two bodies may come apart again. */
static void check_not_overshot(const stop_case *of, double speed,
                               bool second_body, double bounce) {
  scene s;
  create(&s, of, speed, second_body);
  dWorldStep(s.world, 1e-6); /* some joints know their position after a step */
  double before = of->position(s.joint);
  dWorldStep(s.world, 1e-6);
  dWorldStep(s.world, 1e-6);
  double direction = copysign(1, of->position(s.joint) - before);
  double stop = direction * 0.2317;
  int parameter = direction > 0 ? dParamHiStop : dParamLoStop;
  of->set(s.joint, of->group + parameter, stop);
  of->set(s.joint, of->group + dParamBounce, bounce);
  double worst = -INFINITY, nearest = INFINITY;
  for (int i = 0; i < 150; i++) {
    CU_ASSERT_FATAL(dWorldStep(s.world, STEP));
    double gap = direction * (stop - of->position(s.joint));
    worst = fmax(worst, -gap);
    nearest = fmin(nearest, fabs(gap));
  }
  double end = direction * (stop - of->position(s.joint));
  if (getenv("STOPS_TABLE") != NULL)
    printf("\n%-18s %4.1f %d bounce %g: worst %.3g nearest %.3g end %.3g",
           of->name, speed, second_body, bounce, worst, nearest, end);
  CU_ASSERT(worst < 1e-6);
  if (bounce > 0) {
    CU_ASSERT(end > 0.05);
  } else {
    CU_ASSERT(nearest < 1e-6);
    CU_ASSERT(second_body || end < 1e-6);
  }
  dWorldDestroy(s.world);
}

static void test_no_stop_is_overshot(void) {
  for (int i = 0; i < N_CASES; i++)
    for (int second = CASES[i].create == hinge2; second < 2; second++)
      for (int sign = -1; sign <= 1; sign += 2)
        check_not_overshot(&CASES[i], sign * 1.7, second, 0);
}

static void test_stops_bounce(void) {
  for (int i = 0; i < N_CASES; i++)
    if (CASES[i].create != hinge2)
      check_not_overshot(&CASES[i], 1.7, false, 0.5);
}

/* A motor that drives into a stop keeps its speed up to there. */
static void test_motor_drives_to_the_stop(void) {
  scene s;
  create(&s, &CASES[0], 0, false);
  dJointSetHingeParam(s.joint, dParamHiStop, 0.5);
  dJointSetHingeParam(s.joint, dParamVel, 1);
  dJointSetHingeParam(s.joint, dParamFMax, 100);
  for (int i = 0; i < 200; i++) {
    CU_ASSERT_FATAL(dWorldStep(s.world, STEP));
    double angle = dJointGetHingeAngle(s.joint);
    CU_ASSERT(angle < 0.5 + 1e-9);
    if (i > 10 && i < 40)
      CU_ASSERT_DOUBLE_EQUAL(dBodyGetAngularVel(s.body[0])[2], 1, 1e-9);
  }
  CU_ASSERT_DOUBLE_EQUAL(dJointGetHingeAngle(s.joint), 0.5, 1e-9);
  dWorldDestroy(s.world);
}

/* What a stop that is just met holds is in the joint's feedback. */
static void test_feedback_has_the_stop(void) {
  scene s;
  create(&s, &CASES[0], 0, false);
  dJointFeedback feedback;
  dJointSetHingeParam(s.joint, dParamHiStop, 1e-12);
  dJointSetFeedback(s.joint, &feedback);
  for (int i = 0; i < 5; i++) {
    dBodyAddTorque(s.body[0], 0, 0, 5);
    CU_ASSERT_FATAL(dWorldStep(s.world, STEP));
    CU_ASSERT_DOUBLE_EQUAL(feedback.t1[2], -5, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(feedback.f1[1], 0, 1e-6);
  }
  dWorldDestroy(s.world);
}

/* Whatever pushes a joint to its stop within one step, the stop was not near by
 * the velocities of the step's start: the row comes in after the solve. */
static void test_stop_met_out_of_nowhere(void) {
  scene s;
  create(&s, &CASES[1], 0, true);
  dJointSetSliderParam(s.joint, dParamHiStop, 0.3);
  dBodyID hammer = create_ball(s.world, 1000, 0.5);
  dBodySetPosition(hammer, 3, 0, 0);
  dBodySetLinearVel(hammer, 80, 0, 0);
  /* towed along: neither end of the slider moves by itself */
  dJointID rod = dJointCreateFixed(s.world, 0);
  dJointAttach(rod, s.body[0], hammer);
  dJointSetFixed(rod);
  ode_mlcp_report report;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s.world, STEP, &report), ODE_MLCP_OK);
  CU_ASSERT_EQUAL(report.solves, 2);
  CU_ASSERT(dJointGetSliderPosition(s.joint) < 0.3 + 1e-9);
  CU_ASSERT(dJointGetSliderPosition(s.joint) > 0.3 - 1e-6);
  dWorldDestroy(s.world);
}

int main(void) {
  dInitODE2(0);
  static const CU_TestInfo tests[] = {
      {"no stop is overshot", test_no_stop_is_overshot},
      {"stops bounce", test_stops_bounce},
      {"a motor drives to the stop", test_motor_drives_to_the_stop},
      {"feedback has the stop", test_feedback_has_the_stop},
      {"a stop met out of nowhere", test_stop_met_out_of_nowhere},
      CU_TEST_INFO_NULL};
  int status = run_tests("step stops", tests);
  dCloseODE();
  return status;
}
