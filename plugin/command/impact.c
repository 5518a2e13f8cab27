/* `ode-mlcp impact`: all the outcomes of a simultaneous collision. */
#include "command/impact.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "common/clock.h"

/* Samples that branch are many outcomes each: so many are usual. */
#define SAMPLES_OF_ALL 4096

/* Samples whose way is drawn, and written by --csv-ways. */
#define WAYS_DRAWN 4000

typedef struct settings {
  ode_mlcp_impact_options options;
  bool samples_given, h_given, steps_given;
  bool json, merge, help;
  const char *csv, *csv_ways, *plot;
} settings;

static const char usage[] =
  "Usage: ode-mlcp impact NAME|FOLDER [OPTION...]\n"
  "       ode-mlcp impact --merge FILE... [OPTION...]\n"
  "\n"
  "Sample the outcomes of a simultaneous collision (Halm & Posa 2023).\n"
  "\n"
  "NAME     rocking-block, compass-gait, box-wall, ramone, disk-stack\n"
  "FOLDER   a collision as Matrix Market files, s velocities, m contacts:\n"
  "         M.mtx s x s, Jn.mtx m x s, Jt.mtx m x s (or 2m x s: two tangents\n"
  "         a contact), mu.mtx m x 1, v.mtx s x 1\n"
  "\n"
  "  --samples N      how many (default: the example's; a folder: 16384; with\n"
  "                   --select all no more than 4096)\n"
  "  --seed N         default 1\n"
  "  --h X            caps on impulses are drawn from [0, X] N s\n"
  "  --steps N        at most N + 1 steps a sample\n"
  "  --select WAY     first, random or all of a step's solutions\n"
  "                   (default random)\n"
  "  --method WAY     automatic, modes, path or lemke\n"
  "  --tolerance X    over when no contact approaches faster, m/s\n"
  "                   (default 1e-8)\n"
  "  --threads N      default: the processors there are; changes no result\n"
  "  --shard I/N      only the samples k with k mod N = I mod N\n"
  "  --csv FILE       write the outcomes\n"
  "  --csv-ways FILE  write the velocities on the way of the first 4000 "
  "samples\n"
  "  --plot FILE      draw the set (PNG, by gnuplot)\n"
  "  --json           print one JSON object\n"
  "  --merge          put the CSV files of all shards together again\n"
  "  --help\n"
  "\n"
  "Exit status: 0 done; 1 over 1 % unfinished samples, interrupted, or a file not\n"
  "written; 2 wrong use or bad input. Interrupt once to stop with what was\n"
  "sampled so far.\n";

static int complain(const char *message) {
  fprintf(stderr, "ode-mlcp impact: %s\n", message);
  return COMMAND_WRONG_USE;
}

/* ---- options ----------------------------------------------------------- */

static bool parse_count(const char *text, uint64_t lowest, uint64_t highest,
                        uint64_t *value) {
  char *end;
  errno = 0;
  *value = strtoull(text, &end, 10);
  return *text >= '0' && *text <= '9' && *end == 0 && errno == 0 &&
         *value >= lowest && *value <= highest;
}

static bool parse_positive(const char *text, double *value) {
  char *end;
  *value = strtod(text, &end);
  return end != text && *end == 0 && *value > 0 && isfinite(*value);
}

/* I/N with 0 <= I <= N, so that shards may be numbered from 0 or from 1. */
static bool parse_shard(const char *text, ode_mlcp_impact_options *options) {
  char first[16];
  const char *slash = strchr(text, '/');
  uint64_t shard, n_shards;
  if (slash == NULL || slash - text >= (int)sizeof first) return false;
  memcpy(first, text, (size_t)(slash - text));
  first[slash - text] = 0;
  if (!parse_count(slash + 1, 1, UINT32_MAX, &n_shards) ||
      !parse_count(first, 0, n_shards, &shard))
    return false;
  options->shard = (uint32_t)(shard % n_shards);
  options->n_shards = (uint32_t)n_shards;
  return true;
}

