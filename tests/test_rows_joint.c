/* Joint rows of every type, as the host gives them, and without side effects.
 */
#include <ode/stepper.h>

#include "host_rounding.h"
#include "rows/joint_rows.h"
#include "step_testing.h"

static const double STEP = 0.02;

static const struct {
  dJointID (*create)(dWorldID world, dJointGroupID group);
  int rows; /* with no stop reached and no motor */
  bool one_body;
} TYPES[] = {
    {dJointCreateAMotor, 0, false},       {dJointCreateBall, 3, false},
    {dJointCreateDBall, 1, false},        {dJointCreateDHinge, 4, false},
    {dJointCreateFixed, 6, false},        {dJointCreateHinge, 5, false},
    {dJointCreateHinge2, 4, false},       {dJointCreateLMotor, 0, false},
    {dJointCreateNull, 0, false},         {dJointCreatePiston, 4, false},
    {dJointCreatePlane2D, 3, true},       {dJointCreatePR, 4, false},
    {dJointCreatePU, 3, false},           {dJointCreateSlider, 5, false},
    {dJointCreateTransmission, 1, false}, {dJointCreateUniversal, 4, false},
};

typedef struct scene {
  dWorldID world;
  dBodyID body[2];
  dJointID joint;
} scene;

static dBodyID create_body(dWorldID world, test_random *random) {
  dBodyID body = dBodyCreate(world);
  dMass mass;
  dMassSetBox(&mass, 1, 1, 2, 3);
  dBodySetMass(body, &mass);
  dBodySetPosition(body, test_uniform(random, -2, 2),
                   test_uniform(random, -2, 2), test_uniform(random, -2, 2));
  dBodySetLinearVel(body, test_uniform(random, -1, 1),
                    test_uniform(random, -1, 1), test_uniform(random, -1, 1));
  dBodySetAngularVel(body, test_uniform(random, -1, 1),
                     test_uniform(random, -1, 1), test_uniform(random, -1, 1));
  return body;
}

/* A joint of type `t`, its bodies then moved so that it has errors. */
static scene create_scene(size_t t, uint64_t seed) {
  test_random random = {seed};
  scene s = {.world = dWorldCreate()};
  dWorldSetERP(s.world, 0.3);
  dWorldSetCFM(s.world, 1e-7);
  for (int b = 0; b < 2; b++) s.body[b] = create_body(s.world, &random);
  s.joint = TYPES[t].create(s.world, NULL);
  dJointAttach(s.joint, s.body[0], TYPES[t].one_body ? 0 : s.body[1]);
  if (dJointGetType(s.joint) == dJointTypeFixed) dJointSetFixed(s.joint);
  if (dJointGetType(s.joint) == dJointTypeDHinge)
    dJointSetDHingeAxis(s.joint, 0, 0, 1); /* it has none by default */
  if (dJointGetType(s.joint) == dJointTypeTransmission) {
    dJointSetTransmissionAxis(s.joint, 0, 0, 1);
    dJointSetTransmissionRatio(s.joint, 2);
    dJointSetTransmissionAnchor1(s.joint, 0, 0, 0);
    dJointSetTransmissionAnchor2(s.joint, 1, 0, 0);
  }
  if (seed % 2 != 0) {
    const dReal *x = dBodyGetPosition(s.body[0]);
    dBodySetPosition(s.body[0], x[0] + 0.05, x[1] - 0.02, x[2] + 0.03);
  }
  return s;
}

/* A reading has the host's numbers, whatever their precision; but for where rows of a PR
 * or PU act. */
static bool are_same(const dStepperJointRows *host, const host_rows *ours,
                     dJointType type) {
  if (host->count != ours->count) return false;
  for (unsigned i = 0; i < host->count; i++) {
    if (host->rhs[i] != ours->rhs[i] || host->cfm[i] != ours->cfm[i] ||
        host->lo[i] != ours->lo[i] || host->hi[i] != ours->hi[i])
      return false;
    for (int k = 0; k < 12; k++)
      if (host->J[i][k / 6][k % 6] != ours->J[i][k / 6][k % 6] &&
          type != dJointTypePU && type != dJointTypePR)
        return false;
  }
  for (int k = 0; k < 12; k++)
    if (host->force[k / 6][k % 6] != ours->force[k / 6][k % 6]) return false;
  return true;
}

