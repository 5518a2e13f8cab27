/* One hash of what the solver makes of problems, and of what the impact laws make
 * of the examples: the same with every compiler and on every machine.
 *
 *   hash_problems FOLDER...
 *
 * The folders are of tests/hash_worlds --write, or of `ode-mlcp run --dump`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "impact_example.h"
#include "mlcp/mlcp_folder.h"
#include "solver/solver.h"

static bool hash_problem(hash *hash, const mlcp_stored *stored,
                         solver_kind kind) {
  const mlcp_problem *problem = &stored->problem;
  size_t sizes[] = {6 * (size_t)problem->n_bodies, (size_t)problem->n_rows,
                    2 * (size_t)problem->n_pairs, (size_t)problem->n_frictions};
  size_t n = sizes[0] + sizes[1] + sizes[2] + sizes[3];
  double *numbers = calloc(n + 1, sizeof *numbers);
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  solver_options options;
  if (numbers == NULL || workspace == NULL) return false;

  mlcp_solution at = {.v = numbers};
  at.p = at.v + sizes[0];
  at.beta = at.p + sizes[1];
  at.lambda = at.beta + sizes[2];
  solver_default_options(&options);
  options.kind = kind;
  solver_report report =
      solver_solve(workspace, problem, &options, stored->guess, &at);
  hash_numbers(hash, numbers, n);
  hash_numbers(hash, &report.residual, 1);
  solver_workspace_destroy(workspace);
  free(numbers);
  return report.status == SOLVER_SOLVED;
}

/* The reference factors by SuiteSparse, whose last digits are another machine's own. */
static bool with_lemke = true;

static bool hash_folder(hash *of_all, const char *folder) {
  char message[500];
  mlcp_stored stored = {0};
  hash own = hash_start();
  if (!mlcp_folder_read(folder, &memory_from_malloc, &stored, message,
                        sizeof message)) {
    fprintf(stderr, "%s\n", message);
    return false;
  }
  bool solved = hash_problem(&own, &stored, SOLVER_FAST);
  if (with_lemke) solved = hash_problem(&own, &stored, SOLVER_LEMKE) && solved;
  mlcp_stored_release(&stored);
  printf("%016" PRIx64 " %s%s\n", own.value, folder,
         solved ? "" : " (not solved)");
  hash_bytes(of_all, &own, sizeof own);
  return true;
}

/* The outcomes of a set of each example. */
static bool hash_example(hash *of_all, const char *name) {
  static impact_example example;
  char message[300];
  hash own = hash_start();
  ode_mlcp_impact *impact;
  ode_mlcp_impact_set set;
  ode_mlcp_impact_options options;
  if (!impact_example_fill(&example, name) ||
      ode_mlcp_impact_create(&example.problem, &impact, message,
                             sizeof message) != ODE_MLCP_IMPACT_DONE)
    return false;
  ode_mlcp_impact_default_options(&options);
  options.h = example.h;
  options.steps = example.steps;
  options.samples = 1000;
  bool done = ode_mlcp_impact_approximate(impact, &options, &set) ==
              ODE_MLCP_IMPACT_DONE;
  if (done) {
    hash_numbers(&own, set.v, set.n_outcomes * (size_t)set.n_velocities);
    printf("%016" PRIx64 " impact %s\n", own.value, name);
    hash_bytes(of_all, &own, sizeof own);
    ode_mlcp_impact_set_release(&set);
  }
  ode_mlcp_impact_destroy(impact);
  return done;
}

int main(int argc, char **argv) {
  hash of_all = hash_start();
  int first = argc > 1 && strcmp(argv[1], "--fast") == 0 ? 2 : 1;
  bool whole = argc > first;
  with_lemke = first == 1;
  for (int k = first; k < argc; k++)
    whole = hash_folder(&of_all, argv[k]) && whole;
  for (int k = 0; k < IMPACT_EXAMPLES; k++)
    whole = hash_example(&of_all, impact_example_name(k)) && whole;
  printf("%016" PRIx64 " all of %d\n", of_all.value, argc - first);
  return whole ? 0 : 1;
}