/* The place of `text` among `n` words, -1: none. */
static int find_word(const char *text, const char *(*word)(int), int n) {
  for (int k = 0; k < n; k++)
    if (strcmp(text, word(k)) == 0) return k;
  return -1;
}

static const char *select_word(int k) {
  return impact_select_word((ode_mlcp_impact_select)k);
}

static const char *method_word(int k) {
  return impact_method_word((ode_mlcp_impact_method)k);
}

enum {
  SAMPLES = 256, SEED, H, STEPS, SELECT, METHOD, TOLERANCE, THREADS, SHARD,
  CSV, CSV_WAYS, PLOT, JSON, MERGE, HELP
};

static const struct option long_options[] = {
  {"samples", required_argument, NULL, SAMPLES},
  {"seed", required_argument, NULL, SEED},
  {"h", required_argument, NULL, H},
  {"steps", required_argument, NULL, STEPS},
  {"select", required_argument, NULL, SELECT},
  {"method", required_argument, NULL, METHOD},
  {"tolerance", required_argument, NULL, TOLERANCE},
  {"threads", required_argument, NULL, THREADS},
  {"shard", required_argument, NULL, SHARD},
  {"csv", required_argument, NULL, CSV},
  {"csv-ways", required_argument, NULL, CSV_WAYS},
  {"plot", required_argument, NULL, PLOT},
  {"json", no_argument, NULL, JSON},
  {"merge", no_argument, NULL, MERGE},
  {"help", no_argument, NULL, HELP},
  {NULL, 0, NULL, 0}};

/* One option's value; false: it makes no sense. */
static bool take_option(settings *settings, int option, const char *value) {
  ode_mlcp_impact_options *options = &settings->options;
  uint64_t count;
  int word;
  switch (option) {
  case SAMPLES:
    settings->samples_given = true;
    return parse_count(value, 1, (uint64_t)1 << 40, &options->samples);
  case SEED: return parse_count(value, 0, UINT64_MAX, &options->seed);
  case H:
    settings->h_given = true;
    return parse_positive(value, &options->h);
  case STEPS:
    settings->steps_given = true;
    if (!parse_count(value, 0, 1000000, &count)) return false;
    options->steps = (int)count;
    return true;
  case SELECT:
    word = find_word(value, select_word, 3);
    options->select = (ode_mlcp_impact_select)word;
    return word >= 0;
  case METHOD:
    word = find_word(value, method_word, 4);
    options->method = (ode_mlcp_impact_method)word;
    return word >= 0;
  case TOLERANCE: return parse_positive(value, &options->tolerance);
  case THREADS:
    if (!parse_count(value, 1, 4096, &count)) return false;
    options->threads = (int)count;
    return true;
  case SHARD: return parse_shard(value, options);
  case CSV: settings->csv = value; return true;
  case CSV_WAYS: settings->csv_ways = value; return true;
  case PLOT: settings->plot = value; return true;
  case JSON: settings->json = true; return true;
  case MERGE: settings->merge = true; return true;
  default: settings->help = true; return true;
  }
}

/* The name of an option by its number. */
static const char *option_name(int number) {
  for (const struct option *o = long_options; o->name != NULL; o++)
    if (o->val == number) return o->name;
  return "?";
}

/* What getopt_long stumbled over. */
static void explain_option(char **argv) {
  if (optopt >= SAMPLES)
    fprintf(stderr, "ode-mlcp impact: --%s %s; see --help\n",
            option_name(optopt),
            strchr(argv[optind - 1], '=') != NULL ? "takes no value"
                                                  : "needs a value");
  else if (optopt != 0)
    fprintf(stderr, "ode-mlcp impact: there is no option -%c; see --help\n",
            optopt);
  else
    fprintf(stderr, "ode-mlcp impact: there is no option %s; see --help\n",
            argv[optind - 1]);
}

