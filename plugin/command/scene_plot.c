/* Pictures of runs and sweeps by gnuplot. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/gnuplot.h"
#include "command/scene.h"
#include "common/vec3.h"
#include "world/rotation.h"

enum {
  OUTLINE_POINTS = 72,
  CURVE_POINTS = 4000, /* of a curve at most; more would cover one another */
  CURVES = 3           /* coordinates in one panel */
};

/* ---- outlines ---- */

static void rotate_back(const double rotation[9], const double x[3],
                        double turned[3]) {
  for (int i = 0; i < 3; i++)
    turned[i] =
        rotation[i] * x[0] + rotation[3 + i] * x[1] + rotation[6 + i] * x[2];
}

/* The pose of an outline's body in row `row`; the world's is no move. */
static void pose_of(const scene_result *result, int body, long row,
                    double position[3], double rotation[9]) {
  double still[7] = {0, 0, 0, 1, 0, 0, 0};
  const double *pose =
      body < 0 ? still
               : result->poses + (row * result->n_bodies + body) * SCENE_POSE;
  memcpy(position, pose, 3 * sizeof *position);
  quaternion_to_rotation(rotation, pose + 3);
}

static double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

/* The point of the shape that is furthest along d, both in its own frame. */
static void furthest(const scene_outline *outline, const double d[3],
                     double point[3]) {
  const double *size = outline->size;
  double across = hypot(d[0], d[1]),
         length = sqrt(across * across + d[2] * d[2]);
  double scale = 0;
  memset(point, 0, 3 * sizeof *point);
  switch (outline->kind) {
    case SCENE_BALL:
    case SCENE_CAPSULE:
      for (int i = 0; i < 3; i++) point[i] = size[0] * d[i] / length;
      if (outline->kind == SCENE_CAPSULE) point[2] += size[1] / 2 * sign(d[2]);
      break;
    case SCENE_BOX:
      for (int i = 0; i < 3; i++) point[i] = size[i] / 2 * sign(d[i]);
      break;
    case SCENE_CYLINDER:
      for (int i = 0; i < 2 && across > 1e-9 * length; i++)
        point[i] = size[0] * d[i] / across;
      point[2] = size[1] / 2 * sign(d[2]);
      break;
    case SCENE_ELLIPSOID:
      for (int i = 0; i < 3; i++) scale += size[i] * size[i] * d[i] * d[i];
      for (int i = 0; i < 3; i++)
        point[i] = size[i] * size[i] * d[i] / sqrt(scale);
      break;
    default: break;
  }
}

static void put_point(FILE *out, const scene_result *result,
                      const double position[3], const double rotation[9],
                      const double local[3]) {
  double turned[3];
  mat3_apply(turned, rotation, local);
  const int *axes = result->axes;
  fprintf(out, "%.7g %.7g\n", position[axes[0]] + turned[axes[0]],
          position[axes[1]] + turned[axes[1]]);
}

/* The outline of a convex shape along the third axis: its furthest points in
 * all directions of the picture; a ball also shows a spoke. */
static void put_silhouette(FILE *out, const scene_result *result,
                           const scene_outline *outline, long row) {
  double position[3], rotation[9], point[3], local[3];
  pose_of(result, outline->body, row, position, rotation);
  for (int k = 0; k <= OUTLINE_POINTS; k++) {
    double angle = 2 * M_PI * (k + 0.25) / OUTLINE_POINTS;
    double across[3] = {0}, in_body[3], d[3];
    across[result->axes[0]] = cos(angle);
    across[result->axes[1]] = sin(angle);
    rotate_back(rotation, across, in_body);
    rotate_back(outline->rotation, in_body, d);
    furthest(outline, d, point);
    mat3_apply(local, outline->rotation, point);
    for (int i = 0; i < 3; i++) local[i] += outline->offset[i];
    put_point(out, result, position, rotation, local);
  }
  fputc('\n', out);
  if (outline->kind != SCENE_BALL && outline->kind != SCENE_ELLIPSOID) return;
  const double spoke[3] = {outline->size[0], 0, 0};
  put_point(out, result, position, rotation, outline->offset);
  mat3_apply(local, outline->rotation, spoke);
  for (int i = 0; i < 3; i++) local[i] += outline->offset[i];
  put_point(out, result, position, rotation, local);
  fputc('\n', out);
}

