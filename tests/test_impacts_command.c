/* `ode-mlcp impact`: options, files, exit status, JSON, ranges. */
#include "testing.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/impact.h"
#include "impact_example.h"
#include "full_disk.h"
#include "mlcp/matrix_market.h"

static char folder[] = "/tmp/test-impacts-command-XXXXXX";

static char *path_of(const char *name) {
  static char paths[8][128];
  static int next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

/* The output of a run. */
static char *output, *errors;

static char *slurp(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  size_t size = 0, room = 1 << 16;
  char *text = malloc(room + 1);
  size_t n;
  while ((n = fread(text + size, 1, room - size, file)) > 0) {
    size += n;
    if (size == room) text = realloc(text, (room *= 2) + 1);
  }
  fclose(file);
  text[size] = 0;
  return text;
}

/* Wait until the process listens for SIGINT, half a minute at most. */
static void wait_for_listener(pid_t process) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/%d/status", (int)process);
  for (int k = 0; k < 300; k++) {
    unsigned long caught = 0;
    FILE *status = fopen(path, "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
      sscanf(line, "SigCgt: %lx", &caught);
    if (status != NULL) fclose(status);
    if (caught >> (SIGINT - 1) & 1) return;
    usleep(100000);
  }
}

/* Run the subcommand on words in a process of its own; its exit status, or
 * minus a signal. */
static int run_words(bool interrupt, char *words[]) {
  int n_words = 0;
  while (words[n_words] != NULL) n_words++;
  fflush(NULL);
  // under valgrind a process catches what it does not ignore
  if (interrupt) signal(SIGINT, SIG_IGN);
  pid_t child = fork();
  if (child == 0) {
    if (freopen(path_of("out"), "w", stdout) == NULL ||
        freopen(path_of("err"), "w", stderr) == NULL)
      _exit(99);
    exit(command_impact(n_words, words));
  }
  if (interrupt) {
    signal(SIGINT, SIG_DFL);
    wait_for_listener(child);
    usleep(300000);
    kill(child, SIGINT);
  }
  int status;
  waitpid(child, &status, 0);
  free(output);
  free(errors);
  output = slurp(path_of("out"));
  errors = slurp(path_of("err"));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int run(const char *first, ...) {
  char *words[32] = {(char *)"impact", (char *)first};
  int n = first == NULL ? 1 : 2;
  va_list rest;
  va_start(rest, first);
  while (words[n - 1] != NULL && n < 31)
    if ((words[n++] = va_arg(rest, char *)) == NULL) break;
  va_end(rest);
  return run_words(false, words);
}

static bool says(const char *text, const char *part) {
  bool found = text != NULL && strstr(text, part) != NULL;
  if (!found) printf("  '%s' is not in: %.300s\n", part, text);
  return found;
}

/* ---- JSON -------------------------------------------------------------- */

static const char *skip_json(const char *at);

static const char *skip_space(const char *at) {
  while (isspace((unsigned char)*at)) at++;
  return at;
}

static const char *skip_string(const char *at) {
  for (at++; *at != '"'; at++) {
    if ((unsigned char)*at < 0x20) return NULL;
    if (*at == '\\' && strchr("\"\\/bfnrtu", *++at) == NULL) return NULL;
  }
  return at + 1;
}

static const char *skip_members(const char *at, char end) {
  at = skip_space(at + 1);
  if (*at == end) return at + 1;
  for (;;) {
    if (end == '}') {
      at = skip_space(at);
      if (*at != '"' || (at = skip_string(at)) == NULL) return NULL;
      at = skip_space(at);
      if (*at++ != ':') return NULL;
    }
    if ((at = skip_json(at)) == NULL) return NULL;
    at = skip_space(at);
    if (*at == end) return at + 1;
    if (*at++ != ',') return NULL;
  }
}

/* Behind the value at `at`; NULL when it is none. */
static const char *skip_json(const char *at) {
  at = skip_space(at);
  if (*at == '{') return skip_members(at, '}');
  if (*at == '[') return skip_members(at, ']');
  if (*at == '"') return skip_string(at);
  if (strncmp(at, "true", 4) == 0) return at + 4;
  if (strncmp(at, "false", 5) == 0) return at + 5;
  if (strncmp(at, "null", 4) == 0) return at + 4;
  if (*at != '-' && !isdigit((unsigned char)*at)) return NULL;
  char *end;
  double number = strtod(at, &end);
  return isfinite(number) ? end : NULL;
}

static bool is_one_json_object(const char *text) {
  if (text == NULL || *skip_space(text) != '{') return false;
  const char *end = skip_json(text);
  return end != NULL && *skip_space(end) == 0;
}

static double number_of(const char *text, const char *key) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\":", key);
  const char *at = strstr(text, quoted);
  return at != NULL ? strtod(at + strlen(quoted), NULL) : NAN;
}

