/* The wobbling block of Halm & Posa 2023, sec. 4.3: it rocks from corner to
 * corner faster and faster and comes to rest in finite time after infinitely
 * many impacts.
 *
 * The time-augmented inclusion of their sec. 4 runs along s: in free motion s
 * grows with time and with the normal impulse, ds = (1 + lambda_n) dt, and
 * during an impact time stands still and s grows with the normal impulse. Free
 * motion is integrated here, impacts are sampled by the library with small
 * caps, all on the corner that strikes. */
#include "testing.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "impact_example.h"
#include "ode_mlcp_impacts.h"

static const double g = 9.81, mass = 1, width = 1, height = 2;

/* Where the inclusion is. */
typedef struct state {
  double t, s;
  double rate; /* of turning about the corner it stands on, rad/s, >= 0 */
} state;

/* The way so far, for the picture (HP fig. 8). */
enum { MOST_POINTS = 20000 };
typedef struct point {
  double t, s, angle, rate;
  double slowing;            /* dt/ds */
  double lambda_A, lambda_B; /* d(impulse)/ds */
} point;
static point way[MOST_POINTS];
static int n_points;

/* A point of half cycle k: the block stands on A in the even ones and leans the
 * other way in the odd ones. `lambda` is the standing corner's force. */
static void note(int k, double t, double s, double angle, double rate,
                 double lambda) {
  if (n_points == MOST_POINTS) return;
  double side = k % 2 == 0 ? 1 : -1, share = lambda / (1 + lambda);
  way[n_points++] = (point){t,
                            s,
                            side * angle,
                            side * rate,
                            1 / (1 + lambda),
                            k % 2 == 0 ? share : 0,
                            k % 2 == 0 ? 0 : share};
}

/* The impact that ends half cycle k: time stands still while the other corner
 * takes an impulse n. */
static void note_impact(int k, const state *before, double n, double kept) {
  if (n_points + 2 > MOST_POINTS) return;
  double side = k % 2 == 0 ? 1 : -1;
  for (int end = 0; end < 2; end++)
    way[n_points++] = (point){before->t,
                              before->s + end * n,
                              0,
                              -side * before->rate * (end == 0 ? 1 : kept),
                              0,
                              k % 2 == 0 ? 0 : 1,
                              k % 2 == 0 ? 1 : 0};
}

/* d(t, theta, s)/d(rate) of the block turning about a corner; returns that
 * corner's normal force. */
static double turn(const double at[3], double rate, double slope[3]) {
  double r = hypot(width, height) / 2, alpha = atan2(height, width);
  double about_corner =
      mass * (width * width + height * height) / 12 + mass * r * r;
  double angle = at[1] + alpha;
  double acceleration = -mass * g * r * cos(angle) / about_corner;
  double lambda_n =
      mass * (g + r * (cos(angle) * acceleration - sin(angle) * rate * rate));
  slope[0] = 1 / acceleration;
  slope[1] = rate / acceleration;
  slope[2] = (1 + lambda_n) / acceleration;
  return lambda_n;
}

/* Free motion from standing flat to standing flat again: up until the rate is
 * 0, by Runge & Kutta's method in the rate, and down the same way back. */
static void fly(state *state, int half_cycle, double *highest) {
  enum { STEPS = 400, NOTED = 40 };
  double at[3] = {0, 0, 0}, step = -state->rate / STEPS;
  double noted[NOTED][5];
  for (int k = 0; k < STEPS; k++) {
    double rate = state->rate + k * step, slopes[4][3], probe[3];
    double lambda_n = turn(at, rate, slopes[0]);
    if (k % (STEPS / NOTED) == 0) {
      double *to = noted[k / (STEPS / NOTED)];
      memcpy(to, at, sizeof at);
      to[3] = rate;
      to[4] = lambda_n;
    }
    for (int i = 0; i < 3; i++) probe[i] = at[i] + step / 2 * slopes[0][i];
    turn(probe, rate + step / 2, slopes[1]);
    for (int i = 0; i < 3; i++) probe[i] = at[i] + step / 2 * slopes[1][i];
    turn(probe, rate + step / 2, slopes[2]);
    for (int i = 0; i < 3; i++) probe[i] = at[i] + step * slopes[2][i];
    turn(probe, rate + step, slopes[3]);
    for (int i = 0; i < 3; i++)
      at[i] +=
          step / 6 *
          (slopes[0][i] + 2 * slopes[1][i] + 2 * slopes[2][i] + slopes[3][i]);
  }
  for (int k = 0; k < 2 * NOTED; k++) { // up, and down the same way
    const double *from = noted[k < NOTED ? k : 2 * NOTED - 1 - k];
    bool up = k < NOTED;
    note(half_cycle, state->t + (up ? from[0] : 2 * at[0] - from[0]),
         state->s + (up ? from[2] : 2 * at[2] - from[2]), from[1],
         up ? from[3] : -from[3], from[4]);
  }
  state->t += 2 * at[0];
  state->s += 2 * at[2];
  *highest = at[1];
}

/* Caps of half a thousandth of the striking corner's impulse, none to speak of
 * on the other one. */
static void strike_B(void *context, uint64_t seed, uint64_t sample, int step,
                     int n_contacts, double lambda_max[]) {
  (void)seed;
  (void)sample;
  (void)step;
  (void)n_contacts;
  lambda_max[0] = 1e-15;
  lambda_max[1] = *(double *)context;
}

/* The impact at the other corner when the block, turning about A, falls flat;
 * n and t out: the impulse there. */
