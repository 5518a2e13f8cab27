/* The scenes that tests, benches and demos share, and their side views. */
#include <math.h>

#include "../demos/scenes/scene.h"
#include "host_rounding.h"
#include "host_testing.h"

#define EXACT of_host(1e-12, 10)

static void test_wall_is_laid_as_described(void) {
  scene *wall = scene_wall(10);
  CU_ASSERT_EQUAL_FATAL(wall->n_bodies, 55);
  /* rows of 10, 9, .. from the floor up, each from left to right */
  int body = 0;
  for (int row = 0; row < 10; row++)
    for (int i = 0; i < 10 - row; i++, body++) {
      const dReal *at = dBodyGetPosition(wall->bodies[body]);
      CU_ASSERT_DOUBLE_EQUAL(at[0], 1.05 * (i + 0.5 * row - 4.5), EXACT);
      CU_ASSERT_DOUBLE_EQUAL(at[1], 0, EXACT);
      CU_ASSERT_DOUBLE_EQUAL(at[2], 0.5 + row, EXACT);
    }
  dMass mass;
  dBodyGetMass(wall->bodies[54], &mass);
  CU_ASSERT_DOUBLE_EQUAL(mass.mass, 1000, 1e-9);
  /* 10 boxes on the floor (the host gives 3 points of a box on a plane), 45 on
   * two others each, 4 points at least */
  CU_ASSERT(scene_collide(wall) >= 3 * 10 + 4 * 2 * 45);
  CU_ASSERT(wall->deepest <= 1e-12);
  scene_destroy(wall);
}

static void test_rod_touches_as_described(void) {
  scene *rod = scene_tilted_rod(-2);
  CU_ASSERT_EQUAL(scene_collide(rod), 1);
  CU_ASSERT_DOUBLE_EQUAL(rod->deepest, 1e-4, EXACT);
  dMass mass;
  dBodyGetMass(rod->bodies[0], &mass);
  CU_ASSERT_DOUBLE_EQUAL(mass.mass, 1, EXACT);
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetLinearVel(rod->bodies[0])[0], -2, EXACT);
  scene_destroy(rod);
}

/* The height of the lowest point of a body's geom over the floor. */
static double clearance(dBodyID body) {
  dReal box[6];
  dGeomGetAABB(dBodyGetFirstGeom(body), box);
  return box[4];
}

static void test_lying_chain_lies_and_holds(void) {
  scene *chain = scene_lying_chain(12);
  CU_ASSERT_EQUAL_FATAL(chain->n_bodies, 12);
  for (int i = 0; i < 12; i++)
    CU_ASSERT_DOUBLE_EQUAL(clearance(chain->bodies[i]), 0, EXACT);
  /* a gap of nothing is a contact or none by rounding: a little lower each has two */
  for (int i = 0; i < 12; i++) {
    const dReal *at = dBodyGetPosition(chain->bodies[i]);
    dBodySetPosition(chain->bodies[i], at[0], at[1], at[2] - 1e-6);
  }
  CU_ASSERT(scene_collide(chain) >= 2 * 12);
  for (int i = 1; i < 12; i++) {
    dVector3 end, start;
    dBodyGetRelPointPos(chain->bodies[i - 1], 0.25, 0, 0, end);
    dBodyGetRelPointPos(chain->bodies[i], -0.25, 0, 0, start);
    CU_ASSERT(hypot(end[0] - start[0], end[1] - start[1]) < EXACT);
    CU_ASSERT_EQUAL(dAreConnected(chain->bodies[i - 1], chain->bodies[i]), 1);
  }
  scene_destroy(chain);
}

static void test_spider_stands_in_closed_loops(void) {
  scene *spider = scene_spider(8);
  /* a trunk, and a thigh, a shin and a strut a leg */
  CU_ASSERT_EQUAL_FATAL(spider->n_bodies, 1 + 3 * 8);
  int n_joints = 0;
  for (int i = 0; i < spider->n_bodies; i++)
    n_joints += dBodyGetNumJoints(spider->bodies[i]);
  CU_ASSERT_EQUAL(n_joints, 2 * 4 * 8);
  CU_ASSERT_EQUAL(scene_collide(spider), 8);
  CU_ASSERT(spider->deepest < 1e-3);
  for (int i = 0; i < 50; i++) scene_step(spider, dWorldStep, 0.01);
  /* knees tied together hold the trunk up */
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(spider->bodies[0])[2], 0.7, 0.02);
  scene_destroy(spider);
}

/* How far the cube has come down after 0.2 s. */
static double cube_falls(double force) {
  scene *grasp = scene_grasp(force);
  double start = dBodyGetPosition(grasp->bodies[0])[2];
  CU_ASSERT(scene_collide(grasp) >= 8);
  for (int i = 0; i < 20; i++) scene_step(grasp, dWorldQuickStep, 0.01);
  double fallen = start - dBodyGetPosition(grasp->bodies[0])[2];
  scene_destroy(grasp);
  return fallen;
}

