/* Sets as CSV, and shards of a set put together again.
 *
 * A file begins with comment lines that say which set it is a part of, by
 * which merging checks that parts belong together. Numbers have all digits, so
 * that a merged set is the single run's, bit for bit, and so is its file. Only
 * parts hold their time: two runs never take the same. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/arguments.h"
#include "command/impact.h"
#include "preload/output_file.h"

#define SIGNATURE "# ode-mlcp impact set, version 2"

static bool is_part(const impact_result *result) {
  return result->options.n_shards > 1 || result->interrupted;
}

static void write_header(FILE *out, const impact_result *result,
                         const ode_mlcp_impact_set *set) {
  const ode_mlcp_impact_options *options = &result->options;
  const ode_mlcp_impact_problem *problem = &result->input->problem;
  fprintf(out, SIGNATURE "\n# example %s\n", result->input->name);
  fprintf(out, "# data %016" PRIx64, result->input->fingerprint);
  if (result->input->n_edges != 4)
    fprintf(out, " edges %d", result->input->n_edges);
  fputc('\n', out);
  fprintf(out,
          "# seed %" PRIu64 " samples %" PRIu64
          " h %.17g steps %d "
          "tolerance %.17g select %s method %s caps %s\n",
          options->seed, options->samples, options->h, options->steps,
          options->tolerance, impact_select_words[options->select],
          impact_method_words[options->method],
          impact_caps_words[options->caps]);
  fprintf(out, "# shard %" PRIu32 "/%" PRIu32 "\n",
          options->shard % options->n_shards, options->n_shards);
  fprintf(out,
          "# done %" PRIu64 " finished %" PRIu64 " lcps %" PRIu64
          " outcomes %" PRIu64 " failed %" PRIu64 " solutions %" PRIu64
          " incomplete %" PRIu64 "\n",
          set->n_samples, set->n_finished, set->n_lcps, set->n_outcomes,
          set->n_failed, set->n_solutions, set->n_incomplete);
  if (is_part(result)) fprintf(out, "# seconds %.17g\n", result->cpu_seconds);

  fputs("sample,lcps", out);
  char name[24];
  for (int i = 0; i < set->n_rows; i++) {
    impact_row_name(problem, i, name);
    fprintf(out, ",%s", name);
  }
  for (int i = 0; i < set->n_velocities; i++) fprintf(out, ",v%d", i + 1);
  fputc('\n', out);
}

bool impact_csv_write(const char *path, const impact_result *result,
                      const ode_mlcp_impact_set *set,
                      char message[IMPACT_MESSAGE]) {
  // whole or not at all; a device is written to as it is
  struct stat there;
  bool is_file = stat(path, &there) != 0 || S_ISREG(there.st_mode);
  char draft[4200];
  snprintf(draft, sizeof draft, is_file ? "%.4000s.%ld.part" : "%.4000s", path,
           (long)getpid());
  FILE *out = fopen(draft, "w");
  if (out == NULL) {
    snprintf(message, IMPACT_MESSAGE, "%.400s: %s", path, strerror(errno));
    return false;
  }
  write_header(out, result, set);
  for (uint64_t k = 0; k < set->n_outcomes; k++) {
    fprintf(out, "%" PRIu64 ",%" PRIu32, set->sample[k], set->lcps[k]);
    for (int i = 0; i < set->n_rows; i++)
      fprintf(out, ",%.17g",
              set->contact_velocities[k * (uint64_t)set->n_rows + (uint64_t)i]);
    for (int i = 0; i < set->n_velocities; i++)
      fprintf(out, ",%.17g",
              set->v[k * (uint64_t)set->n_velocities + (uint64_t)i]);
    fputc('\n', out);
  }
  bool failed = ferror(out) != 0;
  if (fclose(out) != 0) failed = true;
  if (!failed && is_file) failed = rename(draft, path) != 0;
  if (failed) {
    snprintf(message, IMPACT_MESSAGE, "%.400s: %s", path, strerror(errno));
    (void)output_file_remove(draft); /* no half file */
  }
  return !failed;
}

/* ---- reading a part ---------------------------------------------------- */

