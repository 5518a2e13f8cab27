/* Our solvers beside those of others, on the same problems in the same run.
 *
 *   bench_solvers [--quick] [--budget N] [--softness S] [--family NAME] [--draw SEED]
 *                 [--part families|runs|growth|lcps|problems] TABLE
 *
 * Writes TABLE, tab-separated, a line a measurement (docs/bench.md has the
 * columns), and says on standard error how far it is. Every measurement runs in
 * a process of its own. Times are processor seconds.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/dense_lcp.h"
#include "bench_clock.h"
#include "bench_families.h"
#include "bench_run.h"
#include "host_step.h"
#include "lcp_form.h"
#include "library.h"
#include "ode_mlcp.h"
#include "peers.h"
#include "lcp/lemke.h"
#include "solver/solver.h"

/* What a run takes its time for. */
typedef struct effort {
  bool quick;
  double seconds;  /* of rounds, a measurement */
  double limit;    /* of processor time, s, a measurement */
  int largest_lcp; /* n of the dense LCPs given to others */
} effort;

static effort effort_of_run = {false, 0.3, 20, 2600};
static const char *only_family;                     /* NULL: all */
static const char *family_budget, *family_softness; /* NULL: the default */
static unsigned family_seed; /* of members drawn; 0: those of the list */
static FILE *table;

static void write_line(const char *part, const char *problem,
                       const char *method, const bench_result *result) {
  bench_spread spread = bench_spread_of(result->times, result->n_times);
  fprintf(table,
          "%s\t%s\t%s\t%d\t%d\t%d\t%.6g\t%.6g\t%.6g\t%.3g\t%.3g\t%.0f"
          "\t%d\t%ld\t%s\t%.6g\t%d\t%ld\t%ld\t%d\n",
          part, problem, method, result->size, result->contacts,
          result->n_times, spread.median, spread.p99, spread.worst,
          result->residual, result->own_residual, result->memory,
          result->unsolved, result->sweeps,
          result->note[0] != '\0' ? result->note : "-", spread.mean,
          result->degraded, result->factorisations, result->pivots,
          result->accepted);
  fflush(table);
}

static void run_and_write(const char *part, const char *problem,
                          const char *method, bench_measurement *measurement,
                          void *what, int size, int contacts) {
  bench_result result;
  fprintf(stderr, "  %-24s %-22s", problem, method);
  bool whole = bench_run(measurement, what, effort_of_run.limit, &result);
  if (!whole) result.residual = NAN;
  if (result.size == 0) result.size = size;
  if (result.contacts == 0) result.contacts = contacts;
  bench_spread spread = bench_spread_of(result.times, result.n_times);
  if (whole && result.n_times > 0)
    fprintf(stderr, "%10.3f ms, residual %.1e %s\n", 1e3 * spread.median,
            result.residual, result.note);
  else
    fprintf(stderr, "%s\n", result.note);
  write_line(part, problem, method, &result);
}

/* ---- one problem ------------------------------------------------------ */

/* A problem with all that its solvers are given. */
typedef struct problem_case {
  const mlcp_problem *problem;
  const double *guess; /* NULL: cold */
  solver_kind kind;
  lcp_form form; /* n 0: not built */
  mlcp_solution solution;
  double *scratch;
} problem_case;

static void *get(size_t count, size_t size) {
  void *block = calloc(count > 0 ? count : 1, size);
  if (block == NULL) abort();
  return block;
}

static void open_solution(problem_case *it) {
  it->solution.v = get(6 * (size_t)it->problem->n_bodies, sizeof(double));
  it->solution.p = get((size_t)it->problem->n_rows, sizeof(double));
  it->solution.beta = get(2 * (size_t)it->problem->n_pairs, sizeof(double));
  it->solution.lambda = get((size_t)it->problem->n_frictions, sizeof(double));
  it->scratch = get(6 * (size_t)it->problem->n_bodies, sizeof(double));
}

static double residual_of(problem_case *it) {
  return mlcp_residual(it->problem, &it->solution, it->scratch);
}