static void put_outline(FILE *out, const scene_result *result,
                        const scene_outline *outline, long row) {
  double position[3], rotation[9], other[3], other_rotation[9];
  const double nowhere[3] = {0};
  pose_of(result, outline->body, row, position, rotation);
  switch (outline->kind) {
    case SCENE_LINE:
      put_point(out, result, position, rotation, outline->offset);
      put_point(out, result, position, rotation, outline->size);
      break;
    case SCENE_LINK:
      pose_of(result, outline->other, row, other, other_rotation);
      put_point(out, result, position, rotation, nowhere);
      put_point(out, result, other, other_rotation,
                outline->other < 0 ? outline->offset : nowhere);
      break;
    default: put_silhouette(out, result, outline, row); return;
  }
  fputc('\n', out);
}

/* The row nearest to a time. */
static long row_at(const scene_result *result, double time) {
  long row = lround(time / result->settings.h);
  return row < 0 ? 0 : row > result->n_steps ? result->n_steps : row;
}

/* How many outlines there are, and the time of one of them. */
static int picture_count(const scene_result *result) {
  int n = result->scene->pictures;
  return n < 2 ? 2 : n;
}

static double picture_time(const scene_result *result, int picture) {
  const scene *scene = result->scene;
  double last = scene->last_picture > 0 ? scene->last_picture : INFINITY;
  double end = result->times[result->n_steps];
  last = fmin(last, end);
  double first = fmin(scene->first_picture, last);
  return first + (last - first) * picture / (picture_count(result) - 1);
}

/* wide and high: how far all that is drawn reaches. What is much longer one way
 * would be a sliver by one scale; else both axes have the same ticks, so few that
 * they do not touch on the shorter one. */
static void put_extents(FILE *out, int n) {
  fputs("$all << EOD\nEOD\nset print $all\n", out);
  for (int k = -1; k < n; k++) {
    char block[24] = "$fixed";
    if (k >= 0) snprintf(block, sizeof block, "$picture%d", k);
    fprintf(out, "do for [i=1:|%s|] { print %s[i] }\n", block, block);
  }
  fputs(
      "set print\n"
      "stats $all using 1 name 'x' nooutput\n"
      "stats $all using 2 name 'y' nooutput\n"
      "wide = x_max - x_min\nhigh = y_max - y_min\n"
      "low = wide > 6 * high && high > 0\n"
      "narrow = high > 6 * wide && wide > 0\n"
      "long = (wide > high ? wide : high) / 5.0\n"
      "ten = long > 0 ? 10.0**floor(log10(long)) : 1\n"
      "tick = long <= 2 * ten ? 2 * ten : long <= 5 * ten ? 5 * ten : 10 * "
      "ten\n",
      out);
}

static void put_pictures(FILE *out, const scene_result *result) {
  int n = picture_count(result);
  fputs("$fixed << EOD\nNaN NaN\n\n", out);
  for (int i = 0; i < result->n_outlines; i++)
    if (result->outlines[i].body < 0)
      put_outline(out, result, &result->outlines[i], 0);
  fputs("EOD\n", out);
  for (int k = 0; k < n; k++) {
    long row = row_at(result, picture_time(result, k));
    fprintf(out, "$picture%d << EOD\nNaN NaN\n\n", k);
    for (int i = 0; i < result->n_outlines; i++)
      if (result->outlines[i].body >= 0)
        put_outline(out, result, &result->outlines[i], row);
    fputs("EOD\n", out);
  }
  // the ways of the centres
  fputs("$ways << EOD\n", out);
  long stride = result->n_steps / CURVE_POINTS + 1;
  for (int b = 0; b < result->n_bodies; b++) {
    long last = row_at(result, picture_time(result, n - 1));
    for (long row = 0; row <= last; row += stride) {
      const double *x =
          result->poses + (row * result->n_bodies + b) * SCENE_POSE;
      fprintf(out, "%.7g %.7g\n", x[result->axes[0]], x[result->axes[1]]);
    }
    fputs("\n", out);
  }
  fputs("EOD\n", out);
  put_extents(out, n);
}

