/* Worlds that stock dWorldStep solves exactly, stepped both ways: bodies alone,
 * joints of every type, contacts without friction or without slip. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "host_rounding.h"
#include "host_testing.h"
#include "ode_mlcp.h"

enum { MAX_BODIES = 16, MAX_JOINTS = 16 };

typedef struct scene {
  dWorldID world;
  dBodyID body[MAX_BODIES];
  dJointID joint[MAX_JOINTS];
  dJointFeedback feedback[MAX_JOINTS];
  int n_bodies, n_joints;
  double contact_offset; /* of the contact from under the centre, along x */
  bool reversed;         /* the contact is attached as (0, body) */
} scene;

static dBodyID add_body(scene *s, double x, double y, double z) {
  dBodyID body = dBodyCreate(s->world);
  dMass mass;
  dMassSetBox(&mass, 1, 1, 1.5, 0.5);
  dBodySetMass(body, &mass);
  dBodySetPosition(body, x, y, z);
  s->body[s->n_bodies++] = body;
  return body;
}

static dJointID keep_joint(scene *s, dJointID joint) {
  dJointSetFeedback(joint, &s->feedback[s->n_joints]);
  s->joint[s->n_joints++] = joint;
  return joint;
}

typedef void build_scene(scene *s);
typedef void before_step(scene *s, int step);

static void create(scene *s, build_scene *build, bool ours) {
  memset(s, 0, sizeof *s);
  s->world = dWorldCreate();
  dWorldSetGravity(s->world, 0, 0.5, -9.81);
  /* what a host in single precision has unless it is told is 1e-5, which only stock
   * takes as it stands */
  dWorldSetCFM(s->world, 1e-10);
  ode_mlcp_options options = default_options();
  options.margin = 0; /* stops only once they are overshot, as stock has them */
  options.max_correction = INFINITY; /* stock's way to correct positions */
  if (ours) CU_ASSERT_EQUAL(ode_mlcp_attach(s->world, &options), ODE_MLCP_OK);
  build(s);
}

static double difference(const dReal *a, const dReal *b, int count) {
  double worst = 0;
  for (int i = 0; i < count; i++) {
    double apart = fabs(a[i] - b[i]);
    if (!(apart <= worst)) worst = isnan(apart) ? INFINITY : apart;
  }
  return worst;
}

static double body_difference(dBodyID a, dBodyID b) {
  const struct {
    const dReal *a, *b;
    int count;
  } parts[] = {{dBodyGetPosition(a), dBodyGetPosition(b), 3},
               {dBodyGetQuaternion(a), dBodyGetQuaternion(b), 4},
               {dBodyGetLinearVel(a), dBodyGetLinearVel(b), 3},
               {dBodyGetAngularVel(a), dBodyGetAngularVel(b), 3},
               {dBodyGetForce(a), dBodyGetForce(b), 3},
               {dBodyGetTorque(a), dBodyGetTorque(b), 3}};
  double worst = dBodyIsEnabled(a) == dBodyIsEnabled(b) ? 0 : INFINITY;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    worst = fmax(worst, difference(parts[i].a, parts[i].b, parts[i].count));
  return worst;
}

static double worst_difference(const scene *a, const scene *b) {
  double worst = 0;
  for (int i = 0; i < a->n_bodies; i++)
    worst = fmax(worst, body_difference(a->body[i], b->body[i]));
  return worst;
}

static double worst_feedback_difference(const scene *a, const scene *b) {
  double worst = 0;
  for (int i = 0; i < a->n_joints; i++) {
    const dJointFeedback *p = &a->feedback[i], *q = &b->feedback[i];
    worst = fmax(worst, difference(p->f1, q->f1, 3));
    worst = fmax(worst, difference(p->t1, q->t1, 3));
    /* stock writes nothing for the world's side */
    if (dJointGetBody(a->joint[i], 0) == NULL ||
        dJointGetBody(a->joint[i], 1) == NULL)
      continue;
    worst = fmax(worst, difference(p->f2, q->f2, 3));
    worst = fmax(worst, difference(p->t2, q->t2, 3));
  }
  return worst;
}

static void finish(scene *s) { dWorldDestroy(s->world); }

/* Step both worlds; the states stay within `tolerance`, feedback forces (of
 * some tens of newtons) within a thousand times that. */
