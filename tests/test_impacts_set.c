/* Sets are the same bits for any thread count and any cut into ranges; options
 * do what they say; nothing that collides is ever an outcome. */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "impact_sampling.h"
#include "impacts/philox.h"

enum { MOST_VELOCITIES = 20 };

/* Every bit of a set but its time. */
static uint64_t hash_set(const ode_mlcp_impact_set *set) {
  size_t n = (size_t)set->n_outcomes;
  uint64_t counts[4] = {set->n_samples, set->n_finished, set->n_lcps,
                        set->n_outcomes};
  hash of = hash_start();
  hash_bytes(&of, counts, sizeof counts);
  hash_bytes(&of, set->sample, n * sizeof *set->sample);
  hash_bytes(&of, set->lcps, n * sizeof *set->lcps);
  hash_numbers(&of, set->v, n * (size_t)set->n_velocities);
  hash_numbers(&of, set->contact_velocities, n * (size_t)set->n_rows);
  return of.value;
}

/* ---- the generator ----------------------------------------------------- */

/* The known answers that come with the generator's publication. */
static void test_philox_known_answers(void) {
  const struct {
    uint32_t counter[4], key[2], answer[4];
  } known[3] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
  for (int k = 0; k < 3; k++) {
    uint32_t out[4];
    philox_block(known[k].key, known[k].counter, out);
    CU_ASSERT_EQUAL(memcmp(out, known[k].answer, sizeof out), 0);
  }
  CU_ASSERT(philox_unit(0, 0) > 0);
  CU_ASSERT(philox_unit(0xffffffff, 0xffffffff) < 1);

  double sum = 0, squares = 0;
  for (uint64_t k = 0; k < 10000; k++) {
    double pair[2];
    philox_pair(7, k, 0, 0, pair);
    sum += pair[0] + pair[1];
    squares += pair[0] * pair[0] + pair[1] * pair[1];
  }
  CU_ASSERT(fabs(sum / 20000 - 0.5) < 0.01);
  CU_ASSERT(fabs(squares / 20000 - 1.0 / 3) < 0.01);
}

/* ---- the same bits ----------------------------------------------------- */

static void test_thread_counts_give_the_same_bits(void) {
  const char *const names[3] = {"rocking-block", "compass-gait", "disk-stack"};
  for (int k = 0; k < 3; k++)
    for (int select = 0; select < 2; select++) {
      ready_example *it = open_example(names[k]);
      it->options.select = (ode_mlcp_impact_select)select;
      uint64_t hashes[3];
      for (int threads = 1; threads <= 3; threads++) {
        it->options.threads = threads;
        ode_mlcp_impact_set set = impact_set_of(it->impact, &it->options);
        hashes[threads - 1] = hash_set(&set);
        ode_mlcp_impact_set_release(&set);
      }
      CU_ASSERT_EQUAL(hashes[0], hashes[1]);
      CU_ASSERT_EQUAL(hashes[0], hashes[2]);

      // negative control: another seed is another set
      it->options.seed++;
      ode_mlcp_impact_set set = impact_set_of(it->impact, &it->options);
      CU_ASSERT_NOT_EQUAL(hash_set(&set), hashes[0]);
      ode_mlcp_impact_set_release(&set);
      close_example(it);
    }
}

