/* Contacts that have no effect on each other are impacts of their own: what else
 * touches elsewhere changes no bit, the cost is the sum, masses have no scale. */
#include "impact_sampling.h"
#include "impacts/contact_modes.h"
#include "impacts/impact.h"

enum { MOST_S = 24, MOST_M = 10 };

/* Collisions side by side. */
typedef struct several {
  double M[MOST_S * MOST_S], Jn[MOST_M * MOST_S], Jt[MOST_M * MOST_S];
  double mu[MOST_M], v[MOST_S];
  ode_mlcp_impact_problem problem;
} several;

static void start(several *it) {
  memset(it, 0, sizeof *it);
  it->problem = (ode_mlcp_impact_problem){.n_tangents = 1,
                                          .M = it->M,
                                          .Jn = it->Jn,
                                          .Jt = it->Jt,
                                          .mu = it->mu,
                                          .v = it->v};
}

/* Spread what was packed for s velocities to s + more. */
static void widen(double matrix[], int rows, int s, int more) {
  for (int i = rows - 1; i >= 0; i--) {
    memmove(&matrix[i * (s + more)], &matrix[i * s], (size_t)s * 8);
    memset(&matrix[i * (s + more) + s], 0, (size_t)more * 8);
  }
}

/* Put a planar collision beside what is there, its masses times `mass`. */
static void add(several *it, const ode_mlcp_impact_problem *one, double mass) {
  int s = it->problem.n_velocities, m = it->problem.n_contacts;
  int more = one->n_velocities, contacts = one->n_contacts, all = s + more;
  widen(it->M, s, s, more);
  widen(it->Jn, m, s, more);
  widen(it->Jt, m, s, more);
  for (int i = 0; i < more; i++) {
    memset(&it->M[(s + i) * all], 0, (size_t)s * 8);
    for (int j = 0; j < more; j++)
      it->M[(s + i) * all + s + j] = mass * one->M[i * more + j];
    it->v[s + i] = one->v[i];
  }
  for (int i = 0; i < contacts; i++) {
    memset(&it->Jn[(m + i) * all], 0, (size_t)s * 8);
    memset(&it->Jt[(m + i) * all], 0, (size_t)s * 8);
    memcpy(&it->Jn[(m + i) * all + s], &one->Jn[i * more], (size_t)more * 8);
    memcpy(&it->Jt[(m + i) * all + s], &one->Jt[i * more], (size_t)more * 8);
    it->mu[m + i] = one->mu[i];
  }
  it->problem.n_velocities = all;
  it->problem.n_contacts = m + contacts;
}

/* A ball of mass 3 that falls on the ground, turning. */
static void add_ball(several *it) {
  static const double M[9] = {3, 0, 0, 0, 3, 0, 0, 0, 0.3};
  static const double Jn[3] = {0, 1, 0}, Jt[3] = {1, 0, 0.25}, mu[1] = {0.4};
  static const double v[3] = {0.7, -2.5, 1.1};
  const ode_mlcp_impact_problem ball = collision_of(3, 1, 1, M, Jn, Jt, mu, v);
  add(it, &ball, 1);
}

static ode_mlcp_impact_set sample(const ode_mlcp_impact_problem *problem,
                                  const ode_mlcp_impact_options *options) {
  ode_mlcp_impact *impact = make_impact(problem);
  ode_mlcp_impact_set set = impact_set_of(impact, options);
  ode_mlcp_impact_destroy(impact);
  return set;
}

/* Outcome k of a set, from contact velocity `row` on. */
static const double *rows_of(const ode_mlcp_impact_set *set, uint64_t k,
                             int row) {
  return &set->contact_velocities[k * (uint64_t)set->n_rows + (uint64_t)row];
}

static void test_what_is_elsewhere_changes_no_bit(void) {
  static const char *const names[] = {"compass-gait", "disk-stack",
                                      "rocking-block"};
  for (int kind = 0; kind < 3; kind++)
    for (int own_h = 0; own_h < 2; own_h++) {
      impact_example example, other;
      impact_example_fill(&example, names[kind]);
      impact_example_fill(&other, "box-wall");
      several beside;
      start(&beside);
      add_ball(&beside);
      add(&beside, &example.problem, 1);
      if (kind != 1) add(&beside, &other.problem, 1);
      ode_mlcp_impact_options options = impact_defaults();
      options.samples = 600;
      options.steps = 400;
      options.threads = 1;
      options.h = own_h ? 0 : example.h;
      ode_mlcp_impact_set alone = sample(&example.problem, &options);
      ode_mlcp_impact_set both = sample(&beside.problem, &options);
      CU_ASSERT_EQUAL_FATAL(alone.n_outcomes, 600);
      CU_ASSERT_EQUAL_FATAL(both.n_outcomes, 600);
      long differ = 0;
      for (uint64_t k = 0; k < 600; k++)
        differ += memcmp(rows_of(&alone, k, 0), rows_of(&both, k, 2),
                         (size_t)alone.n_rows * sizeof(double)) != 0;
      CU_ASSERT_EQUAL(differ, 0);
      CU_ASSERT(both.n_lcps >= alone.n_lcps + 600);
      ode_mlcp_impact_set_release(&alone);
      ode_mlcp_impact_set_release(&both);
    }
}

