/* `ode-mlcp run`: everything is checked, then this process becomes the program,
 * with the patched host and the plugin preloaded. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/arguments.h"
#include "command/command.h"
#include "command/preloads.h"
#include "command/program.h"
#include "mlcp/mlcp_folder.h"
#include "preload/dump_folder.h"
#include "preload/output_file.h"
#include "preload/recording.h"
#include "preload/run_mark.h"
#include "settings/environment.h"

#define MESSAGE_SIZE (2 * PATH_MAX)

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

typedef struct request {
  const char *dump;
  bool strict, version;
} request;

static bool read_options(int argc, char **argv, request *request, int *status) {
  static char stats[] = ENVIRONMENT_STATS, trace[] = ENVIRONMENT_TRACE;
  const argument arguments[] = {
      {"stats", "FILE.json", stats, take_variable, "a file's name",
       .help = "write sums over the run at its end"},
      {"trace", "FILE.csv", trace, take_variable, "a file's name",
       .help = "write a row a step"},
      {"dump", "FOLDER", &request->dump,
       .help = "write problems that end above the tolerance into it, for "
               "ode-mlcp solve: the newest 100, at most 1 GiB"},
      {"strict", NULL, &request->strict,
       .help = "end with status 3 where steps were refused or failed and the "
               "program ended well"},
      {"version", NULL, &request->version, .help = "the version"},
      {.name = NULL}};
  const command_line line = {about,           arguments, ending,
                             command_hand_on, NULL,      "+h"};
  if (!arguments_read(&line, argc, argv, status)) return false;
  if (request->dump != NULL && *request->dump == '\0') {
    *status = complain("--dump: the name is empty");
    return false;
  }
  if (request->dump != NULL) setenv(ENVIRONMENT_DUMP, request->dump, 1);
  if (request->strict) setenv(ENVIRONMENT_STRICT, "on", 1);
  return true;
}

/* ---- checks ---- */

/* Puts the absolute path of an output file into its variable: the program may
 * work in another folder by then. */
static bool check_output(const char *variable) {
  char path[PATH_MAX];
  const char *name = getenv(variable);
  if (name == NULL) return true;

  int error = output_file_check(name, path);
  if (error == 0) return setenv(variable, path, 1) == 0;
  bool is_trace = strcmp(variable, ENVIRONMENT_TRACE) == 0;
  complain("--%s: cannot write '%s': %s", is_trace ? "trace" : "stats", name,
           strerror(error));
  return false;
}

/* Likewise the folder's. */
static bool check_dump(dump_request *dump) {
  char message[512];
  const char *bad = dump_request_read(dump, false, message, sizeof message);
  if (bad != NULL) {
    complain("--dump: %s", message);
    return false;
  }
  return dump->folder[0] == '\0' ||
         setenv(ENVIRONMENT_DUMP, dump->folder, 1) == 0;
}

static bool check_outputs(void) {
  if (!check_output(ENVIRONMENT_STATS) || !check_output(ENVIRONMENT_TRACE))
    return false;

  const char *statistics = getenv(ENVIRONMENT_STATS);
  const char *trace = getenv(ENVIRONMENT_TRACE);
  if (statistics == NULL || trace == NULL || strcmp(statistics, trace) != 0 ||
      !output_file_is_plain(trace))
    return true;
  complain("--stats and --trace name the same file");
  return false;
}

/* ---- the start ---- */

/* A result of an earlier run must not pass for one of this. */
static bool remove_old_output(const char *variable) {
  const char *path = getenv(variable);
  int error = path != NULL ? output_file_remove(path) : 0;
  if (error != 0) complain("cannot write %s: %s", path, strerror(error));
  return error == 0;
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

/* Under another run: its program did its part by starting this one, which
 * answers for itself from here. */
static void satisfy_outer_run(void) {
  run_mark_place outer = run_mark_open(getenv(RUN_MARK_VARIABLE));
  if (outer.mark != NULL && outer.top != 0)
    atomic_store(&outer.mark->stepped, 1);
}

static int become(const program *found, const dump_request *dump, char **argv) {
  char message[MESSAGE_SIZE], mark[128];
  static char preloads[16 * PATH_MAX];

  unsigned set = PRELOAD_PLUGIN;
  if (getenv(RECORDING_TRAFFIC) != NULL) set |= PRELOAD_RECORDER;
  if (!preloads_value(set, preloads, sizeof preloads, message, sizeof message))
    return complain("%s", message);
  if (!remove_old_output(ENVIRONMENT_STATS) ||
      !remove_old_output(ENVIRONMENT_TRACE))
    return COMMAND_WRONG_USE;
  remove_old_problems(dump->folder);

  satisfy_outer_run();
  int error = run_mark_create(found->path, mark, sizeof mark);
  if (error != 0) return complain("no shared memory: %s", strerror(error));
  if (setenv(RUN_MARK_VARIABLE, mark, 1) != 0 ||
      setenv("LD_PRELOAD", preloads, 1) != 0)
    return complain("memory ran out");

  execvp(found->path, argv);
  return complain("%s: %s", found->path, strerror(errno));
}

int command_run(int argc, char **argv) {
  char message[MESSAGE_SIZE];
  ode_mlcp_options options;
  program found;
  dump_request dump;

  request request = {0};
  int status;

  if (!read_options(argc, argv, &request, &status)) return status;
  if (request.version) {
    printf("ode-mlcp %s\n", ode_mlcp_version());
    return COMMAND_DONE;
  }
  if (optind >= argc)
    return complain("no program to run; see ode-mlcp run --help");

  ode_mlcp_default_options(&options);
  if (!environment_read(&options, message, sizeof message))
    return complain("%s", message);
  if (!check_outputs() || !check_dump(&dump) ||
      !program_check(&found, argv[optind]))
    return COMMAND_WRONG_USE;
  return become(&found, &dump, argv + optind);
}
