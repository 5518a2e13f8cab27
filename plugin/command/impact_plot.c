/* Pictures of a set: densities of all outcomes in planes of contact velocities,
 * what leads to them, other laws beside them, and a sketch of what collides. All
 * is measured in pixels, 96 an inch, from the upper left corner. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/gnuplot.h"
#include "command/impact.h"
#include "command/impact_sketch.h"

enum {
  PANEL_WIDTH = 300, /* of the axes */
  PANEL_HEIGHT = 264,
  MARGIN_LEFT = 82,
  MARGIN_RIGHT = 18,
  MARGIN_TOP = 26,
  MARGIN_BOTTOM = 56,
  CELL_WIDTH = MARGIN_LEFT + PANEL_WIDTH + MARGIN_RIGHT,
  CELL_HEIGHT = MARGIN_TOP + PANEL_HEIGHT + MARGIN_BOTTOM,
  FOOT = 64,       /* below the panels: what is drawn, in which colours */
  SCALE_ROOM = 88, /* right of them: colours */
  PIXELS = 2,      /* a cell of a density */
  N_X = PANEL_WIDTH / PIXELS,
  N_Y = PANEL_HEIGHT / PIXELS,
  PNG_SCALE = 2 /* for print */
};

/* Extents smaller than this much of the velocity before the impact are
 * rounding: the panel is not blown up to show them. */
#define ROUNDING 1e-7
/* Of a sequence's impacts that are nearer than so many pixels to one drawn before none is
 * drawn, but for its end. */
#define THIN 3
/* Room around what a panel shows, and the least it shows, of the same. */
#define AROUND 0.09
#define LEAST_EXTENT 0.02

/* How gnuplot draws other laws, and squares of the key. */
static const char *const BEFORE_STYLE = "points pt 7 ps 0.6 lc rgb '#000000'";
static const char *const SIMULTANEOUS_STYLE =
    "linespoints pt 7 ps 0.6 lw 1.6 lc rgb '#0072b2'";
static const char *const SEQUENCE_STYLES[IMPACT_SEQUENCES] = {
    "linespoints pt 7 ps 0.45 lw 1.6 lc rgb '#d1331d'",
    "linespoints pt 7 ps 0.45 lw 1.6 lc rgb '#b07d00'"};
static const char *const OUTCOMES_STYLE = "points pt 5 ps 1.2 lc rgb '#5e1e7a'";
static const char *const WAY_STYLE = "points pt 5 ps 1.2 lc rgb '#e2e2e2'";

/* ---- planes -------------------------------------------------------------- */

static int find_row(const ode_mlcp_impact_problem *problem, const char *name,
                    size_t length) {
  int n = problem->n_contacts * (1 + problem->n_tangents);
  for (int row = 0; row < n; row++) {
    char known[24];
    impact_row_name(problem, row, known);
    if (strlen(known) == length && memcmp(known, name, length) == 0) return row;
  }
  return -1;
}

bool impact_planes_parse(impact_picture *picture,
                         const ode_mlcp_impact_problem *problem,
                         const char *text, char message[IMPACT_MESSAGE]) {
  picture->n_planes = 0;
  for (const char *at = text; at != NULL; at = strchr(at, ',')) {
    at += *at == ',';
    size_t length = strcspn(at, ","), colon = strcspn(at, ":,");
    int x = find_row(problem, at, colon);
    int y = colon < length
                ? find_row(problem, at + colon + 1, length - colon - 1)
                : -1;
    char last[24];
    impact_row_name(problem,
                    problem->n_contacts * (1 + problem->n_tangents) - 1, last);
    if (picture->n_planes == IMPACT_PLANES) {
      snprintf(message, IMPACT_MESSAGE, "--planes: more than %d planes",
               IMPACT_PLANES);
      return false;
    }
    if (x < 0 || y < 0 || x == y) {
      snprintf(message, IMPACT_MESSAGE,
               "--planes: '%.*s' is no plane X:Y of two contact velocities "
               "(vnA, %s .. %s)",
               (int)(length < 60 ? length : 60), at,
               problem->n_tangents == 1 ? "vtA" : "vt1A", last);
      return false;
    }
    picture->planes[picture->n_planes++] = (impact_plane){x, y};
  }
  return true;
}

