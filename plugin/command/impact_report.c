/* A set as text and as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/impact.h"
#include "impacts/impact.h"
#include "common/number.h"
#include "command/json.h"

const char *const impact_select_words[] = {[ODE_MLCP_IMPACT_FIRST] = "first",
                                           [ODE_MLCP_IMPACT_RANDOM] = "random",
                                           NULL};

const char *const impact_method_words[] = {
    [ODE_MLCP_IMPACT_AUTOMATIC] = "automatic",
    [ODE_MLCP_IMPACT_MODES] = "modes",
    [ODE_MLCP_IMPACT_PATH] = "path",
    [ODE_MLCP_IMPACT_SEARCH] = "search",
    NULL};

/* What is printed with six digits behind the point: 0 where that would be -0. */
static double six_digits_of(double x) { return x > -5e-7 && x <= 0 ? 0 : x; }

static double lcps_per_sample(const ode_mlcp_impact_set *set) {
  return set->n_samples > 0 ? (double)set->n_lcps / (double)set->n_samples : 0;
}

static double microseconds_per_lcp(const impact_result *result) {
  return result->set.n_lcps > 0
             ? 1e6 * result->cpu_seconds / (double)result->set.n_lcps
             : 0;
}

static double solutions_per_lcp(const ode_mlcp_impact_set *set) {
  return set->n_lcps > 0 ? (double)set->n_solutions / (double)set->n_lcps : 0;
}

static double far_from_set(const impact_result *result) {
  return IMPACT_MISSED * result->velocity_scale;
}

int impact_sequential_missed(const impact_result *result) {
  double far = far_from_set(result);
  int n_missed = 0;
  for (int k = 0; k < result->n_sequences; k++)
    n_missed +=
        result->sequences[k].finished && result->sequences[k].distance > far;
  return n_missed;
}

int impact_simultaneous_missed(const impact_result *result) {
  double far = far_from_set(result);
  int n_missed = 0;
  for (int k = 0; k < result->n_simultaneous; k++)
    n_missed += result->simultaneous_distance[k] > far;
  // samples are between the corners of a continuum, and seldom at one
  return result->simultaneous_spans ? 0 : n_missed;
}

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

static int by_number(const void *a, const void *b) {
  const uint64_t *p = a, *q = b;
  return (*p > *q) - (*p < *q);
}

double impact_share_seen(const ode_mlcp_impact_set *set) {
  enum { PARTS = 32 };
  size_t n = (size_t)set->n_outcomes, n_rows = (size_t)set->n_rows;
  uint64_t *cells = malloc((n + 1) * sizeof *cells);
  double *extents = malloc(2 * n_rows * sizeof *extents);
  double share = NAN;
  if (n > 0 && cells != NULL && extents != NULL) {
    ode_mlcp_impact_extents(set, extents);
    for (size_t k = 0; k < n; k++) {
      uint64_t cell = 0xcbf29ce484222325u; // a cell by its hash
      for (size_t i = 0; i < n_rows; i++) {
        double low = extents[2 * i], width = extents[2 * i + 1] - low;
        double at = set->contact_velocities[k * n_rows + i] - low;
        uint64_t part = width > 0 ? (uint64_t)(at / width * PARTS) : 0;
        cell = (cell ^ (part < PARTS ? part : PARTS - 1)) * 0x100000001b3u;
      }
      cells[k] = cell;
    }
    qsort(cells, n, sizeof *cells, by_number);
    size_t n_alone = 0;
    for (size_t k = 0; k < n; k++)
      n_alone += (k == 0 || cells[k - 1] != cells[k]) &&
                 (k + 1 == n || cells[k + 1] != cells[k]);
    share = 1 - (double)n_alone / (double)n;
  }
  free(cells);
  free(extents);
  return share;
}

static double share_seen(impact_result *result) {
  double share = impact_share_seen(&result->set);
  if (isnan(share) && result->set.n_outcomes > 0)
    result->short_of_memory = true;
  return share;
}