static void by_our_cascade(void *what, bench_result *result) {
  problem_case *it = what;
  open_solution(it);
  solver_workspace *workspace = solver_workspace_create(&memory_from_malloc);
  solver_options options;
  solver_default_options(&options);
  options.kind = it->kind;
  while (bench_goes_on(result, 3, 200, effort_of_run.seconds)) {
    double start = bench_seconds();
    solver_report report = solver_solve(workspace, it->problem, &options,
                                        it->guess, &it->solution);
    bench_add_time(result, bench_seconds() - start);
    result->residual = fmax(result->residual, residual_of(it));
    result->unsolved += report.status != SOLVER_SOLVED;
  }
  solver_workspace_destroy(workspace);
}

/* Our Lemke on the same dense matrix that the others get. */
static void by_our_dense_lemke(void *what, bench_result *result) {
  problem_case *it = what;
  open_solution(it);
  double *z = get((size_t)it->form.n, sizeof *z);
  lemke_workspace *workspace = lemke_workspace_create(&memory_from_malloc);
  lemke_options options;
  options = lemke_default_options;
  while (bench_goes_on(result, 1, 50, effort_of_run.seconds)) {
    double start = bench_seconds();
    lemke_report report = lemke_solve_dense(workspace, it->form.n, it->form.M,
                                            it->form.q, &options, z);
    bench_add_time(result, bench_seconds() - start);
    lcp_form_solution(&it->form, z, &it->solution);
    result->residual = fmax(result->residual, residual_of(it));
    result->unsolved += report.status != LEMKE_SOLVED;
  }
  lemke_workspace_destroy(workspace);
}

#if HAVE_SICONOS || HAVE_BULLET
typedef int lcp_solver(int n, const double M[], const double q[], double z[],
                       double *seconds);

static void by_lcp_solver(problem_case *it, lcp_solver *solver,
                          bench_result *result) {
  open_solution(it);
  double *z = get((size_t)it->form.n, sizeof *z);
  while (bench_goes_on(result, 1, 20, effort_of_run.seconds)) {
    double seconds;
    int info = solver(it->form.n, it->form.M, it->form.q, z, &seconds);
    bench_add_time(result, seconds);
    result->unsolved += info != 0;
    lcp_form_solution(&it->form, z, &it->solution);
    result->residual = fmax(result->residual, residual_of(it));
  }
}
#endif

#if HAVE_SICONOS
static void by_siconos_lemke(void *what, bench_result *result) {
  by_lcp_solver(what, siconos_lexicographic_lemke, result);
}

/* Which problems NSGS can be given: contacts with friction of two rows that
 * follow the normal, and nothing else. */
static bool is_contacts_only(const mlcp_problem *problem) {
  for (int r = 0; r < problem->n_rows; r++)
    if (problem->rows[r].kind == MLCP_ROW_JOINT) return false;
  if (problem->n_rows != 3 * problem->n_frictions) return false;
  for (int f = 0; f < problem->n_frictions; f++) {
    const mlcp_friction *set = &problem->frictions[f];
    if (set->normal != 3 * f || set->first_row != 3 * f + 1 ||
        set->n_base != 2 || set->limit != 0)
      return false;
  }
  return problem->n_frictions > 0;
}

static void by_siconos_nsgs(void *what, bench_result *result) {
  problem_case *it = what;
  open_solution(it);
  size_t n = (size_t)it->problem->n_rows, n_entries = 0;
  size_t room = 0;
  double *A = get(n * n, sizeof *A), *b = get(n, sizeof *b);
  lcp_form_rows(it->problem, A, b);
  // whole blocks: the solver wants those of the diagonal
  for (size_t i = 0; i < n * n; i++) room += A[i] != 0;
  room += 9 * n;
  int *row = get(room, sizeof *row), *column = get(room, sizeof *column);
  double *entry = get(room, sizeof *entry);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n; k++) {
      if (A[i * n + k] == 0 && i / 3 != k / 3) continue;
      row[n_entries] = (int)i;
      column[n_entries] = (int)k;
      entry[n_entries++] = A[i * n + k];
    }
  double *mu = get(n / 3, sizeof *mu);
  for (size_t f = 0; f < n / 3; f++)
    mu[f] = it->problem->frictions[f].coefficient;
  const friction_contacts contacts = {
      (int)(n / 3), (int)n_entries, row, column, entry, b, mu};
  while (bench_goes_on(result, 1, 20, effort_of_run.seconds)) {
    double seconds;
    int info = siconos_nsgs(&contacts, 10000, 1e-10, it->solution.p,
                            &result->own_residual, &seconds);
    bench_add_time(result, seconds);
    result->unsolved += info != 0;
    lcp_form_from_impulses(it->problem, &it->solution);
    result->residual = fmax(result->residual, residual_of(it));
  }
  snprintf(result->note, sizeof result->note, "exact cone");
}
#endif