static void test_ranges_are_parts_of_the_whole(void) {
  ready_example *it = open_example("compass-gait");
  for (int select = 0; select < 2; select++) {
    it->options.select = (ode_mlcp_impact_select)select;
    it->options.first = 0;
    it->options.samples = 1001;
    ode_mlcp_impact_set whole = impact_set_of(it->impact, &it->options);

    const uint64_t cuts[] = {0, 1, 300, 997, it->options.samples};
    uint64_t n_outcomes = 0, n_lcps = 0, n_finished = 0;
    for (int k = 0; k < 4; k++) {
      it->options.first = cuts[k];
      it->options.samples = cuts[k + 1] - cuts[k];
      it->options.threads = k + 1;
      ode_mlcp_impact_set part = impact_set_of(it->impact, &it->options);
      size_t n = part.n_outcomes;
      CU_ASSERT_FATAL(n_outcomes + n <= whole.n_outcomes);
      CU_ASSERT(memcmp(part.sample, &whole.sample[n_outcomes],
                       n * sizeof *part.sample) == 0);
      CU_ASSERT(memcmp(part.lcps, &whole.lcps[n_outcomes],
                       n * sizeof *part.lcps) == 0);
      CU_ASSERT(memcmp(part.v, &whole.v[4 * n_outcomes],
                       4 * n * sizeof *part.v) == 0);
      n_outcomes += n;
      n_lcps += part.n_lcps;
      n_finished += part.n_finished;
      ode_mlcp_impact_set_release(&part);
    }
    CU_ASSERT_EQUAL(n_outcomes, whole.n_outcomes);
    CU_ASSERT_EQUAL(n_lcps, whole.n_lcps);
    CU_ASSERT_EQUAL(n_finished, whole.n_finished);
    ode_mlcp_impact_set_release(&whole);
  }
  close_example(it);
}

static void test_sim_is_a_sample_of_the_set(void) {
  ready_example *it = open_example("box-wall");
  it->options.samples = 300;
  ode_mlcp_impact_set set = impact_set_of(it->impact, &it->options);
  for (uint64_t k = 0; k < set.n_outcomes; k++) {
    double v[3];
    int n_lcps;
    CU_ASSERT_EQUAL(ode_mlcp_impact_sim(it->impact, &it->options, set.sample[k],
                                        v, &n_lcps),
                    ODE_MLCP_IMPACT_DONE);
    CU_ASSERT_EQUAL((uint32_t)n_lcps, set.lcps[k]);
    // the last step of Alg. 2 may still move it by the tolerance
    for (int i = 0; i < 3; i++)
      CU_ASSERT(fabs(v[i] - set.v[3 * k + (uint64_t)i]) < 1e-7);
  }
  ode_mlcp_impact_set_release(&set);
  close_example(it);
}

/* The ways of so many of the set's samples, or of all: each from the velocity before to
 * that of Sim. */
static void test_ways_lead_from_start_to_end(void) {
  static const struct {
    uint64_t samples, asked, got;
  } cases[] = {{40, 7, 7}, {40, 40, 40}, {40, 1000, 40}, {40, 0, 0}};
  for (int c = 0; c < 4; c++) {
    ready_example *it = open_example("box-wall");
    ode_mlcp_impact_set ways;
    it->options.samples = cases[c].samples;
    CU_ASSERT_EQUAL_FATAL(
        ode_mlcp_impact_ways(it->impact, &it->options, cases[c].asked, &ways),
        ODE_MLCP_IMPACT_DONE);
    CU_ASSERT_EQUAL(ways.n_samples, cases[c].got);
    uint64_t n_ways = 0;
    for (uint64_t k = 0; k < ways.n_outcomes; k++) {
      const double *v = &ways.v[3 * k];
      bool first = k == 0 || ways.sample[k - 1] != ways.sample[k];
      bool last =
          k + 1 == ways.n_outcomes || ways.sample[k + 1] != ways.sample[k];
      double end[3];
      int n_lcps;
      if (first)
        for (int i = 0; i < 3; i++)
          CU_ASSERT_DOUBLE_EQUAL(v[i], it->example.problem.v[i], 1e-12);
      if (!last) continue;
      CU_ASSERT_EQUAL(ways.sample[k], n_ways);
      n_ways++;
      CU_ASSERT_EQUAL(ode_mlcp_impact_sim(it->impact, &it->options,
                                          ways.sample[k], end, &n_lcps),
                      ODE_MLCP_IMPACT_DONE);
      CU_ASSERT_EQUAL((uint32_t)n_lcps, ways.lcps[k]);
      for (int i = 0; i < 3; i++) CU_ASSERT_DOUBLE_EQUAL(v[i], end[i], 1e-12);
    }
    CU_ASSERT_EQUAL(n_ways, cases[c].got);
    ode_mlcp_impact_set_release(&ways);
    close_example(it);
  }
}

