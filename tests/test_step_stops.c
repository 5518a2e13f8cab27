/* Joint stops are gaps: rows before they are reached, so that none is overshot.
 */
#include <ode/stepper.h>
#include <stdbool.h>
#include <stdlib.h>

#include "host_rounding.h"
#include "step_testing.h"

static const double STEP = 0.01;

typedef struct stop_case {
  const char *name;
  dJointID (*create)(dWorldID world, dBodyID a, dBodyID b);
  void (*set)(dJointID joint, int parameter, dReal value);
  dReal (*position)(dJointID joint);
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
  joint_ball(world, a, b, 0, 0, 0);
  ATTACHED(AMotor);
  dJointSetAMotorMode(joint, dAMotorEuler);
  dJointSetAMotorAxis(joint, 0, 1, 0, 0, 1);
  dJointSetAMotorAxis(joint, 2, 2, 1, 0, 0);
  return joint;
}

static dReal amotor_angle(dJointID joint) {
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
    CU_ASSERT(second_body || end < of_host(1e-6, 10));
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

/* The force of a stop that is just met is in the joint's feedback. */
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
  joint_fixed(s.world, s.body[0], hammer);
  ode_mlcp_report report;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_step(s.world, STEP, &report), ODE_MLCP_OK);
  CU_ASSERT_EQUAL(report.solves, 2);
  CU_ASSERT(dJointGetSliderPosition(s.joint) < 0.3 + of_host(1e-9, 3));
  CU_ASSERT(dJointGetSliderPosition(s.joint) > 0.3 - 1e-6);
  dWorldDestroy(s.world);
}

/* --- schemes of second order ------------------------------------------------ */

static const int SECOND_ORDER[] = {
    ODE_MLCP_SCHEME_GAP, ODE_MLCP_SCHEME_TRAPEZOID_1, ODE_MLCP_SCHEME_TRAPEZOID,
    ODE_MLCP_SCHEME_CONSERVING};

/* A steady torque drives one or both axes of a universal joint onto their stops,
 * at times that differ. What meets its stop without a bounce stays there. */
static void drive_onto_stops(int scheme, double size, double step, bool both) {
  const double STOP = 0.5, mass = size * size;
  ode_mlcp_options options = options_under(scheme);
  dWorldID world = create_world(0, &options);
  dWorldSetCFM(world, 0);
  dBodyID body =
      create_box(world, NULL, mass, 0.2 * size, 0.3 * size, 0.8 * size);
  dBodySetPosition(body, 0, 0, -0.4 * size);
  dJointID joint = dJointCreateUniversal(world, 0);
  dJointAttach(joint, body, NULL);
  dJointSetUniversalAnchor(joint, 0, 0, 0);
  dJointSetUniversalAxis1(joint, 1, 0, 0);
  dJointSetUniversalAxis2(joint, 0, 1, 0);
  for (int axis = 0; axis < 2; axis++) {
    int group = axis * dParamGroup;
    dJointSetUniversalParam(joint, dParamLoStop + group, -STOP);
    dJointSetUniversalParam(joint, dParamHiStop + group, STOP);
  }
  double torque = 10 * mass * size * size, back = 0, past = 0;
  for (int i = 0; i < 1.5 / step; i++) {
    dJointAddUniversalTorques(joint, torque, both ? torque : 0);
    CU_ASSERT_EQUAL_FATAL(dWorldStep(world, step), 1);
    back = fmax(back, -dJointGetUniversalAngle1Rate(joint));
    past = fmax(past, dJointGetUniversalAngle1(joint) - STOP);
  }
  double slow = of_host(1e-5, 1 / step); /* of some 7 */
  CU_ASSERT(back <= slow);
  CU_ASSERT(past <= 25 * step * step);
  CU_ASSERT_DOUBLE_EQUAL(dJointGetUniversalAngle1(joint), STOP,
                         of_host(1e-9, 1));
  CU_ASSERT_DOUBLE_EQUAL(dJointGetUniversalAngle1Rate(joint), 0, slow);
  if (both)
    CU_ASSERT_DOUBLE_EQUAL(dJointGetUniversalAngle2(joint), STOP,
                           of_host(1e-9, 1));
  dWorldDestroy(world);
}