#if HAVE_BULLET
static void by_bullet_lemke(void *what, bench_result *result) {
  by_lcp_solver(what, bullet_lemke, result);
}

/* The boxed form with friction bounds frozen, as the host's: the rows as they
 * are, each tangent with a box of its own. */
static void by_bullet_dantzig(void *what, bench_result *result) {
  problem_case *it = what;
  const mlcp_problem *problem = it->problem;
  open_solution(it);
  size_t n = (size_t)problem->n_rows;
  double *A = get(n * n, sizeof *A), *b = get(n, sizeof *b);
  double *low = get(n, sizeof *low), *high = get(n, sizeof *high);
  int *limit = get(n, sizeof *limit);
  lcp_form_rows(problem, A, b);
  for (size_t r = 0; r < n; r++) {
    b[r] = -b[r];
    low[r] = problem->rows[r].low;
    high[r] = problem->rows[r].high;
    limit[r] = -1;
    A[r * n + r] *= 1 + 1e-9; // regularised: it divides by what may be 0
  }
  for (int f = 0; f < problem->n_frictions; f++) {
    const mlcp_friction *set = &problem->frictions[f];
    for (int t = 0; t < set->n_base; t++) {
      int r = set->first_row + t;
      limit[r] = set->normal;
      high[r] = set->normal >= 0 ? set->coefficient : set->limit;
      low[r] = -high[r];
    }
  }
  while (bench_goes_on(result, 1, 20, effort_of_run.seconds)) {
    double seconds;
    int info = bullet_dantzig((int)n, A, b, low, high, limit, it->solution.p,
                              &seconds);
    bench_add_time(result, seconds);
    result->unsolved += info != 0;
    lcp_form_from_impulses(problem, &it->solution);
    result->residual = fmax(result->residual, residual_of(it));
    result->own_residual = lcp_form_box_residual(problem, &it->solution);
  }
  snprintf(result->note, sizeof result->note, "frozen friction bounds");
}
#endif

/* ---- the host's steppers on it ---------------------------------------- */

typedef struct host_question {
  host_case *host;
  int sweeps;      /* 0: dWorldStep */
  double residual; /* with more and more sweeps until this is reached; 0: no */
} host_question;

/* The host complains of its own solver, thousands of times. */
static long n_messages;

static void count_message(int number, const char *text, va_list arguments) {
  (void)number;
  (void)text;
  (void)arguments;
  n_messages++;
}

static void by_host(void *what, bench_result *result) {
  host_question *question = what;
  int sweeps = question->sweeps;
  double seconds;
  double own, unused;
  result->residual = host_case_step(question->host, sweeps, &seconds, &own);
  // its own law decides: the friction box is not the polygon
  while (question->residual > 0 && own > question->residual && sweeps < 10000) {
    sweeps = 2 * sweeps < 10000 ? 2 * sweeps : 10000;
    result->residual = host_case_step(question->host, sweeps, &seconds, &own);
  }
  result->own_residual = own;
  while (bench_goes_on(result, 1, 50, effort_of_run.seconds)) {
    host_case_step(question->host, sweeps, &seconds, &unused);
    bench_add_time(result, seconds);
  }
  result->sweeps = sweeps;
  snprintf(result->note, sizeof result->note, "whole step%s%s",
           isnan(result->residual) ? ", joints" : "",
           n_messages > 0 ? ", complains" : "");
}