/* For two planar contacts the plane of both normals between those of A and B;
 * else normals of neighbours, then each contact's normal over its tangents and
 * these over each other. @return how many there would be */
static int choose_planes(impact_picture *picture,
                         const ode_mlcp_impact_problem *problem, int most) {
  int n = problem->n_contacts, T = problem->n_tangents, per = 1 + T, count = 0;
  impact_plane plane;
  for (int i = 0; i < n; i++) {
    if (i + 1 < n && (n == 2 || i % 2 == 0)) {
      plane = (impact_plane){i * per, (i + 1) * per};
      if (count < most) picture->planes[count] = plane;
      count++;
    }
  }
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < (T == 1 ? 1 : 3); k++) {
      plane = k < 2 ? (impact_plane){i * per + 1 + k, i * per}
                    : (impact_plane){i * per + 1, i * per + 2};
      if (count < most) picture->planes[count] = plane;
      count++;
    }
  }
  picture->n_planes = count < most ? count : most;
  return count;
}

/* ---- one panel ----------------------------------------------------------- */

typedef struct panel {
  impact_plane plane;
  double left, top; /* of its axes */
  double low[2], high[2];
  uint64_t counts[N_X * N_Y]; /* outcomes */
  bool passed[N_X * N_Y];     /* on the way */
} panel;

static double pixel_x(const panel *panel, double x) {
  return panel->left +
         (x - panel->low[0]) / (panel->high[0] - panel->low[0]) * PANEL_WIDTH;
}

static double pixel_y(const panel *panel, double y) {
  return panel->top + PANEL_HEIGHT -
         (y - panel->low[1]) / (panel->high[1] - panel->low[1]) * PANEL_HEIGHT;
}

static void reach_point(panel *panel, const double at[2]) {
  for (int i = 0; i < 2; i++) {
    panel->low[i] = fmin(panel->low[i], at[i]);
    panel->high[i] = fmax(panel->high[i], at[i]);
  }
}

static void reach(panel *panel, const double rows[]) {
  reach_point(panel, (double[2]){rows[panel->plane.x], rows[panel->plane.y]});
}

static void reach_set(panel *panel, const ode_mlcp_impact_set *set) {
  for (uint64_t k = 0; set != NULL && k < set->n_outcomes; k++)
    reach(panel, &set->contact_velocities[k * (uint64_t)set->n_rows]);
}

/* Contents of a panel. */
static void choose_range(panel *panel, const impact_result *result,
                         const ode_mlcp_impact_set *ways,
                         const double before[]) {
  int n = impact_row_count(result);
  for (int i = 0; i < 2; i++) {
    panel->low[i] = INFINITY;
    panel->high[i] = -INFINITY;
  }
  reach_set(panel, &result->set);
  reach_set(panel, ways);
  if (ways != NULL) reach(panel, before);
  for (int k = 0; k < result->n_simultaneous; k++)
    reach(panel, &result->simultaneous[k * n]);
  for (int k = 0; k < result->n_sequences; k++)
    for (int i = 0; i <= result->sequences[k].n_impacts; i++)
      if (ways != NULL || i == result->sequences[k].n_impacts)
        reach(panel, &result->sequences[k].way[i * n]);
  double scale = result->velocity_scale;
  for (int i = 0; i < 2; i++) {
    double extent = panel->high[i] - panel->low[i];
    if (!(extent >= 0)) panel->low[i] = panel->high[i] = extent = 0;
    double middle = (panel->low[i] + panel->high[i]) / 2;
    if (extent < ROUNDING * scale) extent = LEAST_EXTENT * scale;
    panel->low[i] = middle - (0.5 + AROUND) * extent;
    panel->high[i] = middle + (0.5 + AROUND) * extent;
  }
}

