/* How long one LCP of a set-valued impact takes, by every way to solve it, on
 * the same steps; and how long whole sets take.
 *
 *   bench_impacts [SECONDS [EXAMPLE]]    about so long for each figure (0.3); or of
 *                                      "searches" alone
 *
 * Times of LCPs are this process's own (CPU) time on one core, so that other
 * load shows less; times of sets are by the wall clock. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../tests/impact_example.h"
#include "impacts/impact_sampler.h"
#include "impacts/philox.h"

enum { STEPS_RECORDED = 4096, MOST_ROWS = 10, MOST_CONTACTS = 5 };

/* Steps as sampling meets them. */
typedef struct record {
  impact_example example;
  ode_mlcp_impact *impact;
  ode_mlcp_impact_options options;
  impact_sampler sampler;
  int n_rows, n_contacts;
  double inputs[STEPS_RECORDED][MOST_ROWS + MOST_CONTACTS];
} record;

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Times a loop in windows of 4096 rounds or 20 ms and keeps the least time a
 * round: the window that other load disturbed least. */
typedef struct stopwatch {
  double seconds; /* to go on for */
  double least;   /* s a round */
  double start, window_start;
  long round, window_rounds;
  long every; /* rounds between looks at the clock */
} stopwatch;

static bool goes_on(stopwatch *watch) {
  // a look at the clock costs as much as some LCPs
  if (watch->round++ % watch->every != 0) {
    watch->window_rounds++;
    return true;
  }
  double time = now(CLOCK_PROCESS_CPUTIME_ID);
  if (watch->round == 1) watch->start = watch->window_start = time;
  if (watch->window_rounds >= 4096 || time - watch->window_start > 0.02) {
    double each = (time - watch->window_start) / (double)watch->window_rounds;
    if (watch->least == 0 || each < watch->least) watch->least = each;
    watch->window_start = time;
    watch->window_rounds = 0;
  }
  watch->window_rounds++;
  return watch->least == 0 || time - watch->start < watch->seconds;
}

/* Steps of samples, by the method that is chosen by itself. */
static bool record_steps(record *it) {
  const contact_space *space = &it->impact->space;
  size_t n = (size_t)it->n_rows, m = (size_t)it->n_contacts;
  int count = 0;
  impact_sampler sampler;
  if (impact_sampler_prepare(it->impact, &it->options, true) !=
          ODE_MLCP_IMPACT_DONE ||
      !impact_sampler_open(&sampler, it->impact, &it->options,
                           &memory_from_malloc))
    return false;
  for (uint64_t sample = 0; count < STEPS_RECORDED; sample++) {
    double y[MOST_ROWS + MOST_CONTACTS];
    memcpy(y, space->start, n * sizeof *y);
    for (uint32_t step = 0;
         count < STEPS_RECORDED && contact_space_slowest(space, y) < -1e-8;
         step++) {
      for (size_t i = 0; i < m; i++) {
        double pair[2];
        philox_pair(1, sample, step, (uint32_t)i, pair);
        y[n + i] = it->options.h * pair[0];
      }
      memcpy(it->inputs[count++], y, (n + m) * sizeof *y);
      memcpy(sampler.inputs, y, (n + m) * sizeof *y);
      if (impact_sampler_step(&sampler, sample, step, 1) == 0) break;
      memcpy(y, sampler.found.reached, n * sizeof *y);
    }
  }
  impact_sampler_close(&sampler);
  return true;
}

typedef struct way {
  const char *name;
  ode_mlcp_impact_method method;
  ode_mlcp_impact_select select;
} way;

/* Microseconds an LCP by a way of the library; below 0 where it has no table. */
static double time_way(record *it, const way *way, double seconds) {
  it->options.method = way->method;
  it->options.select = way->select;
  int most = way->select == ODE_MLCP_IMPACT_FIRST ? 1 : IMPACT_MAX_SOLUTIONS;
  if (impact_sampler_prepare(it->impact, &it->options, true) !=
          ODE_MLCP_IMPACT_DONE ||
      !impact_sampler_open(&it->sampler, it->impact, &it->options,
                           &memory_from_malloc))
    return -1;
  size_t size = (size_t)(it->n_rows + it->n_contacts) * sizeof(double);
  stopwatch watch = {.seconds = seconds,
                     .every = it->n_contacts > 2 ? 16 : 512};
  for (int k = 0; goes_on(&watch); k++) {
    memcpy(it->sampler.inputs, it->inputs[k % STEPS_RECORDED], size);
    impact_sampler_step(&it->sampler, (uint64_t)k, 0, most);
  }
  impact_sampler_close(&it->sampler);
  return 1e6 * watch.least;
}