static void ask_host(const library_entry *entry, int contacts) {
  host_case host;
  if (!host_case_open(&host, entry)) return;
  host_question step = {&host, 0, 0}, quick = {&host, 20, 0},
                many = {&host, 20, 1e-10};
  if (contacts <= 2000)
    run_and_write("problems", entry->name, "dWorldStep", by_host, &step, 0,
                  contacts);
  run_and_write("problems", entry->name, "QuickStep-20", by_host, &quick, 0,
                contacts);
  if (!host.jointed)
    run_and_write("problems", entry->name, "QuickStep-many", by_host, &many, 0,
                  contacts);
  host_case_close(&host);
}

/* ---- problems --------------------------------------------------------- */

static const mlcp_stored *largest_problem(const library_problems *captured) {
  int largest = 0;
  for (int i = 1; i < captured->n_problems; i++)
    if (captured->problems[i].problem.n_rows >
        captured->problems[largest].problem.n_rows)
      largest = i;
  return &captured->problems[largest];
}

static int contacts_of(const mlcp_problem *problem) {
  int count = 0;
  for (int r = 0; r < problem->n_rows; r++)
    count += problem->rows[r].kind == MLCP_ROW_NORMAL;
  return count;
}

static void ask_all(const char *part, const char *name, problem_case *it) {
  const mlcp_problem *problem = it->problem;
  int contacts = contacts_of(problem), n = lcp_form_size(problem);
  it->kind = SOLVER_FAST;
  run_and_write(part, name, "fast", by_our_cascade, it, n, contacts);
  const double *guess = it->guess;
  it->kind = SOLVER_LEMKE;
  it->guess = NULL;
  run_and_write(part, name, "lemke", by_our_cascade, it, n, contacts);
  it->guess = guess;
  memset(&it->form, 0, sizeof it->form);
  if (n <= effort_of_run.largest_lcp && lcp_form_build(&it->form, problem)) {
    run_and_write(part, name, "dense lemke", by_our_dense_lemke, it, n,
                  contacts);
#if HAVE_SICONOS
    run_and_write(part, name, "Siconos Lemke", by_siconos_lemke, it, n,
                  contacts);
#endif
#if HAVE_BULLET
    if (n <= 500)
      run_and_write(part, name, "Bullet Lemke", by_bullet_lemke, it, n,
                    contacts);
#endif
    lcp_form_release(&it->form);
  }
#if HAVE_SICONOS
  if (is_contacts_only(problem) && n <= effort_of_run.largest_lcp)
    run_and_write(part, name, "Siconos NSGS", by_siconos_nsgs, it, n, contacts);
#endif
#if HAVE_BULLET
  if (n <= effort_of_run.largest_lcp)
    run_and_write(part, name, "Bullet Dantzig", by_bullet_dantzig, it, n,
                  contacts);
#endif
}

static void bench_problems(void) {
  for (const library_entry *e = library_entries; e->name != NULL; e++) {
    if (effort_of_run.quick && e->large) continue;
    library_problems captured;
    if (!library_capture(e, &captured)) {
      fprintf(stderr, "  %s cannot be had\n", e->name);
      continue;
    }
    if (captured.n_problems > 0) {
      const mlcp_stored *stored = largest_problem(&captured);
      problem_case it = {.problem = &stored->problem, .guess = stored->guess};
      ask_all("problems", e->name, &it);
      ask_host(e, captured.n_contacts);
    }
    library_release(&captured);
  }
}

/* ---- LCPs of n = 1024 ------------------------------------------------- */

/* Pits as they fall, a problem at each of the steps: those of one island whose
 * LCP is nearest to the wanted size, cold. */