static void test_every_type_has_its_rows(void) {
  for (size_t t = 0; t < sizeof TYPES / sizeof TYPES[0]; t++)
    for (uint64_t seed = 1; seed <= 20; seed++) {
      scene s = create_scene(t, seed);
      uint64_t before = hash_bodies(s.body, 2);
      dStepperJointRows host;
      host_joint_rows reading;
      double bad_value;
      CU_ASSERT_FATAL(dJointGetStepperRows(s.joint, 1 / STEP, 0.3, &host));
      CU_ASSERT_FATAL(
          host_joint_read(&reading, s.joint, STEP, ODE_MLCP_ERP_HOST));
      CU_ASSERT_EQUAL((int)host.count, TYPES[t].rows);
      CU_ASSERT(are_same(&host, &reading.rows, dJointGetType(s.joint)));
      CU_ASSERT_PTR_NULL(host_joint_bad_value(&reading, &bad_value));
      CU_ASSERT_EQUAL(hash_bodies(s.body, 2), before);
      dWorldDestroy(s.world);
    }
}

/* What joins two bodies changes neither their momentum nor their angular momentum: a
 * PU drawn out does so no less. A transmission alone is held by a frame. */
static void test_rows_keep_momentum(void) {
  for (size_t t = 0; t < sizeof TYPES / sizeof TYPES[0]; t++)
    for (uint64_t seed = 1; seed <= 20; seed++) {
      scene s = create_scene(t, 2 * seed);
      dJointType type = dJointGetType(s.joint);
      host_joint_rows reading;
      if (type == dJointTypePU) {
        const dReal *x = dBodyGetPosition(s.body[0]);
        dBodySetPosition(s.body[0], x[0] + 1, x[1] - 2, x[2] + 3);
      }
      CU_ASSERT_FATAL(
          host_joint_read(&reading, s.joint, STEP, ODE_MLCP_ERP_HOST));
      for (unsigned i = 0; i < reading.rows.count && !TYPES[t].one_body &&
                           type != dJointTypeTransmission;
           i++) {
        double linear[3] = {0}, angular[3] = {0};
        for (int side = 0; side < 2; side++) {
          const dReal *x = dBodyGetPosition(s.body[side]);
          const double *J = reading.rows.J[i][side];
          for (int k = 0; k < 3; k++) {
            int next = (k + 1) % 3, last = (k + 2) % 3;
            linear[k] += J[k];
            angular[k] += x[next] * J[last] - x[last] * J[next] + J[3 + k];
          }
        }
        for (int k = 0; k < 3; k++) {
          CU_ASSERT_DOUBLE_EQUAL(linear[k], 0, of_host(1e-12, 4));
          CU_ASSERT_DOUBLE_EQUAL(angular[k], 0, of_host(1e-12, 4));
        }
      }
      dWorldDestroy(s.world);
    }
}

static double gap_of_stop(dJointID joint, host_stop *stop) {
  host_stop stops[dStepperJointStopsMax];
  CU_ASSERT_EQUAL_FATAL(host_joint_read_stops(joint, false, stops), 1);
  *stop = stops[0];
  return stop->gap;
}

/* As the second body's anchor moves on the first one's axis, whatever turns. */
static void test_a_slides_stop_has_the_rate_of_its_gap(void) {
  const double WAY = 0x1p-20;
  if (left_out_in_single("a difference of positions")) return;
  for (int kind = 0; kind < 2; kind++) {
    scene s = create_scene(kind == 0 ? 11 : 12, 3);
    if (kind == 0)
      dJointSetPRParam(s.joint, dParamLoStop, -9);
    else
      dJointSetPUParam(s.joint, dParamLoStop3, -9);
    for (int k = 0; k < 12; k++) {
      dBodyID body = s.body[k / 6];
      const dReal *at = dBodyGetPosition(body);
      const dReal place[3] = {at[0], at[1], at[2]};
      host_stop stop;
      double gap[2];
      for (int end = 0; end < 2; end++) {
        double way[6] = {0};
        way[k % 6] = end == 0 ? -WAY : WAY;
        const dQuaternion turned = {1, way[3] / 2, way[4] / 2, way[5] / 2};
        dBodySetPosition(body, place[0] + way[0], place[1] + way[1],
                         place[2] + way[2]);
        dBodySetQuaternion(body, turned);
        gap[end] = gap_of_stop(s.joint, &stop);
      }
      const dQuaternion start = {1, 0, 0, 0};
      dBodySetPosition(body, place[0], place[1], place[2]);
      dBodySetQuaternion(body, start);
      gap_of_stop(s.joint, &stop);
      CU_ASSERT_DOUBLE_EQUAL((gap[1] - gap[0]) / (2 * WAY),
                             stop.J[k / 6][k % 6], 1e-8);
    }
    dWorldDestroy(s.world);
  }
}

