/* The curves of a comparison as pictures, by gnuplot, plots/NAME.png and .svg, and
 * what they are drawn of, plots/NAME.csv. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "command/compare.h"
#include "command/gnuplot.h"

enum { WIDTH = 800, HEIGHT = 450, MOST_POINTS = 2000 };

/* Below it a figure is rounding. */
static const double NOTHING = 1e-10;

typedef struct curve {
  const char *name, *title, *axis, *column;
  size_t offset;
  double unit;
  bool logarithmic;
} curve;

#define CURVE(field, title, axis, column, unit, logarithmic)                   \
  {                                                                            \
#field, title, axis, column, offsetof(recording_step, field), unit,        \
        logarithmic                                                            \
  }
static const curve curves[] = {
    CURVE(contact_error, "Contact off its law", "worst contact, m/s",
          "contact_error_m_s", 1, true),
    CURVE(penetration, "Penetration", "deepest, m", "penetration_m", 1, true),
    CURVE(cone_violation, "Friction beyond its cone", "worst contact, m/s",
          "cone_violation_m_s", 1, true),
    CURVE(joint_error, "Joints off their place", "worst row, m or rad",
          "joint_error", 1, true),
    CURVE(energy_unexplained, "Energy not explained, since the start",
          "energy, J", "energy_unexplained_J", 1, false),
    CURVE(contact_work, "Energy put in by contacts, since the start",
          "energy, J", "contact_work_J", 1, false),
    CURVE(fastest, "Fastest body", "speed, m/s", "fastest_m_s", 1, false),
    CURVE(seconds, "Wall clock of a step", "time, ms", "milliseconds", 1e3,
          true)};
enum { N_CURVES = sizeof curves / sizeof curves[0] };

static double value_of(const recording_step *step, const curve *curve) {
  return curve->unit * *(const double *)((const char *)step + curve->offset);
}

static double most_of(const comparison *c, const curve *curve) {
  double most = 0;
  for (int i = 0; i < c->n_runs; i++) {
    const recording *r = c->runs[i].levels[0];
    for (size_t k = 0; r != NULL && k < r->n_shown_steps; k++)
      most = fmax(most, fabs(value_of(r->shown_steps[k], curve)));
  }
  return most;
}

/* Called with each point of a run's curve; of several steps the value of largest
 * size. */
typedef void point_taker(FILE *out, const compare_run *run, double time,
                         double value);

static void each_point(const compare_run *run, const curve *curve, FILE *out,
                       point_taker *take) {
  const recording *r = run->levels[0];
  size_t a_point = r->n_shown_steps / MOST_POINTS + 1;
  for (size_t k = 0; k < r->n_shown_steps; k += a_point) {
    double worst = 0, time = 0;
    for (size_t m = k; m < r->n_shown_steps && m < k + a_point; m++) {
      double value = value_of(r->shown_steps[m], curve);
      if (!(fabs(value) <= fabs(worst))) worst = value;
      time = r->shown_steps[m]->time;
    }
    if (curve->logarithmic) worst = fmax(fabs(worst), NOTHING);
    take(out, run, time, worst);
  }
}

static void put_point(FILE *out, const compare_run *run, double time,
                      double value) {
  (void)run;
  fprintf(out, "%.9g %.9g\n", time, value);
}

static void put_row(FILE *out, const compare_run *run, double time,
                    double value) {
  fprintf(out, "%s,%.9g,%.9g\n", run->name, time, value);
}

static bool write_table(const comparison *c, const curve *curve,
                        const char *path) {
  FILE *out = fopen(path, "w");
  if (out == NULL) return false;
  fprintf(out, "stepper,time_s,%s\n", curve->column);
  for (int i = 0; i < c->n_runs; i++)
    if (c->runs[i].levels[0] != NULL)
      each_point(&c->runs[i], curve, out, put_row);
  bool whole = ferror(out) == 0;
  return fclose(out) == 0 && whole;
}

/* A block a run. */
static void put_data(FILE *out, const comparison *c, const curve *curve) {
  for (int i = 0; i < c->n_runs; i++) {
    const recording *r = c->runs[i].levels[0];
    if (r == NULL) continue;
    fprintf(out, "$run%d << END\n", i);
    each_point(&c->runs[i], curve, out, put_point);
    fputs("END\n", out);
  }
}

static void put_plot(gnuplot *plot, const comparison *c, const curve *curve,
                     const char *path) {
  FILE *out = plot->out;
  gnuplot_picture(plot, path, WIDTH, HEIGHT);
  gnuplot_axes(out, curve->title, "time, s", curve->axis, curve->logarithmic);
  for (int i = 0, drawn = 0; i < c->n_runs; i++) {
    char data[20];
    if (c->runs[i].levels[0] == NULL) continue;
    snprintf(data, sizeof data, "$run%d", i);
    gnuplot_curve(out, drawn++, i, data, c->runs[i].name);
  }
  fputs("\nunset output\n", out);
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
  for (int k = 0; k < N_CURVES; k++)
    if (most_of(c, &curves[k]) > NOTHING &&
        snprintf(path, sizeof path, "%s/plots/%s.csv", folder, curves[k].name) <
            PATH_MAX &&
        !write_table(c, &curves[k], path)) {
      snprintf(message, message_size, "cannot write %.300s: %s", path,
               strerror(errno));
      return false;
    }
  if (!gnuplot_open(&plot, message, message_size)) return false;
  gnuplot_style(plot.out);
  fputs("set key outside right top noenhanced\nset format y '%.3g'\n",
        plot.out);
  for (int k = 0; k < N_CURVES; k++) {
    // a panel of rounding tells nothing
    if (!(most_of(c, &curves[k]) > NOTHING)) continue;
    put_data(plot.out, c, &curves[k]);
    for (int e = 0; e < 2; e++)
      if (snprintf(path, sizeof path, "%s/plots/%s.%s", folder, curves[k].name,
                   endings[e]) < PATH_MAX)
        put_plot(&plot, c, &curves[k], path);
  }
  return gnuplot_end(&plot, message, message_size);
}