static void bench_lcps(int wanted) {
  enum { KEPT = 5 };
  mlcp_stored kept[KEPT];
  int distance[KEPT], at_step[KEPT], n_kept = 0;
  for (int step = 164; step <= 236; step += 4) {
    const library_entry entry = {
        "pit", "pit", library_find("pit-150-moving")->build, 150, 0, step, 0,
        1e-10, false};
    library_problems captured;
    if (!library_capture(&entry, &captured)) continue;
    for (int i = 0; i < captured.n_problems; i++) {
      mlcp_stored *stored = &captured.problems[i];
      int away = abs(lcp_form_size(&stored->problem) - wanted), place = n_kept;
      while (place > 0 && distance[place - 1] > away) place--;
      if (place == KEPT) continue;
      if (n_kept == KEPT) mlcp_stored_release(&kept[--n_kept]);
      for (int k = n_kept; k > place; k--) {
        kept[k] = kept[k - 1];
        distance[k] = distance[k - 1];
        at_step[k] = at_step[k - 1];
      }
      kept[place] = *stored; // taken over
      memset(stored, 0, sizeof *stored);
      distance[place] = away;
      at_step[place] = step;
      n_kept++;
    }
    library_release(&captured);
  }
  for (int k = 0; k < n_kept; k++) {
    if (effort_of_run.quick && k > 0) {
      mlcp_stored_release(&kept[k]);
      continue;
    }
    char name[60];
    snprintf(name, sizeof name, "pit-150 step %d", at_step[k]);
    problem_case it = {.problem = &kept[k].problem, .guess = NULL};
    ask_all("lcps", name, &it);
    mlcp_stored_release(&kept[k]);
  }
}

/* ---- families --------------------------------------------------------- */

/* A member's steps by ours, which leaves their states; then by the host's. */
static void bench_member(const family_member *member) {
  char name[160];
  snprintf(name, sizeof name, "%s: %s", member->family, member->name);
  family_run run = {.member = member,
                    .states = tmpfile(),
                    .steps = member->steps,
                    .seconds = effort_of_run.quick ? 1.5 : 12,
                    .sweeps = 20,
                    .budget = family_budget,
                    .softness = family_softness};
  if (run.states == NULL) abort();
  run_and_write("families", name, "fast", family_by_ours, &run, 0, 0);
  run_and_write("families", name, "QuickStep-20", family_by_host, &run, 0, 0);
  run.sweeps = 0;
  run.seconds = effort_of_run.quick ? 0.3 : 4;
  run_and_write("families", name, "dWorldStep", family_by_host, &run, 0, 0);
  fclose(run.states);
}

static void bench_families(void) {
  for (const family_member *m = family_members; m->family != NULL; m++) {
    char name[120];
    family_member drawn;
    if (only_family != NULL && strcmp(only_family, m->family) != 0) continue;
    if (family_seed > 0) family_draw(m, family_seed, &drawn, name, sizeof name);
    bench_member(family_seed > 0 ? &drawn : m);
  }
}

/* ---- running scenes --------------------------------------------------- */

/* A scene stepped by ours; before each of its steps another stepper takes the
 * same one, in a world of its own that is brought to the same state. */
typedef struct run_case {
  const library_entry *entry;
  int n_steps;
  int every;  /* the other takes one step of so many */
  int sweeps; /* -1: ours; 0: dWorldStep; else QuickStep */
} run_case;

static void by_running(void *what, bench_result *result) {
  run_case *run = what;
  scene *ours = library_bring(run->entry);
  scene *other = run->sweeps >= 0 ? run->entry->build(run->entry->size,
                                                      run->entry->parameter)
                                  : NULL;
  if (ours == NULL || (run->sweeps >= 0 && other == NULL)) abort();
  scene_state state;
  scene_state_create(&state, ours);
  for (int i = 0; i < run->n_steps; i++) {
    if (i > 0) scene_collide(ours);
    if (other != NULL && i % run->every == 0) {
      scene_state_read(&state, ours);
      scene_state_write(&state, other);
      scene_collide(other);
      if (run->sweeps > 0)
        dWorldSetQuickStepNumIterations(other->world, run->sweeps);
      double start = bench_seconds();
      int taken = run->sweeps > 0 ? dWorldQuickStep(other->world, LIBRARY_STEP)
                                  : dWorldStep(other->world, LIBRARY_STEP);
      bench_add_time(result, bench_seconds() - start);
      result->unsolved += taken == 0;
    }
    double start = bench_seconds();
    int taken = dWorldStep(ours->world, LIBRARY_STEP);
    double seconds = bench_seconds() - start;
    ode_mlcp_report report;
    ode_mlcp_last_report(ours->world, &report);
    if (report.contacts > result->contacts) result->contacts = report.contacts;
    if (other != NULL) continue;
    bench_add_time(result, seconds);
    result->unsolved += taken == 0 || report.unsolved > 0;
    result->residual = fmax(result->residual, report.residual);
  }
  if (other != NULL) result->residual = NAN;
}

