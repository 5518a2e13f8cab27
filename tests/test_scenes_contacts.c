/* The papers' cases with contacts, against their numbers. */
#include <math.h>

#include "host_rounding.h"
#include "scene_testing.h"
#include "scenes/painleve.h"

static scene_result *run(const char *name, const char *scheme, double h) {
  scene_settings settings = test_settings(name, scheme);
  if (h > 0) settings.h = h;
  return test_run(name, &settings);
}

/* AH fig. 4; both numbers as an independent program in generalized coordinates
 * gives them. */
static void test_ellipse_sinks_only_unstabilised(void) {
  scene_result *position_level = run("ellipse", "st", 0);
  scene_result *stabilised = run("ellipse", "ah", 0);
  scene_result *sinking = run("ellipse", "ap", 0);
  CU_ASSERT_DOUBLE_EQUAL(stabilised->infeasibility_late, 2.5097e-3, 1e-6);
  CU_ASSERT_DOUBLE_EQUAL(sinking->infeasibility_late, 0.70685, 1e-4);
  CU_ASSERT(sinking->infeasibility_late > 100 * stabilised->infeasibility_late);
  CU_ASSERT(position_level->infeasibility_late < 1e-5);
  scene_result_destroy(position_level);
  scene_result_destroy(stabilised);
  scene_result_destroy(sinking);
}

/* AH fig. 6 */
static void test_all_disks_come_to_lie_on_the_table(void) {
  scene_result *result = run("disks", "ah", 0);
  CU_ASSERT_EQUAL(result->counted, 21);
  CU_ASSERT(result->infeasibility_late < of_host(1e-12, 2));
  CU_ASSERT(result->infeasibility_max > 1e-3); // there was something to mend
  CU_ASSERT(result->energy_end < result->energy_start);
  scene_result_destroy(result);
}

/* ST sec. 4.1: first and full contact, rest. */
static void check_falling_rod(const char *scheme, double h, double tolerance,
                              double x_end, double x_tolerance) {
  scene_result *result = run("falling-rod", scheme, h);
  CU_ASSERT_DOUBLE_EQUAL(test_event(result, "contact", 0), 0.385, tolerance);
  CU_ASSERT_DOUBLE_EQUAL(test_event(result, "contact", 1), 0.550, tolerance);
  CU_ASSERT_DOUBLE_EQUAL(test_event(result, "rest", 0), 0.570, tolerance);
  CU_ASSERT(isnan(test_event(result, "rest", 1)));
  const double *q = result->positions + 3 * result->n_steps;
  CU_ASSERT_DOUBLE_EQUAL(q[0], x_end, x_tolerance);
  CU_ASSERT_DOUBLE_EQUAL(q[1], 0.05, 1e-6);
  CU_ASSERT(result->infeasibility_max < 1e-5);
  scene_result_destroy(result);
}

static void test_rod_falls_as_in_the_paper(void) {
  check_falling_rod("st", 0.0025, 1e-9, -0.2301, 5e-5);
  check_falling_rod("ah", 0.0025, 1e-9, -0.2301, 5e-4);
  // x_end at larger steps, as an independent program gives it
  scene_result *result = run("falling-rod", "st", 0.01);
  CU_ASSERT_DOUBLE_EQUAL(result->positions[3 * result->n_steps], -0.2362, 5e-5);
  scene_result_destroy(result);
  result = run("falling-rod", "st", 0.04);
  CU_ASSERT_DOUBLE_EQUAL(result->positions[3 * result->n_steps], -0.2412, 5e-5);
  scene_result_destroy(result);
}

/* Over five halved step sizes; the way, impacts included, to first order. */
static void test_rod_converges(void) {
  scene_settings settings = test_settings("falling-rod", "st");
  scene_sweep *sweep = test_sweep("falling-rod", &settings);
  CU_ASSERT_EQUAL_FATAL(sweep->n_rows, 5);
  double whole = sweep->rows[0].errors[0] / sweep->rows[4].errors[0];
  CU_ASSERT(whole > 16); // 2^4 by a first-order scheme
  CU_ASSERT(sweep->rows[4].errors[1] < 0.02);
  CU_ASSERT(sweep->rows[4].errors[2] < 0.003);
  scene_sweep_destroy(sweep);
}

