/* Random collisions of one to three contacts, with one tangent or two: the
 * enumeration of contact modes, the path and Lemke's method on the whole LCP
 * agree, and outcomes obey the laws. */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "impacts/contact_path.h"
#include "impacts/impact.h"
#include "impacts/impact_lemke.h"
#include "impacts/impact_sampler.h"

enum { MOST_S = 8, MOST_M = 3, MOST_ROWS = 9, PROBLEMS = 60 };

typedef struct collision {
  double M[MOST_S * MOST_S], Jn[MOST_M * MOST_S], Jt[2 * MOST_M * MOST_S];
  double mu[MOST_M], v[MOST_S];
  ode_mlcp_impact_problem problem;
} collision;

static void make_collision(collision *it, test_random *random, int m, int T) {
  int s = m * (1 + T) - 1 + (int)test_uniform(random, 0, 3);
  if (s > MOST_S) s = MOST_S;
  double root[MOST_S * MOST_S];
  for (int i = 0; i < s * s; i++) root[i] = test_uniform(random, -1, 1);
  for (int i = 0; i < s; i++)
    for (int j = 0; j < s; j++) {
      it->M[i * s + j] = i == j ? 0.2 : 0;
      for (int k = 0; k < s; k++)
        it->M[i * s + j] += root[i * s + k] * root[j * s + k];
    }
  for (int i = 0; i < m * s; i++) it->Jn[i] = test_uniform(random, -1, 1);
  for (int i = 0; i < m * T * s; i++) it->Jt[i] = test_uniform(random, -1, 1);
  for (int i = 0; i < m; i++) it->mu[i] = test_uniform(random, 0, 1.2);
  for (int i = 0; i < s; i++) it->v[i] = test_uniform(random, -1, 1);
  // every other contact has no friction at all now and then
  if (test_uniform(random, 0, 1) < 0.2) it->mu[0] = 0;
  it->problem = (ode_mlcp_impact_problem){.n_velocities = s,
                                          .n_contacts = m,
                                          .n_tangents = T,
                                          .M = it->M,
                                          .Jn = it->Jn,
                                          .Jt = it->Jt,
                                          .mu = it->mu,
                                          .v = it->v};
}

static double distance_to_known(const impact_sampler *sampler, int n_known,
                                int n, const double c[]) {
  double best = INFINITY;
  for (int k = 0; k < n_known; k++) {
    double worst = 0;
    for (int i = 0; i < n; i++)
      worst = fmax(worst, fabs(sampler->reached[k * n + i] - c[i]));
    best = fmin(best, worst);
  }
  return best;
}

typedef struct counts {
  long steps, unsolved, several, lemke, lemke_solved, path, path_solved;
  double distance, violation;
} counts;

/* All ways to solve each step of one sample. */
static void compare_steps(impact_sampler *sampler, test_random *random,
                          double scratch[], counts *counts) {
  const contact_space *space = &sampler->impact->space;
  int n = space->n_rows, m = space->n_contacts;
  memcpy(sampler->inputs, space->start, (size_t)n * sizeof *sampler->inputs);
  for (int step = 0;
       step < 5 && contact_space_slowest(space, sampler->inputs) < -1e-8;
       step++) {
    double *caps = &sampler->inputs[n], lambda[MOST_ROWS], c[MOST_ROWS];
    for (int i = 0; i < m; i++)
      caps[i] = test_uniform(random, 0.01, 1) / space->weight[i * n / m];
    counts->steps++;
    uint64_t n_before = sampler->n_fallbacks;
    int n_known =
        impact_sampler_step(sampler, 0, (uint32_t)step, IMPACT_MAX_SOLUTIONS);
    counts->unsolved += sampler->n_fallbacks > n_before || n_known == 0;
    counts->several += n_known > 1;
    for (int k = 0; k < n_known; k++)
      counts->violation =
          fmax(counts->violation,
               contact_path_violation(space, caps, &sampler->lambdas[k * n],
                                      &sampler->reached[k * n]) /
                   space->scale);
    for (int run = 0; run < 4 && n_known > 0; run++) {
      double covering[40];
      int pivots;
      for (int i = 0; i < 40; i++) covering[i] = test_uniform(random, 0.01, 1);
      counts->lemke++;
      if (impact_lemke_solve(space, sampler->inputs, caps, covering, scratch,
                             lambda, c, &pivots)) {
        counts->lemke_solved++;
        counts->distance =
            fmax(counts->distance,
                 distance_to_known(sampler, n_known, n, c) / space->scale);
      }
      counts->path++;
      if (contact_path_solve(space, sampler->inputs, caps, covering,
                             &covering[20], scratch, lambda, c, &pivots)) {
        counts->path_solved++;
        counts->distance =
            fmax(counts->distance,
                 distance_to_known(sampler, n_known, n, c) / space->scale);
      }
    }
    if (n_known == 0) return;
    int taken = (int)(test_uniform(random, 0, 1) * n_known);
    memcpy(sampler->inputs, &sampler->reached[taken * n],
           (size_t)n * sizeof *sampler->inputs);
  }
}