static void plot_pictures(FILE *out, const scene_result *result) {
  static const char axis_names[] = "xyz";
  int n = picture_count(result);
  fprintf(out,
          "set xlabel '%c, m'\nset ylabel '%c, m'\n"
          "if (low || narrow) { set size noratio } "
          "else { set size ratio -1; set xtics tick; set ytics tick }\n"
          "unset key\n"
          "set offsets graph 0.04, graph 0.04, graph 0.04, graph 0.04\n"
          "set title 'from %.3g s (light) to %.3g s (dark)'"
          ".(low ? ', heights stretched' : narrow ? ', widths stretched' : "
          "'')\n",
          axis_names[result->axes[0]], axis_names[result->axes[1]],
          picture_time(result, 0), picture_time(result, n - 1));
  fputs(
      "plot $ways using 1:2 with lines lc rgb '#c8d8e8', \\\n"
      " $fixed using 1:2 with lines lw 2 lc rgb '#555555'",
      out);
  for (int k = 0; k < n; k++) {
    int shade = 205 - 205 * k / (n - 1);
    fprintf(out,
            ", \\\n $picture%d using 1:2 with lines lw %.1f "
            "lc rgb '#%02x%02x%02x'",
            k, k == n - 1 ? 2.0 : 1.2, shade * 3 / 4, shade * 3 / 4,
            shade * 3 / 4 + 50 < 256 ? shade * 3 / 4 + 50 : 255);
  }
  // a line that stays would else lie on the frame
  fputs(
      "\nset size noratio\nset xtics autofreq\nset ytics autofreq\n"
      "set offsets 0, 0, graph 0.05, graph 0.05\n",
      out);
}

/* ---- curves ---- */

/* Names stand above the curves and cover none. */
static void set_axes(FILE *out, const char *what, const char *more,
                     const char *unit, bool logarithmic) {
  char title[200], axis[120];
  snprintf(title, sizeof title, "%s%s", what, more);
  snprintf(axis, sizeof axis, "%s, %s", what, unit);
  gnuplot_axes(out, title, "time, s", axis, logarithmic);
  fputs("set key outside top center horizontal noopaque\n", out);
}

/* The first coordinate that is drawn. */
static int first_curve(const scene_result *result) {
  return result->scene->draw_angles ? 3 : 0;
}

static void put_curves(FILE *out, const scene_result *result, int run) {
  long stride = result->n_steps / CURVE_POINTS + 1;
  fprintf(out, "$run%d << EOD\n", run);
  for (long row = 0; row <= result->n_steps; row += stride) {
    fprintf(out, "%.9g %.9g %.9g", result->times[row], result->energies[row],
            result->infeasibilities[row]);
    for (int k = 0; k < CURVES; k++) {
      int n = result->n_positions, i = k + first_curve(result);
      fprintf(out, " %.9g %.9g", i < n ? result->positions[row * n + i] : NAN,
              i < n ? result->velocities[row * n + i] : NAN);
    }
    fprintf(out, " %.9g", result->extras[row]);
    fputc('\n', out);
  }
  fputs("EOD\n", out);
}

/* A line a run, of those columns of its data. */
static void put_runs(FILE *out, const scene_result *const results[], int n,
                     const char *columns) {
  for (int k = 0; k < n; k++) {
    char data[80];
    snprintf(data, sizeof data, "$run%d %s", k, columns);
    gnuplot_curve(out, k, k, data, results[k]->settings.scheme);
  }
  fputc('\n', out);
}

