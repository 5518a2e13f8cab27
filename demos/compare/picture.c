#include "picture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* told apart by the colour-blind, too (Okabe and Ito) */
static const char *const STEPPER_COLOURS[N_STEPPERS] = {"#d55e00", "#0072b2",
                                                        "#009e73"};

/* lines that coincide stay to be seen */
static const double LINE_WIDTHS[N_STEPPERS] = {7, 3.5, 1.5};

/* --- gnuplot -------------------------------------------------------------- */

static FILE *open_script(const char *folder, const char *name, int width,
                         int height) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s/data/%s.gp", folder, name) >=
      (int)sizeof path)
    return NULL;
  FILE *script = fopen(path, "w");
  if (script == NULL) {
    fprintf(stderr, "compare: %s: %s\n", path, strerror(errno));
    return NULL;
  }
  fprintf(script,
          "# gnuplot %s.gp draws ../%s.png (run it in this folder)\n"
          "set terminal pngcairo size %d,%d font 'DejaVu Sans,11'\n"
          "set output '../%s.png'\n"
          "set encoding utf8\n"
          "set border lc rgb '#555555'\n"
          "set tics nomirror\n"
          "set grid lc rgb '#dddddd' lw 1\n",
          name, name, width, height, name);
  return script;
}

/* In a child that changes into data/, so that the scripts name their pictures
 * relative to where they lie. */
static bool run_gnuplot(const char *folder, const char *gnuplot,
                        const char *name) {
  char data[4096], script[256];
  snprintf(data, sizeof data, "%s/data", folder);
  snprintf(script, sizeof script, "%s.gp", name);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    if (chdir(data) != 0) _exit(126);
    // the scripts are in UTF-8, and so may not be the locale
    setenv("LC_ALL", "C.UTF-8", 1);
    execlp(gnuplot, gnuplot, script, (char *)NULL);
    _exit(127);
  }
  int status = -1;
  if (child > 0) waitpid(child, &status, 0);
  if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127)
    fprintf(stderr,
            "compare: %s is missing: no pictures (Debian: apt-get "
            "install gnuplot-nox)\n",
            gnuplot);
  else
    fprintf(stderr, "compare: %s failed on %s/%s\n", gnuplot, data, script);
  return false;
}

static bool close_and_run(FILE *script, const char *folder, const char *gnuplot,
                          const char *name) {
  bool written = !ferror(script);
  if (fclose(script) != 0 || !written) {
    fprintf(stderr, "compare: cannot write %s/data/%s.gp\n", folder, name);
    return false;
  }
  return run_gnuplot(folder, gnuplot, name);
}

/* --- views of solids ------------------------------------------------------ */

typedef struct speed_class {
  double below; /* m/s */
  const char *colour, *text;
} speed_class;

static const speed_class SPEED_CLASSES[] = {
    {1e-6, "#cfe8df", "below 10^{-6} m/s"},
    {1e-3, "#f6e7a9", "below 10^{-3} m/s"},
    {1e-1, "#f3b562", "below 0.1 m/s"},
    {INFINITY, "#d1495b", "faster"}};
enum { N_SPEED_CLASSES = sizeof SPEED_CLASSES / sizeof SPEED_CLASSES[0] };

static const char *speed_colour(double speed) {
  for (int i = 0; i < N_SPEED_CLASSES; i++)
    if (speed < SPEED_CLASSES[i].below) return SPEED_CLASSES[i].colour;
  return SPEED_CLASSES[N_SPEED_CLASSES - 1].colour;
}

typedef struct window {
  view view;
  double x_min, x_max;
  double up_min, up_max; /* of z from the side, of y from above */
} window;

static bool is_seen(const outline *outline, const window *window) {
  for (int i = 0; i < outline->n; i++) {
    double x = outline->points[i][0], up = outline->points[i][1];
    if (x >= window->x_min && x <= window->x_max && up >= window->up_min &&
        up <= window->up_max)
      return true;
  }
  return false;
}

