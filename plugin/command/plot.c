/* `ode-mlcp plot`: traces of `run` and CSV files of `compare` as a picture, one
 * panel a column, several files over each other. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/arguments.h"
#include "command/command.h"
#include "command/gnuplot.h"
#include "common/number.h"
#include "judge/tables.h"
#include "preload/output_file.h"

static const char about[] =
    "Usage: ode-mlcp plot FILE.csv... [OPTION...]\n"
    "\n"
    "Draw traces (ode-mlcp run --trace, or a stepper's CSV file of ode-mlcp\n"
    "compare) over time, a panel a column, several files over each other.\n"
    "\n";
static const char ending[] =
    "\n"
    "Without --columns: energies, penetration, joint error, contacts, "
    "residual,\n"
    "time of a step; what is zero or not known throughout is left out.\n"
    "Exit status: 0 done; 1 the picture was not made; 2 wrong use or bad "
    "input.\n";

enum { MOST_FILES = 8, MOST_COLUMNS = 24, MOST_LINE = 8192 };

/* ---- columns ---- */

typedef struct known_column {
  const char *name, *axis;
  bool logarithmic, is_default;
} known_column;

static const known_column known[] = {
    {"kinetic_energy_J", "kinetic energy, J", false, true},
    {"potential_energy_J", "potential energy, J", false, true},
    {"deepest_penetration_m", "deepest penetration, m", false, true},
    {"worst_joint_error", "worst joint error, m or rad", true, true},
    {"contacts", "contacts", false, true},
    {"residual", "relative residual", true, true},
    {"solver_seconds", "wall clock of the solver, s", true, false},
    {NULL, NULL, false, false}};

static known_column look_up(const char *name) {
  for (const known_column *k = known; k->name != NULL; k++)
    if (strcmp(k->name, name) == 0) return *k;
  for (size_t k = 0; k < n_step_columns; k++)
    if (strcmp(step_columns[k].header, name) == 0)
      return (known_column){name, step_columns[k].axis,
                            step_columns[k].logarithmic,
                            step_columns[k].title != NULL};
  return (known_column){name, name, false, false};
}

/* ---- files ---- */

typedef struct table {
  const char *path;
  char header[MOST_LINE];
  char *names[128];
  int n_columns, time;
  /* of a column; the lowest above the highest: nothing is known */
  double low[128], high[128];
} table;

static int find_column(const table *table, const char *name) {
  for (int i = 0; i < table->n_columns; i++)
    if (strcmp(table->names[i], name) == 0) return i;
  return -1;
}

static int split(char *line, char *cells[], int room) {
  int n = 0;
  line[strcspn(line, "\r\n")] = '\0';
  for (char *cell = line; cell != NULL && n < room; n++) {
    char *end = strchr(cell, ',');
    cells[n] = cell;
    if (end != NULL) *end++ = '\0';
    cell = end;
  }
  return n;
}

static bool read_rows(table *table, FILE *file) {
  char line[MOST_LINE], *cells[128];
  for (int i = 0; i < table->n_columns; i++) {
    table->low[i] = INFINITY;
    table->high[i] = -INFINITY;
  }
  for (long row = 2; fgets(line, sizeof line, file) != NULL; row++) {
    int n = split(line, cells, 128);
    if (n != table->n_columns) {
      complain("%s:%ld: %d values under %d columns", table->path, row, n,
               table->n_columns);
      return false;
    }
    for (int i = 0; i < n; i++) {
      double value;
      if (!number_parse(cells[i], &value) || !isfinite(value)) continue;
      table->low[i] = fmin(table->low[i], value);
      table->high[i] = fmax(table->high[i], value);
    }
  }
  return true;
}

static bool read_table(table *table, const char *path) {
  memset(table, 0, sizeof *table);
  table->path = path;
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    complain("%s: %s", path, strerror(errno));
    return false;
  }
  bool good = fgets(table->header, sizeof table->header, file) != NULL;
  if (good) table->n_columns = split(table->header, table->names, 128);
  table->time = find_column(table, "time_s");
  if (!good || table->time < 0) {
    complain(
        "%s:1: no column time_s: a trace of ode-mlcp run, or a CSV file "
        "of ode-mlcp compare?",
        path);
    good = false;
  }
  good = good && read_rows(table, file);
  fclose(file);
  return good;
}

/* ---- what to draw ---- */

typedef struct request {
  const char *columns, *output;
} request;

typedef struct panel {
  char name[64];
  known_column column;
} panel;

static bool add_panel(panel panels[], int *n, const char *name, size_t length) {
  if (*n == MOST_COLUMNS || length == 0 || length >= sizeof panels[0].name) {
    complain("--columns: an empty name, or more than %d", MOST_COLUMNS);
    return false;
  }
  panel *panel = &panels[(*n)++];
  snprintf(panel->name, sizeof panel->name, "%.*s", (int)length, name);
  panel->column = look_up(panel->name);
  return true;
}

/* A panel that is drawn unasked, where a file has more than zeros in it. */
static bool add_default(const table tables[], int n_tables, const char *name,
                        panel panels[], int *n) {
  if (!look_up(name).is_default) return true;
  for (int t = 0; t < n_tables; t++) {
    int at = find_column(&tables[t], name);
    if (at >= 0 && (tables[t].low[at] < 0 || tables[t].high[at] > 0))
      return add_panel(panels, n, name, strlen(name));
  }
  return true;
}

