/* `ode-mlcp compare`: a program on several steppers, one after the other, each
 * run a process of its own that records itself; then the report. */
#define _GNU_SOURCE // PR_SET_PDEATHSIG, asprintf
#include "command/compare.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command/arguments.h"
#include "command/command.h"
#include "command/preloads.h"
#include "command/program.h"
#include "common/clock.h"
#include "judge/taking.h"
#include "settings/environment.h"
#include "settings/settings.h"

static const char about[] =
    "Usage: ode-mlcp compare [OPTION...] [--] PROGRAM [ARG...]\n"
    "       ode-mlcp compare --from DIR... [OPTION...]\n"
    "\n"
    "Run an ODE program once a stepper, unchanged, with the same seeds and "
    "clock,\nand put the results side by side: a table here, and in a folder "
    "report.html,\nreport.json and a CSV file a stepper.\n"
    "\n";
static const char ending[] =
    "\n"
    "Steppers: step (dWorldStep), quick (dWorldQuickStep), quick:N (with N\n"
    "iterations), which are the host's own, and ode-mlcp's schemes by name.\n"
    "A signal (an interrupt) ends the run that goes on and leaves the rest "
    "out; the\n"
    "report is of what was recorded.\n"
    "Exit status: 0 done; 1 a run failed or a file was not written; 2 wrong "
    "use "
    "or\nbad input.\n";

typedef struct request {
  const char *steppers, *output, *clock;
  uint64_t steps, refine, megabytes;
  double limit;
  bool from, no_repeat, json;
} request;

/* ---- options ---- */

static bool take_setting(void *context, const char *name, const char *value) {
  if (strcmp(name, "scheme") != 0) return command_hand_on(context, name, value);
  complain("--scheme: name the schemes in --steppers");
  return false;
}

static bool read_options(int argc, char **argv, request *request, int *status) {
  const argument arguments[] = {
      {"steppers", "LIST", &request->steppers,
       .help = "which, with commas between (step,quick,ah)"},
      {"steps", "N", &request->steps, argument_take_count,
       "a whole number from 1", .least = 1, .most = INT64_MAX,
       .help = "end the program after N steps, should it not end by itself "
               "(6000)"},
      {"refine", "R", &request->refine, argument_take_count,
       "a whole number from 2 to 16", .least = 2, .most = 16,
       .help =
           "run each with every step in R and in R^2 substeps, too: gives a "
           "reference, errors and orders"},
      {"output", "DIR", &request->output,
       .help = "the folder for the report (ode-mlcp-report)"},
      {"limit", "SECONDS", &request->limit, argument_take_positive,
       "a number above 0", .help = "end a run that takes longer (none)"},
      {"clock", "steps|real", &request->clock,
       .help = "steps: the program's clock goes with its steps (default), so "
               "that every run sees the same times"},
      {"megabytes", "N", &request->megabytes, argument_take_count,
       "a whole number from 1 to 1000000", .least = 1, .most = 1000000,
       .help = "a recording that would be larger is sampled in time (256)"},
      {"no-repeat", NULL, &request->no_repeat,
       .help =
           "do not run one stepper twice to see whether the program repeats "
           "itself"},
      {"from", NULL, &request->from,
       .help = "report on recordings in the folders that are named"},
      {"json", NULL, &request->json,
       .help = "print report.json, not the table"},
      {.name = NULL}};
  const command_line line = {about,        arguments, ending,
                             take_setting, NULL,      true};
  *request = (struct request){.steppers = NULL,
                              .output = "ode-mlcp-report",
                              .clock = "steps",
                              .steps = 6000,
                              .megabytes = 256};
  if (!arguments_read(&line, argc, argv, status)) return false;
  *status = COMMAND_WRONG_USE;
  if (strcmp(request->clock, "steps") != 0 &&
      strcmp(request->clock, "real") != 0) {
    complain("--clock: '%s' is not steps or real", request->clock);
    return false;
  }
  if (request->output[0] == '\0') {
    complain("--output: the name is empty");
    return false;
  }
  if (request->steppers == NULL) request->steppers = "step,quick,ah";
  for (int i = optind; request->from && i < argc; i++)
    if (argv[i][0] == '-') {
      complain("--from: options come before the folders, %s does not", argv[i]);
      return false;
    }
  if (optind < argc) return true;
  complain(request->from ? "--from: no folder named"
                         : "no program to run; see ode-mlcp compare --help");
  return false;
}