/* ---- text -------------------------------------------------------------- */

static void print_velocities(FILE *out, const impact_result *result,
                             const double rows[]) {
  char name[24];
  for (int i = 0; i < impact_row_count(result); i++) {
    impact_row_name(&result->input->problem, i, name);
    fprintf(out, " %s %.6g", name, rows[i] + 0.0);
  }
  fputc('\n', out);
}

static void print_sequence(FILE *out, const impact_result *result,
                           const impact_sequence *sequence) {
  fprintf(out,
          "  %s.. %s after %d impacts, %.1e m/s from the set:", sequence->order,
          sequence->finished ? "ends" : "does not end", sequence->n_impacts,
          sequence->distance);
  print_velocities(
      out, result,
      &sequence->way[sequence->n_impacts * impact_row_count(result)]);
}

void impact_print_text(FILE *out, impact_result *result) {
  const ode_mlcp_impact_set *set = &result->set;
  const ode_mlcp_impact_problem *problem = &result->input->problem;
  const ode_mlcp_impact_options *options = &result->options;
  fprintf(out, "%s: %d contacts, %d velocities\n", result->input->name,
          problem->n_contacts, problem->n_velocities);
  double least = INFINITY, most = 0;
  for (int i = 0; i < problem->n_contacts; i++) {
    least = fmin(least, cap_of(result, i));
    most = fmax(most, cap_of(result, i));
  }
  fprintf(out, "seed %" PRIu64 ", caps up to %.6g", options->seed, least);
  if (most > least) fprintf(out, " .. %.6g (by island)", most);
  fprintf(out, " N s, at most %d + 1 steps, select %s\n", options->steps,
          impact_select_words[options->select]);
  if (!approaches(result))
    fputs(
        "nothing approaches: the only outcome is the velocity that was given\n",
        out);
  fprintf(out,
          "samples %" PRIu64 "%s, finished %" PRIu64 ", unfinished %" PRIu64
          ", outcomes %" PRIu64 "\n",
          set->n_samples, result->interrupted ? " (interrupted)" : "",
          set->n_finished, set->n_unfinished, set->n_outcomes);
  if (set->n_failed > 0)
    fprintf(out,
            "of the unfinished %" PRIu64
            " met a step that no method solved; the others still collided "
            "after all steps\n",
            set->n_failed);
  fprintf(out, "%.4f LCPs a sample, %.3f us an LCP\n", lcps_per_sample(set),
          microseconds_per_lcp(result));
  fprintf(out, "%.4f solutions met an LCP", solutions_per_lcp(set));
  if (set->n_incomplete > 0)
    fprintf(out, "; %" PRIu64 " LCPs may have more", set->n_incomplete);
  if (set->n_continua > 0)
    fprintf(out, "; of %" PRIu64 " LCPs solutions are a continuum",
            set->n_continua);
  double share = share_seen(result);
  if (share >= 0)
    fprintf(out, "; about %.4f of the outcomes' distribution seen", share);
  fputc('\n', out);

  double *extents =
      malloc((size_t)impact_row_count(result) * 3 * sizeof *extents);
  if (extents == NULL) result->short_of_memory = true;
  if (extents != NULL && set->n_outcomes > 0) {
    double *means = extents + 2 * impact_row_count(result);
    ode_mlcp_impact_extents(set, extents);
    ode_mlcp_impact_means(set, means);
    fputs(
        "contact velocities after the impact, m/s\n"
        "          lowest       mean    highest\n",
        out);
    for (int i = 0; i < impact_row_count(result); i++) {
      char name[24];
      impact_row_name(problem, i, name);
      fprintf(out, "  %-5s %10.6f %10.6f %10.6f\n", name,
              six_digits_of(extents[2 * i]), six_digits_of(means[i]),
              six_digits_of(extents[2 * i + 1]));
    }
  }
  free(extents);
  fprintf(out, "simultaneous (Anitescu & Potra): %d%s, %d missed by the set\n",
          result->n_simultaneous,
          !result->simultaneous_whole  ? " found, more may exist"
          : result->simultaneous_spans ? " corners of a continuum"
                                       : "",
          impact_simultaneous_missed(result));
  for (int k = 0; k < result->n_simultaneous; k++) {
    fprintf(out, "  %.1e m/s from the set:", result->simultaneous_distance[k]);
    print_velocities(out, result,
                     &result->simultaneous[k * impact_row_count(result)]);
  }
  fprintf(out, "one after another: %d, %d missed by the set\n",
          result->n_sequences, impact_sequential_missed(result));
  for (int k = 0; k < result->n_sequences; k++)
    print_sequence(out, result, &result->sequences[k]);
}