typedef struct part {
  const char *path;
  FILE *file;
  long line;
  char *text; /* current line, from getline */
  size_t text_size;
  char example[256];
  uint64_t data, seed, samples;
  double h, tolerance, seconds;
  int steps, n_edges; /* 0: not told, the usual 4 */
  char select[16], method[16], caps[16];
  uint32_t shard, n_shards;
  uint64_t done, finished, lcps, outcomes, failed, solutions, incomplete;
} part;

static bool refuse(const part *part, char message[IMPACT_MESSAGE],
                   const char *what) {
  snprintf(message, IMPACT_MESSAGE, "%.300s:%ld: %s", part->path, part->line,
           what);
  return false;
}

static bool next_line(part *part) {
  ssize_t length = getline(&part->text, &part->text_size, part->file);
  if (length < 0) return false;
  part->line++;
  if (length > 0 && part->text[length - 1] == '\n') part->text[length - 1] = 0;
  return true;
}

static bool read_header(part *part, char message[IMPACT_MESSAGE]) {
  bool ours =
      next_line(part) && strcmp(part->text, SIGNATURE) == 0 &&
      next_line(part) &&
      sscanf(part->text, "# example %255[^\n]", part->example) == 1 &&
      next_line(part) &&
      sscanf(part->text, "# data %" SCNx64 " edges %d", &part->data,
             &part->n_edges) >= 1 &&
      next_line(part) &&
      sscanf(part->text,
             "# seed %" SCNu64 " samples %" SCNu64
             " h %lf steps %d "
             "tolerance %lf select %15s method %15s caps %15s",
             &part->seed, &part->samples, &part->h, &part->steps,
             &part->tolerance, part->select, part->method, part->caps) == 8 &&
      next_line(part) &&
      sscanf(part->text, "# shard %" SCNu32 "/%" SCNu32, &part->shard,
             &part->n_shards) == 2 &&
      part->n_shards > 0 && part->shard < part->n_shards && next_line(part) &&
      sscanf(part->text,
             "# done %" SCNu64 " finished %" SCNu64 " lcps %" SCNu64
             " outcomes %" SCNu64 " failed %" SCNu64 " solutions %" SCNu64
             " incomplete %" SCNu64,
             &part->done, &part->finished, &part->lcps, &part->outcomes,
             &part->failed, &part->solutions, &part->incomplete) == 7 &&
      next_line(part) &&
      (sscanf(part->text, "# seconds %lf", &part->seconds) != 1 ||
       next_line(part)) &&
      isfinite(part->h) && isfinite(part->tolerance) && isfinite(part->seconds);
  if (!ours)
    return refuse(part, message, "not a whole file of ode-mlcp impact --csv");
  struct stat file;
  const uint64_t LEAST = 4; /* bytes of an outcome's line */
  if (fstat(fileno(part->file), &file) == 0 && S_ISREG(file.st_mode) &&
      part->outcomes > (uint64_t)file.st_size / LEAST)
    return refuse(part, message, "more outcomes than the file has room for");
  uint64_t expected =
      part->shard < part->samples
          ? (part->samples - part->shard - 1) / part->n_shards + 1
          : 0;
  if (part->done != expected)
    return refuse(part, message,
                  "the run was interrupted: a part is missing samples");
  return true;
}

static bool open_part(part *part, const char *path,
                      char message[IMPACT_MESSAGE]) {
  memset(part, 0, sizeof *part);
  part->path = path;
  part->file = fopen(path, "r");
  if (part->file == NULL) {
    snprintf(message, IMPACT_MESSAGE, "%.400s: %s", path, strerror(errno));
    return false;
  }
  return read_header(part, message);
}

static void close_part(part *part) {
  if (part->file != NULL) fclose(part->file);
  free(part->text);
}

static bool same_set(const part *a, const part *b) {
  return strcmp(a->example, b->example) == 0 && a->data == b->data &&
         a->seed == b->seed && a->samples == b->samples && a->h == b->h &&
         a->steps == b->steps && a->tolerance == b->tolerance &&
         strcmp(a->select, b->select) == 0 &&
         strcmp(a->method, b->method) == 0 && strcmp(a->caps, b->caps) == 0 &&
         a->n_shards == b->n_shards;
}

