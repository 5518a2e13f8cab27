/* ODE's two steppers and ode-mlcp side by side. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "measure.h"
#include "ode_mlcp.h"
#include "picture.h"
#include "recording.h"
#include "table.h"

static const char USAGE[] =
    "usage: compare [OPTION...]\n"
    "\n"
    "Run the same scenes on dWorldStep, dWorldQuickStep and ode-mlcp and\n"
    "print what came of it side by side.\n"
    "\n"
    "  --scene NAME     wall, slide, rod or boxstack; may be given again\n"
    "                   (default: all there are)\n"
    "  --stepper NAME   step, quickstep or ode-mlcp; may be given again\n"
    "                   (default: all)\n"
    "  --rows N         rows of the wall, 1 .. 200 (default 10: 55 boxes)\n"
    "  --limit S        s on the clock after which a wall is left as it is\n"
    "                   (default 100)\n"
    "  --recordings DIR runs of the host's demo_boxstack, as\n"
    "                   demos/compare/run records them; without it boxstack\n"
    "                   is left out\n"
    "  --wait           those recordings are whole once standard input ends\n"
    "  --out DIR        gets report.txt, report.md, report.json and the\n"
    "                   pictures; without it nothing is written\n"
    "  --gnuplot PROGRAM  what draws (default: gnuplot)\n"
    "  --json           print one JSON object instead of the table\n"
    "  --help\n"
    "\n"
    "Exit status: 0 done; 1 ode-mlcp broke one of its promises, or something\n"
    "could not be run or written; 2 wrong use.\n";

typedef enum scene_name {
  SCENE_WALL,
  SCENE_SLIDE,
  SCENE_ROD,
  SCENE_BOXSTACK,
  N_SCENES
} scene_name;

static const char *const SCENE_NAMES[N_SCENES] = {"wall", "slide", "rod",
                                                  "boxstack"};
static const char *const STEPPER_ARGUMENTS[N_STEPPERS] = {"step", "quickstep",
                                                          "ode-mlcp"};

typedef struct settings {
  bool scenes[N_SCENES];
  bool steppers[N_STEPPERS];
  int rows;
  double limit;
  const char *recordings, *out, *gnuplot;
  bool wait, json;
} settings;

/* --- arguments ------------------------------------------------------------ */

__attribute__((noreturn)) static void wrong_use(const char *what,
                                                const char *value) {
  fprintf(stderr, "compare: %s%s (--help tells)\n", what, value);
  exit(2);
}

static void choose(const char *value, const char *const names[], int n,
                   bool chosen[], const char *complaint) {
  for (int i = 0; i < n; i++)
    if (strcmp(value, names[i]) == 0) {
      chosen[i] = true;
      return;
    }
  wrong_use(complaint, value);
}

static int parse_rows(const char *value) {
  char *end;
  errno = 0;
  long rows = strtol(value, &end, 10);
  if (end == value || *end != '\0' || errno != 0 || rows < 1 || rows > 200)
    wrong_use("--rows is a number from 1 to 200, not ", value);
  return (int)rows;
}

static double parse_limit(const char *value) {
  char *end;
  double limit = strtod(value, &end);
  if (end == value || *end != '\0' || !(limit > 0))
    wrong_use("--limit is a number of seconds above 0, not ", value);
  return limit;
}

/* None chosen is all. */
static void choose_all_if_none(bool chosen[], int n) {
  bool any = false;
  for (int i = 0; i < n; i++) any |= chosen[i];
  for (int i = 0; i < n; i++) chosen[i] |= !any;
}

static void parse_setting(const char *name, const char *value,
                          settings *settings) {
  if (strcmp(name, "--scene") == 0)
    choose(value, SCENE_NAMES, N_SCENES, settings->scenes, "no such scene: ");
  else if (strcmp(name, "--stepper") == 0)
    choose(value, STEPPER_ARGUMENTS, N_STEPPERS, settings->steppers,
           "no such stepper: ");
  else if (strcmp(name, "--rows") == 0)
    settings->rows = parse_rows(value);
  else if (strcmp(name, "--limit") == 0)
    settings->limit = parse_limit(value);
  else if (strcmp(name, "--recordings") == 0)
    settings->recordings = value;
  else if (strcmp(name, "--out") == 0)
    settings->out = value;
  else
    settings->gnuplot = value;
}

static bool takes_value(const char *name) {
  static const char *const NAMES[] = {"--scene",     "--stepper", "--rows",
                                      "--limit",     "--out",     "--gnuplot",
                                      "--recordings"};
  for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
    if (strcmp(name, NAMES[i]) == 0) return true;
  return false;
}

static void parse_arguments(int argc, char **argv, settings *settings) {
  memset(settings, 0, sizeof *settings);
  settings->rows = 10;
  settings->limit = 100;
  settings->gnuplot = "gnuplot";
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0) {
      fputs(USAGE, stdout);
      exit(0);
    } else if (strcmp(argv[i], "--json") == 0) {
      settings->json = true;
    } else if (strcmp(argv[i], "--wait") == 0) {
      settings->wait = true;
    } else if (!takes_value(argv[i])) {
      wrong_use("unknown argument ", argv[i]);
    } else if (i + 1 == argc) {
      wrong_use("a value is missing after ", argv[i]);
    } else {
      parse_setting(argv[i], argv[i + 1], settings);
      i++;
    }
  }
  if (settings->scenes[SCENE_BOXSTACK] && settings->recordings == NULL)
    wrong_use("the scene boxstack needs --recordings", "");
  choose_all_if_none(settings->scenes, N_SCENES);
  choose_all_if_none(settings->steppers, N_STEPPERS);
}

