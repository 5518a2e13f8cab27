/* `ode-mlcp run`: everything is checked, then the program is started with the patched
 * host and the plugin preloaded. This process waits for it, writes the results and
 * says what was wrong with the run. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/arguments.h"
#include "command/child.h"
#include "command/command.h"
#include "command/json.h"
#include "command/preloads.h"
#include "command/program.h"
#include "command/result_file.h"
#include "mlcp/mlcp_folder.h"
#include "preload/output_file.h"
#include "preload/run_page.h"
#include "settings/environment.h"

#define MESSAGE_SIZE (2 * PATH_MAX)

/* With --strict, of a program that ended well, if a step was not taken. */
enum { STEPS_NOT_TAKEN_STATUS = 3 };

static const char about[] =
    "Usage: ode-mlcp run [OPTION...] [--] PROGRAM [ARG...]\n"
    "\n"
    "Run a program that uses the Open Dynamics Engine (libode.so.8, double\n"
    "precision, dynamically linked) with every dWorldStep and dWorldQuickStep\n"
    "taken by ode-mlcp. The program itself is not changed.\n"
    "\n";
static const char ending[] =
    "\n"
    "Each option is also an environment variable: ODE_MLCP_EDGES for --edges.\n"
    "Exit status: the program's; 2 when it could not be started, or when it\n"
    "returned 0 but never stepped an ODE world or holds a second ODE library;\n"
    "3 with --strict when it returned 0 but steps were refused or failed.\n";

/* ---- options ---- */

/* Hands a value on as an environment variable. */
static bool take_variable(const argument *argument, const char *value) {
  return setenv(argument->place, value, 1) == 0;
}

bool command_hand_on(void *context, const char *option, const char *value) {
  char problem[400], variable[ENVIRONMENT_NAME];
  ode_mlcp_options options;
  (void)context;

  ode_mlcp_default_options(&options);
  if (ode_mlcp_set_option(&options, option, value, problem, sizeof problem) !=
      ODE_MLCP_OK) {
    complain("--%s", problem);
    return false;
  }
  environment_variable(option, variable);
  if (setenv(variable, value, 1) == 0) return true;
  complain("memory ran out");
  return false;
}

static bool read_options(int argc, char **argv, int *status) {
  static char stats[] = ENVIRONMENT_STATS, trace[] = ENVIRONMENT_TRACE,
              dump[] = ENVIRONMENT_DUMP;
  bool strict = false;
  const argument arguments[] = {
      {"stats", "FILE.json", stats, take_variable, "a file's name",
       .help = "write sums over the run at its end"},
      {"trace", "FILE.csv", trace, take_variable, "a file's name",
       .help = "write a row a step"},
      {"dump", "FOLDER", dump, take_variable, "a folder's name",
       .help = "write problems that end above the tolerance into it, for "
               "ode-mlcp solve: the newest 100, at most 1 GiB"},
      {"strict", NULL, &strict,
       .help = "end with status 3 where steps were refused or failed and the "
               "program ended well"},
      {.name = NULL}};
  const command_line line = {about,           arguments, ending,
                             command_hand_on, NULL,      true};
  if (!arguments_read(&line, argc, argv, status)) return false;
  if (strict) setenv(ENVIRONMENT_STRICT, "on", 1);
  return true;
}

/* ---- results ---- */

/* Takes what a variable names, absolute, out of the environment: another command that
 * the program starts has its own. */
static bool claim(const char *option, const char *variable,
                  char path[PATH_MAX]) {
  const char *name = getenv(variable);
  if (name == NULL) return true;
  int error = output_file_check(name, false, path);
  if (error != 0)
    complain("--%s: cannot write '%s': %s", option, name, strerror(error));
  unsetenv(variable);
  return error == 0;
}

/* A result of an earlier run must not pass for one of this. */
static void remove_old(const char *path) {
  if (path[0] != '\0' && output_file_is_plain(path)) unlink(path);
}

