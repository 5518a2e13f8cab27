/* Softness that is asked for: contacts of light bodies give way by a share of what
 * their impulses move, the softened problem is solved and verified as any other,
 * and how far they gave way is reported. */
#include "host_rounding.h"
#include "pile.h"

enum { ROWS = 7 };

typedef struct outcome {
  double residual, given_way, sunk; /* m */
  long factorisations;
  int unsolved;
} outcome;

/* A wall of cubes in rows of ROWS, ROWS - 1, .. 1. */
static outcome run(double mass, double L, double h, double softness) {
  outcome out = {0};
  double height[PILE_MOST];
  ode_mlcp_options options = default_options();
  options.softness = softness;
  options.budget = INFINITY; // the last digit is to be found
  pile wall = pile_open(create_world(9.81, &options), 0.5);
  dCreatePlane(wall.space, 0, 0, 1, 0);
  for (int row = 0; row < ROWS; row++)
    for (int i = 0; i < ROWS - row; i++) {
      height[wall.n_bodies] = L * (row + 0.5);
      pile_box(&wall, mass, 1.05 * L * (i + 0.5 * row), 0, L * (row + 0.5), L,
               L, L);
    }
  for (int i = 0; i < 60; i++) {
    ode_mlcp_report report = pile_step(&wall, h);
    out.residual = fmax(out.residual, report.residual);
    out.given_way = fmax(out.given_way, report.given_way);
    out.factorisations += report.factorisations;
    out.unsolved += report.unsolved;
  }
  for (int i = 0; i < wall.n_bodies; i++)
    out.sunk =
        fmax(out.sunk, fabs(height[i] - dBodyGetPosition(wall.body[i])[2]));
  pile_close(&wall);
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

int main(void) {
  const CU_TestInfo tests[] = {
      {"walls sink by what is reported", test_walls_sink_by_what_is_reported},
      {"depth follows the share", test_depth_follows_the_share},
      CU_TEST_INFO_NULL};
  return run_host_tests("step softness", tests);
}