/* ---- tests ------------------------------------------------------------- */

static void test_json(void) {
  CU_ASSERT_EQUAL(run("rocking-block", "--samples", "2000", "--json", NULL), 0);
  CU_ASSERT(is_one_json_object(output));
  const char *const keys[] = {"example",
                              "samples",
                              "finished",
                              "unfinished",
                              "failed",
                              "solutions_per_lcp",
                              "share_seen",
                              "lcps_per_sample",
                              "microseconds_per_lcp",
                              "extents",
                              "simultaneous",
                              "sequential",
                              "seed",
                              "vnA",
                              "vtA",
                              "vnB",
                              "vtB"};
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", keys[k]);
    CU_ASSERT(says(output, quoted));
  }
  CU_ASSERT_EQUAL(number_of(output, "samples"), 2000);
  CU_ASSERT_EQUAL(number_of(output, "finished"), 2000);
  CU_ASSERT_EQUAL(number_of(output, "unfinished"), 0);
  CU_ASSERT_EQUAL(number_of(output, "incomplete_lcps"), 0);
  CU_ASSERT_EQUAL(number_of(output, "simultaneous_missed"), 0);
  CU_ASSERT(says(output, "\"simultaneous_whole\": true"));
  // uniform caps let both corners push: these ways are only come near to
  CU_ASSERT_EQUAL(number_of(output, "sequential_missed"), 2);
  CU_ASSERT(number_of(output, "share_seen") > 0.9);
  CU_ASSERT_EQUAL(number_of(output, "seed"), 1);
  CU_ASSERT(fabs(number_of(output, "lcps_per_sample") - 2.47) < 0.1);
  CU_ASSERT(says(output, "\"example\": \"rocking-block\""));

  // one impact of either contact is over here, and a simultaneous one
  CU_ASSERT_EQUAL(run("compass-gait", "--samples", "300", "--json", NULL), 0);
  CU_ASSERT_EQUAL(number_of(output, "sequential_missed"), 0);

  // negative control: the checker notices what is no JSON
  // of no outcomes no distance is known: an interrupt may come before the first
  CU_ASSERT_EQUAL(
      run("disk-stack", "--samples", "3", "--steps", "0", "--json", NULL), 1);
  CU_ASSERT(is_one_json_object(output));
  CU_ASSERT(says(output, "\"share_seen\": null"));
  CU_ASSERT_FALSE(is_one_json_object("{\"a\": nan}"));
  CU_ASSERT_FALSE(is_one_json_object("{\"a\": 1,}"));
  CU_ASSERT_FALSE(is_one_json_object("{\"a\": 1} 2"));
}

static void test_all_examples_run(void) {
  for (int k = 0; k < IMPACT_EXAMPLES; k++)
    for (int select = 0; select < 2; select++) {
      int status = run(impact_example_name(k), "--samples", "300", "--select",
                       select == 0 ? "first" : "random", "--json", NULL);
      CU_ASSERT(is_one_json_object(output));
      CU_ASSERT_EQUAL(status, number_of(output, "unfinished") >
                                  floor(number_of(output, "samples") / 100));
    }
  CU_ASSERT_EQUAL(run("compass-gait", "--samples", "20", "--select", "first",
                      "--steps", "50", NULL),
                  0);
  CU_ASSERT(says(output, "select first"));
  CU_ASSERT(says(output, "LCPs a sample"));
  CU_ASSERT(says(output, "simultaneous (Anitescu & Potra): 3"));
}

static void test_wrong_use(void) {
  CU_ASSERT_EQUAL(run(NULL, NULL), 2);
  CU_ASSERT_EQUAL(run("no-such-example", NULL), 2);
  CU_ASSERT(says(errors, "neither an example") &&
            says(errors, "rocking-block"));
  CU_ASSERT_EQUAL(run("ramone", "extra", NULL), 2);
  CU_ASSERT_EQUAL(run("ramone", "--no-such", NULL), 2);
  CU_ASSERT(says(errors, "there is no option --no-such"));
  CU_ASSERT_EQUAL(run("ramone", "-x", NULL), 2);
  CU_ASSERT(says(errors, "there is no option -x"));
  CU_ASSERT_EQUAL(run("ramone", "--seed", NULL), 2);
  CU_ASSERT(says(errors, "--seed needs a value"));
  CU_ASSERT_EQUAL(run("ramone", "--json=2", NULL), 2);
  CU_ASSERT(says(errors, "--json takes no value"));
  const char *const bad[][2] = {
      {"--samples", "0"},    {"--samples", "many"}, {"--samples", "-5"},
      {"--seed", "1.5"},     {"--h", "0"},          {"--h", "nan"},
      {"--steps", "-1"},     {"--select", "best"},  {"--threads", "0"},
      {"--range", "5:5"},    {"--range", "7"},      {"--range", "3:x"},
      {"--method", "magic"}, {"--tolerance", "0"}};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    CU_ASSERT_EQUAL(run("rocking-block", bad[k][0], bad[k][1], NULL), 2);
    CU_ASSERT(says(errors, bad[k][0]));
    CU_ASSERT_EQUAL(strlen(output), 0);
  }
  CU_ASSERT_EQUAL(run("--help", NULL), 0);
  CU_ASSERT(says(output, "Usage: ode-mlcp impact"));
}

