#include "bench_families.h"

#include <math.h>
#include <stdlib.h>

#include "bench_clock.h"
#include "host_step.h"
#include "ode_mlcp.h"

static scene *build(const family_member *member) {
  scene *built = member->build(member);
  if (built == NULL) abort();
  // QuickStep shuffles its rows by the host's own random numbers
  dRandSetSeed(1);
  return built;
}

static void set(ode_mlcp_options *options, const char *name,
                const char *value) {
  if (value != NULL &&
      ode_mlcp_set_option(options, name, value, NULL, 0) != ODE_MLCP_OK)
    abort();
}

static double sum_of(const bench_result *result) {
  double sum = 0;
  for (int i = 0; i < result->n_times; i++) sum += result->times[i];
  return sum;
}

static void count(bench_result *result, const ode_mlcp_report *report) {
  if (report->contacts > result->contacts) result->contacts = report->contacts;
  result->residual = fmax(result->residual, report->residual);
  result->degraded += report->degraded > 0;
  result->accepted += report->degraded == 0 && report->accepted > 0;
  result->unsolved += report->unsolved > 0;
  result->factorisations += report->factorisations;
  result->pivots += report->pivots;
}

void family_by_ours(void *what, bench_result *result) {
  const family_run *run = what;
  const family_member *member = run->member;
  scene *scene = build(member);
  for (int i = 0; i < member->settles; i++)
    scene_step(scene, dWorldQuickStep, member->step_size);
  ode_mlcp_options options;
  ode_mlcp_default_options(&options);
  set(&options, "budget", run->budget);
  set(&options, "softness", run->softness);
  if (ode_mlcp_attach(scene->world, &options) != ODE_MLCP_OK) abort();
  int taken = 1;
  for (int i = member->settles; i < 0 && taken; i++)
    taken = scene_step(scene, dWorldStep, member->step_size);
  scene_state state;
  scene_state_create(&state, scene);
  size_t size = sizeof *state.numbers * (size_t)state.n_bodies;
  for (int i = 0; i < run->steps && taken; i++) {
    if (sum_of(result) > run->seconds) {
      snprintf(result->note, sizeof result->note, "%d of %d steps", i,
               run->steps);
      break;
    }
    scene_state_read(&state, scene);
    if (fwrite(state.numbers, size, 1, run->states) != 1) abort();
    fflush(run->states); // the next step may not end within the limit
    scene_collide(scene);
    double start = bench_seconds();
    taken = dWorldStep(scene->world, member->step_size);
    bench_add_time(result, bench_seconds() - start);
    ode_mlcp_report report;
    ode_mlcp_last_report(scene->world, &report);
    count(result, &report);
    result->unsolved += taken == 0;
  }
  if (!taken) snprintf(result->note, sizeof result->note, "a step failed");
}

void family_by_host(void *what, bench_result *result) {
  const family_run *run = what;
  scene *scene = build(run->member);
  scene_state state;
  scene_state_create(&state, scene);
  size_t size = sizeof *state.numbers * (size_t)state.n_bodies;
  if (run->sweeps > 0)
    dWorldSetQuickStepNumIterations(scene->world, run->sweeps);
  rewind(run->states);
  while (sum_of(result) <= run->seconds &&
         fread(state.numbers, size, 1, run->states) == 1) {
    scene_state_write(&state, scene);
    scene_collide(scene);
    double start = bench_seconds();
    int taken = run->sweeps > 0
                    ? dWorldQuickStep(scene->world, run->member->step_size)
                    : dWorldStep(scene->world, run->member->step_size);
    bench_add_time(result, bench_seconds() - start);
    result->unsolved += taken == 0;
  }
  result->residual = NAN;
}
