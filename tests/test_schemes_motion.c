/* The way of a body through a step and the bounds on it, against cubics done by hand and
 * against the way itself, looked at in a hundred places; what bodies that a joint pulls
 * at resist turning with; for how long a try is left out. */
#include <math.h>
#include <string.h>

#include "common/vec3.h"
#include "schemes/motion.h"
#include "schemes/taut_joints.h"
#include "testing.h"

typedef struct way {
  world_pose poses[2];
  double v[2][6];
  motion from, to;
} way;

/* From the origin, unturned, at time 2 for a time of h. */
static void create_way(way *w, double h) {
  memset(w, 0, sizeof *w);
  w->poses[0].quaternion[0] = w->poses[1].quaternion[0] = 1;
  w->from = (motion){.time = 2, .poses = &w->poses[0], .v = w->v[0]};
  w->to = (motion){.time = 2 + h, .poses = &w->poses[1], .v = w->v[1]};
}

/* x = t + 3 t^2 - 2 t^3 over half a second: the interpolant is the cubic itself. */
static void test_a_cubic_is_met(void) {
  way w;
  create_way(&w, 0.5);
  w.v[0][0] = 1;
  w.poses[1].position[0] = 0.5 + 0.75 - 0.25;
  w.v[1][0] = 1 + 3 - 1.5;
  for (double share = 0; share <= 1; share += 0.125) {
    world_pose pose;
    double v[6], t = 0.5 * share;
    motion_body_between(&pose, v, &w.from, &w.to, 0, share);
    CU_ASSERT_DOUBLE_EQUAL(pose.position[0], t + 3 * t * t - 2 * t * t * t,
                           1e-14);
    CU_ASSERT_DOUBLE_EQUAL(v[0], 1 + 6 * t - 6 * t * t, 1e-14);
    CU_ASSERT_EQUAL(pose.quaternion[0], 1);
  }
  /* the slope by share is 0.5 + 1.5 s - 0.75 s^2; its control points: */
  double linear[3][3], turning, change[2];
  motion_body_bounds(&w.from, &w.to, 0, linear, &turning, change);
  CU_ASSERT_DOUBLE_EQUAL(linear[0][0], 0.5, 1e-14);
  CU_ASSERT_DOUBLE_EQUAL(linear[1][0], 1.25, 1e-14);
  CU_ASSERT_DOUBLE_EQUAL(linear[2][0], 1.25, 1e-14);
  CU_ASSERT_DOUBLE_EQUAL(change[0], 1.5, 1e-14); /* 1.5 - 1.5 s at s = 0 */
  CU_ASSERT_EQUAL(turning, 0);
  CU_ASSERT_EQUAL(change[1], 0);
}

/* A steady turn does not change, but for what the exponential map may add. */
static void test_a_steady_turn(void) {
  way w;
  create_way(&w, 0.25);
  w.v[0][5] = w.v[1][5] = 2;
  w.poses[1].quaternion[0] = cos(0.25);
  w.poses[1].quaternion[3] = sin(0.25);
  double linear[3][3], turning, change[2];
  motion_body_bounds(&w.from, &w.to, 0, linear, &turning, change);
  CU_ASSERT_DOUBLE_EQUAL(turning, 0.5, 1e-14);
  CU_ASSERT_DOUBLE_EQUAL(change[1], 0.25, 1e-14);
  world_pose pose;
  double v[6];
  motion_body_between(&pose, v, &w.from, &w.to, 0, 0.5);
  CU_ASSERT_DOUBLE_EQUAL(pose.quaternion[3], sin(0.125), 1e-14);
  CU_ASSERT_DOUBLE_EQUAL(v[5], 2, 1e-13);
}

/* A vector in the hull of three leads no further than they do, in any direction. */
static int is_in_hull(const double x[3], const double corners[3][3]) {
  test_random random = {5};
  for (int k = 0; k < 60; k++) {
    double d[3], most = -INFINITY;
    for (int i = 0; i < 3; i++) d[i] = test_uniform(&random, -1, 1);
    for (int c = 0; c < 3; c++) most = fmax(most, vec3_dot(d, corners[c]));
    if (vec3_dot(d, x) > most + 1e-12) return 0;
  }
  return 1;
}

static void test_bounds_hold_on_the_way(void) {
  test_random random = {17};
  for (int trial = 0; trial < test_rounds(200); trial++) {
    way w;
    double h = test_uniform(&random, 0.001, 0.5), turn[3];
    create_way(&w, h);
    for (int i = 0; i < 3; i++) {
      w.poses[1].position[i] = test_uniform(&random, -1, 1);
      turn[i] = test_uniform(&random, -0.6, 0.6);
    }
    double angle = vec3_length(turn);
    w.poses[1].quaternion[0] = cos(angle / 2);
    for (int i = 0; i < 3; i++)
      w.poses[1].quaternion[1 + i] = sin(angle / 2) * turn[i] / angle;
    for (int i = 0; i < 6; i++) {
      w.v[0][i] = test_uniform(&random, -1, 1) / h;
      w.v[1][i] = test_uniform(&random, -1, 1) / h;
    }
    double linear[3][3], turning, change[2], before[6];
    motion_body_bounds(&w.from, &w.to, 0, linear, &turning, change);
    const int n = 100;
    for (int k = 0; k <= n; k++) {
      world_pose pose;
      double v[6], more[3], turned[3];
      motion_body_between(&pose, v, &w.from, &w.to, 0, k / (double)n);
      for (int i = 0; i < 6; i++) v[i] *= h;
      CU_ASSERT(is_in_hull(v, linear));
      CU_ASSERT(vec3_length(v + 3) <= turning * (1 + 1e-12));
      vec3_subtract(more, v, before);
      vec3_subtract(turned, v + 3, before + 3);
      if (k > 0) {
        CU_ASSERT(vec3_length(more) * n <= change[0] * (1 + 1e-9));
        CU_ASSERT(vec3_length(turned) * n <= change[1] * (1 + 1e-9));
      }
      memcpy(before, v, sizeof before);
    }
  }
}