/* ---- unfinished, interrupted ------------------------------------------- */

static void test_nothing_unfinished_is_an_outcome(void) {
  ready_example *it = open_example("rocking-block");
  it->options.steps = 0; // one step, which rarely ends the impact
  it->options.h = 0.1;
  ode_mlcp_impact_set set = impact_set_of(it->impact, &it->options);
  CU_ASSERT(set.n_unfinished > set.n_samples * 9 / 10);
  CU_ASSERT_EQUAL(set.n_failed, 0);
  CU_ASSERT_EQUAL(set.n_outcomes, set.n_samples - set.n_unfinished);
  CU_ASSERT_EQUAL(set.n_lcps, set.n_samples);
  ode_mlcp_impact_set_release(&set);

  double v[3];
  int n_lcps;
  CU_ASSERT_EQUAL(ode_mlcp_impact_sim(it->impact, &it->options, 3, v, &n_lcps),
                  ODE_MLCP_IMPACT_UNFINISHED);
  CU_ASSERT_EQUAL(n_lcps, 1);

  const char *const names[5] = {"rocking-block", "compass-gait", "box-wall",
                                "ramone", "disk-stack"};
  for (int k = 0; k < 5; k++)
    for (int steps = 0; steps < 4; steps++) {
      ready_example *other = open_example(names[k]);
      other->options.steps = steps;
      other->options.samples = (uint64_t)test_rounds(1000);
      set = impact_set_of(other->impact, &other->options);
      double slowest = 0;
      for (uint64_t i = 0; i < set.n_outcomes; i++)
        for (int row = 0; row < set.n_rows; row += 2)
          slowest = fmin(
              slowest,
              set.contact_velocities[i * (uint64_t)set.n_rows + (uint64_t)row]);
      CU_ASSERT(slowest >= -other->options.tolerance);
      ode_mlcp_impact_set_release(&set);
      close_example(other);
    }
  close_example(it);
}

typedef struct patience {
  int asked, most;
  uint64_t told;
} patience;

static int runs_out(void *context) {
  patience *patience = context;
  return ++patience->asked > patience->most;
}

static void hear(void *context, uint64_t done, uint64_t total) {
  patience *patience = context;
  CU_ASSERT(done <= total && done > patience->told);
  patience->told = done;
}

/* Searches take from the work that is given, and end the sample with it. */
static void test_searches_end_with_their_work(void) {
  const double much = 1e12;
  const double mu[5] = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
  double work = much, v[MOST_VELOCITIES] = {0}, all[MOST_VELOCITIES] = {0};
  impact_example example;
  ode_mlcp_impact *impact;
  ode_mlcp_impact_options options;
  impact_example_fill(&example, "disk-stack");
  CU_ASSERT_FATAL(example.problem.n_velocities <= MOST_VELOCITIES);
  example.problem.mu = mu;
  CU_ASSERT_EQUAL_FATAL(
      ode_mlcp_impact_create(&example.problem, &impact, NULL, 0),
      ODE_MLCP_IMPACT_DONE);
  ode_mlcp_impact_default_options(&options);
  CU_ASSERT_EQUAL(ode_mlcp_impact_sim(impact, &options, 5, all, NULL),
                  ODE_MLCP_IMPACT_DONE);
  CU_ASSERT_EQUAL(impact_sample_within(impact, &options, 5, &work, v, NULL),
                  ODE_MLCP_IMPACT_DONE);
  CU_ASSERT(memcmp(v, all, sizeof v) == 0);
  double spent = much - work, prepared = 0;
  for (int i = 0; i < impact->n_islands; i++)
    prepared += impact->islands[i].work;
  // what chooses the cap is a search, too
  CU_ASSERT(prepared > 0);
  CU_ASSERT(spent > prepared);
  work = prepared + 0.01 * (spent - prepared);
  CU_ASSERT_EQUAL(impact_sample_within(impact, &options, 5, &work, v, NULL),
                  ODE_MLCP_IMPACT_UNFINISHED);
  CU_ASSERT(work <= 0);
  ode_mlcp_impact_destroy(impact);
}