/* Rows of outcomes from `first` on. */
static bool read_outcomes(part *part, ode_mlcp_impact_set *set, uint64_t first,
                          char message[IMPACT_MESSAGE]) {
  for (uint64_t k = first; k < first + part->outcomes; k++) {
    if (!next_line(part))
      return refuse(part, message, "the file ends before its last outcome");
    char *at = part->text, *end;
    set->sample[k] = strtoull(at, &end, 10);
    bool whole = end != at && *end == ',';
    at = end + whole;
    unsigned long long lcps = strtoull(at, &end, 10);
    whole = whole && end != at && lcps <= UINT32_MAX;
    set->lcps[k] = (uint32_t)lcps;
    int n_numbers = set->n_rows + set->n_velocities;
    for (int i = 0; whole && i < n_numbers; i++) {
      whole = *end == ',';
      at = end + whole;
      double number = strtod(at, &end);
      whole = whole && end != at && isfinite(number);
      if (i < set->n_rows)
        set->contact_velocities[k * (uint64_t)set->n_rows + (uint64_t)i] =
            number;
      else
        set->v[k * (uint64_t)set->n_velocities + (uint64_t)(i - set->n_rows)] =
            number;
    }
    if (!whole || *end != 0 || set->sample[k] % part->n_shards != part->shard ||
        set->sample[k] >= part->samples)
      return refuse(part, message, "not an outcome of this shard");
  }
  return !next_line(part) ||
         refuse(part, message, "more outcomes than the file says");
}

/* ---- merging ----------------------------------------------------------- */

static bool make_set(ode_mlcp_impact_set *set) {
  size_t n = set->n_outcomes > 0 ? (size_t)set->n_outcomes : 1;
  set->sample = malloc(n * sizeof *set->sample);
  set->lcps = malloc(n * sizeof *set->lcps);
  set->v = malloc(n * (size_t)set->n_velocities * sizeof *set->v);
  set->contact_velocities =
      malloc(n * (size_t)set->n_rows * sizeof *set->contact_velocities);
  return set->sample != NULL && set->lcps != NULL && set->v != NULL &&
         set->contact_velocities != NULL;
}

static void free_set(ode_mlcp_impact_set *set) {
  free(set->sample);
  free(set->lcps);
  free(set->v);
  free(set->contact_velocities);
  set->sample = NULL;
  set->lcps = NULL;
  set->v = set->contact_velocities = NULL;
}

void impact_csv_release(impact_result *result) { free_set(&result->set); }

/* Bring the outcomes of parts that lie one behind the other into the order of
 * samples: the next one always comes from the part with the lowest sample. */
static bool interleave(ode_mlcp_impact_set *set, const uint64_t first[],
                       int n_parts) {
  ode_mlcp_impact_set sorted = *set;
  uint64_t *next = malloc((size_t)n_parts * sizeof *next);
  if (next == NULL) return false;
  if (!make_set(&sorted)) {
    free_set(&sorted);
    free(next);
    return false;
  }
  memcpy(next, first, (size_t)n_parts * sizeof *next);
  size_t s = (size_t)set->n_velocities, n = (size_t)set->n_rows;
  for (uint64_t k = 0; k < set->n_outcomes; k++) {
    int from = -1;
    for (int p = 0; p < n_parts; p++)
      if (next[p] < first[p + 1] &&
          (from < 0 || set->sample[next[p]] < set->sample[next[from]]))
        from = p;
    uint64_t old = next[from]++;
    sorted.sample[k] = set->sample[old];
    sorted.lcps[k] = set->lcps[old];
    memcpy(&sorted.v[k * s], &set->v[old * s], s * sizeof *sorted.v);
    memcpy(&sorted.contact_velocities[k * n], &set->contact_velocities[old * n],
           n * sizeof *sorted.contact_velocities);
  }
  free(next);
  free_set(set);
  *set = sorted;
  return true;
}

static bool parse_words(const part *part, ode_mlcp_impact_options *options) {
  int select = argument_find_word(impact_select_words, part->select);
  int method = argument_find_word(impact_method_words, part->method);
  int caps = argument_find_word(impact_caps_words, part->caps);
  options->select = (ode_mlcp_impact_select)select;
  options->method = (ode_mlcp_impact_method)method;
  options->caps = (ode_mlcp_impact_caps)caps;
  return select >= 0 && method >= 0 && caps >= 0;
}