static void test_grasp_holds_what_it_can(void) {
  CU_ASSERT(fabs(cube_falls(40)) < 0.01);
  CU_ASSERT(cube_falls(1) > 0.1);
}

static void test_painleve_rod_touches(void) {
  scene *rod = scene_painleve_rod(-3);
  CU_ASSERT_EQUAL(scene_collide(rod), 1);
  CU_ASSERT_DOUBLE_EQUAL(rod->deepest, 1e-6, EXACT);
  dMass mass;
  dBodyGetMass(rod->bodies[0], &mass);
  CU_ASSERT_DOUBLE_EQUAL(mass.mass, 1, EXACT);
  CU_ASSERT_DOUBLE_EQUAL(mass.I[0], 0.002, EXACT);
  /* sliding towards where the cap is: with full friction a push there would
     sink it further, 1/m + (r_x^2 - mu r_x r_z) / I < 0 */
  dVector3 r;
  dBodyVectorToWorld(rod->bodies[0], 0, 0, -0.25, r);
  r[2] -= 0.05;
  CU_ASSERT(r[0] * dBodyGetLinearVel(rod->bodies[0])[0] > 0);
  CU_ASSERT(1 / mass.mass +
                (r[0] * r[0] - rod->surface.mu * r[0] * r[2]) / mass.I[0] <
            0);
  scene_destroy(rod);
}

static void test_the_same_scene_twice(void) {
  for (int s = 0; s < 2; s++) {
    scene *a = s == 0 ? scene_pit(20) : scene_stack(5, 100);
    scene *b = s == 0 ? scene_pit(20) : scene_stack(5, 100);
    for (int i = 0; i < a->n_bodies; i++)
      for (int k = 0; k < 12; k++)
        CU_ASSERT_EQUAL(dBodyGetRotation(a->bodies[i])[k],
                        dBodyGetRotation(b->bodies[i])[k]);
    scene_destroy(a);
    scene_destroy(b);
  }
}

static void test_bad_arguments_make_no_scene(void) {
  CU_ASSERT_PTR_NULL(scene_wall(0));
  CU_ASSERT_PTR_NULL(scene_wall(201));
  CU_ASSERT_PTR_NULL(scene_slide(NAN));
  CU_ASSERT_PTR_NULL(scene_tilted_rod(INFINITY));
  CU_ASSERT_PTR_NULL(scene_stack(0, 1));
  CU_ASSERT_PTR_NULL(scene_stack(3, 0));
  CU_ASSERT_PTR_NULL(scene_chain(3, NAN));
  CU_ASSERT_PTR_NULL(scene_pit(-1));
  CU_ASSERT_PTR_NULL(scene_lying_chain(0));
  CU_ASSERT_PTR_NULL(scene_spider(2));
  CU_ASSERT_PTR_NULL(scene_spider(65));
  CU_ASSERT_PTR_NULL(scene_grasp(-1));
  CU_ASSERT_PTR_NULL(scene_painleve_rod(INFINITY));
  scene_destroy(NULL);
}

static void test_fastest_shows_what_is_not_finite(void) {
  scene *stack = scene_stack(3, 1);
  CU_ASSERT_EQUAL(scene_fastest(stack), 0);
  dBodySetLinearVel(stack->bodies[1], 0, -4, 3);
  CU_ASSERT_DOUBLE_EQUAL(scene_fastest(stack), 5, EXACT);
  dBodySetLinearVel(stack->bodies[2], 0, NAN, 0);
  CU_ASSERT(isnan(scene_fastest(stack)));
  scene_destroy(stack);
}

static void test_bricks_are_laid_as_described(void) {
  scene *wall = scene_bricks(3);
  CU_ASSERT_PTR_NOT_NULL_FATAL(wall);
  CU_ASSERT_EQUAL(wall->n_bodies, 15);
  for (int i = 0; i < 15; i++) {
    dMass mass;
    dBodyGetMass(wall->bodies[i], &mass);
    CU_ASSERT_DOUBLE_EQUAL(mass.mass, 2, EXACT);
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(wall->bodies[i])[2],
                           (i / 5 + 0.5) * 0.071, EXACT);
  }
  // half a brick along, a course up
  CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(wall->bodies[5])[0] -
                             dBodyGetPosition(wall->bodies[0])[0],
                         0.125, EXACT);
  CU_ASSERT_PTR_NULL(scene_bricks(0));
  CU_ASSERT_PTR_NULL(scene_bricks(51));
  scene_destroy(wall);
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"wall", test_wall_is_laid_as_described},
      {"tilted rod", test_rod_touches_as_described},
      {"lying chain", test_lying_chain_lies_and_holds},
      {"spider", test_spider_stands_in_closed_loops},
      {"grasp", test_grasp_holds_what_it_can},
      {"Painleve rod", test_painleve_rod_touches},
      {"the same scene twice", test_the_same_scene_twice},
      {"bad arguments", test_bad_arguments_make_no_scene},
      {"fastest body", test_fastest_shows_what_is_not_finite},
      {"bricks", test_bricks_are_laid_as_described},
      CU_TEST_INFO_NULL};
  return run_host_tests("demos: scenes", tests);
}