static bool is_stock(const char *name) {
  uint64_t count;
  return strcmp(name, "step") == 0 || strcmp(name, "quick") == 0 ||
         (strncmp(name, "quick:", 6) == 0 &&
          argument_parse_count(name + 6, 1, 1000000, &count));
}

static bool is_scheme(const char *name) {
  ode_mlcp_options options;
  char message[SETTING_LINE];
  ode_mlcp_default_options(&options);
  return ode_mlcp_set_option(&options, "scheme", name, message,
                             sizeof message) == ODE_MLCP_OK;
}

static bool take_stepper(comparison *c, const char *name, size_t length) {
  if (c->n_runs == COMPARE_RUNS || length == 0 || length >= COMPARE_NAME) {
    complain(c->n_runs == COMPARE_RUNS ? "--steppers: more than %d of them"
                                       : "--steppers: a name is missing or too "
                                         "long (%d letters)",
             c->n_runs == COMPARE_RUNS ? COMPARE_RUNS : COMPARE_NAME - 1);
    return false;
  }
  compare_run *run = &c->runs[c->n_runs];
  memset(run, 0, sizeof *run);
  memcpy(run->name, name, length);
  if (!is_stock(run->name) && !is_scheme(run->name)) {
    complain(
        "--steppers: there is no stepper '%s': step, quick, quick:N, or a "
        "scheme as in ode-mlcp run --help",
        run->name);
    return false;
  }
  for (int i = 0; i < c->n_runs; i++)
    if (strcmp(c->runs[i].name, run->name) == 0) {
      complain("--steppers: '%s' twice", run->name);
      return false;
    }
  c->n_runs++;
  return true;
}

static bool take_steppers(comparison *c, const char *list) {
  for (;;) {
    size_t length = strcspn(list, ",");
    if (!take_stepper(c, list, length)) return false;
    if (list[length] == '\0') return true;
    list += length + 1;
  }
}

/* ---- folders and files ---- */

static bool make_folder(const char *path) {
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return true;
  complain("--output: cannot make %s: %s", path, strerror(errno));
  return false;
}

/* DIR/data/NAME[-rR].SUFFIX */
static void name_file(char path[PATH_MAX], const char *folder,
                      const compare_run *run, const char *label,
                      const char *suffix) {
  char name[COMPARE_NAME];
  compare_file_name(run, name);
  if (snprintf(path, PATH_MAX, "%s/data/%s%s%s", folder, name, label, suffix) >=
      PATH_MAX)
    path[0] = '\0'; // refused when it is opened
}

/* ---- one run ---- */

static volatile sig_atomic_t interrupts;
static void count_interrupt(int number) {
  (void)number;
  interrupts++;
}

static void hear_interrupts(void) {
  struct sigaction heard = {.sa_handler = count_interrupt};
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
    struct sigaction present;
    sigaction(numbers[k], NULL, &present);
    if (present.sa_handler != SIG_IGN) sigaction(numbers[k], &heard, NULL);
  }
}

static bool set_number(const char *variable, uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  return setenv(variable, text, 1) == 0;
}

/* In the child: becomes the program on the stepper. */
static void __attribute__((noreturn))
become(const request *request, const compare_run *run, const char *file,
       char **argv, const char *traffic, const char *output, unsigned refine) {
  char message[2 * PATH_MAX];
  static char preloads[16 * PATH_MAX];
  prctl(PR_SET_PDEATHSIG, SIGTERM); // nobody is left to be told
  setpgid(0, 0); // a terminal's interrupt is the command's to hear
  int in = open("/dev/null", O_RDONLY);
  int out = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (in < 0 || out < 0) _exit(126);
  dup2(in, 0);
  dup2(out, 1);
  dup2(out, 2);
  close(in);
  close(out);
  bool stock = is_stock(run->name);
  const char *stepper = stock ? run->name : "";
  bool good = setenv(RECORDING_TRAFFIC, traffic, 1) == 0 &&
              setenv(RECORDING_CLOCK, request->clock, 1) == 0 &&
              set_number(RECORDING_STEPS, request->steps) &&
              set_number(RECORDING_REFINE, refine) &&
              setenv(RECORDING_STEPPER, stepper, 1) == 0 &&
              (stock || setenv(RECORDING_SCHEME, run->name, 1) == 0);
  if (!good) _exit(126);
  unsetenv(ENVIRONMENT_STATS);
  unsetenv(ENVIRONMENT_TRACE);
  if (!preloads_value(PRELOAD_RECORDER | (stock ? 0U : PRELOAD_PLUGIN),
                      preloads, sizeof preloads, message, sizeof message) ||
      setenv("LD_PRELOAD", preloads, 1) != 0) {
    fprintf(stderr, "ode-mlcp compare: %s\n", message);
    _exit(126);
  }
  execvp(file, argv);
  fprintf(stderr, "ode-mlcp compare: %s: %s\n", file, strerror(errno));
  _exit(126);
}