/* The row's terms reach the problem: w = J v + (cfm/h) p - rhs. */
static void test_rows_enter_the_problem(void) {
  const int body[2] = {0, 1}, problem_body[2] = {0, 1};
  for (size_t t = 0; t < sizeof TYPES / sizeof TYPES[0]; t++) {
    scene s = create_scene(t, 3);
    host_joint_rows reading;
    host_joint_read(&reading, s.joint, STEP, ODE_MLCP_ERP_HOST);
    mlcp_row rows[6];
    row_correction parts[6];
    row_set set = {.rows = rows, .corrections = parts};
    row_frame frame = {.problem_body = problem_body,
                       .step_size = STEP,
                       .max_correction = INFINITY};
    int one_body[2] = {0, -1}, row_of[6];
    joint_rows_add(&set, &frame, &reading, TYPES[t].one_body ? one_body : body,
                   dWorldGetCFM(s.world), JOINT_LEVEL_POSITION, NULL, row_of);
    for (int i = 0; i < 6; i++)
      CU_ASSERT_EQUAL(row_of[i], i < set.n_rows ? i : -1);
    CU_ASSERT_EQUAL(set.n_rows, (int)reading.rows.count);
    for (int i = 0; i < set.n_rows; i++) {
      CU_ASSERT_EQUAL(rows[i].bias, -reading.rows.rhs[i]);
      CU_ASSERT_EQUAL(rows[i].compliance, reading.rows.cfm[i] / STEP);
      CU_ASSERT_EQUAL(rows[i].low, STEP * reading.rows.lo[i]);
      CU_ASSERT_EQUAL(memcmp(rows[i].J[0], reading.rows.J[i][0], 48), 0);
    }

    /* a rigid row's correction may go elsewhere in part */
    frame.joint_excess = 0.75;
    set.n_rows = 0;
    joint_rows_add(&set, &frame, &reading, TYPES[t].one_body ? one_body : body,
                   dWorldGetCFM(s.world), JOINT_LEVEL_POSITION, NULL, row_of);
    for (int i = 0; i < set.n_rows; i++) {
      CU_ASSERT_DOUBLE_EQUAL(parts[i].velocity, 0.25 * reading.correction[i],
                             of_host(1e-12, 1 / STEP));
      CU_ASSERT_DOUBLE_EQUAL(parts[i].excess, 0.75 * reading.correction[i],
                             of_host(1e-12, 1 / STEP));
      CU_ASSERT_DOUBLE_EQUAL(rows[i].bias - parts[i].excess,
                             -reading.rows.rhs[i], of_host(1e-12, 1 / STEP));
    }

    /* or be left to an impact */
    set.n_rows = 0;
    joint_rows_add(&set, &frame, &reading, TYPES[t].one_body ? one_body : body,
                   dWorldGetCFM(s.world), JOINT_LEVEL_VELOCITY, NULL, row_of);
    for (int i = 0; i < set.n_rows; i++)
      CU_ASSERT_DOUBLE_EQUAL(rows[i].bias,
                             reading.correction[i] - reading.rows.rhs[i],
                             of_host(1e-12, 1 / STEP));
    dWorldDestroy(s.world);
  }
}