static int lower_first(const void *left, const void *right) {
  const solid *a = *(const solid *const *)left;
  const solid *b = *(const solid *const *)right;
  return (a->position[2] > b->position[2]) - (a->position[2] < b->position[2]);
}

static int deeper_first(const void *left, const void *right) {
  const solid *a = *(const solid *const *)left;
  const solid *b = *(const solid *const *)right;
  return (a->position[1] < b->position[1]) - (a->position[1] > b->position[1]);
}

/* @return the solids out of sight. */
static int write_solids(FILE *script, const solid solids[], int n,
                        const window *window, bool ghosts) {
  const solid **sorted = calloc((size_t)n + 1, sizeof sorted[0]);
  if (sorted == NULL) return n;
  for (int i = 0; i < n; i++) sorted[i] = &solids[i];
  qsort(sorted, (size_t)n, sizeof sorted[0],
        window->view == VIEW_SIDE ? deeper_first : lower_first);

  int unseen = 0;
  for (int i = 0; i < n; i++) {
    outline outline;
    outline_of(sorted[i], window->view, &outline);
    if (!is_seen(&outline, window)) {
      unseen++;
      continue;
    }
    fprintf(script, "set object polygon from ");
    for (int k = 0; k <= outline.n; k++)
      fprintf(script, "%s%.5g,%.5g", k > 0 ? " to " : "",
              outline.points[k % outline.n][0],
              outline.points[k % outline.n][1]);
    if (ghosts)
      fprintf(script, " back fs empty border lc rgb '#b5b5b5' dt 2\n");
    else
      fprintf(script, " front fc rgb '%s' fs solid border lc rgb '#333333'\n",
              speed_colour(sorted[i]->speed));
  }
  free(sorted);
  return unseen;
}

static void write_view_axes(FILE *script, const window *window) {
  fprintf(script,
          "set size ratio -1\nset xrange [%g:%g]\nset yrange [%g:%g]\n"
          "set xlabel 'x [m]'\nset ylabel '%s [m]' offset 1\n",
          window->x_min, window->x_max, window->up_min, window->up_max,
          window->view == VIEW_SIDE ? "z" : "y");
}

/* The view is drawn by plotting its floor, or its middle line from above. */
static void write_view_plot(FILE *script, const window *window, int unseen) {
  if (unseen > 0)
    fprintf(script,
            "set label 100 '%d out of view' at graph 0.98,0.95 right front "
            "tc rgb '#d1495b'\n",
            unseen);
  fprintf(script, "plot 0 with lines %s notitle\nunset object\nunset label\n",
          window->view == VIEW_SIDE ? "lc rgb '#333333' lw 2"
                                    : "lc rgb '#b5b5b5' dt 2");
}

/* The colours' names in a row at height y of the screen. */
static void write_speed_key(FILE *script, double y, double aspect) {
  fprintf(script, "set label 50 'speed of the body:' at screen 0.25,%g right\n",
          y);
  for (int i = 0; i < N_SPEED_CLASSES; i++) {
    double x = 0.27 + 0.13 * i;
    fprintf(script,
            "set object %d rectangle center screen %g,%g size screen %g,%g "
            "fc rgb '%s' fs solid border lc rgb '#333333'\n"
            "set label %d '%s' at screen %g,%g left\n",
            900 + i, x, y, 0.014, 0.014 * aspect, SPEED_CLASSES[i].colour,
            51 + i, SPEED_CLASSES[i].text, x + 0.012, y);
  }
}

/* A panel, in pixels from the upper left corner. */
typedef struct panel {
  double left, top, width, height;
} panel;

enum { VIEWS_WIDTH = 1500, TITLE_HEIGHT = 50 };

static void write_panel(FILE *script, const panel *panel, double picture) {
  fprintf(script,
          "set lmargin at screen %g\nset rmargin at screen %g\n"
          "set tmargin at screen %g\nset bmargin at screen %g\n",
          panel->left / VIEWS_WIDTH, (panel->left + panel->width) / VIEWS_WIDTH,
          1 - panel->top / picture, 1 - (panel->top + panel->height) / picture);
}

