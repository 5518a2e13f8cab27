/* `ode-mlcp run`: everything is checked, then this process becomes the program,
 * with the patched host and the plugin preloaded. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/preloads.h"
#include "command/program.h"
#include "mlcp/mlcp_folder.h"
#include "preload/dump_folder.h"
#include "preload/host_probe.h"
#include "preload/output_file.h"
#include "preload/run_mark.h"
#include "preload/settings.h"

#define MESSAGE_SIZE (2 * PATH_MAX)

static const char help[] =
    "Usage: ode-mlcp run [OPTION...] [--] PROGRAM [ARG...]\n"
    "\n"
    "Run a program that uses the Open Dynamics Engine (libode.so.8, double\n"
    "precision, dynamically linked) with every dWorldStep and dWorldQuickStep\n"
    "taken by ode-mlcp. The program itself is not changed.\n"
    "\n"
    "  --scheme SCHEME      ap: velocity level, no position correction;\n"
    "                       ah: stabilised (default); st: position level, with\n"
    "                       the contacts there where bodies go to;\n"
    "                       gap, trapezoid-1, trapezoid: the (alpha, gamma)\n"
    "                       family and the second-order schemes\n"
    "  --fixed-point N      st: at most N passes until contacts are taken where\n"
    "                       the step ends (default 0: one, where it would end)\n"
    "  --friction coulomb|convex  convex: the relaxed law, a quadratic program\n"
    "  --alpha A            of scheme gap, 0.5 .. 1 (default 0.5)\n"
    "  --events on|off      second order: cut steps at collisions and where\n"
    "                       contacts begin or end to slip or part (default on)\n"
    "  --approach on|off    second order: take forbidden velocities out by an\n"
    "                       impact (default on) or reflect them\n"
    "  --check-cone on|off  note in the trace what could jam (default off)\n"
    "  --min-substep S      part of a step between events (default 1e-4)\n"
    "  --max-events N       a step (default 100)\n"
    "  --impact poisson|set second order: all contacts at once (default), or "
    "one\n"
    "                       outcome of the set-valued law, at random\n"
    "  --impact-seed N      which one (default 1)\n"
    "  --edges K            friction edges a contact, even, 4 .. 64 "
    "(default 4)\n"
    "  --erp host|G         ERP: the program's own (default) or G, 0 .. 1\n"
    "  --max-correction V   position errors add no more than V m/s to a "
    "velocity, the\n"
    "                       rest moves bodies without (default 0.5; inf: as "
    "stock ODE)\n"
    "  --solver fast|lemke  fast (default), or Lemke's method for every step\n"
    "  --tolerance T        relative residual asked of a solve "
    "(default 1e-10)\n"
    "  --max-contacts N     refuse an island with more contacts "
    "(default 20000)\n"
    "  --margin M           contacts up to a gap of M metres, so that nothing\n"
    "                       is entered (default auto: what touches)\n"
    "  --stats FILE.json    write sums over the run at its end\n"
    "  --trace FILE.csv     write a row a step\n"
    "  --dump FOLDER        write problems into it, for ode-mlcp solve: the\n"
    "                       newest 100, at most 1 GiB\n"
    "  --dump-when degraded|slow|all\n"
    "                       those above the tolerance (default), those that "
    "took\n"
    "                       10 times the run's median, or all\n"
    "  -h, --help           this text\n"
    "  --version            the version\n"
    "\n"
    "Each option is also an environment variable: ODE_MLCP_EDGES for --edges.\n"
    "Exit status: the program's; 2 when it could not be started, or when it\n"
    "returned 0 but never stepped an ODE world or loaded a second ODE "
    "library.\n";

/* Says why the program does not start, in one line. */
static int __attribute__((format(printf, 1, 2))) fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("ode-mlcp run: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  return COMMAND_WRONG_USE;
}

/* ---- options ---- */

enum {
  OPTION_STATS = 1000,
  OPTION_TRACE,
  OPTION_DUMP,
  OPTION_DUMP_WHEN,
  OPTION_VERSION,
  OPTION_SETTING
};