/* A run and who else takes its steps. */
typedef struct bench_of_run {
  const char *name, *entry;
  int rest; /* exact steps before it is measured; -1: the entry's own */
  int steps, slow_every;
  bool large;
} bench_of_run;

static void bench_run_of(const bench_of_run *one) {
  library_entry entry = *library_find(one->entry);
  if (one->rest >= 0) entry.exact_steps = one->rest;
  run_case run = {&entry, one->steps, 1, -1};
  if (effort_of_run.quick) run.n_steps /= 3;
  run_and_write("runs", one->name, "fast", by_running, &run, 0, 0);
  run.sweeps = 20;
  run_and_write("runs", one->name, "QuickStep-20", by_running, &run, 0, 0);
  run.sweeps = 0;
  run.every = one->slow_every;
  if (run.every > 0 && !effort_of_run.quick)
    run_and_write("runs", one->name, "dWorldStep", by_running, &run, 0, 0);
}

static void bench_runs(void) {
  static const bench_of_run runs[] = {
      {"wall-55-rest", "wall-55-settled", 300, 200, 0, false},
      {"wall-210-rest", "wall-210-settled", 300, 100, 0, false},
      {"wall-990-rest", "wall-990-settled", 200, 30, 0, true},
      {"wall-55-settling", "wall-55-settled", -1, 200, 20, false},
      {"wall-210-settling", "wall-210-settled", -1, 100, 0, false},
      {"wall-990-settling", "wall-990-settled", -1, 30, 0, true},
      {"stack-20-settled", "stack-20-settled", -1, 200, 10, false},
      {"pit-40-moving", "pit-40-moving", -1, 300, 10, false},
      {"pit-150-moving", "pit-150-moving", -1, 120, 20, false}};
  double usual_limit = effort_of_run.limit;
  effort_of_run.limit *= 3; // many steps each
  for (size_t k = 0; k < sizeof runs / sizeof *runs; k++)
    if (!effort_of_run.quick || !runs[k].large) bench_run_of(&runs[k]);
  effort_of_run.limit = usual_limit;
}

/* ---- growth ----------------------------------------------------------- */

typedef struct growth_case {
  int rows;
  int sweeps;  /* -1: ours, else QuickStep */
  int n_steps; /* after the first */
  bool first;  /* only the first is measured, in a fresh world each round */
} growth_case;

static void by_growing(void *what, bench_result *result) {
  growth_case *growth = what;
  int rounds = growth->first && growth->rows < 50 ? 3 : 1;
  for (int round = 0; round < rounds; round++) {
    scene *scene = scene_wall(growth->rows);
    if (scene == NULL) abort();
    ode_mlcp_options options;
    ode_mlcp_default_options(&options);
    options.max_contacts = 1000000; // the largest wall is one island
    if (growth->sweeps < 0 &&
        ode_mlcp_attach(scene->world, &options) != ODE_MLCP_OK)
      abort();
    dWorldSetQuickStepNumIterations(scene->world,
                                    growth->sweeps > 0 ? growth->sweeps : 20);
    int n_steps = growth->first ? 1 : 1 + growth->n_steps;
    for (int i = 0; i < n_steps; i++) {
      scene_collide(scene);
      double start = bench_seconds();
      int taken = growth->sweeps < 0
                      ? dWorldStep(scene->world, LIBRARY_STEP)
                      : dWorldQuickStep(scene->world, LIBRARY_STEP);
      double seconds = bench_seconds() - start;
      if (growth->first || i > 0) bench_add_time(result, seconds);
      result->unsolved += taken == 0;
      result->contacts = scene->n_contacts;
      if (growth->sweeps >= 0) continue;
      ode_mlcp_report report;
      ode_mlcp_last_report(scene->world, &report);
      result->contacts = report.contacts;
      result->residual = fmax(result->residual, report.residual);
      result->unsolved += report.unsolved > 0;
    }
    scene_destroy(scene);
  }
  if (growth->sweeps >= 0) result->residual = NAN;
}