/* The cell of a point; -1: beyond the panel. */
static int cell_at(const panel *panel, double x, double y) {
  double column = (pixel_x(panel, x) - panel->left) / PIXELS;
  double line = (panel->top + PANEL_HEIGHT - pixel_y(panel, y)) / PIXELS;
  if (!(column >= 0 && column < N_X && line >= 0 && line < N_Y)) return -1;
  return (int)line * N_X + (int)column;
}

/* Mark the cells of a line. */
static void pass(panel *panel, const double from[], const double to[]) {
  int x = panel->plane.x, y = panel->plane.y;
  double dx = pixel_x(panel, to[x]) - pixel_x(panel, from[x]);
  double dy = pixel_y(panel, to[y]) - pixel_y(panel, from[y]);
  int n = (int)(fmax(fabs(dx), fabs(dy)) * 2 / PIXELS) + 1;
  for (int k = 0; k <= n; k++) {
    double part = (double)k / n;
    int cell = cell_at(panel, from[x] + part * (to[x] - from[x]),
                       from[y] + part * (to[y] - from[y]));
    if (cell >= 0) panel->passed[cell] = true;
  }
}

static void count_set(panel *panel, const impact_result *result,
                      const ode_mlcp_impact_set *ways) {
  const ode_mlcp_impact_set *set = &result->set;
  size_t n = (size_t)set->n_rows;
  memset(panel->counts, 0, sizeof panel->counts);
  memset(panel->passed, 0, sizeof panel->passed);
  for (uint64_t k = 0; k < set->n_outcomes; k++) {
    const double *rows = &set->contact_velocities[k * n];
    int cell = cell_at(panel, rows[panel->plane.x], rows[panel->plane.y]);
    if (cell >= 0) panel->counts[cell]++;
  }
  for (uint64_t k = 1; ways != NULL && k < ways->n_outcomes; k++)
    if (ways->sample[k] == ways->sample[k - 1] &&
        ways->lcps[k] > ways->lcps[k - 1])
      pass(panel, &ways->contact_velocities[(k - 1) * n],
           &ways->contact_velocities[k * n]);
}

/* ---- colours ------------------------------------------------------------- */

static const int ON_THE_WAY[3] = {226, 226, 226};

/* From one outcome a cell, 0, to the most, 1. */
static void colour_of(double part, int rgb[3]) {
  static const double stops[4][3] = {
      {205, 178, 222}, {150, 97, 178}, {94, 30, 122}, {35, 0, 50}};
  double at = fmin(fmax(part, 0), 1) * 3;
  int k = at < 2 ? (int)at : 2;
  for (int i = 0; i < 3; i++)
    rgb[i] =
        (int)lround(stops[k][i] + (at - k) * (stops[k + 1][i] - stops[k][i]));
}

static double density(uint64_t count, uint64_t most) {
  return most > 1 ? log((double)count) / log((double)most) : 1;
}

/* ---- gnuplot ------------------------------------------------------------- */

typedef struct page {
  FILE *out;
  double width, height;
} page;

static void place(const page *page, double left, double top, double width,
                  double height) {
  fprintf(page->out,
          "set lmargin at screen %.6f\nset rmargin at screen %.6f\n"
          "set tmargin at screen %.6f\nset bmargin at screen %.6f\n",
          left / page->width, (left + width) / page->width,
          1 - top / page->height, 1 - (top + height) / page->height);
}

static void write_at(const page *page, double x, double y, const char *how,
                     const char *colour, const char *text) {
  fputs("set label ", page->out);
  gnuplot_put_string(page->out, text);
  fprintf(page->out,
          " at screen %.6f,%.6f %s front noenhanced textcolor rgb '%s'\n",
          x / page->width, 1 - y / page->height, how, colour);
}

static void clear(const page *page) {
  fputs(
      "unset label\nunset arrow\nunset object\nunset title\nset border 3\n"
      "unset xlabel\nunset ylabel\n",
      page->out);
}

/* Powers of ten that numbers of this size are told in. */
static int exponent_of(double low, double high) {
  double size = fmax(fabs(low), fabs(high));
  if (size >= 0.01 && size < 10000) return 0;
  return 3 * (int)floor((log10(size) + 1) / 3);
}

