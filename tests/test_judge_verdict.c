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
  c.reference = -1;
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
    run->figures.ms_processor = 1e-3 * pow(10, i) * cases[k].h;
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
    CU_ASSERT(says("take quick (a step takes"));
    CU_ASSERT(
        says("ode-mlcp (ah) is no better here and costs 10 times as much"));
    CU_ASSERT_EQUAL(c.n_lines, 0);
  }
}

/* The cheapest without a fault above a hundredth, with what is wrong with what is
 * cheaper; what its own lacks of a hundredth is no matter. */
static void test_the_cheapest_without_a_fault(void) {
  static const char *const names[] = {"quick", "step", "ah", "conserving"};
  for (int k = 0; k < N_CASES; k++) {
    begin(k, 4, names);
    for (int i = 0; i < 4; i++)
      c.runs[i].figures.energy_drift = (i < 2    ? 0.3
                                        : i == 2 ? 9e-3
                                                 : 0) *
                                       told_runs[0].step.kinetic;
    told_runs[0].head.weight = 0;
    for (int i = 1; i < 4; i++) told_runs[i].head.weight = 0;
    judge_verdict(&c);
    CU_ASSERT(says("take ah"));
    CU_ASSERT(says("nothing is off by more than 0.9 %"));
    CU_ASSERT(says("at 100 times the price of quick, under which energy"));
    CU_ASSERT(says("(30 % of the scene's energy)"));
  }
}

/* The scale of energy is that of the run which has most: not what one lost. */
static void test_the_scale_of_energy(void) {
  static const char *const names[] = {"step", "conserving"};
  for (int k = 0; k < N_CASES; k++) {
    begin(k, 2, names);
    told_runs[0].head.weight = told_runs[1].head.weight = 0;
    double most = told_runs[1].step.kinetic;
    told_runs[0].step.kinetic = 0.01 * most;
    c.runs[0].figures.energy_drift = 0.9 * most;
    c.runs[1].figures.energy_drift = 0.004 * most;
    judge_verdict(&c);
    CU_ASSERT(says("take conserving"));
    CU_ASSERT_DOUBLE_EQUAL(c.lines[0].relative, 0.9, 1e-9);
    // but for what it has from nothing
    told_runs[0].step.kinetic = 100 * most;
    told_runs[0].step.energy_unexplained = 99.5 * most;
    judge_verdict(&c);
    CU_ASSERT_DOUBLE_EQUAL(c.lines[0].relative, 0.9, 1e-9);
  }
}

/* Half a body's size of a joint is not paid for by half a body's weight: each is
 * said, with what the other keeps. */
static void test_faults_of_two_kinds_are_no_trade(void) {
  static const char *const names[] = {"quick", "ah"};
  for (int k = 0; k < N_CASES; k++) {
    begin(k, 2, names);
    c.runs[0].figures.joint_error_worst = 0.56 * cases[k].size;
    c.runs[1].figures.joint_error_worst = 5e-4 * cases[k].size;
    c.runs[0].figures.friction_error_p90 = 0.01 * fall(k);
    c.runs[1].figures.friction_error_p90 = 0.65 * fall(k);
    judge_verdict(&c);
    CU_ASSERT(says("no stepper is without a fault. Take quick (a step takes"));
    CU_ASSERT(says("ms): joints open by"));
    CU_ASSERT(says("ah keeps that to 0.05 %, at 10 times the price of quick"));
    CU_ASSERT(says("friction on a body is off by"));
    CU_ASSERT(says("(65 % of its weight), under quick 1 %."));
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
      CU_ASSERT(says(ours ? "take step" : "take ah"));
      CU_ASSERT_FALSE(says("no stepper"));
    }
}

/* What all have decides nothing, and is said. */
static void test_what_all_have(void) {
  static const char *const names[] = {"quick", "ah"};
  for (int k = 0; k < N_CASES; k++) {
    begin(k, 2, names);
    c.runs[0].figures.penetration_p90 = 0.3 * cases[k].size;
    c.runs[1].figures.penetration_p90 = 0.2 * cases[k].size;
    judge_verdict(&c);
    CU_ASSERT(says("take quick"));
    CU_ASSERT(
        says("all have this: in one step of ten bodies are in each other"));
    CU_ASSERT(says(
        "of a body's size) (what helps under ah: --scheme st); ode-mlcp (ah)"));
  }
}

/* Of runs that end apart, or of which one rests, the one is believed that has no
 * fault of its own: most of them may be wrong. */
static void test_what_other_runs_tell(void) {
  static const char *const names[] = {"step", "quick", "ah"};
  for (int k = 0; k < N_CASES; k++)
    for (int wrong = 0; wrong < 2; wrong++) {
      begin(k, 3, names);
      c.runs[2].figures.strayed = 1; // away from the two that agree
      c.runs[2].figures.unrest = 0.5 * fall(k);
      for (int i = 0; i < 2; i++)
        c.runs[i].figures.friction_error_p90 = (wrong ? 0.4 : 0) * fall(k);
      judge_verdict(&c);
      CU_ASSERT_EQUAL(says("take ah"), wrong);
      CU_ASSERT_EQUAL(says("take step"), !wrong);
      bool accused = false;
      for (int i = 0; i < c.n_lines; i++)
        accused |= strcmp(c.lines[i].stepper, "ah") == 0;
      CU_ASSERT_EQUAL(accused, !wrong);
    }
}