static void test_an_interrupt_keeps_what_was_done(void) {
  ready_example *it = open_example("rocking-block");
  ode_mlcp_impact_set whole, part;
  it->options.samples = 5000;
  whole = impact_set_of(it->impact, &it->options);
  // it is asked before every step: some chunks are done then, and a part of one
  patience patience = {.most = 2000};
  it->options.interrupted = runs_out;
  it->options.progress = hear;
  it->options.run_context = &patience;
  CU_ASSERT_EQUAL(ode_mlcp_impact_approximate(it->impact, &it->options, &part),
                  ODE_MLCP_IMPACT_INTERRUPTED);
  CU_ASSERT(part.n_samples > 0 && part.n_samples < whole.n_samples);
  CU_ASSERT(patience.told > 0 && patience.told <= part.n_samples);
  CU_ASSERT_EQUAL(part.n_outcomes, part.n_finished);
  CU_ASSERT_EQUAL(memcmp(part.v, whole.v, part.n_outcomes * 3 * sizeof(double)),
                  0);
  ode_mlcp_impact_set_release(&part);

  // at once: an empty set is a set
  patience.most = patience.asked = 0;
  patience.told = 0;
  CU_ASSERT_EQUAL(ode_mlcp_impact_approximate(it->impact, &it->options, &part),
                  ODE_MLCP_IMPACT_INTERRUPTED);
  CU_ASSERT_EQUAL(part.n_samples, 0);
  double extents[2] = {7, 7};
  ode_mlcp_impact_extents(&part, extents);
  CU_ASSERT(extents[0] == 7 && extents[1] == 7);
  ode_mlcp_impact_set_release(&part);
  ode_mlcp_impact_set_release(&whole);
  close_example(it);
}

/* ---- a user's distribution --------------------------------------------- */

/* All the impulse on one contact a step, A first where the sample is even. */
static void one_at_a_time(void *context, uint64_t seed, uint64_t sample,
                          int step, int n_contacts, double lambda_max[]) {
  (void)seed;
  for (int i = 0; i < n_contacts; i++)
    lambda_max[i] =
        ((uint64_t)(step + i) + sample) % 2 == 0 ? *(double *)context : 1e-12;
}

static void test_a_distribution_of_ones_own(void) {
  ready_example *it = open_example("rocking-block");
  double cap = 10;
  it->options.draw = one_at_a_time;
  it->options.draw_context = &cap;
  it->options.samples = 2;
  ode_mlcp_impact_set set = impact_set_of(it->impact, &it->options);
  // that is the sequential law: A then B, and B then A
  CU_ASSERT_EQUAL_FATAL(set.n_outcomes, 2);
  CU_ASSERT(fabs(set.contact_velocities[0] - 0.09301838) < 1e-7);
  CU_ASSERT(fabs(set.contact_velocities[2]) < 1e-7);
  CU_ASSERT(fabs(set.contact_velocities[4]) < 1e-7);
  CU_ASSERT(fabs(set.contact_velocities[6] - 0.09301838) < 1e-7);
  ode_mlcp_impact_set_release(&set);
  close_example(it);
}

/* ---- friction ------------------------------------------------------------- */

/* The point of a square nearest to p, by its definition: of n corners on a circle, the
 * first on the x axis. */