/* " 10^-3" by the letters there are for it. */
static void add_power(char *text, size_t size, int exponent) {
  static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴",
                                       "⁵", "⁶", "⁷", "⁸", "⁹"};
  char number[16];
  snprintf(number, sizeof number, "%d", exponent);
  size_t used = (size_t)snprintf(text, size, "10");
  for (const char *c = number; *c != 0 && used < size; c++)
    used += (size_t)snprintf(text + used, size - used, "%s",
                             *c == '-' ? "⁻" : digits[*c - '0']);
  if (used < size) snprintf(text + used, size - used, " ");
}

/* Marks at round numbers, six at most: so many have room. */
static void put_marks(FILE *out, char axis, double low, double high,
                      int exponent) {
  double least = (high - low) / 6, step = pow(10, floor(log10(least)));
  step *= least <= step       ? 1
          : least <= 2 * step ? 2
          : least <= 5 * step ? 5
                              : 10;
  double unit = pow(10, exponent);
  fprintf(out, "set %ctics (", axis);
  for (double k = ceil(low / step); k * step <= high; k++)
    fprintf(out, "%s'%.6g' %.9g", k > ceil(low / step) ? ", " : "",
            k * step / unit + 0.0, k * step);
  fputs(") nomirror out font ',9'\n", out);
}

static void put_axis(const page *page, const panel *panel,
                     const impact_result *result, int which, const char *unit) {
  int row = which == 0 ? panel->plane.x : panel->plane.y;
  double low = panel->low[which], high = panel->high[which];
  char name[24], text[160], power[48] = "", axis = which == 0 ? 'x' : 'y';
  const ode_mlcp_impact_problem *problem = &result->input->problem;
  impact_row_name(problem, row, name);
  bool normal = name[1] == 'n', two = !normal && problem->n_tangents == 2;
  int exponent = exponent_of(low, high);
  if (exponent != 0) add_power(power, sizeof power, exponent);
  snprintf(text, sizeof text, "%s velocity%s of %s, %s%s",
           normal ? "normal" : "tangential",
           !two             ? ""
           : name[2] == '1' ? " 1"
                            : " 2",
           name + (two ? 3 : 2), power, unit);
  fprintf(page->out, "set %crange [%.17g:%.17g]\n", axis, low, high);
  put_marks(page->out, axis, low, high, exponent);
  if (which == 0)
    write_at(page, panel->left + PANEL_WIDTH / 2.0,
             panel->top + PANEL_HEIGHT + 40, "center font ',10'", "#000000",
             text);
  else
    write_at(page, panel->left - 62, panel->top + PANEL_HEIGHT / 2.0,
             "center rotate font ',10'", "#000000", text);
}

static void put_image(const page *page, const panel *panel, uint64_t most) {
  double dx = (panel->high[0] - panel->low[0]) / N_X;
  double dy = (panel->high[1] - panel->low[1]) / N_Y;
  fputs("$cells << EOD\n", page->out);
  for (int j = 0; j < N_Y; j++)
    for (int i = 0; i < N_X; i++) {
      int cell = j * N_X + i, rgb[3] = {255, 255, 255};
      if (panel->counts[cell] > 0)
        colour_of(density(panel->counts[cell], most), rgb);
      else if (panel->passed[cell])
        memcpy(rgb, ON_THE_WAY, sizeof rgb);
      fprintf(page->out, "%.9g %.9g %d %d %d\n", panel->low[0] + (i + 0.5) * dx,
              panel->low[1] + (j + 0.5) * dy, rgb[0], rgb[1], rgb[2]);
    }
  fputs("EOD\n", page->out);
}

static void put_row(FILE *out, const panel *panel, const double rows[]) {
  fprintf(out, "%.9g %.9g\n", rows[panel->plane.x], rows[panel->plane.y]);
}

/* Pixels between two velocities in a panel. */
static double apart(const panel *panel, const double a[], const double b[]) {
  int x = panel->plane.x, y = panel->plane.y;
  return hypot(pixel_x(panel, a[x]) - pixel_x(panel, b[x]),
               pixel_y(panel, a[y]) - pixel_y(panel, b[y]));
}