/* Pixels of a view in a row of N_STEPPERS. */
enum { VIEW_LEFT = 70, VIEW_PITCH = 490, VIEW_WIDTH = 420 };

static double view_height(const window *window) {
  return VIEW_WIDTH * (window->up_max - window->up_min) /
         (window->x_max - window->x_min);
}

/* --- wall ----------------------------------------------------------------- */

/* One row of views of the walls. */
static void write_wall_views(FILE *script, const wall_result walls[],
                             const window *window, double top, double picture) {
  for (int s = 0; s < N_STEPPERS; s++) {
    const wall_result *wall = &walls[s];
    if (!wall->record.run) continue;
    panel panel = {VIEW_LEFT + VIEW_PITCH * s, top, VIEW_WIDTH,
                   view_height(window)};
    write_panel(script, &panel, picture);
    write_view_axes(script, window);
    if (window->view == VIEW_SIDE)
      fprintf(script,
              "set title \"%s after %.3g s\\n{/*0.85 %ld messages, "
              "fastest %.1e m/s, sag %.1e m, slid %.1e m}\"\n",
              STEPPER_NAMES[s], wall->duration, wall->record.messages,
              wall->fastest, wall->sag, wall->slid);
    else
      fprintf(script, "set title 'from above'\nset ytics 1\n");
    write_solids(script, wall->start, wall->boxes, window, true);
    int unseen = write_solids(script, wall->end, wall->boxes, window, false);
    write_view_plot(script, window, unseen);
  }
}

static bool draw_wall(const char *folder, const char *gnuplot,
                      const wall_result walls[]) {
  int boxes = 0, rows = 0;
  for (int s = 0; s < N_STEPPERS; s++)
    if (walls[s].record.run) boxes = walls[s].boxes;
  if (boxes == 0) return true;
  while (rows * (rows + 1) / 2 < boxes) rows++;

  double half = 0.525 * rows + 1.5;
  window side = {VIEW_SIDE, -half, half, -0.4, rows + 1};
  window above = {VIEW_TOP, -half, half, -2, 2};
  double side_top = TITLE_HEIGHT + 55;
  double above_top = side_top + view_height(&side) + 100;
  double bottom = above_top + view_height(&above);
  double picture = bottom + 110;
  FILE *script = open_script(folder, "wall", VIEWS_WIDTH, (int)picture);
  if (script == NULL) return false;
  fprintf(script,
          "set multiplot title \"A wall of %d boxes at rest (dashed: "
          "where they were laid)\" font ',14'\n",
          boxes);
  write_wall_views(script, walls, &side, side_top, picture);
  write_speed_key(script, 1 - (bottom + 80) / picture, VIEWS_WIDTH / picture);
  write_wall_views(script, walls, &above, above_top, picture);
  fprintf(script, "unset multiplot\n");
  return close_and_run(script, folder, gnuplot, "wall");
}

/* --- slide ---------------------------------------------------------------- */

static void write_slide_data(FILE *script,
                             const slide_result slides[][N_ANGLES]) {
  for (int s = 0; s < N_STEPPERS; s++) {
    if (!slides[s][0].record.run) continue;
    fprintf(script, "$path%d << end\n", s);
    for (int a = 0; a < N_ANGLES; a++) {
      for (int i = 0; i <= SLIDE_STEPS; i++)
        fprintf(script, "%.6g %.6g\n", slides[s][a].path[i][0],
                slides[s][a].path[i][1]);
      fprintf(script, "\n");
    }
    fprintf(script, "end\n$stop%d << end\n", s);
    for (int a = 0; a < N_ANGLES; a++)
      fprintf(script, "%d %.6g %.6g %.6g %.6g\n", a, slides[s][a].distance,
              slides[s][a].path[SLIDE_STEPS][0],
              slides[s][a].path[SLIDE_STEPS][1], slides[s][a].heading);
    fprintf(script, "end\n");
  }
}