/* In the pose and with the turning that the first impact leaves, no
 * accelerations obey Coulomb's law for an end that slides on to the right, as
 * it came down; to the left there are some. */
static void test_rod_meets_painleve_configuration(void) {
  scene_result *result = run("falling-rod", "ah", 0);
  long before = lround(0.3825 / 0.0025), after = before + 2;
  const double *q = result->positions + 3 * after;
  const double *v = result->velocities + 3 * after;
  const double *u = result->velocities + 3 * before;
  double angle = q[2], arm = 0.25 * cos(angle);
  // the lower end is the one along the angle's opposite
  if (sin(angle) > 0) arm = -arm;
  sliding_contact end = {.mass = 1,
                         .inertia = 0.002,
                         .friction = 0.6,
                         .gravity = 9.81,
                         .turning = v[2],
                         .arm = {arm, -0.25 * fabs(sin(angle)) - 0.05}};
  end.slip = u[0] - u[2] * end.arm[1];
  CU_ASSERT(end.slip > 1);
  double A, b;
  CU_ASSERT_FALSE(sliding_contact_solvable(&end, &A, &b));
  CU_ASSERT(A < -1 && b < -2);
  end.slip = -end.slip;
  CU_ASSERT(sliding_contact_solvable(&end, &A, &b));
  CU_ASSERT(strncmp(result->note, "from 0.385 s", 12) == 0);
  scene_result_destroy(result);
}

/* The LCP 0 <= f perp A f + b >= 0 by its two cases. */
static void test_sliding_contacts_without_accelerations(void) {
  sliding_contact rod = {.mass = 1,
                         .inertia = 1.0 / 3,
                         .friction = 2,
                         .gravity = 9.81,
                         .slip = -2,
                         .arm = {-0.5, -sqrt(0.75)}};
  double A, b;
  CU_ASSERT_FALSE(sliding_contact_solvable(&rod, &A, &b));
  CU_ASSERT_DOUBLE_EQUAL(A, 1.75 - 2 * 3 * 0.5 * sqrt(0.75), 1e-12);
  CU_ASSERT_DOUBLE_EQUAL(b, -9.81, 1e-12);
  // trailing its tip, or on a floor less rough, it slides on
  rod.slip = 2;
  CU_ASSERT(sliding_contact_solvable(&rod, &A, &b));
  rod.slip = -2;
  rod.friction = 1.3;
  CU_ASSERT(sliding_contact_solvable(&rod, &A, &b));
  // and so fast a turn lifts it off
  rod.friction = 2;
  rod.turning = 4;
  CU_ASSERT(sliding_contact_solvable(&rod, &A, &b));
  CU_ASSERT(A < 0 && b > 0);
}

static void test_painleve_rod_jams_without_a_collision(void) {
  scene_settings settings = test_settings("painleve-rod", "ah");
  scene_sweep *sweep = test_sweep("painleve-rod", &settings);
  for (int i = 1; i < sweep->n_rows; i++)
    CU_ASSERT_DOUBLE_EQUAL(sweep->rows[i].ratios[0], 2, 0.01);
  CU_ASSERT(sweep->rows[sweep->n_rows - 1].errors[0] < 0.005);
  scene_sweep_destroy(sweep);
}

/* ST table 1: velocity, position, variation. */
static void test_four_balls_meet_the_papers_table(void) {
  scene_settings settings = test_settings("four-balls", "st");
  scene_sweep *sweep = test_sweep("four-balls", &settings);
  CU_ASSERT_EQUAL_FATAL(sweep->n_rows, 4);
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 3; k++) {
      double paper = sweep->rows[i].references[k];
      CU_ASSERT(paper > 0);
      CU_ASSERT_DOUBLE_EQUAL(sweep->rows[i].errors[k] / paper, 1,
                             k == 2 ? 2e-4 : 0.012);
    }
  /* The gaps of 1e-5 m are differences of positions of 1.4 m: three gaps of two of
   * them are off by 4 roundings. Each is a velocity over the step: of the finest run
   * most, which all are compared with, for the second that it takes; and of a ball's
   * spin by its radius, ten times that. */
  double finest = 1 / scene_find("four-balls")->step_sizes[4];
  CU_ASSERT_DOUBLE_EQUAL(sweep->rows[0].errors[0], 0.5050,
                         of_host(5e-5, finest));
  CU_ASSERT_DOUBLE_EQUAL(sweep->rows[0].errors[1], 0.2505,
                         of_host(1e-4, finest));
  CU_ASSERT_DOUBLE_EQUAL(sweep->rows[3].errors[0], 0.0700,
                         of_host(5e-5, finest));
  CU_ASSERT_DOUBLE_EQUAL(sweep->rows[3].errors[1], 0.0298,
                         of_host(1e-4, finest));
  scene_sweep_destroy(sweep);
}

