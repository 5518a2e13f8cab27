/* `ode-mlcp scene`: a paper's case, run, measured and drawn. */
#include "command/scene.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/settings_options.h"
#include "common/number.h"
#include "preload/output_file.h"

static const char usage[] =
    "Usage: ode-mlcp scene NAME [OPTION...]\n"
    "       ode-mlcp scene --list\n"
    "\n"
    "Run a case of the papers as an ODE world stepped by ode-mlcp.\n"
    "\n"
    "  --list           the scenes and what they show\n"
    "  --h H            step size, s\n"
    "  --time T         simulated time, s\n"
    "  --gravity G      m/s^2\n"
    "  --spring G       two-carts: N/m\n"
    "  --damper D       two-carts: N s/m\n"
    "  --restitution E  bouncing-ball and others with impacts: 0 .. 1\n"
    "  --heading DEG    incline: of the launch, from straight down\n"
    "  --converge       a sweep of step sizes: errors and their ratios\n"
    "  --csv FILE       write a row a step (with --converge: a step size)\n"
    "  --plot FILE      draw it (PNG, by gnuplot)\n"
    "  --json           print one JSON object\n"
    "  --help\n"
    "\n"
    "and every option of the stepper that `ode-mlcp run` knows: --scheme,\n"
    "--edges, --erp ... Each scene has values of its own for what is not "
    "given.\n"
    "\n"
    "Exit status: 0 done; 1 a step was not solved, or a file not written; 2 "
    "wrong\nuse or bad input.\n";

enum { MOST_OPTIONS = SETTINGS_OPTIONS_MAX + 32, MOST_GIVEN = 64 };

/* A stepper's option, kept until the scene is known. */
typedef struct given_option {
  const char *name, *value;
} given_option;

typedef struct request {
  const char *name; /* of the scene */
  given_option given[MOST_GIVEN];
  int n_given;
  double numbers[8]; /* by the options' order; NAN: not given */
  bool list, converge, json, help;
  const char *csv, *plot;
} request;

static int __attribute__((format(printf, 1, 2))) complain(const char *format,
                                                          ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("ode-mlcp scene: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  return COMMAND_WRONG_USE;
}

/* ---- options ---- */

enum { NUMBER = 256, LIST = 300, CONVERGE, CSV, PLOT, JSON, HELP, SETTING };

/* The numbers, what a scene must know for them, and where they go. */
typedef struct number_option {
  const char *name;
  int needs;
  size_t field;
} number_option;

#define FIELD(name) offsetof(scene_settings, name)
static const number_option NUMBERS[] = {
    {"h", 0, FIELD(h)},
    {"time", 0, FIELD(time)},
    {"gravity", SCENE_GRAVITY, FIELD(gravity)},
    {"spring", SCENE_SPRING, FIELD(spring)},
    {"damper", SCENE_DAMPER, FIELD(damper)},
    {"restitution", SCENE_RESTITUTION, FIELD(restitution)},
    {"heading", SCENE_HEADING, FIELD(heading)}};
#undef FIELD
enum { N_NUMBERS = sizeof NUMBERS / sizeof NUMBERS[0] };

/* Our options and those of the stepper, whichever it has. */
static void list_options(struct option options[MOST_OPTIONS]) {
  static const struct option own[] = {
      {"list", no_argument, NULL, LIST},
      {"converge", no_argument, NULL, CONVERGE},
      {"csv", required_argument, NULL, CSV},
      {"plot", required_argument, NULL, PLOT},
      {"json", no_argument, NULL, JSON},
      {"help", no_argument, NULL, HELP}};
  int n = 0;
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) options[n++] = own[i];
  for (int i = 0; i < N_NUMBERS; i++)
    options[n++] = (struct option){NUMBERS[i].name, required_argument, NULL,
                                   NUMBER + i};
  n += settings_options(options + n, SETTING);
  options[n] = (struct option){NULL, 0, NULL, 0};
}

/* @return false for a value that makes no sense, after saying so. */
static bool take_option(request *request, const struct option *known,
                        const char *value) {
  int option = known->val;
  if (option >= SETTING) {
    if (request->n_given == MOST_GIVEN) {
      complain("too many options");
      return false;
    }
    request->given[request->n_given++] =
        (given_option){known->name, value};
    return true;
  }
  if (option < LIST) {
    int i = option - NUMBER;
    double *number = &request->numbers[i];
    if (number_parse(value, number) && isfinite(*number)) return true;
    complain("--%s: '%s' is not a number", NUMBERS[i].name, value);
    return false;
  }
  switch (option) {
    case LIST: request->list = true; return true;
    case CONVERGE: request->converge = true; return true;
    case CSV: request->csv = value; return true;
    case PLOT: request->plot = value; return true;
    case JSON: request->json = true; return true;
    default: request->help = true; return true;
  }
}

static bool parse(int argc, char **argv, request *request) {
  static char name[] = "ode-mlcp scene"; // getopt's messages begin with it
  struct option options[MOST_OPTIONS];
  list_options(options);
  memset(request, 0, sizeof *request);
  for (int i = 0; i < N_NUMBERS; i++) request->numbers[i] = NAN;
  argv[0] = name;
  optind = 0; // from the start, whoever used getopt before
  int option, index;
  while ((option = getopt_long(argc, argv, "", options, &index)) != -1)
    if (option == '?' || !take_option(request, &options[index], optarg))
      return false;
  if (request->help || request->list) return true;
  if (argc - optind != 1) {
    complain("name one scene; --list names them all");
    return false;
  }
  request->name = argv[optind];
  return true;
}

/* ---- settings ---- */

