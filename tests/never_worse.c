/* Worlds drawn by a seed, under stock's two steppers and every scheme: is a scheme
 * worse than the better of the stock steppers?
 *
 *   never_worse FROM-TO [--scheme NAME] [--jobs N] [--output FILE] [--known FILE]
 *   never_worse --sum FILE [--known FILE]
 *
 * Each world is run by never_worse_play, which is a program on the plain ODE API:
 * alone, and under `ode-mlcp run --scheme ..`. A line a seed goes to FILE; seeds that
 * are there already are left out, so that a run that was stopped goes on. At its end,
 * or with --sum, come the figures of all lines in FILE.
 *
 * The reference of a world is dWorldStep in eight substeps and `ah` in eight: they
 * share no solver and no friction law, so that where they agree, both are right; a run
 * is as far off as from the nearer of them. From where the two part there is none.
 *
 * --known names a file of exceptions that are known:
 *
 *   FAMILY MEASURE SCHEME MOST CAUSE
 *
 * expects MOST seeds of a family to be worse in a measure. More of them, or others, are
 * told one by one, and so is a line that expects more than there are, so that it can be
 * shortened. The exit status is 1 if there are more in all than the file has, or if a
 * run breaks that no line expects: chaos moves single worlds from one side to the other,
 * their number only with the reasons.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  STOCK = 2,
  SCHEMES = 7,
  RUNS = STOCK + SCHEMES,
  REFERENCES = 2,
  SUBSTEPS = 8,
  SAMPLES = 24,
  MOST_BODIES = 64,
  CPU_SECONDS = 20, /* a run that takes longer did not end */
  MOST_KNOWN = 400
};

static const char *const run_names[RUNS] = {
    "step", "quick",       "ah",        "ap",        "st",
    "gap",  "trapezoid-1", "trapezoid", "conserving"};
enum { AH = STOCK };

typedef enum measure {
  JOINT,
  JOINT_MEAN,
  DEPTH,
  DEPTH_MEAN,
  ENERGY,
  KEPT,
  OFF,
  BROKEN,
  MEASURES
} measure;
static const char *const measure_names[MEASURES] = {
    "joint",  "joint-mean", "depth", "depth-mean",
    "energy", "kept",       "off",   "broken"};

/* What is rounding, or what a step's size explains of itself: of a part's size; of the
 * world's energy; of the family's invariant. */
static const double slack[MEASURES] = {2e-3, 5e-4, 2e-3, 5e-4,
                                       5e-3, 5e-3, 5e-3, 0};

/* A world's run. */
typedef struct run {
  bool ended; /* with a line of figures */
  char family[24];
  int driven;
  double size, mass, step_size;
  int n_bodies, n_steps, most_contacts;
  double figures[MEASURES];
  double seconds;
  double *places; /* SAMPLES x n_bodies x 8: place, quaternion, size; or NULL */
} run;

static const char *only; /* the scheme that is looked at; NULL: all */

static bool is_left_out(int i) {
  return i >= STOCK && only != NULL && strcmp(run_names[i], only) != 0;
}

static char build_folder[4000]; /* where this program's folder is */

/* ---- running ---- */

static void close_output(int file) {
  if (file < 0 || dup2(file, STDOUT_FILENO) < 0) _exit(126);
  const int nothing = open("/dev/null", O_WRONLY);
  if (nothing < 0 || dup2(nothing, STDERR_FILENO) < 0) _exit(126);
}

static void become_player(const char *name, bool stock, int split,
                          uint64_t seed, const char *places) {
  char play[5000], command[5000], seed_text[32], split_text[32];
  snprintf(play, sizeof play, "%s/tests/never_worse_play", build_folder);
  snprintf(command, sizeof command, "%s/ode-mlcp", build_folder);
  snprintf(seed_text, sizeof seed_text, "%llu", (unsigned long long)seed);
  snprintf(split_text, sizeof split_text, "%d", split);
  const struct rlimit limit = {CPU_SECONDS, CPU_SECONDS + 1};
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CPU, &limit);
  setrlimit(RLIMIT_CORE, &no_core);
  if (stock)
    execl(play, play, name, split_text, seed_text, places, (char *)NULL);
  else
    execl(command, command, "run", "--scheme", name, "--", play, "step",
          split_text, seed_text, places, (char *)NULL);
  _exit(127);
}