/* Below it an infeasibility is rounding, m or m/s. */
#define ROUNDING 1e-10

static bool any_infeasibility(const scene_result *const results[], int n) {
  for (int k = 0; k < n; k++)
    if (results[k]->infeasibility_max > ROUNDING) return true;
  return false;
}

static void plot_coordinates(FILE *out, const scene_result *result,
                             bool velocities, const char *note);

/* Or, where there is none, the velocities or the positions. */
static void plot_infeasibility(FILE *out, const scene_result *const results[],
                               int n, bool velocities) {
  // a panel without a curve tells nothing: the other coordinates do
  if (!any_infeasibility(results, n)) {
    plot_coordinates(out, results[0], velocities,
                     " (infeasibility: rounding, below 1e-10)");
    return;
  }
  // what is rounding is drawn at the foot
  set_axes(out, "infeasibility", "", results[0]->scene->infeasibility_unit,
           true);
  fputs("unset offsets\nset format y '%.0e'\n", out);
  put_runs(out, results, n, "every ::1 using 1:($3 > 1e-10 ? $3 : 1e-10)");
  fputs(
      "unset logscale y\nset format y\n"
      "set offsets 0, 0, graph 0.05, graph 0.05\n",
      out);
}

/* Rounding is not blown up: an energy that stays is a line. */
static void set_energy_range(FILE *out, const scene_result *const results[],
                             int n) {
  double low = INFINITY, high = -INFINITY;
  for (int k = 0; k < n; k++)
    for (long row = 0; row <= results[k]->n_steps; row++) {
      low = fmin(low, results[k]->energies[row]);
      high = fmax(high, results[k]->energies[row]);
    }
  double size = fmax(fabs(low), fabs(high));
  if (!(high - low <= 1e-9 * size)) return;
  double around = size > 0 ? 0.01 * size : 1;
  fprintf(out, "set yrange [%.9g:%.9g]\n", low - around, high + around);
}

static void plot_energy(FILE *out, const scene_result *const results[], int n) {
  set_axes(out, "energy", "", "J", false);
  set_energy_range(out, results, n);
  put_runs(out, results, n, "using 1:2");
  fputs("set yrange [*:*]\n", out);
}

static bool any_extra(const scene_result *const results[], int n) {
  if (results[0]->scene->extra_name == NULL) return false;
  for (int k = 0; k < n; k++)
    for (long row = 0; row <= results[k]->n_steps; row++)
      if (fabs(results[k]->extras[row]) > ROUNDING) return true;
  return false;
}

/* Values that the scene watches beside its coordinates. */
static void plot_extra(FILE *out, const scene_result *const results[], int n) {
  char name[80];
  snprintf(name, sizeof name, "%s", results[0]->scene->extra_name);
  for (char *c = name; *c != 0; c++)
    if (*c == '_') *c = ' ';
  set_axes(out, name, "", results[0]->scene->extra_unit, false);
  char columns[24];
  snprintf(columns, sizeof columns, "using 1:%d", 4 + 2 * CURVES);
  put_runs(out, results, n, columns);
}

static void put_exact(FILE *out, const scene_result *result) {
  fputs("$exact << EOD\n", out);
  for (long row = 0; row <= result->n_steps; row++) {
    const double *x = result->exact + row * SCENE_EXACT;
    if (isfinite(x[0]))
      fprintf(out, "%.9g %.9g %.9g %.9g\n", result->times[row], x[0], x[1],
              x[2]);
  }
  fputs("EOD\n", out);
}

/* True if a coordinate is the angle of a body in the plane, beside lengths. */
static bool is_angle(const scene_result *result, int i) {
  return first_curve(result) == 0 &&
         strcmp(result->coordinate_names[i % result->coordinates_of_body],
                "angle") == 0;
}

