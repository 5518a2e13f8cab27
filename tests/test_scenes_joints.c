/* The papers' cases with joints only. */
#include <math.h>
#include <string.h>

#include "host_rounding.h"
#include "scene_testing.h"

static scene_result *run(const char *name, const char *scheme, double h,
                         double time) {
  scene_settings settings = test_settings(name, scheme);
  settings.h = h;
  settings.time = time;
  return test_run(name, &settings);
}

/* AH fig. 2, with the host's distance joint. */
static void test_stabilised_pendulum_does_not_drift(void) {
  scene_result *result = run("pendulum", "ah", 0.1, 100);
  CU_ASSERT_EQUAL(result->n_steps, 1000);
  CU_ASSERT(result->infeasibility_max < 0.1875);
  CU_ASSERT(result->infeasibility_max > 0.186);
  CU_ASSERT_DOUBLE_EQUAL(result->infeasibility_late, 0.03, 0.005);
  scene_result_destroy(result);
}

static void test_unstabilised_pendulum_drifts(void) {
  scene_result *result = run("pendulum", "ap", 0.1, 100);
  CU_ASSERT_DOUBLE_EQUAL(result->infeasibility_late, 22.5, 0.05);

  /* Theta(N) = sum of h^2 |v|^2, exactly */
  double sum = 0;
  for (long i = 1; i <= result->n_steps; i++) {
    const double *v = result->velocities + 2 * i;
    sum += 0.01 * (v[0] * v[0] + v[1] * v[1]);
  }
  /* but for a few roundings of the place in 32 steps */
  CU_ASSERT_DOUBLE_EQUAL(result->infeasibilities[result->n_steps] / sum, 1,
                         of_host(1e-10, result->n_steps / 32.));
  scene_result_destroy(result);
}

/* Stabilised with the host's joint error |q| - L, every step obeys
 * |q+|^2 - L^2 = h^2 |v+|^2 - (|q| - L)^2. */
static void test_stabilised_pendulum_obeys_its_recurrence(void) {
  scene_result *result = run("pendulum", "ah", 0.1, 20);
  double worst = 0;
  for (long i = 1; i <= result->n_steps; i++) {
    const double *q = result->positions + 2 * i, *p = q - 2;
    const double *v = result->velocities + 2 * i;
    double before = hypot(p[0], p[1]) - 1;
    double expected = 0.01 * (v[0] * v[0] + v[1] * v[1]) - before * before;
    worst = fmax(worst, fabs(q[0] * q[0] + q[1] * q[1] - 1 - expected));
  }
  CU_ASSERT(worst < of_host(1e-11, 1));
  scene_result_destroy(result);
}

/* The drift of a stabilised joint is of second order, the motion's error of
 * first. */
static void test_pendulum_converges(void) {
  scene_settings settings = test_settings("pendulum", NULL);
  scene_sweep *sweep = test_sweep("pendulum", &settings);
  CU_ASSERT_EQUAL_FATAL(sweep->n_rows, 5);
  CU_ASSERT(isnan(sweep->rows[0].ratios[0]));
  CU_ASSERT_DOUBLE_EQUAL(sweep->rows[4].ratios[0], 2, 0.1);
  CU_ASSERT_DOUBLE_EQUAL(sweep->rows[4].ratios[1], 4, 0.02);
  scene_sweep_destroy(sweep);
}

/* A time that is no multiple of h ends with a shorter step. */
static void test_last_step_ends_at_the_time_asked_for(void) {
  scene_result *result = run("pendulum", "ah", 0.1, 0.25);
  CU_ASSERT_EQUAL(result->n_steps, 3);
  CU_ASSERT_EQUAL(result->times[3], 0.25);
  scene_result_destroy(result);
  result = run("pendulum", "ah", 0.1, 0);
  CU_ASSERT_EQUAL(result->n_steps, 0);
  CU_ASSERT_EQUAL(result->energy_end, result->energy_start);
  scene_result_destroy(result);
}

int main(void) {
  CU_TestInfo tests[] = {
      {"a stabilised pendulum does not drift",
       test_stabilised_pendulum_does_not_drift},
      {"an unstabilised one does", test_unstabilised_pendulum_drifts},
      {"stabilised steps obey their recurrence",
       test_stabilised_pendulum_obeys_its_recurrence},
      {"the pendulum converges", test_pendulum_converges},
      {"the last step ends in time", test_last_step_ends_at_the_time_asked_for},
      {NULL, NULL}};
  return run_tests("scenes with joints", tests);
}