/* How far the child is: its recording's head, as it is written. */
static bool read_head(const char *path, recording_head *head) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool read_all = pread(file, head, sizeof *head, 0) == sizeof *head;
  close(file);
  return read_all && memcmp(head->magic, RECORDING_MAGIC, 8) == 0;
}

static void show_progress(const char *path, const char *name, double since,
                          bool last) {
  recording_head head;
  bool terminal = isatty(2);
  if (!read_head(path, &head)) return;
  fprintf(stderr,
          "%sode-mlcp compare: %s: %lld steps, %.4g s of its time in "
          "%.0f s%s",
          terminal ? "\r" : "", name, (long long)head.steps, head.time,
          seconds_now() - since, terminal && !last ? "   " : "\n");
}

typedef struct ended_run {
  int status; /* as in recording_head */
  bool cut;
} ended_run;

/* Takes down what the child tells until it ends, which it does at the limit or
 * when the user wants, too. */
static ended_run watch(pid_t child, const request *request, const char *path,
                       const char *name) {
  const struct timespec moment = {0, 1000000};
  const double PATIENCE = 3; /* s from a polite end to a sure one */
  double start = seconds_now(), said = start, asked = 0;
  ended_run run = {-1, false};
  int status, heard = interrupts;
  bool spoke = false;
  for (;;) {
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) break;
    double now = seconds_now();
    bool late = request->limit > 0 && now - start > request->limit;
    if (!run.cut && (late || interrupts != heard)) {
      kill(-child, SIGTERM);
      run.cut = true;
      asked = now;
    } else if (run.cut && now - asked > PATIENCE) {
      kill(-child, SIGKILL);
    }
    if (now - said > (isatty(2) ? 0.5 : 15)) {
      show_progress(path, name, start, false);
      said = now;
      spoke = true;
    }
    if (!taking_go_on()) nanosleep(&moment, NULL);
  }
  kill(-child, SIGKILL); // what it left behind
  if (spoke && isatty(2)) show_progress(path, name, start, true);
  if (WIFEXITED(status)) run.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) run.status = 128 + WTERMSIG(status);
  return run;
}

typedef struct job {
  const request *request;
  const char *file;
  char **argv;
  const char *folder;
} job;

/* True if the command was killed as it recorded: it writes the status last. */
static bool breaks_off(const recording_head *head) {
  return head->status < 0 && !head->cut && !head->full;
}

/* Why a run that has steps is not whole; empty: it is. `cut` names what ended
 * it, `output` the file with what it said (empty: not known). */
static void explain_end(compare_run *run, const recording_head *head,
                        const char *cut, const char *output) {
  char *out = run->complaint, said[300] = "";
  size_t size = sizeof run->complaint;
  long long steps = (long long)head->steps;
  if (output[0] != '\0')
    snprintf(said, sizeof said, " (%.250s has what it said)", output);
  if (head->cut)
    snprintf(out, size, "%s after %lld steps", cut, steps);
  else if (head->full)
    snprintf(out, size, "the disk was full after %lld steps", steps);
  else if (breaks_off(head))
    snprintf(out, size,
             "its recording breaks off after %lld steps: ode-mlcp itself was "
             "ended while it recorded",
             steps);
  else if (head->stopped)
    snprintf(out, size, "ended at --steps %lld", steps);
  else if (head->status > 128)
    snprintf(out, size, "the program died of signal %d (%s) after %lld steps%s",
             head->status - 128, strsignal(head->status - 128), steps, said);
  else if (head->status != 0)
    snprintf(out, size, "the program ended with status %d after %lld steps%s",
             head->status, steps, said);
}

