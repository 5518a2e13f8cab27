/* Sources as they were written before sizes were passed, and structs of a later
 * header: longer than the library's. Linked with libode_mlcp.so. */
#include <math.h>
#include <string.h>

#include "step_testing.h"

static void test_calls_take_no_sizes(void) {
  ode_mlcp_error (*step)(dWorldID, dReal, ode_mlcp_report *) = ode_mlcp_step;
  void (*defaults)(ode_mlcp_options *) = &ode_mlcp_default_options;
  ode_mlcp_options options;
  defaults(&options);
  CU_ASSERT(options.struct_size <= sizeof options);
  dWorldID world = create_world(10, &options);
  create_ball(world, 1, 1);
  ode_mlcp_report report, last; // nobody fills them before
  CU_ASSERT_EQUAL(step(world, 0.01, &report), ODE_MLCP_OK);
  CU_ASSERT_EQUAL(report.step, 1);
  CU_ASSERT_EQUAL(report.struct_size, sizeof report);
  CU_ASSERT_EQUAL(step(world, 0.01, NULL), ODE_MLCP_OK);
  CU_ASSERT_EQUAL(ode_mlcp_step(world, 0.01, NULL), ODE_MLCP_OK);
  CU_ASSERT_EQUAL((ode_mlcp_last_report)(world, &last), ODE_MLCP_OK);
  CU_ASSERT_EQUAL(last.step, 3);
  CU_ASSERT_EQUAL(ode_mlcp_last_report(world, NULL), ODE_MLCP_BAD_ARGUMENT);
  dWorldDestroy(world);
}

static void test_a_size_set_by_hand_is_taken(void) {
  ode_mlcp_options options;
  ode_mlcp_default_options(&options);
  options.struct_size = sizeof options;
  CU_ASSERT_EQUAL(ode_mlcp_check_options(&options, NULL, 0), ODE_MLCP_OK);
}

/* Version 0.1 told nobody to begin with the defaults. */
static void test_impact_options_filled_by_hand_are_taken(void) {
  static const double one[] = {1, 0, 0, 1}, Jn[] = {0, 1}, Jt[] = {1, 0};
  static const double mu[] = {0.5}, before[] = {1, -1};
  ode_mlcp_impact_problem problem = {.n_velocities = 2,
                                     .n_contacts = 1,
                                     .n_tangents = 1,
                                     .M = one,
                                     .Jn = Jn,
                                     .Jt = Jt,
                                     .mu = mu,
                                     .v = before};
  ode_mlcp_impact_options options = {
      .samples = 7, .h = 1, .steps = 10, .threads = 1};
  ode_mlcp_impact *impact;
  ode_mlcp_impact_set set;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_impact_create(&problem, &impact, NULL, 0),
                        ODE_MLCP_IMPACT_DONE);
  CU_ASSERT_EQUAL(ode_mlcp_impact_approximate(impact, &options, &set),
                  ODE_MLCP_IMPACT_DONE);
  CU_ASSERT_EQUAL(set.n_samples, 7);
  ode_mlcp_impact_set_release(&set);
  CU_ASSERT_EQUAL(set.n_samples, 0);
  CU_ASSERT_PTR_NULL(set.block);
  options.h = NAN;
  CU_ASSERT_EQUAL(ode_mlcp_impact_approximate(impact, &options, &set),
                  ODE_MLCP_IMPACT_BAD_INPUT);
  CU_ASSERT_EQUAL(set.n_outcomes, 0);
  ode_mlcp_impact_set_release(&set);
  ode_mlcp_impact_destroy(impact);
}

/* --- a later header ------------------------------------------------------- */

static void test_later_options_may_be_at_zero(void) {
  struct {
    ode_mlcp_options known;
    double later;
  } options;
  char message[400];
  memset(&options, 0xA5, sizeof options);
  ode_mlcp_default_options_sized(&options.known, sizeof options);
  CU_ASSERT_EQUAL(options.later, 0);
  CU_ASSERT_EQUAL(options.known.edges, 4);
  dWorldID world = create_world(10, &options.known);
  options.later = 1;
  CU_ASSERT_EQUAL(ode_mlcp_attach(world, &options.known),
                  ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT_EQUAL(
      ode_mlcp_check_options(&options.known, message, sizeof message),
      ODE_MLCP_BAD_ARGUMENT);
  CU_ASSERT(strstr(message, "does not know") != NULL);
  dWorldDestroy(world);
}

static void test_later_reports_say_what_is_filled(void) {
  struct {
    ode_mlcp_report known;
    double later;
  } report;
  dWorldID world = create_world(10, NULL);
  create_ball(world, 1, 1);
  memset(&report, 0xA5, sizeof report);
  CU_ASSERT_EQUAL(
      ode_mlcp_step_sized(world, 0.01, &report.known, sizeof report),
      ODE_MLCP_OK);
  CU_ASSERT_EQUAL(report.known.struct_size, sizeof report.known);
  CU_ASSERT_EQUAL(report.known.step, 1);
  CU_ASSERT_EQUAL(report.later, 0);
  dWorldDestroy(world);
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"calls take no sizes", test_calls_take_no_sizes},
      {"a size set by hand", test_a_size_set_by_hand_is_taken},
      {"impact options by hand", test_impact_options_filled_by_hand_are_taken},
      {"later options", test_later_options_may_be_at_zero},
      {"later reports", test_later_reports_say_what_is_filled},
      CU_TEST_INFO_NULL};
  return run_host_tests("ABI: sources, and a later caller", tests);
}