static void strike(state *state, double *n, double *t) {
  impact_example block;
  impact_example_fill(&block, "rocking-block");
  double rate = -state->rate,
         before[3] = {-rate * height / 2, rate * width / 2, rate};
  memcpy(block.v, before, sizeof before);
  ode_mlcp_impact *impact;
  ode_mlcp_impact_options options;
  ode_mlcp_impact_default_options(&options);
  double cap = 5e-4 * state->rate, after[3];
  options.h = cap;
  options.steps = 5000;
  options.tolerance = 1e-9 * state->rate;
  options.draw = strike_B;
  options.draw_context = &cap;
  CU_ASSERT_EQUAL_FATAL(
      ode_mlcp_impact_create(&block.problem, &impact, NULL, 0),
      ODE_MLCP_IMPACT_DONE);
  int n_steps;
  CU_ASSERT_EQUAL_FATAL(
      ode_mlcp_impact_sim(impact, &options, 0, after, &n_steps),
      ODE_MLCP_IMPACT_DONE);
  CU_ASSERT(n_steps > 1000);
  *n = mass * (after[1] - before[1]);
  *t = mass * (after[0] - before[0]);
  // it now turns about B, which rests; A lifts off
  double rows[4];
  ode_mlcp_impact_contact_velocities(impact, after, rows);
  CU_ASSERT(fabs(rows[2]) < 1e-8 * state->rate);
  CU_ASSERT(fabs(rows[3]) < 1e-8 * state->rate);
  CU_ASSERT(rows[0] > 0.5 * state->rate);
  ode_mlcp_impact_destroy(impact);
  state->s += *n; // time stands still
  state->rate = -after[2];
}

static bool near(double a, double b, double tolerance) {
  return fabs(a - b) <= tolerance;
}

static void test_zeno_block(void) {
  state state = {0, 0, 1};
  for (int k = 0; k < 60; k++) {
    double before = state.rate, highest, n, t;
    fly(&state, k, &highest);
    if (k == 0) {
      CU_ASSERT(near(highest, 0.219759391, 1e-9));
      CU_ASSERT(near(state.t, 0.987327807, 1e-9));
      CU_ASSERT(near(state.s, 9.673013597, 1e-8));
    }
    const struct state falls = state;
    strike(&state, &n, &t);
    note_impact(k, &falls, n, state.rate / falls.rate);
    // each half cycle keeps 0.7 of the rate
    CU_ASSERT(near(state.rate / before, 0.7, 1e-8));
    CU_ASSERT(near(n / before, 0.85, 1e-8));
    CU_ASSERT(near(fabs(t) / before, 0.3, 1e-8));
    if (k == 0) CU_ASSERT(near(state.s, 10.523013597, 1e-8));
  }
  CU_ASSERT(state.rate < 1e-9);
  CU_ASSERT(near(state.t, 2.671421398, 1e-7));
  CU_ASSERT(near(state.s, 28.378065316, 1e-6));
  // the closed form
  CU_ASSERT(near(state.s, (1 + g) * state.t - 0.5, 1e-6));
}

/* Least and most of the rate that a falling block keeps, over a set. */
static void kept_rates(double mu, double *least, double *most) {
  impact_example block;
  impact_example_fill(&block, "rocking-block");
  const double before[3] = {height / 2, -width / 2, -1};
  memcpy(block.v, before, sizeof before);
  block.mu[0] = block.mu[1] = mu;
  ode_mlcp_impact *impact;
  ode_mlcp_impact_options options;
  ode_mlcp_impact_set set;
  ode_mlcp_impact_default_options(&options);
  options.samples = 1000;
  options.h = 0.3;
  options.steps = 100;
  ode_mlcp_impact_create(&block.problem, &impact, NULL, 0);
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_impact_approximate(impact, &options, &set),
                        ODE_MLCP_IMPACT_DONE);
  CU_ASSERT_EQUAL(set.n_outcomes, 1000);
  *least = INFINITY;
  *most = -INFINITY;
  for (uint64_t k = 0; k < set.n_outcomes; k++) {
    *least = fmin(*least, -set.v[3 * k + 2]);
    *most = fmax(*most, -set.v[3 * k + 2]);
  }
  ode_mlcp_impact_set_release(&set);
  ode_mlcp_impact_destroy(impact);
}

/* Any order of impulses keeps 0.7: the corner that carried the block lifts off
 * at once. Negative control: that takes friction of 0.3/0.85 at least. */
static void test_the_order_does_not_matter_here(void) {
  double least, most;
  kept_rates(1, &least, &most);
  CU_ASSERT(near(least, 0.7, 1e-9) && near(most, 0.7, 1e-9));
  kept_rates(0.36, &least, &most);
  CU_ASSERT(near(least, 0.7, 1e-9) && near(most, 0.7, 1e-9));
  kept_rates(0.2, &least, &most);
  CU_ASSERT(fabs(most - 0.7) > 0.01 || fabs(least - 0.7) > 0.01);
}

/* ---- as a table ---- */

static int write_way(const char *path) {
  FILE *csv = fopen(path, "w");
  if (csv == NULL) return 1;
  fputs("t (s),s,angle (rad),rate (rad/s),dt/ds,lambda A,lambda B\n", csv);
  for (int k = 0; k < n_points; k++) {
    const point *p = &way[k];
    fprintf(csv, "%.10g,%.10g,%.10g,%.10g,%.10g,%.10g,%.10g\n", p->t, p->s,
            p->angle, p->rate, p->slowing, p->lambda_A, p->lambda_B);
  }
  return fclose(csv) != 0;
}

int main(int argc, char **argv) {
  CU_TestInfo tests[] = {
      {"zeno block", test_zeno_block},
      {"the order does not matter here", test_the_order_does_not_matter_here},
      CU_TEST_INFO_NULL};
  int status = run_tests("impacts: zeno", tests);
  if (argc > 1 && write_way(argv[1]) != 0) status = 1;
  return status;
}
