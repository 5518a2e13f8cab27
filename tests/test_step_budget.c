/* A budget bounds what the steps of any scene cost, whatever it is set to, and how
 * little it is, it brings no energy; every solve is counted once by its outcome and once
 * by its stage. */
#include <math.h>
#include <string.h>

#include "../demos/scenes/scene.h"
#include "host_testing.h"
#include "never_worse_world.h"
#include "ode_mlcp.h"

typedef scene *scene_builder(double size, double parameter);

static scene *wall(double rows, double unused) {
  (void)unused;
  return scene_wall((int)rows);
}

static scene *stack(double boxes, double ratio) {
  return scene_stack((int)boxes, ratio);
}

static scene *pit(double bodies, double mu) {
  scene *built = scene_pit((int)bodies);
  if (built != NULL) built->surface.mu = mu;
  return built;
}

static scene *chain(double links, double unused) {
  (void)unused;
  return scene_lying_chain((int)links);
}

static const struct {
  scene_builder *build;
  double size, parameter, step_size;
} scenes[] = {{wall, 5, 0, 0.01},      {stack, 8, 1e6, 0.01},
              {stack, 6, 1e-4, 0.002}, {pit, 18, 0.3, 0.02},
              {pit, 27, 1.5, 0.005},   {chain, 20, 0, 0.01}};
enum {
  N_SCENES = sizeof scenes / sizeof scenes[0],
  SWEEPS = 20 /* units: three solves' sweeps of few rows */
};

/* Sums over the steps of a scene. */
typedef struct totals {
  long steps, solves, accepted, degraded, unsolved, ended, most_factorisations;
  double most_work, residual;
  double end[3]; /* of the last body */
} totals;

static totals run_passes(int k, double budget, ode_mlcp_scheme scheme,
                         int passes) {
  scene *s = scenes[k].build(scenes[k].size, scenes[k].parameter);
  CU_ASSERT_FATAL(s != NULL);
  ode_mlcp_options options = default_options();
  options.budget = budget;
  options.scheme = scheme;
  options.fixed_point = passes;
  CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(s->world, &options), ODE_MLCP_OK);
  totals sum;
  memset(&sum, 0, sizeof sum);
  for (int i = 0; i < 80; i++) {
    sum.steps += scene_step(s, dWorldStep, scenes[k].step_size) != 0;
    ode_mlcp_report r;
    ode_mlcp_last_report(s->world, &r);
    sum.solves += r.solves + r.pushes;
    sum.accepted += r.accepted;
    sum.degraded += r.degraded;
    sum.unsolved += r.unsolved;
    sum.ended += r.ended_warm + r.ended_continuation + r.ended_interior +
                 r.ended_pivots + r.ended_homotopy + r.ended_lemke;
    sum.most_work = fmax(sum.most_work, r.solver_work);
    sum.residual = fmax(sum.residual, r.residual);
    // an island's, in the mean: each has its budget
    long factorisations = r.factorisations / (r.islands > 0 ? r.islands : 1);
    if (factorisations > sum.most_factorisations)
      sum.most_factorisations = factorisations;
    // outcomes are named by the residual that is reported
    CU_ASSERT(r.residual <= 1e-7 || r.degraded > 0);
    CU_ASSERT(r.residual <= options.tolerance || r.accepted + r.degraded > 0);
    CU_ASSERT(r.unsolved <= r.degraded);
  }
  memcpy(sum.end, dBodyGetPosition(s->bodies[s->n_bodies - 1]), sizeof sum.end);
  for (int i = 0; i < 3; i++) CU_ASSERT(isfinite(sum.end[i]));
  scene_destroy(s);
  return sum;
}

static totals run(int k, double budget, ode_mlcp_scheme scheme) {
  return run_passes(k, budget, scheme, 0);
}

static void test_work_keeps_within_the_budget(void) {
  static const double budgets[] = {1, 5, 40, 300};
  for (int k = 0; k < N_SCENES; k++)
    for (int i = 0; i < 4; i++) {
      totals sum = run(k, budgets[i], ODE_MLCP_SCHEME_AH);
      CU_ASSERT_EQUAL(sum.steps, 80);
      CU_ASSERT(sum.solves > 0);
      CU_ASSERT_EQUAL(sum.ended, sum.solves);
      // what is left when it has ended is swept
      CU_ASSERT(sum.most_work <= budgets[i] + SWEEPS);
      totals again = run(k, budgets[i], ODE_MLCP_SCHEME_AH);
      CU_ASSERT(memcmp(&sum, &again, sizeof sum) == 0);
    }
}

/* A step's solves, of every event, round and half, take it together: one that has spent
 * its budget makes up the few that are left by products alone. */