static void compare(build_scene *build, before_step *before, int steps,
                    double tolerance) {
  scene ours, stock;
  tolerance = of_host(tolerance, 5 * steps); /* metres, each step rounded */
  create(&ours, build, true);
  create(&stock, build, false);
  for (int step = 0; step < steps; step++) {
    if (before != NULL) before(&ours, step);
    if (before != NULL) before(&stock, step);
    CU_ASSERT_EQUAL_FATAL(dWorldStep(ours.world, 0.01), 1);
    CU_ASSERT_EQUAL_FATAL(dWorldStep(stock.world, 0.01), 1);
    CU_ASSERT(worst_difference(&ours, &stock) < tolerance);
    CU_ASSERT(worst_feedback_difference(&ours, &stock) < 1e3 * tolerance);
  }

  /* negative control */
  dBodySetLinearVel(ours.body[0], 100, 0, 0);
  CU_ASSERT(worst_difference(&ours, &stock) > tolerance);
  finish(&ours);
  finish(&stock);
}

/* The scene after `steps` of our steps; to be finished by the caller. */
static scene step_ours(build_scene *build, before_step *before, int steps) {
  scene s;
  create(&s, build, true);
  for (int i = 0; i < s.n_joints; i++)
    dJointSetFeedback(s.joint[i], NULL); /* `s` is returned by value */
  for (int step = 0; step < steps; step++) {
    if (before != NULL) before(&s, step);
    CU_ASSERT_EQUAL_FATAL(dWorldStep(s.world, 0.01), 1);
  }
  return s;
}

/* --- bodies alone -------------------------------------------------------- */

static void build_bodies(scene *s) {
  for (int i = 0; i < 8; i++) {
    dBodyID body = add_body(s, i, 0.1 * i, 1);
    dBodySetLinearVel(body, 1, 2, 3);
    dBodySetAngularVel(body, 4, 5 + i, 0.3);
  }
  dBodySetGravityMode(s->body[1], 0);
  dBodySetGyroscopicMode(s->body[2], 0);
  dBodySetFiniteRotationMode(s->body[3], 1);
  dBodySetFiniteRotationMode(s->body[4], 1);
  dBodySetFiniteRotationAxis(s->body[4], 0, 1, 0);
  dBodySetDamping(s->body[5], 0.01, 0.02);
  dBodySetMaxAngularSpeed(s->body[6], 3);
  dBodySetKinematic(s->body[7]);
}

static void push_bodies(scene *s, int step) {
  dBodyAddForce(s->body[0], 3, 0, step % 3);
  dBodyAddRelTorque(s->body[0], 0.1, 0.2, 0);
  dBodyAddForceAtPos(s->body[5], 0, 1, 0, 1, 1, 1);
  if (step == 40) dBodyDisable(s->body[3]);
}

static void test_bodies_alone(void) {
  compare(build_bodies, push_bodies, 100, 1e-10);
}

/* --- joints -------------------------------------------------------------- */

static void build_chain(scene *s) {
  add_body(s, 0, 0, 0);
  for (int i = 1; i < 6; i++) {
    add_body(s, i, 0, 0);
    dJointID joint =
        i % 2 ? dJointCreateBall(s->world, 0) : dJointCreateHinge(s->world, 0);
    keep_joint(s, joint);
    dJointAttach(joint, s->body[i - 1], s->body[i]);
    if (i % 2) {
      dJointSetBallAnchor(joint, i - 0.5, 0, 0);
    } else {
      dJointSetHingeAnchor(joint, i - 0.5, 0, 0);
      dJointSetHingeAxis(joint, 0, 1, 0.2);
    }
  }
  dJointID world_joint = keep_joint(s, dJointCreateBall(s->world, 0));
  dJointAttach(world_joint, 0, s->body[0]);
  dJointSetBallAnchor(world_joint, -0.5, 0, 0);
}

static void build_hinge_motor(scene *s) {
  add_body(s, 0, 0, 0);
  add_body(s, 1, 0, 0);
  dJointID hinge = keep_joint(s, dJointCreateHinge(s->world, 0));
  dJointAttach(hinge, s->body[0], s->body[1]);
  dJointSetHingeAnchor(hinge, 0.5, 0, 0);
  dJointSetHingeAxis(hinge, 0, 0, 1);
  dJointSetHingeParam(hinge, dParamVel, 2);
  dJointSetHingeParam(hinge, dParamFMax, 1.5);
  dJointSetHingeParam(hinge, dParamHiStop, 0.4);
  dJointSetHingeParam(hinge, dParamLoStop, -0.4);
  dJointSetHingeParam(hinge, dParamBounce, 0.3);
  dJointSetHingeParam(hinge, dParamFudgeFactor, 0.7);
}