static bool parse(int argc, char **argv, settings *settings) {
  memset(settings, 0, sizeof *settings);
  ode_mlcp_impact_default_options(&settings->options);
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  settings->options.threads = processors < 1 ? 1
                              : processors > 64 ? 64 : (int)processors;
  optind = 0; // from the start, whoever used getopt before
  opterr = 0;
  for (;;) {
    int option = getopt_long(argc, argv, "", long_options, NULL);
    if (option == -1) return true;
    if (option == '?') {
      explain_option(argv);
      return false;
    }
    if (!take_option(settings, option, optarg)) {
      fprintf(stderr, "ode-mlcp impact: --%s cannot be '%s'; see --help\n",
              option_name(option), optarg);
      return false;
    }
  }
}

/* ---- interrupts and progress ------------------------------------------- */

static volatile sig_atomic_t stop_wanted;

static void want_stop(int number) {
  (void)number;
  stop_wanted = 1;
}

/* The first interrupt asks, a second one ends. */
static void listen_for_interrupts(void) {
  struct sigaction action = {0};
  action.sa_handler = want_stop;
  action.sa_flags = (int)SA_RESETHAND;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

static int is_interrupted(void *context) {
  (void)context;
  return stop_wanted;
}

typedef struct progress {
  double start, last;
  bool shown, terminal;
} progress;

/* Nothing for the first seconds; then a line that renews itself on a terminal,
 * and one now and then elsewhere. */
static void show_progress(void *context, uint64_t done, uint64_t total) {
  progress *progress = context;
  double now = seconds_now();
  if (now - progress->start < 3) return;
  if (now - progress->last < (progress->terminal ? 0.5 : 10)) return;
  double rest = (now - progress->start)*(double)(total - done)/(double)done;
  fprintf(stderr, "%simpact: %" PRIu64 " of %" PRIu64
                  " samples (%.0f %%), about %.0f s left%s",
          progress->terminal ? "\r" : "", done, total,
          100*(double)done/(double)total, rest,
          progress->terminal ? "   " : "\n");
  progress->last = now;
  progress->shown = progress->terminal;
}

/* ---- the work ---------------------------------------------------------- */

/* Contact velocities of `count` velocities, from malloc; what only rounding
 * keeps from 0, beside those before the impact, is set to it. */
static double *rows_of(const impact_result *result, const double v[],
                       int count) {
  const ode_mlcp_impact_problem *problem = &result->input->problem;
  int n = problem->n_contacts*(1 + problem->n_tangents);
  double *rows = malloc(((size_t)count + 1)*(size_t)n*sizeof *rows);
  if (rows == NULL) return NULL;
  for (int k = 0; k < count; k++)
    ode_mlcp_impact_contact_velocities(result->impact,
                                       &v[k*problem->n_velocities],
                                       &rows[k*n]);
  double *before = &rows[count*n], scale = 0;
  ode_mlcp_impact_contact_velocities(result->impact, problem->v, before);
  for (int i = 0; i < n; i++) scale = fmax(scale, fabs(before[i]));
  for (int i = 0; i < count*n; i++)
    if (fabs(rows[i]) <= 1e-12*scale) rows[i] = 0;
  return rows;
}

static void add_sequence(impact_result *result, const int order[],
                         double way[]) {
  const ode_mlcp_impact_problem *problem = &result->input->problem;
  impact_sequence *sequence = &result->sequences[result->n_sequences];
  double *v = &way[(IMPACT_LONGEST + 1)*problem->n_velocities];
  ode_mlcp_impact_options first = result->options;
  first.select = ODE_MLCP_IMPACT_FIRST;
  ode_mlcp_impact_status status = ode_mlcp_impact_sequential(
    result->impact, &first, ODE_MLCP_IMPACT_CYCLIC, order,
    problem->n_contacts, 0, IMPACT_LONGEST, v, way, &sequence->n_impacts);
  if (status != ODE_MLCP_IMPACT_DONE && status != ODE_MLCP_IMPACT_UNFINISHED)
    return;
  sequence->finished = status == ODE_MLCP_IMPACT_DONE;
  size_t used = 0;
  for (int i = 0; i < problem->n_contacts && used + 8 < sizeof sequence->order;
       i++) {
    char name[24];
    impact_row_name(problem, order[i]*(1 + problem->n_tangents), name);
    used += (size_t)snprintf(&sequence->order[used],
                             sizeof sequence->order - used, "%s", name + 2);
  }
  sequence->way = rows_of(result, way, sequence->n_impacts + 1);
  if (sequence->way != NULL) result->n_sequences++;
}

/* The other laws, for comparison. */
static void compare(impact_result *result) {
  const ode_mlcp_impact_problem *problem = &result->input->problem;
  size_t s = (size_t)problem->n_velocities, m = (size_t)problem->n_contacts;
  double *v = malloc((IMPACT_LONGEST + 2 + IMPACT_SIMULTANEOUS)*s*sizeof *v);
  int *order = malloc(m*sizeof *order);
  if (v != NULL && order != NULL) {
    int found;
    if (ode_mlcp_impact_simultaneous(result->impact, IMPACT_SIMULTANEOUS, v,
                                     &found) == ODE_MLCP_IMPACT_DONE) {
      if (found > IMPACT_SIMULTANEOUS) found = IMPACT_SIMULTANEOUS;
      result->simultaneous = rows_of(result, v, found);
      result->n_simultaneous = result->simultaneous != NULL ? found : 0;
    }
    for (int k = 0; k < (m > 1 ? 2 : 1); k++) {
      for (int i = 0; i < (int)m; i++) order[i] = k == 0 ? i : (int)m - 1 - i;
      add_sequence(result, order, v);
    }
  }
  free(v);
  free(order);
}

static int sample(impact_result *result) {
  progress progress = {.start = seconds_now(),
                       .terminal = isatty(STDERR_FILENO) != 0};
  ode_mlcp_impact_options *options = &result->options;
  options->interrupted = is_interrupted;
  options->progress = show_progress;
  options->run_context = &progress;
  listen_for_interrupts();
  ode_mlcp_impact_status status =
    ode_mlcp_impact_approximate(result->impact, options, &result->set);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  if (progress.shown) fputc('\n', stderr);

  result->cpu_seconds = result->set.seconds*result->set.n_threads;
  result->interrupted = status == ODE_MLCP_IMPACT_INTERRUPTED;
  switch (status) {
  case ODE_MLCP_IMPACT_DONE: return COMMAND_DONE;
  case ODE_MLCP_IMPACT_INTERRUPTED:
    fputs("ode-mlcp impact: interrupted; here is what was sampled so far\n",
          stderr);
    return COMMAND_FELL_SHORT;
  case ODE_MLCP_IMPACT_TOO_MANY_MODES:
    return complain("too many contact modes to look through; use --method path"
                    " with --select first or random");
  case ODE_MLCP_IMPACT_NO_MEMORY:
    complain("no memory for so many samples");
    return COMMAND_FELL_SHORT;
  default: return complain("bad options");
  }
}

static int write_files(const settings *settings, impact_result *result) {
  char message[IMPACT_MESSAGE];
  int status = COMMAND_DONE;
  if (settings->csv != NULL &&
      !impact_csv_write(settings->csv, result, &result->set, message)) {
    complain(message);
    status = COMMAND_FELL_SHORT;
  }
  if (settings->csv_ways == NULL && settings->plot == NULL) return status;

  ode_mlcp_impact_set ways;
  if (ode_mlcp_impact_ways(result->impact, &result->options, WAYS_DRAWN,
                           &ways) != ODE_MLCP_IMPACT_DONE) {
    complain("no memory for the velocities on the way");
    return COMMAND_FELL_SHORT;
  }
  if (settings->csv_ways != NULL &&
      !impact_csv_write(settings->csv_ways, result, &ways, message)) {
    complain(message);
    status = COMMAND_FELL_SHORT;
  }
  if (settings->plot != NULL &&
      !impact_plot(settings->plot, result, &ways, message)) {
    complain(message);
    status = COMMAND_FELL_SHORT;
  }
  ode_mlcp_impact_set_release(&ways);
  return status;
}

/* Report on a set that is there: the files, then the text or JSON. */
static int report(const settings *settings, impact_result *result) {
  compare(result);
  int status = write_files(settings, result);
  if (settings->json) impact_print_json(stdout, result);
  else impact_print_text(stdout, result);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    perror("ode-mlcp impact: cannot write the output");
    status = COMMAND_FELL_SHORT;
  }
  free(result->simultaneous);
  for (int k = 0; k < result->n_sequences; k++)
    free(result->sequences[k].way);
  // Alg. 2 leaves the odd unfinished sample out: 1 in 400 of the compass gait's
  const ode_mlcp_impact_set *set = &result->set;
  if (set->n_unfinished > set->n_samples/100 && status == COMMAND_DONE)
    status = COMMAND_FELL_SHORT;
  return status;
}