/* A setting's text is a number, for JSON too, a word, or inf: no limit. */
static void put_settings(json *json, const ode_mlcp_options *options) {
  char name[32], value[32];
  json_put_string(json, "version", ode_mlcp_version());
  for (int i = 0; ode_mlcp_option_name(i, name, sizeof name) == ODE_MLCP_OK;
       i++) {
    if (ode_mlcp_get_option(options, name, value, sizeof value) != ODE_MLCP_OK)
      continue;
    for (char *c = name; *c != '\0'; c++)
      if (*c == '-') *c = '_';
    if (strcmp(value, "inf") == 0)
      json_put_word(json, name, "null");
    else if (value[0] >= 'a')
      json_put_string(json, name, value);
    else
      json_put_word(json, name, value);
  }
}

static void put_sums(json *json, const statistics *sums) {
#define NONE
#define SUM(key) PUT_VALUE(#key, value)
#define MOST(key) PUT_VALUE(#key, value)
#define PUT_VALUE(key, value)                                                  \
  _Generic((value), double : json_put, long : json_put_count)(json, key, value);
#define PUT(type, field, islands, steps, unit, meaning)                        \
  {                                                                            \
    STATISTICS_##type value = sums->field;                                     \
    (void)value;                                                               \
    steps                                                                      \
  }
  ODE_MLCP_REPORT(PUT)
  json_put_count(json, "failed", sums->failed);
  json_put_count(json, "worlds", sums->worlds);
}

static void write_statistics(const char *path, const run_page *page) {
  char message[MESSAGE_SIZE];
  result_file file;
  bool good = result_begin(&file, message, sizeof message, "%s", path);
  if (good) {
    json json = {.out = file.out};
    json_open(&json, NULL, '{');
    put_sums(&json, &page->sums);
    put_settings(&json, &page->used);
    json_close(&json);
    good = result_end(&file, true, message, sizeof message);
  }
  if (!good) complain("%s", message);
}

/* ---- problems ---- */

/* Puts the absolute path of the folder into its variable: the program may work in
 * another one by then. */
static bool check_dump(char folder[PATH_MAX]) {
  const char *name = getenv(ENVIRONMENT_DUMP);
  if (name == NULL) return true;
  int error = output_file_check(name, true, folder);
  if (error == 0) return setenv(ENVIRONMENT_DUMP, folder, 1) == 0;
  complain("--dump: cannot write into '%.200s': %s", name, strerror(error));
  return false;
}

static void remove_old_problems(const char *folder) {
  char path[MLCP_FOLDER_PATH];
  DIR *listing = *folder != '\0' ? opendir(folder) : NULL;
  if (listing == NULL) return;
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
    if ((strncmp(entry->d_name, "step-", 5) == 0 ||
         strncmp(entry->d_name, "world-", 6) == 0) &&
        mlcp_folder_file(folder, entry->d_name, path))
      mlcp_folder_remove(path);
  closedir(listing);
}

/* ---- the run ---- */

static run_page *make_page(const char *trace, int *descriptor) {
  char setting[64];
  // the program of another run, which did its part by starting this one
  run_page *outer = run_page_find();
  if (outer != NULL) atomic_store(&outer->answered, 1);
  run_page *page = run_page_create(descriptor);
  if (page == NULL) {
    complain("no shared memory: %s", strerror(errno));
    return NULL;
  }
  strcpy(page->trace, trace);
  snprintf(setting, sizeof setting, "%ld:%d", (long)getpid(), *descriptor);
  return setenv(RUN_PAGE_VARIABLE, setting, 1) == 0 ? page : NULL;
}

/* A pipe of the program's must not stay open because we wait. */
static void let_go_of_streams(void) {
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int k = 0; k < 2 && nothing >= 0; k++) dup2(nothing, k);
}

/* Says what was wrong with a run. @return the status to end with in place of the
 * program's */