/* The impacts of a sequence that are drawn: none beside one that is, but for its end.
 * Hundreds on one spot, or to and fro between two, would be a blot. */
static void put_sequence(FILE *out, const panel *panel,
                         const impact_sequence *it, int n, bool whole) {
  int drawn[IMPACT_LONGEST + 1], n_drawn = 0;
  for (int i = whole ? 0 : it->n_impacts; i <= it->n_impacts; i++) {
    const double *rows = &it->way[i * n];
    bool beside = false;
    for (int k = 0; k < n_drawn && !beside; k++)
      beside = apart(panel, &it->way[drawn[k] * n], rows) < THIN;
    if (beside && i < it->n_impacts) continue;
    put_row(out, panel, rows);
    drawn[n_drawn++] = i;
  }
}

static void put_panel(const page *page, const panel *panel,
                      const impact_result *result, const double *before,
                      const impact_picture *picture, uint64_t most) {
  FILE *out = page->out;
  int n = impact_row_count(result);
  clear(page);
  place(page, panel->left, panel->top, PANEL_WIDTH, PANEL_HEIGHT);
  for (int i = 0; i < 2; i++) put_axis(page, panel, result, i, picture->unit);
  put_image(page, panel, most);
  fputs("$simultaneous << EOD\n", out);
  for (int k = 0; k < result->n_simultaneous; k++) {
    if (before != NULL) put_row(out, panel, before);
    put_row(out, panel, &result->simultaneous[k * n]);
    fputc('\n', out);
  }
  fputs("EOD\n", out);
  for (int k = 0; k < result->n_sequences; k++) {
    fprintf(out, "$sequence%d << EOD\n", k);
    put_sequence(out, panel, &result->sequences[k], n, before != NULL);
    fputs("EOD\n", out);
  }
  fputs(
      "plot $cells with rgbimage notitle, 0 with lines lw 0.6 lc rgb '#aaaaaa' "
      "notitle",
      out);
  for (int k = 0; k < result->n_sequences; k++)
    fprintf(out, ", $sequence%d with %s notitle", k, SEQUENCE_STYLES[k]);
  fprintf(out, ", $simultaneous with %s notitle", SIMULTANEOUS_STYLE);
  if (before != NULL)
    fprintf(out, ", '-' with %s notitle\n%.9g %.9g\ne", BEFORE_STYLE,
            before[panel->plane.x], before[panel->plane.y]);
  fputc('\n', out);
}

/* Names of what is drawn, in the picture's last row. */
static void put_key(const page *page, const impact_result *result,
                    bool with_ways) {
  FILE *out = page->out;
  fprintf(out,
          "set key at screen 0.5,%.6f center bottom horizontal Left reverse "
          "samplen 2 font ',9' noenhanced\n"
          "plot NaN with %s title 'outcomes'",
          26 / page->height, OUTCOMES_STYLE);
  if (with_ways)
    fprintf(out, ", NaN with %s title 'on the way', NaN with %s title 'before'",
            WAY_STYLE, BEFORE_STYLE);
  if (result->n_simultaneous > 0)
    fprintf(out, ", NaN with %s title 'simultaneous'", SIMULTANEOUS_STYLE);
  for (int k = 0; k < result->n_sequences; k++)
    fprintf(out, ", NaN with %s title 'sequence %.20s'", SEQUENCE_STYLES[k],
            result->sequences[k].order);
  fputc('\n', out);
}

