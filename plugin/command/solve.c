/* `ode-mlcp solve`: one problem from files, solved and verified. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/arguments.h"
#include "command/command.h"
#include "command/json.h"
#include "command/result_file.h"
#include "command/solve_input.h"
#include "common/clock.h"
#include "lcp/lcp.h"
#include "solver/solver.h"

typedef struct settings {
  int kind; /* lcp_method, and solver_kind alike */
  double tolerance;
  const char *output, *certificate;
  bool json;
} settings;

/* Results of either kind of problem. */
typedef struct outcome {
  bool solved;
  const char *status;
  const char *stage; /* of a folder's problem, else NULL */
  int n;             /* unknowns z, or impulses */
  size_t n_entries;  /* of an LCP's matrix */
  double residual, componentwise;
  double certificate; /* INFINITY where there is none */
  long pivots, factorisations, iterations;
  double seconds;
  double *z; /* [n] */
  double *y; /* [n] the certificate; zeros where there is none */
} outcome;

static const char about[] =
    "Usage: ode-mlcp solve M.mtx q.mtx [OPTION...]\n"
    "       ode-mlcp solve FOLDER [OPTION...]\n"
    "\n"
    "Solve a linear complementarity problem and verify the answer on the "
    "original\ndata.\n"
    "\n"
    "M.mtx q.mtx  find z >= 0 with w = M z + q >= 0 and z w = 0: M a square\n"
    "             matrix, q a vector, as Matrix Market files (coordinate or\n"
    "             array; real or integer; general, symmetric or\n"
    "             skew-symmetric)\n"
    "FOLDER       a step's mixed problem, as ode-mlcp run --dump writes it\n"
    "\n";
static const char ending[] =
    "\n"
    "The residual is max |min(z, M z + q)| / (1 + max |q|); the componentwise "
    "one\n"
    "the share by which entries of M and q would have to change for z to be "
    "an\n"
    "exact solution; a folder's is the largest violation of its equations,\n"
    "relative (docs/solve.md).\n"
    "Exit status: 0 solved; 1 fell short (infeasible, a ray, inaccurate, too "
    "many\npivots) or a file not written; 2 wrong use or bad input.\n";

/* ---- options ---- */

static const char *const solver_words[] = {
    [LCP_FAST] = "fast", [LCP_LEMKE] = "lemke", NULL};

static bool take_tolerance(const argument *argument, const char *value) {
  return argument_take_positive(argument, value) &&
         *(double *)argument->place < 1;
}

static bool read_options(int argc, char **argv, settings *settings,
                         int *status) {
  const argument arguments[] = {
      {"solver", "fast|lemke", &settings->kind, argument_take_word,
       "fast or lemke", "fast (default), or Lemke's method alone",
       .words = solver_words},
      {"tolerance", "T", &settings->tolerance, take_tolerance,
       "a number above 0 and below 1",
       .help = "residual that counts as solved (default 1e-10)"},
      {"output", "FILE.mtx", &settings->output,
       .help = "write z (of a folder: the impulses of its rows)"},
      {"certificate", "FILE.mtx", &settings->certificate,
       .help = "where M z + q >= 0, z >= 0 has no solution: write the y >= 0 "
               "with M'y <= 0 and q'y < 0 that proves it"},
      {"json", NULL, &settings->json, .help = "print one JSON object"},
      {.name = NULL}};
  const command_line line = {about, arguments, ending, .take_setting = NULL};
  return arguments_read(&line, argc, argv, status);
}

/* ---- solving ---- */

static const char *lcp_status_name(lcp_status status) {
  switch (status) {
    case LCP_SOLVED: return "solved";
    case LCP_INFEASIBLE: return "infeasible";
    case LCP_RAY: return "ray";
    case LCP_INACCURATE: return "inaccurate";
    case LCP_PIVOT_LIMIT: return "pivot limit";
    case LCP_NO_MEMORY: break;
  }
  return "no memory";
}

/* @return false when memory ran out; so for the next one */
static bool solve_lcp(const solve_input *input, const settings *settings,
                      outcome *outcome) {
  const lemke_problem *problem = &input->lcp;
  outcome->n = problem->n;
  outcome->n_entries = (size_t)problem->column_start[problem->n];
  outcome->z = calloc((size_t)problem->n + 1, sizeof(double));
  outcome->y = calloc((size_t)problem->n + 1, sizeof(double));
  if (outcome->z == NULL || outcome->y == NULL) return false;

  double start = seconds_now();
  lcp_report report =
      lcp_solve(problem, (lcp_method)settings->kind, settings->tolerance,
                &memory_from_malloc, outcome->z, outcome->y);
  outcome->seconds = seconds_now() - start;
  if (report.status == LCP_NO_MEMORY) return false;
  outcome->solved = report.status == LCP_SOLVED;
  outcome->status = lcp_status_name(report.status);
  outcome->residual = report.residual;
  outcome->componentwise = report.componentwise;
  outcome->certificate = report.certificate;
  outcome->pivots = report.pivots;
  outcome->factorisations = report.factorisations;
  outcome->iterations = report.exchanges;
  return true;
}

