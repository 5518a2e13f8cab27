/* Every problem of the library (bench/library.h) meets its promise, by the
 * stages and by Lemke's method, and is the same on every run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/library.h"
#include "host_testing.h"
#include "problems.h"
#include "solver/solver.h"

static void expect_promise(const library_entry *entry, const char *solver,
                           int part, double residual) {
  bool kept = residual <= entry->promise;
  if (!kept)
    printf("\n  %s, part %d, %s: residual %g, promised %g\n", entry->name, part,
           solver, residual, entry->promise);
  CU_ASSERT(kept);
}

enum { MOST_ROWS_OF_LEMKE = 500 };

static void solve_entry(const library_entry *entry, solver_kind kind,
                        bool with_guess) {
  library_problems captured;
  CU_ASSERT_FATAL(library_capture(entry, &captured));
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  CU_ASSERT_PTR_NOT_NULL_FATAL(workspace);
  solver_options options;
  solver_default_options(&options);
  options.kind = kind;
  for (int i = 0; i < captured.n_problems; i++) {
    const mlcp_stored *stored = &captured.problems[i];
    if (kind == SOLVER_LEMKE && stored->problem.n_rows > MOST_ROWS_OF_LEMKE)
      continue;
    test_solution answer;
    solution_init(&answer, &stored->problem);
    solver_report report =
        solver_solve(workspace, &stored->problem, &options,
                     with_guess ? stored->guess : NULL, &answer.mlcp);
    double residual = solution_residual(&stored->problem, &answer.mlcp);
    CU_ASSERT_EQUAL(report.status, SOLVER_SOLVED);
    CU_ASSERT_EQUAL(report.residual, residual);
    expect_promise(entry, kind == SOLVER_FAST ? "fast" : "lemke", i, residual);
    if (kind == SOLVER_LEMKE)
      CU_ASSERT(report.stage <= SOLVER_STAGE_WARM ||
                report.stage == SOLVER_STAGE_LEMKE);
    solution_release(&answer);
  }
  solver_workspace_destroy(workspace);
  library_release(&captured);
}

static void test_fast_keeps_the_promise(void) {
  for (const library_entry *e = library_entries; e->name != NULL; e++) {
    if (e->large) continue;
    solve_entry(e, SOLVER_FAST, true);
    if (e->exact_steps > 0) solve_entry(e, SOLVER_FAST, false);
  }
}

/* Lemke's method alone, cold, in the edge formulation: a reference for what is small,
 * as it takes up to three pivots a variable. */
static void test_lemke_keeps_the_promise(void) {
  for (const library_entry *e = library_entries; e->name != NULL; e++)
    if (!e->large) solve_entry(e, SOLVER_LEMKE, false);
}

/* What each entry is meant to hold. */
static void test_entries_are_what_they_say(void) {
  const struct {
    const char *name;
    int n_problems, fewest_contacts;
    bool warm;
  } expected[] = {
      {"wall-55-cold", 1, 300, false},     {"wall-55-settled", 1, 400, true},
      {"stack-20-cold", 1, 60, false},     {"chain-100-cold", 1, 200, false},
      {"spider-settled", 1, 8, true},      {"vehicle-driving", 1, 8, true},
      {"grasp-cold", 1, 8, false},         {"painleve-rod", 1, 1, false},
      {"pit-40-moving-cold", 0, 20, false}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    library_problems captured;
    CU_ASSERT_FATAL(library_capture(library_find(expected[i].name), &captured));
    if (expected[i].n_problems > 0)
      CU_ASSERT_EQUAL(captured.n_problems, expected[i].n_problems);
    CU_ASSERT(captured.n_contacts >= expected[i].fewest_contacts);
    int n_guessed = 0;
    for (int k = 0; k < captured.n_problems; k++) {
      char message[200];
      const mlcp_stored *stored = &captured.problems[k];
      CU_ASSERT(mlcp_check(&stored->problem, message, sizeof message));
      for (int r = 0; r < stored->problem.n_rows; r++)
        n_guessed += !isnan(stored->guess[r]);
    }
    CU_ASSERT_EQUAL(n_guessed > 0, expected[i].warm);
    library_release(&captured);
  }
  CU_ASSERT_PTR_NULL(library_find("wall-56-cold"));
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"entries are what they say", test_entries_are_what_they_say},
      {"fast keeps the promise", test_fast_keeps_the_promise},
      {"Lemke keeps the promise", test_lemke_keeps_the_promise},
      CU_TEST_INFO_NULL};
  return run_host_tests("solver: problem library", tests);
}