/* The complaint about a run; empty: none. */
static void explain(compare_run *run, const recording *r, ended_run ended,
                    const char *output) {
  const char *cut = interrupts > 0 ? "interrupted" : "ended by --limit";
  if (r != NULL)
    explain_end(run, r->head, cut, output);
  else if (ended.cut)
    snprintf(run->complaint, sizeof run->complaint,
             "%s before the program stepped a world", cut);
  else
    snprintf(
        run->complaint, sizeof run->complaint,
        "the program stepped no world (status %d; %.300s has what it said)",
        ended.status, output);
}

static recording *run_once(const job *job, compare_run *run, const char *label,
                           unsigned refine, bool tells) {
  char path[PATH_MAX], traffic[TAKING_PLACE], output[PATH_MAX];
  char message[PATH_MAX + 200];
  name_file(path, job->folder, run, label, ".rec");
  name_file(output, job->folder, run, label, ".out");
  unlink(path);
  fflush(NULL);
  const taking taking = {.recording = path,
                         .stepper = run->name,
                         .arguments = job->argv + 1,
                         .refine = refine,
                         .most_bytes = job->request->megabytes << 20};
  if (!taking_begin(&taking, traffic)) {
    snprintf(run->complaint, sizeof run->complaint, "no shared memory: %s",
             strerror(errno));
    return NULL;
  }
  pid_t child = fork();
  if (child < 0) {
    snprintf(run->complaint, sizeof run->complaint, "no process: %s",
             strerror(errno));
    taking_end(-1, true);
    return NULL;
  }
  if (child == 0)
    become(job->request, run, job->file, job->argv, traffic, output, refine);
  setpgid(child, child);
  char name[COMPARE_NAME + 32];
  snprintf(name, sizeof name, "%s%s", run->name, label);
  ended_run ended = watch(child, job->request, path, name);
  bool whole = taking_end(ended.status, ended.cut);
  recording *r = recording_open(path, message, sizeof message);
  if (r != NULL && r->head->steps == 0) {
    recording_close(r);
    r = NULL;
  }
  // the page goes elsewhere: as it is named from there
  const char *said = output + strlen(job->folder);
  while (*said == '/') said++;
  if (tells) explain(run, r, ended, said);
  if (tells && !whole)
    snprintf(run->complaint, sizeof run->complaint,
             "its record breaks off after %lld steps (status %d; %.280s has "
             "what it said)",
             r != NULL ? (long long)r->head->steps : 0LL, ended.status, said);
  return r;
}

static void run_levels(const job *job, compare_run *run, int refine) {
  run->levels[0] = run_once(job, run, "", 1, true);
  unsigned substeps = 1;
  for (int k = 1; k < COMPARE_LEVELS && refine > 0 && interrupts == 0; k++) {
    char label[32];
    substeps *= (unsigned)refine;
    snprintf(label, sizeof label, "-r%u", substeps);
    run->levels[k] = run_once(job, run, label, substeps, false);
  }
}

/* The run that took the least time, done again: is it the same? */
static recording *repeat_one(const job *job, comparison *c) {
  c->repeated = -1;
  for (int i = 0; i < c->n_runs; i++) {
    const recording *r = c->runs[i].levels[0];
    if (r != NULL && !r->head->cut &&
        (c->repeated < 0 ||
         r->head->seconds < c->runs[c->repeated].levels[0]->head->seconds))
      c->repeated = i;
  }
  if (c->repeated < 0 || job->request->no_repeat || interrupts > 0) return NULL;
  return run_once(job, &c->runs[c->repeated], "-again", 1, false);
}

/* ---- recordings made elsewhere ---- */

/* The host's own first, as they usually are named. */
static int rank(const char *name) {
  if (strncmp(name, "step", 4) == 0) return 0;
  return strncmp(name, "quick", 5) == 0 ? 1 : 2;
}

