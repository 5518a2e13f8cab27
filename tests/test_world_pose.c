/* Poses that the host's rules lead to, against the host itself and against each other. */
#include <math.h>
#include <string.h>

#include "host_rounding.h"
#include "step_testing.h"
#include "world/pose.h"

typedef enum rule { CAYLEY, FINITE, ABOUT_AXIS, CAPPED, RULES } rule;

/* A ball, whose turn no torque changes, somewhere and turned. */
static dBodyID create_turning(dWorldID world, rule kind, test_random *random) {
  dBodyID body = create_ball(world, 3, 0.7);
  dMatrix3 R;
  dRFromAxisAndAngle(R, 1, test_uniform(random, -1, 1),
                     test_uniform(random, -1, 1), test_uniform(random, -3, 3));
  dBodySetRotation(body, R);
  dBodySetPosition(body, test_uniform(random, -5, 5), 1, -2);
  dBodySetLinearVel(body, test_uniform(random, -5, 5), 2, -1);
  dBodySetAngularVel(body, test_uniform(random, -4, 4),
                     test_uniform(random, -4, 4), test_uniform(random, 1, 4));
  dBodySetFiniteRotationMode(body, kind == FINITE || kind == ABOUT_AXIS);
  if (kind == ABOUT_AXIS)
    dBodySetFiniteRotationAxis(body, test_uniform(random, -1, 1),
                               test_uniform(random, -1, 1), 1);
  if (kind == CAPPED) dBodySetMaxAngularSpeed(body, 0.8);
  return body;
}

/* The host's own step of a free body leads where we say, and the velocity from there
 * to here is the one it moved with. */
static void test_the_hosts_step_leads_there(void) {
  test_random random = {11};
  const double steps[] = {0.001, 0.05, 0.3};
  for (int kind = 0; kind < RULES; kind++)
    for (int trial = 0; trial < 30; trial++) {
      double h = steps[trial % 3];
      char message[160];
      host_body body;
      world_pose to;
      dWorldID world = dWorldCreate();
      dBodyID id = create_turning(world, (rule)kind, &random);
      CU_ASSERT_FATAL(host_body_read(&body, id, h, message, sizeof message));
      double v[6], back[6];
      memcpy(v, body.v, sizeof v);
      const world_pose from = world_pose_of(&body);
      world_pose_advance(&to, id, &from, v, h);
      dWorldStep(world, h);
      const dReal *x = dBodyGetPosition(id), *q = dBodyGetQuaternion(id);
      double same = q[0] * to.quaternion[0] + q[1] * to.quaternion[1] +
                    q[2] * to.quaternion[2] + q[3] * to.quaternion[3];
      for (int i = 0; i < 3; i++)
        CU_ASSERT_DOUBLE_EQUAL(to.position[i], x[i], of_host(1e-12, 1));
      for (int i = 0; i < 4; i++)
        CU_ASSERT_DOUBLE_EQUAL(to.quaternion[i], copysign(1, same) * q[i],
                               of_host(1e-12, 1));

      double turning = sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5]);
      double kept = kind == CAPPED ? 0.8 / turning : 1;
      world_pose_velocity(back, id, &from, &to, h);
      for (int i = 0; i < 6; i++)
        CU_ASSERT_DOUBLE_EQUAL(back[i], (i < 3 ? 1 : kept) * v[i],
                               of_host(1e-12, 1) / h + 1e-11);
      dWorldDestroy(world);
    }
}

/* By the Cayley map a turn of w h is 2 atan(w h / 2); the other is exact. */
static void test_turns_by_hand(void) {
  const world_pose from = {.position = {1, 2, 3}, .quaternion = {1}};
  const double v[6] = {10, 0, -4, 0, 0, 3}, h = 0.5;
  world_pose to;
  world_pose_move(&to, &from, v, h);
  CU_ASSERT_DOUBLE_EQUAL(to.position[0], 6, 1e-15);
  CU_ASSERT_DOUBLE_EQUAL(to.position[2], 1, 1e-15);
  CU_ASSERT_DOUBLE_EQUAL(to.quaternion[0], cos(0.75), 1e-15);
  CU_ASSERT_DOUBLE_EQUAL(to.quaternion[3], sin(0.75), 1e-15);
  world_pose_move_cayley(&to, &from, v, h);
  CU_ASSERT_DOUBLE_EQUAL(to.quaternion[0], 0.8, 1e-15); /* 3/4: 3-4-5 */
  CU_ASSERT_DOUBLE_EQUAL(to.quaternion[3], 0.6, 1e-15);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"the host's step leads there", test_the_hosts_step_leads_there},
      {"turns by hand", test_turns_by_hand},
      CU_TEST_INFO_NULL};
  return run_host_tests("poses", tests);
}