static void build_slider_stop(scene *s) {
  add_body(s, 0, 0, 0);
  dJointID slider = keep_joint(s, dJointCreateSlider(s->world, 0));
  dJointAttach(slider, s->body[0], 0);
  dJointSetSliderAxis(slider, 0, 0, 1);
  dJointSetSliderParam(slider, dParamHiStop, 0.3);
  dJointSetSliderParam(slider, dParamLoStop, -0.3);
  dJointSetSliderParam(slider, dParamStopCFM, 1e-4);
  add_body(s, 5, 0, 0);
  add_body(s, 5, 0, 1);
  dJointID pair = keep_joint(s, dJointCreateSlider(s->world, 0));
  dJointAttach(pair, s->body[1], s->body[2]);
  dJointSetSliderAxis(pair, 1, 0, 1);
  dJointSetSliderParam(pair, dParamVel, 1);
  dJointSetSliderParam(pair, dParamFMax, 20);
}

static void build_suspension(scene *s) {
  add_body(s, 0, 0, 1);
  add_body(s, 1, 0, 0.5);
  dJointID hinge2 = keep_joint(s, dJointCreateHinge2(s->world, 0));
  dJointAttach(hinge2, s->body[0], s->body[1]);
  const dVector3 steering = {0, 0, 1}, axle = {0, 1, 0};
  dJointSetHinge2Anchor(hinge2, 1, 0, 0.5);
  dJointSetHinge2Axes(hinge2, steering, axle);
  dJointSetHinge2Param(hinge2, dParamSuspensionERP, 0.4);
  dJointSetHinge2Param(hinge2, dParamSuspensionCFM, 0.01);
  dJointSetHinge2Param(hinge2, dParamVel2, 5);
  dJointSetHinge2Param(hinge2, dParamFMax2, 2);
  dJointSetHinge2Param(hinge2, dParamLoStop, -0.1);
  dJointSetHinge2Param(hinge2, dParamHiStop, 0.1);
}

/* But for a PU: docs/differences.md. */
static void build_others(scene *s) {
  for (int i = 0; i < 10; i++) add_body(s, 3 * (i / 2), i % 2, 0);
  dJointID (*const creates[])(dWorldID, dJointGroupID) = {
      dJointCreateUniversal, dJointCreateFixed, dJointCreatePR,
      dJointCreatePiston, dJointCreateDBall};
  for (int i = 0; i < 5; i++) {
    dJointID joint = keep_joint(s, creates[i](s->world, 0));
    dJointAttach(joint, s->body[2 * i], s->body[2 * i + 1]);
    if (dJointGetType(joint) == dJointTypeFixed) dJointSetFixed(joint);
    dBodySetAngularVel(s->body[2 * i], 0.3, 0.2, 0.1);
    dBodySetLinearVel(s->body[2 * i + 1], 0, 0.1, 0.2);
  }
}

/* Motors without a body joint, gears, a plane, a hinge on a moving kinematic
 * body. */
