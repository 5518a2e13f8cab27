/* What lies still: contacts rest a little below the surface, where rounding does not
 * part them, and a step of a structure costs the same whatever its units. */
#include "host_rounding.h"
#include "pile.h"

static pile open_heap(double gravity, const ode_mlcp_options *options) {
  pile heap = pile_open(create_world(gravity, options), 0.5);
  dCreatePlane(heap.space, 0, 0, 1, 0);
  return heap;
}

/* A box that just touches comes to lie 1e-5 g h^2 deep, by the share of the ERP in
 * every step; one that is deeper comes up to there. */
static void test_rest_depth(void) {
  static const double steps[] = {0.001, 0.01, 0.05}, lengths[] = {0.02, 1, 8};
  static const double gravities[] = {1.62, 9.81, 274};
  for (int k = 0; k < 9; k++) {
    double h = steps[k % 3], L = lengths[k / 3], g = gravities[(k + 1) % 3];
    double rest = 1e-5 * g * h * h;
    for (int deeper = 0; deeper <= 1; deeper++) {
      pile heap = open_heap(g, NULL);
      dWorldSetCFM(heap.world, 0);
      double start = deeper ? 1000 * rest : 0;
      pile_box(&heap, 3, 0, 0, L / 2 - start, L, L, L);
      double off = start - rest;
      for (int i = 0; i < 100; i++) {
        pile_step(&heap, h);
        off *= 1 - 0.2;
        double depth = L / 2 - dBodyGetPosition(heap.body[0])[2];
        CU_ASSERT_DOUBLE_EQUAL(depth, rest + off,
                               1e-3 * rest + of_host(1e-14 * L, L));
      }
      CU_ASSERT_DOUBLE_EQUAL(heap.deepest, rest,
                             1e-3 * rest + of_host(1e-14 * L, L));
      pile_close(&heap);
    }
  }
}

/* What a program with a surface layer of its own asks for, a world without gravity
 * and AP, which corrects nothing, keep the depth that they have. */
static void test_depths_of_others(void) {
  const double h = 0.01;
  for (int k = 0; k < 3; k++) {
    ode_mlcp_options options = default_options();
    if (k == 2) options.scheme = ODE_MLCP_SCHEME_AP;
    pile heap = open_heap(k == 1 ? 0 : 9.81, &options);
    dWorldSetCFM(heap.world, 0);
    if (k == 0) dWorldSetContactSurfaceLayer(heap.world, 1e-4);
    double start = k == 1 ? 0 : 5e-5;
    pile_box(&heap, 3, 0, 0, 0.5 - start, 1, 1, 1);
    for (int i = 0; i < 50; i++) pile_step(&heap, h);
    CU_ASSERT_DOUBLE_EQUAL(dBodyGetPosition(heap.body[0])[2], 0.5 - start,
                           of_host(1e-11, 1));
    pile_close(&heap);
  }
}

/* Walls of cubes and of flat bricks, 0.01 to 1e5 kg and 1 cm to 10 m: none loses a
 * contact that carries it, and a step at rest costs a few factorisations. At depth 0
 * a wall of 10 g cubes fell down, at hundreds of factorisations a step. In single
 * precision a step ends with poses that are rounded, and gaps by hundredths of the rest
 * depth; what that changes costs more. */
static void test_walls_of_any_units(void) {
  static const double masses[] = {0.01, 1, 300, 1e5};
  static const double lengths[] = {0.01, 1, 10};
  static const double steps[] = {0.002, 0.01, 0.02};
  enum { ROWS = 8, STEPS = 60, SETTLED = 30 };
  for (int k = 0; k < 12; k++) {
    double mass = masses[k % 4], L = lengths[k % 3], h = steps[k % 3];
    double flat = k < 6 ? 1 : 0.4;
    pile heap = open_heap(9.81, NULL);
    for (int row = 0; row < ROWS; row++)
      for (int i = 0; i < ROWS - row; i++)
        pile_box(&heap, mass, 1.05 * L * (i + 0.5 * row), 0,
                 flat * L * (row + 0.5), L, L, flat * L);
    long factorisations = 0;
    double fastest = 0;
    for (int i = 0; i < STEPS; i++) {
      ode_mlcp_report report = pile_step(&heap, h);
      CU_ASSERT_EQUAL(report.degraded, 0);
      if (i < SETTLED) continue;
      factorisations += report.factorisations;
      CU_ASSERT(heap.n_contacts >= 3 * heap.n_bodies);
      fastest = fmax(fastest, pile_fastest(&heap));
    }
    const long most = (host_is_single() ? 20 : 10) * (STEPS - SETTLED);
    CU_ASSERT(factorisations <= most);
    CU_ASSERT(fastest < 1e-2 * 9.81 * h);
    if (factorisations > most || fastest >= 1e-2 * 9.81 * h)
      printf("\n%g kg, %g m, %g s: %ld, %g\n", mass, L, h, factorisations,
             fastest);
    pile_close(&heap);
  }
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"contacts come to their rest depth", test_rest_depth},
      {"depths of others are kept", test_depths_of_others},
      {"walls of any units rest cheaply", test_walls_of_any_units},
      CU_TEST_INFO_NULL};
  return run_host_tests("step rest", tests);
}