static void nearest_in_square(double radius, const double p[2],
                              double nearest[2]) {
  const int n = 4;
  double best = INFINITY;
  bool inside = true;
  for (int k = 0; k < n; k++) {
    double a = 2 * M_PI * k / n, b = 2 * M_PI * (k + 1) / n;
    double from[2] = {radius * cos(a), radius * sin(a)};
    double edge[2] = {radius * cos(b) - from[0], radius * sin(b) - from[1]};
    double to[2] = {p[0] - from[0], p[1] - from[1]};
    inside &= edge[0] * to[1] - edge[1] * to[0] >= 0;
    double part = (to[0] * edge[0] + to[1] * edge[1]) /
                  (edge[0] * edge[0] + edge[1] * edge[1]);
    part = fmin(fmax(part, 0), 1);
    double at[2] = {from[0] + part * edge[0], from[1] + part * edge[1]};
    double distance = hypot(p[0] - at[0], p[1] - at[1]);
    if (distance >= best) continue;
    best = distance;
    memcpy(nearest, at, sizeof at);
  }
  if (inside) memcpy(nearest, p, 2 * sizeof *nearest);
}

/* Friction without limit leaves a point that strikes at rest, of any mass; and beside a
 * contact with limits, on a body or apart, nothing is lost. */
static void test_friction_without_limit(void) {
  for (int kind = 0; kind < 9; kind++) {
    double mass = pow(10, kind - 4), other = kind % 2 == 0 ? 0.3 * mass : 3;
    double coupled = kind % 3 * 0.2 * sqrt(mass * other), M[36] = {0};
    for (int i = 0; i < 3; i++) {
      M[7 * i] = mass;
      M[7 * (3 + i)] = other;
      M[6 * i + 3 + (i + 1) % 3] = M[6 * (3 + (i + 1) % 3) + i] = coupled;
    }
    double Jn[12] = {0}, Jt[24] = {0};
    Jn[2] = Jn[6 + 5] = 1;
    Jt[0] = Jt[6 + 1] = Jt[12 + 3] = Jt[18 + 4] = 1;
    const double mu[2] = {INFINITY, 0.4};
    const double v[6] = {0.7, -2.3, -1, -0.4, 1.1, -0.2};
    const ode_mlcp_impact_problem problem =
        collision_of(6, 2, 2, M, Jn, Jt, mu, v);
    ode_mlcp_impact *impact = make_impact(&problem);
    ode_mlcp_impact_options options = impact_defaults();
    options.samples = 8;
    ode_mlcp_impact_set set = impact_set_of(impact, &options);
    CU_ASSERT_EQUAL(set.n_outcomes, 8);
    CU_ASSERT_EQUAL(set.n_failed, 0);
    double worst = 0, slip = 0;
    for (uint64_t k = 0; k < set.n_outcomes; k++) {
      const double *rows = &set.contact_velocities[6 * k];
      for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(rows[i]));
      slip = fmax(slip, hypot(rows[4], rows[5]));
    }
    // coupled, the other may lift it again
    if (coupled == 0) CU_ASSERT(worst < 1e-7);
    // negative control: with a limit there is slip
    if (coupled == 0) CU_ASSERT(slip > 0.5);
    ode_mlcp_impact_set_release(&set);
    ode_mlcp_impact_destroy(impact);
  }
}

/* A mass point on a plane: the slip that an impact at once leaves is least in the
 * energy, so friction takes off what is nearest to it in the pyramid's square; and a cone
 * would take off mu times the push along the slip, which the square misses by a part of
 * 1 - cos(pi/4) at most. */