static int by_name(const struct dirent **one, const struct dirent **other) {
  int by_rank = rank((*one)->d_name) - rank((*other)->d_name);
  return by_rank != 0 ? by_rank : strcmp((*one)->d_name, (*other)->d_name);
}

static int is_recording(const struct dirent *entry) {
  size_t length = strlen(entry->d_name);
  return length > 4 && strcmp(entry->d_name + length - 4, ".rec") == 0;
}

static void name_program(comparison *c, const recording_head *head) {
  static char words[RECORDING_ARGUMENTS], *list[RECORDING_ARGUMENTS];
  int n = 0;
  snprintf(c->program, sizeof c->program, "%s", head->program);
  memcpy(words, head->arguments, sizeof words);
  for (char *word = words; *word != '\0'; word += strlen(word) + 1)
    list[n++] = word;
  list[n] = NULL;
  c->arguments = list;
}

/* True if the recording has a place of its own among the runs. */
static bool take_recording(comparison *c, recording *r, bool again,
                           recording **repeat) {
  const char *name = r->head->stepper;
  int at = 0;
  while (at < c->n_runs && strcmp(c->runs[at].name, name) != 0) at++;
  if (at == COMPARE_RUNS) return false;
  if (at == c->n_runs) {
    memset(&c->runs[at], 0, sizeof c->runs[at]);
    snprintf(c->runs[at].name, COMPARE_NAME, "%.*s", COMPARE_NAME - 1, name);
    c->n_runs++;
  }
  if (c->program[0] == '\0') name_program(c, r->head);
  if (again) {
    if (*repeat != NULL || breaks_off(r->head)) return false;
    *repeat = r;
    c->repeated = at;
    return true;
  }
  int refine = (int)r->head->refine;
  int level = refine <= 1 ? 0 : refine == c->refine ? 1 : 2;
  if (c->runs[at].levels[level] != NULL) return false;
  c->runs[at].levels[level] = r;
  if (level == 0)
    explain_end(&c->runs[at], r->head, "interrupted or ended by --limit", "");
  return true;
}

/* All recordings of a folder, first by its runs' number of substeps: the least that is
 * met is that of the first level. */
static int read_recordings(comparison *c, const char *folder,
                           recording **repeat, bool *any) {
  char message[PATH_MAX + 200], path[PATH_MAX];
  struct dirent **names;
  int n = scandir(folder, &names, is_recording, by_name), status = COMMAND_DONE;
  recording **found = calloc(n > 0 ? (size_t)n : 1, sizeof *found);
  if (found == NULL || (n < 0 && errno == ENOMEM))
    status = complain("--from: memory ran out");
  for (int i = 0; found != NULL && i < n; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
    found[i] = recording_open(path, message, sizeof message);
    if (found[i] == NULL) status = complain("--from: %s", message);
    int refine = found[i] != NULL ? (int)found[i]->head->refine : 0;
    if (refine > 1 && (c->refine == 0 || refine < c->refine))
      c->refine = refine;
  }
  for (int i = 0; i < n; i++) {
    bool again = strstr(names[i]->d_name, "-again.rec") != NULL;
    if (found != NULL && found[i] != NULL &&
        !take_recording(c, found[i], again, repeat))
      recording_close(found[i]);
    free(names[i]);
  }
  if (n >= 0) free(names);
  free(found);
  *any |= n > 0;
  return status;
}

static int read_folder(comparison *c, const char *folder, recording **repeat) {
  char data[PATH_MAX];
  bool any = false;
  snprintf(data, sizeof data, "%s/data", folder);
  int status = read_recordings(c, folder, repeat, &any);
  if (status == COMMAND_DONE) status = read_recordings(c, data, repeat, &any);
  if (status != COMMAND_DONE || any) return status;
  return complain("--from: no recording (data/*.rec) in %s", folder);
}

/* ---- the whole ---- */

static int write_report(const comparison *c, const request *request,
                        const char *folder, int status) {
  static compare_writer *const writers[] = {
      compare_write_json, compare_write_csv, compare_write_html};
  char message[PATH_MAX + 200];
  for (size_t k = 0; k < sizeof writers / sizeof writers[0]; k++)
    status = written_or_complain(writers[k](c, folder, message, sizeof message),
                                 message, status);
  json out = {.out = stdout};
  if (request->json) {
    compare_put(c, &out, NULL);
  } else {
    compare_print_table(c);
    printf("\nThe report: %s/report.html\n", folder);
  }
  return status;
}

