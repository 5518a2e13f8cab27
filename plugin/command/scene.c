/* `ode-mlcp scene`: a paper's case, run and measured. */
#include "command/scene.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/arguments.h"
#include "command/command.h"
#include "preload/output_file.h"

static const char about[] =
    "Usage: ode-mlcp scene NAME [OPTION...]\n"
    "       ode-mlcp scene --list\n"
    "\n"
    "Run a case of the papers as an ODE world stepped by ode-mlcp.\n"
    "\n";
static const char ending[] =
    "\n"
    "Each scene has values of its own for what is not given.\n"
    "\n"
    "Exit status: 0 done; 1 a step was not solved, or a file not written; 2 "
    "wrong\nuse or bad input.\n";

enum { MOST_GIVEN = 64 };

/* A stepper's option, kept until the scene is known. */
typedef struct given_option {
  const char *name, *value;
} given_option;

typedef struct request {
  const char *name; /* of the scene */
  given_option given[MOST_GIVEN];
  int n_given;
  scene_settings asked; /* its numbers; NAN: not given */
  bool list, converge, json;
  const char *csv;
} request;

/* ---- options ---- */

/* The numbers: where they go, what a scene must know for them. */
#define NUMBERS(NUMBER)                                                        \
  NUMBER(h, 0, "H", "step size, s")                                            \
  NUMBER(time, 0, "T", "simulated time, s")                                    \
  NUMBER(gravity, SCENE_GRAVITY, "G", "m/s^2")                                 \
  NUMBER(spring, SCENE_SPRING, "G", "two-carts: N/m")                          \
  NUMBER(damper, SCENE_DAMPER, "D", "two-carts: N s/m")                        \
  NUMBER(restitution, SCENE_RESTITUTION, "E", "of scenes with impacts: 0 .. 1")

static bool keep_setting(void *context, const char *name, const char *value) {
  request *request = context;
  if (request->n_given == MOST_GIVEN) {
    complain("too many options");
    return false;
  }
  request->given[request->n_given++] = (given_option){name, value};
  return true;
}

static bool parse(int argc, char **argv, request *request, int *status) {
#define ARGUMENT(name, needs, letter, text)                                    \
  {#name,      letter,      &request->asked.name, argument_take_number,        \
   "a number", .help = text},
  const argument arguments[] = {
      {"list", NULL, &request->list, .help = "the scenes and what they show"},
      NUMBERS(ARGUMENT){
          "converge", NULL, &request->converge,
          .help = "a sweep of step sizes: errors and their ratios"},
      {"csv", "FILE", &request->csv,
       .help = "write a row a step (with --converge: a step size)"},
      {"json", NULL, &request->json, .help = "print one JSON object"},
      {.name = NULL}};
#undef ARGUMENT
  const command_line line = {about,        arguments, ending,
                             keep_setting, request,   false};
  memset(request, 0, sizeof *request);
#define NOT_GIVEN(name, needs, letter, help) request->asked.name = NAN;
  NUMBERS(NOT_GIVEN)
#undef NOT_GIVEN
  if (!arguments_read(&line, argc, argv, status)) return false;
  request->name = argv[optind];
  if (request->list || argc - optind == 1) return true;
  *status = complain("name one scene; --list names them all");
  return false;
}

/* ---- settings ---- */

static bool take_number(const scene *scene, const char *name, int needs,
                        double asked, double *number) {
  if (isnan(asked)) return true;
  *number = asked;
  if ((needs & scene->knows) == needs) return true;
  complain("--%s: %s has none to change", name, scene->name);
  return false;
}

/* The scene's own settings, changed as asked. */
static bool make_settings(const scene_functions *library,
                          const request *request, const scene *scene,
                          scene_settings *settings) {
  char message[SCENE_MESSAGE];
  if (!library->default_settings(scene, settings, message, sizeof message)) {
    complain("%s: %s", scene->name, message);
    return false;
  }
#define TAKE(name, needs, letter, help)                                        \
  if (!take_number(scene, #name, needs, request->asked.name, &settings->name)) \
    return false;
  NUMBERS(TAKE)
#undef TAKE
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
  int error = name != NULL ? output_file_check(name, false, path) : 0;
  if (error == 0) return true;
  complain("--%s: cannot write '%s': %s", option, name, strerror(error));
  return false;
}

/* ---- the work ---- */

static int run_scenes(const scene_functions *library, const request *request,
                      const scene *scene, const scene_settings *settings) {
  char message[SCENE_MESSAGE];
  scene_result *result = library->run(scene, settings, message, sizeof message);
  if (result == NULL) return complain("%s", message);
  int status = COMMAND_DONE;
  if (request->csv != NULL)
    status = written_or_complain(scene_write_csv(request->csv, result, message),
                                 message, status);
  scene_print(stdout, result, !request->json);
  if (result->unsolved > 0 && status == COMMAND_DONE)
    status = COMMAND_FELL_SHORT;
  library->result_destroy(result);
  return status;
}

static int converge(const scene_functions *library, const request *request,
                    const scene *scene, const scene_settings *settings) {
  char message[SCENE_MESSAGE];
  if (!isnan(request->asked.h))
    return complain("--h and --converge do not go together");
  scene_sweep *sweep =
      library->converge(scene, settings, message, sizeof message);
  if (sweep == NULL) return complain("%s", message);
  int status = COMMAND_DONE;
  if (request->csv != NULL)
    status = written_or_complain(
        scene_write_sweep_csv(request->csv, sweep, message), message, status);
  scene_print_sweep(stdout, sweep, !request->json);
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
      !check_output("csv", request->csv))
    return COMMAND_WRONG_USE;
  return request->converge ? converge(library, request, scene, &settings)
                           : run_scenes(library, request, scene, &settings);
}

int command_scene(int argc, char **argv) {
  request request;
  int status;
  return parse(argc, argv, &request, &status) ? run_request(&request) : status;
}