static bool read_places(const char *name, run *r) {
  const size_t n = (size_t)SAMPLES * (size_t)r->n_bodies * 8;
  r->places = malloc(n * sizeof *r->places);
  FILE *file = fopen(name, "rb");
  const bool whole = r->places != NULL && file != NULL &&
                     fread(r->places, sizeof *r->places, n, file) == n;
  if (file != NULL) fclose(file);
  if (!whole) {
    free(r->places);
    r->places = NULL;
  }
  return whole;
}

static run play(const char *name, bool stock, int split, uint64_t seed,
                const char *scratch) {
  run r = {.figures = {[BROKEN] = INFINITY}};
  char text[1000] = "", places[5000], words[5000];
  snprintf(places, sizeof places, "%s.places", scratch);
  snprintf(words, sizeof words, "%s.words", scratch);
  unlink(places);
  const pid_t child = fork();
  if (child == 0) {
    close_output(open(words, O_WRONLY | O_CREAT | O_TRUNC, 0666));
    become_player(name, stock, split, seed, places);
  }
  int status = -1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) > 125) {
    fprintf(stderr, "never_worse: %s cannot be run in %s\n", name,
            build_folder);
    exit(2);
  }
  FILE *file = fopen(words, "r");
  if (file != NULL && fgets(text, sizeof text, file) == NULL) *text = '\0';
  if (file != NULL) fclose(file);
  double refused, whole, *f = r.figures;
  r.ended = WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
            sscanf(text,
                   "%23s %d %lf %lf %lf %d %d %d %lf %lf %lf %lf %lf %lf %lf "
                   "%lf %lf",
                   r.family, &r.driven, &r.size, &r.mass, &r.step_size,
                   &r.n_bodies, &r.n_steps, &r.most_contacts, &f[JOINT],
                   &f[JOINT_MEAN], &f[DEPTH], &f[DEPTH_MEAN], &f[ENERGY],
                   &f[KEPT], &refused, &whole, &r.seconds) == 17;
  if (r.ended && r.n_bodies <= MOST_BODIES) read_places(places, &r);
  if (r.ended) f[BROKEN] = refused + (whole ? 0 : 1000);
  unlink(places);
  unlink(words);
  return r;
}

/* ---- how far runs are apart ---- */

/* The root mean square over the bodies, over the size of the world's parts, of how far
 * each is from where it is in the other run; half its size stands for a radian. */
static double apart(const run *a, const run *b, int sample) {
  double sum = 0;
  for (int i = 0; i < a->n_bodies; i++) {
    const double *x = a->places + 8 * (sample * a->n_bodies + i);
    const double *y = b->places + 8 * (sample * b->n_bodies + i);
    double same = 0;
    for (int k = 0; k < 3; k++) sum += (x[k] - y[k]) * (x[k] - y[k]);
    for (int k = 3; k < 7; k++) same += x[k] * y[k];
    const double turned = 2 * acos(fmin(1, fabs(same)));
    sum += x[7] * x[7] / 4 * turned * turned;
  }
  return sqrt(sum / a->n_bodies) / a->size;
}

/* A twentieth of a part apart, the references tell no more. */
static const double parted = 0.05;

static int agreed_samples(const run references[REFERENCES]) {
  if (references[0].places == NULL || references[1].places == NULL) return 0;
  int n = 0;
  while (n < SAMPLES && apart(&references[0], &references[1], n) < parted) n++;
  return n;
}