/* Write the rocking block as a problem folder. */
static void write_folder(const char *name, bool coordinates) {
  static impact_example example;
  impact_example_fill(&example, "rocking-block");
  mkdir(path_of(name), 0755);
  const struct {
    const char *file;
    int n_rows, n_columns;
    const double *numbers;
  } arrays[5] = {{"M", 3, 3, example.M},
                 {"Jn", 2, 3, example.Jn},
                 {"Jt", 2, 3, example.Jt},
                 {"mu", 2, 1, example.mu},
                 {"v", 3, 1, example.v}};
  for (int k = 0; k < 5; k++) {
    char file[64], message[200];
    snprintf(file, sizeof file, "%s/%s.mtx", name, arrays[k].file);
    CU_ASSERT(matrix_market_write_dense(path_of(file), arrays[k].n_rows,
                                        arrays[k].n_columns, arrays[k].numbers,
                                        message, sizeof message));
    if (!coordinates) continue;
    matrix_market matrix;
    CU_ASSERT(matrix_market_read(path_of(file), -1, -1, &memory_from_malloc,
                                 &matrix, message, sizeof message));
    size_t n_kept = 0;
    for (size_t i = 0; i < matrix.n_entries; i++)
      if (matrix.entries[i].value != 0)
        matrix.entries[n_kept++] = matrix.entries[i];
    matrix.n_entries = n_kept;
    CU_ASSERT(matrix_market_write_entries(path_of(file), &matrix, message,
                                          sizeof message));
    matrix_market_release(&matrix, &memory_from_malloc);
  }
}

static void test_problem_folder(void) {
  CU_ASSERT_EQUAL(run("rocking-block", "--samples", "500", "--csv",
                      path_of("named.csv"), NULL),
                  0);
  char *named = slurp(path_of("named.csv"));
  for (int form = 0; form < 2; form++) {
    write_folder("block", form == 1);
    CU_ASSERT_EQUAL(run(path_of("block"), "--samples", "500", "--h", "0.3",
                        "--steps", "10", "--csv", path_of("folder.csv"), NULL),
                    0);
    // the same numbers but for the name in the second line
    char *from_folder = slurp(path_of("folder.csv"));
    const char *a = strstr(named, "# data"), *b = strstr(from_folder, "# data");
    CU_ASSERT(a != NULL && b != NULL && strcmp(a, b) == 0);
    free(from_folder);
  }
  free(named);
  CU_ASSERT_EQUAL(run(path_of("block"), "--samples", "500", NULL), 0);
}

static void break_file(const char *file, const char *text) {
  FILE *out = fopen(path_of(file), "w");
  fputs(text, out);
  fclose(out);
}

static void test_bad_folders(void) {
  const struct {
    const char *file, *text, *said;
  } bad[] = {
      {"M", "%%MatrixMarket matrix array real general\n2 3\n1 0 0 1 0 0\n",
       "2 x 3, expected is a square one"},
      {"M", "%%MatrixMarket matrix array real general\n3 3\n1 0 0 0 1 0 0 0 -1",
       "M is not positive definite"},
      {"Jn", "%%MatrixMarket matrix array real general\n2 2\n1 0 0 1\n",
       "Jn.mtx:2: the matrix is 2 x 2, expected is any x 3"},
      {"Jt", "%%MatrixMarket matrix array real general\n3 3\n1 0 0 0 1 0 0 0 1",
       "3 x 3, expected is 2 x 3 or 4 x 3"},
      {"mu", "%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n",
       "mu.mtx:2: the matrix is 3 x 1, expected is 2 x 1"},
      {"mu", "%%MatrixMarket matrix array real general\n2 1\n1\n-1\n",
       "mu must be >= 0"},
      {"v", "%%MatrixMarket matrix array real general\n3 1\n1\nnan\n1\n",
       "v.mtx:4: 'nan' is not a finite number (expected is 3 x 1)"},
      {"v", "not a matrix\n", "v.mtx:1: the first line must be"},
      {"v", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n",
       "v.mtx:4: the file ends where a number is expected"}};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    write_folder("broken", false);
    char file[64];
    snprintf(file, sizeof file, "broken/%s.mtx", bad[k].file);
    break_file(file, bad[k].text);
    CU_ASSERT_EQUAL(run(path_of("broken"), NULL), 2);
    CU_ASSERT(says(errors, bad[k].said));
    CU_ASSERT_EQUAL(strlen(output), 0);
  }
  unlink(path_of("broken/Jt.mtx"));
  CU_ASSERT_EQUAL(run(path_of("broken"), NULL), 2);
  CU_ASSERT(says(errors, "Jt.mtx: No such file") &&
            says(errors, "expected is 2 x 3 or 4 x 3"));
}