static bool choose_panels(const request *request, const table tables[],
                          int n_tables, panel panels[], int *n) {
  *n = 0;
  if (request->columns == NULL) {
    bool good = true;
    for (const known_column *k = known; k->name != NULL; k++)
      good &= add_default(tables, n_tables, k->name, panels, n);
    for (size_t k = 0; k < n_step_columns; k++)
      good &= add_default(tables, n_tables, step_columns[k].header, panels, n);
    if (*n == 0) complain("nothing to draw: all columns are zero or unknown");
    return good && *n > 0;
  }
  for (const char *list = request->columns;; list++) {
    size_t length = strcspn(list, ",");
    if (!add_panel(panels, n, list, length)) return false;
    bool is_there = false;
    for (int t = 0; t < n_tables; t++)
      is_there |= find_column(&tables[t], panels[*n - 1].name) >= 0;
    if (!is_there) {
      complain("--columns: no file has a column '%s'", panels[*n - 1].name);
      return false;
    }
    list += length;
    if (*list == '\0') return true;
  }
}

static void give_range(FILE *out, const char *name, const table tables[],
                       int n_tables) {
  double low = INFINITY, high = -INFINITY;
  for (int t = 0; t < n_tables; t++) {
    int at = find_column(&tables[t], name);
    if (at < 0) continue;
    low = fmin(low, tables[t].low[at]);
    high = fmax(high, tables[t].high[at]);
  }
  gnuplot_range(out, low, high);
}

static void draw_panel(FILE *out, const panel *panel, const table tables[],
                       int n_tables) {
  bool logarithmic = panel->column.logarithmic;
  give_range(out, panel->name, tables, n_tables);
  gnuplot_axes(out, NULL, "time, s", panel->column.axis, logarithmic);
  for (int t = 0, drawn = 0; t < n_tables; t++) {
    char data[80];
    int at = find_column(&tables[t], panel->name) + 1;
    if (at == 0) continue;
    snprintf(data, sizeof data, "file%d skip 1 using %d:(%s(column(%d)))", t,
             tables[t].time + 1, logarithmic ? "above" : "", at);
    gnuplot_curve(out, drawn++, t, data, tables[t].path);
  }
  fputc('\n', out);
}

static int draw(const request *request, const table tables[], int n_tables,
                const panel panels[], int n_panels) {
  enum { WIDTH = 640, HEIGHT = 300 };
  char message[400];
  int columns = n_panels > 1 ? 2 : 1, rows = (n_panels + columns - 1) / columns;
  gnuplot plot;
  if (!gnuplot_start(&plot, request->output, columns * WIDTH, rows * HEIGHT,
                     message, sizeof message))
    return written_or_complain(false, message, COMMAND_DONE);
  gnuplot_style(plot.out);
  // a logarithm has no place for zero
  fputs("above(x) = x > 0 ? x : NaN\n", plot.out);
  for (int t = 0; t < n_tables; t++) {
    fprintf(plot.out, "file%d = ", t);
    gnuplot_put_string(plot.out, tables[t].path);
    fputc('\n', plot.out);
  }
  fprintf(plot.out,
          "set datafile separator ','\nset datafile missing 'nan'\n"
          "set format y '%%.3g'\nset key noenhanced %s\n"
          "set multiplot layout %d,%d\n",
          n_tables > 1 ? "outside below" : "off", rows, columns);
  for (int i = 0; i < n_panels; i++)
    draw_panel(plot.out, &panels[i], tables, n_tables);
  bool drawn = gnuplot_end(&plot, message, sizeof message);
  return written_or_complain(drawn, message, COMMAND_DONE);
}

/* ---- the command ---- */

static bool read_plot_options(int argc, char **argv, request *request,
                              int *status) {
  const argument arguments[] = {
      {"columns", "LIST", &request->columns,
       .help = "which columns, with commas between"},
      {"output", "FILE", &request->output,
       .help = "the picture: .png, .svg or .pdf (trace.png)"},
      {.name = NULL}};
  const command_line line = {about, arguments, ending, NULL, NULL, "h"};
  char message[400], path[PATH_MAX];
  *request = (struct request){NULL, "trace.png"};
  if (!arguments_read(&line, argc, argv, status)) return false;
  *status = COMMAND_WRONG_USE;
  if (!gnuplot_knows(request->output, message, sizeof message)) {
    complain("--output: %s", message);
    return false;
  }
  int error = output_file_check(request->output, path);
  if (error != 0) {
    complain("--output: cannot write '%s': %s", request->output,
             strerror(error));
    return false;
  }
  if (optind < argc && argc - optind <= MOST_FILES) return true;
  if (optind < argc)
    complain("more than %d files", MOST_FILES);
  else
    complain("no file to draw; see ode-mlcp plot --help");
  return false;
}

int command_plot(int argc, char **argv) {
  static table tables[MOST_FILES];
  static panel panels[MOST_COLUMNS];
  request request;
  int status, n_panels;
  if (!read_plot_options(argc, argv, &request, &status)) return status;
  int n_tables = argc - optind;
  for (int t = 0; t < n_tables; t++)
    if (!read_table(&tables[t], argv[optind + t])) return COMMAND_WRONG_USE;
  if (!choose_panels(&request, tables, n_tables, panels, &n_panels))
    return COMMAND_WRONG_USE;
  return draw(&request, tables, n_tables, panels, n_panels);
}