/* Do the parts make one whole? */
static bool check_parts(const part parts[], int n_parts,
                        char message[IMPACT_MESSAGE]) {
  for (int p = 0; p < n_parts; p++) {
    if (!same_set(&parts[0], &parts[p])) {
      snprintf(message, IMPACT_MESSAGE,
               "%.200s and %.200s are parts of different sets", parts[0].path,
               parts[p].path);
      return false;
    }
    for (int q = 0; q < p; q++)
      if (parts[p].shard == parts[q].shard) {
        snprintf(message, IMPACT_MESSAGE,
                 "%.200s and %.200s are both shard %" PRIu32 "/%" PRIu32,
                 parts[q].path, parts[p].path, parts[p].shard,
                 parts[p].n_shards);
        return false;
      }
  }
  if ((uint32_t)n_parts == parts[0].n_shards) return true;
  for (uint32_t shard = 0; shard < parts[0].n_shards; shard++) {
    bool there = false;
    for (int p = 0; p < n_parts; p++) there |= parts[p].shard == shard;
    if (there) continue;
    snprintf(message, IMPACT_MESSAGE,
             "%.200s: shard %" PRIu32 "/%" PRIu32 " of its set is missing",
             parts[0].path, shard, parts[0].n_shards);
    break;
  }
  return false;
}

/* Counts of a file are anybody's: their sum need not fit. */
static bool add_count(uint64_t *sum, uint64_t count) {
  return !__builtin_add_overflow(*sum, count, sum);
}

static bool take_parts(part parts[], int n_parts, impact_input *input,
                       impact_result *result, uint64_t first[],
                       char message[IMPACT_MESSAGE]) {
  ode_mlcp_impact_options *options = &result->options;
  ode_mlcp_impact_set *set = &result->set;
  const part *any = &parts[0];
  if (!impact_input_open(input, any->example, message) ||
      !impact_input_set_edges(input, any->n_edges != 0 ? any->n_edges : 4,
                              message))
    return false;
  if (input->fingerprint != any->data)
    return refuse(any, message, "the collision has changed since");
  ode_mlcp_impact_default_options(options);
  options->seed = any->seed;
  options->samples = any->samples;
  options->h = any->h;
  options->steps = any->steps;
  options->tolerance = any->tolerance;
  if (!parse_words(any, options))
    return refuse(any, message, "an unknown way to select or solve");

  set->n_velocities = input->problem.n_velocities;
  set->n_rows = input->problem.n_contacts * (1 + input->problem.n_tangents);
  for (int p = 0; p < n_parts; p++) {
    first[p] = set->n_outcomes;
    if (!add_count(&set->n_samples, parts[p].done) ||
        !add_count(&set->n_finished, parts[p].finished) ||
        !add_count(&set->n_lcps, parts[p].lcps) ||
        !add_count(&set->n_outcomes, parts[p].outcomes) ||
        !add_count(&set->n_failed, parts[p].failed) ||
        !add_count(&set->n_solutions, parts[p].solutions) ||
        !add_count(&set->n_incomplete, parts[p].incomplete))
      return refuse(&parts[p], message, "counts that are too large to add");
    result->cpu_seconds += parts[p].seconds;
  }
  first[n_parts] = set->n_outcomes;
  set->n_unfinished = set->n_samples - set->n_finished;
  if (set->n_outcomes >
          SIZE_MAX / 16 / (size_t)(set->n_rows + set->n_velocities) ||
      !make_set(set))
    return refuse(any, message, "no memory for the merged set");
  for (int p = 0; p < n_parts; p++)
    if (!read_outcomes(&parts[p], set, first[p], message)) return false;
  return interleave(set, first, n_parts) ||
         refuse(any, message, "no memory for the merged set");
}

bool impact_csv_merge(char **paths, int n_paths, impact_input *input,
                      impact_result *result, char message[IMPACT_MESSAGE]) {
  part *parts = calloc((size_t)n_paths, sizeof *parts);
  uint64_t *first = calloc((size_t)n_paths + 1, sizeof *first);
  bool merged = parts != NULL && first != NULL;
  if (!merged) snprintf(message, IMPACT_MESSAGE, "no memory");
  int n_open = 0;
  while (merged && n_open < n_paths) {
    merged = open_part(&parts[n_open], paths[n_open], message);
    n_open++;
  }
  merged = merged && check_parts(parts, n_paths, message) &&
           take_parts(parts, n_paths, input, result, first, message);
  for (int p = 0; p < n_open; p++) close_part(&parts[p]);
  free(parts);
  free(first);
  return merged;
}
