/* Which stepper compare's sentence says to take, of figures that are given. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge/verdict.h"
#include "testing.h"

/* Bodies' sizes (m), masses (kg), steps (s) and speeds (m/s) that are tried. */
static const struct {
  double size, mass, h, speed;
} cases[] = {{1, 1, 0.01, 3}, {0.02, 5e-3, 0.001, 0.2}, {40, 9e4, 0.02, 12}};
enum { N_CASES = sizeof cases / sizeof cases[0], GRAVITY = 10 };

/* What a comparison is judged with: one body, one step. */
typedef struct told {
  recording_head head;
  recording_step step;
  recording_body body;
  recording recording;
  const recording_step *steps[1];
  const recording_body *bodies[1];
} told;

static told told_runs[COMPARE_RUNS];
static comparison c;

/* Runs of these names without a fault; the first is the fastest, each further one
 * costs ten times as much. */
static void begin(int k, int n, const char *const names[]) {
  memset(&c, 0, sizeof c);
  memset(told_runs, 0, sizeof told_runs);
  strcpy(c.program, "/bin/program");
  c.n_runs = n;
  c.size = cases[k].size;
  for (int i = 0; i < n; i++) {
    told *t = &told_runs[i];
    t->head.weight = cases[k].mass * GRAVITY;
    t->step.step_size = cases[k].h;
    t->step.kinetic = 0.5 * cases[k].mass * cases[k].speed * cases[k].speed;
    t->body.mass = cases[k].mass;
    t->steps[0] = &t->step;
    t->bodies[0] = &t->body;
    t->recording = (recording){.head = &t->head,
                               .steps = t->steps,
                               .bodies = t->bodies,
                               .n_steps = 1,
                               .n_bodies = 1};
    compare_run *run = &c.runs[i];
    strcpy(run->name, names[i]);
    run->levels[0] = &t->recording;
    run->figures.steps = 100;
    run->figures.most_bodies = run->figures.most_contacts = 1;
    run->figures.ms_step_median = 1e-3 * pow(10, i) * cases[k].h;
    run->figures.reference_error = NAN;
  }
}

static bool says(const char *text) { return strstr(c.headline, text) != NULL; }

static double fall(int k) { return GRAVITY * cases[k].h; }

static void test_stock_that_does_as_well_wins(void) {
  static const char *const names[] = {"quick", "ah"};
  for (int k = 0; k < N_CASES; k++) {
    begin(k, 2, names);
    judge_verdict(&c);
    CU_ASSERT(says("ode-mlcp loses: quick does as well as `ah`"));
    CU_ASSERT_EQUAL(c.n_lines, 0);
  }
}

/* Half a body's size of a joint is not paid for by half of what weight gives. */
static void test_faults_of_two_kinds_are_no_trade(void) {
  static const char *const names[] = {"quick", "ah"};
  for (int k = 0; k < N_CASES; k++) {
    begin(k, 2, names);
    c.runs[0].figures.joint_error_worst = 0.56 * cases[k].size;
    c.runs[1].figures.joint_error_worst = 5e-4 * cases[k].size;
    c.runs[0].figures.friction_error_p90 = 0.26 * fall(k);
    c.runs[1].figures.friction_error_p90 = 0.65 * fall(k);
    judge_verdict(&c);
    CU_ASSERT(says("neither is ahead: quick lets joints open"));
    CU_ASSERT(says("ode-mlcp `ah` keeps that to 0.05 %"));
    CU_ASSERT(says("it lets bodies creep or slide wrongly"));
    CU_ASSERT_FALSE(says("does as well"));
  }
}

static void test_one_that_is_behind_in_all_loses(void) {
  static const char *const names[] = {"step", "ah"};
  for (int k = 0; k < N_CASES; k++)
    for (int ours = 0; ours < 2; ours++) {
      begin(k, 2, names);
      compare_figures *bad = &c.runs[ours].figures;
      bad->joint_error_worst = 0.3 * cases[k].size;
      bad->friction_error_p90 = 0.5 * fall(k);
      judge_verdict(&c);
      CU_ASSERT_EQUAL(says("ode-mlcp loses"), ours == 1);
      CU_ASSERT(says("keeps that to 0 %"));
      CU_ASSERT_FALSE(says("neither"));
    }
}

/* A run that broke is not taken, whatever its figures are. */
static void test_broken_runs_are_not_taken(void) {
  static const char *const names[] = {"quick", "ah"};
  for (int k = 0; k < N_CASES; k++) {
    begin(k, 2, names);
    c.runs[0].figures.not_finite = 1;
    c.runs[1].figures.joint_error_worst = 0.3 * cases[k].size;
    judge_verdict(&c);
    CU_ASSERT(says("take ode-mlcp `ah`"));
    CU_ASSERT_PTR_NOT_NULL(strstr(c.lines[0].text, "no numbers"));
    c.runs[1].figures.failed_steps = 1;
    judge_verdict(&c);
    CU_ASSERT(says("no run is to be trusted"));
  }
}

/* The order in which runs are given changes no sentence. */
static void test_order_of_runs(void) {
  static const char *const names[] = {"quick", "step", "ah", "st"};
  for (int k = 0; k < N_CASES; k++) {
    begin(k, 4, names);
    c.runs[0].figures.penetration_worst = 0.2 * cases[k].size;
    c.runs[1].figures.friction_error_p90 = 0.5 * fall(k);
    c.runs[2].figures.joint_error_worst = 0.02 * cases[k].size;
    c.runs[3].figures.energy_drift = 0.9 * told_runs[3].step.kinetic;
    judge_verdict(&c);
    char before[sizeof c.headline];
    strcpy(before, c.headline);
    for (int i = 0; i < 2; i++) {
      compare_run run = c.runs[i];
      c.runs[i] = c.runs[3 - i];
      c.runs[3 - i] = run;
    }
    judge_verdict(&c);
    CU_ASSERT_STRING_EQUAL(c.headline, before);
  }
}

int main(void) {
  static CU_TestInfo tests[] = {
      {"a stepper of the host that does as well wins",
       test_stock_that_does_as_well_wins},
      {"faults of two kinds are no trade",
       test_faults_of_two_kinds_are_no_trade},
      {"one that is behind in all loses", test_one_that_is_behind_in_all_loses},
      {"broken runs are not taken", test_broken_runs_are_not_taken},
      {"the order of runs", test_order_of_runs},
      CU_TEST_INFO_NULL};
  return run_tests("judge: the verdict", tests);
}