/* The key to the colours of a density. */
static void put_scale(const page *page, double left, double top, double height,
                      uint64_t most) {
  FILE *out = page->out;
  clear(page);
  double decades = log10((double)most);
  place(page, left, top, 14, height);
  write_at(page, left + 62, top + height / 2, "center rotate font ',10'",
           "#000000", "outcomes in a cell");
  fputs("$cells << EOD\n", out);
  for (int k = 0; k < 200; k++) {
    int rgb[3];
    colour_of((k + 0.5) / 200, rgb);
    for (int side = 0; side < 2; side++)
      fprintf(out, "%g %.9g %d %d %d\n", side + 0.5, (k + 0.5) / 200 * decades,
              rgb[0], rgb[1], rgb[2]);
  }
  fprintf(out,
          "EOD\nset border 15\nunset xtics\nset xrange [0:2]\nset yrange "
          "[0:%.9g]\nunset ytics\nset y2range [0:%.9g]\nset y2tics (",
          decades, decades);
  for (int k = 0; k <= (int)decades; k++)
    fprintf(out, k < 2 ? "%s'%.0f' %d" : "%s'10^{%.0f}' %d", k > 0 ? ", " : "",
            k < 2 ? pow(10, k) : k, k);
  // the end, where no other mark is near
  if (decades < 2 && decades - floor(decades) > 0.25)
    fprintf(out, ", '%" PRIu64 "' %.9g", most, decades);
  fputs(
      ") nomirror out font ',9'\n"
      "plot $cells with rgbimage notitle\n"
      "unset y2tics\nset xtics\nset ytics\n",
      out);
}

/* ---- the sketch ---------------------------------------------------------- */

/* From the sketch's metres to pixels. */
typedef struct frame {
  double middle[2], at[2], pixels;
} frame;

static void put_point(const page *page, const frame *frame, double x, double y,
                      const char *ahead) {
  fprintf(page->out, "%s screen %.6f,%.6f", ahead,
          (frame->at[0] + (x - frame->middle[0]) * frame->pixels) / page->width,
          1 - (frame->at[1] - (y - frame->middle[1]) * frame->pixels) /
                  page->height);
}

static void put_outline(const page *page, const frame *frame,
                        const double points[], int n, const char *style) {
  fputs("set object polygon from", page->out);
  for (int i = 0; i <= n; i++)
    put_point(page, frame, points[2 * (i % n)], points[2 * (i % n) + 1],
              i > 0 ? " to" : "");
  fprintf(page->out, " %s\n", style);
}

static void put_segment(const page *page, const frame *frame,
                        const double from[2], const double to[2],
                        const char *style) {
  fputs("set arrow from", page->out);
  put_point(page, frame, from[0], from[1], "");
  put_point(page, frame, to[0], to[1], " to");
  fprintf(page->out, " %s\n", style);
}

static void put_disk(const page *page, const frame *frame, const double at[2],
                     double radius, const char *style) {
  double points[2 * 60];
  for (int k = 0; k < 60; k++) {
    points[2 * k] = at[0] + radius * cos(k * 2 * M_PI / 60);
    points[2 * k + 1] = at[1] + radius * sin(k * 2 * M_PI / 60);
  }
  put_outline(page, frame, points, 60, style);
}

/* A way with solid ground on its right hand. */
static void put_ground(const page *page, const frame *frame,
                       const sketch_shape *shape) {
  double depth = 20 / frame->pixels;
  for (int i = 0; i + 3 < shape->n; i += 2) {
    const double *a = &shape->at[i], *b = &shape->at[i + 2];
    double x = b[0] - a[0], y = b[1] - a[1], length = hypot(x, y);
    if (length == 0) continue;
    double right[2] = {y / length * depth, -x / length * depth};
    // past the corner, so that two bands meet
    double on = i + 5 < shape->n ? depth / length : 0;
    const double band[8] = {a[0],
                            a[1],
                            b[0] + on * x,
                            b[1] + on * y,
                            b[0] + on * x + right[0],
                            b[1] + on * y + right[1],
                            a[0] + right[0],
                            a[1] + right[1]};
    put_outline(page, frame, band, 4,
                "fc rgb '#dedede' fs solid noborder back");
  }
  for (int i = 0; i + 3 < shape->n; i += 2)
    put_segment(page, frame, &shape->at[i], &shape->at[i + 2],
                "nohead lw 1.5 lc rgb '#555555' front");
}

