/* The plain LCP that peers are given says the same as the mixed one: its
 * solutions are solutions, and back. */
#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "../bench/lcp_form.h"
#include "dense_lcp.h"
#include "problems.h"
#include "lcp/lemke.h"
#include "solver/solver.h"

/* Solve the plain form; the mixed problem's residual must vanish. */
static void solve_plain(const char *name, test_problem *problem) {
  lcp_form form;
  test_solution solution;
  CU_ASSERT_FATAL(lcp_form_build(&form, &problem->mlcp));
  CU_ASSERT_EQUAL(form.n, lcp_form_size(&problem->mlcp));
  solution_init(&solution, &problem->mlcp);
  double *z = calloc((size_t)form.n + 1, sizeof *z);
  lemke_workspace *workspace = lemke_workspace_create(&memory_from_malloc);
  lemke_options options;
  options = lemke_default_options;
  lemke_report report =
      lemke_solve_dense(workspace, form.n, form.M, form.q, &options, z);
  CU_ASSERT_EQUAL(report.status, LEMKE_SOLVED);
  lcp_form_solution(&form, z, &solution.mlcp);
  double residual = solution_residual(&problem->mlcp, &solution.mlcp);
  if (!(residual < 1e-9)) printf("\n%s: %g\n", name, residual);
  CU_ASSERT(residual < 1e-9);

  // impulses alone say the rest
  lcp_form_from_impulses(&problem->mlcp, &solution.mlcp);
  CU_ASSERT(solution_residual(&problem->mlcp, &solution.mlcp) < 1e-9);

  // a wrong z is a wrong answer
  for (int i = 0; i < form.n; i++) z[i] += 0.1;
  lcp_form_solution(&form, z, &solution.mlcp);
  CU_ASSERT(solution_residual(&problem->mlcp, &solution.mlcp) > 1e-3);
  lemke_workspace_destroy(workspace);
  solution_release(&solution);
  lcp_form_release(&form);
  free(z);
  problem_release(problem);
}

static void test_plain_form_solves_the_mixed_one(void) {
  test_problem problem;
  problem_make_wall(&problem, 3, 0.5, 4);
  solve_plain("wall", &problem);
  problem_make_heap(&problem, 6, 3, 0.6, 4);
  solve_plain("heap", &problem);
  problem_make_heap(&problem, 5, 4, 0.4, 8);
  solve_plain("heap, 8 edges", &problem);
  problem_make_grasp(&problem, 0.5, 4); // bounded rows
  solve_plain("grasp", &problem);
}

/* Joints are eliminated; with a box bounded on both sides beside them. */
static void test_joints_and_boxes(void) {
  const double up[6] = {0, 0, 1, 0, 0, 0}, down[6] = {0, 0, -1, 0, 0, 0};
  const double corner[3] = {0, 0, 2};
  test_problem problem;
  problem_init(&problem);
  int lower = problem_add_box(&problem, 2, 0, 0, 1, .5, .5, .5);
  int upper = problem_add_box(&problem, 1, 0, 0, 3, .5, .5, .5);
  problem_add_ball(&problem, lower, upper, corner, 0);
  problem_add_row(&problem, upper, -1, up, down, -0.3, -0.02, 0.05);
  problem_add_row(&problem, lower, -1, up, down, 0, 0, INFINITY);
  solve_plain("joints", &problem);

  // two joints that say the same cannot be eliminated: said, not hidden
  lcp_form form;
  problem_init(&problem);
  lower = problem_add_box(&problem, 2, 0, 0, 1, .5, .5, .5);
  for (int i = 0; i < 2; i++)
    problem_add_row(&problem, lower, -1, up, down, 0, -INFINITY, INFINITY);
  CU_ASSERT_FALSE(lcp_form_build(&form, &problem.mlcp));
  problem_release(&problem);
}

/* The box law of a contact that slides along an axis is the polygon's; across
 * the axes the box lets through what the polygon does not. */
static void test_box_residual(void) {
  const double point[3] = {0, 0, 0.5}, normal[3] = {0, 0, 1};
  for (int across = 0; across < 2; across++) {
    test_problem problem;
    test_solution solution;
    problem_init(&problem);
    int box = problem_add_box(&problem, 1, 0, 0, 0.5, .5, .5, .5);
    problem_add_contact(&problem, box, -1, point, normal, 0, 0.5, 4);
    problem.bodies[box].v_free[0] = 1;
    problem.bodies[box].v_free[1] = across;
    solution_init(&solution, &problem.mlcp);
    double normal_impulse = -problem.bodies[box].v_free[2];
    solution.mlcp.p[0] = normal_impulse;
    for (int t = 1; t < 3; t++) {
      const double *axis = problem.rows[t].J[0];
      double slip = axis[0] + across * axis[1];
      if (fabs(slip) > 1e-9)
        solution.mlcp.p[t] = -copysign(0.5 * normal_impulse, slip);
    }
    CU_ASSERT(lcp_form_box_residual(&problem.mlcp, &solution.mlcp) < 1e-12);
    lcp_form_from_impulses(&problem.mlcp, &solution.mlcp);
    double residual = solution_residual(&problem.mlcp, &solution.mlcp);
    CU_ASSERT((residual > 1e-3) == (across == 1));
    solution.mlcp.p[0] *= 1.1;
    CU_ASSERT(lcp_form_box_residual(&problem.mlcp, &solution.mlcp) > 1e-4);
    solution_release(&solution);
    problem_release(&problem);
  }
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"the plain form solves the mixed one",
       test_plain_form_solves_the_mixed_one},
      {"joints and boxes", test_joints_and_boxes},
      {"box residual", test_box_residual},
      CU_TEST_INFO_NULL};
  return run_tests("bench: plain form", tests);
}