static void test_ways_to_solve_agree(void) {
  test_random random = {7};
  for (int m = 1; m <= MOST_M; m++)
    for (int T = 1; T <= 2; T++) {
      if (m == 3 && T == 2) continue; // 6859 modes: long to work out
      counts counts = {0};
      for (int k = 0; k < PROBLEMS; k++) {
        collision collision;
        make_collision(&collision, &random, m, T);
        ode_mlcp_impact *impact;
        CU_ASSERT_EQUAL_FATAL(
            ode_mlcp_impact_create(&collision.problem, &impact, NULL, 0),
            ODE_MLCP_IMPACT_DONE);
        ode_mlcp_impact_options options;
        ode_mlcp_impact_default_options(&options);
        options.method = ODE_MLCP_IMPACT_MODES;
        ode_mlcp_impact_method method;
        impact_sampler sampler;
        CU_ASSERT_EQUAL_FATAL(impact_sampler_prepare(impact, &options, &method),
                              ODE_MLCP_IMPACT_DONE);
        CU_ASSERT_FATAL(impact_sampler_open(&sampler, impact, &options, method,
                                            &memory_from_malloc));
        double *scratch =
            malloc(impact_lemke_scratch(&impact->space) * sizeof *scratch);
        for (int sample = 0; sample < 5; sample++)
          compare_steps(&sampler, &random, scratch, &counts);
        free(scratch);
        impact_sampler_close(&sampler);
        ode_mlcp_impact_destroy(impact);
      }
      printf(
          "  %d contacts, %d tangents: %ld steps, %ld with several, %ld "
          "unsolved, lemke %ld of %ld, path %ld of %ld, distance %.1e, "
          "violation %.1e\n",
          m, T, counts.steps, counts.several, counts.unsolved,
          counts.lemke_solved, counts.lemke, counts.path_solved, counts.path,
          counts.distance, counts.violation);
      CU_ASSERT(counts.steps > 100);
      CU_ASSERT_EQUAL(counts.unsolved, 0);
      CU_ASSERT(counts.distance < 1e-6);
      CU_ASSERT(counts.violation < 1e-8);
      CU_ASSERT(counts.lemke_solved * 100 >= counts.lemke * 99);
      CU_ASSERT(counts.path_solved * 100 >= counts.path * 99);
    }
}

/* By the default method: no outcome collides, none has more energy. */
static void test_outcomes_obey_the_laws(void) {
  test_random random = {8};
  for (int k = 0; k < PROBLEMS; k++) {
    collision collision;
    int m = 1 + k % MOST_M, T = 1 + k / MOST_M % 2;
    make_collision(&collision, &random, m, T);
    ode_mlcp_impact *impact;
    ode_mlcp_impact_create(&collision.problem, &impact, NULL, 0);
    ode_mlcp_impact_options options;
    ode_mlcp_impact_default_options(&options);
    options.samples = 200;
    options.steps = 50;
    ode_mlcp_impact_set set;
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_impact_approximate(impact, &options, &set),
                          ODE_MLCP_IMPACT_DONE);
    CU_ASSERT_EQUAL(set.n_finished + set.n_unfinished, 200);
    double before = ode_mlcp_impact_kinetic_energy(impact, collision.v);
    double most = 0, slowest = 0;
    for (uint64_t i = 0; i < set.n_outcomes; i++) {
      const double *v = &set.v[i * (uint64_t)set.n_velocities];
      double rows[MOST_ROWS];
      most = fmax(most, ode_mlcp_impact_kinetic_energy(impact, v));
      ode_mlcp_impact_contact_velocities(impact, v, rows);
      for (int row = 0; row < set.n_rows; row += 1 + T)
        slowest = fmin(slowest, rows[row]);
    }
    CU_ASSERT(most <= before * (1 + 1e-12));
    CU_ASSERT(slowest >= -options.tolerance - 1e-12);
    ode_mlcp_impact_set_release(&set);
    ode_mlcp_impact_destroy(impact);
  }
}

int main(void) {
  CU_TestInfo tests[] = {
      {"ways to solve agree", test_ways_to_solve_agree},
      {"outcomes obey the laws", test_outcomes_obey_the_laws},
      CU_TEST_INFO_NULL};
  return run_tests("impacts: random collisions", tests);
}