/* Ranges one after another have the rows of one run. */
static void test_ranges_make_up_the_whole(void) {
  const char *const selects[2] = {"first", "random"};
  const char *const ranges[3] = {"0:120", "120:250", "250:400"};
  for (int k = 0; k < 2; k++) {
    run("compass-gait", "--samples", "400", "--select", selects[k], "--steps",
        "30", "--threads", "2", "--csv", path_of("whole.csv"), NULL);
    char *whole = slurp(path_of("whole.csv"));
    const char *row = strstr(strstr(whole, "\nsample,") + 1, "\n") + 1;
    for (int i = 0; i < 3; i++) {
      CU_ASSERT_EQUAL(
          run("compass-gait", "--range", ranges[i], "--select", selects[k],
              "--steps", "30", "--csv", path_of("part.csv"), NULL),
          0);
      char *part = slurp(path_of("part.csv"));
      const char *rows = strstr(strstr(part, "\nsample,") + 1, "\n") + 1;
      size_t length = strlen(rows);
      CU_ASSERT(length > 0 && strncmp(row, rows, length) == 0);
      row += length;
      free(part);
    }
    CU_ASSERT_EQUAL(*row, 0);
    free(whole);
  }
}

static void test_files_that_cannot_be_written(void) {
  CU_ASSERT_EQUAL(run("rocking-block", "--samples", "9", "--csv",
                      "/no/such/folder/a.csv", NULL),
                  1);
  CU_ASSERT(says(errors, "/no/such/folder/a.csv': No such file"));

  // a disk that is full leaves neither a part of the file nor a draft of it
  full_disk before;
  full_disk_begin(&before, 100);
  int status = run("rocking-block", "--samples", "9", "--csv",
                   path_of("full.csv"), NULL);
  full_disk_end(&before);
  CU_ASSERT_EQUAL(status, 1);
  char command[PATH_MAX + 32];
  snprintf(command, sizeof command, "ls %s* >/dev/null 2>&1",
           path_of("full.csv"));
  CU_ASSERT_NOT_EQUAL(system(command), 0);

  if (access("/dev/full", F_OK) != 0) return;
  CU_ASSERT_EQUAL(
      run("rocking-block", "--samples", "9", "--csv", "/dev/full", NULL), 1);
  CU_ASSERT(says(errors, "/dev/full"));
}

static void test_ways(void) {
  CU_ASSERT_EQUAL(run("rocking-block", "--samples", "50", "--csv-ways",
                      path_of("ways.csv"), NULL),
                  0);
  char *text = slurp(path_of("ways.csv"));
  long n_lines = 0, n_starts = 0;
  for (char *line = strtok(text, "\n"); line != NULL;
       line = strtok(NULL, "\n")) {
    unsigned long sample, lcps;
    if (sscanf(line, "%lu,%lu,", &sample, &lcps) != 2) continue;
    n_lines++;
    n_starts += lcps == 0;
  }
  CU_ASSERT_EQUAL(n_starts, 50);
  CU_ASSERT(n_lines > 100);
  free(text);
}

static void test_interrupt(void) {
  char *words[] = {(char *)"impact",    (char *)"disk-stack",
                   (char *)"--samples", (char *)"1000000",
                   (char *)"--threads", (char *)"1",
                   (char *)"--json",    NULL};
  CU_ASSERT_EQUAL(run_words(true, words), 1);
  CU_ASSERT(is_one_json_object(output));
  CU_ASSERT(says(output, "\"interrupted\": true"));
  CU_ASSERT(says(errors, "interrupted"));
  double samples = number_of(output, "samples");
  CU_ASSERT(samples >= 0 && samples < 1000000);
}

int main(void) {
  if (mkdtemp(folder) == NULL) return 1;
  CU_TestInfo tests[] = {
      {"json", test_json},
      {"all examples run", test_all_examples_run},
      {"wrong use", test_wrong_use},
      {"problem folder", test_problem_folder},
      {"bad folders", test_bad_folders},
      {"ranges make up the whole", test_ranges_make_up_the_whole},
      {"files that cannot be written", test_files_that_cannot_be_written},
      {"ways", test_ways},
      {"interrupt", test_interrupt},
      CU_TEST_INFO_NULL};
  int status = run_tests("impacts: command", tests);
  free(output);
  free(errors);
  char command[80];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command) == 0 ? status : 1;
}
