/* The curves of a comparison as pictures, by gnuplot, plots/NAME.png and .svg, and
 * what they are drawn of, plots/NAME.csv. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "command/compare.h"
#include "command/gnuplot.h"
#include "command/result_file.h"
#include "judge/tables.h"

enum { WIDTH = 800, HEIGHT = 450, MOST_POINTS = 2000 };

/* Calls for each run that is there, with the points of its curve. */
typedef void run_taker(FILE *out, const comparison *c, int run, size_t n,
                       const double times[], const double values[]);

typedef struct range {
  double low, high;
} range;

/* Of all values. */
static range each_run(FILE *out, const comparison *c, const step_column *column,
                      run_taker *take) {
  range range = {INFINITY, -INFINITY};
  static double times[MOST_POINTS], values[MOST_POINTS];
  for (int i = 0; i < c->n_runs; i++) {
    const recording *r = c->runs[i].levels[0];
    if (r == NULL) continue;
    size_t n = step_points(r, column, MOST_POINTS, times, values);
    for (size_t k = 0; column->logarithmic && k < n; k++)
      values[k] = fmax(fabs(values[k]), STEP_ROUNDING);
    for (size_t k = 0; k < n; k++) {
      range.low = fmin(range.low, values[k]);
      range.high = fmax(range.high, values[k]);
    }
    take(out, c, i, n, times, values);
  }
  return range;
}

static void put_rows(FILE *out, const comparison *c, int run, size_t n,
                     const double times[], const double values[]) {
  for (size_t k = 0; k < n; k++)
    fprintf(out, "%s,%.9g,%.9g\n", c->runs[run].name, times[k], values[k]);
}

static void put_block(FILE *out, const comparison *c, int run, size_t n,
                      const double times[], const double values[]) {
  (void)c;
  fprintf(out, "$run%d << END\n", run);
  for (size_t k = 0; k < n; k++)
    fprintf(out, "%.9g %.9g\n", times[k], values[k]);
  fputs("END\n", out);
}

static bool write_table(const comparison *c, const step_column *column,
                        const char *folder, char *message,
                        size_t message_size) {
  result_file file;
  if (!result_begin(&file, message, message_size, "%s/plots/%s.csv", folder,
                    column->name))
    return false;
  fprintf(file.out, "stepper,time_s,%s\n", column->header);
  each_run(file.out, c, column, put_rows);
  return result_end(&file, true, message, message_size);
}

static void put_plot(gnuplot *plot, const comparison *c,
                     const step_column *column, range range, const char *path) {
  FILE *out = plot->out;
  gnuplot_picture(plot, path, WIDTH, HEIGHT);
  gnuplot_range(out, range.low, range.high);
  gnuplot_axes(out, column->title, "time, s", column->axis,
               column->logarithmic);
  for (int i = 0, drawn = 0; i < c->n_runs; i++) {
    char data[20];
    if (c->runs[i].levels[0] == NULL) continue;
    snprintf(data, sizeof data, "$run%d", i);
    gnuplot_curve(out, drawn++, i, data, c->runs[i].name);
  }
  fputs("\nunset output\n", out);
}

/* A panel of rounding tells nothing. */
static bool is_drawn(const comparison *c, const step_column *column) {
  return column->title != NULL && step_column_tells(c, column);
}

bool compare_write_plots(const comparison *c, const char *folder, char *message,
                         size_t message_size) {
  static const char *const endings[] = {"png", "svg"};
  char path[PATH_MAX];
  gnuplot plot;
  snprintf(path, sizeof path, "%s/plots", folder);
  if (mkdir(path, 0777) != 0 && errno != EEXIST) {
    snprintf(message, message_size, "cannot make %s: %s", path,
             strerror(errno));
    return false;
  }
  for (size_t k = 0; k < n_step_columns; k++)
    if (is_drawn(c, &step_columns[k]) &&
        !write_table(c, &step_columns[k], folder, message, message_size))
      return false;
  if (!gnuplot_open(&plot, message, message_size)) return false;
  gnuplot_style(plot.out);
  fputs("set key outside right top noenhanced\nset format y '%.3g'\n",
        plot.out);
  for (size_t k = 0; k < n_step_columns; k++) {
    const step_column *column = &step_columns[k];
    if (!is_drawn(c, column)) continue;
    range range = each_run(plot.out, c, column, put_block);
    for (int e = 0; e < 2; e++)
      if (snprintf(path, sizeof path, "%s/plots/%s.%s", folder, column->name,
                   endings[e]) < PATH_MAX)
        put_plot(&plot, c, column, range, path);
  }
  return gnuplot_end(&plot, message, message_size);
}