/* Bars in groups of N_STEPPERS: column 1 the group, `value` the height's. */
static void write_bars(FILE *script, const char *data, int value,
                       const bool run[], const char *format) {
  for (int s = 0; s < N_STEPPERS; s++) {
    if (!run[s]) continue;
    double shift = 0.27 * (s - 1);
    fprintf(script,
            "  %s%d using ($1 + %g):%d:(0.24) with boxes fs solid "
            "fc rgb '%s' title '%s', \\\n"
            "  %s%d using ($1 + %g):%d:(sprintf('%s', $%d)) with labels "
            "font ',9' tc rgb 'white' offset 0,-0.7 notitle%s\n",
            data, s, shift, value, STEPPER_COLOURS[s], STEPPER_NAMES[s], data,
            s, shift, value, format, value, s < N_STEPPERS - 1 ? ", \\" : "");
  }
}

static bool draw_slide(const char *folder, const char *gnuplot,
                       const slide_result slides[][N_ANGLES]) {
  FILE *script = open_script(folder, "slide", 1500, 640);
  if (script == NULL) return false;
  bool run[N_STEPPERS];
  for (int s = 0; s < N_STEPPERS; s++) run[s] = slides[s][0].record.run;
  write_slide_data(script, slides);
  fprintf(script,
          "set multiplot title 'A box sliding from 3 m/s at μ = 0.5' "
          "font ',14'\n"
          "set origin 0,0\nset size 0.5,0.93\n"
          "set title 'Paths, launched at 0, 15, 30 and 45 degrees'\n"
          "set size ratio -1\nset xrange [0:1.02]\nset yrange [-0.04:0.8]\n"
          "set xlabel 'x [m]'\nset ylabel 'y [m]'\n"
          "set key top left\nset parametric\nset trange [0:pi/3.4]\n"
          "plot %.17g*cos(t), %.17g*sin(t) with lines lc rgb '#666666' dt 2 "
          "title 'stop, exact (0.917 m)'",
          slide_exact_distance(), slide_exact_distance());
  for (int s = 0; s < N_STEPPERS; s++)
    if (run[s])
      fprintf(script,
              ", \\\n  $path%d using 1:2 with lines lw %g lc rgb '%s' title "
              "'%s', \\\n  $stop%d using 3:4 with points pt 7 ps %g lc rgb "
              "'%s' notitle",
              s, LINE_WIDTHS[s], STEPPER_COLOURS[s], STEPPER_NAMES[s], s,
              0.8 + 0.2 * LINE_WIDTHS[s], STEPPER_COLOURS[s]);
  fprintf(script,
          "\nunset parametric\nset origin 0.5,0\nset size noratio 0.5,0.93\n"
          "set title 'Stopping distance (dashed: exact; Euler at 10 ms: "
          "%.4f m)'\n"
          "set xrange [-0.6:3.6]\nset yrange [0:1.25]\n"
          "set xtics ('0' 0, '15' 1, '30' 2, '45' 3)\n"
          "set xlabel 'launch angle [degrees]'\n"
          "set ylabel 'stopping distance [m]'\n"
          "set key top center horizontal\n"
          "plot %.17g with lines lc rgb '#666666' dt 2 notitle, \\\n",
          slide_euler_distance(), slide_exact_distance());
  write_bars(script, "$stop", 2, run, "%.3f");
  fprintf(script, "\nunset multiplot\n");
  return close_and_run(script, folder, gnuplot, "slide");
}

/* --- tilted rod ----------------------------------------------------------- */

