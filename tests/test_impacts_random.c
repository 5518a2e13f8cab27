/* Random collisions: what a table of modes learns changes no solution; no sample is
 * lost at any friction and any masses, and outcomes obey the laws.
 *
 *   test_impacts_random long    1e5 collisions of any friction; some minutes */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "impact_sampling.h"

enum { MOST_S = 18, MOST_M = 6, MOST_ROWS = 18 };

typedef struct collision {
  double M[MOST_S * MOST_S], Jn[MOST_M * MOST_S], Jt[2 * MOST_M * MOST_S];
  double mu[MOST_M], v[MOST_S];
  ode_mlcp_impact_problem problem;
} collision;

static void make_collision(collision *it, test_random *random, int m, int T) {
  memset(it, 0, sizeof *it); // who asks for more velocities has some at rest
  int s = m * (1 + T) - 1 + (int)test_uniform(random, 0, 3);
  if (m <= 4 && s > 12) s = 12;
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
  it->problem = collision_of(s, m, T, it->M, it->Jn, it->Jt, it->mu, it->v);
}

/* So few coordinates that contacts bear on each other: several solutions are
 * usual then. */
static void make_tight_collision(collision *it, test_random *random, int m,
                                 int T, double most_mu) {
  make_collision(it, random, m, T);
  int s = m * (1 + T) / 2 + (int)test_uniform(random, 0, 2);
  it->problem.n_velocities = s;
  for (int i = 0; i < s * s; i++) it->M[i] = 0;
  for (int i = 0; i < s; i++) it->M[i * s + i] = test_uniform(random, 0.3, 2);
  for (int i = 0; i < m; i++) it->mu[i] = test_uniform(random, 0, most_mu);
}

/* What a table has learnt of conditions that fail changes no solution: against one that
 * begins anew in every step. */
static void test_learning_changes_nothing(void) {
  test_random random = {29};
  long n_several = 0, n_differ = 0;
  for (int k = 0; k < 12; k++) {
    collision collision;
    make_tight_collision(&collision, &random, 2 + k % 3, 1, 3);
    ode_mlcp_impact *impact = make_impact(&collision.problem);
    const contact_space *space = &impact->islands[0].space;
    ode_mlcp_impact_options options = impact_defaults();
    options.method = ODE_MLCP_IMPACT_MODES;
    impact_sampler learnt, fresh;
    open_sampler(&learnt, impact, &options);
    size_t n = (size_t)space->n_rows, m = (size_t)space->n_contacts;
    for (int step = 0; step < 100; step++) {
      open_sampler(&fresh, impact, &options);
      for (size_t i = 0; i < n; i++)
        learnt.inputs[i] = fresh.inputs[i] =
            test_uniform(&random, -1, 1) * space->scale;
      for (size_t i = 0; i < m; i++)
        learnt.inputs[n + i] = fresh.inputs[n + i] =
            test_uniform(&random, 0.01, 1) * impact->islands[0].cap;
      int n_learnt = impact_sampler_step(&learnt, 0, 0, IMPACT_MAX_SOLUTIONS);
      int n_fresh = impact_sampler_step(&fresh, 0, 0, IMPACT_MAX_SOLUTIONS);
      n_several += n_fresh > 1;
      n_differ += n_learnt != n_fresh ||
                  memcmp(learnt.found.reached, fresh.found.reached,
                         (size_t)n_fresh * n * sizeof(double)) != 0;
      impact_sampler_close(&fresh);
    }
    impact_sampler_close(&learnt);
    ode_mlcp_impact_destroy(impact);
  }
  CU_ASSERT_EQUAL(n_differ, 0);
  CU_ASSERT(n_several > 0);
}

/* ---- any friction, any masses -------------------------------------------- */

static bool is_long; /* see the head */

/* Masses over six decades; friction from none to without limit; now and then a
 * contact that repeats another one or lies between two. */
static void make_extreme_collision(collision *it, test_random *random, int m,
                                   int T) {
  make_tight_collision(it, random, m, T, 1);
  int s = it->problem.n_velocities;
  for (int i = 0; i < s; i++)
    it->M[i * s + i] = pow(10, test_uniform(random, -3, 3));
  for (int i = 0; i < m; i++) {
    double kind = test_uniform(random, 0, 1);
    it->mu[i] = kind < 0.1   ? 0
                : kind < 0.4 ? test_uniform(random, 0, 2)
                : kind < 0.7 ? pow(10, test_uniform(random, -2, 8))
                             : INFINITY;
  }
  if (m < 3 || test_uniform(random, 0, 1) < 0.7) return;
  double share = (int)test_uniform(random, 0, 3) * 0.5;
  for (int j = 0; j < s; j++) {
    it->Jn[2 * s + j] = share * it->Jn[j] + (1 - share) * it->Jn[s + j];
    for (int t = 0; t < T; t++)
      it->Jt[(2 * T + t) * s + j] =
          share * it->Jt[t * s + j] + (1 - share) * it->Jt[(T + t) * s + j];
  }
}