static void put_contact(const page *page, const frame *frame,
                        const sketch_shape *shape) {
  double length = hypot(shape->at[2], shape->at[3]);
  if (length == 0) length = 1;
  double nx = shape->at[2] / length / frame->pixels;
  double ny = shape->at[3] / length / frame->pixels;
  double x = shape->at[0], y = shape->at[1];
  put_segment(page, frame, (double[]){x, y},
              (double[]){x + 26 * nx, y + 26 * ny},
              "size screen 0.007,20 lw 1.5 lc rgb '#d1331d' front");
  put_disk(page, frame, (double[]){x, y}, 3.2 / frame->pixels,
           "fc rgb '#d1331d' fs solid noborder front");
  double px = frame->at[0] + (x - 11 * nx - frame->middle[0]) * frame->pixels;
  double py = frame->at[1] - (y - 11 * ny - frame->middle[1]) * frame->pixels;
  write_at(page, px, py, "center font ',10'", "#d1331d", shape->name);
}

static void put_shape(const page *page, const frame *frame,
                      const sketch_shape *shape) {
  static const char filled[] =
      "fc rgb '#f6e3a1' fs solid border lc rgb '#444444' lw 1.2 behind";
  switch (shape->kind) {
    case SKETCH_GROUND: put_ground(page, frame, shape); break;
    case SKETCH_BODY:
      put_outline(page, frame, shape->at, shape->n / 2, filled);
      break;
    case SKETCH_DISK:
      put_disk(page, frame, shape->at, fabs(shape->at[2]), filled);
      break;
    case SKETCH_LINK:
      for (int i = 0; i + 3 < shape->n; i += 2)
        put_segment(page, frame, &shape->at[i], &shape->at[i + 2],
                    "nohead lw 4 lc rgb '#c9a227' back");
      break;
    case SKETCH_MASS:
      put_disk(page, frame, shape->at, 5 / frame->pixels,
               "fc rgb '#444444' fs solid noborder front");
      break;
    case SKETCH_VELOCITY:
      put_segment(
          page, frame, shape->at,
          (double[]){shape->at[0] + shape->at[2], shape->at[1] + shape->at[3]},
          "size screen 0.009,20 lw 2 lc rgb '#0072b2' front");
      break;
    case SKETCH_CONTACT: put_contact(page, frame, shape); break;
  }
}

static void put_sketch(const page *page, double left, double top,
                       const impact_sketch *sketch) {
  clear(page);
  double width = CELL_WIDTH - 60, height = CELL_HEIGHT - 60;
  double x = sketch->high[0] - sketch->low[0];
  double y = sketch->high[1] - sketch->low[1];
  const frame frame = {
      .middle = {(sketch->high[0] + sketch->low[0]) / 2,
                 (sketch->high[1] + sketch->low[1]) / 2},
      .at = {left + CELL_WIDTH / 2.0, top + CELL_HEIGHT / 2.0 - 12},
      .pixels =
          fmin(x > 0 ? width / x : INFINITY, y > 0 ? height / y : INFINITY)};
  place(page, left, top, CELL_WIDTH, CELL_HEIGHT);
  for (int k = 0; k < sketch->n_shapes; k++)
    put_shape(page, &frame, &sketch->shapes[k]);
  // gnuplot draws what was set with a plot; this one shows nothing itself
  fputs(
      "unset border\nunset tics\nset xrange [0:1]\nset yrange [0:1]\n"
      "plot NaN notitle\n",
      page->out);
}

/* ---- the page ------------------------------------------------------------ */

/* The contents of the picture, in a line. */
static void put_foot(const page *page, const impact_result *result,
                     const ode_mlcp_impact_set *ways, int n_left_out) {
  char text[500];
  uint64_t n_samples = result->set.n_samples,
           n_outcomes = result->set.n_outcomes;
  int used = snprintf(text, sizeof text,
                      "%.200s: all %" PRIu64 " outcomes of %" PRIu64 " samples",
                      result->input->name, n_outcomes, n_samples);
  if (ways != NULL && ways->n_samples < n_samples)
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "; on the way: the first %" PRIu64, ways->n_samples);
  if (result->n_simultaneous == 0)
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "; no simultaneous solution found");
  if (n_left_out > 0)
    snprintf(text + used, sizeof text - (size_t)used,
             "; %d more planes: --planes", n_left_out);
  write_at(page, 14, page->height - 14, "left font ',9'", "#444444", text);
}