/* The scene's own settings, changed as asked. */
static bool make_settings(const scene_functions *library,
                          const request *request, const scene *scene,
                          scene_settings *settings) {
  char message[SCENE_MESSAGE];
  if (!library->default_settings(scene, settings, message, sizeof message)) {
    complain("%s: %s", scene->name, message);
    return false;
  }
  for (int i = 0; i < N_NUMBERS; i++) {
    if (isnan(request->numbers[i])) continue;
    if ((NUMBERS[i].needs & scene->knows) != NUMBERS[i].needs) {
      complain("--%s: %s has none to change", NUMBERS[i].name, scene->name);
      return false;
    }
    *(double *)((char *)settings + NUMBERS[i].field) = request->numbers[i];
  }
  for (int i = 0; i < request->n_given; i++)
    if (library->set_option(settings, request->given[i].name,
                            request->given[i].value, message,
                            sizeof message) != ODE_MLCP_OK) {
      complain("--%s", message);
      return false;
    }
  return true;
}

static bool check_output(const char *option, const char *name) {
  char path[PATH_MAX];
  int error = name != NULL ? output_file_check(name, path) : 0;
  if (error == 0) return true;
  complain("--%s: cannot write '%s': %s", option, name, strerror(error));
  return false;
}

/* ---- the work ---- */

/* The same scene under the schemes it is drawn beside. */
static int run_beside(const scene_functions *library,
                      const scene_result *results[SCENE_RUNS]) {
  const scene_result *first = results[0];
  const char *const *scheme = first->scene->beside;
  char message[SCENE_MESSAGE];
  int n = 1;
  for (; scheme != NULL && *scheme != NULL && n < SCENE_RUNS; scheme++) {
    scene_settings settings = first->settings;
    if (strcmp(*scheme, settings.scheme) == 0 ||
        library->set_option(&settings, "scheme", *scheme, message,
                            sizeof message) != ODE_MLCP_OK)
      continue;
    results[n] =
        library->run(first->scene, &settings, message, sizeof message);
    if (results[n] != NULL) n++;
    else complain("%s beside it: %s", *scheme, message);
  }
  return n;
}

/* The files asked for. @return the exit status. */
static int write_files(const scene_functions *library, const request *request,
                       const scene_result *result) {
  char message[SCENE_MESSAGE];
  int status = COMMAND_DONE;
  if (request->csv != NULL &&
      !scene_write_csv(request->csv, result, message)) {
    complain("%s", message);
    status = COMMAND_FELL_SHORT;
  }
  if (request->plot == NULL) return status;
  const scene_result *results[SCENE_RUNS] = {result};
  int n = run_beside(library, results);
  if (!scene_plot(request->plot, results, n, message)) {
    complain("%s", message);
    status = COMMAND_FELL_SHORT;
  }
  for (int i = 1; i < n; i++)
    library->result_destroy((scene_result *)results[i]);
  return status;
}

static int run(const scene_functions *library, const request *request,
               const scene *scene, const scene_settings *settings) {
  char message[SCENE_MESSAGE];
  scene_result *result =
      library->run(scene, settings, message, sizeof message);
  if (result == NULL) return complain("%s", message);
  int status = write_files(library, request, result);
  if (request->json) scene_print_json(stdout, result);
  else scene_print_text(stdout, result);
  if (result->unsolved > 0 && status == COMMAND_DONE)
    status = COMMAND_FELL_SHORT;
  library->result_destroy(result);
  return status;
}

static int converge(const scene_functions *library, const request *request,
                    const scene *scene, const scene_settings *settings) {
  char message[SCENE_MESSAGE];
  if (!isnan(request->numbers[0]))
    return complain("--h and --converge do not go together");
  scene_sweep *sweep =
      library->converge(scene, settings, message, sizeof message);
  if (sweep == NULL) return complain("%s", message);
  int status = COMMAND_DONE;
  if (request->csv != NULL &&
      !scene_write_sweep_csv(request->csv, sweep, message)) {
    complain("%s", message);
    status = COMMAND_FELL_SHORT;
  }
  if (request->plot != NULL &&
      !scene_plot_sweep(request->plot, sweep, message)) {
    complain("%s", message);
    status = COMMAND_FELL_SHORT;
  }
  if (request->json) scene_print_sweep_json(stdout, sweep);
  else scene_print_sweep_text(stdout, sweep);
  for (int i = 0; i < sweep->n_rows; i++)
    if (sweep->rows[i].unsolved > 0 && status == COMMAND_DONE)
      status = COMMAND_FELL_SHORT;
  library->sweep_destroy(sweep);
  return status;
}

static int list_scenes(const scene_functions *library) {
  for (const scene *const *scene = library->all(); *scene != NULL; scene++)
    printf("%-18s %s (%s)\n", (*scene)->name, (*scene)->summary,
           (*scene)->source);
  return COMMAND_DONE;
}

static int run_request(const request *request) {
  char message[SCENE_MESSAGE];
  const scene_functions *library = scene_library_open(message);
  if (library == NULL) return complain("%s", message);
  if (request->list) return list_scenes(library);

  scene_settings settings;
  const scene *scene = library->find(request->name);
  if (scene == NULL)
    return complain("there is no scene '%s'; --list names them all",
                    request->name);
  if (!make_settings(library, request, scene, &settings) ||
      !check_output("csv", request->csv) ||
      !check_output("plot", request->plot))
    return COMMAND_WRONG_USE;
  return request->converge ? converge(library, request, scene, &settings)
                           : run(library, request, scene, &settings);
}

int command_scene(int argc, char **argv) {
  request request;
  if (!parse(argc, argv, &request)) return COMMAND_WRONG_USE;
  int status = COMMAND_DONE;
  if (request.help) fputs(usage, stdout);
  else status = run_request(&request);
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  perror("ode-mlcp scene: cannot write the output");
  return COMMAND_FELL_SHORT;
}