/* Doubles have too few digits to find a solution in a step of these, or too few simplex
 * steps. */
static bool is_hard(unsigned seed, long k) {
  static const long hard[][2] = {
      {10, 425},   {10, 6471},  {10, 12439}, {10, 44299}, {10, 45963},
      {10, 47210}, {10, 56691}, {10, 84655}, {10, 92703}, {77, 21983},
      {77, 41990}, {77, 48030}, {77, 88598}};
  for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
    if (hard[i][0] == (long)seed && hard[i][1] == k) return true;
  return false;
}

static void lose_no_sample(unsigned seed, long n_quick) {
  test_random random = {seed};
  long n_problems = 0, n_samples = 0, n_failed = 0, n_unfinished = 0;
  long n_without = 0; /* a simultaneous impact, but said to have all */
  double slowest = 0; /* m/s, of a contact after it */
  double most = 0;    /* energy after by energy before */
  for (long k = 0; k < 100000; k++) {
    collision collision;
    int m = 1 + (int)(k % 4), T = 1 + (int)(k / 4 % 2);
    make_extreme_collision(&collision, &random, m, T);
    if (!is_long && k >= n_quick && !is_hard(seed, k)) continue;
    n_problems++;
    ode_mlcp_impact *impact = make_impact(&collision.problem);
    double momentum = 0;
    int s = collision.problem.n_velocities;
    for (int i = 0; i < s; i++)
      momentum = fmax(momentum, fabs(collision.M[i * s + i] * collision.v[i]));
    ode_mlcp_impact_options options = impact_defaults();
    options.samples = 4;
    options.steps = 1000;
    options.h = momentum;
    ode_mlcp_impact_set set = impact_set_of(impact, &options);
    n_samples += (long)set.n_samples;
    n_failed += (long)set.n_failed;
    n_unfinished += (long)(set.n_unfinished - set.n_failed);
    if (is_hard(seed, k)) CU_ASSERT_EQUAL(set.n_unfinished, 0);
    double before = ode_mlcp_impact_kinetic_energy(impact, collision.v);
    double together[MOST_S];
    int n_together;
    // there always is one
    bool all = ode_mlcp_impact_simultaneous(impact, 1, together, &n_together) ==
               ODE_MLCP_IMPACT_DONE;
    n_without += n_together == 0 && all;
    for (uint64_t i = 0; i < set.n_outcomes; i++) {
      const double *v = &set.v[i * (uint64_t)s];
      double rows[MOST_ROWS];
      most = fmax(most, ode_mlcp_impact_kinetic_energy(impact, v) / before);
      ode_mlcp_impact_contact_velocities(impact, v, rows);
      for (int row = 0; row < set.n_rows; row += 1 + T)
        slowest = fmin(slowest, rows[row]);
    }
    ode_mlcp_impact_set_release(&set);
    ode_mlcp_impact_destroy(impact);
  }
  printf(
      "\n  %ld collisions, %ld samples: %ld failed, %ld not over after 1001 "
      "steps, %ld without a simultaneous impact, at most %.9f of the energy "
      "left",
      n_problems, n_samples, n_failed, n_unfinished, n_without, most);
  CU_ASSERT_EQUAL(n_failed, 0);
  CU_ASSERT_EQUAL(n_without, 0);
  CU_ASSERT(most <= 1 + 1e-9);
  CU_ASSERT(slowest >= -2e-8); // what counts as parted, and rounding
}

static void test_no_sample_is_lost(void) {
  lose_no_sample(10, test_rounds(1000));
  lose_no_sample(77, 0);
}

int main(int argc, char **argv) {
  is_long = argc > 1 && strcmp(argv[1], "long") == 0;
  CU_TestInfo tests[] = {
      {"learning changes nothing", test_learning_changes_nothing},
      {"no sample is lost", test_no_sample_is_lost},
      CU_TEST_INFO_NULL};
  return run_tests("impacts: random collisions", tests);
}