static void time_set(record *it, int threads) {
  ode_mlcp_impact_set set;
  it->options.method = ODE_MLCP_IMPACT_AUTOMATIC;
  it->options.select = ODE_MLCP_IMPACT_RANDOM;
  it->options.samples = it->n_contacts > 2 ? 1 << 12 : 1 << 20;
  it->options.threads = threads;
  double start = now(CLOCK_MONOTONIC);
  if (ode_mlcp_impact_approximate(it->impact, &it->options, &set) !=
      ODE_MLCP_IMPACT_DONE)
    return;
  printf(
      "  a set of %llu samples on %d thread%s: %.2f s, %.3f LCPs a sample, "
      "%llu fallbacks\n",
      (unsigned long long)set.n_samples, threads, threads > 1 ? "s" : "",
      now(CLOCK_MONOTONIC) - start, (double)set.n_lcps / (double)set.n_samples,
      (unsigned long long)set.n_fallbacks);
  ode_mlcp_impact_set_release(&set);
}

/* ---- searches ------------------------------------------------------------- */

enum { SEARCHED = 20, MOST_VELOCITIES = 16, MOST_SEARCHED_CONTACTS = 8 };

typedef struct collision {
  double M[MOST_VELOCITIES * MOST_VELOCITIES];
  double Jn[MOST_SEARCHED_CONTACTS * MOST_VELOCITIES];
  double Jt[2 * MOST_SEARCHED_CONTACTS * MOST_VELOCITIES];
  double mu[MOST_SEARCHED_CONTACTS], v[MOST_VELOCITIES];
  ode_mlcp_impact_problem problem;
} collision;

static double between(uint64_t sample, uint32_t *use, double low, double high) {
  double pair[2];
  philox_pair(5, sample, 0, (*use)++, pair);
  return low + (high - low) * pair[0];
}