static bool is_rounding(const scene_result *result, int i, bool velocities) {
  const double *values = velocities ? result->velocities : result->positions;
  for (long row = 0; row <= result->n_steps; row++)
    if (fabs(values[row * result->n_positions + i]) > ROUNDING) return false;
  return true;
}

/* One coordinate of the first run. An angle has the axis on the right. */
static void put_coordinate(FILE *out, const scene_result *result, int i,
                           int n_drawn, bool velocities) {
  int per_body = result->coordinates_of_body, first = first_curve(result);
  bool right = is_angle(result, i);
  char data[60], title[80];
  snprintf(data, sizeof data, "$run0 using 1:%d axes x1y%d",
           4 + 2 * i + velocities, right ? 2 : 1);
  snprintf(title, sizeof title, "%s%s%s",
           result->coordinate_names[(first + i) % per_body],
           i >= per_body ? "2" : "", right ? " (right)" : "");
  gnuplot_curve(out, n_drawn, i, data, title);
}

/* The place of the first body in the reference. */
static void put_references(FILE *out, const scene_result *result, int n) {
  const char *title = "reference";
  for (int i = 0; i < n; i++) {
    if (!isfinite(result->exact[i]) ||
        (is_angle(result, i) && is_rounding(result, i, false)))
      continue;
    fprintf(out,
            ", \\\n $exact using 1:%d axes x1y%d with lines lw 1.3 dt 2 "
            "lc rgb '#000000' title '%s'",
            2 + i, is_angle(result, i) ? 2 : 1, title);
    title = "";
  }
}

static void plot_coordinates(FILE *out, const scene_result *result,
                             bool velocities, const char *note) {
  int first = first_curve(result), n = result->n_positions - first;
  if (n > CURVES) n = CURVES;
  const char *what = velocities ? "velocity" : "position";
  const char *unit = first == 3   ? velocities ? "rad/s" : "rad"
                     : velocities ? "m/s"
                                  : "m";
  bool has_reference = result->exact != NULL && velocities == (first == 3);
  if (has_reference) put_exact(out, result);
  char more[120];
  snprintf(more, sizeof more, "%s%s",
           result->n_bodies > 1 ? " of the first" : "", note);
  set_axes(out, what, more, unit, false);
  // of very many swings the first ones: all would fill the panel
  double shown = 5 * result->scene->last_picture;
  if (shown > 0 && result->times[result->n_steps] > 4 * shown)
    fprintf(out, "set xrange [0:%.9g]\n", shown);
  bool has_angle = false;
  for (int i = 0; i < n; i++)
    has_angle |= is_angle(result, i) && !is_rounding(result, i, velocities);
  if (has_angle)
    fprintf(out, "set ytics nomirror\nset y2tics\nset y2label '%s'\n",
            velocities ? "angular velocity, rad/s" : "angle, rad");
  bool still = true; // gnuplot would say that it finds no range
  for (int i = 0; i < n; i++)
    still &= is_rounding(result, first + i, velocities);
  if (still) fputs("set yrange [-1:1]\n", out);
  for (int i = 0, n_drawn = 0; i < n; i++)
    if (!is_angle(result, i) || has_angle)
      put_coordinate(out, result, i, n_drawn++, velocities);
  if (has_reference) put_references(out, result, n);
  fputs(
      "\nset xrange [*:*]\nset yrange [*:*]\nunset y2tics\nunset y2label\n"
      "set ytics mirror\n",
      out);
}

/* ---- gnuplot ---- */

static bool start_plot(gnuplot *plot, const char *path, int width, int height,
                       char message[SCENE_MESSAGE]) {
  if (!gnuplot_start(plot, path, width, height, message, SCENE_MESSAGE))
    return false;
  gnuplot_style(plot->out);
  return true;
}

static void put_title(FILE *out, const scene *scene, const char *scheme,
                      const char *more) {
  char title[SCENE_MESSAGE];
  snprintf(title, sizeof title, "%s, scheme %s%s: %s (%s)", scene->name, scheme,
           more, scene->summary, scene->source);
  gnuplot_put_string(out, title);
}