static void release(comparison *c, recording *again) {
  for (int i = 0; i < c->n_runs; i++)
    for (int k = 0; k < COMPARE_LEVELS; k++)
      recording_close(c->runs[i].levels[k]);
  recording_close(again);
}

/* A run that did not come to its end is not what was asked for. */
static int judge_runs(const comparison *c) {
  if (c->short_of_memory) {
    complain("no memory for all figures");
    return COMMAND_FELL_SHORT;
  }
  for (int i = 0; i < c->n_runs; i++) {
    const recording *r = c->runs[i].levels[0];
    if (r == NULL || r->head->cut || r->head->full || breaks_off(r->head) ||
        (r->head->status > 0 && !r->head->stopped))
      return COMMAND_FELL_SHORT;
  }
  return COMMAND_DONE;
}

/* A result of an earlier comparison must not pass for one of this. */
static void remove_old(const char *folder, const char *const endings[]) {
  char path[PATH_MAX];
  DIR *listing = opendir(folder);
  if (listing == NULL) return;
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
    const char *end = strrchr(entry->d_name, '.');
    for (int k = 0; end != NULL && endings[k] != NULL; k++)
      if (strcmp(end, endings[k]) == 0 &&
          snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) <
              PATH_MAX)
        unlink(path);
  }
  closedir(listing);
}

static void remove_old_report(const char *folder, bool with_recordings) {
  static const char *const report[] = {".csv", ".json", ".html", NULL};
  static const char *const recordings[] = {".rec", ".out", NULL};
  char data[PATH_MAX];
  remove_old(folder, report);
  if (with_recordings &&
      snprintf(data, sizeof data, "%s/data", folder) < PATH_MAX)
    remove_old(data, recordings);
}

static bool make_folders(const char *folder, char absolute[PATH_MAX]) {
  char data[PATH_MAX];
  if (!make_folder(folder)) return false;
  if (realpath(folder, absolute) == NULL ||
      snprintf(data, sizeof data, "%s/data", absolute) >= PATH_MAX - 64) {
    complain("--output: %s: %s", folder, strerror(errno));
    return false;
  }
  return make_folder(data);
}

static int run_program(const request *request, comparison *c, char **argv) {
  char folder[PATH_MAX];
  char file[PATH_MAX];
  if (!take_steppers(c, request->steppers) || !program_check(file, argv[0]) ||
      !make_folders(request->output, folder))
    return COMMAND_WRONG_USE;
  snprintf(c->program, sizeof c->program, "%s", argv[0]);
  c->arguments = argv + 1;
  c->refine = (int)request->refine;
  remove_old_report(folder, true);

  hear_interrupts();
  const job job = {request, file, argv, folder};
  for (int i = 0; i < c->n_runs; i++)
    if (interrupts == 0)
      run_levels(&job, &c->runs[i], c->refine);
    else
      snprintf(c->runs[i].complaint, sizeof c->runs[i].complaint,
               "not run: interrupted");
  recording *again = repeat_one(&job, c);
  compare_judge(c, again);
  int status = write_report(c, request, folder, judge_runs(c));
  release(c, again);
  return status;
}

static int run_from(const request *request, comparison *c, char **folders) {
  char folder[PATH_MAX];
  int status = COMMAND_DONE;
  recording *again = NULL;
  for (; *folders != NULL && status == COMMAND_DONE; folders++)
    status = read_folder(c, *folders, &again);
  if (status == COMMAND_DONE && make_folders(request->output, folder)) {
    remove_old_report(folder, false);
    compare_judge(c, again);
    status = write_report(c, request, folder, judge_runs(c));
  } else if (status == COMMAND_DONE) {
    status = COMMAND_WRONG_USE;
  }
  release(c, again);
  return status;
}

int command_compare(int argc, char **argv) {
  static comparison c;
  request request;
  int status;
  if (!read_options(argc, argv, &request, &status)) return status;
  return request.from ? run_from(&request, &c, argv + optind)
                      : run_program(&request, &c, argv + optind);
}