static void test_work_of_a_whole_step_keeps_within_the_budget(void) {
  static const ode_mlcp_scheme schemes[] = {
      ODE_MLCP_SCHEME_GAP, ODE_MLCP_SCHEME_TRAPEZOID,
      ODE_MLCP_SCHEME_CONSERVING, ODE_MLCP_SCHEME_ST};
  for (int k = 0; k < N_SCENES; k++)
    for (int i = 0; i < 4; i++) {
      totals sum = run(k, 10, schemes[i]);
      CU_ASSERT_EQUAL(sum.steps, 80);
      CU_ASSERT(sum.most_work <= 10 + 4 + SWEEPS);
      // of many rows a body a factorisation is 0.44 of a unit; walls and pits are in
      // parts within an island
      bool whole = scenes[k].build == stack || scenes[k].build == chain;
      CU_ASSERT(!whole || sum.most_factorisations <= (10 + 4) / 0.44);
    }
}

/* A pass of st that ended with the budget is the last. */
static void test_passes_end_with_the_budget(void) {
  for (int k = 0; k < N_SCENES; k++) {
    if (scenes[k].build == pit) continue; // one pass has sweeps of many parts
    totals sum = run_passes(k, 10, ODE_MLCP_SCHEME_ST, 3);
    CU_ASSERT_EQUAL(sum.steps, 80);
    CU_ASSERT(sum.most_work <= 10 + 4 + SWEEPS);
  }
}

/* Balls in a pit, whose every step ends with its budget: what it ends with holds them, if
 * not to the last digit, and a second-order step leaves enough for it. */
static void test_heaps_do_not_sink_for_their_budget(void) {
  static const ode_mlcp_scheme schemes[] = {ODE_MLCP_SCHEME_AH,
                                            ODE_MLCP_SCHEME_TRAPEZOID,
                                            ODE_MLCP_SCHEME_CONSERVING};
  for (int i = 0; i < 3; i++) {
    int n_cut = 0;
    double deepest = 0; // of balls of 0.2 m, once they have met
    scene *s = pit(27, 1.5);
    CU_ASSERT_FATAL(s != NULL);
    ode_mlcp_options options = options_under(schemes[i]);
    options.budget = 20;
    options.measure = 1;
    CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(s->world, &options), ODE_MLCP_OK);
    for (int k = 0; k < 200; k++) {
      CU_ASSERT(scene_step(s, dWorldStep, 0.01));
      ode_mlcp_report r;
      ode_mlcp_last_report(s->world, &r);
      n_cut += r.not_converged || r.degraded > 0;
      if (k > 120) deepest = fmax(deepest, r.deepest_penetration);
    }
    CU_ASSERT(n_cut > 30);
    CU_ASSERT(deepest < 0.05);
    scene_destroy(s);
  }
}

/* Of bodies that nothing drives, on rigid contacts. Without corrections a step takes
 * energy out, whatever its impulses came to: where no answer is found, they are cut to
 * what does no work. (Springs push out what an unsolved step let in.) */
static void test_little_budgets_bring_no_energy(void) {
  static const double budgets[] = {1, 3, 10, 30};
  static drawn_world w;
  int n_worlds = 0;
  for (uint64_t seed = 0; seed < 40; seed++)
    for (int i = 0; i < 4; i++) {
      ode_mlcp_options options;
      draw_world(&w, seed, 1);
      if (!w.feedback && (w.surface.mode & dContactSoftCFM) == 0) {
        ode_mlcp_default_options(&options);
        options.scheme = ODE_MLCP_SCHEME_AP;
        options.budget = budgets[i];
        CU_ASSERT_EQUAL_FATAL(ode_mlcp_attach(w.world, &options), ODE_MLCP_OK);
        double start = world_energy(&w), most = start;
        for (int n = 0; n < w.n_steps; n++) {
          step_world(&w, n, false);
          most = fmax(most, world_energy(&w));
        }
        CU_ASSERT(world_is_whole(&w));
        CU_ASSERT(most - start <= 0.01 * w.start_energy);
        n_worlds++;
      }
      destroy_world(&w);
    }
  CU_ASSERT(n_worlds > 80);
}

static void test_default_leaves_nothing_degraded_here(void) {
  for (int k = 0; k < N_SCENES; k++) {
    totals sum = run(k, 300, ODE_MLCP_SCHEME_AH);
    CU_ASSERT_EQUAL(sum.degraded, 0);
    CU_ASSERT(sum.residual <= 1e-7);
  }
}

/* A million to one: rounding ends at some 1e-9, and that is no reason to spend a
 * budget in every step. */
static void test_mass_ratio_is_accepted_cheaply(void) {
  totals sum = run(1, 300, ODE_MLCP_SCHEME_AH);
  CU_ASSERT(sum.accepted > 0);
  CU_ASSERT(sum.most_work < 60);
}

int main(void) {
  const CU_TestInfo tests[] = {
      {"work keeps within the budget", test_work_keeps_within_the_budget},
      {"work of a whole step keeps within the budget",
       test_work_of_a_whole_step_keeps_within_the_budget},
      {"passes end with the budget", test_passes_end_with_the_budget},
      {"heaps do not sink for their budget",
       test_heaps_do_not_sink_for_their_budget},
      {"little budgets bring no energy", test_little_budgets_bring_no_energy},
      {"the default leaves nothing degraded here",
       test_default_leaves_nothing_degraded_here},
      {"mass ratio is accepted cheaply", test_mass_ratio_is_accepted_cheaply},
      {NULL, NULL},
  };
  return run_host_tests("step: budget", tests);
}