/* ---- JSON -------------------------------------------------------------- */

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

static void put_truth(json *out, const char *key, bool value) {
  json_put_word(out, key, value ? "true" : "false");
}

static void put_simultaneous(json *out, const impact_result *result) {
  json_open(out, "simultaneous", '[');
  for (int k = 0; k < result->n_simultaneous; k++) {
    json_open(out, NULL, '{');
    put_velocities(out, result,
                   &result->simultaneous[k * impact_row_count(result)]);
    json_put(out, "distance", result->simultaneous_distance[k]);
    json_close(out);
  }
  json_close(out);
  json_put_count(out, "simultaneous_missed",
                 impact_simultaneous_missed(result));
  put_truth(out, "simultaneous_whole", result->simultaneous_whole);
  put_truth(out, "simultaneous_continuum", result->simultaneous_spans);
}

static void put_sequences(json *out, const impact_result *result) {
  json_open(out, "sequential", '{');
  for (int k = 0; k < result->n_sequences; k++) {
    const impact_sequence *sequence = &result->sequences[k];
    json_open(out, sequence->order, '{');
    put_truth(out, "finished", sequence->finished);
    json_put_count(out, "impacts", sequence->n_impacts);
    json_put(out, "distance", sequence->distance);
    put_velocities(
        out, result,
        &sequence->way[sequence->n_impacts * impact_row_count(result)]);
    json_close(out);
  }
  json_close(out);
  json_put_count(out, "sequential_missed", impact_sequential_missed(result));
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

void impact_print_json(FILE *file, impact_result *result) {
  const ode_mlcp_impact_set *set = &result->set;
  const ode_mlcp_impact_options *options = &result->options;
  json out = {.out = file};
  json_open(&out, NULL, '{');
  json_put_string(&out, "example", result->input->name);
  json_put_size(&out, "samples", set->n_samples);
  json_put_size(&out, "finished", set->n_finished);
  json_put_size(&out, "unfinished", set->n_unfinished);
  json_put_size(&out, "failed", set->n_failed);
  json_put_size(&out, "outcomes", set->n_outcomes);
  json_put_size(&out, "lcps", set->n_lcps);
  json_put(&out, "lcps_per_sample", lcps_per_sample(set));
  json_put(&out, "microseconds_per_lcp", microseconds_per_lcp(result));
  json_put(&out, "solutions_per_lcp", solutions_per_lcp(set));
  json_put_size(&out, "incomplete_lcps", set->n_incomplete);
  json_put_size(&out, "continuum_lcps", set->n_continua);
  json_put(&out, "share_seen", share_seen(result));
  json_put_string(&out, "share_seen_by",
                  "Good-Turing, contact velocities cut into 32");
  put_shape(&out, result);
  put_simultaneous(&out, result);
  put_sequences(&out, result);
  put_truth(&out, "approaches", approaches(result));
  put_caps(&out, result);
  json_put_size(&out, "seed", options->seed);
  json_put(&out, "h", options->h);
  json_put_count(&out, "steps", options->steps);
  json_put(&out, "tolerance", options->tolerance);
  json_put_string(&out, "select", impact_select_words[options->select]);
  json_put_size(&out, "first", options->first);
  put_truth(&out, "interrupted", result->interrupted);
  json_close(&out);
}
