/* A set in words and as JSON. */
#include <math.h>
#include <stdlib.h>

#include "command/impact.h"
#include "impacts/impact.h"
#include "command/json.h"

const char *const impact_select_words[] = {[ODE_MLCP_IMPACT_FIRST] = "first",
                                           [ODE_MLCP_IMPACT_RANDOM] = "random",
                                           NULL};

/* From contact velocities to the nearest outcome, by that which differs most. */
static double distance_to_set(const ode_mlcp_impact_set *set,
                              const double rows[]) {
  size_t n = (size_t)set->n_rows;
  double nearest = INFINITY;
  for (uint64_t k = 0; k < set->n_outcomes; k++) {
    const double *outcome = &set->contact_velocities[k * n];
    double worst = 0;
    for (size_t i = 0; i < n && worst < nearest; i++)
      worst = fmax(worst, fabs(outcome[i] - rows[i]));
    nearest = fmin(nearest, worst);
  }
  return nearest;
}

static double ratio(double a, double b) { return b > 0 ? a / b : 0; }

/* Up to which normal impulse a contact's caps are drawn, N s. */
static double cap_of(const impact_result *result, int contact) {
  double cap = result->options.h;
  for (int i = 0; cap == 0 && i < result->impact->n_islands; i++) {
    const impact_island *island = &result->impact->islands[i];
    for (int k = 0; k < island->space.n_contacts; k++)
      if (island->contacts[k] == contact) return island->cap;
  }
  return cap;
}

/* Is there an impact at all? */
static bool approaches(const impact_result *result) {
  const contact_space *space = &result->impact->space;
  return contact_space_slowest(space, space->start) <
         -result->options.tolerance;
}

/* ---- what is printed ---- */

static void put_velocities(json *out, const impact_result *result,
                           const double rows[]) {
  char name[24];
  for (int i = 0; i < impact_row_count(result); i++) {
    impact_row_name(&result->input->problem, i, name);
    json_put(out, name, rows[i] + 0.0);
  }
}

static void put_shape(json *out, impact_result *result) {
  int n = impact_row_count(result);
  double *extents = malloc((size_t)n * 3 * sizeof *extents);
  if (extents == NULL) result->short_of_memory = true;
  bool some = extents != NULL && result->set.n_outcomes > 0;
  if (some) {
    ode_mlcp_impact_extents(&result->set, extents);
    ode_mlcp_impact_means(&result->set, extents + 2 * n);
  }
  json_open(out, "extents", '{');
  for (int i = 0; some && i < n; i++) {
    char name[24];
    impact_row_name(&result->input->problem, i, name);
    json_put_numbers(out, name, &extents[2 * i], 2);
  }
  json_close(out);
  json_open(out, "means", '{');
  if (some) put_velocities(out, result, extents + 2 * n);
  json_close(out);
  free(extents);
}

/* What another law ends at, which is counted as missed where it is further from all
 * samples than this much of the largest contact velocity. For a simultaneous
 * outcome: a sample with caps above its impulses would have met it but for
 * rounding. Sequences may end where samples come near but never to.
 * @return whether it is missed */
static bool put_law(json *out, const impact_result *result, const double v[]) {
  const double FAR = 1e-6, ROUNDING = 1e-12;
  double *rows = result->rows;
  ode_mlcp_impact_contact_velocities(result->impact, v, rows);
  for (int i = 0; i < impact_row_count(result); i++)
    if (fabs(rows[i]) <= ROUNDING * result->velocity_scale) rows[i] = 0;
  double distance = distance_to_set(&result->set, rows);
  put_velocities(out, result, rows);
  json_put(out, "distance", distance);
  return distance > FAR * result->velocity_scale;
}

static void put_simultaneous(json *out, const impact_result *result) {
  int n_missed = 0;
  json_open(out, "simultaneous", '[');
  for (int k = 0; k < result->n_simultaneous; k++) {
    json_open(out, NULL, '{');
    n_missed +=
        put_law(out, result,
                &result->simultaneous[k * result->input->problem.n_velocities]);
    json_close(out);
  }
  json_close(out);
  // samples are between the corners of a continuum, and seldom at one
  json_put_count(out, "simultaneous_missed",
                 result->simultaneous_spans ? 0 : n_missed);
  json_put_truth(out, "simultaneous_whole", result->simultaneous_whole);
  json_put_truth(out, "simultaneous_continuum", result->simultaneous_spans);
}

static void put_sequences(json *out, const impact_result *result) {
  int n_missed = 0;
  json_open(out, "sequential", '{');
  for (int k = 0; k < result->n_sequences; k++) {
    const impact_sequence *sequence = &result->sequences[k];
    json_open(out, sequence->order, '{');
    json_put_truth(out, "finished", sequence->finished);
    json_put_count(out, "impacts", sequence->n_impacts);
    n_missed += put_law(out, result, sequence->v) && sequence->finished;
    json_close(out);
  }
  json_close(out);
  json_put_count(out, "sequential_missed", n_missed);
}

static void put_caps(json *out, const impact_result *result) {
  const ode_mlcp_impact_problem *problem = &result->input->problem;
  json_open(out, "caps_up_to", '{');
  for (int i = 0; i < problem->n_contacts; i++) {
    char name[24];
    impact_row_name(problem, i * (1 + problem->n_tangents), name);
    json_put(out, name + 2, cap_of(result, i));
  }
  json_close(out);
}

void impact_print(FILE *file, impact_result *result, bool words) {
  const ode_mlcp_impact_set *set = &result->set;
  const ode_mlcp_impact_options *options = &result->options;
  json out = {.out = file, .words = words};
  json_open(&out, NULL, '{');
  json_put_string(&out, "example", result->input->name);
  json_put_size(&out, "samples", set->n_samples);
  json_put_size(&out, "finished", set->n_finished);
  json_put_size(&out, "unfinished", set->n_unfinished);
  json_put_size(&out, "failed", set->n_failed);
  json_put_size(&out, "outcomes", set->n_outcomes);
  json_put_size(&out, "lcps", set->n_lcps);
  double n_lcps = (double)set->n_lcps;
  json_put(&out, "lcps_per_sample", ratio(n_lcps, (double)set->n_samples));
  json_put(&out, "microseconds_per_lcp",
           ratio(1e6 * set->seconds * set->n_threads, n_lcps));
  json_put(&out, "solutions_per_lcp", ratio((double)set->n_solutions, n_lcps));
  json_put_size(&out, "incomplete_lcps", set->n_incomplete);
  json_put_size(&out, "continuum_lcps", set->n_continua);
  put_shape(&out, result);
  put_simultaneous(&out, result);
  put_sequences(&out, result);
  json_put_truth(&out, "approaches", approaches(result));
  put_caps(&out, result);
  json_put_size(&out, "seed", options->seed);
  json_put(&out, "h", options->h);
  json_put_count(&out, "steps", options->steps);
  json_put(&out, "tolerance", options->tolerance);
  json_put_string(&out, "select", impact_select_words[options->select]);
  json_put_size(&out, "first", options->first);
  json_put_truth(&out, "interrupted", result->interrupted);
  json_close(&out);
}