/* What is looked at: the rod, its floor and the two ways it moves. */
static void write_rod_sketch(FILE *script) {
  const double tilt = 0.5, half = 0.95;
  solid rod = {
      SOLID_CAPSULE,
      {0.05, 2 * half, 0},
      {0, 0, 0.05 + half * cos(tilt)},
      {cos(tilt), 0, sin(tilt), 0, 0, 1, 0, 0, -sin(tilt), 0, cos(tilt), 0},
      0};
  window window = {VIEW_SIDE, -1.3, 1.3, -0.25, 2};
  fprintf(script,
          "set origin 0,0\nset size 0.42,0.93\n"
          "set title 'The rod: 1 kg, 0.5 rad from the vertical'\n");
  write_view_axes(script, &window);
  write_solids(script, &rod, 1, &window, false);
  fprintf(script,
          "set arrow 1 from 0.12,0.9 to 0.62,0.9 lw 2 front\n"
          "set arrow 2 from -0.12,0.9 to -0.62,0.9 lw 2 front\n"
          "set label 1 '+2 m/s' at 0.66,0.9 left front\n"
          "set label 2 '-2 m/s' at -0.66,0.9 right front\n");
  write_view_plot(script, &window, 0);
  fprintf(script, "unset arrow\n");
}

static bool draw_rod(const char *folder, const char *gnuplot,
                     const rod_result rods[][N_SPEEDS]) {
  FILE *script = open_script(folder, "rod", 1200, 560);
  if (script == NULL) return false;
  bool run[N_STEPPERS];
  for (int s = 0; s < N_STEPPERS; s++) {
    run[s] = rods[s][0].record.run;
    if (!run[s]) continue;
    fprintf(script, "$rod%d << end\n", s);
    for (int v = 0; v < N_SPEEDS; v++)
      fprintf(script, "%d %.6g\n", v, rods[s][v].ratio);
    fprintf(script, "end\n");
  }
  fprintf(script,
          "set multiplot title 'Friction of a tilted rod that slides "
          "at μ = 0.5' font ',14'\n");
  write_rod_sketch(script);
  fprintf(script,
          "set origin 0.42,0\nset size noratio 0.58,0.93\n"
          "set title 'Friction over normal force (dashed: Coulomb)'\n"
          "set xrange [-0.6:1.6]\nset yrange [0:1]\n"
          "set xtics ('+2' 0, '-2' 1)\nset xlabel 'speed [m/s]'\n"
          "set ylabel 'f_t / f_n  [1]'\nset key top right\n"
          "plot 0.5 with lines lc rgb '#666666' dt 2 notitle, \\\n");
  write_bars(script, "$rod", 2, run, "%.3f");
  fprintf(script, "\nunset multiplot\n");
  return close_and_run(script, folder, gnuplot, "rod");
}

/* --- the host's demo_boxstack --------------------------------------------- */

static void write_series(FILE *script, const recording runs[]) {
  const double step_size = 0.02; /* the demo's own */
  for (int s = 0; s < N_STEPPERS; s++) {
    if (!runs[s].run) continue;
    fprintf(script, "$series%d << end\n", s);
    for (int i = 0; i < runs[s].n_series; i++)
      fprintf(script, "%.2f %.6g %.6g\n", step_size * (i + 1),
              runs[s].series[i].top, runs[s].series[i].error);
    fprintf(script, "end\n");
  }
}

static void write_series_plot(FILE *script, const recording runs[],
                              const char *expression, bool lines) {
  const char *separator = "plot";
  for (int s = 0; s < N_STEPPERS; s++) {
    if (!runs[s].run) continue;
    fprintf(script,
            "%s $series%d using 1:%s with %s lw %g lc rgb '%s' title '%s'",
            separator, s, expression, lines ? "lines" : "points pt 7 ps 0.4",
            lines ? 0.5 + 0.6 * LINE_WIDTHS[s] : 1, STEPPER_COLOURS[s],
            STEPPER_NAMES[s]);
    separator = ", \\\n ";
  }
  fprintf(script, "\n");
}

enum { GRAPHS_HEIGHT = 370 };