/* Beyond what the references are off each other at that time. */
static double off_references(const run *r, const run references[REFERENCES],
                             int n_agreed) {
  if (n_agreed > 0 && r->places == NULL) return INFINITY;
  double worst = 0;
  for (int i = 0; i < n_agreed; i++)
    worst = fmax(
        worst, fmin(apart(r, &references[0], i), apart(r, &references[1], i)) -
                   apart(&references[0], &references[1], i));
  return worst;
}

/* ---- verdict ---- */

/* Impulses of impacts within a step are not among the forces that these report, so that
 * what drives a world cannot be told from what nothing explains. */
static bool tells_all_forces(int i) { return i < STOCK || i <= STOCK + 2; }

static bool is_judged(const run runs[], int i, measure m, int n_agreed) {
  if (m == ENERGY && runs[i].driven) return tells_all_forces(i);
  if (m == OFF) return n_agreed > 0;
  return true;
}

static bool is_worse(const run runs[], int i, measure m, int n_agreed) {
  if (is_left_out(i)) return false;
  if (!runs[i].ended) return m == BROKEN;
  if (!is_judged(runs, i, m, n_agreed)) return false;
  double best = INFINITY;
  for (int k = 0; k < STOCK; k++)
    best = fmin(best, runs[k].ended && runs[k].figures[BROKEN] < 1000
                          ? runs[k].figures[m]
                          : INFINITY);
  return !(runs[i].figures[m] <= 1.1 * best + slack[m]);
}

static void write_line(FILE *file, uint64_t seed, const run runs[],
                       int n_agreed) {
  const run *some = &runs[0];
  for (int i = 0; i < RUNS && !some->ended; i++) some = &runs[i];
  fprintf(file,
          "seed=%llu family=%s driven=%d size=%.3g mass=%.3g h=%.3g bodies=%d "
          "steps=%d contacts=%d agreed=%d",
          (unsigned long long)seed, some->family, some->driven, some->size,
          some->mass, some->step_size, some->n_bodies, some->n_steps,
          some->most_contacts, n_agreed);
  for (int i = 0; i < RUNS; i++) {
    if (is_left_out(i)) continue;
    for (int m = 0; m < MEASURES; m++)
      fprintf(file, " %s.%s=%.3g", run_names[i], measure_names[m],
              runs[i].figures[m]);
    fprintf(file, " %s.s=%.3g", run_names[i], runs[i].seconds);
  }
  fprintf(file, " worse=");
  for (int i = STOCK; i < RUNS; i++)
    for (int m = 0; m < MEASURES; m++)
      if (is_worse(runs, i, (measure)m, n_agreed))
        fprintf(file, "%s.%s,", run_names[i], measure_names[m]);
  fprintf(file, "\n");
}