static bool solve_mlcp(const solve_input *input, const settings *settings,
                       outcome *outcome) {
  const mlcp_problem *problem = &input->mlcp.problem;
  size_t n_rows = (size_t)problem->n_rows;
  size_t n_v = 6 * (size_t)problem->n_bodies;
  size_t n_beta = 2 * (size_t)problem->n_pairs;
  outcome->n = problem->n_rows;
  outcome->componentwise = outcome->certificate = INFINITY;
  outcome->z =
      calloc(n_rows + 2 * n_v + n_beta + (size_t)problem->n_frictions + 1,
             sizeof(double));
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  if (outcome->z == NULL || workspace == NULL) {
    solver_workspace_destroy(workspace);
    return false;
  }
  double *rest = outcome->z + n_rows;
  mlcp_solution solution = {rest, outcome->z, rest + n_v, rest + n_v + n_beta};
  double *scratch = solution.lambda + problem->n_frictions;
  solver_options options;
  solver_default_options(&options);
  options.kind = (solver_kind)settings->kind;
  options.tolerance = settings->tolerance;

  double start = seconds_now();
  solver_report report =
      solver_solve(workspace, problem, &options, input->mlcp.guess, &solution);
  outcome->seconds = seconds_now() - start;
  solver_workspace_destroy(workspace);
  if (report.status == SOLVER_NO_MEMORY) return false;
  bool answered = report.status != SOLVER_TOO_LARGE;
  outcome->residual =
      answered ? mlcp_residual(problem, &solution, scratch) : INFINITY;
  outcome->solved = outcome->residual <= settings->tolerance;
  outcome->status = !answered         ? "too large"
                    : outcome->solved ? "solved"
                                      : "inaccurate";
  outcome->stage = solver_stage_name(report.stage);
  outcome->pivots = report.pivots;
  outcome->factorisations = report.factorisations;
  outcome->iterations = report.iterations;
  return true;
}

/* ---- the answer ---- */

static void print(const solve_input *input, const settings *settings,
                  const outcome *o) {
  json out = {.out = stdout, .words = !settings->json};
  json_open(&out, NULL, '{');
  json_put_string(&out, "status", o->status);
  json_put_string(&out, "kind", input->is_lcp ? "lcp" : "mixed");
  json_put_string(&out, "solver", solver_words[settings->kind]);
  json_put_count(&out, "n", o->n);
  if (input->is_lcp) {
    json_put_count(&out, "entries", (long long)o->n_entries);
  } else {
    const mlcp_problem *p = &input->mlcp.problem;
    json_put_count(&out, "bodies", p->n_bodies);
    json_put_count(&out, "frictions", p->n_frictions);
    json_put_count(&out, "pairs", p->n_pairs);
    json_put_string(&out, "stage", o->stage);
  }
  json_put(&out, "residual", o->residual);
  if (input->is_lcp) json_put(&out, "componentwise", o->componentwise);
  json_put(&out, "certificate", o->certificate);
  json_put(&out, "tolerance", settings->tolerance);
  json_put_count(&out, "pivots", o->pivots);
  json_put_count(&out, "factorisations", o->factorisations);
  json_put_count(&out, "iterations", o->iterations);
  json_put(&out, "seconds", o->seconds);
  json_close(&out);
}

static bool write_vector(const char *path, int n, const double x[],
                         char message[SOLVE_MESSAGE]) {
  result_file file;
  if (path == NULL || x == NULL) return true;
  if (!result_begin(&file, message, SOLVE_MESSAGE, "%s", path)) return false;
  fprintf(file.out, "%%%%MatrixMarket matrix array real general\n%d 1\n", n);
  for (int i = 0; i < n; i++) fprintf(file.out, "%.17g\n", x[i]);
  return result_end(&file, true, message, SOLVE_MESSAGE);
}

static int report(const solve_input *input, const settings *settings,
                  const outcome *outcome) {
  char message[SOLVE_MESSAGE];
  int status = outcome->solved ? COMMAND_DONE : COMMAND_FELL_SHORT;
  print(input, settings, outcome);
  bool proved = isfinite(outcome->certificate);
  bool written =
      write_vector(settings->output, outcome->n, outcome->z, message) &&
      (!proved ||
       write_vector(settings->certificate, outcome->n, outcome->y, message));
  return written_or_complain(written, message, status);
}

static int solve_input_problem(const solve_input *input,
                               const settings *settings) {
  outcome outcome = {0};
  int status = COMMAND_FELL_SHORT;
  bool solved = input->is_lcp ? solve_lcp(input, settings, &outcome)
                              : solve_mlcp(input, settings, &outcome);
  if (solved)
    status = report(input, settings, &outcome);
  else
    complain("memory ran out");
  free(outcome.z);
  free(outcome.y);
  return status;
}

int command_solve(int argc, char **argv) {
  char message[SOLVE_MESSAGE];
  solve_input input = {0};
  settings settings = {.kind = LCP_FAST, .tolerance = 1e-10};

  int status;
  if (!read_options(argc, argv, &settings, &status)) return status;
  int n_names = argc - optind;
  if (n_names != 1 && n_names != 2)
    return complain(
        "name M.mtx and q.mtx, or a problem's folder; see ode-mlcp "
        "solve --help");
  bool read = n_names == 2
                  ? solve_input_read_lcp(&input, argv[optind], argv[optind + 1],
                                         message)
                  : solve_input_read_folder(&input, argv[optind], message);
  status =
      read ? solve_input_problem(&input, &settings) : complain("%s", message);
  solve_input_close(&input);
  return status;
}