static int make_ready(const impact_input *input, impact_result *result) {
  char why[IMPACT_MESSAGE/2], message[IMPACT_MESSAGE];
  ode_mlcp_impact_status status = ode_mlcp_impact_create(
    &input->problem, &result->impact, why, sizeof why);
  if (status == ODE_MLCP_IMPACT_DONE) return COMMAND_DONE;
  if (status == ODE_MLCP_IMPACT_NO_MEMORY) {
    complain("no memory");
    return COMMAND_FELL_SHORT;
  }
  snprintf(message, sizeof message, "%.200s: %s", input->name, why);
  return complain(message);
}

static int run_one(settings *settings, const char *name) {
  char message[IMPACT_MESSAGE];
  impact_input input;
  if (!impact_input_open(&input, name, message)) return complain(message);
  if (!settings->samples_given)
    settings->options.samples =
      settings->options.select == ODE_MLCP_IMPACT_ALL &&
          input.samples > SAMPLES_OF_ALL ? SAMPLES_OF_ALL : input.samples;
  if (!settings->h_given) settings->options.h = input.h;
  if (!settings->steps_given) settings->options.steps = input.steps;

  impact_result result = {.input = &input, .options = settings->options};
  int status = make_ready(&input, &result);
  if (status == COMMAND_DONE) status = sample(&result);
  if (result.set.v != NULL) {
    int reported = report(settings, &result);
    if (status == COMMAND_DONE) status = reported;
  }
  ode_mlcp_impact_set_release(&result.set);
  ode_mlcp_impact_destroy(result.impact);
  impact_input_close(&input);
  return status;
}

static int run_merge(const settings *settings, char **paths, int n_paths) {
  char message[IMPACT_MESSAGE];
  impact_input input = {0};
  impact_result result = {.input = &input};
  int status;
  if (!impact_csv_merge(paths, n_paths, &input, &result, message))
    status = complain(message);
  else if ((status = make_ready(&input, &result)) == COMMAND_DONE)
    status = report(settings, &result);
  impact_csv_release(&result);
  ode_mlcp_impact_destroy(result.impact);
  impact_input_close(&input);
  return status;
}

int command_impact(int argc, char **argv) {
  settings settings;
  if (!parse(argc, argv, &settings)) return COMMAND_WRONG_USE;
  if (settings.help) {
    fputs(usage, stdout);
    return fflush(stdout) == 0 ? COMMAND_DONE : COMMAND_FELL_SHORT;
  }
  int n_names = argc - optind;
  if (settings.merge) {
    if (n_names < 1) return complain("--merge needs the files of all shards");
    return run_merge(&settings, &argv[optind], n_names);
  }
  if (n_names != 1)
    return complain("name one example or folder; see --help");
  return run_one(&settings, argv[optind]);
}