static void judge_seed(uint64_t seed, const char *output) {
  run runs[RUNS], references[REFERENCES];
  char scratch[4500], *line = NULL;
  size_t length = 0;
  snprintf(scratch, sizeof scratch, "%s.%ld", output, (long)getpid());
  memset(runs, 0, sizeof runs);
  for (int i = 0; i < RUNS; i++)
    if (!is_left_out(i))
      runs[i] = play(run_names[i], i < STOCK, 1, seed, scratch);
  references[0] = play("step", true, SUBSTEPS, seed, scratch);
  references[1] = play("ah", false, SUBSTEPS, seed, scratch);
  const int n_agreed = agreed_samples(references);
  for (int i = 0; i < RUNS; i++)
    runs[i].figures[OFF] = off_references(&runs[i], references, n_agreed);
  FILE *text = open_memstream(&line, &length);
  if (text == NULL) exit(2);
  write_line(text, seed, runs, n_agreed);
  fclose(text);
  /* of a whole line at once, so that two jobs do not mix theirs */
  const int file = open(output, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (file < 0 || write(file, line, length) != (ssize_t)length) {
    perror(output);
    exit(2);
  }
  close(file);
  free(line);
  for (int i = 0; i < RUNS; i++) free(runs[i].places);
  for (int i = 0; i < REFERENCES; i++) free(references[i].places);
}

static uint64_t line_seed(const char *line) {
  unsigned long long seed = 0;
  return sscanf(line, "seed=%llu", &seed) == 1 ? seed : UINT64_MAX;
}

static void run_seeds(uint64_t from, uint64_t to, int n_jobs,
                      const char *output) {
  const size_t n = (size_t)(to - from + 1);
  bool *done = calloc(n, sizeof *done);
  FILE *file = fopen(output, "r");
  char *line = NULL;
  size_t room = 0;
  if (done == NULL) exit(2);
  while (file != NULL && getline(&line, &room, file) > 0) {
    const uint64_t seed = line_seed(line);
    if (seed >= from && seed <= to) done[seed - from] = true;
  }
  free(line);
  if (file != NULL) fclose(file);
  for (int job = 0; job < n_jobs; job++)
    if (fork() == 0) {
      for (uint64_t seed = from + (uint64_t)job; seed <= to;
           seed += (uint64_t)n_jobs)
        if (!done[seed - from]) judge_seed(seed, output);
      _exit(0);
    }
  int status;
  bool failed = false;
  while (wait(&status) > 0 || errno == EINTR)
    failed |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  free(done);
  if (failed) exit(2);
}

/* ---- sums ---- */

typedef struct known_exception {
  char family[24], measure[24], scheme[24], cause[400];
  int most, found;
} known_exception;

static known_exception known[MOST_KNOWN];
static int n_known;

static void read_known(const char *name) {
  char line[1000];
  FILE *file = fopen(name, "r");
  if (file == NULL) {
    perror(name);
    exit(2);
  }
  while (fgets(line, sizeof line, file) != NULL) {
    known_exception *k = &known[n_known];
    if (*line == '#' || *line == '\n') continue;
    if (n_known == MOST_KNOWN ||
        sscanf(line, "%23s %23s %23s %d %399[^\n]", k->family, k->measure,
               k->scheme, &k->most, k->cause) != 5) {
      fprintf(stderr, "never_worse: %s: %s", name, line);
      exit(2);
    }
    n_known++;
  }
  fclose(file);
}

static known_exception *find_known(const char *family, const char *measure_name,
                                   const char *scheme) {
  for (int i = 0; i < n_known; i++)
    if (strcmp(known[i].family, family) == 0 &&
        strcmp(known[i].measure, measure_name) == 0 &&
        strcmp(known[i].scheme, scheme) == 0)
      return &known[i];
  return NULL;
}

static double value_of(const char *line, const char *run_name,
                       const char *figure) {
  char key[64];
  snprintf(key, sizeof key, " %s.%s=", run_name, figure);
  const char *at = strstr(line, key);
  return at == NULL ? NAN : strtod(at + strlen(key), NULL);
}

/* Counts the line's exceptions; those that nothing expects are told.
 * @return how many of those are runs that broke. */
static int count_exceptions(const char *line, int counts[RUNS][MEASURES]) {
  int broken = 0;
  char family[24] = "";
  const char *at = strstr(line, " family=");
  if (at != NULL) sscanf(at, " family=%23s", family);
  const char *worse = strstr(line, " worse=");
  for (int i = STOCK; worse != NULL && i < RUNS; i++)
    for (int m = 0; m < MEASURES; m++) {
      char word[64];
      snprintf(word, sizeof word, "%s.%s,", run_names[i], measure_names[m]);
      const char *found = strstr(worse, word);
      if (found == NULL || (found[-1] != ',' && found[-1] != '=')) continue;
      counts[i][m]++;
      known_exception *k = find_known(family, measure_names[m], run_names[i]);
      if (k != NULL && ++k->found <= k->most) continue;
      broken += m == BROKEN;
      const char *figure = measure_names[m];
      printf("worse: seed %llu, %s, %s of %s: %g, stock %g and %g\n",
             (unsigned long long)line_seed(line), family, figure, run_names[i],
             value_of(line, run_names[i], figure),
             value_of(line, run_names[0], figure),
             value_of(line, run_names[1], figure));
    }
  return broken;
}

static int sum_up(const char *name, uint64_t from, uint64_t to) {
  static int counts[RUNS][MEASURES];
  char *line = NULL;
  size_t room = 0, n = 0, n_referred = 0;
  int broken = 0, expected = 0, found = 0;
  FILE *file = fopen(name, "r");
  double seconds[RUNS] = {0};
  if (file == NULL) {
    perror(name);
    return 2;
  }
  while (getline(&line, &room, file) > 0) {
    const uint64_t seed = line_seed(line);
    if (seed < from || seed > to) continue;
    for (int i = 0; i < RUNS; i++)
      seconds[i] += value_of(line, run_names[i], "s");
    n++;
    n_referred += strstr(line, " agreed=0 ") == NULL;
    broken += count_exceptions(line, counts);
  }
  fclose(file);
  free(line);
  printf(
      "\n%zu worlds, %zu with a reference; worse than the better of stock's "
      "steppers in\n| scheme |",
      n, n_referred);
  for (int m = 0; m < MEASURES; m++) printf(" %s |", measure_names[m]);
  printf(" time over QuickStep |\n|---|");
  for (int m = 0; m <= MEASURES; m++) printf("---|");
  printf("\n");
  for (int i = STOCK; i < RUNS; i++) {
    if (isnan(seconds[i])) continue; /* left out in some line */
    printf("| %s |", run_names[i]);
    for (int m = 0; m < MEASURES; m++) printf(" %d |", counts[i][m]);
    printf(" %.2g |\n", seconds[i] / seconds[1]);
  }
  for (int i = 0; i < n_known; i++)
    if (known[i].found < known[i].most)
      printf("fewer than known: %s %s %s: %d, not %d\n", known[i].family,
             known[i].measure, known[i].scheme, known[i].found, known[i].most);
  for (int i = 0; i < n_known; i++) expected += known[i].most;
  for (int i = STOCK; i < RUNS; i++)
    for (int m = 0; m < MEASURES; m++) found += counts[i][m];
  printf("%d exceptions, %d expected; %d runs broke unexpectedly\n", found,
         expected, broken);
  return found > expected || broken > 0;
}

/* ---- arguments ---- */

static void find_build_folder(void) {
  const ssize_t n =
      readlink("/proc/self/exe", build_folder, sizeof build_folder - 1);
  build_folder[n < 0 ? 0 : n] = '\0';
  for (int up = 0; up < 2; up++) {
    char *slash = strrchr(build_folder, '/');
    if (slash != NULL) *slash = '\0';
  }
}

int main(int n_arguments, char **arguments) {
  const char *output = "never-worse.lines", *known_name = NULL;
  unsigned long long from = 0, to = ~0ull;
  int n_jobs = (int)sysconf(_SC_NPROCESSORS_ONLN);
  bool runs = false;
  for (int i = 1; i < n_arguments; i++) {
    const char *word = arguments[i];
    const char *value = i + 1 < n_arguments ? arguments[i + 1] : "";
    if (strcmp(word, "--jobs") == 0) {
      n_jobs = atoi(value);
      i++;
    } else if (strcmp(word, "--output") == 0 || strcmp(word, "--sum") == 0) {
      output = value;
      i++;
    } else if (strcmp(word, "--scheme") == 0) {
      only = value;
      i++;
    } else if (strcmp(word, "--known") == 0) {
      known_name = value;
      i++;
    } else if (sscanf(word, "%llu-%llu", &from, &to) == 2 && from <= to) {
      runs = true;
    } else {
      fprintf(stderr,
              "usage: never_worse FROM-TO [--scheme NAME] [--jobs N] [--output "
              "FILE] [--known "
              "FILE]\n       never_worse --sum FILE [--known FILE]\n");
      return 2;
    }
  }
  if (known_name != NULL) read_known(known_name);
  find_build_folder();
  if (runs) run_seeds(from, to, n_jobs > 0 ? n_jobs : 1, output);
  return sum_up(output, from, to);
}