static void bench_growth(void) {
  const int rows[] = {10, 14, 20, 31, 44, 63, 100};
  double usual_limit = effort_of_run.limit;
  effort_of_run.limit *= 8; // of the largest, a step takes seconds
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    if (effort_of_run.quick && rows[k] > 44) break;
    int boxes = rows[k] * (rows[k] + 1) / 2;
    char name[40];
    snprintf(name, sizeof name, "wall-%d", boxes);
    for (int first = 1; first >= 0; first--)
      for (int ours = 1; ours >= 0; ours--) {
        int n_steps = boxes > 3000 ? 4 : 8; // the same ones whatever the size
        growth_case growth = {rows[k], ours ? -1 : 20, n_steps, first};
        run_and_write(first ? "growth-first" : "growth-later", name,
                      ours ? "fast" : "QuickStep-20", by_growing, &growth,
                      boxes, 0);
      }
  }
  effort_of_run.limit = usual_limit;
}

static void bench_lcps_of_1024(void) { bench_lcps(1024); }

static const struct {
  const char *name, *title;
  void (*run)(void);
} parts[] = {{"families", "families", bench_families},
             {"runs", "running scenes", bench_runs},
             {"growth", "growth", bench_growth},
             {"lcps", "LCPs of n = 1024", bench_lcps_of_1024},
             {"problems", "the problem library", bench_problems}};
enum { N_PARTS = sizeof parts / sizeof *parts };

int main(int argc, char **argv) {
  bool quick = false;
  int only = -1, next = 1;
  for (; next < argc - 1; next++) {
    if (strcmp(argv[next], "--quick") == 0) {
      quick = true;
    } else if (strcmp(argv[next], "--part") == 0 && next + 2 < argc) {
      next++;
      for (int k = 0; k < N_PARTS; k++)
        if (strcmp(argv[next], parts[k].name) == 0) only = k;
      if (only < 0) break;
    } else if (strcmp(argv[next], "--budget") == 0 && next + 2 < argc) {
      family_budget = argv[++next];
    } else if (strcmp(argv[next], "--softness") == 0 && next + 2 < argc) {
      family_softness = argv[++next];
    } else if (strcmp(argv[next], "--family") == 0 && next + 2 < argc) {
      only_family = argv[++next];
      only = 0; // the part of families
    } else if (strcmp(argv[next], "--draw") == 0 && next + 2 < argc) {
      family_seed = (unsigned)strtoul(argv[++next], NULL, 10);
      if (family_seed == 0) break;
      only = 0;
    } else {
      break;
    }
  }
  if (next != argc - 1) {
    fprintf(stderr,
            "usage: bench_solvers [--quick] [--budget N] [--softness S] "
            "[--family NAME] [--draw SEED] [--part "
            "families|runs|growth|lcps|problems] TABLE\n");
    return 2;
  }
  table = fopen(argv[argc - 1], "w");
  if (table == NULL) {
    perror(argv[argc - 1]);
    return 1;
  }
  if (quick) effort_of_run = (effort){true, 0.1, 4, 1100};
  fprintf(table,
          "part\tproblem\tmethod\tsize\tcontacts\trounds\tmedian\tp99\t"
          "worst\tresidual\town\tmemory\tunsolved\tsweeps\tnote\tmean\t"
          "degraded\tfactorisations\tpivots\taccepted\n");
#if !HAVE_SICONOS
  fprintf(stderr, "Siconos was not found: left out\n");
#endif
#if !HAVE_BULLET
  fprintf(stderr, "Bullet was not found: left out\n");
#endif
  dInitODE2(0);
  dSetMessageHandler(count_message);
  for (int k = 0; k < N_PARTS; k++) {
    if (only >= 0 && k != only) continue;
    fprintf(stderr, "%s\n", parts[k].title);
    parts[k].run();
  }
  dCloseODE();
  fclose(table);
  return 0;
}