/* First order exactly, against the analytic motion. */
static void test_block_sticks_and_slips(void) {
  scene_settings settings = test_settings("stick-slip", "ah");
  scene_sweep *sweep = test_sweep("stick-slip", &settings);
  for (int i = 1; i < sweep->n_rows; i++)
    CU_ASSERT_DOUBLE_EQUAL(sweep->rows[i].ratios[0], 2, 0.1);
  scene_sweep_destroy(sweep);
  scene_result *result = test_run("stick-slip", &settings);
  CU_ASSERT_DOUBLE_EQUAL(test_event(result, "stick", 0), 0.3386, 0.02);
  CU_ASSERT(strstr(result->note, "3.00434856973") != NULL);
  scene_result_destroy(result);
  settings.time = 10;
  result = test_run("stick-slip", &settings);
  CU_ASSERT(strstr(result->note, "0.276812") != NULL);
  CU_ASSERT_DOUBLE_EQUAL(test_event(result, "slip", 0), 2.9463, 0.02);
  CU_ASSERT_DOUBLE_EQUAL(result->errors[1], 0.27681, 0.003);
  scene_result_destroy(result);
}

static void test_block_slides_by_coulombs_law_in_every_direction(void) {
  for (int heading = 0; heading < 360; heading += 75) {
    scene_settings settings = test_settings("incline", "ah");
    incline_heading = heading;
    settings.h = 0.005;
    scene_result *coarse = test_run("incline", &settings);
    settings.h = 0.0025;
    scene_result *fine = test_run("incline", &settings);
    CU_ASSERT(fine->errors[0] < 0.02);
    CU_ASSERT_DOUBLE_EQUAL(coarse->errors[0] / fine->errors[0], 2, 0.1);
    CU_ASSERT(fine->errors[1] < 1e-9);
    scene_result_destroy(coarse);
    scene_result_destroy(fine);
  }
}

static void test_rover_and_pawl_arrive(void) {
  scene_settings settings = test_settings("rover", "ah");
  settings.time = 4;
  scene_result *rover = test_run("rover", &settings);
  double way = rover->positions[rover->n_steps * rover->n_positions] -
               rover->positions[0];
  CU_ASSERT_DOUBLE_EQUAL(way, 3, 0.3); // what the wheels turned, some slip
  CU_ASSERT(rover->infeasibility_max < 1e-3);
  scene_result_destroy(rover);
  scene_result *pawl = run("pawl", "ah", 0);
  CU_ASSERT_EQUAL(pawl->counted, 1);
  CU_ASSERT(pawl->infeasibility_max < 1e-6);
  scene_result_destroy(pawl);
}

int main(void) {
  CU_TestInfo tests[] = {
      {"an ellipse sinks only unstabilised",
       test_ellipse_sinks_only_unstabilised},
      {"all disks come to lie on the table",
       test_all_disks_come_to_lie_on_the_table},
      {"the rod falls as in the paper", test_rod_falls_as_in_the_paper},
      {"the rod meets Painleve's configuration",
       test_rod_meets_painleve_configuration},
      {"sliding contacts without accelerations",
       test_sliding_contacts_without_accelerations},
      {"Painleve's rod jams", test_painleve_rod_jams_without_a_collision},
      {"the rod converges", test_rod_converges},
      {"four balls meet the paper's table",
       test_four_balls_meet_the_papers_table},
      {"a block sticks and slips", test_block_sticks_and_slips},
      {"a block slides by Coulomb's law",
       test_block_slides_by_coulombs_law_in_every_direction},
      {"the rover and the pawl arrive", test_rover_and_pawl_arrive},
      {NULL, NULL}};
  return run_tests("scenes with contacts", tests);
}