/* --- runs ----------------------------------------------------------------- */

static void say_wall(const settings *settings, stepper stepper,
                     const char *how) {
  fprintf(stderr, "compare: wall of %d boxes on %s%s ...\n",
          settings->rows * (settings->rows + 1) / 2, STEPPER_NAMES[stepper],
          how);
}

static bool run_stepper(const settings *settings, stepper stepper,
                        measurements *measured) {
  const char *name = STEPPER_NAMES[stepper];
  bool run = true;
  /* dWorldStep's is a job of its own */
  if (settings->scenes[SCENE_WALL] && stepper != STEPPER_STEP) {
    say_wall(settings, stepper, "");
    run = measure_wall(stepper, settings->rows, settings->limit,
                       &measured->wall[stepper]);
  }
  if (run && settings->scenes[SCENE_SLIDE]) {
    fprintf(stderr, "compare: %d slides on %s ...\n", N_ANGLES, name);
    for (int a = 0; a < N_ANGLES && run; a++)
      run = measure_slide(stepper, a, &measured->slide[stepper][a]);
  }
  if (run && settings->scenes[SCENE_ROD]) {
    fprintf(stderr, "compare: tilted rod on %s ...\n", name);
    for (int v = 0; v < N_SPEEDS && run; v++)
      run = measure_rod(stepper, v, &measured->rod[stepper][v]);
  }
  return run;
}

/* A wall takes dWorldStep a thousand times dWorldQuickStep's time: it is built
 * up beside the rest. */
static bool run_all(const settings *settings, measurements *measured,
                    recordings *recorded) {
  wall_job job;
  bool slow_wall =
      settings->scenes[SCENE_WALL] && settings->steppers[STEPPER_STEP];
  if (slow_wall) {
    say_wall(settings, STEPPER_STEP, ", meanwhile");
    if (!wall_job_start(STEPPER_STEP, settings->rows, settings->limit, &job))
      return false;
  }
  bool run = true;
  for (int s = 0; s < N_STEPPERS; s++)
    if (settings->steppers[s]) run &= run_stepper(settings, s, measured);
  if (settings->wait)
    while (getchar() != EOF) continue;
  if (settings->recordings != NULL && settings->scenes[SCENE_BOXSTACK])
    run &= recordings_read(settings->recordings, recorded);
  if (slow_wall) {
    fprintf(stderr, "compare: waiting for the wall on dWorldStep ...\n");
    run &= wall_job_finish(&job, &measured->wall[STEPPER_STEP]);
  }
  return run;
}

/* --- report --------------------------------------------------------------- */

enum { PATH_ROOM = 4096 };

static FILE *open_report(const char *folder, const char *name,
                         char path[PATH_ROOM]) {
  int length = snprintf(path, PATH_ROOM, "%s/%s", folder, name);
  FILE *file = length < PATH_ROOM ? fopen(path, "w") : NULL;
  if (file == NULL) fprintf(stderr, "compare: %s: %s\n", path, strerror(errno));
  return file;
}

static bool close_report(FILE *file, const char *path) {
  bool written = !ferror(file);
  if (fclose(file) == 0 && written) return true;
  fprintf(stderr, "compare: %s cannot be written\n", path);
  return false;
}

static bool make_folder(const char *folder) {
  char data[4096];
  if (snprintf(data, sizeof data, "%s/data", folder) < (int)sizeof data &&
      (mkdir(folder, 0777) == 0 || errno == EEXIST) &&
      (mkdir(data, 0777) == 0 || errno == EEXIST))
    return true;
  fprintf(stderr, "compare: --out: %s: %s\n", folder, strerror(errno));
  return false;
}

static bool write_reports(const settings *settings, const table *table,
                          const measurements *measured,
                          const recordings *recorded) {
  const char *out = settings->out;
  if (!make_folder(out)) return false;
  fprintf(stderr, "compare: pictures ...\n");
  bool drawn = pictures_draw(out, settings->gnuplot, measured, recorded);

  char path[PATH_ROOM];
  bool written = true;
  FILE *file = open_report(out, "report.txt", path);
  if (file != NULL) table_write_text(table, file);
  written &= file != NULL && close_report(file, path);
  file = open_report(out, "report.md", path);
  if (file != NULL)
    table_write_markdown(table, recorded, measured, drawn, file);
  written &= file != NULL && close_report(file, path);
  file = open_report(out, "report.json", path);
  if (file != NULL) results_write_json(measured, recorded, table, file);
  written &= file != NULL && close_report(file, path);
  if (written) fprintf(stderr, "compare: the report is in %s\n", out);
  return drawn && written;
}

int main(int argc, char **argv) {
  static settings settings;
  static measurements measured;
  static recordings recorded;
  static table table;
  parse_arguments(argc, argv, &settings);

  dInitODE2(0);
  bool done = run_all(&settings, &measured, &recorded);
  dCloseODE();
  table_fill(&measured, &recorded, &table);

  if (settings.json)
    results_write_json(&measured, &recorded, &table, stdout);
  else
    table_write_text(&table, stdout);
  fflush(stdout);
  if (settings.out != NULL)
    done &= write_reports(&settings, &table, &measured, &recorded);

  for (int s = 0; s < N_STEPPERS; s++) wall_release(&measured.wall[s]);
  recordings_release(&recorded);
  if (!table_all_kept(&table))
    fprintf(stderr, "compare: a promise is broken, see the table's end\n");
  return done && table_all_kept(&table) ? 0 : 1;
}