/* A slider and a hinge, powered into a stop and away from it. */
static void test_powered_stop_forces_are_reported_not_applied(void) {
  for (int powered_away = 0; powered_away < 2; powered_away++) {
    scene s = create_scene(5, 2); /* hinge */
    dJointSetHingeAnchor(s.joint, 0, 0, 0);
    dJointSetHingeAxis(s.joint, 0, 0, 1);
    dJointSetHingeParam(s.joint, dParamLoStop, 0.1);
    dJointSetHingeParam(s.joint, dParamHiStop, 1.0);
    dJointSetHingeParam(s.joint, dParamVel, powered_away ? 1 : -1);
    dJointSetHingeParam(s.joint, dParamFMax, 7);
    dJointSetHingeParam(s.joint, dParamFudgeFactor, 0.5);

    uint64_t before = hash_bodies(s.body, 2);
    host_joint_rows reading;
    CU_ASSERT(host_joint_read(&reading, s.joint, STEP, ODE_MLCP_ERP_HOST));
    CU_ASSERT_EQUAL(hash_bodies(s.body, 2), before);
    CU_ASSERT_EQUAL_FATAL(reading.rows.count, 6);
    CU_ASSERT_EQUAL(reading.rows.lo[5], 0);
    CU_ASSERT_EQUAL(reading.rows.hi[5], dInfinity);

    /* at the low stop: all of the motor's torque into it, a fraction away */
    double torque = powered_away ? 0.5 * 7 : -7;
    CU_ASSERT_DOUBLE_EQUAL(reading.rows.force[0][5], torque, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(reading.rows.force[1][5], -torque, 1e-12);
    dWorldDestroy(s.world);
  }
}

static void test_erp_number_replaces_the_worlds(void) {
  scene s = create_scene(1, 1); /* ball: it keeps an ERP of its own */
  host_joint_rows host, half, none;
  host_joint_read(&host, s.joint, STEP, ODE_MLCP_ERP_HOST);
  host_joint_read(&half, s.joint, STEP, 0.15);
  host_joint_read(&none, s.joint, STEP, 0);
  CU_ASSERT(fabs(host.rows.rhs[0]) > 1e-3);
  for (int i = 0; i < 3; i++) {
    CU_ASSERT_DOUBLE_EQUAL(host.correction[i], host.rows.rhs[i], 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(half.rows.rhs[i], host.rows.rhs[i] / 2,
                           of_host(1e-12, 1 / STEP));
    CU_ASSERT_DOUBLE_EQUAL(none.rows.rhs[i], 0, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(half.correction[i], host.correction[i] / 2,
                           of_host(1e-12, 1 / STEP));
    CU_ASSERT_EQUAL(none.correction[i], 0);
  }
  dWorldDestroy(s.world);
}

static void test_bad_values_are_named(void) {
  scene s = create_scene(5, 2);
  host_joint_rows reading;
  double value;
  host_joint_read(&reading, s.joint, STEP, ODE_MLCP_ERP_HOST);
  CU_ASSERT_PTR_NULL(host_joint_bad_value(&reading, &value));
  reading.rows.rhs[2] = NAN;
  CU_ASSERT_PTR_NOT_NULL(host_joint_bad_value(&reading, &value));
  CU_ASSERT(isnan(value));
  reading.rows.rhs[2] = 0;
  reading.rows.cfm[1] = -3;
  CU_ASSERT_STRING_EQUAL(host_joint_bad_value(&reading, &value), "CFM");
  CU_ASSERT_EQUAL(value, -3);
  reading.rows.cfm[1] = 0;
  reading.rows.lo[3] = 2;
  reading.rows.hi[3] = 1;
  CU_ASSERT_PTR_NOT_NULL_FATAL(host_joint_bad_value(&reading, &value));
  CU_ASSERT_STRING_EQUAL(host_joint_bad_value(&reading, &value),
                         "a force limit");
  CU_ASSERT_EQUAL(value, 1);
  reading.rows.lo[3] = NAN;
  CU_ASSERT_STRING_EQUAL(host_joint_bad_value(&reading, &value),
                         "a force limit");
  CU_ASSERT(isnan(value));
  dWorldDestroy(s.world);
}

/* A row on a spring asks for what its load does not press it in by. */
static void test_a_load_is_no_error(void) {
  const double h = 0.02, world_cfm = 1e-3;
  static const struct {
    double cfm, correction, carried, expected;
  } cases[] = {{1e-3, 0.5, 3, 0.35},   /* 1e-3 / h * 3 = 0.15 */
               {1e-3, -0.5, -3, 0.35}, /* either way */
               {1e-3, 0.5, -3, 0.5},   /* it pulls the other way */
               {1e-3, 0.5, 30, 0},     /* more than there is */
               {2e-3, 0.5, 3, 0},      /* a spring of its own */
               {0, 0.5, 3, 0.5}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    host_joint_rows joint;
    memset(&joint, 0, sizeof joint);
    joint.rows.count = 1;
    joint.rows.cfm[0] = cases[i].cfm;
    joint.correction[0] = cases[i].correction;
    CU_ASSERT_DOUBLE_EQUAL(
        joint_rows_correction(&joint, world_cfm, h, &cases[i].carried),
        cases[i].expected, 1e-15);
  }
}

/* One stiff spring, of a CFM of its own that gives way less than the bodies, makes all
 * rows of its joint stiff. */
static void test_a_stiff_spring_is_its_joints(void) {
  static const double nothing[6] = {0};
  const int body[2] = {0, -1}, problem_body[1] = {0};
  for (int kind = 0; kind < 3; kind++) {
    host_joint_rows joint;
    mlcp_row rows[6];
    row_correction parts[6];
    row_set set = {.rows = rows, .corrections = parts};
    row_frame frame = {.v = nothing,
                       .v_free = nothing,
                       .problem_body = problem_body,
                       .step_size = STEP,
                       .max_correction = INFINITY};
    int row_of[6];
    memset(&joint, 0, sizeof joint);
    joint.rows.count = 3;
    joint.rows.cfm[1] = kind == 0 ? 1e-7 : 1e-4;
    joint.soft[1] = kind == 2;
    joint_rows_add(&set, &frame, &joint, body, 1e-7, JOINT_LEVEL_POSITION, NULL,
                   row_of);
    CU_ASSERT_EQUAL_FATAL(set.n_rows, 3);
    for (int i = 0; i < 3; i++) CU_ASSERT_EQUAL(parts[i].stiff, kind == 1);
  }
}

/* Near is what twice the step reaches, at the start's velocity or in free flight. */
static void test_a_stop_is_near(void) {
  static const struct {
    double gap, rate, free_rate;
    bool near;
  } cases[] = {{0.039, -1, 0, true}, {0.041, -1, 0, false},
               {0.039, 0, -1, true}, {0.041, 0, -1, false},
               {0.001, 5, 5, false}, {1e-5, 5, 5, false},
               {0, 5, 5, true},      {-0.1, 5, 5, true}};
  const int body[2] = {0, -1};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double v[6] = {0, 0, 0, 0, cases[i].rate},
           v_free[6] = {0, 0, 0, 0, cases[i].free_rate};
    row_frame frame = {.v = v, .v_free = v_free, .step_size = STEP};
    host_stop stop;
    memset(&stop, 0, sizeof stop);
    stop.gap = cases[i].gap;
    stop.J[0][4] = 1;
    CU_ASSERT_EQUAL(joint_stop_near(&frame, &stop, body), cases[i].near);
  }
}

/* Reading whole errors sets ERPs to 1 for a moment: the program's are there again, of
 * stops and of a suspension. */
static void test_reading_errors_changes_nothing(void) {
  const struct {
    dJointID (*create)(dWorldID world, dJointGroupID group);
    dReal (*get)(dJointID, int);
    void (*set)(dJointID, int, dReal);
    int n_stops;
  } types[] = {
      {dJointCreateHinge, dJointGetHingeParam, dJointSetHingeParam, 1},
      {dJointCreateSlider, dJointGetSliderParam, dJointSetSliderParam, 1},
      {dJointCreateUniversal, dJointGetUniversalParam, dJointSetUniversalParam,
       2},
      {dJointCreateHinge2, dJointGetHinge2Param, dJointSetHinge2Param, 1},
      {dJointCreatePU, dJointGetPUParam, dJointSetPUParam, 2},
  };
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    dWorldID world = dWorldCreate();
    test_random random = {t};
    dJointID joint = types[t].create(world, NULL);
    dBodyID one = create_body(world, &random);
    dJointAttach(joint, one, create_body(world, &random));
    bool sprung = types[t].create == dJointCreateHinge2;
    for (int i = 0; i < types[t].n_stops; i++)
      types[t].set(joint, dParamStopERP + i * dParamGroup, 0.25 + 0.125 * i);
    if (sprung) types[t].set(joint, dParamSuspensionERP, 0.375);
    host_joint_rows read;
    CU_ASSERT(host_joint_read_errors(&read, joint, STEP));
    for (int i = 0; i < types[t].n_stops; i++)
      CU_ASSERT_EQUAL(types[t].get(joint, dParamStopERP + i * dParamGroup),
                      0.25 + 0.125 * i);
    CU_ASSERT(!sprung || types[t].get(joint, dParamSuspensionERP) == 0.375);
    dWorldDestroy(world);
  }
}

/* A hinge with stops at -2.9 and 0.5 that has turned to 3.1: that is 2.6 past the high
 * one, but 2 pi - 6 past the low one, the other way round. Up to 2.5 it is past the high
 * one and before the low one. */
static void test_a_turn_counts_from_the_nearer_stop(void) {
  const double full = 2 * 3.14159265358979323846, tolerance = of_host(1e-9, 10);
  const double angles[] = {0.75, 3.1};
  const double gaps[][2] = {{3.65, -0.25}, {6 - full, full - 2.6}};
  for (int i = 0; i < 2; i++) {
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    dJointID hinge = dJointCreateHinge(world, 0);
    dJointAttach(hinge, body, NULL);
    dJointSetHingeAxis(hinge, 0, 0, 1);
    dMatrix3 turned;
    for (int sign = 1; sign >= -1; sign -= 2) {
      dRFromAxisAndAngle(turned, 0, 0, 1, sign * angles[i]);
      dBodySetRotation(body, turned);
      if (fabs(dJointGetHingeAngle(hinge) - angles[i]) < 0.01) break;
    }
    dJointSetHingeParam(hinge, dParamLoStop, -2.9);
    dJointSetHingeParam(hinge, dParamHiStop, 0.5);
    host_stop stops[dStepperJointStopsMax];
    CU_ASSERT_EQUAL_FATAL(host_joint_read_stops(hinge, false, stops), 2);
    for (int k = 0; k < 2; k++)
      CU_ASSERT_DOUBLE_EQUAL(stops[k].gap, gaps[i][k], tolerance);
    dWorldDestroy(world);
  }
}

/* A slider counts metres: 1 cm past a stop at 5 it is 10.01 before the other, though
 * that is more than a turn has radians. */
static void test_a_slider_has_no_turns(void) {
  const double tolerance = of_host(1e-9, 10);
  for (int side = -1; side <= 1; side += 2) {
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    dJointID slider = dJointCreateSlider(world, 0);
    dJointAttach(slider, body, NULL);
    dJointSetSliderAxis(slider, 1, 0, 0);
    dBodySetPosition(body, side * 5.01, 0, 0);
    int past = dJointGetSliderPosition(slider) > 0; /* number of its stop */
    dJointSetSliderParam(slider, dParamLoStop, -5);
    dJointSetSliderParam(slider, dParamHiStop, 5);
    host_stop stops[dStepperJointStopsMax];
    CU_ASSERT_EQUAL_FATAL(host_joint_read_stops(slider, false, stops), 2);
    CU_ASSERT_DOUBLE_EQUAL(stops[past].gap, -0.01, tolerance);
    CU_ASSERT_DOUBLE_EQUAL(stops[1 - past].gap, 10.01, tolerance);
    dWorldDestroy(world);
  }
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"every type has its rows", test_every_type_has_its_rows},
      {"rows keep momentum", test_rows_keep_momentum},
      {"a slide's stop has the rate of its gap",
       test_a_slides_stop_has_the_rate_of_its_gap},
      {"rows enter the problem", test_rows_enter_the_problem},
      {"powered stop forces are reported, not applied",
       test_powered_stop_forces_are_reported_not_applied},
      {"an ERP number replaces the world's",
       test_erp_number_replaces_the_worlds},
      {"a load is no error", test_a_load_is_no_error},
      {"a stiff spring is its joint's", test_a_stiff_spring_is_its_joints},
      {"a stop is near", test_a_stop_is_near},
      {"reading errors changes nothing", test_reading_errors_changes_nothing},
      {"a turn counts from the nearer stop",
       test_a_turn_counts_from_the_nearer_stop},
      {"a slider has no turns", test_a_slider_has_no_turns},
      {"bad values are named", test_bad_values_are_named},
      CU_TEST_INFO_NULL};
  return run_host_tests("joint rows", tests);
}