/* So few coordinates that contacts bear on each other, friction up to 1. */
static void make_collision(collision *it, uint64_t sample, int m, int T) {
  uint32_t use = 0;
  int s = m * (1 + T) / 2 + (int)between(sample, &use, 0, 2);
  memset(it, 0, sizeof *it);
  for (int i = 0; i < s; i++) {
    it->M[i * s + i] = between(sample, &use, 0.3, 2);
    it->v[i] = between(sample, &use, -1, 1);
  }
  for (int i = 0; i < m * s; i++) it->Jn[i] = between(sample, &use, -1, 1);
  for (int i = 0; i < m * T * s; i++) it->Jt[i] = between(sample, &use, -1, 1);
  for (int i = 0; i < m; i++) it->mu[i] = between(sample, &use, 0, 1);
  it->problem = (ode_mlcp_impact_problem){.n_velocities = s,
                                          .n_contacts = m,
                                          .n_tangents = T,
                                          .M = it->M,
                                          .Jn = it->Jn,
                                          .Jt = it->Jt,
                                          .mu = it->mu,
                                          .v = it->v};
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Every step of some samples searched anew for all its solutions. */
static void time_searches(int m, int T) {
  static double times[STEPS_RECORDED];
  int count = 0;
  long n_pivots = 0, most_pivots = 0, n_cut = 0;
  for (uint64_t k = 0; k < SEARCHED; k++) {
    static collision collision;
    ode_mlcp_impact *impact;
    ode_mlcp_impact_options options;
    make_collision(&collision, k, m, T);
    ode_mlcp_impact_default_options(&options);
    if (ode_mlcp_impact_create(&collision.problem, &impact, NULL, 0) !=
        ODE_MLCP_IMPACT_DONE)
      return;
    impact_sampler_prepare(impact, &options, true);
    const impact_island *island = &impact->islands[0];
    const contact_space *space = &island->space;
    size_t n = (size_t)space->n_rows;
    double *scratch =
        malloc((contact_search_scratch(space) + 2 * IMPACT_MAX_SOLUTIONS * n) *
               sizeof *scratch);
    double *lambdas = scratch + contact_search_scratch(space);
    double *reached = lambdas + IMPACT_MAX_SOLUTIONS * n, y[32];
    int leaf[IMPACT_MAX_SOLUTIONS];
    contact_found found = {.most = IMPACT_MAX_SOLUTIONS,
                           .lambdas = lambdas,
                           .reached = reached,
                           .leaf = leaf};
    for (uint64_t sample = 0; sample < 5; sample++) {
      memcpy(y, space->start, n * sizeof *y);
      for (uint32_t step = 0; step < 4 && count < STEPS_RECORDED &&
                              contact_space_slowest(space, y) < -1e-8;
           step++) {
        for (int i = 0; i < space->n_contacts; i++) {
          double pair[2];
          philox_pair(1, sample, step, (uint32_t)i, pair);
          y[n + (size_t)i] = island->cap * pair[0];
        }
        // the least of three: the one that other load disturbed least
        times[count] = 1e9;
        for (int run = 0; run < 3; run++) {
          double start = now(CLOCK_PROCESS_CPUTIME_ID);
          contact_search_solve(space, island->search_start, y, y + n,
                               IMPACT_FEASIBILITY * space->scale,
                               CONTACT_SEARCH_MOST_PIVOTS, scratch, &found);
          double taken = now(CLOCK_PROCESS_CPUTIME_ID) - start;
          if (taken < times[count]) times[count] = taken;
        }
        count++;
        n_pivots += found.pivots;
        n_cut += !found.whole;
        if (found.pivots > most_pivots) most_pivots = found.pivots;
        if (found.count == 0) break;
        memcpy(y, reached, n * sizeof *y);
      }
    }
    free(scratch);
    ode_mlcp_impact_destroy(impact);
  }
  double sum = 0;
  for (int i = 0; i < count; i++) sum += times[i];
  qsort(times, (size_t)count, sizeof *times, by_size);
  printf(
      "%d contacts, %d tangent%s, %d random collisions: %d steps searched for "
      "all solutions (%ld cut short)\n"
      "  us: mean %.0f, of a hundred the worst %.0f, worst %.0f; simplex "
      "steps: "
      "mean %.0f, worst %ld\n",
      m, T, T > 1 ? "s" : "", SEARCHED, count, n_cut, 1e6 * sum / count,
      1e6 * times[count * 99 / 100], 1e6 * times[count - 1],
      (double)n_pivots / count, most_pivots);
}

int main(int argc, char **argv) {
  static const way ways[] = {
      {"table, first", ODE_MLCP_IMPACT_MODES, ODE_MLCP_IMPACT_FIRST},
      {"table, random of all", ODE_MLCP_IMPACT_MODES, ODE_MLCP_IMPACT_RANDOM},
      {"search, random of all", ODE_MLCP_IMPACT_SEARCH, ODE_MLCP_IMPACT_RANDOM},
      {"path, first", ODE_MLCP_IMPACT_PATH, ODE_MLCP_IMPACT_FIRST},
      {"path, random", ODE_MLCP_IMPACT_PATH, ODE_MLCP_IMPACT_RANDOM}};
  double seconds = argc > 1 ? atof(argv[1]) : 0.3;
  static record it;
  for (int k = 0; k < IMPACT_EXAMPLES; k++) {
    impact_example_fill(&it.example, impact_example_name(k));
    if (argc > 2 && strcmp(argv[2], it.example.name) != 0) continue;
    if (ode_mlcp_impact_create(&it.example.problem, &it.impact, NULL, 0) !=
        ODE_MLCP_IMPACT_DONE)
      return 1;
    ode_mlcp_impact_default_options(&it.options);
    it.options.h = it.example.h;
    it.options.steps = it.example.steps;
    it.n_contacts = it.example.problem.n_contacts;
    it.n_rows = 2 * it.n_contacts;
    if (!record_steps(&it)) return 1;
    printf("%s: %d contacts, us an LCP on one core\n", it.example.name,
           it.n_contacts);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
      double each = time_way(&it, &ways[w], seconds);
      if (each >= 0) printf("  %-28s %9.3f\n", ways[w].name, each);
    }
    time_set(&it, 1);
    time_set(&it, 2);
    ode_mlcp_impact_destroy(it.impact);
  }
  if (argc > 2 && strcmp(argv[2], "searches") != 0) return 0;
  time_searches(4, 2);
  time_searches(8, 1);
  time_searches(5, 2);
  return 0;
}