/* Four blocks: each has the one block's distribution, none another's draws. */
static void test_equal_islands_are_independent(void) {
  enum { BLOCKS = 4, SAMPLES = 4000 };
  impact_example example;
  impact_example_fill(&example, "rocking-block");
  several blocks;
  start(&blocks);
  for (int i = 0; i < BLOCKS; i++) add(&blocks, &example.problem, 1);
  ode_mlcp_impact_options options = impact_defaults();
  options.samples = SAMPLES;
  options.h = example.h;
  options.steps = 40;
  ode_mlcp_impact_set one = sample(&example.problem, &options);
  ode_mlcp_impact_set set = sample(&blocks.problem, &options);
  CU_ASSERT_EQUAL_FATAL(set.n_outcomes, SAMPLES);
  long same = 0, first_differs = 0;
  double left[BLOCKS] = {0}, both[BLOCKS] = {0};
  for (uint64_t k = 0; k < SAMPLES; k++) {
    const double *rows = rows_of(&set, k, 0);
    first_differs += memcmp(rows, rows_of(&one, k, 0), 4 * 8) != 0;
    for (int i = 0; i < BLOCKS; i++) {
      left[i] += rows[4 * i] > 0.01;
      if (i > 0) both[i] += rows[0] > 0.01 && rows[4 * i] > 0.01;
      if (i > 0 && rows[0] > 0) same += rows[0] == rows[4 * i];
    }
  }
  CU_ASSERT_EQUAL(first_differs, 0);
  CU_ASSERT_EQUAL(same, 0);
  for (int i = 1; i < BLOCKS; i++) {
    // within five standard errors of equal shares and of their product
    double share = left[0] / SAMPLES, error = 5 / sqrt(SAMPLES);
    CU_ASSERT(fabs(left[i] / SAMPLES - share) < error);
    CU_ASSERT(fabs(both[i] / SAMPLES - share * left[i] / SAMPLES) < error);
  }
  // what four blocks cost is what each of them costs
  CU_ASSERT(fabs((double)set.n_lcps / (double)(BLOCKS * one.n_lcps) - 1) <
            0.03);
  ode_mlcp_impact_set_release(&one);
  ode_mlcp_impact_set_release(&set);
}

static void test_simultaneous_of_islands_multiply(void) {
  impact_example gait;
  impact_example_fill(&gait, "compass-gait");
  several two;
  start(&two);
  add(&two, &gait.problem, 1);
  add_ball(&two);
  add(&two, &gait.problem, 2);
  ode_mlcp_impact *impact = make_impact(&two.problem);
  CU_ASSERT_EQUAL(impact->n_islands, 3);
  double v[16 * MOST_S];
  int n_solutions;
  CU_ASSERT_EQUAL(ode_mlcp_impact_simultaneous(impact, 16, v, &n_solutions),
                  ODE_MLCP_IMPACT_DONE);
  CU_ASSERT_EQUAL(n_solutions, 9);
  ode_mlcp_impact_destroy(impact);
}

/* By h = 0 a block of a thousand tonnes has the outcomes of one of a kilogram. */
static void test_masses_have_no_scale(void) {
  for (int kind = 0; kind < IMPACT_EXAMPLES; kind++) {
    impact_example example;
    impact_example_fill(&example, impact_example_name(kind));
    several heavy;
    start(&heavy);
    add(&heavy, &example.problem, 0x1p20);
    ode_mlcp_impact_options options = impact_defaults();
    options.samples = 300;
    options.steps = 40;
    ode_mlcp_impact_set light = sample(&example.problem, &options);
    ode_mlcp_impact_set set = sample(&heavy.problem, &options);
    CU_ASSERT_EQUAL_FATAL(light.n_outcomes, 300);
    CU_ASSERT_EQUAL_FATAL(set.n_outcomes, 300);
    double worst = 0, most = 0;
    for (uint64_t k = 0; k < 300; k++)
      for (int i = 0; i < set.n_rows; i++) {
        worst = fmax(worst,
                     fabs(rows_of(&set, k, i)[0] - rows_of(&light, k, i)[0]));
        most = fmax(most, fabs(rows_of(&set, k, i)[0]));
      }
    CU_ASSERT(worst <= 1e-9);
    CU_ASSERT(most > 3e-4);
    // caps are neither so small that an impact has many steps nor so large that
    // all samples are alike
    double steps = (double)light.n_lcps / 300;
    CU_ASSERT(steps > 1.1 && steps < 6);
    ode_mlcp_impact_set_release(&light);
    ode_mlcp_impact_set_release(&set);
  }
}

int main(void) {
  CU_TestInfo tests[] = {
      {"what is elsewhere changes no bit",
       test_what_is_elsewhere_changes_no_bit},
      {"equal islands are independent", test_equal_islands_are_independent},
      {"simultaneous impacts of islands multiply",
       test_simultaneous_of_islands_multiply},
      {"masses have no scale", test_masses_have_no_scale},
      CU_TEST_INFO_NULL};
  return run_tests("impacts: islands", tests);
}
