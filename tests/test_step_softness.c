/* Softness that is asked for: contacts of light bodies give way by a share of what
 * their impulses move, the softened problem is solved and verified as any other,
 * and how far they gave way is reported. */
#include <math.h>
#include <stdio.h>

#include "body_testing.h"
#include "host_rounding.h"
#include "ode_mlcp.h"
#include "testing.h"

enum { ROWS = 7, N_BOXES = ROWS * (ROWS + 1) / 2 };

typedef struct wall {
  dWorldID world;
  dSpaceID space;
  dJointGroupID joints;
  dBodyID bodies[N_BOXES];
  double L, height[N_BOXES]; /* m */
} wall;

typedef struct outcome {
  double residual, given_way, sunk; /* m */
  long factorisations;
  int unsolved;
} outcome;

static void touch(void *context, dGeomID a, dGeomID b) {
  wall *w = context;
  join_contacts(w->world, w->joints, a, b, 0.5);
}

/* A wall of cubes in rows of ROWS, ROWS - 1, .. 1. */
static void open_wall(wall *w, double mass, double L, double softness) {
  ode_mlcp_options options;
  int n = 0;
  ode_mlcp_default_options(&options);
  options.softness = softness;
  options.budget = INFINITY; // the last digit is to be found
  *w = (wall){.world = dWorldCreate(), .L = L};
  w->space = dHashSpaceCreate(0);
  w->joints = dJointGroupCreate(0);
  dWorldSetGravity(w->world, 0, 0, -9.81);
  dCreatePlane(w->space, 0, 0, 1, 0);
  for (int row = 0; row < ROWS; row++)
    for (int i = 0; i < ROWS - row; i++, n++) {
      w->bodies[n] = create_box(w->world, w->space, mass, L, L, L);
      w->height[n] = L * (row + 0.5);
      dBodySetPosition(w->bodies[n], 1.05 * L * (i + 0.5 * row), 0,
                       w->height[n]);
    }
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(w->world, &options), ODE_MLCP_OK);
}

static void close_wall(wall *w) {
  dJointGroupDestroy(w->joints);
  dSpaceDestroy(w->space);
  dWorldDestroy(w->world);
}

static outcome run(double mass, double L, double h, double softness) {
  wall w;
  outcome out = {0};
  open_wall(&w, mass, L, softness);
  for (int i = 0; i < 60; i++) {
    ode_mlcp_report report;
    dSpaceCollide(w.space, &w, touch);
    CU_ASSERT_EQUAL_FATAL(dWorldStep(w.world, h), 1);
    ode_mlcp_last_report(w.world, &report);
    dJointGroupEmpty(w.joints);
    out.residual = fmax(out.residual, report.residual);
    out.given_way = fmax(out.given_way, report.given_way);
    out.factorisations += report.factorisations;
    out.unsolved += report.unsolved;
  }
  for (int i = 0; i < N_BOXES; i++)
    out.sunk =
        fmax(out.sunk, fabs(w.height[i] - dBodyGetPosition(w.bodies[i])[2]));
  close_wall(&w);
  return out;
}

/* The same share of the same wall whatever its units; what it costs in depth is
 * reported, and follows from the share and the load alone. */
static void test_walls_sink_by_what_is_reported(void) {
  if (left_out_in_single("walls that sink by less than places are rounded"))
    return;
  static const struct {
    double mass, L, h;
  } cases[] = {{0.01, 0.1, 0.005}, {1, 1, 0.01}, {1e4, 10, 0.02}};
  double scaled[3];
  for (int k = 0; k < 3; k++) {
    double mass = cases[k].mass, L = cases[k].L, h = cases[k].h;
    double fall = 9.81 * h * h; // m: by what a step without contacts sinks
    outcome soft = run(mass, L, h, 1e-4);
    CU_ASSERT(soft.residual <= 1e-10);
    CU_ASSERT_EQUAL(soft.unsolved, 0);
    CU_ASSERT(soft.given_way > 1e-6 * fall);
    CU_ASSERT(soft.given_way < 1e-2 * fall);
    // a layer sinks until a fifth of its depth, the host's ERP, makes up for it
    CU_ASSERT(soft.sunk < 2 * ROWS * 5 * soft.given_way + 1e-3 * fall);
    scaled[k] = soft.given_way / fall;
  }
  for (int k = 1; k < 3; k++)
    CU_ASSERT_DOUBLE_EQUAL(scaled[k] / scaled[0], 1, 0.5);
}

/* Ten times the share is ten times as far; none is none. */
static void test_depth_follows_the_share(void) {
  outcome none = run(0.02, 0.1, 0.005, 0), little, more;
  CU_ASSERT_EQUAL(none.given_way, 0);
  little = run(0.02, 0.1, 0.005, 1e-4);
  more = run(0.02, 0.1, 0.005, 1e-3);
  CU_ASSERT_DOUBLE_EQUAL(more.given_way / little.given_way, 10, 3);
  CU_ASSERT(little.factorisations <= none.factorisations);
}

static void test_setting_is_checked(void) {
  ode_mlcp_options options;
  ode_mlcp_default_options(&options);
  CU_ASSERT_EQUAL(options.softness, 0);
  CU_ASSERT_EQUAL(ode_mlcp_set_option(&options, "softness", "1e-4", NULL, 0),
                  ODE_MLCP_OK);
  CU_ASSERT_EQUAL(options.softness, 1e-4);
  CU_ASSERT_NOT_EQUAL(ode_mlcp_set_option(&options, "softness", "1", NULL, 0),
                      ODE_MLCP_OK);
  CU_ASSERT_NOT_EQUAL(
      ode_mlcp_set_option(&options, "softness", "-1e-9", NULL, 0), ODE_MLCP_OK);
}

int main(void) {
  dInitODE2(0);
  const CU_TestInfo tests[] = {
      {"walls sink by what is reported", test_walls_sink_by_what_is_reported},
      {"depth follows the share", test_depth_follows_the_share},
      {"the setting is checked", test_setting_is_checked},
      CU_TEST_INFO_NULL};
  int result = run_tests("step softness", tests);
  dCloseODE();
  return result;
}