/* The options of settings_names by number, then those of this command. */
static const struct option options_known[] = {
    {"scheme", required_argument, NULL, OPTION_SETTING},
    {"edges", required_argument, NULL, OPTION_SETTING},
    {"friction", required_argument, NULL, OPTION_SETTING},
    {"alpha", required_argument, NULL, OPTION_SETTING},
    {"events", required_argument, NULL, OPTION_SETTING},
    {"approach", required_argument, NULL, OPTION_SETTING},
    {"check-cone", required_argument, NULL, OPTION_SETTING},
    {"min-substep", required_argument, NULL, OPTION_SETTING},
    {"max-events", required_argument, NULL, OPTION_SETTING},
    {"impact", required_argument, NULL, OPTION_SETTING},
    {"impact-seed", required_argument, NULL, OPTION_SETTING},
    {"fixed-point", required_argument, NULL, OPTION_SETTING},
    {"erp", required_argument, NULL, OPTION_SETTING},
    {"max-correction", required_argument, NULL, OPTION_SETTING},
    {"solver", required_argument, NULL, OPTION_SETTING},
    {"tolerance", required_argument, NULL, OPTION_SETTING},
    {"max-contacts", required_argument, NULL, OPTION_SETTING},
    {"margin", required_argument, NULL, OPTION_SETTING},
    {"stats", required_argument, NULL, OPTION_STATS},
    {"trace", required_argument, NULL, OPTION_TRACE},
    {"dump", required_argument, NULL, OPTION_DUMP},
    {"dump-when", required_argument, NULL, OPTION_DUMP_WHEN},
    {"version", no_argument, NULL, OPTION_VERSION},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

/* Checks an option's value and hands it on as its environment variable. */
static bool take_setting(const char *option, const char *value) {
  char problem[400];
  ode_mlcp_options options;

  ode_mlcp_default_options(&options);
  if (!settings_set(&options, option, value, problem, sizeof problem)) {
    fail("--%s: %s", option, problem);
    return false;
  }
  for (const settings_name *name = settings_names; name->option; name++)
    if (strcmp(name->option, option) == 0) setenv(name->variable, value, 1);
  return true;
}

/* @return COMMAND_DONE: go on with the program at argv[optind]; else the status
 *         to end with, -1 for 0 */
static int read_options(int argc, char **argv, bool *dump_when_given) {
  static char name[] = "ode-mlcp run"; // getopt's messages begin with it
  int option, index;

  argv[0] = name;
  // "+": the program's own options are not ours
  while ((option = getopt_long(argc, argv, "+h", options_known, &index)) != -1)
    switch (option) {
      case OPTION_SETTING:
        if (!take_setting(options_known[index].name, optarg))
          return COMMAND_WRONG_USE;
        break;
      case OPTION_STATS:
        setenv(SETTINGS_STATS_VARIABLE, optarg, 1);
        break;
      case OPTION_TRACE:
        setenv(SETTINGS_TRACE_VARIABLE, optarg, 1);
        break;
      case OPTION_DUMP:
        if (*optarg == '\0') return fail("--dump: the name is empty");
        setenv(SETTINGS_DUMP_VARIABLE, optarg, 1);
        break;
      case OPTION_DUMP_WHEN:
        setenv(SETTINGS_DUMP_WHEN_VARIABLE, optarg, 1);
        *dump_when_given = true;
        break;
      case OPTION_VERSION:
        printf("ode-mlcp %s\n", ode_mlcp_version());
        return -1;
      case 'h':
        fputs(help, stdout);
        return -1;
      default:
        return COMMAND_WRONG_USE;
    }
  return COMMAND_DONE;
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
  bool is_trace = strcmp(variable, SETTINGS_TRACE_VARIABLE) == 0;
  fail("--%s: cannot write '%s': %s", is_trace ? "trace" : "stats", name,
       strerror(error));
  return false;
}

/* Likewise the folder's. */
static bool check_dump(dump_request *dump, bool when_given) {
  char message[512];
  const char *bad = dump_request_read(dump, false, message, sizeof message);
  if (bad != NULL) {
    bool is_folder = strcmp(bad, SETTINGS_DUMP_VARIABLE) == 0;
    fail("--%s: %s", is_folder ? "dump" : "dump-when", message);
    return false;
  }
  if (when_given && dump->folder[0] == '\0') {
    fail("--dump-when: nothing is written without --dump FOLDER");
    return false;
  }
  return dump->folder[0] == '\0' ||
         setenv(SETTINGS_DUMP_VARIABLE, dump->folder, 1) == 0;
}

static bool check_outputs(void) {
  if (!check_output(SETTINGS_STATS_VARIABLE) ||
      !check_output(SETTINGS_TRACE_VARIABLE))
    return false;

  const char *statistics = getenv(SETTINGS_STATS_VARIABLE);
  const char *trace = getenv(SETTINGS_TRACE_VARIABLE);
  if (statistics == NULL || trace == NULL || strcmp(statistics, trace) != 0 ||
      !output_file_is_plain(trace))
    return true;
  fail("--stats and --trace name the same file");
  return false;
}

static bool check_host(const program *found) {
  char library[PATH_MAX];
  if (found->loader[0] == '\0') return true;

  switch (host_probe(found->loader, found->path, library)) {
    case HOST_PROBE_FITS:
      return true;
    case HOST_PROBE_SINGLE:
      fail("%s: its ODE library, %s, is in single precision", found->path,
           library);
      break;
    case HOST_PROBE_OTHER_NAME:
      fail("%s: needs %s; only %s can be stood in for", found->path, library,
           HOST_PROBE_SONAME);
      break;
  }
  return false;
}

static bool check_program(program *found, const char *name) {
  char message[MESSAGE_SIZE];
  if (!program_find(found, name, message, sizeof message)) {
    fail("%s", message);
    return false;
  }
  return check_host(found);
}

/* ---- the start ---- */

/* A result of an earlier run must not pass for one of this. */
static bool remove_old_output(const char *variable) {
  const char *path = getenv(variable);
  int error = path != NULL ? output_file_remove(path) : 0;
  if (error != 0) fail("cannot write %s: %s", path, strerror(error));
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

static int become(const program *found, const dump_request *dump,
                  char **argv) {
  char message[MESSAGE_SIZE], mark[128];
  static char preloads[16 * PATH_MAX];

  if (!preloads_value(preloads, sizeof preloads, message, sizeof message))
    return fail("%s", message);
  if (!remove_old_output(SETTINGS_STATS_VARIABLE) ||
      !remove_old_output(SETTINGS_TRACE_VARIABLE))
    return COMMAND_WRONG_USE;
  remove_old_problems(dump->folder);

  satisfy_outer_run();
  int error = run_mark_create(found->path, mark, sizeof mark);
  if (error != 0) return fail("no shared memory: %s", strerror(error));
  if (setenv(RUN_MARK_VARIABLE, mark, 1) != 0 ||
      setenv("LD_PRELOAD", preloads, 1) != 0)
    return fail("memory ran out");

  execvp(found->path, argv);
  return fail("%s: %s", found->path, strerror(errno));
}

int command_run(int argc, char **argv) {
  char message[MESSAGE_SIZE];
  ode_mlcp_options options;
  program found;
  dump_request dump;

  bool dump_when_given = false;
  int status = read_options(argc, argv, &dump_when_given);
  if (status != COMMAND_DONE) return status < 0 ? COMMAND_DONE : status;
  if (optind >= argc)
    return fail("no program to run; see ode-mlcp run --help");

  ode_mlcp_default_options(&options);
  if (!settings_from_environment(&options, message, sizeof message))
    return fail("%s", message);
  if (!check_outputs() || !check_dump(&dump, dump_when_given) ||
      !check_program(&found, argv[optind]))
    return COMMAND_WRONG_USE;
  return become(&found, &dump, argv + optind);
}