static void write_pile_views(FILE *script, const recording runs[],
                             const window *window, double height,
                             double picture) {
  for (int s = 0; s < N_STEPPERS; s++) {
    const recording *run = &runs[s];
    if (!run->run) continue;
    panel panel = {VIEW_LEFT + VIEW_PITCH * s, TITLE_HEIGHT + 55, VIEW_WIDTH,
                   height};
    write_panel(script, &panel, picture);
    fprintf(script,
            "set title \"%s\\n{/*0.85 fastest %.1e m/s, contact "
            "error up to %.1e m/s}\"\n",
            STEPPER_NAMES[s], run->series[run->n_series - 1].fastest,
            run->error);
    write_view_axes(script, window);
    fprintf(script, "set ytics 1\n");
    int unseen =
        write_solids(script, run->solids, run->n_solids, window, false);
    if (s == 0)
      write_speed_key(script, 1 - (panel.top + height + 75) / picture,
                      VIEWS_WIDTH / picture);
    write_view_plot(script, window, unseen);
  }
}

static void write_pile_graphs(FILE *script, const recording runs[],
                              double picture) {
  panel panel = {70, picture - GRAPHS_HEIGHT + 45, 640, GRAPHS_HEIGHT - 100};
  write_panel(script, &panel, picture);
  fprintf(script,
          "set size noratio\nset xlabel 'time [s]'\n"
          "set key top left horizontal\nset autoscale\n"
          "set offsets 0,0,graph 0.15,0\nset title 'Highest body'\n"
          "set ylabel 'height of its centre [m]'\nset yrange [0:*]\n"
          "set ytics autofreq\n");
  write_series_plot(script, runs, "2", true);
  panel.left = 800;
  panel.width = 660;
  write_panel(script, &panel, picture);
  /* no contact, or none off its law: no point on a logarithmic scale */
  fprintf(script,
          "set title 'How far contacts are from their law (worst of a step; "
          "rounding is 10^{-16})'\n"
          "set ylabel 'normal velocity error [m/s]'\nset logscale y\n"
          "set offsets 0,0,0,0\nset yrange [1e-18:1e3]\n"
          "set ytics 1e-18,1e3,10\nset format y '10^{%%T}'\n");
  write_series_plot(script, runs, "($3 > 0 ? $3 : NaN)", false);
}

static bool draw_pile(const char *folder, const char *gnuplot, pile pile,
                      const recording runs[], const window *window) {
  char name[64];
  snprintf(name, sizeof name, "boxstack-%s", PILE_NAMES[pile]);
  double height = view_height(window);
  double picture = TITLE_HEIGHT + 55 + height + 110 + GRAPHS_HEIGHT;
  FILE *script = open_script(folder, name, VIEWS_WIDTH, (int)picture);
  if (script == NULL) return false;
  write_series(script, runs);
  fprintf(script,
          "set multiplot title \"The host's demo\\\\_boxstack, %s of "
          "%ld bodies, at the end (μ infinite)\" font ',14'\n",
          PILE_NAMES[pile], runs[STEPPER_MLCP].bodies);
  write_pile_views(script, runs, window, height, picture);
  write_pile_graphs(script, runs, picture);
  fprintf(script, "unset multiplot\n");
  return close_and_run(script, folder, gnuplot, name);
}

bool pictures_draw(const char *folder, const char *gnuplot,
                   const measurements *measured, const recordings *recorded) {
  static const window WINDOWS[N_PILES] = {{VIEW_SIDE, -5, 5, -0.3, 9},
                                          {VIEW_SIDE, -6, 6, -0.3, 3.7}};
  bool drawn = draw_wall(folder, gnuplot, measured->wall);
  if (drawn && measured->slide[STEPPER_MLCP][0].record.run)
    drawn = draw_slide(folder, gnuplot, measured->slide);
  if (drawn && measured->rod[STEPPER_MLCP][0].record.run)
    drawn = draw_rod(folder, gnuplot, measured->rod);
  for (int p = 0; p < N_PILES; p++)
    if (drawn && recorded->of[p][STEPPER_MLCP].run)
      drawn = draw_pile(folder, gnuplot, p, recorded->of[p], &WINDOWS[p]);
  return drawn;
}