static void test_pyramid(void) {
  const double mass = 1.7, push = 1.7 * 1.3, mu[1] = {0.6};
  const double M[9] = {mass, 0, 0, 0, mass, 0, 0, 0, mass}, Jn[3] = {0, 0, 1};
  // tangents of a plane that is turned
  const double cosine = cos(0.4), sine = sin(0.4);
  const double Jt[6] = {cosine, sine, 0, -sine, cosine, 0};
  double v[3] = {0, 0, -1.3};
  const ode_mlcp_impact_problem problem =
      collision_of(3, 1, 2, M, Jn, Jt, mu, v);
  double worst = 0, worst_of_sets = 0, least = INFINITY;
  for (int k = 0; k < 24; k++) {
    double angle = 0.02 + 2 * M_PI * k / 24, speed = k % 3 == 0 ? 0.7 : 2.3;
    double slip[2] = {speed * cos(angle), speed * sin(angle)};
    v[0] = cosine * slip[0] - sine * slip[1];
    v[1] = sine * slip[0] + cosine * slip[1];
    double most[2];
    nearest_in_square(mu[0] * push / mass, slip, most);
    if (speed > 1) least = fmin(least, hypot(most[0], most[1]));
    ode_mlcp_impact *impact = make_impact(&problem);
    double found[3 * 4], rows[3];
    int n_found;
    CU_ASSERT_EQUAL(ode_mlcp_impact_simultaneous(impact, 4, found, &n_found),
                    ODE_MLCP_IMPACT_DONE);
    CU_ASSERT_EQUAL(n_found, 1);
    ode_mlcp_impact_contact_velocities(impact, found, rows);
    worst = fmax(worst, fabs(rows[0]));
    for (int i = 0; i < 2; i++)
      worst = fmax(worst, fabs(rows[1 + i] - slip[i] + most[i]));

    // the set of one contact with a fast slip is that outcome, by every way
    if (speed > 1 && k % 4 == 1) {
      ode_mlcp_impact_options options = impact_defaults();
      options.samples = 16;
      for (int method = 0; method <= ODE_MLCP_IMPACT_SEARCH; method++) {
        options.method = (ode_mlcp_impact_method)method;
        ode_mlcp_impact_set set = impact_set_of(impact, &options);
        CU_ASSERT_EQUAL(set.n_outcomes, 16);
        CU_ASSERT_EQUAL(set.n_rows, 3);
        CU_ASSERT_EQUAL(set.n_fallbacks, 0);
        for (uint64_t i = 0; i < set.n_outcomes; i++)
          for (int j = 0; j < 3; j++)
            worst_of_sets = fmax(
                worst_of_sets,
                fabs(set.contact_velocities[3 * i + (uint64_t)j] - rows[j]));
        ode_mlcp_impact_set_release(&set);
      }
    }
    ode_mlcp_impact_destroy(impact);
  }
  CU_ASSERT(worst < 1e-12);
  CU_ASSERT(worst_of_sets < 1e-9);
  // how unlike in its directions friction is
  CU_ASSERT(least >= mu[0] * push / mass * cos(M_PI / 4) - 1e-12);
}

/* ---- what is refused --------------------------------------------------- */

static void test_bad_problems(void) {
  impact_example example;
  impact_example_fill(&example, "rocking-block");
  char message[200];
  ode_mlcp_impact *impact;
  const struct {
    double *place, value;
    const char *word;
  } bad[] = {{&example.M[4], -1, "positive definite"},
             {&example.M[1], 0.5, "symmetric"},
             {&example.M[8], NAN, "M(3, 3)"},
             {&example.Jn[4], INFINITY, "Jn(2, 2)"},
             {&example.Jt[0], NAN, "Jt(1, 1)"},
             {&example.mu[1], -0.5, "mu"},
             {&example.v[1], NAN, "v(2, 1)"},
             // finite, but what they make is not
             {&example.Jn[1], 1e200, "J M^-1 J'(1, 1)"}};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    double kept = *bad[k].place;
    *bad[k].place = bad[k].value;
    CU_ASSERT_EQUAL(ode_mlcp_impact_create(&example.problem, &impact, message,
                                           sizeof message),
                    ODE_MLCP_IMPACT_BAD_INPUT);
    CU_ASSERT_PTR_NULL(impact);
    CU_ASSERT_PTR_NOT_NULL(strstr(message, bad[k].word));
    *bad[k].place = kept;
  }
  ode_mlcp_impact_problem problem = example.problem;
  problem.n_contacts = 0;
  CU_ASSERT_EQUAL(
      ode_mlcp_impact_create(&problem, &impact, message, sizeof message),
      ODE_MLCP_IMPACT_BAD_INPUT);
  problem = example.problem;
  problem.Jt = NULL;
  CU_ASSERT_EQUAL(ode_mlcp_impact_create(&problem, &impact, NULL, 0),
                  ODE_MLCP_IMPACT_BAD_INPUT);
  memset(example.Jn, 0, 3 * sizeof(double));
  CU_ASSERT_EQUAL(ode_mlcp_impact_create(&example.problem, &impact, message,
                                         sizeof message),
                  ODE_MLCP_IMPACT_BAD_INPUT);
}