static void build_powered(scene *s) {
  for (int i = 0; i < 10; i++) add_body(s, 3 * (i / 2), i % 2, 0);
  dBodySetAngularVel(s->body[1], 1, 0.2, 0.3);

  dJointID turn = keep_joint(s, dJointCreateAMotor(s->world, 0));
  dJointAttach(turn, s->body[0], s->body[1]);
  dJointSetAMotorNumAxes(turn, 2);
  dJointSetAMotorAxis(turn, 0, 1, 1, 0, 0);
  dJointSetAMotorAxis(turn, 1, 2, 0, 1, 0);
  dJointSetAMotorParam(turn, dParamVel1, 1);
  dJointSetAMotorParam(turn, dParamFMax1, 0.1);
  dJointSetAMotorParam(turn, dParamFMax2, 100);

  dJointID push = keep_joint(s, dJointCreateLMotor(s->world, 0));
  dJointAttach(push, s->body[2], s->body[3]);
  dJointSetLMotorNumAxes(push, 1);
  dJointSetLMotorAxis(push, 0, 0, 0, 1, 0);
  dJointSetLMotorParam(push, dParamVel, 2);
  dJointSetLMotorParam(push, dParamFMax, 3);

  dJointID gear = keep_joint(s, dJointCreateTransmission(s->world, 0));
  dJointAttach(gear, s->body[4], s->body[5]);
  dJointSetTransmissionMode(gear, dTransmissionParallelAxes);
  dJointSetTransmissionAxis(gear, 0, 0, 1);
  dJointSetTransmissionRatio(gear, 2);
  dJointSetTransmissionAnchor1(gear, 6, 0, 0);
  dJointSetTransmissionAnchor2(gear, 6, 1, 0);
  for (int i = 4; i < 6; i++) {
    dJointID axle = keep_joint(s, dJointCreateHinge(s->world, 0));
    dJointAttach(axle, s->body[i], 0);
    dJointSetHingeAnchor(axle, 6, i - 4, 0);
    dJointSetHingeAxis(axle, 0, 0, 1);
  }
  dBodySetAngularVel(s->body[4], 0, 0, 2);

  dJointID plane = keep_joint(s, dJointCreatePlane2D(s->world, 0));
  dJointAttach(plane, s->body[6], 0);
  dJointSetPlane2DXParam(plane, dParamVel, 1);
  dJointSetPlane2DXParam(plane, dParamFMax, 2);
  dBodySetAngularVel(s->body[6], 0, 0, 3);

  dBodySetKinematic(s->body[8]);
  dBodySetLinearVel(s->body[8], 0.5, 0, 1);
  dBodySetAngularVel(s->body[8], 0, 0, 1);
  dJointID hinge = keep_joint(s, dJointCreateHinge(s->world, 0));
  dJointAttach(hinge, s->body[8], s->body[9]);
  dJointSetHingeAnchor(hinge, 12, 0.5, 0);
  dJointSetHingeAxis(hinge, 1, 0, 0);
}

static void build_double_hinge(scene *s) {
  add_body(s, 0, 0, 0);
  add_body(s, 0, 1, 0);
  dJointID joint = keep_joint(s, dJointCreateDHinge(s->world, 0));
  dJointAttach(joint, s->body[0], s->body[1]);
  dJointSetDHingeAxis(joint, 0, 0, 1);
  dJointSetDHingeAnchor1(joint, 0, 0.2, 0);
  dJointSetDHingeAnchor2(joint, 0, 0.7, 0);
  dJointAttach(keep_joint(s, dJointCreateNull(s->world, 0)), s->body[0], 0);
  dBodySetAngularVel(s->body[0], 0.1, 0.2, 3);
}

static void build_disabled_joint(scene *s) {
  build_chain(s);
  dJointDisable(s->joint[2]);
}