/* Advice is of the stepper it is given to. */
static void test_advice(void) {
  static const char *const names[] = {"step", "quick", "ah", "conserving"};
  static const char *const of_joints[] = {"smaller step", "more iterations",
                                          "conserving", "smaller step"};
  for (int i = 0; i < 4; i++) {
    begin(0, 4, names);
    c.runs[i].figures.joint_error_worst = 0.2;
    judge_verdict(&c);
    CU_ASSERT_EQUAL_FATAL(c.n_lines, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(c.lines[0].advice, of_joints[i]));
    CU_ASSERT_PTR_NOT_NULL(strstr(c.lines[0].text, c.lines[0].advice));
  }
  // a direction helps where two of them took the place of a cone, and not against
  // what all have
  for (int why = 0; why < 3; why++) {
    begin(0, 4, names);
    for (int i = 0; i < (why == 2 ? 4 : 1); i++)
      c.runs[i].figures.friction_error_p90 = 0.9 * fall(0);
    c.runs[0].figures.aslant_error_p90 = (why > 0 ? 0.9 : 0.3) * fall(0);
    judge_verdict(&c);
    CU_ASSERT_EQUAL(strstr(c.lines[0].text, "dContactFDir1") != NULL, why == 1);
  }
  // what helps against two faults is said once, and told of each
  begin(0, 4, names);
  c.runs[0].figures.joint_error_worst = c.runs[0].figures.crept = 0.2;
  judge_verdict(&c);
  CU_ASSERT_EQUAL_FATAL(c.n_lines, 2);
  for (int i = 0; i < 2; i++) {
    CU_ASSERT_STRING_EQUAL(c.lines[i].advice, "a smaller step");
    CU_ASSERT_EQUAL(strstr(c.lines[i].text, "smaller step") != NULL, i == 0);
  }
}

/* Of a run that was cut nobody knows how it ends, but where no other did better. */
static void test_cut_runs(void) {
  static const char *const names[] = {"quick", "ah"};
  for (int k = 0; k < N_CASES; k++)
    for (int all = 0; all < 2; all++) {
      begin(k, 2, names);
      c.runs[0].figures.joint_error_worst = 0.3 * cases[k].size;
      told_runs[1].head.cut = 1;
      told_runs[0].head.cut = (uint32_t)all;
      judge_verdict(&c);
      CU_ASSERT_EQUAL(says("ake ah"), all);
      CU_ASSERT_EQUAL(says("Take quick (a step takes"), !all);
      CU_ASSERT_EQUAL(says("the cheapest of the least faulty: joints"), !all);
    }
}

/* Where none is without a fault, twice the least is as good, for less. */
static void test_the_cheapest_of_the_least_faulty(void) {
  static const char *const names[] = {"quick", "ah", "conserving"};
  for (int k = 0; k < N_CASES; k++) {
    begin(k, 3, names);
    for (int i = 0; i < 3; i++)
      c.runs[i].figures.friction_error_p90 = (i == 0   ? 0.5
                                              : i == 1 ? 0.19
                                                       : 0.1) *
                                             fall(k);
    judge_verdict(&c);
    CU_ASSERT(says("Take ah (a step takes"));
    CU_ASSERT(says("the cheapest of the least faulty: in one step of ten"));
    CU_ASSERT(
        says("; at 10 times the price of quick, under which in one step"));
  }
}

/* The distance from a reference is told and decides nothing. */
static void test_a_reference_does_not_decide(void) {
  static const char *const names[] = {"quick", "step", "ah", "conserving"};
  for (int k = 0; k < N_CASES; k++) {
    begin(k, 4, names);
    double error[] = {3, 4, 0.02, 4e-6};
    for (int i = 0; i < 4; i++) c.runs[i].figures.reference_error = error[i];
    judge_verdict(&c);
    CU_ASSERT(says("take quick"));
  }
}

/* A run that broke is not taken, whatever its figures are. */
static void test_broken_runs_are_not_taken(void) {
  static const char *const names[] = {"quick", "ah"};
  for (int k = 0; k < N_CASES; k++) {
    begin(k, 2, names);
    c.runs[0].figures.not_finite = 1;
    judge_verdict(&c);
    CU_ASSERT(says("take ah"));
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
    c.runs[0].figures.penetration_p90 = 0.2 * cases[k].size;
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
      {"the cheapest without a fault", test_the_cheapest_without_a_fault},
      {"the scale of energy", test_the_scale_of_energy},
      {"what all have", test_what_all_have},
      {"what other runs tell", test_what_other_runs_tell},
      {"advice", test_advice},
      {"runs that were cut", test_cut_runs},
      {"the cheapest of the least faulty",
       test_the_cheapest_of_the_least_faulty},
      {"a reference does not decide", test_a_reference_does_not_decide},
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