static void test_bad_options(void) {
  ready_example *it = open_example("rocking-block");
  const ode_mlcp_impact_options good = it->options;
  for (int k = 0; k < 7; k++) {
    it->options = good;
    switch (k) {
      case 0: it->options.h = -1; break;
      case 1: it->options.h = NAN; break;
      case 2: it->options.steps = -1; break;
      case 3: it->options.tolerance = -1; break;
      case 4: it->options.epsilon = it->options.h; break;
      case 5: it->options.threads = 0; break;
      default: it->options.first = UINT64_MAX; // and some more
    }
    ode_mlcp_impact_set set;
    double v[3] = {7, 7, 7};
    CU_ASSERT_EQUAL(ode_mlcp_impact_approximate(it->impact, &it->options, &set),
                    ODE_MLCP_IMPACT_BAD_INPUT);
    CU_ASSERT_EQUAL(set.n_outcomes, 0);
    CU_ASSERT_EQUAL(ode_mlcp_impact_sim(it->impact, &it->options, 0, v, NULL),
                    ODE_MLCP_IMPACT_BAD_INPUT);
    CU_ASSERT_EQUAL(v[0], 7);
  }
  close_example(it);
}

/* Nothing approaches: the set is the velocity before, after no LCP. */
static void test_no_collision(void) {
  ready_example *it = open_example("rocking-block");
  ode_mlcp_impact_destroy(it->impact);
  it->example.v[1] = 0.5;
  ode_mlcp_impact_create(&it->example.problem, &it->impact, NULL, 0);
  it->options.samples = 10;
  ode_mlcp_impact_set set = impact_set_of(it->impact, &it->options);
  CU_ASSERT_EQUAL(set.n_outcomes, 10);
  CU_ASSERT_EQUAL(set.n_lcps, 0);
  CU_ASSERT_EQUAL(memcmp(set.v, it->example.v, 3 * sizeof(double)), 0);
  ode_mlcp_impact_set_release(&set);
  close_example(it);
}

int main(void) {
  CU_TestInfo tests[] = {
      {"philox known answers", test_philox_known_answers},
      {"thread counts give the same bits",
       test_thread_counts_give_the_same_bits},
      {"ranges are parts of the whole", test_ranges_are_parts_of_the_whole},
      {"searches end with their work", test_searches_end_with_their_work},
      {"sim is a sample of the set", test_sim_is_a_sample_of_the_set},
      {"ways lead from start to end", test_ways_lead_from_start_to_end},
      {"nothing unfinished is an outcome",
       test_nothing_unfinished_is_an_outcome},
      {"an interrupt keeps what was done",
       test_an_interrupt_keeps_what_was_done},
      {"a distribution of one's own", test_a_distribution_of_ones_own},
      {"friction of a pyramid", test_pyramid},
      {"friction without limit", test_friction_without_limit},
      {"bad problems", test_bad_problems},
      {"bad options", test_bad_options},
      {"no collision", test_no_collision},
      CU_TEST_INFO_NULL};
  return run_tests("impacts: sets", tests);
}