static void test_second_order_rests_at_stops(void) {
  const double sizes[] = {0.05, 1, 20}, steps[] = {0.001, 0.002, 0.005, 0.02};
  int n_seen = 0;
  for (int s = 0; s < 4; s++)
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 4; k++)
        for (int both = 0; both < 2; both++)
          if (!test_leaves_out(&n_seen))
            drive_onto_stops(SECOND_ORDER[s], sizes[i], steps[k], both);
}

/* A card on a hinge falls over to a stop, at an angle that the host measures from
 * the other side as soon as it is passed. */
static void fall_to_stop(int scheme, double size, double step, double stop,
                         double bounce, bool alone) {
  const double GRAVITY = 9.81, mass = 50 * size * size * size;
  ode_mlcp_options options = options_under(scheme);
  dWorldID world = create_world(GRAVITY, &options);
  dBodyID body = create_box(world, NULL, mass, 0.1 * size, size, size);
  double high = size / 2, turning = -0.15 * sqrt(GRAVITY / size);
  dBodySetPosition(body, 0, 0, high);
  dJointID joint = joint_hinge(world, body, NULL, 0, 0, 0, 0, -1, 0);
  if (!alone) dJointSetHingeParam(joint, dParamLoStop, 0);
  dJointSetHingeParam(joint, dParamHiStop, stop);
  dJointSetHingeParam(joint, dParamBounce, bounce);
  dBodySetAngularVel(body, 0, turning, 0);
  dBodySetLinearVel(body, turning * high, 0, 0);

  dMass card;
  dBodyGetMass(body, &card);
  double inertia = card.I[5] + mass * high * high, most = 0, hit = 0;
  double whole = mass * GRAVITY * high, first = inertia * turning * turning / 2;
  for (int i = 0; i < 60 * sqrt(size / GRAVITY) / step; i++) {
    CU_ASSERT_EQUAL_FATAL(dWorldStep(world, step), 1);
    double rate = dJointGetHingeAngleRate(joint);
    double fallen = high - dBodyGetPosition(body)[2];
    most = fmax(most, inertia * rate * rate / 2 - mass * GRAVITY * fallen);
    hit = fmin(hit, rate);
  }
  double given = bounce * sqrt(2 * (first + whole * (1 - cos(stop))) / inertia);
  /* an impact is found to third order: what is past its stop falls back */
  double fallen_back =
      10 * pow(step * sqrt(GRAVITY / size), 3) * sqrt(GRAVITY / size);
  CU_ASSERT(-hit <= given + fallen_back + 1e-9);
  if (scheme == ODE_MLCP_SCHEME_CONSERVING)
    CU_ASSERT(most - first <= 1e-3 * whole);
  if (bounce == 0)
    CU_ASSERT_DOUBLE_EQUAL(dJointGetHingeAngle(joint), stop, 1e-6);
  dWorldDestroy(world);
}

static void test_stops_near_half_a_turn(void) {
  const double sizes[] = {0.1, 2}, stops[] = {2, 3, 3.14}, bounces[] = {0, 0.5};
  const double parts[] = {0.04, 0.15, 0.3}; /* of sqrt(size / gravity) */
  int n_seen = 0;
  for (int s = 1; s < 4; s++)
    for (int i = 0; i < 2; i++)
      for (int k = 0; k < 3; k++)
        for (int p = 0; p < 3; p++)
          for (int b = 0; b < 2; b++)
            if (!test_leaves_out(&n_seen))
              fall_to_stop(SECOND_ORDER[s], sizes[i],
                           parts[p] * sqrt(sizes[i] / 9.81), stops[k],
                           bounces[b], n_seen % 2 == 0);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"no stop is overshot", test_no_stop_is_overshot},
      {"stops bounce", test_stops_bounce},
      {"a motor drives to the stop", test_motor_drives_to_the_stop},
      {"feedback has the stop", test_feedback_has_the_stop},
      {"a stop met out of nowhere", test_stop_met_out_of_nowhere},
      {"second order rests at stops", test_second_order_rests_at_stops},
      {"stops near half a turn", test_stops_near_half_a_turn},
      CU_TEST_INFO_NULL};
  return run_host_tests("step stops", tests);
}