static void test_joints(void) {
  static const struct {
    build_scene *build;
    int steps;
  } cases[] = {{build_chain, 60},         {build_slider_stop, 150},
               {build_suspension, 100},   {build_others, 60},
               {build_powered, 60},       {build_double_hinge, 60},
               {build_disabled_joint, 40}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    compare(cases[i].build, NULL, cases[i].steps, 1e-6);
}

/* What is compared is at its stops, or on its way. */
static void test_stops_are_met(void) {
  scene s = step_ours(build_slider_stop, NULL, 150);
  CU_ASSERT_DOUBLE_EQUAL(dJointGetSliderPosition(s.joint[0]), -0.3, 0.02);
  CU_ASSERT(fabs(dJointGetSliderPosition(s.joint[1])) > 0.5);
  finish(&s);

  if (left_out_in_single("a stop that is met a step sooner or later")) return;
  compare(build_hinge_motor, NULL, 150, 1e-6);
  s = step_ours(build_hinge_motor, NULL, 150);
  CU_ASSERT_DOUBLE_EQUAL(fabs(dJointGetHingeAngle(s.joint[0])), 0.4, 0.02);
  finish(&s);
}

/* --- contacts ------------------------------------------------------------ */

static void build_ball(scene *s) {
  dBodyID body = add_body(s, 0, 0, 0.499);
  dBodySetLinearVel(body, 1, 0, -2);
  dBodySetAngularVel(body, 0.2, 0.1, 0);
  dWorldSetContactSurfaceLayer(s->world, 1e-4);
  dWorldSetContactMaxCorrectingVel(s->world, 0.3);
  s->contact_offset = 0.01;
}

static double ball_depth(const scene *s) {
  return 0.5 - dBodyGetPosition(s->body[0])[2];
}

/* One contact near under the centre; joint 0 is made anew each step. */
static void add_contact(scene *s, int mode, double mu) {
  if (s->n_joints > 0) dJointDestroy(s->joint[0]);
  s->n_joints = 0;
  if (ball_depth(s) < 0) return;
  dContact contact;
  memset(&contact, 0, sizeof contact);
  contact.surface = (dSurfaceParameters){.mode = mode,
                                         .mu = mu,
                                         .bounce = 0.4,
                                         .bounce_vel = 0.05,
                                         .soft_erp = 0.6,
                                         .soft_cfm = 1e-3,
                                         .motion1 = 0.3,
                                         .motion2 = -0.2,
                                         .motionN = 0.1,
                                         .slip1 = 0.02,
                                         .slip2 = 0.03};
  const dReal *x = dBodyGetPosition(s->body[0]);
  contact.geom.pos[0] = x[0] + s->contact_offset;
  contact.geom.pos[1] = x[1];
  contact.geom.normal[2] = s->reversed ? -1 : 1;
  contact.geom.depth = ball_depth(s);
  dJointID joint = keep_joint(s, dJointCreateContact(s->world, 0, &contact));
  dBodyID ground = s->n_bodies > 1 ? s->body[1] : 0;
  dJointAttach(joint, s->reversed ? ground : s->body[0],
               s->reversed ? s->body[0] : ground);
}

static void frictionless(scene *s, int step) {
  (void)step;
  add_contact(s, 0, 0);
}
static void bouncing(scene *s, int step) {
  (void)step;
  add_contact(s, dContactBounce, 0);
}
static void soft(scene *s, int step) {
  (void)step;
  add_contact(s, dContactSoftERP | dContactSoftCFM | dContactMotionN, 0);
}
static void rough(scene *s, int step) {
  (void)step;
  add_contact(s, dContactMotion1 | dContactMotion2, dInfinity);
}
static void slipping(scene *s, int step) {
  (void)step;
  add_contact(s, dContactSlip1 | dContactSlip2, dInfinity);
}

static void build_reversed_ball(scene *s) {
  build_ball(s);
  s->reversed = true;
}

/* On a platform that moves and turns. */
static void build_ball_on_platform(scene *s) {
  build_ball(s);
  dBodyID platform = add_body(s, 0.2, 0.1, -0.5);
  dBodySetKinematic(platform);
  dBodySetLinearVel(platform, 0.3, 0.1, 0);
  dBodySetAngularVel(platform, 0, 0, 0.5);
}

/* On another body, both falling. */
static void build_ball_on_body(scene *s) {
  build_ball(s);
  add_body(s, 0.2, 0.1, -0.5);
}

static void test_contacts(void) {
  build_scene *const builds[] = {build_ball, build_reversed_ball,
                                 build_ball_on_platform, build_ball_on_body};
  before_step *const surfaces[] = {bouncing, rough, slipping, frictionless,
                                   soft};
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < (i == 0 ? 5 : 3); k++)
      compare(builds[i], surfaces[k], 60, 1e-7);
}

/* --- auto-disable -------------------------------------------------------- */

static void build_sleeper(scene *s) {
  build_ball(s);
  dBodySetLinearVel(s->body[0], 0, 0, 0);
  dBodySetAngularVel(s->body[0], 0, 0, 0);
  s->contact_offset = 0;
  dWorldSetGravity(s->world, 0, 0, -9.81);
  dBodySetAutoDisableFlag(s->body[0], 1);
  dBodySetAutoDisableSteps(s->body[0], 7);
  dBodySetAutoDisableAverageSamplesCount(s->body[0], 4);
}

static void sleepy(scene *s, int step) {
  add_contact(s, 0, 0);
  if (step == 60) dBodyEnable(s->body[0]);
}

static void test_auto_disable(void) {
  compare(build_sleeper, sleepy, 100, 1e-7);

  scene s = step_ours(build_sleeper, sleepy, 50);
  CU_ASSERT_FALSE(dBodyIsEnabled(s.body[0]));
  finish(&s);
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"bodies alone", test_bodies_alone},   {"joints", test_joints},
      {"stops are met", test_stops_are_met}, {"contacts", test_contacts},
      {"auto-disable", test_auto_disable},   CU_TEST_INFO_NULL};
  return run_host_tests("step against stock", tests);
}