bool scene_plot(const char *path, const scene_result *const results[],
                int n_results, char message[SCENE_MESSAGE]) {
  gnuplot plot;
  if (!start_plot(&plot, path, 1300, 900, message)) return false;
  FILE *out = plot.out;
  char step[40];
  put_pictures(out, results[0]);
  for (int k = 0; k < n_results; k++) put_curves(out, results[k], k);
  snprintf(step, sizeof step, ", h %g s", results[0]->settings.h);
  fputs("set multiplot layout 2,2 title ", out);
  put_title(out, results[0]->scene, results[0]->settings.scheme, step);
  fputs(".\"\\n\" noenhanced\n", out); // apart from the names below
  plot_pictures(out, results[0]);
  bool velocities = results[0]->scene->draw_velocities;
  bool extra = any_extra(results, n_results);
  plot_infeasibility(out, results, n_results, extra ? velocities : !velocities);
  if (extra)
    plot_extra(out, results, n_results);
  else
    plot_coordinates(out, results[0], velocities, "");
  plot_energy(out, results, n_results);
  return gnuplot_end(&plot, message, SCENE_MESSAGE);
}

/* Below it an error is the sum of roundings, which grows with the number of
 * steps. */
static const double EXACT = 1e-12;

static bool all_exact(const scene_sweep *sweep) {
  for (int i = 0; i < sweep->n_rows; i++)
    for (int k = 0; k < SCENE_ERRORS; k++)
      if (sweep->rows[i].errors[k] > EXACT) return false;
  return true;
}

bool scene_plot_sweep(const char *path, const scene_sweep *sweep,
                      char message[SCENE_MESSAGE]) {
  const scene *scene = sweep->scene;
  gnuplot plot;
  if (!start_plot(&plot, path, 800, 600, message)) return false;
  FILE *out = plot.out;
  fputs("$sweep << EOD\n", out);
  for (int i = 0; i < sweep->n_rows; i++) {
    const scene_sweep_row *row = &sweep->rows[i];
    fprintf(out, "%.9g", row->h);
    for (int k = 0; k < SCENE_ERRORS; k++)
      fprintf(out, " %.9g %.9g", row->errors[k], row->references[k]);
    fputc('\n', out);
  }
  char title[100];
  snprintf(title, sizeof title, "%s, scheme %s%s", scene->name,
           sweep->settings.scheme,
           all_exact(sweep) ? ": rounding, below 1e-12" : "");
  fputs("EOD\nset title ", out);
  gnuplot_put_string(out, title);
  fputs(" noenhanced\n", out);
  fputs(
      "set logscale xy\nset format xy '%.0e'\nset xlabel 'step size, s'\n"
      "set ylabel 'error'\nset key bottom right\n",
      out);
  if (all_exact(sweep))
    fputs("set yrange [1e-13:1e-3]\nset key top right\n", out);
  fputs("plot", out);
  for (int k = 0; k < SCENE_ERRORS && scene->error_kinds[k].name != NULL; k++) {
    fprintf(out,
            "%s $sweep using 1:($%d > %g ? $%d : %g) with linespoints pt 7 "
            "lw 1.5 lc rgb '%s' title '%s (%s)' noenhanced",
            k > 0 ? ", \\\n" : "", 2 + 2 * k, EXACT, 2 + 2 * k, EXACT,
            gnuplot_colour(k), scene->error_kinds[k].name,
            scene->error_kinds[k].unit);
    bool known = false;
    for (int i = 0; i < sweep->n_rows; i++)
      known |= isfinite(sweep->rows[i].references[k]);
    if (known)
      fprintf(out,
              ", \\\n $sweep using 1:%d with points pt 6 ps 2 "
              "lc rgb '%s' title '%s, paper' noenhanced",
              3 + 2 * k, gnuplot_colour(k), scene->error_kinds[k].name);
  }
  fputs("\n", out);
  return gnuplot_end(&plot, message, SCENE_MESSAGE);
}
