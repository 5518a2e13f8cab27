/* The position projection of one body, against sums done by hand. */
#include <math.h>
#include <string.h>

#include "assembly/position_projection.h"
#include "testing.h"

/* A body of 4 kg and 2 kg m^2 about every axis, and rows on it. */
typedef struct rig {
  mlcp_body body;
  mlcp_row rows[4];
  row_correction corrections[4];
  mlcp_problem problem;
  mlcp_solution solution;
  double v[6], p[4];
  arena arena;
} rig;

static void create_rig(rig *r) {
  memset(r, 0, sizeof *r);
  for (int i = 0; i < 6; i++) {
    r->body.mass[7 * i] = i < 3 ? 4 : 2;
    r->body.inverse_mass[7 * i] = i < 3 ? 0.25 : 0.5;
    r->body.v_free[i] = 9; /* of the step; a projection starts at rest */
  }
  r->problem = (mlcp_problem){.n_bodies = 1,
                              .bodies = &r->body,
                              .rows = r->rows,
                              .velocity_floor = 0.01};
  r->solution = (mlcp_solution){.v = r->v, .p = r->p};
  r->arena.source = &memory_from_malloc;
}

/* Along axis `k` of the body's velocities. */
static void put_row(rig *r, mlcp_row_kind kind, int k, double bias, double low,
                    double high, double impulse, double velocity,
                    double excess) {
  int n = r->problem.n_rows++;
  r->rows[n] = (mlcp_row){
      .kind = kind, .body = {0, -1}, .bias = bias, .low = low, .high = high};
  r->rows[n].J[0][k] = 1;
  r->corrections[n] = (row_correction){.velocity = velocity, .excess = excess};
  r->p[n] = impulse;
}

/* @return whether it asks for a motion */
static bool build(rig *r, position_projection *out) {
  CU_ASSERT(position_projection_build(out, &r->arena, &r->problem, &r->solution,
                                      r->corrections));
  return out->problem.n_rows > 0;
}

/* A row needs its excess less what the velocities have there, w = J v + c p + bias,
 * and has what they left of its limits. */
static void test_rows_have_what_the_velocities_left(void) {
  rig r;
  position_projection made;
  create_rig(&r);
  r.v[0] = 0.5, r.v[1] = -0.25, r.v[2] = 2;
  put_row(&r, MLCP_ROW_NORMAL, 0, -0.125, 0, INFINITY, 3, 0.1, 1);
  put_row(&r, MLCP_ROW_JOINT, 1, 0, -5, 7, 2, 0.1, 0.75);
  put_row(&r, MLCP_ROW_JOINT, 2, 1, -5, 7, 9, 0.1, -4);
  put_row(&r, MLCP_ROW_JOINT, 2, 1, -INFINITY, 0, -6, 0.1, -4);
  r.rows[1].compliance = 0.0625;
  CU_ASSERT_EQUAL_FATAL(build(&r, &made), true);
  CU_ASSERT_EQUAL_FATAL(made.problem.n_rows, 4);
  const mlcp_row *rows = made.problem.rows;

  /* w = 0.5 - 0.125: 0.625 are missing; it pushes, however hard it did */
  CU_ASSERT_EQUAL(rows[0].bias, -0.625);
  CU_ASSERT_EQUAL(rows[0].low, 0);
  CU_ASSERT_EQUAL(rows[0].high, INFINITY);
  /* w = -0.25 + 0.0625 * 2; of -5 .. 7 it used 2 */
  CU_ASSERT_EQUAL(rows[1].bias, -0.875);
  CU_ASSERT_EQUAL(rows[1].low, -7);
  CU_ASSERT_EQUAL(rows[1].high, 5);
  CU_ASSERT_EQUAL(rows[1].compliance, 0.0625);
  /* w = 2 + 1; what is past its limit has nothing left that way */
  CU_ASSERT_EQUAL(rows[2].bias, 7);
  CU_ASSERT_EQUAL(rows[2].low, -14);
  CU_ASSERT_EQUAL(rows[2].high, 0);
  CU_ASSERT_EQUAL(rows[3].low, -INFINITY);
  CU_ASSERT_EQUAL(rows[3].high, 0);
  /* a millionth of 1/4 kg */
  CU_ASSERT_DOUBLE_EQUAL(rows[0].compliance, 0.25e-6, 1e-12);
  for (int i = 0; i < 6; i++)
    CU_ASSERT_EQUAL(made.problem.bodies[0].v_free[i], 0);
  arena_release(&r.arena);
}

/* A projection is built where a row with a correction misses more than a thousandth of
 * the velocities at hand, and can do something about it. */
static void test_what_asks_for_motion(void) {
  static const struct {
    mlcp_row_kind kind;
    double low, high, velocity, excess;
    bool built;
  } cases[] = {
      {MLCP_ROW_NORMAL, 0, INFINITY, 0.1, 2e-5, true},
      {MLCP_ROW_NORMAL, 0, INFINITY, 0.1, 0.9e-5, false},
      {MLCP_ROW_NORMAL, 0, INFINITY, 0, 2e-5, true},
      {MLCP_ROW_NORMAL, 0, INFINITY, 0.1, -2e-5, false},
      {MLCP_ROW_NORMAL, 0, INFINITY, 0.1, NAN, false},
      {MLCP_ROW_FRICTION, 0, INFINITY, 0.1, 2e-5, false},
      {MLCP_ROW_JOINT, -INFINITY, INFINITY, 0.1, -2e-5, true},
      {MLCP_ROW_JOINT, -INFINITY, 0, 0.1, -2e-5, true},
      {MLCP_ROW_JOINT, -INFINITY, 0, 0.1, 2e-5, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    rig r;
    position_projection made;
    create_rig(&r);
    put_row(&r, cases[i].kind, 0, 0, cases[i].low, cases[i].high, 0,
            cases[i].velocity, cases[i].excess);
    CU_ASSERT_EQUAL(build(&r, &made), cases[i].built);
    arena_release(&r.arena);
  }
  /* without a correction a row that misses its target is a velocity's matter */
  rig r;
  position_projection made;
  create_rig(&r);
  put_row(&r, MLCP_ROW_NORMAL, 0, -1, 0, INFINITY, 0, 0, 0);
  CU_ASSERT_EQUAL(build(&r, &made), false);
  arena_release(&r.arena);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"rows have what the velocities left",
       test_rows_have_what_the_velocities_left},
      {"what asks for motion", test_what_asks_for_motion},
      CU_TEST_INFO_NULL};
  return run_tests("position projection", tests);
}