/* Panels side by side. */
static int columns_of(int n_cells) {
  return n_cells == 4 ? 2 : n_cells < 3 ? n_cells : 3;
}

static void put_page(const page *page, const impact_result *result,
                     const ode_mlcp_impact_set *ways, const double *before,
                     const impact_picture *picture, const impact_sketch *sketch,
                     panel panels[], int n_left_out) {
  int n_cells = picture->n_planes + (sketch->n_shapes > 0);
  int n_columns = columns_of(n_cells);
  uint64_t most = 1;
  for (int k = 0; k < picture->n_planes; k++) {
    panel *it = &panels[k];
    int cell = k + (sketch->n_shapes > 0);
    it->plane = picture->planes[k];
    it->left = cell % n_columns * CELL_WIDTH + MARGIN_LEFT;
    it->top = cell / n_columns * CELL_HEIGHT + MARGIN_TOP;
    choose_range(it, result, ways, before);
    count_set(it, result, ways);
    for (int i = 0; i < N_X * N_Y; i++)
      if (it->counts[i] > most) most = it->counts[i];
  }
  fputs("set encoding utf8\nset multiplot\n", page->out);
  if (sketch->n_shapes > 0) put_sketch(page, 0, 0, sketch);
  for (int k = 0; k < picture->n_planes; k++)
    put_panel(page, &panels[k], result, before, picture, most);
  if (most > 1)
    put_scale(page, n_columns * CELL_WIDTH + 8, MARGIN_TOP, PANEL_HEIGHT, most);
  clear(page);
  put_foot(page, result, ways, n_left_out);
  place(page, 0, 0, page->width, page->height);
  fputs("unset border\nunset tics\nset xrange [0:1]\nset yrange [0:1]\n",
        page->out);
  put_key(page, result, before != NULL);
}

bool impact_plot_is_possible(const char *path, const impact_input *input,
                             char message[IMPACT_MESSAGE]) {
  impact_sketch sketch;
  if (!gnuplot_knows(path, message, IMPACT_MESSAGE) ||
      !impact_sketch_open(&sketch, input, message))
    return false;
  impact_sketch_close(&sketch);
  return true;
}

bool impact_plot(const impact_picture *asked, const impact_result *result,
                 const ode_mlcp_impact_set *ways,
                 char message[IMPACT_MESSAGE]) {
  impact_picture picture = *asked;
  int n_left_out = 0;
  impact_sketch sketch;
  if (!impact_sketch_open(&sketch, result->input, message)) return false;
  if (picture.n_planes == 0)
    n_left_out = choose_planes(&picture, &result->input->problem,
                               IMPACT_PLANES - (sketch.n_shapes > 0)) -
                 picture.n_planes;
  size_t n = (size_t)picture.n_planes;
  panel *panels = calloc(n, sizeof *panels);
  double *before = malloc((size_t)impact_row_count(result) * sizeof *before);
  int n_cells = picture.n_planes + (sketch.n_shapes > 0);
  int n_columns = columns_of(n_cells);
  page page = {
      .width = n_columns * CELL_WIDTH + SCALE_ROOM,
      .height = (n_cells + n_columns - 1) / n_columns * CELL_HEIGHT + FOOT};
  gnuplot plot;
  bool drawn = panels != NULL && before != NULL;
  if (!drawn) snprintf(message, IMPACT_MESSAGE, "no memory for a picture");
  drawn = drawn && gnuplot_knows(picture.path, message, IMPACT_MESSAGE) &&
          gnuplot_open(&plot, message, IMPACT_MESSAGE);
  if (drawn) {
    ode_mlcp_impact_contact_velocities(result->impact, result->input->problem.v,
                                       before);
    plot.path = picture.path;
    page.out = plot.out;
    gnuplot_print(&plot, picture.path, (int)page.width, (int)page.height,
                  PNG_SCALE);
    put_page(&page, result, ways, ways != NULL ? before : NULL, &picture,
             &sketch, panels, n_left_out);
    drawn = gnuplot_end(&plot, message, IMPACT_MESSAGE);
  }
  free(panels);
  free(before);
  impact_sketch_close(&sketch);
  return drawn;
}