/* Lines and parabolas that come down through 0, or do not. */
static void test_descents_are_found(void) {
  CU_ASSERT_DOUBLE_EQUAL(cubic_first_descent(1, -2, -1, -2), 0.5, 1e-12);
  CU_ASSERT_EQUAL(cubic_first_descent(1, 1, 2, 1), INFINITY);
  CU_ASSERT_EQUAL(cubic_first_descent(0, 1, 1, 1), INFINITY);
  CU_ASSERT_EQUAL(cubic_first_descent(0, -1, -1, -1), 0);
  /* 8 (s - 1/4)^2 - 1/8 to both sides of its middle: down at 1/8, up at 3/8 */
  CU_ASSERT_DOUBLE_EQUAL(cubic_first_descent(0.375, -4, 4.375, 12), 0.125,
                         1e-12);
  /* up at 1/5, down at 3/5: -(s - 1/5) (s - 3/5) */
  CU_ASSERT_DOUBLE_EQUAL(cubic_first_descent(-0.12, 0.8, -0.32, -1.2), 0.6,
                         1e-12);
}

/* Two bodies that a ball joint between them pulls at with 8 N, along the z axis that
 * their arms of 0.5 and 0.25 m lie on: K is 4 and 2 about x and y, none about z. For
 * h = 0.5 that is an inertia of 1 and of 0.5, where it is more than the body's own. */
static void test_a_joint_pulls_upright(void) {
  static const double inertias[2][3] = {{0.2, 0.5, 3}, {0.1, 0.8, 0.2}};
  static const double held[2][3] = {{1, 1, 3}, {0.5, 0.8, 0.2}};
  const double h = 0.5, pull = 8, arms[2] = {0.5, -0.25};
  host_body bodies[2] = {0};
  host_joint_rows rows = {.rows.count = 3};
  contact_entry old = {.seconds = 0.25, .n_rows = 3, .impulses = {0, 0, 2}};
  world_joint joint = {.body = {0, 1}, .contact = -1, .known = &old};
  for (int b = 0; b < 2; b++) {
    double sign = b == 0 ? 1 : -1, r[3] = {0, 0, arms[b]};
    bodies[b].mass = 1 + b;
    for (int i = 0; i < 3; i++) {
      double *row = rows.rows.J[i][b];
      row[i] = sign;
      vec3_cross(row + 3, r, row);
      bodies[b].inertia[4 * i] = inertias[b][i];
      bodies[b].v[3 + i] = 1;
    }
  }
  world_snapshot world = {.settings.step_size = h,
                          .n_bodies = 2,
                          .n_joints = 1,
                          .n_joint_rows = 3,
                          .bodies = bodies,
                          .joints = &joint,
                          .joint_rows = &rows};
  arena arena = {.source = &memory_from_malloc};
  const double *mass;
  double x[12];
  for (int i = 0; i < 12; i++) x[i] = 3;
  CU_ASSERT_EQUAL(old.impulses[2] / old.seconds, pull);
  CU_ASSERT_FATAL(taut_joints_find(&arena, &world, bodies, NULL, x, &mass));
  CU_ASSERT_FATAL(mass != NULL);
  for (int b = 0; b < 2; b++)
    for (int i = 0; i < 6; i++) {
      double own = i < 3 ? 1 + b : inertias[b][i - 3];
      double with = i < 3 ? own : held[b][i - 3], v = bodies[b].v[i];
      for (int k = 0; k < 6; k++)
        CU_ASSERT_DOUBLE_EQUAL(mass[36 * b + 6 * i + k], i == k ? with : 0,
                               1e-14);
      CU_ASSERT_DOUBLE_EQUAL(x[6 * b + i], v + own / with * (3 - v), 1e-14);
    }

  // what pushes does not hold upright, what did not act before neither
  old.impulses[2] = -2;
  CU_ASSERT(taut_joints_find(&arena, &world, bodies, NULL, x, &mass));
  CU_ASSERT_PTR_NULL(mass);
  old.impulses[2] = 2;
  joint.known = NULL;
  CU_ASSERT(taut_joints_find(&arena, &world, bodies, NULL, x, &mass));
  CU_ASSERT_PTR_NULL(mass);
  arena_release(&arena);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"a cubic is met", test_a_cubic_is_met},
      {"a steady turn", test_a_steady_turn},
      {"bounds hold on the way", test_bounds_hold_on_the_way},
      {"descents are found", test_descents_are_found},
      {"a joint pulls upright", test_a_joint_pulls_upright},
      CU_TEST_INFO_NULL};
  return run_tests("motion", tests);
}