static int judge(const run_page *page, const char *name, bool goes_on,
                 bool strict, int status) {
  long not_taken = statistics_not_taken(&page->sums),
       steps = statistics_tried(&page->sums);
  bool stepped = steps > 0 || page->answered || goes_on;
  bool told = stepped || page->refused || page->second_library;
  const char *why =
      page->started == 0
          ? ": nothing could be loaded into it. It is linked statically, "
            "changes "
            "its user, or is for another C library or machine"
          : ". If it has ODE linked in statically, link it with the shared "
            "libode.so.8; if it starts another program, leave LD_PRELOAD as it "
            "is";
  if (!told) complain("%s never stepped an ODE world on ode-mlcp%s", name, why);
  if (not_taken > 0)
    complain("%s: %ld of %ld steps were refused or failed and changed nothing",
             name, not_taken, steps);
  if (status != 0) return status;
  if (!stepped || page->second_library) return WRONG_RUN_STATUS;
  return not_taken > 0 && strict ? STEPS_NOT_TAKEN_STATUS : 0;
}

static bool is_strict(void) {
  const char *value = getenv(ENVIRONMENT_STRICT);
  return value != NULL && strcmp(value, "on") == 0;
}

/* `statistics` and `trace` are files, or empty. */
static int run(const char *path, char **argv, const char *statistics,
               const char *trace) {
  int descriptor, ended;
  run_page *page = make_page(trace, &descriptor);
  if (page == NULL) return COMMAND_WRONG_USE;
  pid_t child = child_fork();
  if (child < 0) return complain("no process: %s", strerror(errno));
  if (child == 0) {
    execvp(path, argv);
    page->exec_error = errno;
    _exit(COMMAND_WRONG_USE);
  }
  if (statistics[0] == '\0' || output_file_is_plain(statistics))
    let_go_of_streams();
  run_page_leave(descriptor);
  ended = child_wait(child);

  run_page last = *page;
  munmap(page, sizeof *page);
  if (statistics_tried(&last.sums) > 0 && statistics[0] != '\0')
    write_statistics(statistics, &last);
  if (last.exec_error != 0)
    return complain("%s: %s", path, strerror(last.exec_error));
  const char *name = strrchr(path, '/') + 1;
  int status =
      judge(&last, name, run_page_is_used(descriptor), is_strict(),
            WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended));
  if (WIFSIGNALED(ended)) child_die_of(WTERMSIG(ended));
  return status;
}

int command_run(int argc, char **argv) {
  static char statistics[PATH_MAX], trace[PATH_MAX];
  static char preloads[16 * PATH_MAX];
  char message[MESSAGE_SIZE], dump[PATH_MAX] = "", path[PATH_MAX];
  ode_mlcp_options options;
  int status;

  if (!read_options(argc, argv, &status)) return status;
  if (optind >= argc)
    return complain("no program to run; see ode-mlcp run --help");

  ode_mlcp_default_options(&options);
  if (!environment_read(&options, message, sizeof message))
    return complain("%s", message);
  if (!check_dump(dump) || !program_check(path, argv[optind]))
    return COMMAND_WRONG_USE;
  if (!preloads_value(PRELOAD_PLUGIN, preloads, sizeof preloads, message,
                      sizeof message))
    return complain("%s", message);
  if (setenv("LD_PRELOAD", preloads, 1) != 0) return complain("memory ran out");
  if (!claim("stats", ENVIRONMENT_STATS, statistics) ||
      !claim("trace", ENVIRONMENT_TRACE, trace))
    return COMMAND_WRONG_USE;
  if (trace[0] != '\0' && strcmp(statistics, trace) == 0 &&
      output_file_is_plain(trace))
    return complain("--trace: '%s' is that of --stats", trace);
  remove_old(statistics);
  remove_old(trace);
  remove_old_problems(dump);
  return run(path, argv + optind, statistics, trace);
}
